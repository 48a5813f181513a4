/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spools on tmpfs: creation with everything allocated, adoption of those that a dead process left. */
#include "session/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"

static const char spool_magic[8] = "tarespl";

/* Where the parts of a spool lie; false when the sizes overflow or make no sense. */
struct layout { size_t counters, readings, card, samples, total; };

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static bool lay_out(const struct spool_header *header, struct layout *ret_layout)
{
	size_t readings_bytes, card_bytes, samples_bytes, count;
	struct layout layout = {.counters = round_up(sizeof *header, 64)};
	if (header->target_count == 0 || header->target_count > SPOOL_TARGETS_MAX || header->readings_room < 2)
		return false;
	layout.readings = layout.counters + header->target_count * sizeof(struct raw_counters);
	if (__builtin_mul_overflow(header->readings_room, sizeof(struct tare_reading), &readings_bytes) ||
		readings_bytes > SIZE_MAX / 8 ||
		__builtin_mul_overflow(header->card_room, sizeof(struct tare_reading), &card_bytes) ||
		card_bytes > SIZE_MAX / 8 ||
		__builtin_mul_overflow(header->count, (size_t)header->target_count, &count) ||
		__builtin_mul_overflow(count, sizeof(struct raw_sample), &samples_bytes) || samples_bytes > SIZE_MAX / 4)
		return false;
	layout.card = layout.readings + readings_bytes;
	layout.samples = round_up(layout.card + card_bytes, 4096);
	layout.total = round_up(layout.samples + samples_bytes, 4096);
	*ret_layout = layout;
	return true;
}

static void place(struct spool *spool, const struct layout *layout)
{
	char *base = spool->map;
	spool->bytes = layout->total;
	spool->header = spool->map;
	spool->counters = (struct raw_counters *)(void *)(base + layout->counters);
	spool->readings = (struct tare_reading *)(void *)(base + layout->readings);
	spool->card = (struct tare_reading *)(void *)(base + layout->card);
	spool->samples = (struct raw_sample *)(void *)(base + layout->samples);
}

static bool is_tmpfs(const char *folder)
{
	struct statfs info;
	return statfs(folder, &info) == 0 && info.f_type == TMPFS_MAGIC && access(folder, W_OK | X_OK) == 0;
}

int spool_prefix(uint64_t seed, char *prefix, size_t room, struct tare_err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *folders[] = {"/dev/shm", runtime, "/run/shm", "/tmp"};
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		if (!folders[i] || !is_tmpfs(folders[i]))
			continue;
		if (snprintf(prefix, room, "%s/tare-%d-%08x", folders[i], (int)getpid(), (unsigned)(seed & 0xffffffffu)) <
			(int)room)
			return 0;
	}
	return tare_fail(err, TARE_E_SYSTEM,
		"no writable tmpfs for the samples of the round (tried /dev/shm, $XDG_RUNTIME_DIR, /tmp)\n"
		"  a disk file system would disturb the measurement; mount a tmpfs on /dev/shm");
}

