/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings, facts, events and clock readings. A recording of thousands of rounds
 * holds hundreds of thousands of facts that most commands never ask for, so each
 * of these tables is loaded whole when first asked for, and sorted.
 */
#include <string.h>

#include "base/cleanup.h"
#include "lib/recording_read.h"
#include "tare/plan.h"

static const size_t item_bytes[SIDE_COUNT] = {
	[SIDE_SETTING] = sizeof(struct tare_setting),
	[SIDE_FACT] = sizeof(struct tare_fact),
	[SIDE_EVENT] = sizeof(struct tare_event),
	[SIDE_READING] = sizeof(struct tare_reading),
	[SIDE_CAUSE] = sizeof(struct tare_cause),
	[SIDE_EVIDENCE] = sizeof(struct tare_evidence),
	[SIDE_PLAN] = sizeof(struct tare_plan),
	[SIDE_STEP] = sizeof(struct tare_plan_step),
	[SIDE_COMMAND] = sizeof(struct tare_plan_command),
	[SIDE_VERDICT] = sizeof(struct tare_plan_verdict),
	[SIDE_SHARE] = sizeof(struct tare_share),
};

static int keep(struct tare_recording *recording, enum side side, int64_t run, int64_t round, const void *item,
	struct tare_err *err)
{
	struct side_table *table = &recording->sides[side];

	if (recording_grow(recording, &table->keys, sizeof(*table->keys), table->count, &table->room, err) < 0 ||
		recording_grow(recording, &table->items, item_bytes[side], table->count, &table->item_room, err) < 0)
		return -1;
	table->keys[table->count] = (struct side_key){run, round, table->count};
	memcpy((char *)table->items + table->count * item_bytes[side], item, item_bytes[side]);
	table->count++;
	return 0;
}

static int take_setting(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct tare_setting setting = {0};

	if (recording_text(recording, row, 2, &setting.name, err) < 0 ||
		recording_text(recording, row, 3, &setting.value, err) < 0 ||
		recording_text(recording, row, 4, &setting.origin, err) < 0)
		return -1;
	return keep(recording, SIDE_SETTING, sqlite3_column_int64(row, 1), 0, &setting, err);
}

static int take_fact(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct tare_fact fact = {0};

	if (recording_text(recording, row, 3, &fact.side, err) < 0 ||
		recording_text(recording, row, 4, &fact.moment, err) < 0 ||
		recording_text(recording, row, 5, &fact.key, err) < 0 ||
		recording_text(recording, row, 6, &fact.value, err) < 0)
		return -1;
	return keep(recording, SIDE_FACT, sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2), &fact, err);
}

static int take_event(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct tare_event event = {.at_ns = recording_time(row, 3), .round = sqlite3_column_int64(row, 2)};

	if (recording_text(recording, row, 4, &event.kind, err) < 0 ||
		recording_text(recording, row, 5, &event.text, err) < 0)
		return -1;
	/* Asked for by run alone. */
	return keep(recording, SIDE_EVENT, sqlite3_column_int64(row, 1), 0, &event, err);
}

static int take_reading(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct tare_reading reading = {
		.mono_before_ns = sqlite3_column_int64(row, 2),
		.real_ns = sqlite3_column_int64(row, 3),
		.mono_after_ns = sqlite3_column_int64(row, 4),
	};
	/* Asked for by round alone. */
	return keep(recording, SIDE_READING, 0, sqlite3_column_int64(row, 1), &reading, err);
}

/* A CPU or small number out of a foreign file; NULL and what does not fit is `otherwise`. */
static int64_t small(sqlite3_stmt *row, int column, int64_t least, int64_t most, int64_t otherwise)
{
	int64_t value = sqlite3_column_int64(row, column);
	if (sqlite3_column_type(row, column) == SQLITE_NULL || value < least || value > most)
		return otherwise;
	return value;
}

static void take_comm(sqlite3_stmt *row, int column, char ret_comm[TARE_COMM_BYTES])
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	size_t length = text ? strnlen(text, TARE_COMM_BYTES - 1) : 0;
	memset(ret_comm, 0, TARE_COMM_BYTES);
	if (length)
		memcpy(ret_comm, text, length);
}

