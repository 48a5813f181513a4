/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages of Prometheus and OpenMetrics: histograms with `le` bounds, and durations
 * by phase of the blackbox exporter, one value each. A bucket holds what is above
 * the bound before and at or below its own. The unit is in the metric's name.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

enum { LABELS = 400, TOTALS = 256 };

/* One line taken apart: name, labels without `le`, `le`, value. */
struct metric {
	char name[128], labels[LABELS], le[40], phase[40], span[40], target[LABELS], label[256];
	const char *value;
	size_t value_bytes;
};

/* Requests that another metric counts, by labels, to know how many went unanswered. */
struct total {
	char family[40]; /* first word of its name: smokeping_requests_total counts smokeping_response_duration_seconds */
	char labels[LABELS];
	uint64_t requests;
	bool duplicates; /* no requests but answers too many */
	bool lost;       /* no requests but those that got no answer */
};

/* What a piece was made of. */
struct source_of {
	char name[128], labels[LABELS];
};

struct page {
	struct total *totals;
	size_t total_count;
	int64_t before_ns; /* bound of the bucket before, within `piece` */
	uint64_t before;
	struct piece *piece;
	uint64_t unitless, quantiles, idle; /* histograms without a unit, quantiles of summaries, phases that took no time */
	char first_unitless[128];
	bool failed; /* probe_success 0 */
	struct source_of *sources; /* of each piece */
	size_t source_count;
};

static bool is_comment(const char *text)
{
	return text_begins(text, "# HELP ") || text_begins(text, "# TYPE ");
}

static bool knows(struct lines *head)
{
	return head_has(head, 40, is_comment);
}

static void copy_text(char *to, size_t room, const char *from, size_t bytes)
{
	size_t used = bytes < room ? bytes : room - 1;
	memcpy(to, from, used);
	to[used] = '\0';
}

/* Labels up to the closing brace; NULL where they do not end. */
static const char *read_labels(const char *at, struct metric *metric)
{
	struct text rest = TEXT_IN(metric->labels);
	while (*at && *at != '}') {
		size_t name = strcspn(at, "=}");
		const char *value = at + name + 2;
		if (at[name] != '=' || at[name + 1] != '"')
			return NULL;
		size_t bytes = 0;
		while (value[bytes] && value[bytes] != '"')
			bytes += value[bytes] == '\\' && value[bytes + 1] ? 2 : 1;
		if (!value[bytes])
			return NULL;
		if (name == 2 && memcmp(at, "le", 2) == 0) {
			copy_text(metric->le, sizeof(metric->le), value, bytes);
		} else {
			text_add(&rest, "%s%.*s=%.*s", rest.used ? "," : "", (int)name, at, (int)bytes, value);
			if (name == 5 && memcmp(at, "phase", 5) == 0)
				copy_text(metric->phase, sizeof(metric->phase), value, bytes);
			if (name == 4 && memcmp(at, "span", 4) == 0)
				copy_text(metric->span, sizeof(metric->span), value, bytes);
			if (name == 6 && memcmp(at, "target", 6) == 0)
				copy_text(metric->target, sizeof(metric->target), value, bytes);
			if (name == 5 && memcmp(at, "label", 5) == 0)
				copy_text(metric->label, sizeof(metric->label), value, bytes);
		}
		at = value + bytes + 1;
		at += strspn(at, ", ");
	}
	return *at ? at + 1 : NULL;
}

static bool read_metric(const char *text, struct metric *metric)
{
	*metric = (struct metric){.value = NULL};
	size_t name = strcspn(text, "{ \t");
	if (!name || name >= sizeof(metric->name))
		return false;
	copy_text(metric->name, sizeof(metric->name), text, name);
	const char *at = text + name;
	if (*at == '{' && !(at = read_labels(at + 1, metric)))
		return false;
	at += strspn(at, " \t");
	metric->value = at;
	metric->value_bytes = strcspn(at, " \t");
	return metric->value_bytes > 0;
}

