/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing a recording. SQLite's rollback journal is used throughout, not its
 * write-ahead log: a round is written at once, so there is nothing to gain from
 * the log, and a log left behind by a killed writer could not be read from a
 * read-only place. The journal exists only during a transaction, some
 * milliseconds per round; synchronous = EXTRA makes its removal, which is the
 * commit, durable too.
 */
#include "lib/recording_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* ---- rows and transactions ---- */

static void forget_statements(struct tare_writer *writer)
{
	for (int i = 0; i < TABLE_COUNT; i++) {
		sqlite3_finalize(writer->insert[i]);
		writer->insert[i] = NULL;
	}
	sqlite3_finalize(writer->tally);
	writer->tally = NULL;
}

int writer_begin(struct tare_writer *writer, struct tare_err *err)
{
	memcpy(writer->committed_rows, writer->rows, sizeof(writer->rows));
	return recording_exec(writer->db, "write", writer->path, "BEGIN IMMEDIATE", err);
}

/* After a failure: back to the last transaction. SQLite may have rolled back by itself (disk full). */
int writer_abandon(struct tare_writer *writer)
{
	for (int i = 0; i < TABLE_COUNT; i++)
		sqlite3_reset(writer->insert[i]);
	sqlite3_reset(writer->tally);
	if (!sqlite3_get_autocommit(writer->db))
		sqlite3_exec(writer->db, "ROLLBACK", NULL, NULL, NULL);
	memcpy(writer->rows, writer->committed_rows, sizeof(writer->rows));
	return -1;
}

static int update_tally(struct tare_writer *writer, struct tare_err *err)
{
	if (!writer->tally)
		writer->tally = recording_prepare(writer->db, "write", writer->path, err,
			"UPDATE tally SET rows = ?2, seal = tare_seal(id, name, ?2) WHERE id = ?1");
	if (!writer->tally)
		return -1;
	for (int i = 0; i < TABLE_COUNT; i++) {
		if (writer->rows[i] == writer->committed_rows[i])
			continue;
		sqlite3_bind_int(writer->tally, 1, i + 1);
		sqlite3_bind_int64(writer->tally, 2, writer->rows[i]);
		int result = sqlite3_step(writer->tally);
		if (result != SQLITE_DONE)
			return recording_fail(writer->db, "write", writer->path, err);
		sqlite3_reset(writer->tally);
	}
	return 0;
}

int writer_commit(struct tare_writer *writer, struct tare_err *err)
{
	if (update_tally(writer, err) < 0 || recording_exec(writer->db, "write", writer->path, "COMMIT", err) < 0)
		return writer_abandon(writer);
	return 0;
}

/* "?1, ?2, … ?count" */
static void placeholders(int count, char *buffer, size_t room)
{
	size_t used = 0;
	for (int i = 1; i <= count && used < room; i++)
		used += (size_t)snprintf(buffer + used, room - used, "%s?%d", i > 1 ? ", " : "", i);
}

static sqlite3_stmt *insert_statement(
	struct tare_writer *writer, enum recording_table table, int columns, struct tare_err *err)
{
	char values[160];

	placeholders(columns, values, sizeof(values));
	if (table == TABLE_CHUNK)
		return recording_prepare(writer->db, "write", writer->path, err,
			"INSERT INTO chunk VALUES(%s, tare_seal(%s, length(?%d)), ?%d)", values, values, columns + 1,
			columns + 1);
	return recording_prepare(writer->db, "write", writer->path, err, "INSERT INTO %s VALUES(%s, tare_seal(%s))",
		recording_tables[table].name, values, values);
}

