/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sentences about rounds that are no figures: what a source says of itself, what
 * a live run found out. A log of many sections says most of it of every one of
 * them, which is told once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/stat_priv.h"

/* In the order in which they stand; the first two above the table. What has no kind comes before what was damaged. */
static const char *const kinds[] = {"head", "quantity", "pacing", "limit", "fate", "mismatch", "printed", "note", "damage"};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), KINDS_ABOVE = 2, KIND_NOTE = 7 };
_Static_assert((int)KINDS < (int)STAT_SAID_ORDERS, "room for each");

static int order_of(const char *kind)
{
	for (int i = 0; i < KINDS; i++) {
		if (strcmp(kind, kinds[i]) == 0)
			return i;
	}
	return -1;
}

bool stat_view_is_note(const char *kind)
{
	int order = order_of(kind);
	return order >= 0 && order != KIND_NOTE;
}

static int say(struct stat_view *view, size_t at, int order, const char *text, struct tare_err *err)
{
	void *said = view->said;
	if (stat_grow(&said, view->said_count, &view->said_room, sizeof(*view->said), err))
		return -1;
	view->said = said;
	char *copy = strdup(text);
	if (!copy)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	view->said[view->said_count++] = (struct stat_said){.note = at,
		.above = order < KINDS_ABOVE,
		.order = order,
		.times = 1,
		.kind = kinds[order],
		.text = copy};
	return 0;
}

int stat_view_say(
	struct stat_view *view, const char *file, uint32_t round, bool above, const char *text, struct tare_err *err)
{
	size_t at = view->note_count;
	while (at-- > 0) {
		const struct stat_note *note = &view->notes[at];
		if (note->round->number == round && stat_same_text(note->file, file))
			break;
	}
	if (at == SIZE_MAX)
		return stat_view_remark(view, text, err);
	return say(view, at, above ? 0 : KIND_NOTE, text, err);
}

/* The series meant; SIZE_MAX: none, or the file has several and none is named. */
static size_t series_of(const struct stat_view *view, const struct stat_source_note *source)
{
	size_t found = SIZE_MAX, count = 0;
	for (size_t i = 0; i < view->note_count; i++) {
		const struct stat_note *note = &view->notes[i];
		if (!stat_same_text(note->file, source->file))
			continue;
		if (source->round_id ? note->round->id == source->round_id : source->round && note->round->number == source->round)
			return i;
		found = i;
		count++;
	}
	return count == 1 && !source->round_id && !source->round ? found : SIZE_MAX;
}

static struct stat_said *said_before(struct stat_view *view, size_t at, const char *text)
{
	for (size_t i = view->said_count; i-- > 0;) {
		const struct stat_note *note = &view->notes[view->said[i].note], *now = &view->notes[at];
		if (stat_same_text(note->file, now->file) && note->run == now->run && strcmp(view->said[i].text, text) == 0)
			return &view->said[i];
	}
	return NULL;
}

int stat_view_note(struct stat_view *view, const struct stat_source_note *source, struct tare_err *err)
{
	int order = order_of(source->kind);
	size_t at = series_of(view, source);
	if (at != SIZE_MAX) {
		struct stat_said *before = said_before(view, at, source->text);
		if (before)
			before->times++;
		return before ? 0 : say(view, at, order < 0 ? KIND_NOTE : order, source->text, err);
	}
	if (source->round_id || source->round)
		return 0; /* of a round that was not asked for */
	char line[700];
	struct text text = TEXT_IN(line);
	text_add(&text, "%s%s%s", source->file ? source->file : "", source->file ? ": " : "", source->text);
	return stat_view_remark(view, line, err);
}

static void put_note(FILE *out, const char *file, const struct tare_round *round, size_t times, const char *kind, const char *text, bool first)
{
	fputs(first ? "\n{\"file\":" : ",\n{\"file\":", out);
	if (file)
		report_json_text(out, file);
	else
		fputs("null", out);
	if (round)
		fprintf(out, ",\"round\":%u,\"rounds\":%zu,\"kind\":", round->number, times);
	else
		fputs(",\"round\":null,\"rounds\":null,\"kind\":", out);
	report_json_text(out, kind);
	fputs(",\"text\":", out);
	report_json_text(out, text);
	putc('}', out);
}

char *stat_said_json(const struct stat_view *view)
{
	char *text = NULL;
	size_t bytes = 0;
	bool first = true;
	AUTO_FILE out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	fputs("\"notes\":[", out);
	for (size_t at = 0; at < view->note_count; at++) {
		for (int order = 0; order < KINDS; order++) {
			for (size_t i = 0; i < view->said_count; i++) {
				const struct stat_said *said = &view->said[i];
				if (said->note != at || said->order != order)
					continue;
				put_note(out, view->notes[at].file, view->notes[at].round, said->times, said->kind, said->text, first);
				first = false;
			}
		}
	}
	for (size_t i = 0; i < view->remark_count; i++) {
		put_note(out, NULL, NULL, 0, "remark", view->remarks[i], first);
		first = false;
	}
	fputs("]", out);
	if (fclose(take_ptr(out))) {
		free(text);
		return NULL;
	}
	return text;
}
