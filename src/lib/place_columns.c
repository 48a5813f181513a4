/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of a place; a run that is in no file has no number. */
#include "lib/place_columns.h"

static const struct place_at *place(const void *record)
{
	return record;
}

struct cell place_file(const void *record, const struct column *column)
{
	(void)column;
	return place(record)->file ? cell_text(place(record)->file) : cell_absent(CELL_NOT_APPLICABLE);
}

struct cell place_run(const void *record, const struct column *column)
{
	(void)column;
	const struct tare_run *run = place(record)->run;
	return run && run->id ? cell_integer(run->id) : cell_absent(CELL_NOT_APPLICABLE);
}

struct cell place_target(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(place(record)->target->url);
}

struct cell place_round(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(place(record)->round->number);
}

struct cell place_label(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(place(record)->round->label);
}