int writer_insert(struct tare_writer *writer, enum recording_table table, const struct field *fields, int count,
	const void *data, size_t bytes, int64_t *ret_id, struct tare_err *err)
{
	int64_t id = writer->rows[table] + 1;

	if (table >= TABLE_ALWAYS && writer->rows[table] == 0 &&
		recording_create_table(writer->db, writer->path, table, err) < 0)
		return -1;
	if (!writer->insert[table])
		writer->insert[table] = insert_statement(writer, table, count + 1, err);
	sqlite3_stmt *statement = writer->insert[table];
	if (!statement)
		return -1;
	sqlite3_bind_int64(statement, 1, id);
	for (int i = 0; i < count; i++) {
		if (fields[i].type == FIELD_INTEGER)
			sqlite3_bind_int64(statement, i + 2, fields[i].integer);
		else if (fields[i].type == FIELD_TEXT)
			sqlite3_bind_text(statement, i + 2, fields[i].text, -1, SQLITE_STATIC);
		else
			sqlite3_bind_null(statement, i + 2);
	}
	/* A pointer even for 0 bytes: SQLite takes NULL for an SQL NULL. */
	if (table == TABLE_CHUNK)
		sqlite3_bind_blob64(statement, count + 2, bytes ? data : "", bytes, SQLITE_STATIC);
	int result = sqlite3_step(statement);
	if (result != SQLITE_DONE)
		return recording_fail(writer->db, "write", writer->path, err);
	sqlite3_reset(statement);
	/* The values were the caller's; nothing may point to them later. */
	sqlite3_clear_bindings(statement);
	writer->rows[table] = id;
	if (ret_id)
		*ret_id = id;
	return 0;
}

/* ---- open and close ---- */

/* *ret_created when it was not there before. */
static int open_file(const char *path, enum tare_open_mode mode, bool *ret_created, struct tare_err *err)
{
	int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK;

	if (mode == TARE_CREATE) {
		int fd = open(path, flags | O_CREAT | O_EXCL, 0666);
		if (fd < 0 && errno == EEXIST)
			return tare_fail(err, TARE_E_USAGE, "'%s' exists; --append adds a run to it", path);
		if (fd < 0)
			return tare_fail_errno(err, errno, "cannot create '%s'", path);
		*ret_created = true;
		return fd;
	}
	int fd = open(path, flags);
	if (fd < 0 && errno == ENOENT && mode == TARE_APPEND)
		return open_file(path, TARE_CREATE, ret_created, err);
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot open '%s' for writing", path);
	return fd;
}

/* Locked, and a recording of ours (or empty, which an interrupted creation leaves). */
static int check_file(int fd, const char *path, enum tare_open_mode mode, struct tare_err *err)
{
	uint8_t head[RECORDING_HEAD_BYTES] = {0};
	struct stat stat_buffer;

	if (fstat(fd, &stat_buffer) < 0)
		return tare_fail_errno(err, errno, "cannot read '%s'", path);
	if (!S_ISREG(stat_buffer.st_mode))
		return tare_fail(err, TARE_E_USAGE, "'%s' is not a regular file", path);
	if (recording_lock(fd, path, err) < 0)
		return -1;
	ssize_t got = pread(fd, head, sizeof(head), 0);
	if (got < 0)
		return tare_fail_errno(err, errno, "cannot read '%s'", path);
	if (got == 0 && mode != TARE_RESUME)
		return 0;
	if (recording_head_check(path, head, (size_t)got, err) < 0)
		return -1;
	return recording_journal_check(path, err);
}

static int load_tally(struct tare_writer *writer, struct tare_err *err)
{
	AUTO_STATEMENT statement = recording_prepare(writer->db, "read", writer->path, err,
		"SELECT rows, seal = tare_seal(id, name, rows) FROM tally WHERE id = ?1");
	if (!statement)
		return -1;
	for (int i = 0; i < TABLE_COUNT; i++) {
		sqlite3_bind_int(statement, 1, i + 1);
		int result = sqlite3_step(statement);
		if (result != SQLITE_ROW && result != SQLITE_DONE)
			return recording_fail(writer->db, "read", writer->path, err);
		if (result == SQLITE_DONE && i >= TABLE_ALWAYS) {
			sqlite3_reset(statement);
			continue;
		}
		if (result == SQLITE_DONE || !sqlite3_column_int(statement, 1) ||
			sqlite3_column_int64(statement, 0) < 0)
			return tare_fail(err, TARE_E_FORMAT, "'%s' is damaged: table 'tally', row %d (seal)",
				writer->path, i + 1);
		writer->rows[i] = sqlite3_column_int64(statement, 0);
		sqlite3_reset(statement);
	}
	return 0;
}

