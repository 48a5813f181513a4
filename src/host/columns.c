/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of findings, facts, counters and compared keys. */
#include "host/columns.h"

#include <string.h>

#define COLUMNS(name, array)                                                                                           \
	const struct host_columns name = {.column = (array), .count = sizeof(array) / sizeof((array)[0])}
#define TEXT_COLUMN(name, help, get)                                                                                   \
	{                                                                                                              \
		name, name, help, NULL, UNIT_NONE, true, get, 0                                                        \
	}

static struct cell text_or_nothing(const char *text)
{
	return text && text[0] ? cell_text(text) : cell_absent(CELL_NOT_APPLICABLE);
}

/* ---- findings ---- */

#define FINDING(member)                                                                                                \
	static struct cell finding_##member(const void *record, const struct column *column)                           \
	{                                                                                                              \
		(void)column;                                                                                          \
		return text_or_nothing(((const struct host_finding *)record)->member);                                 \
	}
FINDING(rule)
FINDING(key)
FINDING(what)
FINDING(why)
FINDING(evidence)
FINDING(remedy)

static struct cell finding_level(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(host_level_name(((const struct host_finding *)record)->level));
}

static const struct column finding_columns[] = {
	TEXT_COLUMN("level", "CRITICAL, UNKNOWN, WARNING or INFO", finding_level),
	TEXT_COLUMN("rule", "drift, counter, or the cross-check X1 to X20", finding_rule),
	TEXT_COLUMN("key", "the fact it is about", finding_key),
	TEXT_COLUMN("what", "what was found", finding_what),
	TEXT_COLUMN("why", "what that does to latency", finding_why),
	TEXT_COLUMN("evidence", "the figures it rests on", finding_evidence),
	TEXT_COLUMN("remedy", "what would change it, as text; never executed", finding_remedy),
};
COLUMNS(host_finding_columns, finding_columns);

/* ---- facts ---- */

static const struct host_fact *fact_of(const void *record)
{
	return record;
}

static struct cell fact_key(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(fact_of(record)->key);
}

static struct cell fact_value(const void *record, const struct column *column)
{
	(void)column;
	const struct host_fact *fact = fact_of(record);
	return fact->status == HOST_OK && !fact->unknown ? cell_text(fact->value) : cell_absent(CELL_NOT_MEASURED);
}

static struct cell fact_status(const void *record, const struct column *column)
{
	(void)column;
	const struct host_fact *fact = fact_of(record);
	return cell_text(fact->unknown ? "unknown" : host_status_name(fact->status));
}

static struct cell fact_kind(const void *record, const struct column *column)
{
	static const char *const letters[HOST_KIND_COUNT] = {"B", "R", "I", "G", "C"};
	(void)column;
	return cell_text(fact_of(record)->kind < HOST_KIND_COUNT ? letters[fact_of(record)->kind] : "?");
}

static struct cell fact_cost(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(fact_of(record)->row ? host_cost_name(fact_of(record)->row->cost) : NULL);
}

static struct cell fact_via(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(host_via_name(fact_of(record)->via));
}

static struct cell fact_source(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(fact_of(record)->source);
}

static const struct column fact_columns[] = {
	TEXT_COLUMN("key", "what it is called", fact_key),
	TEXT_COLUMN("value", "in its one spelling; none where it could not be read or is not known", fact_value),
	TEXT_COLUMN("status", "ok, unknown, absent, unsupported, denied, busy, malformed, skipped", fact_status),
	TEXT_COLUMN("kind", "B boot, R setting, I identity, G state, C counter", fact_kind),
	TEXT_COLUMN("cost", "file, lock (RTNL or driver), ipi (interrupts a CPU), slow", fact_cost),
	TEXT_COLUMN("via", "how it was read", fact_via),
	TEXT_COLUMN("source", "where it was read", fact_source),
};
COLUMNS(host_fact_columns, fact_columns);

/* ---- counters ---- */

static const struct host_delta *delta_of(const void *record)
{
	return record;
}

static struct cell delta_key(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(delta_of(record)->is->key);
}

static struct cell delta_delta(const void *record, const struct column *column)
{
	(void)column;
	if (delta_of(record)->state == HOST_DELTA_BACKWARDS)
		return cell_absent(CELL_NOT_MEASURED);
	return cell_count(delta_of(record)->delta);
}

static struct cell delta_rate(const void *record, const struct column *column)
{
	(void)column;
	if (delta_of(record)->state == HOST_DELTA_BACKWARDS || delta_of(record)->per_second <= 0)
		return cell_absent(CELL_NOT_MEASURED);
	return cell_real(delta_of(record)->per_second);
}

static struct cell delta_state(const void *record, const struct column *column)
{
	(void)column;
	return text_or_nothing(host_delta_state_name(delta_of(record)->state));
}

static struct cell delta_where(const void *record, const struct column *column)
{
	(void)column;
	return text_or_nothing(delta_of(record)->where);
}

static const struct column delta_columns[] = {
	TEXT_COLUMN("key", "the counter", delta_key),
	{"delta", "delta", "how much it counted since the last inspection", NULL, UNIT_NONE, false, delta_delta, 0},
	{"per_second", "a second", "the same by time", NULL, UNIT_NONE, false, delta_rate, 0},
	TEXT_COLUMN("state", "since boot, re-created, wrapped, at least, went backwards", delta_state),
	TEXT_COLUMN("where", "the CPU with most of it", delta_where),
};
COLUMNS(host_delta_columns, delta_columns);

/* ---- A against B ---- */

static const struct host_compared *compared_of(const void *record)
{
	return record;
}

static struct cell compared_role(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(host_role_name(compared_of(record)->role));
}

static struct cell compared_key(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(compared_of(record)->key);
}

static struct cell compared_a(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(compared_of(record)->a);
}

static struct cell compared_b(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(compared_of(record)->b);
}

static struct cell compared_note(const void *record, const struct column *column)
{
	(void)column;
	return text_or_nothing(compared_of(record)->note);
}

static const struct column compared_columns[] = {
	TEXT_COLUMN("role",
		"changed as declared, without effect, not as declared, side effect, undeclared, unsteady, unreadable",
		compared_role),
	TEXT_COLUMN("key", "the fact", compared_key),
	TEXT_COLUMN("a", "its value in A", compared_a),
	TEXT_COLUMN("b", "its value in B", compared_b),
	TEXT_COLUMN("note", "when it takes effect, or where it was unsteady", compared_note),
};
COLUMNS(host_compared_columns, compared_columns);
