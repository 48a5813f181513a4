/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters of the ring, of the interface and of its driver, so that every packet that
 * is missing was counted by somebody with a name. A loss may be counted twice: by the
 * ring that was full and by the interface whose packet it was.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "net/xdp_private.h"

enum { STRINGS_MOST = 4096, ERRORS_MOST = 16 };

static void add(struct xdp_counts *counts, const char *where, const char *name, uint64_t value)
{
	if (counts->count == XDP_COUNTERS_MOST)
		return;
	struct xdp_counter *counter = &counts->counter[counts->count++];
	snprintf(counter->name, sizeof counter->name, "%s %.32s", where, name);
	counter->value = value;
}

static bool ring_statistics(const struct xdp *xdp, struct xdp_statistics *ret)
{
	socklen_t length = sizeof *ret;
	*ret = (struct xdp_statistics){0};
	return getsockopt(xdp->fd, SOL_XDP, XDP_STATISTICS, ret, &length) == 0;
}

uint64_t xdp_overrun(const struct xdp *xdp)
{
	struct xdp_statistics ring;
	/* an empty fill ring is counted beside rx_dropped, not instead */
	return ring_statistics(xdp, &ring) ? ring.rx_dropped + ring.rx_ring_full : 0;
}

uint64_t xdp_elsewhere(struct xdp *xdp)
{
	char byte;
	uint32_t words[SK_MEMINFO_VARS] = {0};
	socklen_t length = sizeof words;
	for (int errors = 0; errors < ERRORS_MOST;) {
		if (recv(xdp->udp_fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0)
			xdp->elsewhere++;
		else if (errno == EAGAIN)
			break;
		else
			errors++; /* an ICMP error that waited */
	}
	if (getsockopt(xdp->udp_fd, SOL_SOCKET, SO_MEMINFO, words, &length) < 0)
		return xdp->elsewhere;
	return xdp->elsewhere + words[SK_MEMINFO_DROPS];
}

/* One line of /proc/net/dev: name, eight numbers of receiving, eight of sending. */
static void add_interface(struct xdp_counts *counts, const char *device)
{
	static const char *const names[] = {"rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "rx_frame",
		"rx_compressed", "multicast", "tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_fifo",
		"tx_collisions", "tx_carrier", "tx_compressed"};
	char line[512];
	AUTO_FILE file = fopen("/proc/net/dev", "re");
	while (file && fgets(line, sizeof line, file)) {
		char *at = line + strspn(line, " ");
		size_t length = strlen(device);
		if (strncmp(at, device, length) != 0 || at[length] != ':')
			continue;
		at += length + 1;
		for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
			char *end;
			uint64_t value = strtoull(at, &end, 10);
			if (end == at)
				return;
			at = end;
			if (!strstr(names[i], "bytes"))
				add(counts, device, names[i], value);
		}
	}
}

static int ethtool(int fd, const char *device, void *command)
{
	struct ifreq request = {.ifr_data = command};
	snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
	return ioctl(fd, SIOCETHTOOL, &request);
}

/* The driver's own, as ethtool -S shows them. */
static void add_driver(struct xdp_counts *counts, const char *device)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ethtool(fd, device, &info) < 0 || info.n_stats == 0 || info.n_stats > STRINGS_MOST)
		return;
	size_t count = info.n_stats;
	AUTO_FREE struct ethtool_gstrings *names = calloc(1, sizeof *names + count * ETH_GSTRING_LEN);
	AUTO_FREE struct ethtool_stats *values = calloc(1, sizeof *values + count * sizeof(uint64_t));
	if (!names || !values)
		return;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_STATS;
	names->len = info.n_stats;
	values->cmd = ETHTOOL_GSTATS;
	values->n_stats = info.n_stats;
	if (ethtool(fd, device, names) < 0 || ethtool(fd, device, values) < 0)
		return;
	for (size_t i = 0; i < count && i < names->len && i < values->n_stats; i++) {
		char name[ETH_GSTRING_LEN + 1] = "";
		memcpy(name, names->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
		for (char *c = name; *c; c++)
			if (!isgraph((unsigned char)*c))
				*c = '_';
		if (!strstr(name, "bytes"))
			add(counts, device, name, (uint64_t)values->data[i]);
	}
}

void xdp_counts_read(struct xdp *xdp, struct xdp_counts *ret_counts)
{
	struct xdp_statistics ring;
	ret_counts->count = 0;
	if (ring_statistics(xdp, &ring)) {
		add(ret_counts, "ring", "rx_dropped", ring.rx_dropped);
		add(ret_counts, "ring", "rx_ring_full", ring.rx_ring_full);
		add(ret_counts, "ring", "rx_fill_ring_empty_descs", ring.rx_fill_ring_empty_descs);
		add(ret_counts, "ring", "rx_invalid_descs", ring.rx_invalid_descs);
		add(ret_counts, "ring", "tx_invalid_descs", ring.tx_invalid_descs);
		add(ret_counts, "ring", "tx_ring_empty_descs", ring.tx_ring_empty_descs);
	}
	add(ret_counts, "udp", "past_the_filter", xdp_elsewhere(xdp));
	add_interface(ret_counts, xdp->path.device);
	add_driver(ret_counts, xdp->path.device);
}

static bool is_loss(const char *name)
{
	static const char *const words[] = {"drop", "err", "miss", "fifo", "full", "over", "discard", "fail", "invalid",
		"no_buf", "nobuf", "no_mem", "fill_ring_empty", "past_the_filter", "carrier", "collisions", "timeout"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

/* Counters stand at the same place in both, unless a driver changed its set in between. */
static uint64_t moved(const struct xdp_counts *before, const struct xdp_counter *after, size_t i)
{
	if (i >= before->count || strcmp(before->counter[i].name, after->name) != 0)
		return 0;
	return after->value - before->counter[i].value;
}

bool xdp_counts_text(
	const struct xdp_counts *before, const struct xdp_counts *after, bool losses_only, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	bool lost = false;
	buffer[0] = '\0';
	for (size_t i = 0; i < after->count; i++) {
		const struct xdp_counter *counter = &after->counter[i];
		uint64_t by = moved(before, counter, i);
		bool loss = by && is_loss(counter->name), ring = strncmp(counter->name, "ring ", 5) == 0;
		lost |= loss;
		if (loss || (!losses_only && (by || ring)))
			text_add(&text, "%s%s %" PRIu64, text.used ? ", " : "", counter->name, by);
	}
	return lost;
}
