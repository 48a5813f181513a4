/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of a recording. SQLite has no checksums of its own: a flipped bit
 * in a text or a number would be read as the truth. So every row carries a seal,
 * FNV-1a over its other columns, computed and checked by the SQL function
 * tare_seal(); and the tally says how many rows each table has, since damage to
 * a page may also make rows vanish.
 */
#include "lib/recording_schema.h"

#include <string.h>

#include "base/cleanup.h"

#define SEALED_ID "id INTEGER PRIMARY KEY, "
#define SEAL ", seal INTEGER NOT NULL"

const struct recording_table_text recording_tables[TABLE_COUNT] = {
	[TABLE_RUN] = {"run",
		"id, epoch_real_ns, epoch_mono_ns, status, seed, tool, host, kernel, command_line, spool",
		SEALED_ID "epoch_real_ns INTEGER NOT NULL, epoch_mono_ns INTEGER NOT NULL, status TEXT NOT NULL, "
			  "seed INTEGER NOT NULL, tool TEXT, host TEXT, kernel TEXT, command_line TEXT, spool TEXT" SEAL},
	[TABLE_SETTING] = {"setting", "id, run, name, value, origin",
		SEALED_ID "run INTEGER NOT NULL REFERENCES run(id), name TEXT, value TEXT, origin TEXT" SEAL},
	[TABLE_FACT] = {"fact", "id, run, round, side, moment, key, value",
		SEALED_ID "run INTEGER NOT NULL REFERENCES run(id), round INTEGER REFERENCES round(id), side TEXT, "
			  "moment TEXT, key TEXT, value TEXT" SEAL},
	[TABLE_TARGET] = {"target", "id, run, position, url, kind, address, payload_bytes",
		SEALED_ID "run INTEGER NOT NULL REFERENCES run(id), position INTEGER NOT NULL, url TEXT, kind TEXT, "
			  "address TEXT, payload_bytes INTEGER NOT NULL" SEAL},
	[TABLE_ROUND] = {"round",
		"id, run, number, label, first_due_ns, interval_ns, phase_ns, jitter_ns, timeout_ns, ended_ns, "
		"axis_error_ns, warmup, status",
		SEALED_ID "run INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL, label TEXT, "
			  "first_due_ns INTEGER, interval_ns INTEGER, phase_ns INTEGER, jitter_ns INTEGER, "
			  "timeout_ns INTEGER, ended_ns INTEGER, axis_error_ns INTEGER, warmup INTEGER NOT NULL, "
			  "status TEXT" SEAL},
	[TABLE_SERIES] = {"series",
		"id, round, target, samples, first_due_ns, duplicate, reordered, foreign_replies, unmatched_errors, "
		"stamps_asked, resolution_ns, columns, chunk_samples, first_chunk, chunks",
		SEALED_ID "round INTEGER NOT NULL REFERENCES round(id), target INTEGER NOT NULL REFERENCES target(id), "
			  "samples INTEGER NOT NULL, first_due_ns INTEGER, duplicate INTEGER NOT NULL, "
			  "reordered INTEGER NOT NULL, foreign_replies INTEGER NOT NULL, "
			  "unmatched_errors INTEGER NOT NULL, stamps_asked INTEGER NOT NULL, "
			  "resolution_ns INTEGER NOT NULL, columns TEXT NOT NULL, chunk_samples INTEGER NOT NULL, "
			  "first_chunk INTEGER NOT NULL, chunks INTEGER NOT NULL" SEAL},
	[TABLE_CHUNK] = {"chunk", "id, series, name, first, n, relative_to, base, min, max, width",
		SEALED_ID "series INTEGER NOT NULL REFERENCES series(id), name TEXT NOT NULL, first INTEGER NOT NULL, "
			  "n INTEGER NOT NULL, relative_to TEXT NOT NULL, base INTEGER NOT NULL, min INTEGER, "
			  "max INTEGER, width INTEGER NOT NULL" SEAL ", data BLOB NOT NULL"},
	[TABLE_READING] = {"reading", "id, round, mono_before_ns, real_ns, mono_after_ns",
		SEALED_ID "round INTEGER NOT NULL REFERENCES round(id), mono_before_ns INTEGER NOT NULL, "
			  "real_ns INTEGER NOT NULL, mono_after_ns INTEGER NOT NULL" SEAL},
	[TABLE_EVENT] = {"event", "id, run, round, at_ns, kind, text",
		SEALED_ID "run INTEGER NOT NULL REFERENCES run(id), round INTEGER REFERENCES round(id), "
			  "at_ns INTEGER, kind TEXT, text TEXT" SEAL},
	[TABLE_SAMPLES] = {"tally", "id, name, rows",
		SEALED_ID "name TEXT NOT NULL, rows INTEGER NOT NULL" SEAL},
	[TABLE_CAUSE] = {"cause",
		"id, round, target, sequence, control, peer, injected, weak, word, excess_ns, explained_ns, cpu, cpu_after, "
		"pid, detail, comm",
		SEALED_ID "round INTEGER NOT NULL REFERENCES round(id), target INTEGER NOT NULL, sequence INTEGER NOT NULL, "
			  "control INTEGER NOT NULL, peer INTEGER NOT NULL, injected INTEGER NOT NULL, "
			  "weak INTEGER NOT NULL, word TEXT NOT NULL, excess_ns INTEGER, explained_ns INTEGER NOT NULL, "
			  "cpu INTEGER, cpu_after INTEGER, pid INTEGER, detail INTEGER NOT NULL, comm TEXT NOT NULL" SEAL},
	[TABLE_EVIDENCE] = {"evidence",
		"id, round, kind, flags, from_ns, to_ns, cpu, cpu_after, pid, detail, comm, target, sequence",
		SEALED_ID "round INTEGER NOT NULL REFERENCES round(id), kind INTEGER NOT NULL, flags INTEGER NOT NULL, "
			  "from_ns INTEGER NOT NULL, to_ns INTEGER NOT NULL, cpu INTEGER, cpu_after INTEGER, "
			  "pid INTEGER, detail INTEGER NOT NULL, comm TEXT NOT NULL, target INTEGER NOT NULL, "
			  "sequence INTEGER NOT NULL" SEAL},
	[TABLE_PLAN] = {"plan", "id, run, kind, continues, arms, seed, settle_ns, a, b, restore, primary_figure, margin",
		SEALED_ID "run INTEGER NOT NULL REFERENCES run(id), kind TEXT, continues INTEGER, arms TEXT, "
			  "seed INTEGER NOT NULL, settle_ns INTEGER, a TEXT, b TEXT, restore TEXT, "
			  "primary_figure TEXT, margin TEXT" SEAL},
	[TABLE_STEP] = {"step", "id, run, round, position, arm, scored, settings",
		SEALED_ID "run INTEGER NOT NULL REFERENCES run(id), round INTEGER NOT NULL, position INTEGER NOT NULL, "
			  "arm TEXT, scored INTEGER NOT NULL, settings TEXT" SEAL},
	[TABLE_COMMAND] = {"command", "id, run, position, purpose, line, exit, at_ns, took_ns, output",
		SEALED_ID "run INTEGER NOT NULL REFERENCES run(id), position INTEGER NOT NULL, purpose TEXT, line TEXT, "
			  "exit INTEGER NOT NULL, at_ns INTEGER, took_ns INTEGER, output TEXT" SEAL},
	[TABLE_VERDICT] = {"verdict",
		"id, run, figure, is_primary, verdict, sentence, rounds_a, rounds_b, value_a_ns, value_b_ns, effect_ns, "
		"low_ns, high_ns, s_ns, exit",
		SEALED_ID "run INTEGER NOT NULL REFERENCES run(id), figure TEXT, is_primary INTEGER NOT NULL, verdict TEXT, "
			  "sentence TEXT, rounds_a INTEGER NOT NULL, rounds_b INTEGER NOT NULL, value_a_ns INTEGER, "
			  "value_b_ns INTEGER, effect_ns INTEGER, low_ns INTEGER, high_ns INTEGER, s_ns INTEGER, "
			  "exit INTEGER NOT NULL" SEAL},
	[TABLE_ORIGIN] = {"origin",
		"id, series, format, quantity, clock, pacing, lateness, shape, left_out, lost, first_bin, bins",
		SEALED_ID "series INTEGER NOT NULL REFERENCES series(id), format TEXT, quantity TEXT NOT NULL, "
			  "clock TEXT NOT NULL, pacing TEXT NOT NULL, lateness TEXT NOT NULL, shape TEXT NOT NULL, "
			  "left_out INTEGER NOT NULL, lost INTEGER NOT NULL, first_bin INTEGER NOT NULL, "
			  "bins INTEGER NOT NULL" SEAL},
	[TABLE_BIN] = {"bin", "id, series, low_ns, high_ns, n",
		SEALED_ID "series INTEGER NOT NULL REFERENCES series(id), low_ns INTEGER NOT NULL, "
			  "high_ns INTEGER NOT NULL, n INTEGER NOT NULL" SEAL},
	[TABLE_SHARE] = {"share", "id, round, cpu, whose, kind, name, ns, times",
		SEALED_ID "round INTEGER NOT NULL REFERENCES round(id), cpu INTEGER NOT NULL, whose INTEGER NOT NULL, "
			  "kind TEXT NOT NULL, name TEXT NOT NULL, ns INTEGER, times INTEGER NOT NULL" SEAL},
};

