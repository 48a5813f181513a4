/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HMAC from SHA-256's plain functions. OpenSSL 3 calls them deprecated in favour of
 * EVP, which allocates for every message; they are what remains without that.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "wire/stamp_key.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"

struct stamp_key {
	SHA256_CTX inner, outer;
};

/* The state behind one block of the key with every octet changed by `pad`. */
static void begin(SHA256_CTX *state, const uint8_t block[SHA256_CBLOCK], uint8_t pad)
{
	uint8_t padded[SHA256_CBLOCK];
	for (size_t i = 0; i < sizeof padded; i++)
		padded[i] = block[i] ^ pad;
	SHA256_Init(state);
	SHA256_Update(state, padded, sizeof padded);
	secret_wipe(padded, sizeof padded);
}

int stamp_key_open(const uint8_t *bytes, size_t count, struct stamp_key **ret_key, struct tare_err *err)
{
	uint8_t block[SHA256_CBLOCK] = {0};
	struct stamp_key *key = malloc(sizeof *key);
	if (!key)
		return tare_fail(err, TARE_E_SYSTEM, "no memory for a key");
	/* a key longer than a block stands for its digest (RFC 2104) */
	if (count > sizeof block)
		SHA256(bytes, count, block);
	else
		memcpy(block, bytes, count);
	begin(&key->inner, block, 0x36);
	begin(&key->outer, block, 0x5c);
	secret_wipe(block, sizeof block);
	*ret_key = key;
	return 0;
}

int stamp_key_load(const char *path, struct stamp_key **ret_key, struct tare_err *err)
{
	uint8_t bytes[SECRET_MOST_BYTES];
	size_t count;
	if (secret_read(path, bytes, &count, err) < 0)
		return -1;
	int status = stamp_key_open(bytes, count, ret_key, err);
	secret_wipe(bytes, sizeof bytes);
	return status;
}

void stamp_key_free(struct stamp_key *key)
{
	if (key)
		secret_wipe(key, sizeof *key);
	free(key);
}

void stamp_hmac(const struct stamp_key *key, const uint8_t *first, size_t first_bytes, const uint8_t *second,
	size_t second_bytes, uint8_t ret_hmac[STAMP_HMAC_BYTES])
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA256_CTX state = key->inner;
	SHA256_Update(&state, first, first_bytes);
	if (second_bytes)
		SHA256_Update(&state, second, second_bytes);
	SHA256_Final(digest, &state);
	state = key->outer;
	SHA256_Update(&state, digest, sizeof digest);
	SHA256_Final(digest, &state);
	memcpy(ret_hmac, digest, STAMP_HMAC_BYTES);
}

bool stamp_hmac_is(const struct stamp_key *key, const uint8_t *first, size_t first_bytes, const uint8_t *second,
	size_t second_bytes, const uint8_t hmac[STAMP_HMAC_BYTES])
{
	uint8_t right[STAMP_HMAC_BYTES];
	stamp_hmac(key, first, first_bytes, second, second_bytes, right);
	return CRYPTO_memcmp(right, hmac, sizeof right) == 0;
}
