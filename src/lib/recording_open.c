/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening a recording for reading, whoever made it and whatever happened to it.
 * The file is looked at only through SQLite's own descriptor: closing another
 * one would end the locks of a writer in the same process. A journal left by a
 * killed writer must be rolled back before reading, which needs write access and
 * would change a file that the user only asked to read: so it happens in a
 * private copy.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "lib/recording_read.h"

/*
 * Ten steps a byte and ten million more: reading all of a sound file takes one or two
 * a byte, a crafted tree of pages can ask for 340^19.
 */
static int count_steps(void *context)
{
	struct tare_recording *recording = context;
	return ++recording->steps > recording->steps_most;
}

/* What SQLite sees of the file: size and first bytes. */
static int look(struct tare_recording *recording, uint8_t head[RECORDING_HEAD_BYTES], struct tare_err *err)
{
	sqlite3_file *file = NULL;
	sqlite3_int64 size = 0;

	sqlite3_file_control(recording->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	if (!file || !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
		return recording_fail(recording->db, "read", recording->path, err);
	/* The tail of a short file reads as zeros. */
	int result = file->pMethods->xRead(file, head, RECORDING_HEAD_BYTES, 0);
	if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ)
		return tare_fail(err, TARE_E_SYSTEM, "cannot read '%s'", recording->path);
	recording->file_bytes = (uint64_t)size;
	recording->steps_most = 1000 + recording->file_bytes / 1000;
	return 0;
}

int recording_refresh_size(struct tare_recording *recording, struct tare_err *err)
{
	uint8_t head[RECORDING_HEAD_BYTES] = {0};
	return look(recording, head, err);
}

static int connect_to(struct tare_recording *recording, const char *path, int flags, struct tare_err *err)
{
	AUTO_FREE char *sqlite_path = recording_sqlite_path(path);
	uint8_t head[RECORDING_HEAD_BYTES] = {0};

	if (!sqlite_path)
		return tare_fail_errno(err, ENOMEM, "cannot open '%s'", recording->path);
	sqlite3_close_v2(recording->db);
	recording->db = NULL;
	if (sqlite3_open_v2(sqlite_path, &recording->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return recording_fail(recording->db, "open", recording->path, err);
	if (look(recording, head, err) < 0)
		return -1;
	size_t bytes = recording->file_bytes < sizeof(head) ? (size_t)recording->file_bytes : sizeof(head);
	if (recording_head_check(recording->path, head, bytes, err) < 0 ||
		recording_connection(recording->db, recording->path, err) < 0)
		return -1;
	sqlite3_progress_handler(recording->db, 10000, count_steps, recording);
	/* In this state SQLite reads what is there of a file shorter than its head says, instead of nothing. */
	if (recording->lenient)
		sqlite3_exec(recording->db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
	return recording_exec(recording->db, "open", recording->path, "PRAGMA cell_size_check = ON", err);
}

/* ---- a journal left behind ---- */

static int copy_file(const char *from, const char *to, struct tare_err *err)
{
	AUTO_FD in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return tare_fail_errno(err, errno, "cannot open '%s'", from);
	AUTO_FD out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return tare_fail_errno(err, errno, "cannot create '%s'", to);
	AUTO_FREE char *buffer = malloc(1 << 20);
	if (!buffer)
		return tare_fail_errno(err, ENOMEM, "cannot copy '%s'", from);
	for (;;) {
		ssize_t got = read(in, buffer, 1 << 20);
		if (got < 0)
			return tare_fail_errno(err, errno, "cannot read '%s'", from);
		if (got == 0)
			return 0;
		for (ssize_t done = 0; done < got;) {
			ssize_t wrote = write(out, buffer + done, (size_t)(got - done));
			if (wrote < 0)
				return tare_fail_errno(err, errno, "cannot write '%s'", to);
			done += wrote;
		}
	}
}

/* Copies file and journal, and opens the copy for writing, which rolls it back; the names are gone afterwards. */
static int roll_back_into(struct tare_recording *recording, const char *folder, struct tare_err *err)
{
	AUTO_FREE char *journal = NULL, *copy = NULL, *copy_journal = NULL;

	if (asprintf(&journal, "%s-journal", recording->path) < 0 || asprintf(&copy, "%s/copy", folder) < 0 ||
		asprintf(&copy_journal, "%s/copy-journal", folder) < 0)
		return tare_fail_errno(err, ENOMEM, "cannot open '%s'", recording->path);
	int status = copy_file(recording->path, copy, err);
	if (status == 0)
		status = copy_file(journal, copy_journal, err);
	if (status == 0)
		status = connect_to(recording, copy, SQLITE_OPEN_READWRITE, err);
	if (status == 0)
		status = recording_exec(
			recording->db, "read", recording->path, "SELECT 1 FROM sqlite_master LIMIT 1", err);
	unlink(copy);
	unlink(copy_journal);
	return status;
}

static int roll_back_copy(struct tare_recording *recording, struct tare_err *err)
{
	const char *base = getenv("TMPDIR");
	AUTO_FREE char *folder = NULL;

	if (recording_journal_check(recording->path, err) < 0)
		return -1;
	if (asprintf(&folder, "%s/tare-XXXXXX", base && base[0] == '/' ? base : "/tmp") < 0)
		return tare_fail_errno(err, ENOMEM, "cannot open '%s'", recording->path);
	if (!mkdtemp(folder))
		return tare_fail_errno(
			err, errno, "cannot make a folder '%s' to roll back '%s' in", folder, recording->path);
	int status = roll_back_into(recording, folder, err);
	rmdir(folder);
	return status;
}

/* ---- open ---- */

/* A file shorter than its head says. Asked under a read lock: a writer grows both at once. */
static int check_size(struct tare_recording *recording, struct tare_err *err)
{
	uint8_t head[RECORDING_HEAD_BYTES] = {0};

	if (look(recording, head, err) < 0)
		return -1;
	struct recording_head said = recording_head_of(head);
	uint64_t should = (uint64_t)said.pages * said.page_bytes;
	if (recording->file_bytes >= should)
		return 0;
	recording->cut_off = true;
	if (recording->lenient)
		return 0;
	return tare_fail(err, TARE_E_FORMAT, "'%s' is cut off: %llu of %llu bytes are there", recording->path,
		(unsigned long long)recording->file_bytes, (unsigned long long)should);
}

int recording_open_database(struct tare_recording *recording, struct tare_err *err)
{
	struct stat stat_buffer;

	/* Before opening: a FIFO would hold us up, and a folder opens like a file. */
	if (stat(recording->path, &stat_buffer) < 0)
		return tare_fail_errno(err, errno, "cannot open '%s'", recording->path);
	if (S_ISDIR(stat_buffer.st_mode))
		return tare_fail_errno(err, EISDIR, "cannot open '%s'", recording->path);
	if (!S_ISREG(stat_buffer.st_mode))
		return tare_fail(err, TARE_E_FORMAT, "'%s' is not a regular file", recording->path);
	if (connect_to(recording, recording->path, SQLITE_OPEN_READONLY, err) < 0)
		return -1;

	int result = sqlite3_exec(recording->db, "BEGIN; SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
	if (result != SQLITE_OK && sqlite3_extended_errcode(recording->db) == SQLITE_READONLY_ROLLBACK) {
		if (roll_back_copy(recording, err) < 0)
			return -1;
		result = sqlite3_exec(recording->db, "BEGIN; SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
	}
	if (result != SQLITE_OK) {
		(void)recording_fail(recording->db, "read", recording->path, err);
		if ((result & 0xff) != SQLITE_CORRUPT)
			return -1;
		/* A better sentence, if that is the reason. */
		(void)check_size(recording, err);
		return -1;
	}
	if (check_size(recording, err) < 0)
		return -1;
	return recording_schema_check(recording->db, recording->path, &recording->version, err);
}
