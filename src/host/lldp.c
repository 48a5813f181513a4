/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Listening to LLDP (IEEE 802.1AB): which switch port the cable ends at, without credentials and without traffic. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/exchange.h"

enum {
	ETHERTYPE_LLDP = 0x88cc,
	TLV_END = 0,
	TLV_CHASSIS = 1,
	TLV_PORT = 2,
	TLV_PORT_DESCRIPTION = 4,
	TLV_SYSTEM = 5,
	TLV_ORGANISATION = 127,
	FRAME_BYTES = 2048
};

static void take_text(const unsigned char *bytes, size_t count, char *buffer, size_t room)
{
	size_t used = 0;
	for (size_t i = 0; i < count && used + 1 < room; i++)
		buffer[used++] = bytes[i] < ' ' || bytes[i] >= 0x7f ? '?' : (char)bytes[i];
	buffer[used] = '\0';
}

/* Chassis and port: a byte that says of what kind, then an address or a name. */
static void take_id(const unsigned char *bytes, size_t count, unsigned address_kind, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	if (count < 2)
		return;
	if (bytes[0] != address_kind || count != 7) {
		take_text(bytes + 1, count - 1, buffer, room);
		return;
	}
	for (size_t i = 1; i < count; i++)
		text_add(&text, "%s%02x", i > 1 ? ":" : "", bytes[i]);
}

static void take_organisation(const unsigned char *bytes, size_t count, struct host_neighbour *neighbour)
{
	static const unsigned char ieee_802_1[] = {0x00, 0x80, 0xc2, 0x01}, ieee_802_3[] = {0x00, 0x12, 0x0f, 0x04};
	if (count < 6)
		return;
	if (memcmp(bytes, ieee_802_1, 4) == 0)
		neighbour->vlan = bytes[4] << 8 | bytes[5];
	else if (memcmp(bytes, ieee_802_3, 4) == 0)
		neighbour->frame_bytes = bytes[4] << 8 | bytes[5];
}

bool host_lldp_parse(const unsigned char *frame, size_t bytes, struct host_neighbour *ret_neighbour)
{
	struct host_neighbour neighbour = {.vlan = -1, .frame_bytes = -1};
	size_t at = 14;
	if (bytes < at)
		return false;
	unsigned type = (unsigned)frame[12] << 8 | frame[13];
	if (type == 0x8100 && bytes >= 18) {
		type = (unsigned)frame[16] << 8 | frame[17];
		at = 18;
	}
	bool named = false;
	if (type != ETHERTYPE_LLDP)
		return false;
	while (at + 2 <= bytes) {
		unsigned kind = frame[at] >> 1;
		size_t length = (size_t)(frame[at] & 1) << 8 | frame[at + 1];
		at += 2;
		if (length > bytes - at)
			return false;
		const unsigned char *value = frame + at;
		at += length;
		if (kind == TLV_END)
			break;
		if (kind == TLV_CHASSIS)
			take_id(value, length, 4, neighbour.chassis, sizeof neighbour.chassis);
		else if (kind == TLV_PORT)
			take_id(value, length, 3, neighbour.port, sizeof neighbour.port);
		else if (kind == TLV_PORT_DESCRIPTION)
			take_text(value, length, neighbour.description, sizeof neighbour.description);
		else if (kind == TLV_SYSTEM)
			take_text(value, length, neighbour.system, sizeof neighbour.system);
		else if (kind == TLV_ORGANISATION)
			take_organisation(value, length, &neighbour);
		named |= kind == TLV_PORT && length >= 2;
	}
	if (!named)
		return false;
	*ret_neighbour = neighbour;
	return true;
}

static int64_t now_ns(void)
{
	struct timespec now = {0};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int host_lldp_listen(
	const char *device, int64_t patience_ns, struct host_neighbour *ret_neighbour, struct tare_err *err)
{
	/* the nearest bridge's address, which bridges do not pass on */
	static const unsigned char group[] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
	unsigned index = if_nametoindex(device);
	if (index == 0)
		return tare_fail_errno(err, errno, "there is no network device '%s'", device);
	AUTO_FD fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETHERTYPE_LLDP));
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot listen for LLDP (CAP_NET_RAW)");
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETHERTYPE_LLDP), .sll_ifindex = (int)index};
	struct packet_mreq membership = {.mr_ifindex = (int)index, .mr_type = PACKET_MR_MULTICAST, .mr_alen = 6};
	memcpy(membership.mr_address, group, sizeof group);
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
		setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof membership) < 0)
		return tare_fail_errno(err, errno, "cannot listen for LLDP on '%s'", device);
	for (int64_t until_ns = now_ns() + patience_ns, left_ns; (left_ns = until_ns - now_ns()) > 0;) {
		unsigned char frame[FRAME_BYTES];
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		struct sockaddr_ll from;
		socklen_t from_bytes = sizeof from;
		if (poll(&wait, 1, (int)(left_ns / 1000000) + 1) <= 0)
			continue;
		ssize_t got = recvfrom(fd, frame, sizeof frame, MSG_DONTWAIT, (struct sockaddr *)&from, &from_bytes);
		/* what this host announces itself is no neighbour */
		if (got > 0 && from.sll_pkttype != PACKET_OUTGOING &&
			host_lldp_parse(frame, (size_t)got, ret_neighbour))
			return 1;
	}
	return 0;
}

int host_lldp_add(struct host_snapshot *snapshot, const char *device, const struct host_neighbour *neighbour,
	struct tare_err *err)
{
	char key[128], line[512];
	struct text text = TEXT_IN(line);
	text_add(&text, "%s %s", neighbour->system[0] ? neighbour->system : neighbour->chassis, neighbour->port);
	if (neighbour->vlan >= 0)
		text_add(&text, " vlan %d", neighbour->vlan);
	if (neighbour->frame_bytes >= 0)
		text_add(&text, " frames to %d", neighbour->frame_bytes);
	if (host_key_text("lldp[].neighbour", device, key, sizeof key))
		host_snapshot_add(snapshot,
			&(struct host_fact){.key = key, .value = line, .kind = HOST_RUNTIME, .via = HOST_VIA_DEVICE});
	return host_snapshot_finish(snapshot, err);
}