static bool name_ends(const char *name, const char *with)
{
	size_t bytes = strlen(name), ending = strlen(with);
	return bytes >= ending && strcmp(name + bytes - ending, with) == 0;
}

/* False where nothing says the unit. */
static bool unit_of_name(const struct import *import, const char *name, int *ret_unit)
{
	static const struct {
		const char *word;
		int unit;
	} words[] = {{"_nanoseconds", UNIT_ONE_NS}, {"_microseconds", UNIT_US}, {"_milliseconds", UNIT_MS},
		{"_seconds", UNIT_S}, {"_ms", UNIT_MS}, {"_us", UNIT_US}, {"_ns", UNIT_ONE_NS}};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *at = strstr(name, words[i].word);
		char behind = at ? at[strlen(words[i].word)] : '\0';
		if (at && (!behind || behind == '_')) {
			*ret_unit = words[i].unit;
			return true;
		}
	}
	return import->rules.unit && !strstr(name, "_bytes") && unit_of(import, ret_unit, NULL) == 0;
}

/* A label's value as it was before it was escaped for the page. */
static void unescape(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		if (*from == '\\' && from[1])
			*to++ = *++from == 'n' ? '\n' : *from;
		else
			*to++ = *from;
	}
	*to = '\0';
}

/* What tare export --openmetrics wrote: its labels are a target, a label and a span. */
static bool is_ours(const struct metric *metric)
{
	return text_begins(metric->name, "tare_latency_seconds") && metric->target[0];
}

static enum tare_quantity quantity_of(const struct metric *metric)
{
	enum tare_quantity quantity = TARE_QUANTITY_OTHER;
	if (metric->span[0])
		return tare_quantity_by_name(metric->span, &quantity) ? quantity : TARE_QUANTITY_OTHER;
	if (strcmp(metric->phase, "rtt") == 0 || text_begins(metric->name, "smokeping_response"))
		return TARE_QUANTITY_RTT;
	return TARE_QUANTITY_OTHER;
}

static int keep_source(struct page *page, const struct pieces *pieces, const struct metric *metric, struct tare_err *err)
{
	if (page->source_count == pieces->count)
		return 0;
	struct source_of *sources = reallocarray(page->sources, pieces->count, sizeof(*sources));
	if (!sources)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	page->sources = sources;
	for (; page->source_count < pieces->count; page->source_count++) {
		memcpy(sources[page->source_count].name, metric->name, sizeof(metric->name));
		memcpy(sources[page->source_count].labels, metric->labels, sizeof(metric->labels));
	}
	return 0;
}

static struct piece *metric_piece(struct page *page, struct pieces *pieces, const struct metric *metric, enum tare_shape shape,
	struct tare_err *err)
{
	struct tare_origin origin = {.quantity = quantity_of(metric),
		.clock = TARE_CLOCK_UNKNOWN,
		.pacing = TARE_PACING_UNKNOWN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = shape,
		.left_out = shape == TARE_SHAPE_BINS ? TARE_LEFT_OUT_LOST : TARE_LEFT_OUT_UNKNOWN};
	char url[LABELS + 160];
	struct text text = TEXT_IN(url);
	size_t bytes = strlen(metric->name) - (name_ends(metric->name, "_bucket") ? 7 : 0);
	text_add(&text, "%.*s%s%s%s", (int)bytes, metric->name, metric->labels[0] ? "{" : "", metric->labels,
		metric->labels[0] ? "}" : "");
	struct metric own = *metric;
	char kind[32];
	unescape(own.target);
	unescape(own.label);
	snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(own.target, ":"), own.target);
	struct piece *piece = is_ours(metric) ? piece_of(pieces, own.target, kind, own.label, &origin, err)
					      : piece_of(pieces, url, "prometheus", "", &origin, err);
	return piece && keep_source(page, pieces, metric, err) == 0 ? piece : NULL;
}

