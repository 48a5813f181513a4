/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saved JSON of EOS show commands into facts. Files are hostile: sizes, depths and types are checked. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/exchange.h"

enum { FILE_BYTES_MAX = 16 << 20, KEY_BYTES = 512, QUEUE_ENTRIES_MAX = 5000 };

static void end_json(json_t *const *json)
{
	json_decref(*json);
}
#define AUTO_JSON AUTO_CLEANUP(end_json) json_t *

static void add(
	struct host_snapshot *snapshot, const char *name, const char *instance, const char *leaf, const char *raw)
{
	char key[KEY_BYTES], full[KEY_BYTES], value[1024];
	bool unknown = false;
	snprintf(full, sizeof full, "%.*s%s", (int)strlen(name) - (leaf ? 1 : 0), name, leaf ? leaf : "");
	if (!host_key_text(full, instance, key, sizeof key))
		return;
	const struct host_key *row = host_key_of(key);
	bool good = row && host_canonical(row->form, raw, value, sizeof value, &unknown);
	host_snapshot_add(snapshot, &(struct host_fact){.key = key,
					    .row = row,
					    .value = good ? value : NULL,
					    .status = good ? HOST_OK : HOST_MALFORMED,
					    .kind = row ? row->kind : HOST_GAUGE,
					    .via = HOST_VIA_IMPORT,
					    .unknown = unknown});
}

/* Numbers come as integers or reals, some as text; missing ones are no fact. */
static void add_member(struct host_snapshot *snapshot, const char *name, const char *instance, const char *leaf,
	const json_t *object, const char *member)
{
	const json_t *value = json_object_get(object, member);
	char text[64];
	if (json_is_string(value)) {
		add(snapshot, name, instance, leaf, json_string_value(value));
	} else if (json_is_integer(value)) {
		snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		add(snapshot, name, instance, leaf, text);
	} else if (json_is_real(value)) {
		double number = json_real_value(value);
		const struct host_key *row = host_key_of(name);
		bool whole = row && row->form != HOST_TEXT && number > -9e15 && number < 9e15;
		if (whole)
			snprintf(text, sizeof text, "%" PRId64, (int64_t)number);
		else
			snprintf(text, sizeof text, "%.2f", number);
		add(snapshot, name, instance, leaf, text);
	}
}

static void take_version(struct host_snapshot *snapshot, const json_t *object)
{
	const char *serial = json_string_value(json_object_get(object, "serialNumber"));
	const char *id = serial && serial[0] ? serial : "switch";
	add_member(snapshot, "switch[].model", id, NULL, object, "modelName");
	add_member(snapshot, "switch[].version", id, NULL, object, "version");
	add_member(snapshot, "switch[].booted_s", id, NULL, object, "bootupTimestamp");
	if (!snapshot->header.host)
		snapshot->header.host = arena_text(snapshot->arena, id);
	/* the counters' epoch is the switch's boot */
	const json_t *booted = json_object_get(object, "bootupTimestamp"), *up = json_object_get(object, "uptime");
	char boot[48];
	if (json_is_number(booted)) {
		snprintf(boot, sizeof boot, "%.0f", json_number_value(booted));
		snapshot->header.boot = arena_text(snapshot->arena, boot);
	}
	if (json_is_number(up) && json_number_value(up) >= 0 && json_number_value(up) < 4e9)
		snapshot->header.up_ns = (int64_t)(json_number_value(up) * 1e9);
}

static void take_counters(struct host_snapshot *snapshot, const char *port, const json_t *counters)
{
	static const char *const plain[] = {"inOctets", "outOctets", "inUcastPkts", "outUcastPkts", "inMulticastPkts",
		"outMulticastPkts", "inBroadcastPkts", "outBroadcastPkts"};
	static const char *const errors[] = {"inDiscards", "outDiscards", "totalInErrors", "totalOutErrors"};
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		add_member(snapshot, "port[].counter.*", port, plain[i], counters, plain[i]);
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		add_member(snapshot, "port[].error.*", port, errors[i], counters, errors[i]);
	add_member(snapshot, "port[].link_changes", port, NULL, counters, "linkStatusChanges");
	add_member(snapshot, "port[].counters_cleared_s", port, NULL, counters, "lastClear");
	const char *details[] = {"inputErrorsDetail", "outputErrorsDetail"};
	for (size_t i = 0; i < 2; i++) {
		const char *name;
		json_t *value;
		json_object_foreach(json_object_get(counters, details[i]), name, value)
		{
			(void)value;
			add_member(snapshot, "port[].error.*", port, name, json_object_get(counters, details[i]), name);
		}
	}
}

