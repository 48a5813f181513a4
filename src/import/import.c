/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The door: opens a file, unpacks it where it is packed, finds who knows it, and
 * keeps what outlives a single record. Captures are told by their first bytes
 * and read as bytes; everything else is lines. Strings lie in arenas of 64 kB that are chained as needed, since an
 * arena never grows and nobody knows how many sections a log has.
 */
#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "import/capture/capture.h"
#include "import/formats.h"
#include "import/import_private.h"

enum { POOL_BYTES = 65536 };

static void auto_lines_end(struct lines *const *lines)
{
	lines_free(*lines);
}

static void auto_import_end(struct import *const *import)
{
	import_free(*import);
}

static const struct import_format *format_of(const void *head, size_t head_bytes)
{
	for (size_t i = 0; import_formats[i]; i++) {
		AUTO_CLEANUP(auto_lines_end) struct lines *lines = NULL;
		if (lines_open_bytes(head, head_bytes, &lines, NULL))
			return NULL;
		if (import_formats[i]->knows(lines))
			return import_formats[i];
	}
	return NULL;
}

static void auto_input_end(struct input *const *input)
{
	input_free(*input);
}

bool import_looks_like(const void *head, size_t head_bytes)
{
	AUTO_CLEANUP(auto_input_end) struct input *input = NULL;
	if (input_open_bytes(head, head_bytes, "head", &input, NULL))
		return false;
	/* a packed head is cut off somewhere: what can be unpacked of it is there all the same */
	if (input_need(input, LINES_HEAD_BYTES, NULL) < 0 && !input_coding(input))
		return false;
	const struct input_window *window = input_window(input);
	size_t bytes = (size_t)(window->end - window->at);
	return capture_knows(window->at, bytes) || format_of(window->at, bytes);
}

static int refuse(const struct import *import, const char *head, size_t head_bytes, struct tare_err *err)
{
	if (!head_bytes && !lines_nul_bytes(import->lines))
		return tare_fail(err, TARE_E_FORMAT, "'%s' is empty", import->name);
	const char *end = head_bytes ? memchr(head, '\n', head_bytes) : NULL;
	size_t bytes = end ? (size_t)(end - head) : head_bytes;
	while (bytes && head[bytes - 1] == '\r')
		bytes--;
	/* the NUL behind it is dropped from lines */
	static const char recording[] = "SQLite format 3";
	if (head_bytes >= sizeof(recording) - 1 && memcmp(head, recording, sizeof(recording) - 1) == 0)
		return tare_fail(err, TARE_E_USAGE,
			"%s is a recording, which cannot be read from a pipe or packed: name the file itself", import->name);
	return tare_fail(err, TARE_E_FORMAT,
		"'%s': not a tare recording, and no capture or log that tare knows (first line: %s)", import->name,
		quote(head, bytes).text);
}

static int open_lines(struct import *import, struct tare_err *err)
{
	size_t head_bytes = 0;
	input_forget(import->input);
	import->unpacked = input_stream(import->input, err);
	if (!import->unpacked || lines_open(import->unpacked, import->name, &import->lines, err))
		return -1;
	const char *head = lines_head(import->lines, &head_bytes);
	if (import->rules.format)
		return (import->format = import_format_named(import->rules.format, err)) ? 0 : -1;
	import->format = format_of(head, head_bytes);
	/* who names a column or a unit says that it is numbers: then the line that is none is the message */
	if (!import->format && head_bytes && (import->rules.column || import->rules.unit))
		import->format = &numbers_format;
	return import->format ? 0 : refuse(import, head, head_bytes, err);
}

