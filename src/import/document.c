/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON through jansson, with what it does not check. */
#include "import/document.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

static char *read_all(struct import *import, size_t *ret_bytes, struct tare_err *err)
{
	AUTO_FREE char *text = NULL;
	size_t used = 0, room = 0;
	for (;;) {
		if (used == room) {
			room = room ? 2 * room : 1 << 18;
			char *larger = room <= DOCUMENT_MOST_BYTES ? realloc(text, room) : NULL;
			if (!larger) {
				tare_fail(err, TARE_E_FORMAT, "'%s': a JSON document of more than %d MiB is not read",
					import->name, DOCUMENT_MOST_BYTES >> 20);
				return NULL;
			}
			text = larger;
		}
		size_t got = 0;
		if (lines_read(import->lines, text + used, room - used, &got, err))
			return NULL;
		if (!got)
			break;
		used += got;
	}
	*ret_bytes = used;
	return take_ptr(text);
}

/* Length of a bare NaN, inf or Infinity with its sign, or 0. */
static size_t bare_word(const char *at, size_t left)
{
	static const char *const words[] = {"-nan", "nan", "-NaN", "NaN", "-Infinity", "Infinity", "-inf", "inf"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);
		if (length <= left && memcmp(at, words[i], length) == 0 &&
			(length == left || !isalnum((unsigned char)at[length])))
			return length;
	}
	return 0;
}

/* Bare NaN becomes 0 padded to the same length or null: "nan" and "inf" are too short for null, so "\"\"". */
static uint64_t blank_bare_words(char *text, size_t bytes)
{
	bool in_string = false;
	uint64_t found = 0;
	for (size_t i = 0; i < bytes; i++) {
		if (in_string && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			in_string = !in_string;
		else if (!in_string && (text[i] == '-' || isalpha((unsigned char)text[i]))) {
			size_t length = bare_word(text + i, bytes - i);
			for (size_t j = 0; j < length; j++)
				text[i + j] = j == 0 || j == 1 ? '"' : ' ';
			found += length > 0;
			while (!length && i + 1 < bytes && isalnum((unsigned char)text[i + 1]))
				i++;
			i += length ? length - 1 : 0;
		}
	}
	return found;
}

static json_t *parse(const char *text, size_t bytes, size_t *ret_end, json_error_t *where)
{
	json_t *value = json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, where);
	if (value)
		*ret_end = (size_t)where->position;
	return value;
}

static size_t skip_blanks(const char *text, size_t at, size_t bytes)
{
	while (at < bytes && isspace((unsigned char)text[at]))
		at++;
	return at;
}

json_t *document_read(struct import *import, struct tare_err *err)
{
	size_t bytes = 0, end = 0;
	json_error_t where;
	AUTO_FREE char *text = read_all(import, &bytes, err);
	if (!text)
		return NULL;
	uint64_t bare = import->rules.lenient ? blank_bare_words(text, bytes) : 0;
	if (bare && import_note(import, IMPORT_DAMAGE, err, "%" PRIu64 " bare NaN or infinite numbers taken as absent", bare))
		return NULL;
	json_t *document = parse(text, bytes, &end, &where);
	if (!document) {
		tare_fail(err, TARE_E_FORMAT, "'%s':%d:%d: no valid JSON: %s", import->name, where.line, where.column,
			quote(where.text, strlen(where.text)).text);
		return NULL;
	}
	size_t rest = skip_blanks(text, end, bytes);
	while (rest < bytes) {
		AUTO_CLEANUP(document_end) json_t *other = parse(text + rest, bytes - rest, &end, &where);
		if (!other || !json_equal(document, other)) {
			json_decref(document);
			tare_fail(err, TARE_E_FORMAT, "'%s': another document follows at byte %zu, and it says something else",
				import->name, rest);
			return NULL;
		}
		if (import_note(import, IMPORT_DAMAGE, err, "the document stands there twice, word for word: read once")) {
			json_decref(document);
			return NULL;
		}
		rest = skip_blanks(text, rest + end, bytes);
	}
	return document;
}

json_t *document_of_line(const struct line *line, bool lenient, char *why, size_t room)
{
	json_error_t where;
	struct text text = {.bytes = why, .room = room};
	if (lenient)
		blank_bare_words(line->text, line->bytes);
	json_t *value = json_loadb(line->text, line->bytes, JSON_REJECT_DUPLICATES, &where);
	if (!value)
		text_add(&text, "no valid JSON at column %d (%s)", where.column, where.text);
	return value;
}

const json_t *document_at(const json_t *object, const char *path)
{
	while (object && *path) {
		char key[64];
		size_t length = strcspn(path, ".");
		if (length >= sizeof(key))
			return NULL;
		memcpy(key, path, length);
		key[length] = '\0';
		object = json_object_get(object, key);
		path += length + (path[length] == '.');
	}
	return object;
}

const char *document_text(const json_t *object, const char *path)
{
	return json_string_value(document_at(object, path));
}

bool document_integer(const json_t *object, const char *path, int64_t *ret_value)
{
	const json_t *value = document_at(object, path);
	uint64_t count;
	if (json_is_integer(value)) {
		*ret_value = json_integer_value(value);
		return true;
	}
	if (!json_is_string(value) || !number_count(json_string_value(value), json_string_length(value), &count) ||
		count > INT64_MAX)
		return false;
	*ret_value = (int64_t)count;
	return true;
}

int64_t document_ns(const json_t *object, const char *path, int unit)
{
	const json_t *value = document_at(object, path);
	char digits[40];
	const char *text = digits;
	if (json_is_integer(value))
		snprintf(digits, sizeof(digits), "%" PRId64, (int64_t)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(digits, sizeof(digits), "%.15g", json_real_value(value));
	else if (json_is_string(value))
		text = json_string_value(value);
	else
		return TARE_NO_TIME;
	struct number number = number_read(text, strlen(text), unit);
	return number.why ? TARE_NO_TIME : number.ns;
}

bool document_true(const json_t *object, const char *path)
{
	const json_t *value = document_at(object, path);
	return json_is_true(value) || (json_is_string(value) && text_begins(json_string_value(value), "true"));
}

bool document_knows(struct lines *head, const char *const *keys)
{
	size_t bytes = 0;
	const char *text = lines_head(head, &bytes);
	size_t at = skip_blanks(text, 0, bytes);
	if (at == bytes || text[at] != '{')
		return false;
	for (; *keys; keys++) {
		char quoted[64];
		int length = snprintf(quoted, sizeof(quoted), "\"%s\"", *keys);
		if (!memmem(text, bytes, quoted, (size_t)length))
			return false;
	}
	return true;
}
