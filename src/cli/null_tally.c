/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A text file that people may read and delete; a line is "SECONDS FIGURE VERDICT SIGN ROUNDS INTERVAL-NS TARGET".
 * A bench is a target at a rate: a noisy path must not hide behind a quiet one. Lines without the last two are of
 * an earlier tare and count for the user only.
 */
#include "cli/null_tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "tare/interval.h"

/* A target is as long as a host name and some. */
enum { BENCH_BYTES = 512 };

static int make_folders(char *path, size_t from, struct tare_err *err)
{
	for (char *at = path + from; (at = strchr(at + 1, '/'));) {
		*at = '\0';
		int status = mkdir(path, 0700);
		int why = errno;
		if (status < 0 && why != EEXIST) {
			tare_fail_errno(err, why, "cannot make the folder '%s'", path);
			*at = '/';
			return -1;
		}
		*at = '/';
	}
	return 0;
}

int state_path(const char *name, char *ret_path, size_t room, struct tare_err *err)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	struct text text = {.bytes = ret_path, .room = room};
	bool given = state && state[0] == '/';
	if (!given && !(home && home[0] == '/'))
		return tare_fail(err, TARE_E_SYSTEM, "neither XDG_STATE_HOME nor HOME names a folder");
	text_add(&text, "%s%s", given ? state : home, given ? "" : "/.local/state");
	text_add(&text, "/tare/%s", name);
	if (text.cut)
		return tare_fail(err, TARE_E_SYSTEM, "the path of the state folder is too long");
	return make_folders(ret_path, strlen(given ? state : home) - (given ? 1 : 0), err);
}

struct tally { uint64_t all, effects, worse; };

static void count_verdict(struct tally *tally, const char *word, int sign)
{
	if (strcmp(word, "invalid") == 0)
		return;
	tally->all++;
	if (strcmp(word, "effect") == 0) {
		tally->effects++;
		tally->worse += sign > 0;
	}
}

static void count_lines(FILE *file, const char *bench, struct tally *ret_bench, struct tally *ret_user)
{
	char line[BENCH_BYTES + 128], word[32];
	int sign, at = 0;
	while (fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*s %*s %31s %d %*s %n", word, &sign, &at) != 2)
			continue;
		count_verdict(ret_user, word, sign);
		if (at > 0 && strcmp(line + at, bench) == 0)
			count_verdict(ret_bench, word, sign);
		at = 0;
	}
}

/* "1000000 stamp://10.0.0.2"; blanks in what came from a file would end the word. */
static void name_bench(const struct tare_trial *trial, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	text_add(&text, "%lld %s", (long long)trial->interval_ns, trial->url[0] ? trial->url : "?");
	for (char *at = strchr(buffer, ' ') + 1; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 127)
			*at = '_';
}

static void say(struct text *text, const char *of, const struct tally *tally)
{
	struct tare_bounds bounds = tare_share_interval(tally->effects, tally->all, 0.95);
	text_add(text, "%s: %llu effect%s in %llu", of, (unsigned long long)tally->effects, tally->effects == 1 ? "" : "s",
		(unsigned long long)tally->all);
	if (tally->all)
		text_add(text, ", %.1f %% (95 %% %.1f to %.1f)", 100 * (double)tally->effects / (double)tally->all,
			100 * bounds.low, 100 * bounds.high);
	if (tally->effects)
		text_add(text, ", %llu of them worse", (unsigned long long)tally->worse);
}

int null_tally_add(const struct tare_verdict *verdict, const struct tare_trial *trial, char *ret_note, size_t room,
	struct tare_err *err)
{
	char path[4096], bench[BENCH_BYTES];
	if (state_path("null-verdicts", path, sizeof path, err) < 0)
		return -1;
	AUTO_FILE file = fopen(path, "a+e");
	if (!file)
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	name_bench(trial, bench, sizeof bench);
	fprintf(file, "%lld %s %s %d %llu %s\n", (long long)time(NULL), verdict->figure.name, tare_verdict_name(verdict->kind),
		verdict->effect > 0 ? 1 : -1, (unsigned long long)(verdict->rounds_a + verdict->rounds_b), bench);
	if (fflush(file) || fseek(file, 0, SEEK_SET))
		return tare_fail_errno(err, errno, "cannot write '%s'", path);
	struct tally here = {0}, user = {0};
	count_lines(file, bench, &here, &user);
	struct text text = {.bytes = ret_note, .room = room};
	say(&text, "null verdicts of this bench so far", &here);
	if (user.all > here.all)
		say(&text, "; of all benches of this user", &user);
	return 0;
}