static int take_cause(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct tare_cause cause = {
		.target = (uint32_t)small(row, 2, 0, UINT32_MAX, 0),
		.sequence = sqlite3_column_int64(row, 3),
		.control = sqlite3_column_int(row, 4),
		.peer = sqlite3_column_int(row, 5),
		.injected = sqlite3_column_int(row, 6),
		.weak = sqlite3_column_int(row, 7),
		.excess_ns = recording_time(row, 9),
		.explained_ns = sqlite3_column_int64(row, 10),
		.cpu = (int16_t)small(row, 11, 0, INT16_MAX, TARE_NO_CPU),
		.cpu_after = (int16_t)small(row, 12, 0, INT16_MAX, TARE_NO_CPU),
		.pid = (int32_t)small(row, 13, -1, INT32_MAX, -1),
		.detail = (int32_t)small(row, 14, 0, INT32_MAX, 0),
	};
	const char *word = (const char *)sqlite3_column_text(row, 8);
	if (!word || !tare_word_by_name(word, &cause.word) || cause.sequence < 0)
		return 1;
	take_comm(row, 15, cause.comm);
	return keep(recording, SIDE_CAUSE, 0, sqlite3_column_int64(row, 1), &cause, err);
}

static int take_evidence(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct tare_evidence item = {
		.kind = (uint8_t)small(row, 2, 0, TARE_EVIDENCE_KINDS - 1, TARE_EVIDENCE_KINDS),
		.flags = (uint8_t)small(row, 3, 0, UINT8_MAX, 0),
		.from_ns = sqlite3_column_int64(row, 4),
		.to_ns = sqlite3_column_int64(row, 5),
		.cpu = (int16_t)small(row, 6, 0, INT16_MAX, TARE_NO_CPU),
		.cpu_after = (int16_t)small(row, 7, 0, INT16_MAX, TARE_NO_CPU),
		.pid = (int32_t)small(row, 8, -1, INT32_MAX, -1),
		.detail = (int32_t)small(row, 9, 0, INT32_MAX, 0),
		.target = (uint32_t)small(row, 11, 0, UINT32_MAX, 0),
		.sequence = sqlite3_column_int64(row, 12),
	};
	if (item.kind == TARE_EVIDENCE_KINDS || item.to_ns < item.from_ns)
		return 1;
	take_comm(row, 10, item.comm);
	return keep(recording, SIDE_EVIDENCE, 0, sqlite3_column_int64(row, 1), &item, err);
}

static int take_share(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct tare_share share = {
		.cpu = (int16_t)small(row, 2, 0, INT16_MAX, TARE_NO_CPU),
		.of = (uint8_t)small(row, 3, 0, TARE_SHARE_OF_SENDER | TARE_SHARE_OF_RESPONDER, 0),
		.ns = recording_time(row, 6),
	};
	const char *kind = (const char *)sqlite3_column_text(row, 4);
	int64_t times = sqlite3_column_int64(row, 7);
	while (share.kind < TARE_SHARE_KINDS && (!kind || strcmp(kind, tare_share_kind_name(share.kind)) != 0))
		share.kind++;
	if (share.kind == TARE_SHARE_KINDS || share.cpu == TARE_NO_CPU || times < 0)
		return 1;
	share.times = (uint64_t)times;
	take_comm(row, 5, share.name);
	return keep(recording, SIDE_SHARE, 0, sqlite3_column_int64(row, 1), &share, err);
}

static int take_plan(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct tare_plan plan = {
		.continues = sqlite3_column_int64(row, 3),
		.seed = (uint64_t)sqlite3_column_int64(row, 5),
		.settle_ns = recording_time(row, 6),
	};

	if (recording_text(recording, row, 2, &plan.kind, err) < 0 ||
		recording_text(recording, row, 4, &plan.order, err) < 0 ||
		recording_text(recording, row, 7, &plan.a, err) < 0 ||
		recording_text(recording, row, 8, &plan.b, err) < 0 ||
		recording_text(recording, row, 9, &plan.restore, err) < 0 ||
		recording_text(recording, row, 10, &plan.primary, err) < 0 ||
		recording_text(recording, row, 11, &plan.margin, err) < 0)
		return -1;
	return keep(recording, SIDE_PLAN, sqlite3_column_int64(row, 1), 0, &plan, err);
}

