/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tests modes rest on, and what is said about them. */
#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "tare/modes.h"

double tare_association(const uint64_t *table, size_t rows, size_t columns)
{
	double row_sum[TARE_MODE_LABELS_MAX] = {0}, column_sum[TARE_MODE_LABELS_MAX] = {0}, n = 0, squares = 0;
	size_t rows_used = 0, columns_used = 0;
	if (rows > TARE_MODE_LABELS_MAX || columns > TARE_MODE_LABELS_MAX)
		return NAN;
	for (size_t i = 0; i < rows * columns; i++) {
		row_sum[i / columns] += (double)table[i];
		column_sum[i % columns] += (double)table[i];
		n += (double)table[i];
	}
	for (size_t i = 0; i < rows; i++)
		rows_used += row_sum[i] > 0;
	for (size_t i = 0; i < columns; i++)
		columns_used += column_sum[i] > 0;
	size_t least = rows_used < columns_used ? rows_used : columns_used;
	if (least < 2)
		return NAN;
	for (size_t i = 0; i < rows * columns; i++) {
		double expected = row_sum[i / columns] * column_sum[i % columns] / n;
		double off = (double)table[i] - expected;
		squares += expected > 0 ? off * off / expected : 0;
	}
	return sqrt(squares / (n * (double)(least - 1)));
}

/* Several groups at once (Barton and David 1957); with two it is the formula of Wald and Wolfowitz. */
void tare_runs_test(uint64_t runs, const uint64_t *sizes, size_t count, double *ret_expected, double *ret_z)
{
	double n = 0, squares = 0, cubes = 0;
	for (size_t i = 0; i < count; i++) {
		double size = (double)sizes[i];
		n += size;
		squares += size * size;
		cubes += size * size * size;
	}
	double expected = n > 0 ? (n * (n + 1) - squares) / n : NAN;
	double variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n * n * n) / (n * n * (n - 1));
	*ret_expected = expected;
	*ret_z = n > 1 && variance > 0 ? ((double)runs - expected) / sqrt(variance) : 0;
}

double tare_ashman_d(double m1, double s1, double m2, double s2)
{
	double apart = fabs(m1 - m2), spread = sqrt(s1 * s1 + s2 * s2);
	if (spread > 0)
		return M_SQRT2 * apart / spread;
	return apart > 0 ? INFINITY : 0;
}

double tare_coincidence_chance(uint64_t changes, double window, double session)
{
	if (!(session > 0))
		return NAN;
	double share = fmin(2 * window / session, 1);
	return share >= 1 ? (changes ? 1 : 0) : -expm1((double)changes * log1p(-share));
}

struct tare_parted tare_part_difference(
	double slow_share_a, double slow_share_b, double gap_a, double mean_a, double mean_b)
{
	struct tare_parted parted = {.total = mean_b - mean_a, .by_share = (slow_share_b - slow_share_a) * gap_a};
	parted.within = parted.total - parted.by_share;
	return parted;
}

static void add_labels(struct text *text, const struct tare_modes *modes, const struct tare_mode *mode)
{
	text_add(text, " (");
	if (mode->labels) {
		text_add(text, "%s ", modes->label_name);
		for (size_t i = 0; i < mode->labels && i < 4; i++)
			text_add(text, "%s%d", i == 0 ? "" : i + 1 == mode->labels ? " or " : ", ", mode->label[i]);
		if (mode->labels > 4)
			text_add(text, " and %zu more", mode->labels - 4);
		text_add(text, ", ");
	}
	text_add(text, "%.2g %%)", 100 * mode->share);
}

static void add_modes(struct text *text, const struct tare_modes *modes)
{
	static const char *const numbers[] = {"no", "one", "two", "three", "four", "five", "six", "seven", "eight"};
	text_add(text, "%s modes, ", numbers[modes->count]);
	for (size_t i = 0; i < modes->count; i++) {
		char median[32];
		format_duration(modes->mode[i].median_ns, median, sizeof(median));
		text_add(text, "%s%s", i == 0 ? "" : i + 1 == modes->count ? " and " : ", ", median);
		add_labels(text, modes, &modes->mode[i]);
	}
}

static void add_order(struct text *text, const struct tare_modes *modes)
{
	if (modes->order == TARE_ORDER_SWITCHED)
		text_add(text, "; switched once, at request %zu", modes->switched_at);
	else if (modes->order == TARE_ORDER_STRETCHES)
		text_add(text, "; in %" PRIu64 " stretches", modes->runs);
	else
		text_add(text, "; interleaved");
}

void tare_modes_sentence(const struct tare_modes *modes, char *ret_text, size_t room)
{
	static const char *const places[] = {
		"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"};
	struct text text = {.bytes = ret_text, .room = room};
	char mean[32], median[32];
	if (room)
		ret_text[0] = '\0';
	if (modes->by == TARE_MODES_NONE)
		return;
	if (modes->gap_below < modes->count) {
		format_duration((int64_t)llround(modes->mean_ns), mean, sizeof(mean));
		text_add(&text, "mean %s lies in the gap between ", mean);
	}
	add_modes(&text, modes);
	if (modes->by == TARE_MODES_SHAPE && modes->association >= 0.5)
		text_add(&text, ", partly told by %s (V %.2f)", modes->label_name, modes->association);
	add_order(&text, modes);
	format_duration(modes->median_ns, median, sizeof(median));
	if (modes->median_in < modes->count)
		text_add(&text, "; median %s is of the %s alone", median, places[modes->median_in]);
	else
		text_add(&text, "; median %s belongs to none", median);
}
