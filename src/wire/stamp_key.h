/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The key of STAMP's authenticated mode, and what is computed with it: HMAC-SHA-256
 * (RFC 2104, RFC 6234) cut to its first 16 octets, as RFC 8762 section 4.4 says.
 *
 * Kept are the two states of SHA-256 behind the key's padded blocks, not the key. An
 * HMAC of 96 octets so takes 0.12 µs on the build machine and no memory; libcrypto's
 * EVP_MAC takes 0.24 µs and two allocations each time, which the hot loop must not do.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

enum { STAMP_HMAC_BYTES = 16 };

struct stamp_key;

/* From a file, as base/secret.h reads them. */
int stamp_key_load(const char *path, struct stamp_key **ret_key, struct tare_err *err) TARE_MUST_USE;
int stamp_key_open(const uint8_t *bytes, size_t count, struct stamp_key **ret_key, struct tare_err *err) TARE_MUST_USE;
void stamp_key_free(struct stamp_key *key); /* wipes it; NULL is fine */

/* Of two pieces one behind the other; the second may be empty. */
void stamp_hmac(const struct stamp_key *key, const uint8_t *first, size_t first_bytes, const uint8_t *second,
		size_t second_bytes, uint8_t ret_hmac[STAMP_HMAC_BYTES]);
/* Whether that is what stands at `hmac`; takes as long whether it differs early, late or not at all. */
bool stamp_hmac_is(const struct stamp_key *key, const uint8_t *first, size_t first_bytes, const uint8_t *second,
		   size_t second_bytes, const uint8_t hmac[STAMP_HMAC_BYTES]);
