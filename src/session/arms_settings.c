/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the facts of both hosts say over all rounds. Each host is compared with itself; a declared setting need only
 * move on one of them.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "host/fact.h"
#include "session/arms_private.h"

/* One host's result; `other` NULL: only this one is known. */
struct view {
	const struct arms *arms;
	const struct host_compare_result *result, *other;
	const char *whose; /* before a key: "" or "the peer's " */
};

/* Where sentences go. */
struct found {
	char (*reasons)[256];
	size_t room, count;
	struct text note;
};

static void add_reason(struct found *found, const char *text)
{
	if (found->count < found->room)
		snprintf(found->reasons[found->count++], 256, "%s", text);
}

static bool fits(const char *declared, const char *key)
{
	char pattern[512];
	snprintf(pattern, sizeof pattern, "%.*s", (int)strcspn(declared, "="), declared);
	return host_glob(pattern, key);
}

/* A declaration that this key fits has come true on the other host. */
static bool moved_there(const struct view *view, const char *key)
{
	for (size_t i = 0; view->other && i < view->arms->config.declared_count; i++) {
		const char *declared = view->arms->config.declared[i];
		if (!fits(declared, key))
			continue;
		for (size_t j = 0; j < view->other->row_count; j++)
			if (view->other->row[j].role == HOST_AS_DECLARED && fits(declared, view->other->row[j].key))
				return true;
	}
	return false;
}

static bool is_wrong(const struct view *view, const struct host_compared *row)
{
	switch (row->role) {
	case HOST_WITHOUT_EFFECT:
		return !moved_there(view, row->key);
	case HOST_NOT_AS_DECLARED:
	case HOST_UNSTEADY:
		return true;
	case HOST_UNDECLARED:
		/* nothing declared: what goes with the arms is the change, unless there is none */
		return view->arms->config.declared_count > 0 || view->arms->config.null;
	default:
		return false;
	}
}

static void tell_row(const struct view *view, const struct host_compared *row, struct found *found)
{
	char line[256];
	const char *a = row->a ? row->a : "not there", *b = row->b ? row->b : "not there";
	if (is_wrong(view, row)) {
		struct text text = TEXT_IN(line);
		text_add(&text, "%s%.80s %s", view->whose, row->key, host_role_name(row->role));
		text_add(&text, ": %.50s with A, %.50s with B", a, b);
		add_reason(found, line);
	} else if (row->role == HOST_UNDECLARED || row->role == HOST_AS_DECLARED) {
		text_add(&found->note, "; %s%.60s %.40s -> %.40s", view->whose, row->key, a, b);
	}
}

/* One sentence a counter, at its first round. */
static void tell_grown(const struct view *view, size_t at, struct found *found)
{
	const struct host_compare_result *result = view->result;
	const struct host_flagged *first = &result->flagged[at];
	unsigned long long sum = 0;
	size_t rounds = 0;
	for (size_t i = 0; i < result->flagged_count; i++) {
		if (strcmp(result->flagged[i].key, first->key) != 0)
			continue;
		if (i < at)
			return;
		sum += (unsigned long long)result->flagged[i].delta;
		rounds++;
	}
	char line[256];
	struct text text = TEXT_IN(line);
	text_add(&text, "%s%.100s grew by %llu in round %u", view->whose, first->key, (unsigned long long)first->delta,
		first->round);
	if (rounds > 1)
		text_add(&text, ", by %llu in %zu rounds", sum, rounds);
	add_reason(found, line);
}

static void tell_host(const struct view *view, const char *host, struct found *found)
{
	const struct host_compare_result *result = view->result;
	const char *said = strchr(result->sentence, ':'), *uncovered = said ? strstr(said, ". Not covered") : NULL;
	/* which names the peer; with both it is said once, of both */
	size_t length = uncovered && view->other ? (size_t)(uncovered - said) : said ? strlen(said) : 0;
	while (length && said[length - 1] == '.')
		length--;
	text_add(&found->note, "%s%zu settings compared in %zu snapshots of %s%.*s", view->whose[0] ? "; " : "", result->keys,
		result->snapshots, host, (int)length, said ? said : "");
	for (size_t i = 0; i < result->row_count; i++)
		tell_row(view, &result->row[i], found);
	for (size_t i = 0; i < result->flagged_count; i++)
		if (result->flagged[i].voids)
			tell_grown(view, i, found);
}

/* Declarations that fit no key of either host. */
static bool all_fit(const struct arms *arms, bool with_peer)
{
	for (size_t i = 0; i < arms->config.declared_count; i++)
		if (!host_comparison_fits(arms->comparison, i) && !(with_peer && host_comparison_fits(arms->peer, i)))
			return false;
	return true;
}

int arms_settings(struct arms *arms, char ret_reasons[][256], size_t room, size_t *ret_count, char *ret_note,
	size_t note_room, struct tare_err *err)
{
	const struct host_compare_result *here, *there = NULL;
	struct found found = {.reasons = ret_reasons, .room = room, .note = {.bytes = ret_note, .room = note_room}};
	struct tare_err ignored;
	if (host_comparison_result(arms->comparison, &here, err) < 0)
		return -1;
	/* without a round of each arm there is nothing to compare */
	if (arms->peer_rounds && host_comparison_result(arms->peer, &there, &ignored) < 0)
		there = NULL;
	tell_host(&(struct view){arms, here, there, ""}, "this host", &found);
	if (there) {
		tell_host(&(struct view){arms, there, here, "the peer's "}, "the peer", &found);
		text_add(&found.note, "; not covered: BIOS options, the switch");
	}
	if (arms->peer_rounds && arms->peer_rounds < arms->rounds)
		text_add(&found.note, "; the peer told its settings around %zu of %zu rounds only", arms->peer_rounds,
			arms->rounds);
	if (!all_fit(arms, there != NULL))
		add_reason(&found, "a declared setting is not among the facts that can be read");
	*ret_count = found.count;
	return 0;
}
