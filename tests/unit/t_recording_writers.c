/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recordings and the system: two writers, a writer killed at any instant,
 * readers beside it, read-only places, full disks. Nothing here depends on
 * timing: a kill may come when it likes, what must hold holds at every instant.
 */
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "recording_data.h"

enum { SEED = 3, SAMPLES = 5000, KILLS = 12, NOBODY = 65534 };

static char *folder;
static char path[512];

/* Runs `job` in a child; its exit status, or -1 when it was killed. */
static int in_child(int (*job)(void))
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		/* The checks of the child are told by its exit status alone. */
		int status = job();
		fflush(stderr);
		_exit(status);
	}
	int status = 0;
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static uint64_t readable(const char *file, uint64_t *ret_wrong, struct tare_err *err)
{
	struct tare_recording *recording = NULL;
	const struct tare_record *record;
	struct fake fake = fake_make(FAKE_USER, SAMPLES, SEED, 1000, 1000000);
	struct tare_series made = fake_series(&fake);
	uint64_t samples = 0;
	int next = -1;

	*ret_wrong = 0;
	if (tare_recording_open(file, false, &recording, err) == 0) {
		while ((next = tare_recording_next(recording, &record, err)) == 1) {
			samples += record->series.count;
			*ret_wrong += !fake_same(&record->series, &made);
		}
	}
	tare_recording_free(recording);
	fake_free(&fake);
	return next == 0 ? samples : UINT64_MAX;
}

/* ---- two writers ---- */

static int second_writer(void)
{
	struct tare_writer *writer = NULL;
	struct tare_err err = {0};
	char want[64];

	snprintf(want, sizeof(want), "is being written by pid %d", (int)getppid());
	if (tare_writer_open(path, TARE_APPEND, &writer, &err) == 0)
		return 1;
	if (!strstr(err.text, want) || tare_recording_writer(path) != getppid())
		return 2;
	return 0;
}

static void test_two_writers(void)
{
	struct tare_writer *writer = NULL, *other = NULL;
	struct tare_err err = {0};

	IS_I64(tare_recording_writer(path), 0, "no one writes a file that is not there");
	MUST(tare_writer_open(path, TARE_CREATE, &writer, &err));
	IS_I64(in_child(second_writer), 0, "a second process is refused and told who writes");
	OK(tare_writer_open(path, TARE_APPEND, &other, &err) < 0 && strstr(err.text, "is being written by pid"),
		"so is a second writer in this one: %s", err.text);
	IS_I64(tare_recording_writer(path), getpid(), "who writes can be asked");
	MUST(tare_writer_close(&writer, &err));
	IS_I64(tare_recording_writer(path), 0, "no one writes a closed one");
	MUST(tare_writer_open(path, TARE_APPEND, &writer, &err));
	MUST(tare_writer_close(&writer, &err));
	unlink(path);
}

/* ---- readers beside a writer, and a writer killed ---- */

static void write_rounds(int told_fd)
{
	struct tare_writer *writer = NULL;
	struct tare_err err = {0};
	struct tare_run run = {.tool = "tare test", .spool = "/dev/shm/none"};
	struct tare_target target = {.url = "icmp://x", .kind = "icmp"};
	struct fake fake = fake_make(FAKE_USER, SAMPLES, SEED, 1000, 1000000);
	uint8_t rounds = 0;

	if (tare_writer_open(path, TARE_APPEND, &writer, &err) < 0 ||
		tare_writer_begin_run(writer, &run, &target, 1, NULL, 0, &err) < 0)
		_exit(1);
	while (rounds < 250 && fake_round(writer, &run, &target, rounds + 1U, &fake, 1000000, &err) == 0) {
		rounds++;
		if (write(told_fd, &rounds, 1) != 1)
			_exit(1);
	}
	_exit(1);
}

/* Starts a writer, reads while it writes, kills it; the rounds it told of as durable. */
static int killed_writer(uint64_t *state, bool read_beside)
{
	int pipes[2];
	uint8_t rounds = 0, told;
	uint64_t wrong;
	struct tare_err err = {0};

	if (pipe(pipes) < 0)
		return -1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		close(pipes[0]);
		write_rounds(pipes[1]);
	}
	close(pipes[1]);
	int until = 1 + (int)(fake_draw(state) % 3);
	while (rounds < until && read(pipes[0], &told, 1) == 1) {
		rounds = told;
		if (read_beside) {
			uint64_t samples = readable(path, &wrong, &err);
			OK(samples != UINT64_MAX && samples >= (uint64_t)rounds * SAMPLES && wrong == 0,
				"read beside a writer: %llu samples after round %d", (unsigned long long)samples,
				rounds);
		}
	}
	struct timespec wait = {0, (long)(fake_draw(state) % 12000000)};
	nanosleep(&wait, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	while (read(pipes[0], &told, 1) == 1)
		rounds = told;
	close(pipes[0]);
	return rounds;
}

