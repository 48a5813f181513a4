/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asking interfaces what they can stamp and what they are set to. */
#include "net/card.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

static const void *bytes_of(const struct sockaddr *address, size_t *ret_bytes)
{
	if (address->sa_family == AF_INET) {
		*ret_bytes = sizeof(struct in_addr);
		return &((const struct sockaddr_in *)(const void *)address)->sin_addr;
	}
	*ret_bytes = sizeof(struct in6_addr);
	return &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

static bool same_host(const struct sockaddr *one, const struct sockaddr *other)
{
	size_t bytes;
	if (one->sa_family != other->sa_family || (one->sa_family != AF_INET && one->sa_family != AF_INET6))
		return false;
	const void *first = bytes_of(one, &bytes), *second = bytes_of(other, &bytes);
	return memcmp(first, second, bytes) == 0;
}

/* Which interface carries this address of ours. */
static int interface_of(const struct sockaddr *own, char ret_name[IFNAMSIZ])
{
	struct ifaddrs *all;
	int found = -1;
	if (getifaddrs(&all) != 0)
		return -1;
	for (const struct ifaddrs *at = all; at && found < 0; at = at->ifa_next) {
		if (!at->ifa_addr || !same_host(at->ifa_addr, own))
			continue;
		snprintf(ret_name, IFNAMSIZ, "%s", at->ifa_name);
		found = 0;
	}
	freeifaddrs(all);
	return found;
}

int card_towards(const struct sockaddr *address, socklen_t length, char ret_name[IFNAMSIZ], struct tare_err *err)
{
	struct sockaddr_storage to = {0}, own;
	socklen_t own_length = sizeof own;
	AUTO_FD fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (length > sizeof to || fd < 0)
		return tare_fail_errno(err, errno, "cannot ask for the way to a target");
	memcpy(&to, address, length);
	/* any port will do: connecting a datagram socket sends nothing and chooses the way */
	if (to.ss_family == AF_INET)
		((struct sockaddr_in *)(void *)&to)->sin_port = htons(9);
	else
		((struct sockaddr_in6 *)(void *)&to)->sin6_port = htons(9);
	if (connect(fd, (struct sockaddr *)&to, length) != 0 ||
		getsockname(fd, (struct sockaddr *)&own, &own_length) != 0)
		return tare_fail_errno(err, errno, "cannot find the way to a target");
	/* from one's own address to itself: whatever interface carries it, packets take the loopback */
	if (same_host((struct sockaddr *)&own, (struct sockaddr *)&to)) {
		snprintf(ret_name, IFNAMSIZ, "lo");
		return 0;
	}
	if (interface_of((struct sockaddr *)&own, ret_name) == 0)
		return 0;
	return tare_fail(err, TARE_E_SYSTEM, "cannot tell which interface leads to a target");
}

static int request(const char *name, unsigned long what, void *data)
{
	struct ifreq ifreq = {0};
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	snprintf(ifreq.ifr_name, sizeof ifreq.ifr_name, "%s", name);
	ifreq.ifr_data = data;
	return ioctl(fd, what, &ifreq) == 0 ? 0 : -errno;
}

static int system_get(void *self, const char *name, struct card_setting *ret_setting)
{
	(void)self;
	struct hwtstamp_config config = {0};
	int status = request(name, SIOCGHWTSTAMP, &config);
	if (status == 0)
		*ret_setting = (struct card_setting){config.flags, config.tx_type, config.rx_filter};
	return status;
}

static int system_set(void *self, const char *name, const struct card_setting *setting)
{
	(void)self;
	struct hwtstamp_config config = {
		.flags = setting->flags, .tx_type = setting->tx_type, .rx_filter = setting->rx_filter};
	return request(name, SIOCSHWTSTAMP, &config);
}

const struct card_driver card_system = {.get = system_get, .set = system_set};

int card_read(const char *name, struct card *ret_card, struct tare_err *err)
{
	struct ethtool_ts_info info = {.cmd = ETHTOOL_GET_TS_INFO};
	struct card card = {.phc = -1};
	if (strlen(name) >= sizeof card.name || if_nametoindex(name) == 0)
		return tare_fail(err, TARE_E_USAGE, "there is no interface '%.32s'", name);
	snprintf(card.name, sizeof card.name, "%s", name);
	card.told = request(name, SIOCETHTOOL, &info) == 0;
	if (card.told) {
		card.offers = info.so_timestamping;
		card.phc = info.phc_index;
		card.tx_types = info.tx_types;
		card.rx_filters = info.rx_filters;
	}
	card.set_known = card_system.get(NULL, name, &card.set) == 0;
	*ret_card = card;
	return 0;
}

bool card_can_tx(const struct card *card)
{
	return card->offers & SOF_TIMESTAMPING_TX_HARDWARE && card->tx_types & 1u << HWTSTAMP_TX_ON;
}

bool card_can_rx(const struct card *card)
{
	return card->offers & SOF_TIMESTAMPING_RX_HARDWARE && card->rx_filters & 1u << HWTSTAMP_FILTER_ALL;
}

bool card_stamps_tx(const struct card *card)
{
	return card->set_known && card->set.tx_type != HWTSTAMP_TX_OFF;
}

bool card_stamps_rx(const struct card *card)
{
	return card->set_known && card->set.rx_filter == HWTSTAMP_FILTER_ALL;
}

void card_lacks(const struct card *card, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	text_add(&text, "%s", "");
	if (!(card->offers & (SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE)))
		text_add(&text, "%s has no clock of its own: no card stamps", card->name);
	else if (!card_can_tx(card))
		text_add(&text, "%s stamps no packets it sends", card->name);
	else if (!card_can_rx(card))
		text_add(&text, "%s stamps only some packets it receives (time protocols), not ours", card->name);
	else if (!card_stamps_tx(card) || !card_stamps_rx(card))
		text_add(&text,
			"%s could stamp but is not set to (transmit %s, receive %s); --set-nic-stamping sets it and "
			"puts it back",
			card->name, card->set_known ? card_tx_name(card->set.tx_type) : "unknown",
			card->set_known ? card_filter_name(card->set.rx_filter) : "unknown");
	else if (card->phc < 0)
		text_add(&text, "%s tells no clock to read: its stamps cannot be brought onto the time axis",
			card->name);
}

const char *card_filter_name(int filter)
{
	static const char *const names[] = {"none", "all", "some", "ptpv1-l4-event", "ptpv1-l4-sync",
		"ptpv1-l4-delay-req", "ptpv2-l4-event", "ptpv2-l4-sync", "ptpv2-l4-delay-req", "ptpv2-l2-event",
		"ptpv2-l2-sync", "ptpv2-l2-delay-req", "ptpv2-event", "ptpv2-sync", "ptpv2-delay-req", "ntp-all"};
	return filter >= 0 && (size_t)filter < sizeof names / sizeof names[0] ? names[filter] : "unknown";
}

const char *card_tx_name(int type)
{
	static const char *const names[] = {"off", "on", "onestep-sync", "onestep-p2p"};
	return type >= 0 && (size_t)type < sizeof names / sizeof names[0] ? names[type] : "unknown";
}