int import_open_stream(FILE *stream, const char *name, const struct import_rules *rules, struct import **ret_import,
	struct tare_err *err)
{
	AUTO_CLEANUP(auto_import_end) struct import *import = calloc(1, sizeof(*import));
	if (!import || !(import->name = strdup(name)))
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", name);
	if (rules)
		import->rules = *rules;
	if (input_open(stream, import->name, &import->input, err))
		return -1;
	int64_t bytes = input_need(import->input, LINES_HEAD_BYTES, err);
	if (bytes < 0)
		return -1;
	if (!import->rules.format && capture_knows(input_window(import->input)->at, (size_t)bytes))
		import->format = &capture_format;
	else if (open_lines(import, err))
		return -1;
	if (import->rules.with && !import->format->joins)
		return tare_fail(err, TARE_E_USAGE,
			"'%s' is %s: --with goes with the CSV files of the EC2 packet timestamping tool", import->name,
			import->format->help);
	if (import->format->read ? pieces_open(import, &import->reader, err)
				 : import->format->open(import, &import->reader, err))
		return -1;
	*ret_import = take_ptr(import);
	return 0;
}

int import_open(const char *path, const struct import_rules *rules, struct import **ret_import, struct tare_err *err)
{
	struct stat status;
	if (strcmp(path, "-") == 0)
		return import_open_stream(stdin, "standard input", rules, ret_import, err);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status))
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	if (S_ISDIR(status.st_mode))
		return tare_fail(err, TARE_E_FORMAT, "'%s' is a directory", path);
	AUTO_FILE stream = fdopen(fd, "r");
	if (!stream)
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	take_fd(&fd);
	struct import *import = NULL;
	if (import_open_stream(stream, path, rules, &import, err))
		return -1;
	import->own_stream = take_ptr(stream);
	*ret_import = import;
	return 0;
}

void import_free(struct import *import)
{
	if (!import)
		return;
	if (import->format && import->reader && import->format->read)
		pieces_free(import->reader);
	else if (import->format && import->reader)
		import->format->free(import->reader);
	lines_free(import->lines);
	if (import->unpacked)
		fclose(import->unpacked);
	input_free(import->input);
	for (size_t i = 0; i < import->arena_count; i++)
		arena_free(import->arenas[i]);
	free(import->arenas);
	free(import->notes);
	free(import->events);
	free(import->name);
	if (import->own_stream)
		fclose(import->own_stream);
	free(import);
}

static int note_encoding(struct import *import, struct tare_err *err)
{
	uint64_t count = lines_not_utf8(import->lines);
	if (!count || import->encoding_noted)
		return 0;
	import->encoding_noted = true;
	import->round = 0;
	return import_note(import, IMPORT_LIMIT, err, "%" PRIu64 " %s no UTF-8 (an old code page?): numbers are read, words are not", count,
		count == 1 ? "line is" : "lines are");
}

int import_next(struct import *import, const struct tare_record **ret_record, struct tare_err *err)
{
	import->event_count = 0;
	import->has_schedule = false;
	int found = import->format->read ? pieces_next(import, import->reader, ret_record, err)
					 : import->format->next(import, import->reader, ret_record, err);
	if (found == 0 && import->lines && note_encoding(import, err))
		return -1;
	/* stdio only says that reading failed; why is known to who unpacked */
	if (found < 0 && err && import->lines && input_failure(import->input))
		*err = *input_failure(import->input);
	return found;
}

const char *import_note_name(enum import_note_kind kind)
{
	static const char *const names[] = {[IMPORT_HEAD] = "head",
		[IMPORT_QUANTITY] = "quantity",
		[IMPORT_PACING] = "pacing",
		[IMPORT_LIMIT] = "limit",
		[IMPORT_FATE] = "fate",
		[IMPORT_MISMATCH] = "mismatch",
		[IMPORT_PRINTED] = "printed",
		[IMPORT_DAMAGE] = "damage"};
	return names[kind];
}

size_t import_notes(const struct import *import, const struct import_note **ret_notes)
{
	*ret_notes = import->notes;
	return import->note_count;
}

size_t import_events(const struct import *import, const struct tare_event **ret_events)
{
	*ret_events = import->events;
	return import->event_count;
}