static const char *const run_status_words[] = {
	[TARE_RUN_UNFINISHED] = "unfinished",
	[TARE_RUN_FINISHED] = "finished",
	[TARE_RUN_INTERRUPTED] = "interrupted",
	[TARE_RUN_FAILED] = "failed",
};
enum { RUN_STATUS_COUNT = sizeof(run_status_words) / sizeof(*run_status_words) };

const char *run_status_word(enum tare_run_status status)
{
	return (unsigned)status < RUN_STATUS_COUNT ? run_status_words[status] : "failed";
}

bool run_status_by_word(const char *word, enum tare_run_status *ret_status)
{
	for (int i = 0; word && i < RUN_STATUS_COUNT; i++) {
		if (strcmp(word, run_status_words[i]) == 0) {
			*ret_status = (enum tare_run_status)i;
			return true;
		}
	}
	return false;
}

/* ---- columns of samples ---- */

#define CPU(place, text) {"cpu_" text, COLUMN_CPU, TARE_CPU_##place, NO_REFERENCE}
#define STAGE(stage, text, against) {text, COLUMN_STAGE, TARE_STAGE_##stage, against}
enum { AT_CPU = 3, AT_STAGE = AT_CPU + TARE_CPU_PLACES, AT_GIVEN = AT_STAGE + TARE_STAGE_COUNT };

