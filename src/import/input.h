/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes of a file that may be packed (gzip, zstd) or come from a pipe, as
 * one forward stream that can be started anew: captures are read twice, first to
 * learn what they hold. What comes from a pipe is kept in a nameless temporary
 * file for that.
 *
 * Read, not mapped: a mapped file that another process cuts short ends ours with
 * SIGBUS.
 *
 * Packed input may grow without limit, but not out of proportion: beyond 64 MiB
 * it must not exceed 500 times what was read, else it is refused as a bomb. A
 * window of zstd above 128 MiB is refused too. Only one layer is unpacked.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tare/err.h"

struct input;

/* The stream stays the caller's and is read from its present place on; `name` is borrowed. */
int input_open(FILE *stream, const char *name, struct input **ret_input, struct tare_err *err) TARE_MUST_USE;
/* The same from memory, which is borrowed. */
int input_open_bytes(const void *bytes, size_t count, const char *name, struct input **ret_input,
	struct tare_err *err) TARE_MUST_USE;
void input_free(struct input *input); /* NULL is fine */

/* "gzip", "zstd", or NULL for plain bytes. */
const char *input_coding(const struct input *input);
/* Other limits for packed input, for tests and for who knows better. */
void input_limit(struct input *input, uint64_t free_bytes, uint64_t ratio);

/*
 * Makes at least `bytes` bytes lie at input_at() and returns how many do: fewer only at the end. Asking for
 * more than was ever there costs no memory. Pointers into the window end with the next call. -1 on failure.
 */
int64_t input_need(struct input *input, size_t bytes, struct tare_err *err) TARE_MUST_USE;

/* The window: what can be looked at without a call. */
struct input_window {
	const uint8_t *at, *end;
};
struct input_window *input_window(struct input *input);
/* Where the window begins, counted in unpacked bytes. */
uint64_t input_offset(const struct input *input);

/* Back to the beginning. Fails when a pipe's temporary file is out of space. */
int input_rewind(struct input *input, struct tare_err *err) TARE_MUST_USE;
/* No rewinding from here on: a pipe needs no temporary file any more. */
void input_forget(struct input *input);
/*
 * What is left as a stdio stream, for readers of lines; the caller closes it, before the input ends. A failure
 * of unpacking shows as an error of the stream and is told by input_failure.
 */
FILE *input_stream(struct input *input, struct tare_err *err);
const struct tare_err *input_failure(const struct input *input);
