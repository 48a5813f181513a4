/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capabilities are dropped in one thread and stay in another. As an ordinary user there is little to drop: skipped. */
#include <linux/capability.h>
#include <pthread.h>
#include <string.h>

#include "base/caps.h"
#include "tap.h"

struct seen {
	int kept_result;
	bool raw, admin, raw_after_none;
	int none_result;
};

static void *drop(void *argument)
{
	struct seen *seen = argument;
	static const int kept[] = {CAP_NET_RAW};
	seen->kept_result = caps_keep_only(kept, 1, NULL);
	seen->raw = caps_have(CAP_NET_RAW);
	seen->admin = caps_have(CAP_NET_ADMIN);
	seen->none_result = caps_keep_only(NULL, 0, NULL);
	seen->raw_after_none = caps_have(CAP_NET_RAW);
	return NULL;
}

static void refusals(void)
{
	struct tare_err err = {.text = ""};
	static const int bad[] = {CAP_NET_RAW, 64};
	bool had = caps_have(CAP_NET_RAW);
	IS_I64(caps_keep_only(bad, 2, &err), -1, "an unknown capability is refused");
	IS_STR(err.text, "there is no capability number 64", "by its number");
	IS_I64(caps_have(CAP_NET_RAW), had, "and nothing is dropped");
	OK(!caps_have(-1) && !caps_have(64) && !caps_have(1 << 30), "nobody has an unknown one");
}

int main(void)
{
	refusals();
	bool raw = caps_have(CAP_NET_RAW), admin = caps_have(CAP_NET_ADMIN);
	struct seen seen = {.kept_result = -7};
	pthread_t thread;
	if (pthread_create(&thread, NULL, drop, &seen) != 0 || pthread_join(thread, NULL) != 0)
		return 1;
	IS_I64(seen.kept_result, 0, "a thread may drop what it has");
	IS_I64(seen.raw, raw, "it keeps the listed one if it had it");
	IS_I64(seen.none_result, 0, "it may drop all");
	OK(!seen.admin && !seen.raw_after_none, "what is dropped is gone");
	if (raw && admin)
		OK(caps_have(CAP_NET_RAW) && caps_have(CAP_NET_ADMIN), "the other thread keeps its own");
	else
		SKIP(1, "needs CAP_NET_RAW and CAP_NET_ADMIN to begin with");
	return tap_done();
}
