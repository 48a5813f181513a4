/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each key did over all snapshots of both arms. */
#include "host/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "host/cpus.h"

enum { ROUNDS_MAX = 512, DECLARED_MAX = 256, FLAGGED_MAX = 4096 };

struct declared {
	const char *pattern, *a, *b; /* a and b NULL: any */
	bool found;
};

struct round {
	char arm;
	unsigned number;
	struct host_snapshot *snapshot[2];
};

struct host_comparison {
	struct arena *arena;
	struct declared declared[DECLARED_MAX];
	const char *allowed[DECLARED_MAX];
	size_t declared_count, allowed_count;
	struct round *round;
	size_t round_count;
	struct host_compare_result result;
	struct host_compared *row;
	struct host_flagged *flagged;
};

static const char *const role_names[HOST_ROLE_COUNT] = {"changed as declared", "without effect", "not as declared",
	"side effect", "undeclared", "unsteady", "unreadable"};

const char *host_role_name(enum host_role role)
{
	return role < HOST_ROLE_COUNT ? role_names[role] : "?";
}

static int declare(struct host_comparison *comparison, const char *text, struct tare_err *err)
{
	struct declared *declared = &comparison->declared[comparison->declared_count++];
	char *copy = arena_text(comparison->arena, text), *equals = copy ? strchr(copy, '=') : NULL;
	if (!copy)
		return tare_fail_errno(err, ENOMEM, "cannot keep the declared changes");
	declared->pattern = copy;
	if (!equals)
		return 0;
	*equals = '\0';
	char *arrow = strstr(equals + 1, "->");
	if (!arrow)
		return tare_fail(err, TARE_E_USAGE, "'%s': a declared change is KEY or KEY=A->B", text);
	*arrow = '\0';
	declared->a = equals + 1;
	declared->b = arrow + 2;
	return 0;
}

int host_comparison_open(const char *const *declared, size_t declared_count, const char *const *allowed,
	size_t allowed_count, struct host_comparison **ret_comparison, struct tare_err *err)
{
	if (declared_count > DECLARED_MAX || allowed_count > DECLARED_MAX)
		return tare_fail(err, TARE_E_USAGE, "more than %d declared changes", DECLARED_MAX);
	struct host_comparison *comparison = calloc(1, sizeof *comparison);
	if (!comparison)
		return tare_fail_errno(err, ENOMEM, "cannot compare snapshots");
	comparison->round = calloc(ROUNDS_MAX, sizeof *comparison->round);
	int status = comparison->round ? arena_open((size_t)8 << 20, 0, &comparison->arena, err)
				       : tare_fail_errno(err, ENOMEM, "cannot compare snapshots");
	for (size_t i = 0; status == 0 && i < declared_count; i++)
		status = declare(comparison, declared[i], err);
	for (size_t i = 0; status == 0 && i < allowed_count; i++) {
		const char *copy = arena_text(comparison->arena, allowed[i]);
		if (copy)
			comparison->allowed[comparison->allowed_count++] = copy;
		else
			status = tare_fail_errno(err, ENOMEM, "cannot keep the allowed side effects");
	}
	if (status < 0) {
		host_comparison_free(comparison);
		return -1;
	}
	*ret_comparison = comparison;
	return 0;
}

bool host_comparison_fits(const struct host_comparison *comparison, size_t i)
{
	return i < comparison->declared_count && comparison->declared[i].found;
}

static void drop_result(struct host_comparison *comparison)
{
	free(comparison->row);
	free(comparison->flagged);
	comparison->row = NULL;
	comparison->flagged = NULL;
	comparison->result = (struct host_compare_result){0};
}

void host_comparison_free(struct host_comparison *comparison)
{
	if (!comparison)
		return;
	drop_result(comparison);
	for (size_t i = 0; comparison->round && i < comparison->round_count; i++) {
		host_snapshot_free(comparison->round[i].snapshot[0]);
		host_snapshot_free(comparison->round[i].snapshot[1]);
	}
	free(comparison->round);
	arena_free(comparison->arena);
	free(comparison);
}