const struct sample_column sample_columns[SAMPLE_COLUMNS] = {
	{"fate", COLUMN_FATE, 0, NO_REFERENCE},
	{"flags", COLUMN_FLAGS, 0, NO_REFERENCE},
	{"reason", COLUMN_REASON, 0, NO_REFERENCE},
	CPU(TX, "tx"),
	CPU(RX, "rx"),
	CPU(PEER_RX, "peer_rx"),
	CPU(PEER_TX, "peer_tx"),
	/* The reference is the stage that leaves the smallest difference: late, tx, rtt, wake, residence. */
	STAGE(DUE, "due", NO_REFERENCE),
	STAGE(USER_TX, "user_tx", AT_STAGE + 0),
	STAGE(KERNEL_TX, "kernel_tx", AT_STAGE + 1),
	STAGE(NIC_TX, "nic_tx", AT_STAGE + 2),
	STAGE(USER_RX, "user_rx", AT_STAGE + 1),
	STAGE(KERNEL_RX, "kernel_rx", AT_STAGE + 4),
	STAGE(NIC_RX, "nic_rx", AT_STAGE + 5),
	STAGE(PEER_RX, "peer_rx", AT_STAGE + 1),
	STAGE(PEER_USER, "peer_user", AT_STAGE + 7),
	STAGE(PEER_TX, "peer_tx", AT_STAGE + 7),
	STAGE(PEER_NIC_RX, "peer_nic_rx", AT_STAGE + 7),
	STAGE(PEER_NIC_TX, "peer_nic_tx", AT_STAGE + 9),
#define X(id, name, from, to, help) {"given_" name, COLUMN_GIVEN, TARE_SPAN_##id, NO_REFERENCE},
	TARE_SPANS(X)
#undef X
};

int column_of_stage(enum tare_stage stage)
{
	int at = AT_STAGE;
	while (sample_columns[at].index != (int)stage)
		at++;
	return at;
}

int column_of_given(enum tare_span span)
{
	return AT_GIVEN + (int)span;
}

int column_of_cpu(enum tare_cpu_place place)
{
	return AT_CPU + (int)place;
}

int column_by_name(const char *name, size_t bytes)
{
	for (int i = 0; i < SAMPLE_COLUMNS; i++) {
		if (strlen(sample_columns[i].name) == bytes && memcmp(sample_columns[i].name, name, bytes) == 0)
			return i;
	}
	return -1;
}

/* ---- the seal ---- */

static uint64_t fnv_add(uint64_t hash, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t fnv_add_u64(uint64_t hash, uint64_t value)
{
	uint8_t bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	return fnv_add(hash, bytes, sizeof(bytes));
}

/*
 * tare_seal(…): per argument a type byte, then an integer as 8 bytes little-endian,
 * a text as its length likewise and its bytes, nothing for NULL.
 */
static void seal(sqlite3_context *context, int count, sqlite3_value **values)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < count; i++) {
		int type = sqlite3_value_type(values[i]);
		if (type == SQLITE_NULL) {
			hash = fnv_add(hash, "n", 1);
		} else if (type == SQLITE_INTEGER) {
			hash = fnv_add(hash, "i", 1);
			hash = fnv_add_u64(hash, (uint64_t)sqlite3_value_int64(values[i]));
		} else {
			const void *text = sqlite3_value_text(values[i]);
			size_t bytes = (size_t)sqlite3_value_bytes(values[i]);
			hash = fnv_add(hash, "t", 1);
			hash = fnv_add_u64(hash, bytes);
			hash = text ? fnv_add(hash, text, bytes) : hash;
		}
	}
	sqlite3_result_int64(context, (sqlite3_int64)hash);
}

