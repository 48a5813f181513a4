/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Base64 of RFC 4648, without line breaks. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that `bytes` of base64 can hold at most; the text of `bytes` bytes, its end included. */
#define BASE64_DECODED(bytes) ((bytes) / 4 * 3 + 3)
#define BASE64_ENCODED(bytes) (((bytes) + 2) / 3 * 4 + 1)
/* False where it is no base64. `ret` has room for BASE64_DECODED(bytes). */
bool base64_decode(const char *text, size_t bytes, uint8_t *ret, size_t *ret_bytes);
/* Terminated; `ret` has room for BASE64_ENCODED(bytes). */
void base64_encode(const uint8_t *data, size_t bytes, char *ret);