int host_comparison_round(struct host_comparison *comparison, char arm, unsigned round, struct host_snapshot *start,
	struct host_snapshot *end, struct tare_err *err)
{
	if ((arm != 'A' && arm != 'B') || comparison->round_count == ROUNDS_MAX) {
		host_snapshot_free(start);
		host_snapshot_free(end);
		return tare_fail(
			err, TARE_E_USAGE, "a round belongs to arm A or B, and there are at most %d", ROUNDS_MAX);
	}
	drop_result(comparison);
	comparison->round[comparison->round_count++] = (struct round){arm, round, {start, end}};
	return 0;
}

/* ---- one key ---- */

enum state { NOT_THERE, NOT_TRIED, NOT_READ, HAS_VALUE };

static enum state look(const struct host_snapshot *snapshot, const char *key, const char **ret_value)
{
	const struct host_fact *fact = host_find(snapshot, key);
	*ret_value = NULL;
	if (!fact || fact->status == HOST_ABSENT || fact->status == HOST_UNSUPPORTED)
		return NOT_THERE;
	if (fact->status != HOST_OK)
		return fact->status == HOST_SKIPPED ? NOT_TRIED : NOT_READ;
	*ret_value = fact->value;
	return HAS_VALUE;
}

static bool same(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

/* What a key was over all rounds: a value in each arm, or that it was unsteady or unreadable somewhere. */
struct history {
	const char *value[2];
	bool seen[2], unsteady, unreadable, untried, there;
	char note[200];
};

static struct history history_of(const struct host_comparison *comparison, const char *key)
{
	struct history history = {.there = false};
	for (size_t i = 0; i < comparison->round_count; i++) {
		const struct round *round = &comparison->round[i];
		size_t arm = round->arm == 'B';
		const char *first = NULL;
		for (size_t moment = 0; moment < 2; moment++) {
			const char *value;
			enum state state = look(round->snapshot[moment], key, &value);
			history.there |= state == NOT_READ || state == HAS_VALUE;
			history.unreadable |= state == NOT_READ;
			history.untried |= state == NOT_TRIED;
			if (state == NOT_READ || state == NOT_TRIED)
				continue;
			if (moment == 1 && !same(first, value) && !history.unsteady) {
				history.unsteady = true;
				snprintf(history.note, sizeof history.note, "changed within round %c%u", round->arm,
					round->number);
			}
			if (history.seen[arm] && !same(history.value[arm], value) && !history.unsteady) {
				history.unsteady = true;
				snprintf(history.note, sizeof history.note, "round %c%u differs from %c before it",
					round->arm, round->number, round->arm);
			}
			if (!history.seen[arm])
				history.value[arm] = value;
			history.seen[arm] = true;
			first = value;
		}
	}
	history.unreadable |= history.untried && history.there;
	return history;
}

static const struct round *first_of(const struct host_comparison *comparison, char arm)
{
	for (size_t i = 0; i < comparison->round_count; i++)
		if (comparison->round[i].arm == arm)
			return &comparison->round[i];
	return NULL;
}

/* An affinity holds once the interrupt has fired; sockets keep what was set when they were made. */
static void note_effect(const struct host_comparison *comparison, struct host_compared *row)
{
	char instance[300], list[200];
	const struct round *b = first_of(comparison, 'B');
	const struct host_key *key = host_key_of(row->key);
	struct host_cpus asked, served;
	host_key_instance(row->key, instance, sizeof instance);
	if (key && strcmp(key->name, "irq[].affinity") == 0) {
		const struct host_fact *effective = host_find_of(b->snapshot[1], "irq[].effective", instance);
		const struct host_fact *before = host_find_of(b->snapshot[0], "irq[].count", instance);
		const struct host_fact *after = host_find_of(b->snapshot[1], "irq[].count", instance);
		if (!effective || effective->status != HOST_OK || !row->b || !host_cpus_of_list(row->b, -1, &asked) ||
			!host_cpus_of_list(effective->value, -1, &served) || host_cpus_subset(&served, &asked))
			return;
		bool fired =
			before && after && before->value && after->value && strcmp(before->value, after->value) != 0;
		host_cpus_text(&served, list, sizeof list);
		snprintf(row->note, sizeof row->note,
			fired ? "still served by CPU %.100s although it has fired: managed by the kernel?"
			      : "still served by CPU %.100s: it takes hold at the next interrupt, and none has come",
			list);
	} else if (key && key->flags & HOST_AT_SOCKET) {
		size_t cursor = 0;
		for (const struct host_fact *fact; (fact = host_next(b->snapshot[0], "process[", &cursor)) != NULL;) {
			int64_t started_ns;
			if (!strstr(fact->key, "].started_ns") ||
				!host_number(b->snapshot[0], fact->key, &started_ns) ||
				started_ns >= b->snapshot[0]->header.up_ns)
				continue;
			host_key_instance(fact->key, instance, sizeof instance);
			snprintf(row->note, sizeof row->note,
				"sockets take it over when they are made: those that %.80s opened before keep the old "
				"value",
				instance);
		}
	}
}

static struct declared *declared_for(struct host_comparison *comparison, const char *key)
{
	for (size_t i = 0; i < comparison->declared_count; i++)
		if (host_glob(comparison->declared[i].pattern, key))
			return &comparison->declared[i];
	return NULL;
}

static bool allowed_for(const struct host_comparison *comparison, const char *key)
{
	for (size_t i = 0; i < comparison->allowed_count; i++)
		if (host_glob(comparison->allowed[i], key))
			return true;
	return false;
}

/* False when there is nothing to tell: equal everywhere and not declared. */
static bool judge(struct host_comparison *comparison, const char *key, struct host_compared *ret_row, bool *ret_applies)
{
	struct history history = history_of(comparison, key);
	struct declared *declared = declared_for(comparison, key);
	struct host_compared row = {.key = key, .a = history.value[0], .b = history.value[1]};
	bool differs = !same(history.value[0], history.value[1]);
	snprintf(row.note, sizeof row.note, "%s", history.note);
	*ret_applies = history.there;
	if (declared)
		declared->found = true;
	if (!history.there)
		return false;
	if (history.unreadable)
		row.role = HOST_NOT_READABLE;
	else if (history.unsteady)
		row.role = declared || !allowed_for(comparison, key) ? HOST_UNSTEADY : HOST_SIDE_EFFECT;
	else if (declared && !differs)
		row.role = HOST_WITHOUT_EFFECT;
	else if (declared && declared->a && (!same(declared->a, row.a) || !same(declared->b, row.b)))
		row.role = HOST_NOT_AS_DECLARED;
	else if (declared)
		row.role = HOST_AS_DECLARED;
	else if (!differs)
		return false;
	else
		row.role = allowed_for(comparison, key) ? HOST_SIDE_EFFECT : HOST_UNDECLARED;
	if (row.role == HOST_AS_DECLARED)
		note_effect(comparison, &row);
	*ret_row = row;
	return true;
}

/* ---- all keys ---- */

static int by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Keys of settings in any snapshot, sorted, each once. */
static const char **all_keys(const struct host_comparison *comparison, size_t *ret_count)
{
	size_t room = 0, count = 0, kept = 0;
	for (size_t i = 0; i < comparison->round_count; i++)
		room += comparison->round[i].snapshot[0]->count + comparison->round[i].snapshot[1]->count;
	const char **keys = calloc(room + 1, sizeof *keys);
	if (!keys)
		return NULL;
	for (size_t i = 0; i < comparison->round_count * 2; i++) {
		const struct host_snapshot *snapshot = comparison->round[i / 2].snapshot[i % 2];
		for (size_t j = 0; j < snapshot->count; j++)
			if (host_is_setting(&snapshot->facts[j]))
				keys[count++] = snapshot->facts[j].key;
	}
	qsort(keys, count, sizeof *keys, by_text);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || strcmp(keys[kept - 1], keys[i]) != 0)
			keys[kept++] = keys[i];
	*ret_count = kept;
	return keys;
}

