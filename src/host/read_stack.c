/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters of the network stack. Columns of softnet_stat grew over the years: the
 * CPU's number stands in the 13th where there is one, else rows are those of the
 * CPUs online, in order. snmp and netstat pair a line of names with one of values.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/reading.h"

enum { SOFTNET_COLUMNS = 16, SOFTNET_CPU = 12 };

static size_t take_hex(const char *line, uint64_t *ret_field, size_t room)
{
	size_t count = 0;
	while (count < room) {
		char *end;
		line += strspn(line, " \t");
		if (!isxdigit((unsigned char)*line))
			break;
		ret_field[count++] = strtoull(line, &end, 16);
		line = end;
	}
	return count;
}

static void read_softnet(struct reading *reading)
{
	static const struct {
		size_t column;
		const char *name;
	} wanted[] = {{0, "softnet.processed"}, {1, "softnet.dropped"}, {2, "softnet.squeezed"},
		{9, "softnet.received_rps"}, {10, "softnet.flow_limited"}};
	enum { WANTED = sizeof wanted / sizeof wanted[0] };
	struct reading_counts counts[WANTED];
	enum host_status status;
	int failure, cpu = -1;
	char *at = reading_text(reading, "/proc/net/softnet_stat", &status, &failure);
	size_t columns = 0;
	for (size_t i = 0; i < WANTED; i++)
		if (!reading_counts_open(reading, &counts[i]))
			return;
	for (char *line; (line = text_next_line(&at)) != NULL;) {
		uint64_t field[SOFTNET_COLUMNS] = {0};
		size_t count = take_hex(line, field, SOFTNET_COLUMNS);
		if (count == 0)
			continue;
		columns = count;
		cpu = host_cpus_next(&reading->online, cpu);
		uint64_t row = count > SOFTNET_CPU ? field[SOFTNET_CPU] : cpu < 0 ? HOST_CPUS_MAX : (uint64_t)cpu;
		for (size_t i = 0; i < WANTED; i++)
			if (wanted[i].column < count && row < counts[i].room)
				counts[i].by_cpu[row] = field[wanted[i].column];
	}
	for (size_t i = 0; i < WANTED; i++) {
		const struct host_key *row = reading_row(wanted[i].name);
		if (wanted[i].column < columns)
			reading_counts_add(reading, wanted[i].name, NULL, NULL, "/proc/net/softnet_stat", &counts[i]);
		else
			reading_fail(reading, row, NULL, NULL, HOST_VIA_FILE, "/proc/net/softnet_stat",
				status == HOST_OK && columns ? HOST_ABSENT
				: status == HOST_OK          ? HOST_MALFORMED
							     : status,
				failure);
	}
}

/* Which counters tell of loss, and which are of interest: the others change all the time. */
static const char *const errors[] = {"Udp.InErrors", "Udp.RcvbufErrors", "Udp.SndbufErrors", "Udp.MemErrors",
	"Udp.InCsumErrors", "Tcp.InErrs", "Tcp.InCsumErrors", "TcpExt.TCPBacklogDrop", "TcpExt.TCPRcvQDrop",
	"TcpExt.PruneCalled", "TcpExt.RcvPruned", "TcpExt.ListenOverflows", "TcpExt.ListenDrops",
	"TcpExt.TCPReqQFullDrop", "TcpExt.TCPAbortOnMemory", "TcpExt.TCPMemoryPressures", "Ip.InDiscards",
	"Ip.OutDiscards"};
static const char *const interesting[] = {"Tcp.RetransSegs", "Tcp.InSegs", "Tcp.OutSegs", "Tcp.OutRsts",
	"Udp.InDatagrams", "Udp.OutDatagrams", "Udp.NoPorts", "TcpExt.TCPTimeouts", "TcpExt.TCPSpuriousRTOs",
	"TcpExt.DelayedACKs", "TcpExt.TCPAutoCorking", "TcpExt.TCPChallengeACK", "TcpExt.TCPAbortOnTimeout",
	"TcpExt.TCPAbortOnData", "TcpExt.BusyPollRxPackets", "TcpExt.TCPLossProbes", "Icmp.OutRateLimitGlobal",
	"Icmp.OutRateLimitHost", "Icmp.InErrors", "Ip.OutNoRoutes", "Ip.ReasmFails"};

