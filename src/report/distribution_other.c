/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OpenMetrics, lines for benchstat, hyperfine's JSON. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/distribution_priv.h"

__extension__ typedef __int128 wide;

/* ---- OpenMetrics ---- */

static void put_label(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		if (*text == '\n')
			fputs("\\n", out);
		else if ((unsigned char)*text >= 0x20)
			putc(*text, out);
	}
}

static void put_labels(FILE *out, const struct entry *entry)
{
	fputs("{target=\"", out);
	put_label(out, entry->target);
	if (entry->label[0]) {
		fputs("\",label=\"", out);
		put_label(out, entry->label);
	}
	fprintf(out, "\",span=\"%s\"", tare_span_name(entry->span));
}

/* Nine decimals without needless zeros: 0.000005 */
static void put_seconds(FILE *out, int64_t ns)
{
	char text[48];
	uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	snprintf(text, sizeof(text), "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", magnitude / 1000000000,
		magnitude % 1000000000);
	size_t end = strlen(text);
	while (text[end - 1] == '0' && text[end - 2] != '.')
		end--;
	text[end] = '\0';
	fputs(text, out);
}

static bool same_series(const struct entry *a, const struct entry *b)
{
	return a->span == b->span && strcmp(a->target, b->target) == 0 && strcmp(a->label, b->label) == 0;
}

static bool seen_before(const struct distribution *all, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (same_series(&all->entry[i], &all->entry[at]))
			return true;
	}
	return false;
}

static uint64_t at_or_below(const struct distribution *all, size_t first, int64_t bound_ns)
{
	uint64_t count = 0;
	for (size_t i = first; i < all->count; i++) {
		const struct entry *entry = &all->entry[i];
		for (size_t j = 0; same_series(&all->entry[first], entry) && j < entry->range_count; j++)
			count += entry->range[j].high_ns <= bound_ns ? entry->range[j].count : 0;
	}
	return count;
}

