/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What comes to the inspection from elsewhere: snapshots, policies, a switch's
 * JSON, LLDP frames, netlink messages, and the values of single facts. The first
 * byte chooses.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/cpus.h"
#include "host/delta.h"
#include "host/exchange.h"
#include "host/policy.h"
#include "host/store.h"
#include "host/watch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(bool condition)
{
	if (!condition)
		abort();
}

static void try_snapshot(char *text)
{
	struct tare_err err = {.text = ""};
	struct host_snapshot *snapshot = NULL;
	if (host_snapshot_parse(text, "fuzz", &snapshot, &err) < 0) {
		hold(!snapshot && err.text[0]);
		return;
	}
	for (size_t i = 1; i < snapshot->count; i++)
		hold(strcmp(snapshot->facts[i - 1].key, snapshot->facts[i].key) < 0);
	host_snapshot_free(snapshot);
}

static void try_policy(const char *text)
{
	struct tare_err err = {.text = ""};
	struct host_policy *policy = NULL;
	if (host_policy_parse(text, "fuzz", &policy, &err) < 0) {
		hold(!policy && err.text[0]);
		return;
	}
	host_policy_rule(policy, "nic[0000:3b:00.0].mtu");
	host_policy_free(policy);
}

static void try_switch(const char *text, size_t size)
{
	struct tare_err err = {.text = ""};
	struct host_snapshot *snapshot = NULL;
	hold(host_snapshot_open(&snapshot, &err) == 0);
	if (host_switch_parse(text, size, "fuzz", snapshot, &err) < 0)
		hold(err.text[0]);
	hold(host_snapshot_finish(snapshot, &err) == 0);
	host_snapshot_free(snapshot);
}

static void try_messages(const uint8_t *data, size_t size, bool generic)
{
	struct tare_err err;
	struct host_watch *watch = NULL;
	struct host_event event;
	hold(host_watch_open(&watch, &err) == 0);
	host_watch_message(watch, generic, data, size, &event);
	host_watch_message(watch, generic, data, size, &event);
	host_watch_close(watch);
}

static void count(void *context, int cpu, uint64_t number)
{
	(void)number;
	hold(cpu >= 0 && cpu < HOST_CPUS_MAX);
	++*(size_t *)context;
}

static void try_value(const char *text)
{
	char value[256], again[256];
	bool unknown;
	size_t counts = 0;
	for (int form = 0; form < HOST_FORM_COUNT; form++) {
		if (!host_canonical((enum host_form)form, text, value, sizeof value, &unknown) || form == HOST_CHOICE)
			continue;
		/* what is canonical stays as it is; a mask has become a list */
		enum host_form next = form == HOST_CPU_MASK ? HOST_CPU_LIST : (enum host_form)form;
		hold(host_canonical(next, value, again, sizeof again, &unknown));
		hold(strcmp(value, again) == 0);
	}
	host_counts_each(text, count, &counts);
	host_key_of(text);
	host_glob(text, "nic[0000:3b:00.0].mtu");
	host_glob("nic[*].m?u*", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host_neighbour neighbour;
	if (size == 0)
		return 0;
	char *text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	switch (data[0] % 7) {
	case 0:
		try_snapshot(text);
		break;
	case 1:
		try_policy(text);
		break;
	case 2:
		try_switch(text, size - 1);
		break;
	case 3:
		host_lldp_parse((const unsigned char *)text, size - 1, &neighbour);
		break;
	case 4:
	case 5:
		try_messages(data + 1, size - 1, data[0] % 7 == 5);
		break;
	default:
		try_value(text);
	}
	free(text);
	return 0;
}
