/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What netlink does not tell: driver, firmware, spreading table and the driver's
 * own counters; and, on kernels without ethtool netlink, a few settings. An ioctl
 * cannot tell zero from unsupported, so those facts carry "ioctl" as their way.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/reading.h"

enum { STATS_MAX = 4096, RSS_BYTES_MAX = 65536 };

static int ask(int fd, const char *name, void *data)
{
	struct ifreq request = {.ifr_data = data};
	snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? errno : 0;
}

static void read_info(struct reading *reading, int fd, const struct reading_nic *nic)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	int failure = ask(fd, nic->name, &info);
	if (failure) {
		reading_fail_name(reading, "nic[].firmware", nic->id, HOST_VIA_IOCTL, failure);
		return;
	}
	info.driver[sizeof info.driver - 1] = info.version[sizeof info.version - 1] = '\0';
	info.fw_version[sizeof info.fw_version - 1] = '\0';
	if (info.driver[0])
		reading_add_text(reading, "nic[].driver", nic->id, HOST_VIA_IOCTL, info.driver);
	reading_add_text(
		reading, "nic[].driver_version", nic->id, HOST_VIA_IOCTL, info.version[0] ? info.version : "none");
	reading_add_text(
		reading, "nic[].firmware", nic->id, HOST_VIA_IOCTL, info.fw_version[0] ? info.fw_version : "none");
}

/* Table and key as one hash: either moves flows to other queues. */
static void read_rss(struct reading *reading, int fd, const struct reading_nic *nic)
{
	struct ethtool_rxfh size = {.cmd = ETHTOOL_GRSSH};
	int failure = ask(fd, nic->name, &size);
	if (failure) {
		reading_fail_name(reading, "nic[].rss", nic->id, HOST_VIA_IOCTL, failure);
		return;
	}
	size_t bytes = (size_t)size.indir_size * sizeof(uint32_t) + size.key_size;
	if (size.indir_size > RSS_BYTES_MAX / 4 || bytes > RSS_BYTES_MAX)
		return;
	AUTO_FREE struct ethtool_rxfh *table = calloc(1, sizeof *table + bytes);
	if (!table)
		return;
	*table = (struct ethtool_rxfh){.cmd = ETHTOOL_GRSSH, .indir_size = size.indir_size, .key_size = size.key_size};
	failure = ask(fd, nic->name, table);
	if (failure) {
		reading_fail_name(reading, "nic[].rss", nic->id, HOST_VIA_IOCTL, failure);
		return;
	}
	uint64_t hash = UINT64_C(14695981039346656037);
	const unsigned char *content = (const unsigned char *)(table + 1);
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ content[i]) * UINT64_C(1099511628211);
	char line[96];
	snprintf(line, sizeof line, "%016" PRIx64 ", %u entries, function %u", hash, table->indir_size, table->hfunc);
	reading_add_text(reading, "nic[].rss", nic->id, HOST_VIA_IOCTL, line);
}

