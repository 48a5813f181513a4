/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A text file that people may read and delete; a line is "SECONDS FIGURE VERDICT SIGN ROUNDS". */
#include "cli/null_tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "tare/interval.h"

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

struct tally { uint64_t all, effects, worse, invalid; };

static struct tally count_lines(FILE *file)
{
	struct tally tally = {0};
	char line[256], word[32];
	int sign;
	while (fgets(line, sizeof line, file)) {
		if (sscanf(line, "%*s %*s %31s %d", word, &sign) != 2)
			continue;
		if (strcmp(word, "invalid") == 0) {
			tally.invalid++;
			continue;
		}
		tally.all++;
		if (strcmp(word, "effect") == 0) {
			tally.effects++;
			tally.worse += sign > 0;
		}
	}
	return tally;
}

int null_tally_add(const struct tare_verdict *verdict, char *ret_note, size_t room, struct tare_err *err)
{
	char path[4096];
	if (state_path("null-verdicts", path, sizeof path, err) < 0)
		return -1;
	AUTO_FILE file = fopen(path, "a+e");
	if (!file)
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	fprintf(file, "%lld %s %s %d %llu\n", (long long)time(NULL), verdict->figure.name, tare_verdict_name(verdict->kind),
		verdict->effect > 0 ? 1 : -1, (unsigned long long)(verdict->rounds_a + verdict->rounds_b));
	if (fflush(file) || fseek(file, 0, SEEK_SET))
		return tare_fail_errno(err, errno, "cannot write '%s'", path);
	struct tally tally = count_lines(file);
	struct tare_bounds bounds = tare_share_interval(tally.effects, tally.all, 0.95);
	struct text text = {.bytes = ret_note, .room = room};
	text_add(&text, "null verdicts of this user so far: %llu effect%s in %llu", (unsigned long long)tally.effects,
		tally.effects == 1 ? "" : "s", (unsigned long long)tally.all);
	if (tally.all)
		text_add(&text, ", %.1f %% (95 %% %.1f to %.1f)",
			100 * (double)tally.effects / (double)tally.all, 100 * bounds.low, 100 * bounds.high);
	if (tally.effects)
		text_add(&text, ", %llu of them worse", (unsigned long long)tally.worse);
	return 0;
}