const struct ping_schedule *import_schedule(const struct import *import)
{
	return import->has_schedule ? &import->schedule : NULL;
}

static int more_room(struct import *import, struct tare_err *err)
{
	struct arena **arenas = realloc(import->arenas, (import->arena_count + 1) * sizeof(struct arena *));
	if (!arenas)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", import->name);
	import->arenas = arenas;
	if (arena_open(POOL_BYTES, 0, &arenas[import->arena_count], err))
		return -1;
	import->arena_count++;
	return 0;
}

void *import_take(struct import *import, size_t count, size_t size, struct tare_err *err)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		void *memory = import->arena_count ? arena_take(import->arenas[import->arena_count - 1], count, size,
							     _Alignof(max_align_t))
						   : NULL;
		if (memory)
			return memory;
		if (attempt == 0 && more_room(import, err))
			return NULL;
	}
	tare_fail_errno(err, ENOMEM, "cannot read '%s'", import->name);
	return NULL;
}

char *import_text(struct import *import, const char *text, struct tare_err *err)
{
	size_t bytes = strlen(text) + 1;
	char *copy = import_take(import, bytes, 1, err);
	if (copy)
		memcpy(copy, text, bytes);
	return copy;
}

/* Doubles an array at powers of two from 16 on; `count` are in use. */
static void *room_for_one(void *array, size_t count, size_t size)
{
	if (count >= 16 ? (count & (count - 1)) != 0 : count != 0)
		return array;
	return realloc(array, (count ? count * 2 : 16) * size);
}

/* Runs of blanks become one: columns that another program aligned are none in a sentence. */
static void squeeze(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		if (*from != ' ' || to == text || to[-1] != ' ')
			*to++ = *from;
	}
	*to = '\0';
}

int import_note(struct import *import, enum import_note_kind kind, struct tare_err *err, const char *format, ...)
{
	char buffer[512];
	struct text text = TEXT_IN(buffer);
	if (import->note_count == IMPORT_NOTES_MAX)
		return 0;
	va_list args;
	va_start(args, format);
	text_add_list(&text, format, args);
	va_end(args);
	squeeze(buffer);
	if (import->note_count == IMPORT_NOTES_MAX - 1) {
		kind = IMPORT_DAMAGE;
		text = (struct text)TEXT_IN(buffer);
		text_add(&text, "notes from here on are left out");
	}
	struct import_note *notes = room_for_one(import->notes, import->note_count, sizeof(*notes));
	if (!notes)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", import->name);
	import->notes = notes;
	const char *copy = import_text(import, buffer, err);
	if (!copy)
		return -1;
	notes[import->note_count++] = (struct import_note){.round = import->round, .kind = kind, .text = copy};
	return 0;
}

int import_event(struct import *import, int64_t at_ns, const char *kind, struct tare_err *err, const char *format, ...)
{
	char buffer[512];
	struct text text = TEXT_IN(buffer);
	if (import->event_count == IMPORT_EVENTS_MAX)
		return 0;
	va_list args;
	va_start(args, format);
	text_add_list(&text, format, args);
	va_end(args);
	struct tare_event *events = room_for_one(import->events, import->event_count, sizeof(*events));
	if (!events)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", import->name);
	import->events = events;
	const char *copy = import_text(import, buffer, err);
	if (!copy)
		return -1;
	events[import->event_count++] = (struct tare_event){.at_ns = at_ns, .kind = kind, .text = copy};
	return 0;
}

struct quoted quote(const char *foreign, size_t bytes)
{
	struct quoted quoted = {""};
	char copy[128];
	struct text text = TEXT_IN(quoted.text);
	if (bytes >= sizeof(copy))
		bytes = sizeof(copy) - 1;
	if (bytes)
		memcpy(copy, foreign, bytes);
	copy[bytes] = '\0';
	text_add_quoted(&text, copy);
	return quoted;
}
