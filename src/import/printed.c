/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers are written in integers: a double would add digits that nobody measured. */
#include "import/printed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

__extension__ typedef __int128 wide;

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

int ranked_open(const int64_t *values_ns, size_t count, struct ranked *ret_ranked, struct tare_err *err)
{
	struct ranked ranked = {.sorted_ns = reallocarray(NULL, count ? count : 1, sizeof(*ranked.sorted_ns))};
	if (!ranked.sorted_ns)
		return tare_fail_errno(err, ENOMEM, "cannot rank %zu values", count);
	for (size_t i = 0; values_ns && i < count; i++) {
		if (values_ns[i] != TARE_NO_TIME)
			ranked.sorted_ns[ranked.count++] = values_ns[i];
	}
	qsort(ranked.sorted_ns, ranked.count, sizeof(*ranked.sorted_ns), by_value);
	*ret_ranked = ranked;
	return 0;
}

int64_t ranked_at(const struct ranked *ranked, uint64_t rank)
{
	if (!ranked->count)
		return TARE_NO_TIME;
	size_t index = rank < 1 ? 0 : rank > ranked->count ? ranked->count - 1 : (size_t)rank - 1;
	return ranked->sorted_ns[index];
}

int64_t ranked_nearest(const struct ranked *ranked, uint64_t share_ppm)
{
	wide product = (wide)ranked->count * share_ppm;
	return ranked_at(ranked, (uint64_t)((product + 999999) / 1000000));
}

int64_t ranked_mean(const struct ranked *ranked)
{
	wide sum = 0;
	if (!ranked->count)
		return TARE_NO_TIME;
	for (size_t i = 0; i < ranked->count; i++)
		sum += ranked->sorted_ns[i];
	wide n = (wide)ranked->count, half = sum < 0 ? -n / 2 : n / 2;
	return (int64_t)((sum + half) / n);
}

static bool differs(const struct printed *one)
{
	int64_t apart;
	if (one->printed_ns == TARE_NO_TIME || one->ours_ns == TARE_NO_TIME)
		return false;
	if (__builtin_sub_overflow(one->printed_ns, one->ours_ns, &apart))
		return true;
	return apart > one->near_ns || apart < -one->near_ns;
}

bool printed_differ(const struct printed *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (differs(&list[i]))
			return true;
	}
	return false;
}

/* "0.352", "14": in a unit of 10^unit ns, no needless zeros. */
static void add_number(struct text *text, int64_t ns, int unit)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, one = 1;
	for (int i = 0; i < unit; i++)
		one *= 10;
	uint64_t whole = size / one, rest = size % one;
	text_add(text, "%s%" PRIu64, ns < 0 ? "-" : "", whole);
	if (!rest)
		return;
	int digits = unit;
	for (; rest % 10 == 0; rest /= 10)
		digits--;
	text_add(text, ".%0*" PRIu64, digits, rest);
}

static const char *unit_text(int unit)
{
	return unit == UNIT_S ? "s" : unit == UNIT_MS ? "ms" : unit == UNIT_US ? "µs" : "ns";
}

int printed_note(struct import *import, const char *tool, const char *verb, int unit, const struct printed *list,
	size_t count, const char *reason, struct tare_err *err)
{
	char buffer[320];
	struct text text = TEXT_IN(buffer);
	size_t told = 0, more = 0;
	for (size_t i = 0; i < count; i++) {
		if (!differs(&list[i]))
			continue;
		if (told == PRINTED_TOLD) {
			more++;
			continue;
		}
		text_add(&text, "%s%s ", told++ ? ", " : "", list[i].name);
		add_number(&text, list[i].printed_ns, unit);
		text_add(&text, " %s (tare: ", unit_text(unit));
		add_number(&text, list[i].ours_ns, unit);
		text_add(&text, ")");
	}
	if (!told)
		return 0;
	if (more)
		text_add(&text, " and %zu more that differ", more);
	return import_note(import, IMPORT_PRINTED, err, "%s %s %s: %s", tool, verb, buffer, reason);
}