static int take_step(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	int64_t round = sqlite3_column_int64(row, 2), position = sqlite3_column_int64(row, 3);
	struct tare_plan_step step = {.scored = sqlite3_column_int(row, 5) != 0};

	if (round < 0 || round > UINT32_MAX || position < 0 || position > UINT32_MAX)
		return 1;
	step.round = (uint32_t)round;
	step.position = (uint32_t)position;
	if (recording_text(recording, row, 4, &step.arm, err) < 0 ||
		recording_text(recording, row, 6, &step.settings, err) < 0)
		return -1;
	return keep(recording, SIDE_STEP, sqlite3_column_int64(row, 1), 0, &step, err);
}

static int take_command(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	int64_t position = sqlite3_column_int64(row, 2);
	struct tare_plan_command command = {
		.exit = sqlite3_column_int(row, 5),
		.at_ns = recording_time(row, 6),
		.took_ns = recording_time(row, 7),
	};

	if (position < 0 || position > UINT32_MAX)
		return 1;
	command.position = (uint32_t)position;
	if (recording_text(recording, row, 3, &command.purpose, err) < 0 ||
		recording_text(recording, row, 4, &command.line, err) < 0 ||
		recording_text(recording, row, 8, &command.output, err) < 0)
		return -1;
	return keep(recording, SIDE_COMMAND, sqlite3_column_int64(row, 1), 0, &command, err);
}

static int take_verdict(struct tare_recording *recording, sqlite3_stmt *row, struct tare_err *err)
{
	struct tare_plan_verdict verdict = {
		.primary = sqlite3_column_int(row, 3) != 0,
		.rounds_a = (uint64_t)sqlite3_column_int64(row, 6),
		.rounds_b = (uint64_t)sqlite3_column_int64(row, 7),
		.value_a_ns = recording_time(row, 8),
		.value_b_ns = recording_time(row, 9),
		.effect_ns = recording_time(row, 10),
		.low_ns = recording_time(row, 11),
		.high_ns = recording_time(row, 12),
		.s_ns = recording_time(row, 13),
		.exit = sqlite3_column_int(row, 14),
	};

	if (recording_text(recording, row, 2, &verdict.figure, err) < 0 ||
		recording_text(recording, row, 4, &verdict.verdict, err) < 0 ||
		recording_text(recording, row, 5, &verdict.sentence, err) < 0)
		return -1;
	return keep(recording, SIDE_VERDICT, sqlite3_column_int64(row, 1), 0, &verdict, err);
}

