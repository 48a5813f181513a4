/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Configuration files, read by libinih from memory. Its handler learns neither
 * the line number nor of lines that were too long for its buffer (it would take
 * the rest as a line of its own), so the reader below counts lines, refuses long
 * ones, and strips the indentation by which inih means "continued".
 */
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/option_private.h"
#include "base/text.h"

enum { FILE_MOST_BYTES = 1 << 20 };

struct reading {
	struct option_set *set;
	const char *at, *name;
	int line;
	int failed_line; /* 0: none so far */
	struct tare_err *err;
};

static int fail_line(struct reading *reading)
{
	reading->failed_line = reading->line;
	if (reading->err && reading->err->code == TARE_E_USAGE)
		reading->err->code = TARE_E_FORMAT;
	return tare_err_prefix(reading->err, "%s:%d", reading->name, reading->line);
}

/* inih's reader: one line without its indentation into `buffer`, NULL at the end or at a line that is too long. */
static char *read_line(char *buffer, int room, void *stream)
{
	struct reading *reading = stream;
	if (*reading->at == '\0' || room < 1)
		return NULL;
	reading->line++;
	const char *line = reading->at + strspn(reading->at, " \t\r\v\f");
	size_t length = strcspn(line, "\n");
	reading->at = line + length + (line[length] == '\n');
	if (length >= (size_t)room - 2) {
		if (!reading->failed_line) {
			tare_fail(reading->err, TARE_E_FORMAT, "the line is longer than %d bytes", room - 3);
			fail_line(reading);
		}
		return NULL;
	}
	memcpy(buffer, line, length);
	buffer[length] = '\0';
	return buffer;
}

static int refuse_unknown(struct reading *reading, const char *name)
{
	char quoted[96];
	struct text sentence = TEXT_IN(quoted);
	text_add_quoted(&sentence, name);
	const char *nearest = option_nearest(reading->set->table, name, false);
	if (nearest)
		tare_fail(reading->err, TARE_E_FORMAT, "unknown option %s, nearest is '%s'", quoted, nearest);
	else
		tare_fail(reading->err, TARE_E_FORMAT, "unknown option %s", quoted);
	return fail_line(reading);
}

static int take_pair(struct reading *reading, const char *section, const char *name, const char *value)
{
	if (section[0] == '\0') {
		tare_fail(reading->err, TARE_E_FORMAT, "a value stands before any [section]");
		return fail_line(reading);
	}
	if (strcmp(section, reading->set->command) != 0)
		return 0;
	int row = option_row(reading->set->table, name, strlen(name));
	if (row == OPTION_NONE)
		return refuse_unknown(reading, name);
	char source[256];
	struct text where = TEXT_IN(source);
	text_add(&where, "%s:%d", reading->name, reading->line);
	const struct option_place place = {.source = source, .given = true, .copy = true};
	if (option_store(reading->set, row, value, &place, reading->err) < 0) {
		tare_err_prefix(reading->err, "%s", name);
		return fail_line(reading);
	}
	return 0;
}

/* inih's handler: 0 means failure there. It is called on after one, so the first is kept. */
static int handle_pair(void *user, const char *section, const char *name, const char *value)
{
	struct reading *reading = user;
	return !reading->failed_line && take_pair(reading, section, name, value ? value : "") == 0;
}

int option_text(struct option_set *set, const char *text, const char *name, struct tare_err *err)
{
	struct reading reading = {.set = set, .at = text, .name = name, .err = err};
	int bad_line = ini_parse_stream(read_line, &reading, handle_pair, &reading);
	if (bad_line > 0 && (!reading.failed_line || bad_line < reading.failed_line))
		return tare_fail(err, TARE_E_FORMAT, "%s:%d: neither a [section] nor name = value", name, bad_line);
	if (bad_line < 0)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", name);
	return reading.failed_line ? -1 : 0;
}

/* The whole file, terminated. Read to its end rather than by its size: it need not be a regular one. */
static int read_whole(int fd, const char *path, char *buffer, size_t room, struct tare_err *err)
{
	size_t used = 0;
	while (used < room - 1) {
		ssize_t got = read(fd, buffer + used, room - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tare_fail_errno(err, errno, "cannot read '%s'", path);
		if (got == 0)
			break;
		used += (size_t)got;
	}
	if (used > FILE_MOST_BYTES)
		return tare_fail(err, TARE_E_FORMAT, "'%s' is larger than 1 MiB, too much for a configuration", path);
	if (memchr(buffer, '\0', used))
		return tare_fail(err, TARE_E_FORMAT, "'%s' is no text: it holds a zero byte", path);
	buffer[used] = '\0';
	return 0;
}

int option_file(struct option_set *set, const char *path, struct tare_err *err)
{
	/* O_NONBLOCK: opening a pipe must not wait for its writer */
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	size_t room = FILE_MOST_BYTES + 2;
	AUTO_FREE char *text = malloc(room);
	if (!text)
		return tare_fail_errno(err, errno, "cannot read '%s'", path);
	if (read_whole(fd, path, text, room, err) < 0)
		return -1;
	return option_text(set, text, path, err);
}