/* ---- tables ---- */

int recording_connection(sqlite3 *db, const char *path, struct tare_err *err)
{
	/* No value of ours is larger than one chunk of 65536 x 8 bytes or the longest command line (2 MiB). */
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 4 << 20);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/* A writer's commit or a reader's look at a page takes milliseconds; a round of 10 million samples seconds. */
	sqlite3_busy_timeout(db, 20000);
	if (sqlite3_create_function_v2(db, "tare_seal", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
		    NULL, seal, NULL, NULL, NULL) != SQLITE_OK)
		return recording_fail(db, "open", path, err);
	return 0;
}

static void table_sql(const struct recording_table_text *table, char *buffer, size_t room)
{
	snprintf(buffer, room, "CREATE TABLE %s(%s)", table->name, table->columns);
}

int recording_create_table(sqlite3 *db, const char *path, enum recording_table table, struct tare_err *err)
{
	char sql[1024];
	const char *name = table == TABLE_SAMPLES ? "sample" : recording_tables[table].name;

	table_sql(&recording_tables[table], sql, sizeof(sql));
	if (recording_exec(db, "write", path, sql, err) < 0)
		return -1;
	snprintf(sql, sizeof(sql), "INSERT INTO tally VALUES(%d, '%s', 0, tare_seal(%d, '%s', 0))", (int)table + 1, name,
		(int)table + 1, name);
	return recording_exec(db, "write", path, sql, err);
}

static int set_version(sqlite3 *db, const char *path, struct tare_err *err)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", TARE_RECORDING_VERSION);
	return recording_exec(db, "write", path, sql, err);
}

int recording_create(sqlite3 *db, const char *path, struct tare_err *err)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d", RECORDING_APPLICATION_ID);
	/* the tally is the table of TABLE_SAMPLES: first, since each of the others enters itself there */
	if (recording_exec(db, "write", path, sql, err) < 0 || recording_create_table(db, path, TABLE_SAMPLES, err) < 0)
		return -1;
	for (int i = 0; i < TABLE_ALWAYS; i++)
		if (i != TABLE_SAMPLES && recording_create_table(db, path, (enum recording_table)i, err) < 0)
			return -1;
	return set_version(db, path, err);
}

int recording_upgrade(sqlite3 *db, const char *path, struct tare_err *err)
{
	return set_version(db, path, err);
}

static int read_version(sqlite3 *db, const char *path, int *ret_version, struct tare_err *err)
{
	AUTO_STATEMENT statement = recording_prepare(db, "read", path, err, "PRAGMA user_version");
	if (!statement)
		return -1;
	if (sqlite3_step(statement) != SQLITE_ROW)
		return recording_fail(db, "read", path, err);
	*ret_version = sqlite3_column_int(statement, 0);
	return 0;
}

/*
 * By text, letter for letter: a view, a virtual table or a generated column by
 * our table's name would run whatever its maker wanted.
 */
int recording_schema_check(sqlite3 *db, const char *path, int *ret_version, struct tare_err *err)
{
	int version = 0;
	if (read_version(db, path, &version, err) < 0)
		return -1;
	AUTO_STATEMENT statement = recording_prepare(db, "read", path, err,
		"SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1");
	if (!statement)
		return -1;
	for (int i = 0; i < recording_table_count(version); i++) {
		char sql[1024];
		table_sql(&recording_tables[i], sql, sizeof(sql));
		sqlite3_bind_text(statement, 1, recording_tables[i].name, -1, SQLITE_STATIC);
		int result = sqlite3_step(statement);
		if (result != SQLITE_ROW && result != SQLITE_DONE)
			return recording_fail(db, "read", path, err);
		const char *found = result == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
		if (!found && i >= TABLE_ALWAYS)
			found = sql;
		if (!found)
			return tare_fail(err, TARE_E_FORMAT, "'%s' is not a complete recording: it has no table '%s'", path,
				recording_tables[i].name);
		if (strcmp(found, sql) != 0)
			return tare_fail(err, TARE_E_FORMAT,
				"'%s' is damaged or was changed: table '%s' is not defined as format %d has it", path,
				recording_tables[i].name, version);
		sqlite3_reset(statement);
	}
	*ret_version = version;
	return 0;
}
