/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drift, services that change things, the next boot, clocks, and what could not be read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "host/rules.h"

static void time_text(int64_t real_ns, char *buffer, size_t room)
{
	time_t seconds = (time_t)(real_ns / 1000000000);
	struct tm utc;
	if (!gmtime_r(&seconds, &utc) || strftime(buffer, room, "%Y-%m-%d %H:%M:%S UTC", &utc) == 0)
		snprintf(buffer, room, "?");
}

/* What may have done it, as far as the two snapshots tell. */
static const char *actor_of(const struct judging *judging, const char *key)
{
	const struct host_view *view = judging->view;
	char instance[300];
	if (!view->was)
		return "";
	if (view->deltas && view->deltas->rebooted)
		return "; the host was rebooted since the last inspection";
	if (strncmp(key, "nic[", 4) == 0 || strncmp(key, "queue[", 6) == 0) {
		host_key_instance(key, instance, sizeof instance);
		if (key[0] == 'q')
			instance[strcspn(instance, " ")] = '\0';
		const struct host_fact *then = host_find_of(view->was, "nic[].ifindex", instance);
		const struct host_fact *now = host_find_of(view->is, "nic[].ifindex", instance);
		if (then && now && then->value && now->value && strcmp(then->value, now->value) != 0)
			return "; the device was re-created since the last inspection, which resets its driver's "
			       "settings";
	}
	const char *tuned = host_value(view->is, "service[tuned]");
	return tuned && strcmp(tuned, "running") == 0 ? "; tuned is running" : "";
}

static const char *shown(const struct host_fact *fact)
{
	if (!fact)
		return "absent";
	if (fact->status != HOST_OK)
		return host_status_name(fact->status);
	return fact->value[0] ? fact->value : "none";
}

/* ---- drift ---- */

static void tell_drift(struct judging *judging, const struct host_difference *row)
{
	char what[900], evidence[400], when[64];
	const struct host_key *key = host_key_of(row->key);
	struct text text = TEXT_IN(evidence);
	snprintf(what, sizeof what, "%.400s -> %.400s", shown(row->was), shown(row->is));
	text_add(&text, "%s", host_change_name(row->change));
	if (row->note[0])
		text_add(&text, ", %s", row->note);
	if (row->matched_ns > 0) {
		time_text(row->matched_ns, when, sizeof when);
		text_add(&text, ", after %s", when);
	}
	text_add(&text, "%s", actor_of(judging, row->key));
	if (row->change == HOST_NEW_CAPABILITY)
		return;
	enum host_level level = row->change == HOST_UNREADABLE ? HOST_LEVEL_UNKNOWN : HOST_LEVEL_WARNING;
	if (row->change == HOST_UNREADABLE && row->both)
		return;
	finding_add(judging, level, "drift", row->key, what, key ? key->meaning : "", evidence, NULL);
}

/* ---- X10, X11 ---- */

static void check_tuned(struct judging *judging)
{
	const struct host_snapshot *is = judging->view->is;
	const char *profile = host_value(is, "tuned.profile"), *service = host_value(is, "service[tuned]");
	const char *dynamic = host_value(is, "tuned.dynamic");
	if (!profile || !profile[0])
		return;
	if (service && strcmp(service, "running") != 0)
		finding_add(judging, HOST_LEVEL_WARNING, "X10", "tuned.profile",
			"a profile is active and tuned does not run", "nothing keeps or restores its settings", profile,
			"systemctl start tuned, or make the settings permanent elsewhere");
	if (dynamic && (strcmp(dynamic, "1") == 0 || strcmp(dynamic, "True") == 0 || strcmp(dynamic, "true") == 0))
		finding_add(judging, HOST_LEVEL_WARNING, "X10", "tuned.dynamic",
			"tuned may change settings at run time", "its net plugin has slowed idle NICs down to 100 Mb/s",
			profile, "dynamic_tuning = 0 in tuned-main.conf");
}

static bool boots_with(const struct host_snapshot *is, const char *word, size_t length)
{
	char name[256], key[300];
	snprintf(name, sizeof name, "%.*s", (int)length, word);
	char *equals = strchr(name, '=');
	if (equals)
		*equals = '\0';
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	if (!host_key_text("boot[]", name, key, sizeof key))
		return true;
	const struct host_fact *fact = host_find(is, key);
	return fact && fact->status == HOST_OK && (!equals || strcmp(fact->value, equals + 1) == 0);
}