static int take_bucket(struct page *page, struct pieces *pieces, const struct line *line, const struct metric *metric,
	struct tare_err *err)
{
	uint64_t count = 0;
	int unit = 0;
	struct number number = number_read(metric->value, metric->value_bytes, UNIT_ONE_NS);
	if (number.why || number.ns < 0)
		return piece_damaged(pieces, line, number.why ? number.why : "a negative count", err);
	count = (uint64_t)number.ns;
	if (!unit_of_name(pieces->import, metric->name, &unit)) {
		if (!page->unitless++)
			snprintf(page->first_unitless, sizeof(page->first_unitless), "%.127s", metric->name);
		return 0;
	}
	struct number bound = number_read(metric->le, strlen(metric->le), unit);
	bool endless = bound.why && strcmp(bound.why, "is infinite") == 0 && metric->le[0] != '-';
	if (!endless && bound.why)
		return piece_damaged(pieces, line, "a bound that is no number", err);
	struct piece *piece = metric_piece(page, pieces, metric, TARE_SHAPE_BINS, err);
	if (!piece)
		return -1;
	if (piece != page->piece) {
		page->piece = piece;
		page->before_ns = -1;
		page->before = 0;
	}
	int64_t high = endless ? INT64_MAX : bound.ns;
	if (count < page->before || high < page->before_ns)
		return piece_damaged(pieces, line, "a bucket below the one before", err);
	/* nothing is known of the sign of the first: durations are not negative */
	if (high > page->before_ns && piece_range(piece, page->before_ns + 1, high, count - page->before, err))
		return -1;
	page->before_ns = high;
	page->before = count;
	return 0;
}

/* The exporter writes 0 for a phase that did not take place: no TLS, or a probe that failed. */
static int take_phase(struct page *page, struct pieces *pieces, const struct line *line, const struct metric *metric,
	struct tare_err *err)
{
	struct number number = number_read(metric->value, metric->value_bytes, UNIT_S);
	if (number.why || number.ns < 0)
		return piece_damaged(pieces, line, number.why ? number.why : "a negative duration", err);
	bool rtt = quantity_of(metric) == TARE_QUANTITY_RTT;
	page->idle += number.ns == 0;
	if (number.ns == 0 && !rtt)
		return 0;
	struct piece *piece = metric_piece(page, pieces, metric, TARE_SHAPE_SAMPLES, err);
	if (!piece || piece_value(piece, rtt ? TARE_SPAN_RTT : TARE_SPAN_VALUE, number.ns ? number.ns : TARE_NO_TIME, err))
		return -1;
	if (number.ns == 0)
		piece->fate[piece->count - 1] = TARE_LOST;
	return 0;
}

static int take_total(struct page *page, const struct metric *metric, bool duplicates, struct tare_err *err)
{
	struct number number = number_read(metric->value, metric->value_bytes, UNIT_ONE_NS);
	if (number.why || number.ns < 0 || page->total_count == TOTALS)
		return 0;
	struct total *totals = reallocarray(page->totals, page->total_count + 1, sizeof(*totals));
	if (!totals)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	page->totals = totals;
	struct total *total = &totals[page->total_count++];
	memcpy(total->labels, metric->labels, sizeof(total->labels));
	copy_text(total->family, sizeof(total->family), metric->name, strcspn(metric->name, "_"));
	total->duplicates = duplicates;
	total->lost = name_ends(metric->name, "_lost_total");
	total->requests = (uint64_t)number.ns;
	return 0;
}

static bool counts_for(const struct total *total, const struct source_of *source)
{
	size_t family = strlen(total->family);
	return strcmp(source->labels, total->labels) == 0 && strncmp(source->name, total->family, family) == 0 &&
	       source->name[family] == '_';
}

/* What a counter says was lost; else what was asked and is in no bucket. True for the latter. */
static bool settle_piece(const struct page *page, struct piece *piece, const struct source_of *source)
{
	uint64_t answered = 0;
	bool counted = false, taken = false;
	for (size_t i = 0; i < piece->range_count; i++)
		answered += piece->range[i].count;
	for (size_t i = 0; i < page->total_count && piece->range_count; i++) {
		const struct total *total = &page->totals[i];
		if (!counts_for(total, source))
			continue;
		if (total->duplicates) {
			piece->beside.duplicate = total->requests;
		} else if (total->lost || (!counted && total->requests >= answered)) {
			counted |= total->lost;
			piece->lost = total->lost ? total->requests : total->requests - answered;
			taken = !counted && piece->lost;
			piece->origin.left_out &= ~(uint32_t)TARE_LEFT_OUT_LOST;
		}
	}
	return taken;
}

