/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A percentile below its limit in a sample is no proof that it is below it: ten
 * of 10000 above the limit of p99.9 is as expected when it is exactly there. The
 * exact bound allows four.
 */
#include "cli/verify_limits.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "tare/interval.h"

static int parse_one(const char *text, struct limit *ret_limit, struct tare_err *err)
{
	const char *less = strchr(text, '<');
	char name[48];
	int64_t limit_ns;
	if (!less || less == text || (size_t)(less - text) >= sizeof name)
		return tare_fail(err, TARE_E_USAGE, "'%.60s' is no limit, as 'p99.9<20us'", text);
	memcpy(name, text, (size_t)(less - text));
	name[less - text] = '\0';
	struct limit limit = {.low_ns = 0};
	if (tare_figure_parse(name, &limit.figure, err) < 0 || parse_duration_ns(less + 1, &limit_ns, err) < 0)
		return tare_err_prefix(err, "--limit");
	if (tare_figure_is_count(&limit.figure))
		return tare_fail(err, TARE_E_USAGE, "--limit: %s is a count; limits are of times", limit.figure.name);
	limit.high_ns = (double)limit_ns;
	*ret_limit = limit;
	return 0;
}

int limits_parse(const char *text, struct limit *ret_limits, size_t room, size_t *ret_count, struct tare_err *err)
{
	size_t count = 0;
	for (const char *at = text; *at;) {
		char one[80];
		size_t length = strcspn(at, ",");
		if (length >= sizeof one || count == room)
			return tare_fail(err, TARE_E_USAGE, "--limit: too long, or more than %zu limits", room);
		memcpy(one, at, length);
		one[length] = '\0';
		if (parse_one(one, &ret_limits[count], err) < 0)
			return -1;
		count++;
		at += at[length] ? length + 1 : length;
	}
	*ret_count = count;
	return 0;
}

/* Requests of the round after the warm-up above the limit; one without an answer is above every limit. */
static void count_above(const struct limit *limit, const struct tare_trial *trial, const struct tare_record *record,
	struct limit_result *result)
{
	const struct tare_series *series = &record->series;
	for (size_t i = trial->warmup; i < series->count; i++) {
		enum tare_fate fate = series->fate[i];
		if (fate == TARE_PENDING || fate == TARE_NOT_SENT)
			continue;
		int64_t value_ns = tare_span_of(series, limit->figure.span, i);
		result->n++;
		result->above += fate == TARE_LOST || fate == TARE_ERROR || value_ns == TARE_NO_TIME ||
				 (double)value_ns > limit->high_ns;
	}
}

int limit_check_provable(const struct limit *limit, uint64_t n, struct tare_err *err)
{
	const struct tare_percentile *p = &limit->figure.percentile;
	uint64_t low = n, high = n < 1 ? 1 : n;
	if (tare_exceedances_allowed(p, n, 0.95) >= 0)
		return 0;
	while (high < UINT64_C(1) << 50 && tare_exceedances_allowed(p, high, 0.95) < 0)
		high *= 2;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		if (tare_exceedances_allowed(p, middle, 0.95) < 0)
			low = middle;
		else
			high = middle;
	}
	return tare_fail(err, TARE_E_USAGE,
		"%s below a limit cannot be proved (95 %%) with %llu requests, even if all are below: it takes %llu",
		limit->figure.name, (unsigned long long)n, (unsigned long long)high);
}

/* A proof needs none behind the percentile's rank: what it needs is in the bound. */
static void prove_limit(const struct limit *limit, const struct tare_trial *trial, const struct tare_record *record,
	struct limit_result *result)
{
	count_above(limit, trial, record, result);
	int64_t allowed = tare_exceedances_allowed(&limit->figure.percentile, result->n, 0.95);
	result->allowed = allowed > 0 ? (uint64_t)allowed : 0;
	if (result->word == LIMIT_EXCEEDED)
		return;
	result->word = allowed >= 0 && result->above <= result->allowed ? LIMIT_HELD : LIMIT_NOT_PROVED;
}

struct limit_result limit_check(const struct limit *limit, const struct tare_trial *trial, const struct tare_record *record,
	bool prove)
{
	struct limit_result result = {.value_ns = tare_trial_figure(trial, &limit->figure)};
	result.word = isnan(result.value_ns)	       ? LIMIT_UNKNOWN
		      : result.value_ns > limit->high_ns ? LIMIT_EXCEEDED
		      : result.value_ns < limit->low_ns	 ? LIMIT_BELOW
							 : LIMIT_HELD;
	if (prove && limit->figure.kind == TARE_FIGURE_PERCENTILE && record && trial->row_count && trial->rows[0].n)
		prove_limit(limit, trial, record, &result);
	return result;
}

static void add_us(struct text *text, double ns)
{
	text_add(text, "%.*f", ns < 1e5 ? 2 : 1, ns / 1000);
}

void limit_sentence(const struct limit *limit, const struct limit_result *result, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	text_add(&text, "%s ", limit->figure.name);
	if (result->word == LIMIT_UNKNOWN) {
		text_add(&text, "is not visible in this round");
		return;
	}
	if (isfinite(result->value_ns)) {
		add_us(&text, result->value_ns);
		text_add(&text, " µs ");
	}
	text_add(&text, "%s its %slimit ",
		result->word == LIMIT_EXCEEDED ? "above"
		: result->word == LIMIT_BELOW  ? "below"
					       : "within",
		limit->calibrated ? "calibrated " : "");
	add_us(&text, result->word == LIMIT_BELOW ? limit->low_ns : limit->high_ns);
	text_add(&text, " µs");
	if (result->word == LIMIT_NOT_PROVED)
		text_add(&text, ", not proved: %llu of %llu requests are above, at most %llu would prove it (95 %%)",
			(unsigned long long)result->above, (unsigned long long)result->n, (unsigned long long)result->allowed);
	else if (result->word == LIMIT_HELD && result->n)
		text_add(&text, ", proved: %llu of %llu requests are above (95 %%)", (unsigned long long)result->above,
			(unsigned long long)result->n);
	else if (result->word == LIMIT_BELOW)
		text_add(&text, ": better than it ever was, which is as suspicious");
}

void limit_perfdata(const struct limit *limit, const struct limit_result *result, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	text_add(&text, "%s=", limit->figure.name);
	if (!isfinite(result->value_ns))
		text_add(&text, "U");
	else
		text_add(&text, "%.3fus", result->value_ns / 1000);
	text_add(&text, ";%.3f;;", limit->high_ns / 1000);
}