static void take_interface(struct host_snapshot *snapshot, const char *port, const json_t *object)
{
	static const struct {
		const char *row, *member;
	} members[] = {{"port[].status", "interfaceStatus"}, {"port[].speed_bps", "bandwidth"},
		{"port[].duplex", "duplex"}, {"port[].autonegotiate", "autoNegotiate"}, {"port[].mtu", "mtu"},
		{"port[].description", "description"}};
	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
		add_member(snapshot, members[i].row, port, NULL, object, members[i].member);
	const json_t *counters = json_object_get(object, "interfaceCounters");
	if (json_is_object(counters))
		take_counters(snapshot, port, counters);
}

static void take_transceiver(struct host_snapshot *snapshot, const char *port, const json_t *object)
{
	const char *media = json_string_value(json_object_get(object, "mediaType"));
	const char *serial = json_string_value(json_object_get(object, "vendorSn"));
	char line[160];
	if (media || serial) {
		snprintf(line, sizeof line, "%.60s %.60s", media ? media : "?", serial ? serial : "");
		add(snapshot, "port[].transceiver", port, NULL, line);
	}
	add_member(snapshot, "port[].rx_power_dbm", port, NULL, object, "rxPower");
	add_member(snapshot, "port[].tx_power_dbm", port, NULL, object, "txPower");
	add_member(snapshot, "port[].temperature_c", port, NULL, object, "temperature");
}

/* {"interfaces": {"Ethernet1": {…}}} of show interfaces, … transceiver and … counters discards */
static void take_interfaces(struct host_snapshot *snapshot, const json_t *interfaces)
{
	const char *port;
	json_t *object;
	json_object_foreach((json_t *)(uintptr_t)interfaces, port, object)
	{
		if (!json_is_object(object))
			continue;
		if (json_object_get(object, "interfaceStatus"))
			take_interface(snapshot, port, object);
		else if (json_object_get(object, "inDiscards") || json_object_get(object, "outDiscards"))
			take_counters(snapshot, port, object);
		else
			take_transceiver(snapshot, port, object);
	}
}

static void take_errors(struct host_snapshot *snapshot, const json_t *all)
{
	const char *port, *name;
	json_t *object, *value;
	json_object_foreach((json_t *)(uintptr_t)all, port, object)
	{
		json_object_foreach(object, name, value)
		{
			(void)value;
			add_member(snapshot, "port[].error.*", port, name, object, name);
		}
	}
}

static void take_neighbours(struct host_snapshot *snapshot, const json_t *all)
{
	size_t i;
	json_t *object;
	json_array_foreach(all, i, object)
	{
		const char *port = json_string_value(json_object_get(object, "port"));
		const char *device = json_string_value(json_object_get(object, "neighborDevice"));
		const char *other = json_string_value(json_object_get(object, "neighborPort"));
		char line[300];
		if (!port || !device)
			continue;
		snprintf(line, sizeof line, "%.140s %.140s", device, other ? other : "?");
		add(snapshot, "port[].neighbour", port, NULL, line);
	}
}

/* Entries of a queue's length over its threshold: the longest, and how many there were, by port. */
static void take_queues(struct host_snapshot *snapshot, const json_t *entries)
{
	size_t i, j;
	json_t *object, *other;
	/* the switch keeps a few thousand; each is compared with each */
	if (json_array_size(entries) > QUEUE_ENTRIES_MAX)
		return;
	json_array_foreach(entries, i, object)
	{
		const char *port = json_string_value(json_object_get(object, "interface"));
		json_int_t longest = 0, events = 0;
		bool first = true;
		char text[32];
		json_array_foreach(entries, j, other)
		{
			const char *name = json_string_value(json_object_get(other, "interface"));
			json_int_t length = json_integer_value(json_object_get(other, "queueLength"));
			if (!port || !name || strcmp(port, name) != 0)
				continue;
			first &= j >= i;
			events++;
			longest = length > longest ? length : longest;
		}
		if (!port || !first)
			continue;
		snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, longest);
		add(snapshot, "port[].queue_max_bytes", port, NULL, text);
		snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, events);
		add(snapshot, "port[].queue_events", port, NULL, text);
	}
}