static int require_unfinished(struct tare_writer *writer, struct tare_err *err)
{
	AUTO_STATEMENT statement = recording_prepare(
		writer->db, "read", writer->path, err, "SELECT 1 FROM run WHERE status = 'unfinished'");
	if (!statement)
		return -1;
	int result = sqlite3_step(statement);
	if (result == SQLITE_DONE)
		return tare_fail(err, TARE_E_USAGE, "'%s' has no unfinished run to complete", writer->path);
	return result == SQLITE_ROW ? 0 : recording_fail(writer->db, "read", writer->path, err);
}

/* An older recording becomes one of ours before anything is added to it. */
static int upgrade(struct tare_writer *writer, struct tare_err *err)
{
	if (writer_begin(writer, err) < 0)
		return -1;
	if (recording_upgrade(writer->db, writer->path, err) < 0)
		return writer_abandon(writer);
	return writer_commit(writer, err);
}

static int open_database(struct tare_writer *writer, enum tare_open_mode mode, struct tare_err *err)
{
	AUTO_FREE char *sqlite_path = recording_sqlite_path(writer->path);
	struct stat stat_buffer;

	if (!sqlite_path)
		return tare_fail_errno(err, ENOMEM, "cannot open '%s'", writer->path);
	if (sqlite3_open_v2(sqlite_path, &writer->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return recording_fail(writer->db, "open", writer->path, err);
	if (recording_connection(writer->db, writer->path, err) < 0 ||
		recording_exec(writer->db, "open", writer->path,
			"PRAGMA page_size = 4096; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON; "
			"PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA; PRAGMA temp_store = MEMORY; "
			"SELECT 1 FROM sqlite_master LIMIT 1",
			err) < 0)
		return -1;
	/* That SELECT rolled back what a killed writer may have left; size 0 now means: never committed. */
	if (fstat(writer->lock_fd, &stat_buffer) < 0)
		return tare_fail_errno(err, errno, "cannot read '%s'", writer->path);
	if (stat_buffer.st_size == 0 && mode != TARE_RESUME) {
		if (writer_begin(writer, err) < 0)
			return -1;
		if (recording_create(writer->db, writer->path, err) < 0)
			return writer_abandon(writer);
		return writer_commit(writer, err);
	}
	int version = 0;
	if (recording_schema_check(writer->db, writer->path, &version, err) < 0)
		return -1;
	if (mode == TARE_RESUME && require_unfinished(writer, err) < 0)
		return -1;
	if (version < TARE_RECORDING_VERSION && upgrade(writer, err) < 0)
		return -1;
	return load_tally(writer, err);
}

static void auto_writer_end(struct tare_writer **writer)
{
	tare_writer_free(*writer);
}

int tare_writer_open(const char *path, enum tare_open_mode mode, struct tare_writer **ret_writer, struct tare_err *err)
{
	AUTO_CLEANUP(auto_writer_end) struct tare_writer *writer = calloc(1, sizeof(*writer));
	bool created = false;

	if (!writer)
		return tare_fail_errno(err, ENOMEM, "cannot open '%s'", path);
	writer->lock_fd = -1;
	writer->path = strdup(path);
	writer->wide = malloc((size_t)CHUNK_SAMPLES_MAX * sizeof(*writer->wide));
	if (!writer->path || !writer->wide)
		return tare_fail_errno(err, ENOMEM, "cannot open '%s'", path);
	if (chunk_codec_open(true, &writer->codec, err) < 0)
		return -1;
	writer->lock_fd = open_file(path, mode, &created, err);
	if (writer->lock_fd < 0)
		return -1;
	if (check_file(writer->lock_fd, path, mode, err) < 0)
		return -1;
	if (open_database(writer, mode, err) < 0) {
		/* Ours alone: made by us, and under our lock. */
		if (created)
			unlink(path);
		return -1;
	}
	*ret_writer = take_ptr(writer);
	return 0;
}

int tare_writer_close(struct tare_writer **writer, struct tare_err *err)
{
	struct tare_writer *closing = take_ptr(*writer);
	int status = 0;

	if (!closing)
		return 0;
	forget_statements(closing);
	if (sqlite3_close(closing->db) == SQLITE_OK)
		closing->db = NULL;
	else
		status = recording_fail(closing->db, "close", closing->path, err);
	tare_writer_free(closing);
	return status;
}

void tare_writer_free(struct tare_writer *writer)
{
	if (!writer)
		return;
	forget_statements(writer);
	sqlite3_close_v2(writer->db);
	/* Last: closing any descriptor of the file ends SQLite's locks on it too. */
	if (writer->lock_fd >= 0)
		close(writer->lock_fd);
	chunk_codec_free(writer->codec);
	free(writer->wide);
	free(writer->path);
	free(writer);
}

/* ---- what is written ---- */

static int add_settings(struct tare_writer *writer, int64_t run_id, const struct tare_setting *settings, size_t count,
	struct tare_err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (WRITER_INSERT(writer, TABLE_SETTING, NULL, err, field_int(run_id), field_text(settings[i].name),
			    field_text(settings[i].value), field_text(settings[i].origin)) < 0)
			return -1;
	}
	return 0;
}

static int add_targets(struct tare_writer *writer, int64_t run_id, const struct tare_target *targets, size_t count,
	struct tare_err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (WRITER_INSERT(writer, TABLE_TARGET, NULL, err, field_int(run_id), field_int(targets[i].position),
			    field_text(targets[i].url), field_text(targets[i].kind), field_text(targets[i].address),
			    field_int(targets[i].payload_bytes)) < 0)
			return -1;
	}
	return 0;
}

