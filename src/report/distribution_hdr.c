/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HdrHistogram's two texts. Both say their unit in a comment, which its own readers pass over and ours needs. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "lib/hdr.h"
#include "report/distribution_priv.h"

static bool fits(const struct entry *entry, struct hdr_layout layout)
{
	for (size_t i = 0; i < entry->range_count; i++) {
		int64_t low, high;
		hdr_bucket(entry->range[i].low_ns, layout, &low, &high);
		if (low != entry->range[i].low_ns || high != entry->range[i].high_ns)
			return false;
	}
	return true;
}

/* The layout in which every bin is a bucket of HdrHistogram, three digits for samples; false: there is none. */
static bool layout_of(const struct entry *entry, struct hdr_layout *ret)
{
	*ret = (struct hdr_layout){.digits = 3};
	if (!entry->binned)
		return true;
	for (ret->digits = 5; ret->digits > 0; ret->digits--) {
		for (ret->unit = 0; ret->unit < 31; ret->unit++) {
			if (fits(entry, *ret))
				return true;
		}
	}
	return false;
}

static int refuse_bins(const struct entry *entry, struct tare_err *err)
{
	return tare_fail(err, TARE_E_USAGE,
		"'%s' was counted in bins that HdrHistogram has not: it would invent digits\n  --openmetrics keeps the bins",
		entry->target);
}

/* What the values are, for our own readers; none for spans that are no quantity of a source without stamps. */
static void put_quantity(FILE *out, const struct entry *entry)
{
	enum tare_quantity quantity;
	if (tare_quantity_by_name(tare_span_name(entry->span), &quantity))
		fprintf(out, "# quantity: %s\n", tare_quantity_name(quantity));
}

/* ---- .hgrm ---- */

static int by_high(const void *a, const void *b)
{
	const struct tare_range *left = a, *right = b;
	return (left->high_ns > right->high_ns) - (left->high_ns < right->high_ns);
}

/* All rounds of one target by upper bound: a table of "at or below". */
static struct tare_range *merge(const struct distribution *all, size_t *ret_count, uint64_t *ret_n, struct tare_err *err)
{
	size_t count = 0;
	for (size_t i = 0; i < all->count; i++) {
		count += all->entry[i].range_count;
		*ret_n += all->entry[i].n;
		if (strcmp(all->entry[i].target, all->entry[0].target) != 0 || all->entry[i].span != all->entry[0].span) {
			tare_fail(err, TARE_E_USAGE,
				"a percentile table holds one target, and there are several\n  --hlog holds them all, each under its tag");
			return NULL;
		}
	}
	struct tare_range *merged = calloc(count ? count : 1, sizeof(*merged));
	if (!merged) {
		tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu values", count);
		return NULL;
	}
	*ret_count = 0;
	for (size_t i = 0; i < all->count; i++) {
		for (size_t j = 0; j < all->entry[i].range_count; j++)
			merged[(*ret_count)++] = all->entry[i].range[j];
	}
	qsort(merged, *ret_count, sizeof(*merged), by_high);
	return merged;
}

static void put_us(FILE *out, int64_t ns)
{
	fprintf(out, "%12" PRId64 ".%03" PRId64, ns / 1000, ns % 1000);
}

/* Five steps for each halving of what lies above, as HdrHistogram's own writer goes. */
static void write_ticks(FILE *out, const struct tare_range *range, size_t count, uint64_t n)
{
	uint64_t below = 0;
	double percentile = 0;
	size_t at = 0;
	while (at < count) {
		uint64_t rank = (uint64_t)ceil(percentile * (double)n);
		while (at < count && (below < rank || below == 0)) {
			below += range[at].count;
			at++;
		}
		double reached = (double)below / (double)n;
		put_us(out, range[at - 1].high_ns);
		if (below == n)
			fprintf(out, " %2.12f %10" PRIu64 "\n", 1.0, below);
		else
			fprintf(out, " %2.12f %10" PRIu64 " %14.2f\n", reached, below, 1 / (1 - reached));
		double halvings = pow(2, floor(log2(1 / (1 - percentile))) + 1);
		percentile += 1 / (5 * halvings);
		if (percentile < reached && below < n)
			percentile = reached;
	}
}