/* What kind of output it is, by what it holds. */
static bool take_output(struct host_snapshot *snapshot, const json_t *object)
{
	const json_t *part;
	if (json_object_get(object, "modelName") && json_object_get(object, "version"))
		take_version(snapshot, object);
	else if (json_is_object(part = json_object_get(object, "interfaceErrorCounters")))
		take_errors(snapshot, part);
	else if (json_is_array(part = json_object_get(object, "lldpNeighbors")))
		take_neighbours(snapshot, part);
	else if (json_is_array(part = json_object_get(object, "entryList")))
		take_queues(snapshot, part);
	else if (json_is_object(part = json_object_get(object, "interfaces")))
		take_interfaces(snapshot, part);
	else
		return false;
	return true;
}

int host_switch_parse(
	const char *text, size_t bytes, const char *name, struct host_snapshot *snapshot, struct tare_err *err)
{
	size_t used = 0, outputs = 0;
	for (;;) {
		json_error_t error;
		while (used < bytes && strchr(" \t\r\n", text[used]))
			used++;
		if (used == bytes)
			break;
		AUTO_JSON value = json_loadb(text + used, bytes - used, JSON_DISABLE_EOF_CHECK, &error);
		if (!value)
			return tare_fail(
				err, TARE_E_FORMAT, "'%s', byte %zu: is no JSON: %.120s", name, used, error.text);
		/* error.position counts what was taken */
		used += error.position > 0 ? (size_t)error.position : 1;
		const json_t *object = value, *result = json_object_get(value, "result");
		/* the answer of the switch's own API holds a list of results */
		for (size_t i = 0; i < (json_is_array(result) ? json_array_size(result) : 1); i++) {
			if (json_is_array(result))
				object = json_array_get(result, i);
			if (!json_is_object(object) || !take_output(snapshot, object))
				return tare_fail(err, TARE_E_FORMAT,
					"'%s': is not the JSON of show version, interfaces, interfaces counters "
					"errors, interfaces counters "
					"discards, interfaces transceiver, queue-monitor length or lldp neighbors",
					name);
			outputs++;
		}
	}
	return outputs ? 0 : tare_fail(err, TARE_E_FORMAT, "'%s' is empty", name);
}

static int load_file(const char *path, struct host_snapshot *snapshot, struct tare_err *err)
{
	struct stat about;
	AUTO_FILE file = fopen(path, "re");
	if (!file || fstat(fileno(file), &about) < 0)
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	if (!S_ISREG(about.st_mode) || about.st_size > FILE_BYTES_MAX)
		return tare_fail(
			err, TARE_E_FORMAT, "'%s' is no plain file of at most %d MB", path, FILE_BYTES_MAX >> 20);
	size_t size = (size_t)about.st_size;
	AUTO_FREE char *text = malloc(size + 1);
	if (!text)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", path);
	size_t used = fread(text, 1, size, file);
	if (ferror(file))
		return tare_fail_errno(err, errno, "cannot read '%s'", path);
	/* the newest file tells when the outputs were taken */
	int64_t at_ns = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec;
	if (at_ns > snapshot->header.real_ns)
		snapshot->header.real_ns = at_ns;
	return host_switch_parse(text, used, path, snapshot, err);
}

int host_switch_load(const char *const *paths, size_t count, struct host_snapshot **ret_snapshot, struct tare_err *err)
{
	struct host_snapshot *snapshot = NULL;
	if (host_snapshot_open(&snapshot, err) < 0)
		return -1;
	snapshot->header.foreign = true;
	int status = 0;
	for (size_t i = 0; status == 0 && i < count; i++)
		status = load_file(paths[i], snapshot, err);
	if (status < 0 || host_snapshot_finish(snapshot, err) < 0) {
		host_snapshot_free(snapshot);
		return -1;
	}
	*ret_snapshot = snapshot;
	return 0;
}
