/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state folder: last inspection, approved snapshots, since when something differs. */
#include "host/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { ROLE_BYTES_MAX = 64, POLICY_BYTES_MAX = 1 << 20 };
#define LAST_NAME "last.jsonl"

static void end_json(json_t *const *json)
{
	json_decref(*json);
}
#define AUTO_JSON AUTO_CLEANUP(end_json) json_t *

static const char *folder_of(const char *asked, struct text *text)
{
	const char *state = getenv("STATE_DIRECTORY"), *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	if (asked)
		text_add(text, "%s", asked);
	else if (state && state[0])
		text_add(text, "%.*s", (int)strcspn(state, ":"), state);
	else if (geteuid() == 0)
		text_add(text, "/var/lib/tare");
	else if (xdg && xdg[0] == '/')
		text_add(text, "%s/tare", xdg);
	else if (home && home[0] == '/')
		text_add(text, "%s/.local/state/tare", home);
	return text->used && !text->cut ? text->bytes : NULL;
}

static int make_folders(char *path, struct tare_err *err)
{
	for (char *at = path + 1;; at++) {
		if (*at != '/' && *at != '\0')
			continue;
		char kept = *at;
		*at = '\0';
		int status = mkdir(path, 0755);
		int failure = errno;
		if (status < 0 && failure != EEXIST) {
			tare_fail_errno(err, failure, "cannot make the folder '%s'", path);
			*at = kept;
			return -1;
		}
		*at = kept;
		if (kept == '\0')
			return 0;
	}
}

int host_store_open(const char *asked, bool make, struct host_store *ret_store, struct tare_err *err)
{
	struct host_store store = {.folder = ""};
	struct text text = TEXT_IN(store.folder);
	if (!folder_of(asked, &text))
		return tare_fail(err, TARE_E_USAGE, "no folder to keep inspections in: give --state FOLDER");
	if (make && make_folders(store.folder, err) < 0)
		return -1;
	*ret_store = store;
	return 0;
}

static int path_of(
	const struct host_store *store, const char *name, const char *ending, char *path, struct tare_err *err)
{
	struct text text = {.bytes = path, .room = HOST_STORE_PATH_BYTES};
	text_add(&text, "%s/%s%s", store->folder, name, ending);
	return text.cut ? tare_fail(err, TARE_E_USAGE, "the folder '%s' has too long a name", store->folder) : 0;
}

static int check_role(const char *role, struct tare_err *err)
{
	size_t length = strlen(role);
	size_t good = strspn(role, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.");
	if (length == 0 || length > ROLE_BYTES_MAX || good != length || role[0] == '.' || strcmp(role, "last") == 0)
		return tare_fail(err, TARE_E_USAGE,
			"'%.64s' is no name for an approved snapshot: letters, digits, '-', '_' and '.', not 'last'",
			role);
	return 0;
}

int host_store_last(const struct host_store *store, struct host_snapshot **ret_snapshot, struct tare_err *err)
{
	char path[HOST_STORE_PATH_BYTES];
	if (path_of(store, LAST_NAME, "", path, err) < 0)
		return -1;
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	return host_snapshot_load(path, ret_snapshot, err) < 0 ? -1 : 1;
}

int host_store_keep(const struct host_store *store, const struct host_snapshot *snapshot, struct tare_err *err)
{
	char path[HOST_STORE_PATH_BYTES];
	if (path_of(store, LAST_NAME, "", path, err) < 0)
		return -1;
	return host_snapshot_save(snapshot, path, 0644, err);
}

/* An approved snapshot is never overwritten: it moves aside under its time. */
static int move_aside(const struct host_store *store, const char *role, const char *path, struct tare_err *err)
{
	char aside[HOST_STORE_PATH_BYTES], ending[80];
	struct host_snapshot *old = NULL;
	struct tm utc;
	int64_t at_ns = 0;
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (host_snapshot_load(path, &old, NULL) == 0) {
		at_ns = old->header.approved_ns;
		host_snapshot_free(old);
	}
	time_t seconds = (time_t)(at_ns / 1000000000);
	if (!gmtime_r(&seconds, &utc) || strftime(ending, sizeof ending, "@%Y%m%dT%H%M%SZ.jsonl", &utc) == 0)
		snprintf(ending, sizeof ending, "@%" PRId64 ".jsonl", at_ns);
	if (path_of(store, role, ending, aside, err) < 0)
		return -1;
	/* several within a second: none may be lost */
	for (int i = 2; link(path, aside) < 0; i++) {
		if (errno != EEXIST || i > 1000)
			return tare_fail_errno(err, errno, "cannot keep the earlier approval as '%s'", aside);
		char numbered[96];
		snprintf(numbered, sizeof numbered, "%.*s-%d.jsonl", (int)(strlen(ending) - 6), ending, i);
		if (path_of(store, role, numbered, aside, err) < 0)
			return -1;
	}
	return 0;
}

int host_store_approve(const struct host_store *store, const char *role, struct host_snapshot *snapshot,
	const char *who, const char *why, struct tare_err *err)
{
	char path[HOST_STORE_PATH_BYTES];
	struct timespec now = {0};
	if (check_role(role, err) < 0 || path_of(store, role, ".jsonl", path, err) < 0 ||
		move_aside(store, role, path, err) < 0)
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	snapshot->header.approved = arena_text(snapshot->arena, role);
	snapshot->header.by = arena_text(snapshot->arena, who ? who : "?");
	snapshot->header.why = arena_text(snapshot->arena, why ? why : "");
	snapshot->header.approved_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	return host_snapshot_save(snapshot, path, 0444, err);
}

static bool is_file_name(const char *text)
{
	size_t length = strlen(text);
	return strchr(text, '/') || (length > 6 && strcmp(text + length - 6, ".jsonl") == 0);
}

int host_store_approved(
	const struct host_store *store, const char *role, struct host_snapshot **ret_snapshot, struct tare_err *err)
{
	char path[HOST_STORE_PATH_BYTES];
	if (is_file_name(role))
		return host_snapshot_load(role, ret_snapshot, err);
	if (check_role(role, err) < 0 || path_of(store, role, ".jsonl", path, err) < 0)
		return -1;
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return tare_fail(err, TARE_E_USAGE, "nothing was approved as '%s' in '%s' (tare inspect --approve %s)",
			role, store->folder, role);
	return host_snapshot_load(path, ret_snapshot, err);
}

static void close_dir(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}

int host_store_only_role(const struct host_store *store, char *role, size_t room, struct tare_err *err)
{
	AUTO_CLEANUP(close_dir) DIR *dir = opendir(store->folder);
	int found = 0;
	if (!dir)
		return errno == ENOENT ? 0 : tare_fail_errno(err, errno, "cannot read the folder '%s'", store->folder);
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		size_t length = strlen(entry->d_name);
		if (length <= 6 || strcmp(entry->d_name + length - 6, ".jsonl") != 0 || strchr(entry->d_name, '@') ||
			strcmp(entry->d_name, LAST_NAME) == 0)
			continue;
		if (found++ == 0)
			snprintf(role, room, "%.*s", (int)(length - 6), entry->d_name);
	}
	if (found > 1)
		return tare_fail(err, TARE_E_USAGE, "'%s' holds %d approved snapshots: say which with --against NAME",
			store->folder, found);
	return found;
}

