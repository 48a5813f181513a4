/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faults on purpose: what the text means, what is refused, and whom a fault befalls. */
#include "cause/inject.h"
#include "tap.h"

static void reads(void)
{
	struct inject_plan p = {0};
	struct tare_err err = {0};
	const char *all =
		"delay 2ms every 1000, drop 1%, duplicate 0.1%,reorder 100%, stop 50ms at 3000, migrate 0 at 6000";
	IS_I64(inject_parse(all, INJECT_RESPONDER, &p, &err), 0, "all six faults");
	IS_I64(p.count, 6, "six of them");
	IS_I64(p.fault[0].ns, 2000000, "a delay of 2 ms");
	IS_I64(p.fault[0].number, 1000, "every 1000");
	OK(p.fault[1].what == INJECT_DROP && p.fault[1].when == INJECT_SHARE, "a share is dropped");
	IS_I64(p.fault[1].threshold / 1000000000000000, 184, "1 % of 2^64");
	OK(p.fault[3].threshold == UINT64_MAX, "100 %%");
	OK(p.fault[4].what == INJECT_STOP && p.fault[4].when == INJECT_AT && p.fault[4].number == 3000,
		"a stop at 3000");
	OK(p.fault[5].what == INJECT_MIGRATE && p.fault[5].cpu == 0, "a move to CPU 0");
}

static void refuses(void)
{
	static const char *const wrong[] = {"", "delay", "delay 2ms", "delay 2 every 10", "delay 2ms every",
		"delay 2ms every 0", "drop", "drop 0%", "drop 101%", "drop -1%", "drop 1", "stop 2min at 3",
		"migrate 99999 at 1", "migrate at 1", "migrate 0-1 at 1", "delya 2ms at 1", "drop 1%,",
		"drop 1%,,drop 1%", "delay 2ms at 1 2 3", "drop nan%", "delay 2ms every 10 drop 1%", "drop 1%% at 1",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1%"};
	size_t taken = 0;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct inject_plan p = {.seed = 7};
		struct tare_err err = {0};
		bool refused = inject_parse(wrong[i], INJECT_RESPONDER, &p, &err) < 0;
		if (!refused || err.code != TARE_E_USAGE || p.seed != 7) {
			printf("# '%s' %s\n", wrong[i], refused ? err.text : "taken");
			taken++;
		}
	}
	IS_I64(taken, 0, "what is no fault is refused as a usage error, the plan untouched");
	struct inject_plan p = {0};
	struct tare_err err = {0};
	IS_I64(inject_parse("drop 1%", INJECT_SENDER, &p, &err), -1, "a sender cannot drop");
	IS_STR(err.text, "--inject: a sender can delay, stop and migrate itself; 'drop' is for tare echo",
		"and is told so");
	IS_I64(inject_parse("delya 2ms at 1", INJECT_SENDER, &p, &err), -1, "an unknown fault");
	IS_STR(err.text, "--inject: unknown fault 'delya', nearest is delay; there are delay, stop, migrate",
		"the nearest");
}

static void befalls(void)
{
	struct inject_plan p = {0};
	struct inject_due due;
	struct tare_err err = {0};
	if (!OK(inject_parse("delay 2us every 10, delay 1us at 20, stop 3us at 20, drop 5%", INJECT_RESPONDER, &p,
			&err) == 0,
		    "a plan"))
		return;
	OK(inject_at(&p, 20, 0, &due) && due.delay_ns == 3000 && due.stop_ns == 3000 && due.cpu == -1, "faults add up");
	size_t every = 0, dropped = 0, again = 0;
	for (uint64_t i = 0; i < 100000; i++) {
		struct inject_due other;
		inject_at(&p, i, i, &due);
		inject_at(&p, i, i, &other);
		every += due.delay_ns >= 2000;
		dropped += due.drop;
		again += due.drop == other.drop;
	}
	IS_I64(every, 9999, "every tenth of 100000, the first being #10");
	/* 5000 expected, standard deviation 69 */
	OK(dropped > 4600 && dropped < 5400, "5 %% of 100000 dropped: %zu", dropped);
	IS_I64(again, 100000, "the draw is the same each time");
}

int main(void)
{
	reads();
	refuses();
	befalls();
	return tap_done();
}
