/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tuned.conf files: sections of settings, included parents first, the profile's own word last. */
#include "host/profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/tree.h"

enum { FILE_BYTES = 256 << 10, DEPTH_MAX = 8, POLICY_BYTES = 256 << 10, SETTINGS_MAX = 1024 };

struct setting {
	const char *key, *value, *origin; /* key: of the table, or a path */
	const char *path;                 /* where to read it when the table does not */
};

struct loading {
	struct host_tree tree;
	struct arena *arena;
	struct setting setting[SETTINGS_MAX];
	size_t count, lines, not_understood;
};

static const struct {
	const char *section, *name, *key;
} known[] = {
	{"vm", "transparent_hugepages", "vm.thp"},
	{"vm", "transparent_hugepage", "vm.thp"},
	{"vm", "transparent_hugepage.defrag", "vm.thp_defrag"},
	{"vm", "dirty_ratio", "vm.dirty_ratio"},
	{"vm", "dirty_background_ratio", "vm.dirty_background_ratio"},
	{"cpu", "governor", "cpu.governor"},
	{"cpu", "energy_perf_bias", "cpu.energy_bias"},
	{"cpu", "min_perf_pct", "cpu.pstate.min_pct"},
	{"cpu", "max_perf_pct", "cpu.pstate.max_pct"},
	{"cpu", "no_turbo", "cpu.pstate.no_turbo"},
	{"cpu", "boost", "cpu.boost"},
	{"cpu", "energy_performance_preference", "cpu.energy_preference"},
};

static char *trim(char *text)
{
	text += strspn(text, " \t");
	for (size_t length = strlen(text); length && isspace((unsigned char)text[length - 1]); length--)
		text[length - 1] = '\0';
	return text;
}

/* The later word replaces the earlier: parents are read first. */
static void put(struct loading *loading, const char *key, const char *path, const char *value, const char *origin)
{
	struct setting *slot = NULL;
	for (size_t i = 0; i < loading->count && !slot; i++)
		if (strcmp(loading->setting[i].key, key) == 0)
			slot = &loading->setting[i];
	if (!slot && loading->count == SETTINGS_MAX)
		return;
	const char *kept = arena_text(loading->arena, key), *text = arena_text(loading->arena, value);
	if (!kept || !text)
		return;
	if (!slot)
		slot = &loading->setting[loading->count++];
	*slot = (struct setting){kept, text, origin, path ? arena_text(loading->arena, path) : NULL};
}

static void put_path(struct loading *loading, const char *path, const char *value, const char *origin)
{
	for (size_t i = 0; i < host_key_count(); i++) {
		if (strcmp(host_key_at(i)->path, path) == 0) {
			put(loading, host_key_at(i)->name, NULL, value, origin);
			return;
		}
	}
	char key[512];
	if (strncmp(path, "/proc/sys/", 10) == 0) {
		snprintf(key, sizeof key, "%s", path + 10);
		for (char *c = key; *c; c++)
			*c = *c == '/' ? '.' : *c;
	} else {
		snprintf(key, sizeof key, "file[%s]", path);
	}
	put(loading, key, path, value, origin);
}

static void put_boot(struct loading *loading, char *value, const char *origin)
{
	/* "+isolcpus=2-7 +nohz=on": signs add to what the parents said */
	for (char *at = value, *end; *at; at = end) {
		at += strspn(at, " +\"");
		end = at + strcspn(at, " \"");
		char word[256], key[300];
		snprintf(word, sizeof word, "%.*s", (int)(end - at), at);
		char *equals = strchr(word, '=');
		if (equals)
			*equals = '\0';
		for (char *c = word; *c; c++)
			*c = *c == '-' ? '_' : *c;
		if (word[0] && host_key_text("boot[]", word, key, sizeof key))
			put(loading, key, NULL, equals ? equals + 1 : "", origin);
	}
}

