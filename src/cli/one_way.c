/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The way there ends, and the way back begins, at the peer's stamp: its kernel's where it has one. A
 * request cannot arrive before it left, so figures below minus the bound prove the
 * bound wrong, whoever stated it.
 */
#include "cli/one_way.h"

#include <string.h>

#include "base/text.h"

uint32_t one_way_spans(void)
{
	return 1u << TARE_SPAN_FORWARD | 1u << TARE_SPAN_BACKWARD;
}

int64_t one_way_bound_of(const struct tare_setting *settings, size_t count)
{
	int64_t bound_ns = 0;
	struct tare_err ignored;
	for (size_t i = 0; i < count; i++)
		if (strcmp(settings[i].name, "clock-bound") == 0 && parse_duration_ns(settings[i].value, &bound_ns, &ignored) < 0)
			bound_ns = 0;
	return bound_ns > 0 ? bound_ns : 0;
}

static bool has_peer(const struct tare_series *series)
{
	return tare_stage_seen(series, TARE_STAGE_PEER_RX) || tare_stage_seen(series, TARE_STAGE_PEER_TX);
}

/* The least of a span; TARE_NO_TIME without any. */
static int64_t least_of(const struct tare_series *series, enum tare_span span)
{
	int64_t least_ns = TARE_NO_TIME;
	for (size_t i = 0; i < series->count; i++) {
		int64_t value_ns = tare_span_of(series, span, i);
		if (value_ns != TARE_NO_TIME && (least_ns == TARE_NO_TIME || value_ns < least_ns))
			least_ns = value_ns;
	}
	return least_ns;
}

static void tell_bound(const struct tare_record *record, int64_t bound_ns, struct text *text)
{
	static const enum tare_span both[] = {TARE_SPAN_FORWARD, TARE_SPAN_BACKWARD};
	char bound[32], least[32];
	format_duration(bound_ns, bound, sizeof bound);
	text_add(text, "%s: forward and backward are right within %s either way, the stated bound on the offset of the two clocks%s",
		record->target->url, bound, record->round->axis_error_ns > 0 ? " and the error of our own axis" : "");
	for (size_t i = 0; i < 2; i++) {
		int64_t least_ns = least_of(&record->series, both[i]);
		if (least_ns == TARE_NO_TIME || least_ns >= -bound_ns)
			continue;
		format_duration(-least_ns, least, sizeof least);
		text_add(text, "; but %s is as little as -%s, which cannot be: the clocks are further apart than stated",
			tare_span_name(both[i]), least);
	}
}

int one_way_add(struct stat_view *view, const char *path, const struct tare_record *record, int64_t bound_ns, bool asked,
	struct tare_err *err)
{
	char line[500] = "";
	struct text text = TEXT_IN(line);
	struct tare_record own = *record;
	if (bound_ns > 0 && has_peer(&own.series)) {
		/* both axes were tied to their wall clocks by readings of their own */
		if (record->round->axis_error_ns > 0)
			bound_ns += record->round->axis_error_ns;
		own.series.clock_bound_ns = bound_ns;
		tell_bound(&own, bound_ns, &text);
	} else if (asked && !has_peer(&own.series)) {
		text_add(&text, "%s: no forward and no backward, as the answers hold no time of the peer's", record->target->url);
	} else if (asked) {
		text_add(&text, "%s: no forward and no backward, as nothing is known of the offset of the two clocks; who knows "
				"a bound on it states it with --clock-bound, as 500ns", record->target->url);
	}
	if (stat_view_add(view, path, &own, err) < 0)
		return -1;
	return line[0] ? stat_view_say(view, path, record->round->number, false, line, err) : 0;
}