static int compare_keys(const void *left, const void *right)
{
	const struct side_key *a = left, *b = right;

	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	if (a->round != b->round)
		return a->round < b->round ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int sort_table(struct tare_recording *recording, enum side side, struct tare_err *err)
{
	struct side_table *table = &recording->sides[side];
	AUTO_FREE char *sorted = NULL;
	size_t room = 0;

	if (table->count < 2)
		return 0;
	qsort(table->keys, table->count, sizeof(*table->keys), compare_keys);
	while (room < table->count) {
		if (recording_grow(recording, &sorted, item_bytes[side], room, &room, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < table->count; i++)
		memcpy(sorted + i * item_bytes[side], (char *)table->items + table->keys[i].at * item_bytes[side],
			item_bytes[side]);
	free(table->items);
	table->items = take_ptr(sorted);
	table->item_room = room;
	return 0;
}

static int load(struct tare_recording *recording, enum side side, struct tare_err *err)
{
	static const struct {
		enum recording_table table;
		recording_row *take;
	} from[SIDE_COUNT] = {
		[SIDE_SETTING] = {TABLE_SETTING, take_setting},
		[SIDE_FACT] = {TABLE_FACT, take_fact},
		[SIDE_EVENT] = {TABLE_EVENT, take_event},
		[SIDE_READING] = {TABLE_READING, take_reading},
		[SIDE_CAUSE] = {TABLE_CAUSE, take_cause},
		[SIDE_EVIDENCE] = {TABLE_EVIDENCE, take_evidence},
		[SIDE_PLAN] = {TABLE_PLAN, take_plan},
		[SIDE_STEP] = {TABLE_STEP, take_step},
		[SIDE_COMMAND] = {TABLE_COMMAND, take_command},
		[SIDE_VERDICT] = {TABLE_VERDICT, take_verdict},
		[SIDE_SHARE] = {TABLE_SHARE, take_share},
	};

	if (recording->sides[side].loaded)
		return 0;
	recording->sides[side].count = 0;
	if ((int)from[side].table >= recording_table_count(recording->version)) {
		recording->sides[side].loaded = true;
		return 0;
	}
	int status = recording_begin_reading(recording, err);
	/* a table of the later ones that nothing was written to is not there */
	if (status == 0 && (from[side].table < TABLE_ALWAYS || recording->rows[from[side].table] > 0))
		status = recording_scan(recording, from[side].table, from[side].take, err);
	/* Ended in any case; only the first failure is told. */
	if (recording_end_reading(recording, status < 0 ? NULL : err) < 0 || status < 0)
		return -1;
	if (sort_table(recording, side, err) < 0)
		return -1;
	recording->sides[side].loaded = true;
	return 0;
}

/* Index of the first key not below (run, round). */
static size_t lower_bound(const struct side_table *table, int64_t run, int64_t round)
{
	const struct side_key key = {run, round, 0};
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_keys(&table->keys[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The items of one (run, round); they lie together. */
static int ask(struct tare_recording *recording, enum side side, int64_t run, int64_t round, const void **ret_items,
	size_t *ret_count, struct tare_err *err)
{
	const struct side_table *table = &recording->sides[side];

	if (load(recording, side, err) < 0)
		return -1;
	size_t from = lower_bound(table, run, round), to = from;
	while (to < table->count && table->keys[to].run == run && table->keys[to].round == round)
		to++;
	*ret_items = to > from ? (const char *)table->items + from * item_bytes[side] : NULL;
	*ret_count = to - from;
	return 0;
}

int tare_recording_settings(struct tare_recording *recording, int64_t run_id, const struct tare_setting **ret_settings,
	size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_SETTING, run_id, 0, &items, ret_count, err) < 0)
		return -1;
	*ret_settings = items;
	return 0;
}

int tare_recording_facts(struct tare_recording *recording, int64_t run_id, int64_t round_id,
	const struct tare_fact **ret_facts, size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_FACT, run_id, round_id, &items, ret_count, err) < 0)
		return -1;
	*ret_facts = items;
	return 0;
}

int tare_recording_events(struct tare_recording *recording, int64_t run_id, const struct tare_event **ret_events,
	size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_EVENT, run_id, 0, &items, ret_count, err) < 0)
		return -1;
	*ret_events = items;
	return 0;
}

int tare_recording_readings(struct tare_recording *recording, int64_t round_id,
	const struct tare_reading **ret_readings, size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_READING, 0, round_id, &items, ret_count, err) < 0)
		return -1;
	*ret_readings = items;
	return 0;
}

int tare_recording_causes(struct tare_recording *recording, int64_t round_id, const struct tare_cause **ret_causes,
	size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_CAUSE, 0, round_id, &items, ret_count, err) < 0)
		return -1;
	*ret_causes = items;
	return 0;
}

int tare_recording_evidence(struct tare_recording *recording, int64_t round_id,
	const struct tare_evidence **ret_evidence, size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_EVIDENCE, 0, round_id, &items, ret_count, err) < 0)
		return -1;
	*ret_evidence = items;
	return 0;
}

int tare_recording_shares(struct tare_recording *recording, int64_t round_id, const struct tare_share **ret_shares,
	size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_SHARE, 0, round_id, &items, ret_count, err) < 0)
		return -1;
	*ret_shares = items;
	return 0;
}

int tare_recording_plans(struct tare_recording *recording, int64_t run_id, const struct tare_plan **ret_plans,
	size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_PLAN, run_id, 0, &items, ret_count, err) < 0)
		return -1;
	*ret_plans = items;
	return 0;
}

int tare_recording_steps(struct tare_recording *recording, int64_t run_id, const struct tare_plan_step **ret_steps,
	size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_STEP, run_id, 0, &items, ret_count, err) < 0)
		return -1;
	*ret_steps = items;
	return 0;
}

int tare_recording_commands(struct tare_recording *recording, int64_t run_id, const struct tare_plan_command **ret_commands,
	size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_COMMAND, run_id, 0, &items, ret_count, err) < 0)
		return -1;
	*ret_commands = items;
	return 0;
}

int tare_recording_verdicts(struct tare_recording *recording, int64_t run_id, const struct tare_plan_verdict **ret_verdicts,
	size_t *ret_count, struct tare_err *err)
{
	const void *items = NULL;
	if (ask(recording, SIDE_VERDICT, run_id, 0, &items, ret_count, err) < 0)
		return -1;
	*ret_verdicts = items;
	return 0;
}