int write_hgrm(const struct distribution *all, FILE *out, struct tare_err *err)
{
	size_t count = 0;
	uint64_t n = 0;
	AUTO_FREE struct tare_range *range = merge(all, &count, &n, err);
	if (!range)
		return -1;
	if (!n)
		return tare_fail(err, TARE_E_USAGE, "nothing to export: no value was counted");
	struct hdr_layout layout;
	for (size_t i = 0; i < all->count; i++) {
		if (!layout_of(&all->entry[i], &layout))
			return refuse_bins(&all->entry[i], err);
	}
	double mean = 0, square = 0;
	for (size_t i = 0; i < count; i++) {
		if (range[i].high_ns == INT64_MAX || range[i].low_ns < 0)
			return tare_fail(err, TARE_E_USAGE, "a percentile table holds no value %s",
				range[i].low_ns < 0 ? "below 0" : "without an upper bound");
		mean += (double)range[i].high_ns * (double)range[i].count / (double)n;
	}
	for (size_t i = 0; i < count; i++)
		square += pow((double)range[i].high_ns - mean, 2) * (double)range[i].count / (double)n;
	fputs("# unit: us\n", out);
	put_quantity(out, &all->entry[0]);
	fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
	write_ticks(out, range, count, n);
	fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean / 1e3, sqrt(square) / 1e3);
	fputs("#[Max     = ", out);
	put_us(out, range[count - 1].high_ns);
	fprintf(out, ", Total count    = %12" PRIu64 "]\n#[Buckets = %12d, SubBuckets     = %12d]\n", n, 1, 2048);
	return 0;
}

/* ---- .hlog ---- */

static int write_interval(const struct entry *entry, bool tagged, FILE *out, struct tare_err *err)
{
	AUTO_FREE struct tare_bin *values = calloc(entry->range_count ? entry->range_count : 1, sizeof(*values));
	struct hdr_layout layout;
	if (!values)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (!layout_of(entry, &layout))
		return refuse_bins(entry, err);
	for (size_t i = 0; i < entry->range_count; i++)
		values[i] = (struct tare_bin){entry->range[i].low_ns, entry->range[i].count};
	AUTO_FREE uint8_t *bytes = NULL;
	size_t count = 0;
	if (hdr_encode(values, entry->range_count, layout, &bytes, &count, err))
		return -1;
	AUTO_FREE char *text = malloc(BASE64_ENCODED(count));
	if (!text)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	base64_encode(bytes, count, text);
	int64_t length_ns = entry->ended_ns > entry->started_ns ? entry->ended_ns - entry->started_ns : 0;
	int64_t max_ns = entry->range_count ? entry->range[entry->range_count - 1].high_ns : 0;
	/* what came from such a log keeps its tag */
	const char *tag = entry->target;
	if (strcmp(tag, "hlog") == 0)
		tag = "";
	else if (strncmp(tag, "hlog:tag=", 9) == 0)
		tag += 9;
	if (tagged && *tag) {
		fputs("Tag=", out);
		for (const char *at = tag; *at; at++)
			putc(*at == ',' || *at == ' ' || *at < 0x21 ? '_' : *at, out);
		putc(',', out);
	}
	fprintf(out, "%.3f,%.3f,%.3f,%s\n", (double)(entry->started_ns > 0 ? entry->started_ns : 0) / 1e9,
		(double)length_ns / 1e9, (double)max_ns / 1e6, text);
	return 0;
}

int write_hlog(const struct distribution *all, FILE *out, struct tare_err *err)
{
	bool tagged = false;
	for (size_t i = 1; i < all->count; i++)
		tagged |= strcmp(all->entry[i].target, all->entry[0].target) != 0;
	bool alike = true;
	for (size_t i = 1; i < all->count; i++)
		alike &= all->entry[i].span == all->entry[0].span;
	fputs("#[Logged by tare]\n#[Histogram log format version 1.3]\n# unit: ns\n", out);
	if (alike)
		put_quantity(out, &all->entry[0]);
	fprintf(out, "#[StartTime: %.3f (seconds since epoch)]\n"
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		(double)all->entry[0].epoch_real_ns / 1e9);
	for (size_t i = 0; i < all->count; i++) {
		if (write_interval(&all->entry[i], tagged, out, err))
			return -1;
	}
	return 0;
}
