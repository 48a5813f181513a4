/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recording as a file: what its first bytes say, its journal, and SQLite's
 * failures as sentences. SQLite's own texts name neither the file nor the
 * system's reason ("disk I/O error"), so both are put together here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "lib/recording_schema.h"

static const char magic[16] = "SQLite format 3";

bool tare_recording_looks_like(const void *head, size_t head_bytes)
{
	return head_bytes >= sizeof(magic) && memcmp(head, magic, sizeof(magic)) == 0;
}

static uint32_t big_endian(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

struct recording_head recording_head_of(const uint8_t head[RECORDING_HEAD_BYTES])
{
	uint32_t page = (uint32_t)head[16] << 8 | head[17];
	return (struct recording_head){
		.is_sqlite = tare_recording_looks_like(head, RECORDING_HEAD_BYTES),
		.page_bytes = page == 1 ? 65536 : page,
		.is_wal = head[18] != 1 || head[19] != 1,
		.pages = big_endian(head + 28),
		.version = big_endian(head + 60),
		.application_id = big_endian(head + 68),
	};
}

int recording_head_check(const char *path, const uint8_t *head, size_t bytes, struct tare_err *err)
{
	if (bytes == 0)
		return tare_fail(err, TARE_E_FORMAT, "'%s' is empty, not a recording", path);
	if (!tare_recording_looks_like(head, bytes)) {
		bool cut = bytes < sizeof(magic) && memcmp(head, magic, bytes) == 0;
		return tare_fail(err, TARE_E_FORMAT,
			cut ? "'%s' is cut off: only %zu bytes are there"
			    : "'%s' is not a recording: its first %zu bytes are not those of an SQLite database",
			path, cut ? bytes : sizeof(magic));
	}
	if (bytes < RECORDING_HEAD_BYTES)
		return tare_fail(err, TARE_E_FORMAT, "'%s' is cut off: only %zu bytes are there", path, bytes);

	struct recording_head said = recording_head_of(head);
	if (said.application_id != RECORDING_APPLICATION_ID)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s' is an SQLite database of another program (application_id 0x%08x), not a recording", path,
			said.application_id);
	if (said.version > TARE_RECORDING_VERSION)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s' was written by a newer tare (format %u, this one reads up to %d)", path, said.version,
			TARE_RECORDING_VERSION);
	if (said.version < 1)
		return tare_fail(
			err, TARE_E_FORMAT, "'%s' is damaged: it says to be of format 0, which never was", path);
	if (said.is_wal)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s' is in write-ahead mode, which a recording never is\n"
			"  sqlite3 '%s' 'PRAGMA journal_mode = DELETE' turns it back",
			path, path);
	return 0;
}

char *recording_sqlite_path(const char *path)
{
	char *result = NULL;
	return asprintf(&result, "%s%s", path[0] == '/' ? "" : "./", path) < 0 ? NULL : result;
}

int recording_journal_check(const char *path, struct tare_err *err)
{
	static const uint8_t journal_magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	AUTO_FREE char *name = NULL;
	struct stat stat_buffer;
	uint8_t tail[8];

	if (asprintf(&name, "%s-journal", path) < 0)
		return tare_fail_errno(err, ENOMEM, "cannot open '%s'", path);
	AUTO_FD fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : tare_fail_errno(err, errno, "cannot open '%s'", name);
	if (fstat(fd, &stat_buffer) < 0)
		return tare_fail_errno(err, errno, "cannot read '%s'", name);
	if (!S_ISREG(stat_buffer.st_mode))
		return tare_fail(err, TARE_E_FORMAT, "'%s' is not a regular file", name);
	if (stat_buffer.st_size < 28)
		return 0;
	ssize_t got = pread(fd, tail, sizeof(tail), stat_buffer.st_size - (off_t)sizeof(tail));
	if (got < 0)
		return tare_fail_errno(err, errno, "cannot read '%s'", name);
	/* The magic at the end closes the name of a further journal (SQLite file format, section 3). */
	if (got == (ssize_t)sizeof(tail) && memcmp(tail, journal_magic, sizeof(tail)) == 0)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s' names a further file, which no journal of a recording does; not opened", name);
	return 0;
}

sqlite3_stmt *recording_prepare(
	sqlite3 *db, const char *verb, const char *path, struct tare_err *err, const char *format, ...)
{
	char sql[2048];
	sqlite3_stmt *statement = NULL;
	va_list args;

	va_start(args, format);
	int length = vsnprintf(sql, sizeof(sql), format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(sql)) {
		(void)tare_fail(err, TARE_E_SYSTEM, "cannot %s '%s': statement too long", verb, path);
		return NULL;
	}
	if (sqlite3_prepare_v3(db, sql, length, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) {
		(void)recording_fail(db, verb, path, err);
		return NULL;
	}
	return statement;
}

int recording_exec(sqlite3 *db, const char *verb, const char *path, const char *sql, struct tare_err *err)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : recording_fail(db, verb, path, err);
}

/* SQLite keeps errno for some statements but not for COMMIT; the file itself remembers. */
static int system_errno(sqlite3 *db)
{
	int system = sqlite3_system_errno(db);

	if (system == 0 && db)
		sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &system);
	return system;
}

int recording_fail(sqlite3 *db, const char *verb, const char *path, struct tare_err *err)
{
	int result = sqlite3_errcode(db), system = system_errno(db);

	if (db && sqlite3_extended_errcode(db) == SQLITE_READONLY_DIRECTORY)
		return tare_fail_errno(err, EACCES, "cannot %s '%s': no journal can be made in its folder", verb, path);
	switch (result & 0xff) {
	case SQLITE_FULL:
		return tare_fail_errno(err, ENOSPC, "cannot %s '%s'", verb, path);
	case SQLITE_NOMEM:
		return tare_fail_errno(err, ENOMEM, "cannot %s '%s'", verb, path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return tare_fail(err, TARE_E_SYSTEM, "cannot %s '%s': another program holds it locked", verb, path);
	case SQLITE_INTERRUPT:
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_TOOBIG:
	case SQLITE_ERROR: /* of the schema: our statements are right for a schema that is */
		return tare_fail(err, TARE_E_FORMAT, "'%s' is damaged: %s", path, sqlite3_errmsg(db));
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		if (system)
			return tare_fail_errno(err, system, "cannot %s '%s'", verb, path);
		break;
	default:
		break;
	}
	return tare_fail(err, TARE_E_SYSTEM, "cannot %s '%s': %s", verb, path, sqlite3_errmsg(db));
}