static void take_setting(struct loading *loading, const char *section, char *name, char *value, const char *origin)
{
	char path[512];
	loading->lines++;
	if (strchr(value, '$')) {
		loading->not_understood++;
		return;
	}
	if (strcmp(section, "sysctl") == 0) {
		snprintf(path, sizeof path, "/proc/sys/%s", name);
		for (char *c = path + 10; *c; c++)
			*c = *c == '.' ? '/' : *c;
		put_path(loading, path, value, origin);
		return;
	}
	if (strcmp(section, "sysfs") == 0 && name[0] == '/' && !strchr(name, '*')) {
		put_path(loading, name, value, origin);
		return;
	}
	if (strcmp(section, "bootloader") == 0 && strncmp(name, "cmdline", 7) == 0) {
		put_boot(loading, value, origin);
		return;
	}
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(section, known[i].section) == 0 && strcmp(name, known[i].name) == 0) {
			put(loading, known[i].key, NULL, value, origin);
			return;
		}
	}
	loading->not_understood++;
}

static int load(struct loading *loading, const char *name, int depth, struct tare_err *err);

/* "include=network-latency, cpu-partitioning" */
static int load_parents(struct loading *loading, char *list, int depth, struct tare_err *err)
{
	for (char *at = list; *at;) {
		at += strspn(at, " ,\t");
		size_t length = strcspn(at, " ,\t");
		bool last = at[length] == '\0';
		at[length] = '\0';
		if (length && strchr(at, '$'))
			loading->not_understood++;
		else if (length && load(loading, at, depth + 1, err) < 0)
			return -1;
		if (last)
			break;
		at += length + 1;
	}
	return 0;
}

static int take_lines(
	struct loading *loading, char *text, bool parents, const char *origin, int depth, struct tare_err *err)
{
	char section[64] = "";
	for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		char *at = trim(line), *equals = strchr(at, '=');
		if (*at == '#' || *at == ';' || *at == '\0')
			continue;
		if (*at == '[') {
			snprintf(section, sizeof section, "%.*s", (int)strcspn(at + 1, "]"), at + 1);
			continue;
		}
		if (!equals)
			continue;
		*equals = '\0';
		char *value = trim(equals + 1);
		at = trim(at);
		bool of_main = strcmp(section, "main") == 0;
		if (of_main && parents && strcmp(at, "include") == 0 && load_parents(loading, value, depth, err) < 0)
			return -1;
		if (!of_main && !parents)
			take_setting(loading, section, at, value, origin);
	}
	return 0;
}

static int load(struct loading *loading, const char *name, int depth, struct tare_err *err)
{
	static const char *const folders[] = {
		"/etc/tuned", "/etc/tuned/profiles", "/usr/lib/tuned", "/usr/lib/tuned/profiles"};
	if (depth > DEPTH_MAX)
		return tare_fail(err, TARE_E_FORMAT, "the tuned profile '%s' includes itself, or %d others in turn",
			name, DEPTH_MAX);
	if (strchr(name, '/') || name[0] == '.' || strlen(name) > 100)
		return tare_fail(err, TARE_E_USAGE, "'%.100s' is no name of a tuned profile", name);
	AUTO_FREE char *text = malloc(FILE_BYTES);
	AUTO_FREE char *again = malloc(FILE_BYTES);
	const char *origin = arena_text(loading->arena, name);
	if (!text || !again || !origin)
		return tare_fail_errno(err, ENOMEM, "cannot read the tuned profile '%s'", name);
	int failure = ENOENT;
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		char path[256];
		size_t bytes;
		snprintf(path, sizeof path, "%s/%s/tuned.conf", folders[i], name);
		if (tree_read(&loading->tree, path, text, FILE_BYTES, &bytes, &failure) != HOST_OK) {
			if (failure == ENOENT)
				continue;
			return tare_fail_errno(err, failure, "cannot read '%s'", path);
		}
		memcpy(again, text, bytes + 1);
		/* parents first, then what this file says itself */
		if (take_lines(loading, again, true, origin, depth, err) < 0)
			return -1;
		return take_lines(loading, text, false, origin, depth, err);
	}
	return tare_fail(err, TARE_E_USAGE, "there is no tuned profile '%s' below /etc/tuned or /usr/lib/tuned", name);
}