/* Every parameter of the next boot line must stand in the running one; lists are compared as they were written. */
static void check_next_boot(struct judging *judging, const char *key, const char *why)
{
	const char *next = host_value(judging->view->is, key);
	char missing[400] = "";
	struct text text = TEXT_IN(missing);
	const char *running = host_value(judging->view->is, "kernel.cmdline");
	if (!next || !running)
		return;
	for (size_t length; *next; next += length + strspn(next + length, " ")) {
		char word[256];
		length = strcspn(next, " ");
		snprintf(word, sizeof word, "%.*s", (int)length, next);
		if (length == 0 || boots_with(judging->view->is, next, length) || strstr(running, word) ||
			strchr(word, '$'))
			continue;
		text_add(&text, "%s%s", text.used ? " " : "", word);
	}
	if (text.used)
		finding_add(judging, HOST_LEVEL_WARNING, "X11", key, "the next boot will differ from the running line",
			why, missing, "reboot before the change window, or take it out");
}

/* ---- X16 ---- */

static void check_clock(struct judging *judging)
{
	int64_t synchronised;
	if (!judging->view->across_hosts || !host_number(judging->view->is, "time.synchronised", &synchronised) ||
		synchronised)
		return;
	const char *chrony = host_value(judging->view->is, "service[chronyd]");
	finding_add(judging, HOST_LEVEL_CRITICAL, "X16", "time.synchronised", "the clock is not synchronised",
		"one-way delays would hold the difference of the clocks; round trips are not affected",
		chrony && strcmp(chrony, "running") == 0 ? "chronyd runs: without rtcsync the kernel is not told"
							 : NULL,
		"rtcsync in chrony.conf, or start a synchronising daemon");
}

/* ---- X20, completeness, epochs ---- */

static void check_lost(struct judging *judging)
{
	const struct host_view *view = judging->view;
	for (size_t i = 0; i < view->is->count; i++) {
		const struct host_fact *now = &view->is->facts[i];
		if (now->status == HOST_OK || now->status == HOST_ABSENT || now->status == HOST_UNSUPPORTED)
			continue;
		const struct host_fact *then = view->was ? host_find(view->was, now->key) : NULL;
		bool required = now->row && now->row->flags & HOST_REQUIRED;
		if ((then && then->status == HOST_OK) || required)
			finding_add(judging, HOST_LEVEL_UNKNOWN, "X20", now->key, "could not be read",
				then ? "it could be at the last inspection: nothing can be said about it"
				     : "nothing can be said without it",
				host_status_name(now->status), NULL);
	}
}

static void check_epochs(struct judging *judging)
{
	const struct host_deltas *deltas = judging->view->deltas;
	char what[128];
	if (!deltas)
		return;
	if (deltas->rebooted)
		finding_add(judging, HOST_LEVEL_INFO, "counter", "", "rebooted since the last inspection",
			"counters are counted from the boot on", NULL, NULL);
	size_t cursor = 0;
	for (const struct host_fact *fact;
		!deltas->rebooted && (fact = host_next(judging->view->is, "nic[", &cursor)) != NULL;) {
		const struct host_fact *then =
			ends_with(fact->key, "].ifindex") ? host_find(judging->view->was, fact->key) : NULL;
		if (!then || !then->value || !fact->value || strcmp(then->value, fact->value) == 0)
			continue;
		finding_add(judging, HOST_LEVEL_WARNING, "counter", fact->key,
			"the device was re-created or its driver reloaded",
			"settings of the driver are usually back to their defaults then; its counters begin anew", NULL,
			NULL);
	}
	for (size_t i = 0; i < deltas->count; i++) {
		if (deltas->row[i].state != HOST_DELTA_BACKWARDS)
			continue;
		snprintf(what, sizeof what, "went backwards: now %.80s", deltas->row[i].is->value);
		finding_add(judging, HOST_LEVEL_INFO, "counter", deltas->row[i].is->key, what,
			"somebody reset it; what it counted in between is not known", NULL, NULL);
	}
	if (judging->view->is->cut)
		finding_add(judging, HOST_LEVEL_UNKNOWN, "reading", "cpu.online",
			"the host has more facts than can be kept", NULL, NULL, NULL);
}

void rules_config(struct judging *judging)
{
	const struct host_differences *drift = judging->view->drift;
	for (size_t i = 0; drift && i < drift->count; i++)
		tell_drift(judging, &drift->row[i]);
	check_tuned(judging);
	check_next_boot(judging, "bootloader.cmdline", "the host will be another one after a reboot");
	check_next_boot(
		judging, "bootloader.tuned", "tuned's profile wants these, and the kernel was not booted with them");
	check_clock(judging);
	check_lost(judging);
	check_epochs(judging);
}
