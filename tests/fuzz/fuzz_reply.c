/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Streams from a hostile service: the reader ends, uses no more than there is, and
 * what it takes depends on the bytes alone. First octet: which expectation.
 */
#include <stdlib.h>

#include "probe/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct probe_exchange expectations[] = {
	{.expect = (const uint8_t *)"+PONG", .expect_bytes = 5},
	{.expect = (const uint8_t *)"a\nb\n", .expect_bytes = 4},
	{.expect_regex = "^[0-9]+ (ok|no)$"},
	{.reply_bytes = 7, .expect = (const uint8_t *)"\0", .expect_bytes = 1},
	{.expect = NULL},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reply_rule rule;
	struct tare_err err = {0};
	if (size == 0)
		return 0;
	if (reply_rule_open(&expectations[data[0] % (sizeof expectations / sizeof expectations[0])], &rule, &err) < 0)
		abort();
	bool skipping = false;
	size_t from = 1, used = 1;
	while (used > 0) {
		if (reply_next(&rule, &skipping, data + from, size - from, &used) != REPLY_MORE && used == 0)
			abort();
		if (used > size - from)
			abort();
		from += used;
	}
	reply_rule_close(&rule);
	return 0;
}