/* The text of a small file; NULL with *ret_missing when there is none. */
static char *small_file(const char *path, bool *ret_missing, struct tare_err *err)
{
	*ret_missing = false;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		*ret_missing = errno == ENOENT;
		tare_fail_errno(err, errno, "cannot open '%s'", path);
		return NULL;
	}
	char *text = malloc(POLICY_BYTES_MAX + 1);
	size_t used = 0;
	for (ssize_t got; text && used < POLICY_BYTES_MAX; used += (size_t)got) {
		got = read(fd, text + used, POLICY_BYTES_MAX - used);
		if (got == 0)
			break;
		if (got < 0) {
			tare_fail_errno(err, errno, "cannot read '%s'", path);
			free(text);
			return NULL;
		}
	}
	if (text)
		text[used] = '\0';
	else
		tare_fail_errno(err, ENOMEM, "cannot read '%s'", path);
	return text;
}

int host_store_policy(
	const struct host_store *store, const char *role, struct host_policy **ret_policy, struct tare_err *err)
{
	char path[HOST_STORE_PATH_BYTES];
	bool missing;
	if (is_file_name(role))
		return host_policy_parse("", role, ret_policy, err);
	if (check_role(role, err) < 0 || path_of(store, role, ".policy", path, err) < 0)
		return -1;
	AUTO_FREE char *text = small_file(path, &missing, err);
	if (!text && !missing)
		return -1;
	return host_policy_parse(text ? text : "", path, ret_policy, err);
}

int host_store_since(const struct host_store *store, const char *role, struct host_differences *differences,
	int64_t previous_ns, bool write, struct tare_err *err)
{
	char path[HOST_STORE_PATH_BYTES], beside[HOST_STORE_PATH_BYTES + 8];
	bool missing;
	if (is_file_name(role))
		return 0;
	if (path_of(store, role, ".since", path, err) < 0)
		return -1;
	AUTO_FREE char *text = small_file(path, &missing, err);
	/* a damaged file only loses the memory of when: it is written anew */
	AUTO_JSON known = text ? json_loads(text, 0, NULL) : NULL;
	AUTO_JSON kept = json_object();
	for (size_t i = 0; i < differences->count; i++) {
		struct host_difference *row = &differences->row[i];
		const json_t *at = json_is_object(known) ? json_object_get(known, row->key) : NULL;
		row->matched_ns = json_is_integer(at) ? (int64_t)json_integer_value(at) : previous_ns;
		json_object_set_new(kept, row->key, json_integer(row->matched_ns));
	}
	if (!write)
		return 0;
	snprintf(beside, sizeof beside, "%s.new", path);
	if (json_dump_file(kept, beside, JSON_SORT_KEYS | JSON_INDENT(1)) < 0 || rename(beside, path) < 0)
		return tare_fail_errno(err, errno, "cannot write '%s'", path);
	return 0;
}