int tare_writer_begin_run(struct tare_writer *writer, struct tare_run *run, struct tare_target *targets,
	size_t target_count, const struct tare_setting *settings, size_t setting_count, struct tare_err *err)
{
	int64_t first_target = writer->rows[TABLE_TARGET] + 1, id = 0;

	if (writer_begin(writer, err) < 0)
		return -1;
	if (WRITER_INSERT(writer, TABLE_RUN, &id, err, field_int(run->epoch_real_ns), field_int(run->epoch_mono_ns),
		    field_text(run_status_word(TARE_RUN_UNFINISHED)), field_int((int64_t)run->seed),
		    field_text(run->tool), field_text(run->host), field_text(run->kernel),
		    field_text(run->command_line), field_text(run->spool)) < 0 ||
		add_targets(writer, id, targets, target_count, err) < 0 ||
		add_settings(writer, id, settings, setting_count, err) < 0)
		return writer_abandon(writer);
	if (writer_commit(writer, err) < 0)
		return -1;
	run->id = id;
	run->status = TARE_RUN_UNFINISHED;
	for (size_t i = 0; i < target_count; i++)
		targets[i].id = first_target + (int64_t)i;
	return 0;
}

/* The run that is being written: there, whole, and not ended. */
int writer_require_open_run(struct tare_writer *writer, int64_t run_id, struct tare_err *err)
{
	AUTO_STATEMENT statement = recording_prepare(writer->db, "read", writer->path, err,
		"SELECT status = 'unfinished' FROM run WHERE id = ?1 AND seal = tare_seal(%s)",
		recording_tables[TABLE_RUN].sealed);
	if (!statement)
		return -1;
	sqlite3_bind_int64(statement, 1, run_id);
	int result = sqlite3_step(statement);
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		return recording_fail(writer->db, "read", writer->path, err);
	if (result == SQLITE_ROW && sqlite3_column_int(statement, 0))
		return 0;
	return tare_fail(err, TARE_E_USAGE, "cannot write '%s': run %lld %s", writer->path, (long long)run_id,
		result == SQLITE_ROW ? "has ended" : "is not in it or is damaged");
}

static int add_event(struct tare_writer *writer, int64_t run_id, int64_t round_id, const struct tare_event *event,
	struct tare_err *err)
{
	return WRITER_INSERT(writer, TABLE_EVENT, NULL, err, field_int(run_id), field_id(round_id),
		field_time(event->at_ns), field_text(event->kind), field_text(event->text));
}