static int flag_rounds(struct host_comparison *comparison, struct tare_err *err)
{
	for (size_t i = 0; i < comparison->round_count; i++) {
		const struct round *round = &comparison->round[i];
		struct host_deltas deltas;
		if (host_deltas_of(round->snapshot[0], round->snapshot[1], &deltas, err) < 0)
			return -1;
		for (size_t j = 0; j < deltas.count && comparison->result.flagged_count < FLAGGED_MAX; j++) {
			const struct host_delta *delta = &deltas.row[j];
			unsigned flags = delta->is->row ? delta->is->row->flags : 0;
			if (delta->delta && flags & (HOST_ERRORS | HOST_SUSPECT))
				comparison->flagged[comparison->result.flagged_count++] = (struct host_flagged){
					round->arm, round->number, delta->is->key, delta->delta, flags & HOST_ERRORS};
		}
		host_deltas_free(&deltas);
	}
	return 0;
}

static void say(struct host_compare_result *result)
{
	struct text text = TEXT_IN(result->sentence);
	const size_t *count = result->count;
	text_add(&text, "%zu keys compared in %zu snapshots: %zu changed as declared, %zu undeclared, %zu unreadable",
		result->keys, result->snapshots, count[HOST_AS_DECLARED], count[HOST_UNDECLARED],
		count[HOST_NOT_READABLE]);
	if (count[HOST_SIDE_EFFECT])
		text_add(&text, ", %zu moved along as allowed", count[HOST_SIDE_EFFECT]);
	if (count[HOST_UNSTEADY])
		text_add(&text, ", %zu did not hold still", count[HOST_UNSTEADY]);
	if (count[HOST_WITHOUT_EFFECT] + count[HOST_NOT_AS_DECLARED] + result->unmatched)
		text_add(&text, ", %zu declared without effect",
			count[HOST_WITHOUT_EFFECT] + count[HOST_NOT_AS_DECLARED] + result->unmatched);
	text_add(&text, ". Not covered: BIOS options, the switch, the peer unless its facts were brought.");
}

