/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON of others: whole documents with a limit, and lines of it. Keys that stand
 * twice in an object are refused, by name; a second document behind the first is
 * refused unless it says the same; bare NaN and infinities, which JSON does not
 * have, are null when lenient. Integers stay 64 bits.
 */
#pragma once
#include <jansson.h>

#include "import/pieces.h"

/* 256 MiB of text, which become about 1.5 GB in memory. */
enum { DOCUMENT_MOST_BYTES = 256 << 20 };

/* The whole input. NULL on failure; json_decref it. */
json_t *document_read(struct import *import, struct tare_err *err);
static inline void document_end(json_t *const *document) /* for AUTO_CLEANUP */
{
	json_decref(*document);
}
/* One line; NULL with *ret_why set to what is wrong with it (in `why`, at least 200 bytes). */
json_t *document_of_line(const struct line *line, bool lenient, char *why, size_t room);

/* Member at a path "stats.start_time.wall"; NULL where there is none. */
const json_t *document_at(const json_t *object, const char *path);
/* Its text, or NULL. */
const char *document_text(const json_t *object, const char *path);
/* An integer, also one written as a string; false where there is none. */
bool document_integer(const json_t *object, const char *path, int64_t *ret_value);
/* A duration in a unit, integer, real or string; TARE_NO_TIME where there is none. */
int64_t document_ns(const json_t *object, const char *path, int unit);
/* A boolean, also as "true" or "false"; text that begins with "true" is true. */
bool document_true(const json_t *object, const char *path);

/* Does the head begin as an object that has all of these keys in its first bytes? */
bool document_knows(struct lines *head, const char *const *keys);
