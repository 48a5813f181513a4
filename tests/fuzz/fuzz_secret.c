/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a key file may hold: a key of 16 to 128 octets or a sentence that names the file, and the same key from its own hexadecimal. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t key[SECRET_MOST_BYTES + 1], again[SECRET_MOST_BYTES];
	char hex[2 * SECRET_MOST_BYTES + 1];
	size_t count = 0, same = 0;
	struct tare_err err = {0};
	key[SECRET_MOST_BYTES] = 0xee;
	if (secret_parse(data, bytes, "KEYFILE", key, &count, &err) < 0) {
		must(count == 0 && strstr(err.text, "KEYFILE") != NULL);
		return 0;
	}
	must(count >= SECRET_LEAST_BYTES && count <= SECRET_MOST_BYTES && key[SECRET_MOST_BYTES] == 0xee);
	for (size_t i = 0; i < count; i++)
		snprintf(hex + 2 * i, 3, "%02X", key[i]);
	must(secret_parse((const uint8_t *)hex, 2 * count, "KEYFILE", again, &same, &err) == 0);
	must(same == count && memcmp(key, again, count) == 0);
	return 0;
}