static bool listed(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void add_counter(
	struct reading *reading, const char *path, const char *prefix, const char *name, const char *value)
{
	char full[128];
	snprintf(full, sizeof full, "%s.%s", prefix, name);
	if (listed(errors, sizeof errors / sizeof errors[0], full))
		reading_add(reading, reading_row("stack.error[]"), full, NULL, HOST_VIA_FILE, path, value);
	else if (listed(interesting, sizeof interesting / sizeof interesting[0], full))
		reading_add(reading, reading_row("stack[]"), full, NULL, HOST_VIA_FILE, path, value);
}

/* "Udp: InDatagrams NoPorts" above "Udp: 12 0"; columns differ by kernel, so names lead. */
static void read_pairs(struct reading *reading, const char *path)
{
	enum host_status status;
	int failure;
	char *at = reading_text(reading, path, &status, &failure), *names;
	if (!at) {
		reading_fail(reading, reading_row("stack[]"), path + strlen("/proc/net/"), NULL, HOST_VIA_FILE, path,
			status, failure);
		return;
	}
	while ((names = text_next_line(&at)) != NULL) {
		char *values = text_next_line(&at);
		char *colon = strchr(names, ':');
		if (!values || !colon || strncmp(names, values, (size_t)(colon - names) + 1) != 0)
			return;
		char *name = colon + 1, *value = values + (colon - names) + 1;
		*colon = '\0';
		for (;;) {
			name += strspn(name, " ");
			value += strspn(value, " ");
			size_t name_bytes = strcspn(name, " "), value_bytes = strcspn(value, " ");
			if (name_bytes == 0 || value_bytes == 0)
				break;
			bool last = name[name_bytes] == '\0' || value[value_bytes] == '\0';
			name[name_bytes] = value[value_bytes] = '\0';
			add_counter(reading, path, names, name, value);
			if (last)
				break;
			name += name_bytes + 1;
			value += value_bytes + 1;
		}
	}
}

/* A line of names, then a line of hexadecimal values for each CPU online. */
static void read_conntrack(struct reading *reading)
{
	static const struct {
		const char *column, *name;
	} wanted[] = {{"drop", "netfilter.conntrack_drop"}, {"insert_failed", "netfilter.conntrack_insert_failed"}};
	for (size_t w = 0; w < 2; w++) {
		enum host_status status;
		struct reading_counts counts;
		int failure, cpu = -1;
		char *at = reading_text(reading, "/proc/net/stat/nf_conntrack", &status, &failure),
		     *line = text_next_line(&at);
		size_t column = 0, found = SIZE_MAX;
		if (!line || !reading_counts_open(reading, &counts))
			return;
		for (char *name = line; *name; column++) {
			name += strspn(name, " ");
			size_t bytes = strcspn(name, " ");
			if (bytes == strlen(wanted[w].column) && strncmp(name, wanted[w].column, bytes) == 0)
				found = column;
			name += bytes;
		}
		while (found < 32 && (line = text_next_line(&at)) != NULL) {
			uint64_t field[32] = {0};
			cpu = host_cpus_next(&reading->online, cpu);
			if (take_hex(line, field, 32) > found && cpu >= 0 && (size_t)cpu < counts.room)
				counts.by_cpu[cpu] = field[found];
		}
		if (found < 32)
			reading_counts_add(reading, wanted[w].name, NULL, NULL, "/proc/net/stat/nf_conntrack", &counts);
	}
}

/* Rows of type ALL in ptype are sockets that see every packet. */
static void read_sniffers(struct reading *reading)
{
	enum host_status status;
	int failure, count = 0;
	char *at = reading_text(reading, "/proc/net/ptype", &status, &failure);
	if (!at) {
		reading_fail(reading, reading_row("net.sniffers"), NULL, NULL, HOST_VIA_FILE, NULL, status, failure);
		return;
	}
	for (char *line; (line = text_next_line(&at)) != NULL;)
		count += strncmp(line, "ALL", 3) == 0;
	reading_add_number(reading, "net.sniffers", NULL, HOST_VIA_FILE, count);
}

void reading_stack(struct reading *reading)
{
	read_softnet(reading);
	read_pairs(reading, "/proc/net/snmp");
	read_pairs(reading, "/proc/net/netstat");
	read_conntrack(reading);
	read_sniffers(reading);
}