static void test_kill(void)
{
	struct tare_err err = {0};
	uint64_t state = SEED, wrong;
	int bad = 0, with_journal = 0, unresumed = 0;
	char journal[600];

	snprintf(journal, sizeof(journal), "%s-journal", path);
	for (int i = 0; i < KILLS; i++) {
		int rounds = killed_writer(&state, i == 0);
		with_journal += access(journal, F_OK) == 0;
		uint64_t samples = readable(path, &wrong, &err);
		if (samples == UINT64_MAX || samples < (uint64_t)rounds * SAMPLES || wrong) {
			printf("# after %d rounds: %llu samples, %llu wrong: %s\n", rounds, (unsigned long long)samples,
				(unsigned long long)wrong, err.text);
			bad++;
		}
		struct tare_writer *writer = NULL;
		if (tare_writer_open(path, TARE_RESUME, &writer, &err) < 0 ||
			tare_writer_end_run(writer, 1, TARE_RUN_INTERRUPTED, &err) < 0)
			unresumed++;
		tare_writer_free(writer);
		unresumed += readable(path, &wrong, &err) != samples || access(journal, F_OK) == 0;
		unlink(path);
	}
	IS_I64(bad, 0, "killed at any instant: the file opens and every round told of is there");
	IS_I64(unresumed, 0, "and its run can be ended");
	printf("# %d of %d kills left a journal behind\n", with_journal, KILLS);
}

/* ---- a journal left behind, also where nothing can be written ---- */

static int leave_journal(void)
{
	struct tare_writer *writer = NULL;
	struct tare_err err = {0};
	struct tare_run run = {.tool = "tare test"};
	struct tare_target target = {.url = "icmp://x", .kind = "icmp"};
	struct fake fake = fake_make(FAKE_USER, SAMPLES, SEED, 1000, 1000000);
	struct fake large = fake_make(FAKE_WILD, 300000, SEED, 0, 0);
	struct rlimit limit = {8 << 20, 8 << 20};

	if (tare_writer_open(path, TARE_CREATE, &writer, &err) < 0 ||
		tare_writer_begin_run(writer, &run, &target, 1, NULL, 0, &err) < 0 ||
		fake_round(writer, &run, &target, 1, &fake, 1000000, &err) < 0)
		return 1;
	/* SIGXFSZ kills in the middle of the transaction, when the cache has spilled 8 MiB into the file. */
	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_FSIZE, &limit);
	limit = (struct rlimit){0, 0};
	setrlimit(RLIMIT_CORE, &limit);
	return fake_round(writer, &run, &target, 2, &large, 0, &err) < 0 ? 2 : 3;
}

static int read_as_nobody(void)
{
	struct tare_err err = {0};
	uint64_t wrong;

	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
		return 77;
	if (access(folder, W_OK) == 0)
		return 77;
	uint64_t samples = readable(path, &wrong, &err);
	if (samples != SAMPLES || wrong)
		fprintf(stderr, "# %llu samples: %s\n", (unsigned long long)samples, err.text);
	return samples == SAMPLES && !wrong ? 0 : 1;
}

static void test_journal(void)
{
	struct stat before, after;
	char journal[600];

	snprintf(journal, sizeof(journal), "%s-journal", path);
	IS_I64(in_child(leave_journal), -1, "a writer killed in mid-transaction");
	OK(access(journal, F_OK) == 0 && stat(path, &before) == 0 && before.st_size >= 1 << 20,
		"leaves a journal and half a round");
	struct tare_err err = {0};
	uint64_t wrong;
	IS_I64(readable(path, &wrong, &err), SAMPLES, "what was there before is read");
	OK(stat(path, &after) == 0 && after.st_size == before.st_size && after.st_mtime == before.st_mtime &&
			access(journal, F_OK) == 0,
		"without touching the file");

	chmod(path, 0444);
	chmod(journal, 0444);
	chmod(folder, 0555);
	int status = in_child(read_as_nobody);
	chmod(folder, 0755);
	chmod(path, 0644);
	chmod(journal, 0644);
	if (status == 77)
		SKIP(1, "a folder that cannot be written could not be had");
	else
		IS_I64(status, 0, "also from a read-only folder");

	/* A journal that names a further file: SQLite would delete that. */
	AUTO_FD fd = open(journal, O_WRONLY | O_APPEND | O_CLOEXEC);
	static const uint8_t magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	OK(fd >= 0 && write(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic), "a journal with a further name");
	struct tare_writer *writer = NULL;
	OK(readable(path, &wrong, &err) == UINT64_MAX && strstr(err.text, "names a further file"),
		"is not followed: %s", err.text);
	OK(tare_writer_open(path, TARE_RESUME, &writer, &err) < 0 && strstr(err.text, "names a further file"),
		"nor by a writer");
	unlink(journal);
	unlink(path);
}

