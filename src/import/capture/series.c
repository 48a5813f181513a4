/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that double. The end of a span is its rounded begin plus its rounded length: one rounding, not two. */
#include "import/capture/series.h"

#include <stdlib.h>

void series_end(struct series *series)
{
	free(series->from_ns);
	free(series->to_ns);
	free(series->fate);
	free(series->flags);
	*series = (struct series){0};
}

static int more(void **column, size_t room, size_t size)
{
	void *larger = reallocarray(*column, room, size);
	if (!larger)
		return -1;
	*column = larger;
	return 0;
}

static int grow(struct series *series, struct tare_err *err)
{
	size_t room = series->room ? 2 * series->room : 4096;
	void *from = series->from_ns, *to = series->to_ns, *fate = series->fate, *flags = series->flags;
	int failed = more(&from, room, sizeof(*series->from_ns)) || more(&to, room, sizeof(*series->to_ns)) ||
		     more(&fate, room, sizeof(*series->fate)) || more(&flags, room, sizeof(*series->flags));
	series->from_ns = from;
	series->to_ns = to;
	series->fate = fate;
	series->flags = flags;
	if (failed)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu samples", room);
	series->room = room;
	return 0;
}

static void put(struct series *series, const struct match_sample *sample, struct capture_time base)
{
	enum { KEPT = sizeof(series->lost_first) / sizeof(*series->lost_first) };
	size_t i = series->count++;
	int64_t sent_ns = capture_time_ns(sample->sent, base), answered_ns;
	series->from_ns[i] = sent_ns;
	bool known = sample->took_ns != TARE_NO_TIME && !__builtin_add_overflow(sent_ns, sample->took_ns, &answered_ns);
	series->to_ns[i] = known ? answered_ns : TARE_NO_TIME;
	series->fate[i] = sample->fate;
	series->flags[i] = sample->flags;
	if (sample->fate == TARE_LOST) {
		if (series->lost < KEPT)
			series->lost_first[series->lost] = sample->request;
		series->lost++;
	}
}

int series_take(struct series *series, struct match *match, struct capture_time base, struct tare_err *err)
{
	struct match_sample samples[256];
	size_t count;
	while ((count = match_take(match, samples, sizeof(samples) / sizeof(*samples))) > 0) {
		for (size_t i = 0; i < count; i++) {
			if (series->count == series->room && grow(series, err))
				return -1;
			put(series, &samples[i], base);
		}
	}
	return 0;
}