int host_comparison_result(
	struct host_comparison *comparison, const struct host_compare_result **ret_result, struct tare_err *err)
{
	size_t count = 0;
	drop_result(comparison);
	if (!first_of(comparison, 'A') || !first_of(comparison, 'B'))
		return tare_fail(err, TARE_E_INVALID, "both arms are needed: there is no round of %s",
			first_of(comparison, 'A') ? "B" : "A");
	const char **keys = all_keys(comparison, &count);
	comparison->row = keys ? calloc(count + 1, sizeof *comparison->row) : NULL;
	comparison->flagged = calloc(FLAGGED_MAX, sizeof *comparison->flagged);
	if (!comparison->row || !comparison->flagged) {
		free(keys);
		return tare_fail_errno(err, ENOMEM, "cannot compare %zu keys", count);
	}
	struct host_compare_result *result = &comparison->result;
	result->snapshots = comparison->round_count * 2;
	for (size_t i = 0; i < count; i++) {
		bool applies;
		if (judge(comparison, keys[i], &comparison->row[result->row_count], &applies))
			result->count[comparison->row[result->row_count++].role]++;
		result->keys += applies;
		result->not_applicable += !applies;
	}
	free(keys);
	for (size_t i = 0; i < comparison->declared_count; i++)
		result->unmatched += !comparison->declared[i].found;
	if (flag_rounds(comparison, err) < 0)
		return -1;
	result->row = comparison->row;
	result->flagged = comparison->flagged;
	result->confounded = result->count[HOST_UNDECLARED] + result->count[HOST_UNSTEADY] > 0;
	result->took_effect =
		result->count[HOST_WITHOUT_EFFECT] + result->count[HOST_NOT_AS_DECLARED] + result->unmatched == 0;
	say(result);
	*ret_result = result;
	return 0;
}