static bool settle_lost(const struct page *page, struct pieces *pieces)
{
	bool taken = false;
	for (size_t i = 0; i < pieces->count; i++)
		taken |= settle_piece(page, pieces->piece[i], &page->sources[i]);
	return taken;
}

static int take_line(struct page *page, struct pieces *pieces, const struct line *line, struct tare_err *err)
{
	struct metric metric;
	if (line->text[0] == '#' || !line->text[strspn(line->text, " \t")])
		return 0;
	if (piece_cut(pieces, line))
		return 0;
	if (!read_metric(line->text, &metric))
		return piece_damaged(pieces, line, "not a metric and its value", err);
	if (name_ends(metric.name, "_bucket") && metric.le[0])
		return take_bucket(page, pieces, line, &metric, err);
	if (text_begins(metric.name, "probe_") && name_ends(metric.name, "_duration_seconds") && metric.phase[0])
		return take_phase(page, pieces, line, &metric, err);
	if (name_ends(metric.name, "_requests_total") || name_ends(metric.name, "_sent_total") ||
		name_ends(metric.name, "_lost_total"))
		return take_total(page, &metric, false, err);
	if (name_ends(metric.name, "_duplicates_total"))
		return take_total(page, &metric, true, err);
	if (strcmp(metric.name, "probe_success") == 0)
		page->failed = metric.value_bytes == 1 && *metric.value == '0';
	page->quantiles += strstr(metric.labels, "quantile=") != NULL;
	return 0;
}

static int note_page(struct import *import, const struct pieces *pieces, const struct page *page, bool lost, struct tare_err *err)
{
	import->round = 1;
	if (!pieces->count && page->unitless)
		return tare_fail(err, TARE_E_USAGE,
			"'%s': the name of '%s' does not say in which unit it counts\n  --unit ms (or s, us, ns) says so", import->name,
			page->first_unitless);
	if (!pieces->count && page->quantiles)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s': its summaries hold quantiles of a window of time, which are no distribution; a histogram would be",
			import->name);
	if (!pieces->count)
		return tare_fail(err, TARE_E_FORMAT, "'%s': a page of metrics without a histogram or a probe's phases", import->name);
	if (page->unitless &&
		import_note(import, IMPORT_LIMIT, err,
			"buckets of histograms without a unit of time in their names passed over: %" PRIu64 ", the first of '%s'",
			page->unitless, page->first_unitless))
		return -1;
	if (page->idle && import_note(import, IMPORT_FATE, err, "phases of 0 s, which did not take place: %" PRIu64 "%s", page->idle,
				  page->failed ? ": the probe failed" : ""))
		return -1;
	if (lost && import_note(import, IMPORT_FATE, err,
			    "requests counted and in no bucket are lost, or were still on their way when the page was made"))
		return -1;
	return import_note(import, IMPORT_QUANTITY, err,
		"from a page of metrics: counters since the exporter's start, or one value a phase; a figure is the range of its "
		"bucket, whose bound belongs to it");
}

static int read_page(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	struct page page = {.before_ns = -1};
	struct line line;
	int got, failed = 0;
	while (!failed && (got = lines_next(import->lines, &line, err)) != 0)
		failed = got < 0 || take_line(&page, pieces, &line, err);
	bool lost = !failed && settle_lost(&page, pieces);
	free(page.totals);
	free(page.sources);
	if (failed)
		return -1;
	return note_page(import, pieces, &page, lost, err);
}

const struct import_format prometheus_format = {.name = "prometheus",
	.knows = knows,
	.read = read_page,
	.tool = "prometheus",
	.help = "a page of Prometheus or OpenMetrics with histograms or phases"};
