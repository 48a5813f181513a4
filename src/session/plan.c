/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run will be able to see, in words before it starts; and whether it held its rate, after. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/session.h"
#include "tare/stat.h"

static uint64_t counted(const struct session_config *config)
{
	if (config->for_ns == 0)
		return config->count;
	uint64_t slots = (uint64_t)(config->for_ns / config->every_ns);
	return slots > config->warmup ? slots - config->warmup : 0;
}

void session_describe(const struct session_config *config, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	char apart[32], whole[32];
	uint64_t n = counted(config);
	struct tare_rules rules;
	tare_rules_default(&rules);
	format_duration(config->every_ns, apart, sizeof apart);
	format_duration((int64_t)(n + config->warmup) * config->every_ns, whole, sizeof whole);
	if (config->rounds > 1)
		text_add(&text, "%u rounds of ", config->rounds);
	text_add(&text, "%llu requests%s ", (unsigned long long)n, config->url_count > 1 ? " to each target" : "");
	if (config->schedule == PACER_BURST) {
		format_duration(config->every_ns * config->burst, apart, sizeof apart);
		text_add(&text, "in bursts of %u, %s apart", config->burst, apart);
	} else {
		text_add(&text, "%s apart%s", apart, config->schedule == PACER_POISSON ? " in the mean (Poisson)" : "");
	}
	text_add(&text, ", %s%s.", whole, config->rounds > 1 ? " each" : "");
	const struct tare_percentile *seen = NULL, *unseen = NULL;
	for (uint32_t i = 0; i < rules.percentiles; i++) {
		const struct tare_percentile *p = &rules.percentile[i];
		if (n - tare_rank(p, n) >= 10)
			seen = p;
		else if (!unseen)
			unseen = p;
	}
	if (seen)
		text_add(&text, " Visible: up to p%s (%llu behind)", seen->text,
			(unsigned long long)(n - tare_rank(seen, n)));
	if (unseen)
		text_add(&text, "%sp%s needs %llu", seen ? "; " : " Too few for percentiles: ", unseen->text,
			(unsigned long long)tare_needed(unseen, 10));
	if (seen || unseen)
		text_add(&text, ".");
}

bool session_tick_note(const struct session_config *config, int64_t tick_ns, char *buffer, size_t room)
{
	if (tick_ns <= 0 || config->jitter_ns > 0 || config->schedule != PACER_PERIODIC)
		return false;
	char every[32], tick[32];
	int64_t longer = config->every_ns > tick_ns ? config->every_ns : tick_ns;
	int64_t shorter = config->every_ns > tick_ns ? tick_ns : config->every_ns;
	/* beyond a hundred requests per tick the ticks fall where they fall */
	if (longer % shorter != 0 || tick_ns / config->every_ns > 100)
		return false;
	format_duration(config->every_ns, every, sizeof every);
	format_duration(tick_ns, tick, sizeof tick);
	struct text text = {.bytes = buffer, .room = room};
	if (config->every_ns >= tick_ns)
		text_add(&text, "the grid of %s is a multiple of the kernel's tick of %s: all requests of a round meet the tick at the "
				"same phase, or none; --jitter spreads them",
			every, tick);
	else
		text_add(&text, "the kernel's tick of %s is a multiple of the grid of %s: always the same request in %lld meets it; "
				"--jitter spreads them",
			tick, every, (long long)(tick_ns / config->every_ns));
	return true;
}