/* Memory that can be had without pushing others out, from /proc/meminfo; SIZE_MAX when it cannot be told. */
static size_t memory_available(void)
{
	char line[128];
	unsigned long long kib;
	AUTO_FILE file = fopen("/proc/meminfo", "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			return (size_t)kib * 1024;
	return SIZE_MAX;
}

static int check_fits(const struct spool_header *plan, const struct layout *layout, struct tare_err *err)
{
	/* the round and, after it, its sealed columns */
	size_t sealed = probe_seal_bytes(plan->count) * plan->target_count, needed;
	size_t available = memory_available();
	if (!__builtin_add_overflow(layout->total, sealed, &needed) && needed / 9 <= available / 10)
		return 0;
	return tare_fail(err, TARE_E_SYSTEM,
		"a round of %llu requests to %u target%s needs %zu MB of memory, %zu MB are available\n"
		"  take a smaller --count and more --rounds",
		(unsigned long long)plan->count, plan->target_count, plan->target_count == 1 ? "" : "s",
		(layout->total + sealed) >> 20, available >> 20);
}

static int create_file(struct spool *spool, size_t bytes, struct tare_err *err)
{
	spool->fd = open(spool->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (spool->fd < 0)
		return tare_fail_errno(err, errno, "cannot create the spool '%s'", spool->path);
	if (flock(spool->fd, LOCK_EX | LOCK_NB) != 0)
		return tare_fail_errno(err, errno, "cannot lock the spool '%s'", spool->path);
	int status = posix_fallocate(spool->fd, 0, (off_t)bytes);
	if (status != 0)
		return tare_fail_errno(err, status, "no room for a round of %zu MB in '%s'", bytes >> 20, spool->path);
	return 0;
}

int spool_create(const char *prefix, const struct spool_header *plan, struct spool *ret_spool, struct tare_err *err)
{
	struct layout layout;
	struct spool spool = {.fd = -1, .map = MAP_FAILED};
	if (!lay_out(plan, &layout))
		return tare_fail(err, TARE_E_USAGE, "a round of %llu requests is more than any memory holds",
			(unsigned long long)plan->count);
	if (check_fits(plan, &layout, err) < 0)
		return -1;
	if (prefix && snprintf(spool.path, sizeof spool.path, "%s.%u", prefix, plan->number) >= (int)sizeof spool.path)
		return tare_fail(err, TARE_E_SYSTEM, "the spool's path '%s' is too long", prefix);
	if (prefix && create_file(&spool, layout.total, err) < 0) {
		spool_close(&spool, true);
		return -1;
	}
	int flags = prefix ? MAP_SHARED | MAP_POPULATE : MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
	spool.map = mmap(NULL, layout.total, PROT_READ | PROT_WRITE, flags, spool.fd, 0);
	if (spool.map == MAP_FAILED) {
		tare_fail_errno(err, errno, "cannot map %zu MB for a round", layout.total >> 20);
		spool_close(&spool, true);
		return -1;
	}
	place(&spool, &layout);
	spool.locked = mlock(spool.map, spool.bytes) == 0;
	memcpy(spool.header, plan, sizeof *plan);
	memcpy(spool.header->magic, spool_magic, sizeof spool_magic);
	spool.header->version = SPOOL_VERSION;
	spool.header->file_bytes = layout.total;
	*ret_spool = spool;
	return 0;
}

static int fail_damaged(struct tare_err *err, const char *path, const char *why)
{
	return tare_fail(err, TARE_E_FORMAT, "the spool '%s' %s", path, why);
}

/* The file as it is; its contents are not trusted before check_adopted. */
static int map_adopted(struct spool *spool, struct tare_err *err)
{
	struct stat info;
	spool->fd = open(spool->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (spool->fd < 0 || fstat(spool->fd, &info) != 0)
		return tare_fail_errno(err, errno, "cannot open the spool '%s'", spool->path);
	if (!S_ISREG(info.st_mode) || info.st_uid != geteuid())
		return fail_damaged(err, spool->path, "is not a file of this user");
	if (flock(spool->fd, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK ? 1 : tare_fail_errno(err, errno, "cannot lock the spool '%s'", spool->path);
	if (info.st_size < (off_t)sizeof(struct spool_header))
		return fail_damaged(err, spool->path, "is cut off");
	spool->bytes = (size_t)info.st_size;
	spool->map = mmap(NULL, spool->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, spool->fd, 0);
	if (spool->map == MAP_FAILED)
		return tare_fail_errno(err, errno, "cannot map the spool '%s'", spool->path);
	return 0;
}

static int check_adopted(struct spool *spool, struct tare_err *err)
{
	struct layout layout;
	const struct spool_header *header = spool->map;
	if (memcmp(header->magic, spool_magic, sizeof spool_magic) != 0)
		return fail_damaged(err, spool->path, "is no spool of tare, or was cut before its first request");
	if (header->version != SPOOL_VERSION)
		return fail_damaged(err, spool->path, "was written by another version of tare");
	if (!lay_out(header, &layout) || layout.total != header->file_bytes || layout.total > spool->bytes)
		return fail_damaged(err, spool->path, "is damaged: its sizes do not fit the file");
	spool->header = spool->map;
	if (memchr(header->label, '\0', sizeof header->label) == NULL)
		return fail_damaged(err, spool->path, "is damaged: its label has no end");
	size_t mapped = spool->bytes;
	place(spool, &layout);
	spool->bytes = mapped;
	if (raw_read(&header->readings_count) > header->readings_room ||
		raw_read(&header->card_count) > header->card_room)
		return fail_damaged(err, spool->path, "is damaged: more clock readings than room");
	for (size_t i = 0; i < header->target_count; i++)
		if (raw_read(&spool->counters[i].slots) > header->count)
			return fail_damaged(err, spool->path, "is damaged: more requests than room");
	return 0;
}

int spool_adopt(const char *path, struct spool *ret_spool, struct tare_err *err)
{
	struct spool spool = {.fd = -1, .map = MAP_FAILED};
	if (snprintf(spool.path, sizeof spool.path, "%s", path) >= (int)sizeof spool.path)
		return tare_fail(err, TARE_E_FORMAT, "the spool's path '%s' is too long", path);
	int status = map_adopted(&spool, err);
	if (status == 0)
		status = check_adopted(&spool, err);
	if (status != 0) {
		spool_close(&spool, false);
		return status > 0 ? 0 : -1;
	}
	*ret_spool = spool;
	return 1;
}

void spool_close(struct spool *spool, bool remove)
{
	if (spool->map && spool->map != MAP_FAILED)
		munmap(spool->map, spool->bytes);
	if (remove && spool->path[0] && spool->fd >= 0)
		unlink(spool->path);
	if (spool->fd >= 0)
		close(spool->fd);
	*spool = (struct spool){.fd = -1, .map = MAP_FAILED};
}