/* "performance|schedutil", ">30": alternatives and bounds become rules; the value itself stays what is wanted. */
static void add_rule(struct text *policy, const struct setting *setting)
{
	char words[512];
	const char *value = setting->value + strspn(setting->value, "=");
	if (strchr(value, '|')) {
		snprintf(words, sizeof words, "%s", value);
		for (char *c = words; *c; c++)
			*c = *c == '|' ? ' ' : *c;
		text_add(policy, "%s in %s\n", setting->key, words);
	} else if (value[0] == '>' && isdigit((unsigned char)value[1])) {
		text_add(policy, "%s range %s..9223372036854775807\n", setting->key, value + 1);
	} else if (value[0] == '<' && isdigit((unsigned char)value[1])) {
		text_add(policy, "%s range -9223372036854775807..%s\n", setting->key, value + 1);
	}
}

static void add_wanted(struct loading *loading, struct host_profile *profile, struct host_snapshot *facts)
{
	for (size_t i = 0; i < loading->count; i++) {
		const struct setting *setting = &loading->setting[i];
		const struct host_key *row = host_key_of(setting->key);
		const char *plain = setting->value + strspn(setting->value, "=");
		char value[1024];
		bool unknown;
		if (!host_canonical(row && row->form != HOST_CHOICE ? row->form : HOST_TEXT, plain, value, sizeof value,
			    &unknown))
			snprintf(value, sizeof value, "%.1000s", plain);
		/* energy_perf_bias is a word for tuned and a number in sysfs */
		if (strcmp(setting->key, "cpu.energy_bias") == 0 && strcmp(value, "performance") == 0)
			snprintf(value, sizeof value, "0");
		host_snapshot_add(profile->wants, &(struct host_fact){.key = setting->key,
							  .row = row,
							  .value = value,
							  .kind = HOST_RUNTIME,
							  .source = setting->origin});
		if (!setting->path)
			continue;
		char raw[4096];
		size_t bytes;
		int failure;
		enum host_status status = tree_read(&loading->tree, setting->path, raw, sizeof raw, &bytes, &failure);
		char now[4096] = "";
		if (status == HOST_OK && !host_canonical(HOST_TEXT, raw, now, sizeof now, &unknown))
			status = HOST_MALFORMED;
		host_snapshot_add(facts, &(struct host_fact){.key = setting->key,
						 .value = now,
						 .status = status,
						 .failure = failure,
						 .kind = HOST_RUNTIME,
						 .source = setting->path});
	}
}

static int build(
	struct loading *loading, struct host_snapshot *facts, struct host_profile *profile, struct tare_err *err)
{
	AUTO_FREE char *rules = malloc(POLICY_BYTES);
	struct text policy = {.bytes = rules, .room = POLICY_BYTES};
	if (!rules)
		return tare_fail_errno(err, ENOMEM, "cannot compare with a tuned profile");
	rules[0] = '\0';
	if (host_snapshot_open(&profile->wants, err) < 0)
		return -1;
	for (size_t i = 0; i < loading->count; i++)
		add_rule(&policy, &loading->setting[i]);
	add_wanted(loading, profile, facts);
	if (host_snapshot_finish(profile->wants, err) < 0 || host_snapshot_finish(facts, err) < 0)
		return -1;
	return host_policy_parse(rules, "tuned", &profile->policy, err);
}

int host_profile_load(const char *root, const char *name, struct host_snapshot *facts, struct host_profile *ret_profile,
	struct tare_err *err)
{
	struct host_profile profile = {.wants = NULL};
	AUTO_FREE struct loading *loading = calloc(1, sizeof *loading);
	if (!loading)
		return tare_fail_errno(err, ENOMEM, "cannot read the tuned profile '%s'", name);
	loading->tree = (struct host_tree)HOST_TREE_NONE;
	int status = tree_open(root, &loading->tree, err);
	if (status == 0)
		status = arena_open((size_t)4 << 20, 0, &loading->arena, err);
	if (status == 0)
		status = load(loading, name, 0, err);
	if (status == 0)
		status = build(loading, facts, &profile, err);
	profile.lines = loading->lines;
	profile.not_understood = loading->not_understood;
	tree_close(&loading->tree);
	arena_free(loading->arena);
	if (status < 0) {
		host_profile_free(&profile);
		return -1;
	}
	*ret_profile = profile;
	return 0;
}

void host_profile_free(struct host_profile *profile)
{
	host_snapshot_free(profile->wants);
	host_policy_free(profile->policy);
	*profile = (struct host_profile){.wants = NULL};
}
