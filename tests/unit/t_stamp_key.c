/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HMAC-SHA-256 against the vectors of RFC 4231 and against libcrypto's own. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "wire/stamp_key.h"

static struct stamp_key *key_of(const uint8_t *bytes, size_t count)
{
	struct stamp_key *key = NULL;
	struct tare_err err;
	if (stamp_key_open(bytes, count, &key, &err) < 0)
		abort();
	return key;
}

static void vector(const char *name, const uint8_t *bytes, size_t count, const char *text, size_t length, const char *want)
{
	uint8_t got[STAMP_HMAC_BYTES];
	char hex[2 * STAMP_HMAC_BYTES + 1];
	struct stamp_key *key = key_of(bytes, count);
	for (size_t cut = 0; cut <= length; cut += length) {
		stamp_hmac(key, (const uint8_t *)text, cut, (const uint8_t *)text + cut, length - cut, got);
		for (size_t i = 0; i < sizeof got; i++)
			snprintf(hex + 2 * i, 3, "%02x", got[i]);
		IS_STR(hex, want, name);
		OK(stamp_hmac_is(key, (const uint8_t *)text, cut, (const uint8_t *)text + cut, length - cut, got), "is it");
	}
	size_t believed = 0;
	for (size_t bit = 0; bit < 8 * sizeof got; bit++) {
		got[bit / 8] ^= (uint8_t)(1 << bit % 8);
		believed += stamp_hmac_is(key, (const uint8_t *)text, length, NULL, 0, got);
		got[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	IS_I64(believed, 0, "no bit of it may differ");
	stamp_key_free(key);
}

static void vectors(void)
{
	uint8_t key[131];
	memset(key, 0x0b, sizeof key);
	vector("RFC 4231 case 1", key, 20, "Hi There", 8, "b0344c61d8db38535ca8afceaf0bf12b");
	vector("case 2: a short key", (const uint8_t *)"Jefe", 4, "what do ya want for nothing?", 28,
		"5bdcc146bf60754e6a042426089575c7");
	memset(key, 0xaa, sizeof key);
	vector("case 6: a key longer than a block", key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
		"60e431591ee0b67f0d8a26aacbf5b77f");
}

static void against_libcrypto(void)
{
	uint8_t bytes[128], text[300], want[EVP_MAX_MD_SIZE], got[STAMP_HMAC_BYTES];
	unsigned seed = 20261130, length;
	size_t wrong = 0;
	printf("# seed %u\n", seed);
	srand(seed);
	for (int turn = 0; turn < 2000; turn++) {
		size_t count = 1 + (size_t)rand() % sizeof bytes, used = (size_t)rand() % sizeof text,
		       cut = used ? (size_t)rand() % used : 0;
		for (size_t i = 0; i < sizeof text; i++) {
			text[i] = (uint8_t)rand();
			bytes[i % sizeof bytes] = (uint8_t)rand();
		}
		struct stamp_key *key = key_of(bytes, count);
		stamp_hmac(key, text, cut, text + cut, used - cut, got);
		HMAC(EVP_sha256(), bytes, (int)count, text, used, want, &length);
		wrong += memcmp(got, want, sizeof got) != 0;
		stamp_key_free(key);
	}
	IS_I64(wrong, 0, "2000 random keys and texts");
	stamp_key_free(NULL);
}

int main(void)
{
	vectors();
	against_libcrypto();
	return tap_done();
}