/* ---- places that cannot be written ---- */

static int write_as_nobody(void)
{
	struct tare_writer *writer = NULL;
	struct tare_err err = {0};
	char other[600];
	uint64_t wrong;

	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
		return 77;
	snprintf(other, sizeof(other), "%s.new", path);
	if (access(folder, W_OK) == 0)
		return 77;
	if (tare_writer_open(other, TARE_CREATE, &writer, &err) == 0 || err.code != TARE_E_PERMISSION ||
		!strstr(err.text, "cannot create") || !strstr(err.text, "Permission denied"))
		return 1;
	/* The file may be written, the folder may not: there is no place for the journal. */
	if (tare_writer_open(path, TARE_APPEND, &writer, &err) == 0) {
		struct tare_run run = {.tool = "tare test"};
		if (tare_writer_begin_run(writer, &run, NULL, 0, NULL, 0, &err) == 0)
			return 2;
		tare_writer_free(writer);
	}
	if (!strstr(err.text, "Permission denied"))
		return 3;
	return readable(path, &wrong, &err) == SAMPLES ? 0 : 4;
}

static void test_read_only(void)
{
	struct tare_writer *writer = NULL;
	struct tare_err err = {0};
	char missing[600];

	snprintf(missing, sizeof(missing), "%s/no/such/x.tare", folder);
	OK(tare_writer_open(missing, TARE_CREATE, &writer, &err) < 0 && err.code == TARE_E_SYSTEM &&
			strstr(err.text, "cannot create") && strstr(err.text, "No such file or directory"),
		"a missing folder: %s", err.text);
	OK(tare_writer_open(folder, TARE_APPEND, &writer, &err) < 0 && strstr(err.text, "Is a directory"),
		"a folder: %s", err.text);
	fake_recording(path, FAKE_USER, 1, SAMPLES, SEED);
	chmod(path, 0666);
	chmod(folder, 0555);
	int status = in_child(write_as_nobody);
	chmod(folder, 0755);
	if (status == 77)
		SKIP(1, "a folder that cannot be written could not be had");
	else
		IS_I64(status, 0, "a read-only folder: refused with the system's reason, and readable");
	unlink(path);
}

/* ---- no room ---- */

/* Rounds until it fails; 0 when the sentence names `reason` and everything before can be read. */
static int fill(const char *reason)
{
	struct tare_writer *writer = NULL;
	struct tare_err err = {0};
	struct tare_run run = {.tool = "tare test"};
	struct tare_target target = {.url = "icmp://x", .kind = "icmp"};
	struct fake fake = fake_make(FAKE_USER, SAMPLES, SEED, 1000, 1000000);
	uint64_t rounds = 0, wrong;

	if (tare_writer_open(path, TARE_CREATE, &writer, &err) < 0 ||
		tare_writer_begin_run(writer, &run, &target, 1, NULL, 0, &err) < 0)
		return 2;
	while (rounds < 1000 && fake_round(writer, &run, &target, (uint32_t)rounds + 1, &fake, 1000000, &err) == 0)
		rounds++;
	fprintf(stderr, "# after %llu rounds: %s\n", (unsigned long long)rounds, err.text);
	if (rounds == 0 || rounds == 1000 || !strstr(err.text, reason) || !strstr(err.text, path))
		return 3;
	/* A second try fails the same way, and does no harm. */
	if (fake_round(writer, &run, &target, 1001, &fake, 1000000, &err) == 0)
		return 4;
	tare_writer_free(writer);
	return readable(path, &wrong, &err) == rounds * SAMPLES && wrong == 0 ? 0 : 5;
}

static int fill_limited(void)
{
	struct rlimit limit = {200000, 200000};

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	return fill("File too large");
}

static int fill_disk(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("tare-test", folder, "tmpfs", 0, "size=400k") < 0)
		return 77;
	return fill("No space left on device");
}

static void test_full(void)
{
	IS_I64(in_child(fill_limited), 0, "a file that may not grow: the reason told, the rounds before kept");
	unlink(path);
	int status = in_child(fill_disk);
	if (status == 77)
		SKIP(1, "no small file system could be mounted");
	else
		IS_I64(status, 0, "a full disk: the reason told, the rounds before kept");
}

int main(void)
{
	printf("# seed %d\n", SEED);
	folder = fake_folder();
	chmod(folder, 0755);
	snprintf(path, sizeof(path), "%s/x.tare", folder);
	test_two_writers();
	test_kill();
	test_journal();
	test_read_only();
	test_full();
	rmdir(folder);
	return tap_done();
}
