/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bounded text and units. Every duration a user writes needs a unit ("10us",
 * "1.5ms"), every rate too ("50k/s"); a bare number is refused. Parsing is
 * exact integer arithmetic: "0.1us" is 100 ns, "0.0001us" is refused.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

/* Text in a fixed room: always terminated, `cut` says that it did not fit. */
struct text { char *bytes; size_t used, room; bool cut; };
#define TEXT_IN(array) { .bytes = (array), .room = sizeof(array) }
void text_add(struct text *text, const char *format, ...) TARE_PRINTF(2, 3);

int parse_duration_ns(const char *text, int64_t *ret_ns, struct tare_err *err) TARE_MUST_USE;  /* ns us µs ms s min h */
int parse_interval_of_rate(const char *text, int64_t *ret_interval_ns, struct tare_err *err) TARE_MUST_USE; /* 50k/s, 1M/s, 10/min */
int parse_count(const char *text, uint64_t *ret_count, struct tare_err *err) TARE_MUST_USE;     /* 10000, 10k, 1M */
int parse_size_bytes(const char *text, uint64_t *ret_bytes, struct tare_err *err) TARE_MUST_USE; /* 64, 4k, 1MiB */
/* "0-3,8" as the kernel writes it, into a sorted list without doubles; -1 when malformed or more than room. */
int parse_cpu_list(const char *text, int *ret_cpus, size_t room, size_t *ret_count, struct tare_err *err) TARE_MUST_USE;

/* A duration in a unit chosen by its size, about 4 significant digits: "454 µs", "1.549 ms". */
void format_duration(int64_t ns, char *buffer, size_t room);
/* A rate from an interval: "1 k/s", "50k/s", "2M/s". */
void format_rate(double per_second, char *buffer, size_t room);
/* The closest of `words` (NULL-terminated) by edit distance, or NULL when none is near. */
const char *nearest_word(const char *word, const char *const *words);