static void put_bucket(FILE *out, const struct distribution *all, size_t first, int64_t bound_ns)
{
	fputs("tare_latency_seconds_bucket", out);
	put_labels(out, &all->entry[first]);
	fputs(",le=\"", out);
	if (bound_ns == INT64_MAX)
		fputs("+Inf", out);
	else
		put_seconds(out, bound_ns);
	fprintf(out, "\"} %" PRIu64 "\n", at_or_below(all, first, bound_ns));
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

static bool cuts_a_bin(const struct distribution *all, size_t first, int64_t bound_ns)
{
	for (size_t i = first; i < all->count; i++) {
		const struct entry *entry = &all->entry[i];
		for (size_t j = 0; same_series(&all->entry[first], entry) && j < entry->range_count; j++) {
			if (entry->range[j].low_ns <= bound_ns && bound_ns < entry->range[j].high_ns)
				return true;
		}
	}
	return false;
}

/* Below a gap the bound before is not where the next bin begins: an empty bucket says so. */
static size_t add_lows(const struct distribution *all, size_t first, int64_t *low_ns, size_t lows, int64_t *ret_bound_ns)
{
	size_t count = 0;
	qsort(low_ns, lows, sizeof(*low_ns), by_value);
	for (size_t i = 0; i < lows; i++) {
		if ((i == 0 || low_ns[i] != low_ns[i - 1]) && !cuts_a_bin(all, first, low_ns[i]))
			ret_bound_ns[count++] = low_ns[i];
	}
	return count;
}

/* The bounds that the source has itself, so that no bin is cut; else 1, 2, 5 of each decade. */
static int put_buckets(FILE *out, const struct distribution *all, size_t first, struct tare_err *err)
{
	static const int64_t steps[] = {1, 2, 5};
	size_t room = 64; /* for each bin twice */
	for (size_t i = first; i < all->count; i++)
		room += same_series(&all->entry[first], &all->entry[i]) ? 2 * all->entry[i].range_count : 0;
	AUTO_FREE int64_t *bound_ns = calloc(room, sizeof(*bound_ns));
	AUTO_FREE int64_t *low_ns = calloc(room, sizeof(*low_ns));
	size_t count = 0, lows = 0;
	if (!bound_ns || !low_ns)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (size_t i = first; i < all->count && all->entry[first].binned; i++) {
		const struct entry *entry = &all->entry[i];
		for (size_t j = 0; same_series(&all->entry[first], entry) && j < entry->range_count; j++) {
			bound_ns[count++] = entry->range[j].high_ns;
			if (entry->range[j].low_ns > 0)
				low_ns[lows++] = entry->range[j].low_ns - 1;
		}
	}
	count += add_lows(all, first, low_ns, lows, bound_ns + count);
	for (int64_t decade = 100; !all->entry[first].binned && decade <= INT64_C(10000000000); decade *= 10) {
		for (size_t i = 0; i < 3; i++)
			bound_ns[count++] = steps[i] * decade;
	}
	qsort(bound_ns, count, sizeof(*bound_ns), by_value);
	for (size_t i = 0; i < count; i++) {
		if (bound_ns[i] != INT64_MAX && (i == 0 || bound_ns[i] != bound_ns[i - 1]))
			put_bucket(out, all, first, bound_ns[i]);
	}
	put_bucket(out, all, first, INT64_MAX);
	return 0;
}

/* Sum of exact values; of bins there is none. */
static bool sum_of(const struct distribution *all, size_t first, wide *ret_ns)
{
	*ret_ns = 0;
	for (size_t i = first; i < all->count; i++) {
		const struct entry *entry = &all->entry[i];
		if (!same_series(&all->entry[first], entry))
			continue;
		if (entry->binned)
			return false;
		for (size_t j = 0; j < entry->range_count; j++)
			*ret_ns += (wide)entry->range[j].low_ns * (int64_t)entry->range[j].count;
	}
	return true;
}

static void put_counter(FILE *out, const struct distribution *all, const char *name, bool lost)
{
	fprintf(out, "# TYPE tare_%s counter\n", name);
	for (size_t i = 0; i < all->count; i++) {
		uint64_t total = 0;
		bool known = true;
		if (seen_before(all, i))
			continue;
		for (size_t j = i; j < all->count; j++) {
			if (!same_series(&all->entry[i], &all->entry[j]))
				continue;
			total += lost ? all->entry[j].lost : all->entry[j].sent;
			known &= all->entry[j].losses_known;
		}
		/* a counter that is not there is not 0 */
		if (!known)
			continue;
		fprintf(out, "tare_%s_total", name);
		put_labels(out, &all->entry[i]);
		fprintf(out, "} %" PRIu64 "\n", total);
	}
}

int write_openmetrics(const struct distribution *all, FILE *out, struct tare_err *err)
{
	fputs("# TYPE tare_latency_seconds histogram\n# UNIT tare_latency_seconds seconds\n"
	      "# HELP tare_latency_seconds Times of requests without the warm-up.\n", out);
	for (size_t i = 0; i < all->count; i++) {
		wide sum_ns;
		if (seen_before(all, i))
			continue;
		if (put_buckets(out, all, i, err))
			return -1;
		bool exact = sum_of(all, i, &sum_ns);
		fputs("tare_latency_seconds_count", out);
		put_labels(out, &all->entry[i]);
		fprintf(out, "} %" PRIu64 "\n", at_or_below(all, i, INT64_MAX));
		if (!exact || sum_ns > INT64_MAX || sum_ns < 0)
			continue;
		fputs("tare_latency_seconds_sum", out);
		put_labels(out, &all->entry[i]);
		fputs("} ", out);
		put_seconds(out, (int64_t)sum_ns);
		putc('\n', out);
	}
	put_counter(out, all, "requests_sent", false);
	put_counter(out, all, "requests_lost", true);
	fputs("# EOF\n", out);
	return 0;
}

/* ---- benchstat ---- */

/* A name without blanks; '/' and '=' would start another key. */
static void put_name(FILE *out, const char *text)
{
	for (; *text; text++)
		putc(*text > 0x20 && *text < 0x7f && !strchr("/=", *text) ? *text : '_', out);
}

int write_benchstat(const struct distribution *all, FILE *out, struct tare_err *err)
{
	const char *label = NULL;
	(void)err;
	fputs("goos: linux\n", out);
	for (uint32_t i = 0; i < all->rules.percentiles; i++)
		fprintf(out, "Unit p%s-ns better=lower\n", all->rules.percentile[i].text);
	for (size_t i = 0; i < all->count; i++) {
		const struct entry *entry = &all->entry[i];
		if (!entry->n)
			continue;
		if (!label || strcmp(label, entry->label) != 0) {
			fputs("label: ", out);
			put_name(out, entry->label[0] ? entry->label : "none");
			putc('\n', out);
		}
		label = entry->label;
		fputs("BenchmarkLatency/target=", out);
		put_name(out, entry->target);
		fprintf(out, "/span=%s %" PRIu64, tare_span_name(entry->span), entry->n);
		for (uint32_t j = 0; j < all->rules.percentiles; j++) {
			uint64_t rank = tare_rank(&all->rules.percentile[j], entry->n);
			int64_t value_ns = entry_at(entry, rank);
			if (tare_grade_of(entry->n - rank) != TARE_GRADE_NONE && value_ns != INT64_MAX)
				fprintf(out, " %" PRId64 " p%s-ns", value_ns, all->rules.percentile[j].text);
		}
		putc('\n', out);
	}
	return 0;
}

/* ---- hyperfine ---- */

struct times {
	double *at;
	size_t count;
};

static int by_time(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

static json_t *result_of(const struct entry *entry, const struct times *times)
{
	double sum = 0, square = 0;
	char command[600];
	json_t *list = json_array();
	for (size_t i = 0; i < times->count; i++) {
		sum += times->at[i];
		json_array_append_new(list, json_real(times->at[i]));
	}
	double mean = sum / (double)times->count;
	for (size_t i = 0; i < times->count; i++)
		square += pow(times->at[i] - mean, 2);
	qsort(times->at, times->count, sizeof(*times->at), by_time);
	size_t half = times->count / 2;
	double median = times->count % 2 ? times->at[half] : (times->at[half - 1] + times->at[half]) / 2;
	snprintf(command, sizeof(command), "%s%s%s, p50 of %s a round", entry->label, entry->label[0] ? ": " : "",
		entry->target, tare_span_name(entry->span));
	return json_pack("{s:s, s:f, s:o, s:f, s:n, s:n, s:f, s:f, s:o}", "command", command, "mean", mean, "stddev",
		times->count > 1 ? json_real(sqrt(square / (double)(times->count - 1))) : json_null(), "median", median,
		"user", "system", "min", times->at[0], "max", times->at[times->count - 1], "times", list);
}

int write_hyperfine(const struct distribution *all, FILE *out, struct tare_err *err)
{
	static const struct tare_percentile half = {.num = 1, .den = 2};
	AUTO_FREE double *at = calloc(all->count + 1, sizeof(*at));
	json_t *results = json_array();
	if (!at || !results)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (size_t i = 0; i < all->count; i++) {
		struct times times = {.at = at};
		if (seen_before(all, i))
			continue;
		for (size_t j = i; j < all->count; j++) {
			const struct entry *entry = &all->entry[j];
			if (same_series(&all->entry[i], entry) && entry->n)
				at[times.count++] = (double)entry_at(entry, tare_rank(&half, entry->n)) / 1e9;
		}
		if (times.count)
			json_array_append_new(results, result_of(&all->entry[i], &times));
	}
	json_t *root = json_pack("{s:o}", "results", results);
	int failed = !root || json_dumpf(root, out, JSON_INDENT(2));
	json_decref(root);
	fputc('\n', out);
	return failed ? tare_fail(err, TARE_E_SYSTEM, "cannot write the JSON") : 0;
}
