/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading of tracefs' format files. Offsets differ between kernels, so none is assumed. */
#include "cause/tracepoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

static bool number_behind(const char *from, const char *end, const char *word, size_t *ret_number)
{
	size_t length = strlen(word);
	for (const char *at = from; at + length < end; at++) {
		if (strncmp(at, word, length) == 0) {
			*ret_number = (size_t)strtoul(at + length, NULL, 10);
			return true;
		}
	}
	return false;
}

/* The name is the last word before ';' or '['. */
static bool names_field(const char *declaration, const char *end, const char *name)
{
	size_t length = strlen(name);
	const char *bracket = memchr(declaration, '[', (size_t)(end - declaration));
	/* "__data_loc char[] name" has its brackets within the type */
	if (bracket && !(bracket + 1 < end && bracket[1] == ']'))
		end = bracket;
	return (size_t)(end - declaration) > length && end[-(ptrdiff_t)length - 1] == ' ' &&
	       strncmp(end - length, name, length) == 0;
}

bool tracepoint_field_of(const char *format, const char *name, struct tracepoint_field *ret_field)
{
	for (const char *at = strstr(format, "field:"); at; at = strstr(at + 1, "field:")) {
		const char *end = strchr(at, ';'), *line = strchr(at, '\n');
		struct tracepoint_field field = {0};
		if (!end || !line || end > line)
			return false;
		if (!names_field(at, end, name))
			continue;
		if (!number_behind(end, line, "offset:", &field.offset) ||
			!number_behind(end, line, "size:", &field.bytes))
			return false;
		field.text = strncmp(at, "field:__data_loc", 16) == 0;
		*ret_field = field;
		return true;
	}
	return false;
}

uint64_t tracepoint_id_of(const char *format)
{
	const char *at = strstr(format, "\nID: ");
	return at ? strtoull(at + 5, NULL, 10) : 0;
}

bool tracepoint_read(const char *event, char *format, size_t room)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		char path[256];
		snprintf(path, sizeof path, "%s/events/%s/format", roots[i], event);
		AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t got = fd < 0 ? -1 : read(fd, format, room - 1);
		if (got <= 0)
			continue;
		format[got] = '\0';
		return true;
	}
	return false;
}

uint64_t tracepoint_number(const uint8_t *raw, size_t bytes, const struct tracepoint_field *field)
{
	uint64_t value = 0;
	/* little-endian, as all hosts that perf's raw records come from here */
	if (field->bytes <= sizeof value && field->offset <= bytes && bytes - field->offset >= field->bytes)
		memcpy(&value, raw + field->offset, field->bytes);
	return value;
}

void tracepoint_text(
	const uint8_t *raw, size_t bytes, const struct tracepoint_field *field, char *ret_text, size_t room)
{
	uint32_t place = (uint32_t)tracepoint_number(raw, bytes, field);
	size_t at = place & 0xffff, length = place >> 16;
	ret_text[0] = '\0';
	if (at >= bytes)
		return;
	length = length < bytes - at ? length : bytes - at;
	length = length < room - 1 ? length : room - 1;
	memcpy(ret_text, raw + at, length);
	ret_text[length] = '\0';
}
