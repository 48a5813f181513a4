/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Columns that double, in memory and then in files. The file's blocks are reserved
 * before they are mapped: a full disk is an error here and no signal later. The end
 * of a span is its rounded begin plus its rounded length: one rounding, not two.
 */
#include "import/capture/series.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM_FIRST = 4096, ROOM_IN_MEMORY = 1 << 20, SETTLE_EVERY = 1 << 20 };

static const size_t widths[SERIES_COLUMNS] = {sizeof(int64_t), sizeof(int64_t), sizeof(uint8_t), sizeof(uint16_t)};

static void column_end(struct series_column *column)
{
	if (column->mapped_bytes) {
		munmap(column->at, column->mapped_bytes);
		close(column->fd);
	} else {
		free(column->at);
	}
}

void series_end(struct series *series)
{
	for (int i = 0; i < SERIES_COLUMNS; i++)
		column_end(&series->column[i]);
	*series = (struct series){0};
}

static int temporary(struct tare_err *err)
{
	const char *folder = getenv("TMPDIR");
	if (!folder || !*folder)
		folder = "/var/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot make a temporary file in '%s'", folder);
	return fd;
}

/* From memory into a file, or into more of it. The column stays as it was on failure. */
static int grow_mapped(struct series_column *column, size_t used_bytes, size_t bytes, struct tare_err *err)
{
	bool first = column->mapped_bytes == 0;
	int fd = first ? temporary(err) : column->fd;
	if (fd < 0)
		return -1;
	int status = posix_fallocate(fd, 0, (off_t)bytes);
	void *at = MAP_FAILED;
	if (!status)
		at = first ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
			   : mremap(column->at, column->mapped_bytes, bytes, MREMAP_MAYMOVE);
	if (at == MAP_FAILED) {
		status = status ? status : errno;
		if (first)
			close(fd);
		return tare_fail_errno(err, status, "cannot keep %zu bytes of samples in a temporary file", bytes);
	}
	if (first) {
		memcpy(at, column->at, used_bytes);
		free(column->at);
	}
	*column = (struct series_column){.at = at, .mapped_bytes = bytes, .fd = fd};
	return 0;
}

static int grow(struct series *series, struct tare_err *err)
{
	size_t room = series->room ? 2 * series->room : ROOM_FIRST;
	for (int i = 0; i < SERIES_COLUMNS; i++) {
		struct series_column *column = &series->column[i];
		if (room > ROOM_IN_MEMORY) {
			if (grow_mapped(column, series->count * widths[i], room * widths[i], err))
				return -1;
			continue;
		}
		void *larger = reallocarray(column->at, room, widths[i]);
		if (!larger)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu samples", room);
		column->at = larger;
	}
	series->room = room;
	return 0;
}

/* What is written is not looked at again before the end: its pages go to the file. */
static void settle(struct series *series)
{
	if (series->count - series->settled < SETTLE_EVERY || !series->column[0].mapped_bytes)
		return;
	for (int i = 0; i < SERIES_COLUMNS; i++) {
		/* whole pages: SETTLE_EVERY samples are, of every width */
		size_t from = series->settled * widths[i];
		madvise((char *)series->column[i].at + from, SETTLE_EVERY * widths[i], MADV_DONTNEED);
	}
	series->settled += SETTLE_EVERY;
}

static void put(struct series *series, const struct match_sample *sample, struct capture_time base)
{
	size_t i = series->count++;
	int64_t *from_ns = series->column[0].at, *to_ns = series->column[1].at;
	uint8_t *fate = series->column[2].at;
	uint16_t *flags = series->column[3].at;
	int64_t sent_ns = capture_time_ns(sample->sent, base), answered_ns;
	bool known = sample->took_ns != TARE_NO_TIME && !__builtin_add_overflow(sent_ns, sample->took_ns, &answered_ns);
	from_ns[i] = sent_ns;
	to_ns[i] = known ? answered_ns : TARE_NO_TIME;
	fate[i] = sample->fate;
	flags[i] = sample->flags;
	if (sample->fate == TARE_LOST) {
		if (series->lost < SERIES_LOST_KEPT)
			series->lost_first[series->lost] = sample->request;
		series->lost++;
	}
}

int series_take(struct series *series, struct match *match, struct capture_time base, struct tare_err *err)
{
	struct match_sample samples[256];
	size_t count;
	while ((count = match_take(match, samples, sizeof(samples) / sizeof(*samples))) > 0) {
		for (size_t i = 0; i < count; i++) {
			if (series->count == series->room && grow(series, err))
				return -1;
			put(series, &samples[i], base);
		}
		settle(series);
	}
	return 0;
}
