/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys in files: read only where nobody else can have read them. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

enum { SECRET_LEAST_BYTES = 16, SECRET_MOST_BYTES = 128 };

/*
 * The key in a file that is ours, with mode 0600 or 0400; a regular file, also behind a link. Hexadecimal where it
 * holds nothing but hexadecimal digits and white space; else the octets as they are, but for one end of line at
 * the end. From 16 to 128 octets. Wipe the buffer with secret_wipe when done; it is wiped after failure.
 */
int secret_read(const char *path, uint8_t buffer[SECRET_MOST_BYTES], size_t *ret_bytes, struct tare_err *err) TARE_MUST_USE;
/* What a file holds, as a key; `name` stands for it in messages. */
int secret_parse(const uint8_t *text, size_t length, const char *name, uint8_t buffer[SECRET_MOST_BYTES],
		 size_t *ret_bytes, struct tare_err *err) TARE_MUST_USE;
/* Zeros that no compiler leaves out. */
void secret_wipe(void *memory, size_t bytes);
