/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bounded text and units. Every duration a user writes needs a unit ("10us",
 * "1.5ms"), every rate too ("50k/s"); a bare number is refused. Parsing is
 * exact integer arithmetic: "0.1us" is 100 ns, "0.0001us" is refused. All
 * parse_ functions fail with TARE_E_USAGE and a sentence that quotes the text;
 * who parses a file changes the code. None takes a sign, or blanks around it.
 */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

/* Text in a fixed room: always terminated, `cut` says that it did not fit (no UTF-8 character is cut in two). */
struct text {
	char *bytes;
	size_t used, room;
	bool cut;
};
#define TEXT_IN(array)                                                                                                 \
	{                                                                                                              \
		.bytes = (array), .room = sizeof(array)                                                                \
	}
/* Length of the well-formed UTF-8 character at `bytes` (terminated text), 0 when there is none. */
size_t text_character(const char *bytes);
void text_add(struct text *text, const char *format, ...) TARE_PRINTF(2, 3);
void text_add_list(struct text *text, const char *format, va_list args) TARE_PRINTF(2, 0);
/*
 * Foreign text for a message: in single quotes, control characters and what is
 * not UTF-8 as '?', and at most 64 bytes of it ("…" shows where it ended).
 */
void text_add_quoted(struct text *text, const char *foreign);

/*
 * A number with decimals, then a unit (one blank or more may stand between):
 * ns us µs ms s min h; 0 needs none. "'10' needs a unit: …". What is no whole number of ns is refused.
 */
int parse_duration_ns(const char *text, int64_t *ret_ns, struct tare_err *err) TARE_MUST_USE;
/* 50k/s, 2.5M/s, 10/min, 6/h: the nearest interval in ns; a rate of 0 or above 1 per ns is refused. */
int parse_interval_of_rate(const char *text, int64_t *ret_interval_ns, struct tare_err *err) TARE_MUST_USE;
/* 10000, 10k, 1.5M, 2G: powers of 1000. */
int parse_count(const char *text, uint64_t *ret_count, struct tare_err *err) TARE_MUST_USE;
/* 64, 64B, 4k, 4kB, 1MiB: k M G are powers of 1000, Ki Mi Gi of 1024, with or without B. */
int parse_size_bytes(const char *text, uint64_t *ret_bytes, struct tare_err *err) TARE_MUST_USE;
/* A finite decimal number, sign and exponent allowed: "-1.5e3". */
int parse_number(const char *text, double *ret_number, struct tare_err *err) TARE_MUST_USE;
/*
 * "0-3,8", "0-31:2/8" (2 of every 8) as the kernel writes it, a final line break included, into a sorted
 * list without doubles. An empty text is an empty list: that is what sysfs holds where no CPU is meant.
 * Refused: malformed, a CPU above 8191, more than `room`.
 */
int parse_cpu_list(const char *text, int *ret_cpus, size_t room, size_t *ret_count, struct tare_err *err) TARE_MUST_USE;

/* Cuts the next line off a text, which is changed; NULL at the end, or when *at is NULL. */
char *text_next_line(char **at);

/*
 * A duration in a unit chosen by its size, at most 4 significant digits and no
 * needless zeros: "454 µs", "1.549 ms", "10 s", "-3 ns"; minutes from 10 min on, hours from 10 h on.
 * 32 bytes of room always do.
 */
void format_duration(int64_t ns, char *buffer, size_t room);
/* A rate: "50k/s", "2.5M/s", below one a second "10/min" or "6/h"; 4 significant digits; "?" for what is no rate. */
void format_rate(double per_second, char *buffer, size_t room);
/*
 * The closest of `words` (NULL-terminated) by edit distance, case aside, or NULL when none is near: at most
 * a third of the letters may differ. A swap of neighbours counts once; among equals the one that begins alike.
 */
const char *nearest_word(const char *word, const char *const *words);