static int add_round(struct tare_writer *writer, const struct tare_round *round, const struct tare_record *records,
	size_t record_count, int64_t *ret_id, struct tare_err *err)
{
	if (WRITER_INSERT(writer, TABLE_ROUND, ret_id, err, field_int(records[0].run->id), field_int(round->number),
		    field_text(round->label), field_time(round->first_due_ns), field_time(round->interval_ns),
		    field_time(round->phase_ns), field_time(round->jitter_ns), field_time(round->timeout_ns),
		    field_time(round->ended_ns), field_time(round->axis_error_ns), field_int(round->warmup),
		    field_text(round->status)) < 0)
		return -1;
	for (size_t i = 0; i < record_count; i++) {
		if (writer_series(writer, *ret_id, round->interval_ns, &records[i], err) < 0)
			return -1;
	}
	return 0;
}

static int check_records(const struct tare_writer *writer, const struct tare_round *round,
	const struct tare_record *records, size_t count, struct tare_err *err)
{
	if (count == 0)
		return tare_fail(err, TARE_E_USAGE, "cannot write '%s': a round without series", writer->path);
	for (size_t i = 0; i < count; i++) {
		if (!records[i].run || !records[i].target || !records[i].round ||
			records[i].run->id != records[0].run->id || records[i].round->number != round->number)
			return tare_fail(
				err, TARE_E_USAGE, "cannot write '%s': the series are not of one round", writer->path);
		if (records[i].series.count > 0 && !records[i].series.fate)
			return tare_fail(err, TARE_E_USAGE, "cannot write '%s': a series without fates", writer->path);
	}
	return 0;
}

int tare_writer_round(struct tare_writer *writer, struct tare_round *round, const struct tare_record *records,
	size_t record_count, const struct tare_event *events, size_t event_count, const struct tare_reading *readings,
	size_t reading_count, struct tare_err *err)
{
	int64_t id = 0;

	if (check_records(writer, round, records, record_count, err) < 0 || writer_begin(writer, err) < 0)
		return -1;
	if (writer_require_open_run(writer, records[0].run->id, err) < 0 ||
		add_round(writer, round, records, record_count, &id, err) < 0)
		return writer_abandon(writer);
	for (size_t i = 0; i < event_count; i++) {
		if (add_event(writer, records[0].run->id, id, &events[i], err) < 0)
			return writer_abandon(writer);
	}
	for (size_t i = 0; i < reading_count; i++) {
		if (WRITER_INSERT(writer, TABLE_READING, NULL, err, field_int(id),
			    field_int(readings[i].mono_before_ns), field_int(readings[i].real_ns),
			    field_int(readings[i].mono_after_ns)) < 0)
			return writer_abandon(writer);
	}
	if (writer_commit(writer, err) < 0)
		return -1;
	round->id = id;
	return 0;
}

static struct field field_cpu(int16_t cpu)
{
	return cpu < 0 ? (struct field){.type = FIELD_NULL} : field_int(cpu);
}

static int add_cause(struct tare_writer *writer, int64_t round_id, const struct tare_cause *cause, struct tare_err *err)
{
	return WRITER_INSERT(writer, TABLE_CAUSE, NULL, err, field_int(round_id), field_int(cause->target),
		field_int(cause->sequence), field_int(cause->control), field_int(cause->peer), field_int(cause->injected),
		field_int(cause->weak), field_text(tare_word_name(cause->word)), field_time(cause->excess_ns),
		field_int(cause->explained_ns), field_cpu(cause->cpu), field_cpu(cause->cpu_after), field_int(cause->pid),
		field_int(cause->detail), field_text(cause->comm));
}

static int add_evidence(struct tare_writer *writer, int64_t round_id, const struct tare_evidence *item,
	struct tare_err *err)
{
	return WRITER_INSERT(writer, TABLE_EVIDENCE, NULL, err, field_int(round_id), field_int(item->kind),
		field_int(item->flags), field_int(item->from_ns), field_int(item->to_ns), field_cpu(item->cpu),
		field_cpu(item->cpu_after), field_int(item->pid), field_int(item->detail), field_text(item->comm),
		field_int(item->target), field_int(item->sequence));
}

