/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The group a round belongs to. Hours are civil UTC reckoned from days, since the
 * C library's calendar functions follow the process's zone and locale.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "lib/row.h"
#include "tare/rounds.h"

/* Year, month and day of a day number from 1970-01-01, in eras of 400 years that begin in March. */
static void civil_of(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day)
{
	int64_t shifted = days + 719468; /* from 0000-03-01 */
	int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	int64_t of_era = shifted - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153; /* 0 is March */
	*ret_day = (int)(of_year - (153 * month + 2) / 5 + 1);
	*ret_month = (int)(month < 10 ? month + 3 : month - 9);
	*ret_year = year + era * 400 + (*ret_month <= 2);
}

static void hour_text(const struct tare_record *record, struct text *text)
{
	int64_t at_ns, year;
	int month, day;
	if (!record->run || !record->run->epoch_real_ns ||
		__builtin_add_overflow(record->run->epoch_real_ns, record->round->first_due_ns, &at_ns)) {
		text_add(text, "unknown");
		return;
	}
	int64_t hour = at_ns / INT64_C(3600000000000) - (at_ns % INT64_C(3600000000000) < 0);
	int64_t days = hour / 24 - (hour % 24 < 0);
	civil_of(days, &year, &month, &day);
	text_add(text, "%04" PRId64 "-%02d-%02dT%02dZ", year, month, day, (int)(hour - days * 24));
}

bool row_group_key(const struct tare_record *record, enum tare_group_by by, char *ret_key, size_t room)
{
	struct text text = {.bytes = ret_key, .room = room};
	struct tare_cpu_set peer;
	switch (by) {
	case TARE_GROUP_LABEL:
		text_add(&text, "%s", record->round->label ? record->round->label : "");
		return true;
	case TARE_GROUP_PEER_CPU:
		peer = tare_cpu_set_of(&record->series, TARE_CPU_PEER_RX);
		tare_cpu_set_text(&peer, ret_key, room);
		return true;
	case TARE_GROUP_HOUR:
		hour_text(record, &text);
		return true;
	case TARE_GROUP_RUN:
	case TARE_GROUP_TARGET:
		break;
	}
	return false;
}