/* A name tells of trouble when it holds one of these. */
static bool tells_of_trouble(const char *name)
{
	static const char *const words[] = {
		"drop", "discard", "miss", "no_buf", "out_of_buf", "err", "crc", "fcs", "timeout", "symbol", "replay"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

/* Drivers put blanks, brackets and worse into names: kept, but for what would break a key. */
static void leaf_of(const char *name, char *buffer, size_t room)
{
	size_t used = 0;
	while (isspace((unsigned char)*name))
		name++;
	for (size_t i = 0; i < ETH_GSTRING_LEN && name[i] && used + 1 < room; i++) {
		unsigned char c = (unsigned char)name[i];
		buffer[used++] = c <= ' ' || c >= 0x7f ? '_' : c == '[' ? '(' : c == ']' ? ')' : (char)c;
	}
	buffer[used] = '\0';
}

static void read_counters(struct reading *reading, int fd, const struct reading_nic *nic)
{
	AUTO_FREE struct ethtool_sset_info *set = calloc(1, sizeof *set + sizeof(uint32_t));
	if (!set)
		return;
	set->cmd = ETHTOOL_GSSET_INFO;
	set->sset_mask = 1 << ETH_SS_STATS;
	if (ask(fd, nic->name, set) || !(set->sset_mask & 1 << ETH_SS_STATS) || set->data[0] == 0 ||
		set->data[0] > STATS_MAX)
		return;
	uint32_t count = set->data[0];
	AUTO_FREE struct ethtool_gstrings *names = calloc(1, sizeof *names + (size_t)count * ETH_GSTRING_LEN);
	AUTO_FREE struct ethtool_stats *values = calloc(1, sizeof *values + (size_t)count * sizeof(uint64_t));
	if (!names || !values)
		return;
	*names = (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = count};
	*values = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = count};
	/* the number may change between the two calls: values would then belong to other names */
	if (ask(fd, nic->name, names) || ask(fd, nic->name, values) || names->len != count || values->n_stats != count)
		return;
	for (uint32_t i = 0; i < count; i++) {
		char leaf[ETH_GSTRING_LEN + 1], number[32];
		leaf_of((const char *)names->data + (size_t)i * ETH_GSTRING_LEN, leaf, sizeof leaf);
		snprintf(number, sizeof number, "%" PRIu64, (uint64_t)values->data[i]);
		if (leaf[0])
			reading_add(reading, reading_row(tells_of_trouble(leaf) ? "nic[].error.*" : "nic[].driver.*"),
				nic->id, leaf, HOST_VIA_IOCTL, NULL, number);
	}
}

void reading_driver(struct reading *reading)
{
	if (reading->tree.foreign)
		return;
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (size_t i = 0; fd >= 0 && i < reading->nic_count; i++) {
		const struct reading_nic *nic = &reading->nics[i];
		if (!nic->detailed || strcmp(nic->name, "lo") == 0)
			continue;
		read_info(reading, fd, nic);
		read_rss(reading, fd, nic);
		read_counters(reading, fd, nic);
		reading_steering(reading, fd, nic);
		reading_module(reading, fd, nic);
	}
}

static void add_setting(struct reading *reading, const char *row, const char *id, const char *leaf, uint32_t value)
{
	char number[16], name[64];
	snprintf(number, sizeof number, "%u", value);
	snprintf(name, sizeof name, "%.*s%s", (int)strlen(row) - 1, row, leaf);
	const struct host_key *own = reading_row(name);
	reading_add(reading, own ? own : reading_row(row), id, own ? NULL : leaf, HOST_VIA_IOCTL, "ioctl SIOCETHTOOL",
		number);
}

void reading_ethtool_ioctl(struct reading *reading)
{
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (size_t i = 0; fd >= 0 && i < reading->nic_count; i++) {
		const struct reading_nic *nic = &reading->nics[i];
		struct ethtool_coalesce coalesce = {.cmd = ETHTOOL_GCOALESCE};
		struct ethtool_ringparam ring = {.cmd = ETHTOOL_GRINGPARAM};
		struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
		struct ethtool_pauseparam pause = {.cmd = ETHTOOL_GPAUSEPARAM};
		int failure = ask(fd, nic->name, &coalesce);
		if (failure) {
			reading_fail_name(reading, "nic[].coalesce.rx_usecs", nic->id, HOST_VIA_IOCTL, failure);
		} else {
			add_setting(reading, "nic[].coalesce.*", nic->id, "rx_usecs", coalesce.rx_coalesce_usecs);
			add_setting(
				reading, "nic[].coalesce.*", nic->id, "rx_frames", coalesce.rx_max_coalesced_frames);
			add_setting(reading, "nic[].coalesce.*", nic->id, "tx_usecs", coalesce.tx_coalesce_usecs);
			add_setting(
				reading, "nic[].coalesce.*", nic->id, "tx_frames", coalesce.tx_max_coalesced_frames);
			add_setting(
				reading, "nic[].coalesce.*", nic->id, "adaptive_rx", coalesce.use_adaptive_rx_coalesce);
			add_setting(
				reading, "nic[].coalesce.*", nic->id, "adaptive_tx", coalesce.use_adaptive_tx_coalesce);
		}
		if (ask(fd, nic->name, &ring) == 0) {
			add_setting(reading, "nic[].ring.*", nic->id, "rx", ring.rx_pending);
			add_setting(reading, "nic[].ring.*", nic->id, "rx_max", ring.rx_max_pending);
			add_setting(reading, "nic[].ring.*", nic->id, "tx", ring.tx_pending);
			add_setting(reading, "nic[].ring.*", nic->id, "tx_max", ring.tx_max_pending);
		}
		if (ask(fd, nic->name, &channels) == 0) {
			add_setting(reading, "nic[].channels.*", nic->id, "rx", channels.rx_count);
			add_setting(reading, "nic[].channels.*", nic->id, "tx", channels.tx_count);
			add_setting(reading, "nic[].channels.*", nic->id, "combined", channels.combined_count);
		}
		if (ask(fd, nic->name, &pause) == 0) {
			add_setting(reading, "nic[].pause.*", nic->id, "autonegotiation", pause.autoneg);
			add_setting(reading, "nic[].pause.*", nic->id, "rx", pause.rx_pause);
			add_setting(reading, "nic[].pause.*", nic->id, "tx", pause.tx_pause);
		}
	}
}