int tare_writer_causes(struct tare_writer *writer, int64_t round_id, const struct tare_cause *causes,
	size_t cause_count, const struct tare_evidence *evidence, size_t evidence_count, struct tare_err *err)
{
	if (writer_begin(writer, err) < 0)
		return -1;
	for (size_t i = 0; i < cause_count; i++)
		if (add_cause(writer, round_id, &causes[i], err) < 0)
			return writer_abandon(writer);
	for (size_t i = 0; i < evidence_count; i++)
		if (add_evidence(writer, round_id, &evidence[i], err) < 0)
			return writer_abandon(writer);
	return writer_commit(writer, err);
}

int tare_writer_shares(
	struct tare_writer *writer, int64_t round_id, const struct tare_share *shares, size_t count, struct tare_err *err)
{
	if (writer_begin(writer, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (WRITER_INSERT(writer, TABLE_SHARE, NULL, err, field_int(round_id), field_int(shares[i].cpu),
			    field_int(shares[i].of), field_text(tare_share_kind_name(shares[i].kind)),
			    field_text(shares[i].name), field_time(shares[i].ns), field_int((int64_t)shares[i].times)) < 0)
			return writer_abandon(writer);
	return writer_commit(writer, err);
}

int tare_writer_event(struct tare_writer *writer, int64_t run_id, int64_t round_id, const struct tare_event *event,
	struct tare_err *err)
{
	if (writer_begin(writer, err) < 0)
		return -1;
	if (add_event(writer, run_id, round_id, event, err) < 0)
		return writer_abandon(writer);
	return writer_commit(writer, err);
}

int tare_writer_facts(struct tare_writer *writer, int64_t run_id, int64_t round_id, const struct tare_fact *facts,
	size_t count, struct tare_err *err)
{
	if (writer_begin(writer, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (WRITER_INSERT(writer, TABLE_FACT, NULL, err, field_int(run_id), field_id(round_id),
			    field_text(facts[i].side), field_text(facts[i].moment), field_text(facts[i].key),
			    field_text(facts[i].value)) < 0)
			return writer_abandon(writer);
	}
	return writer_commit(writer, err);
}

/* Changes the two columns of a run that may change, and its seal. */
static int change_run(struct tare_writer *writer, int64_t run_id, enum tare_run_status status, const char *spool,
	struct tare_err *err)
{
	AUTO_STATEMENT statement = recording_prepare(writer->db, "write", writer->path, err,
		"UPDATE run SET status = ?2, spool = ?3, seal = tare_seal(id, epoch_real_ns, epoch_mono_ns, ?2, seed, "
		"tool, host, kernel, command_line, ?3) WHERE id = ?1");
	if (!statement || writer_require_open_run(writer, run_id, err) < 0)
		return -1;
	sqlite3_bind_int64(statement, 1, run_id);
	sqlite3_bind_text(statement, 2, run_status_word(status), -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 3, spool, -1, SQLITE_STATIC);
	return sqlite3_step(statement) == SQLITE_DONE ? 0 : recording_fail(writer->db, "write", writer->path, err);
}

static int change_run_at_once(struct tare_writer *writer, int64_t run_id, enum tare_run_status status,
	const char *spool, struct tare_err *err)
{
	if (writer_begin(writer, err) < 0)
		return -1;
	if (change_run(writer, run_id, status, spool, err) < 0)
		return writer_abandon(writer);
	return writer_commit(writer, err);
}

int tare_writer_spool(struct tare_writer *writer, int64_t run_id, const char *path, struct tare_err *err)
{
	return change_run_at_once(writer, run_id, TARE_RUN_UNFINISHED, path, err);
}

int tare_writer_end_run(struct tare_writer *writer, int64_t run_id, enum tare_run_status status, struct tare_err *err)
{
	return change_run_at_once(writer, run_id, status, NULL, err);
}
