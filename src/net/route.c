/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Routes, neighbours and interfaces through libmnl and the interface ioctls. */
#include "net/route.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "base/cleanup.h"

enum { BUFFER_BYTES = 8192, LOOKS = 60, LOOK_MS = 50 };

static void mnl_end(struct mnl_socket *const *socket)
{
	if (*socket)
		mnl_socket_close(*socket);
}

static const void *bytes_of(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return &((const struct sockaddr_in *)address)->sin_addr;
	return &((const struct sockaddr_in6 *)address)->sin6_addr;
}

static size_t length_of(bool v6)
{
	return v6 ? 16 : 4;
}

static int keep_attribute(const struct nlattr *attribute, void *untyped)
{
	const struct nlattr **attributes = untyped;
	if (mnl_attr_get_type(attribute) <= RTA_MAX)
		attributes[mnl_attr_get_type(attribute)] = attribute;
	return MNL_CB_OK;
}

/* One request, one answer; 0 or an errno. `each` gets the answer, the acknowledgement none. */
static int ask(const struct nlmsghdr *request, mnl_cb_t each, void *context)
{
	_Alignas(struct nlmsghdr) char answer[BUFFER_BYTES];
	struct timeval patience = {.tv_sec = 2};
	AUTO_CLEANUP(mnl_end) struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!socket || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
		setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0 ||
		mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		return errno;
	ssize_t got = mnl_socket_recvfrom(socket, answer, sizeof answer);
	if (got < 0)
		return errno;
	return mnl_cb_run(answer, (size_t)got, 0, mnl_socket_get_portid(socket), each, context) < 0 ? errno : 0;
}

/* ---- routes ---- */

struct route {
	struct net_route *path;
	unsigned type;
	bool unusual; /* IPv4 by way of an IPv6 hop */
};

static bool take_address(const struct nlattr *attribute, bool v6, uint8_t *ret_address)
{
	if (!attribute || mnl_attr_get_payload_len(attribute) != length_of(v6))
		return false;
	memcpy(ret_address, mnl_attr_get_payload(attribute), length_of(v6));
	return true;
}

static int take_route(const struct nlmsghdr *message, void *untyped)
{
	struct route *route = untyped;
	const struct nlattr *attributes[RTA_MAX + 1] = {NULL};
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	if (message->nlmsg_type != RTM_NEWROUTE)
		return MNL_CB_OK;
	mnl_attr_parse(message, sizeof *header, keep_attribute, attributes);
	route->type = header->rtm_type;
	route->unusual = attributes[RTA_VIA] != NULL;
	if (attributes[RTA_OIF] && mnl_attr_get_payload_len(attributes[RTA_OIF]) == sizeof(uint32_t))
		route->path->index = mnl_attr_get_u32(attributes[RTA_OIF]);
	take_address(attributes[RTA_GATEWAY], route->path->v6, route->path->hop);
	take_address(attributes[RTA_PREFSRC], route->path->v6, route->path->from);
	return MNL_CB_OK;
}

static int ask_route(struct route *route, unsigned index)
{
	_Alignas(struct nlmsghdr) char buffer[BUFFER_BYTES];
	struct net_route *path = route->path;
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	request->nlmsg_type = RTM_GETROUTE;
	request->nlmsg_flags = NLM_F_REQUEST;
	struct rtmsg *header = mnl_nlmsg_put_extra_header(request, sizeof *header);
	header->rtm_family = path->v6 ? AF_INET6 : AF_INET;
	header->rtm_dst_len = (unsigned char)(8 * length_of(path->v6));
	mnl_attr_put(request, RTA_DST, length_of(path->v6), path->hop);
	if (index)
		mnl_attr_put_u32(request, RTA_OIF, index);
	return ask(request, take_route, route);
}

/* ---- interfaces ---- */

static int fail_device(struct tare_err *err, const char *device)
{
	return tare_fail(err, TARE_E_USAGE, "there is no interface '%.20s' here; 'ip link' lists them", device);
}

static int read_interface(struct net_route *path, struct tare_err *err)
{
	struct ifreq request = {0};
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(request.ifr_name, path->device, sizeof path->device);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		return tare_fail_errno(err, errno, "cannot read the state of %s", path->device);
	if (request.ifr_flags & IFF_LOOPBACK)
		return tare_fail(err, TARE_E_UNSUPPORTED,
			"%s is the loopback interface: it has no frames to bypass the stack with; take udp://",
			path->device);
	if (!(request.ifr_flags & IFF_UP))
		return tare_fail(err, TARE_E_SYSTEM, "%s is down\n  ip link set %s up", path->device, path->device);
	if (ioctl(fd, SIOCGIFHWADDR, &request) < 0)
		return tare_fail_errno(err, errno, "cannot read the MAC address of %s", path->device);
	if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return tare_fail(err, TARE_E_UNSUPPORTED, "%s carries no Ethernet frames; take udp://", path->device);
	memcpy(path->own_mac, request.ifr_hwaddr.sa_data, sizeof path->own_mac);
	if (ioctl(fd, SIOCGIFMTU, &request) < 0)
		return tare_fail_errno(err, errno, "cannot read the MTU of %s", path->device);
	path->mtu = (unsigned)request.ifr_mtu;
	return 0;
}

static void addresses_end(struct ifaddrs *const *addresses)
{
	if (*addresses)
		freeifaddrs(*addresses);
}

/* The interface that has the address, `device` if that is among them; "" where none does. */
static int owner_of(const struct sockaddr_storage *address, const char *device, char *ret_name)
{
	AUTO_CLEANUP(addresses_end) struct ifaddrs *list = NULL;
	size_t length = length_of(address->ss_family == AF_INET6);
	ret_name[0] = '\0';
	if (getifaddrs(&list) < 0)
		return -errno;
	for (const struct ifaddrs *one = list; one; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != address->ss_family ||
			memcmp(bytes_of((const struct sockaddr_storage *)(const void *)one->ifa_addr),
				bytes_of(address), length) != 0)
			continue;
		if (ret_name[0] == '\0' || strcmp(one->ifa_name, device) == 0)
			snprintf(ret_name, IF_NAMESIZE, "%s", one->ifa_name);
	}
	return 0;
}

int net_route_interface(
	const struct net_address *address, const char *device, struct net_route *ret_route, struct tare_err *err)
{
	struct net_route path = {.v6 = address->storage.ss_family == AF_INET6};
	int status = owner_of(&address->storage, device, path.device);
	if (device[0] && !if_nametoindex(device))
		return fail_device(err, device);
	if (status < 0)
		return tare_fail_errno(err, -status, "cannot list the addresses of this host");
	if (!path.device[0])
		return tare_fail(err, TARE_E_USAGE, "no interface of this host has the address %s", address->host);
	if (device[0] && strcmp(device, path.device) != 0)
		return tare_fail(
			err, TARE_E_USAGE, "%s is an address of %s, not of %s", address->host, path.device, device);
	path.index = if_nametoindex(path.device);
	memcpy(path.from, bytes_of(&address->storage), length_of(path.v6));
	if (read_interface(&path, err) < 0)
		return -1;
	*ret_route = path;
	return 0;
}

int net_route_find(
	const struct net_address *address, const char *device, struct net_route *ret_route, struct tare_err *err)
{
	struct net_route path = {.v6 = address->storage.ss_family == AF_INET6};
	struct route route = {.path = &path};
	unsigned wanted = 0;
	char owner[IF_NAMESIZE];
	if (device && !(wanted = if_nametoindex(device)))
		return fail_device(err, device);
	if (device) {
		snprintf(path.device, sizeof path.device, "%s", device);
		if (read_interface(&path, err) < 0)
			return -1;
	}
	if (owner_of(&address->storage, "", owner) == 0 && owner[0])
		return tare_fail(err, TARE_E_UNSUPPORTED,
			"%s is an address of this host (%s): what is sent to it passes no interface; take udp://",
			address->host, owner);
	memcpy(path.hop, bytes_of(&address->storage), length_of(path.v6));
	int why = ask_route(&route, wanted);
	if (why)
		return tare_fail_errno(
			err, why, "no way to %s%s%s", address->host, device ? " through " : "", device ? device : "");
	if (route.type != RTN_UNICAST || !path.index || route.unusual)
		return tare_fail(err, TARE_E_UNSUPPORTED,
			"no plain route to %s: xdp:// needs a unicast one through an Ethernet interface",
			address->host);
	if (!if_indextoname(path.index, path.device))
		return tare_fail_errno(err, errno, "cannot name the interface to %s", address->host);
	if (read_interface(&path, err) < 0)
		return -1;
	*ret_route = path;
	return 0;
}

/* ---- neighbours ---- */

struct neighbour {
	unsigned state;
	uint8_t mac[6];
	bool has_mac;
};

static int take_neighbour(const struct nlmsghdr *message, void *untyped)
{
	struct neighbour *neighbour = untyped;
	const struct nlattr *attributes[RTA_MAX + 1] = {NULL};
	const struct ndmsg *header = mnl_nlmsg_get_payload(message);
	if (message->nlmsg_type != RTM_NEWNEIGH)
		return MNL_CB_OK;
	mnl_attr_parse(message, sizeof *header, keep_attribute, attributes);
	neighbour->state = header->ndm_state;
	const struct nlattr *mac = attributes[NDA_LLADDR];
	neighbour->has_mac = mac && mnl_attr_get_payload_len(mac) == sizeof neighbour->mac;
	if (neighbour->has_mac)
		memcpy(neighbour->mac, mnl_attr_get_payload(mac), sizeof neighbour->mac);
	return MNL_CB_OK;
}

/* RTM_GETNEIGH, or RTM_NEWNEIGH with NTF_USE: as if a packet had been sent there. 0 or an errno. */
static int ask_neighbour(const struct net_route *path, uint16_t type, struct neighbour *ret_neighbour)
{
	_Alignas(struct nlmsghdr) char buffer[BUFFER_BYTES];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	bool use = type == RTM_NEWNEIGH;
	request->nlmsg_type = type;
	request->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | (use ? NLM_F_CREATE | NLM_F_ACK : 0));
	struct ndmsg *header = mnl_nlmsg_put_extra_header(request, sizeof *header);
	header->ndm_family = path->v6 ? AF_INET6 : AF_INET;
	header->ndm_ifindex = (int)path->index;
	header->ndm_flags = use ? NTF_USE : 0;
	mnl_attr_put(request, NDA_DST, length_of(path->v6), path->hop);
	return ask(request, take_neighbour, ret_neighbour);
}

static bool look(struct net_route *path)
{
	struct neighbour neighbour = {0};
	enum { USABLE = NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT };
	if (ask_neighbour(path, RTM_GETNEIGH, &neighbour) != 0 || !neighbour.has_mac || !(neighbour.state & USABLE))
		return false;
	memcpy(path->hop_mac, neighbour.mac, sizeof path->hop_mac);
	return true;
}

int net_route_neighbour(struct net_route *path, struct tare_err *err)
{
	char hop[INET6_ADDRSTRLEN] = "?";
	inet_ntop(path->v6 ? AF_INET6 : AF_INET, path->hop, hop, sizeof hop);
	/* also when the entry is there: it may be stale, and in use it is kept and checked */
	int why = ask_neighbour(path, RTM_NEWNEIGH, &(struct neighbour){0});
	for (int i = 0; i < LOOKS; i++) {
		if (look(path))
			return 0;
		if (why)
			return tare_fail_errno(err, why,
				"the kernel knows no MAC address of %s on %s and cannot be made to ask", hop,
				path->device);
		poll(NULL, 0, LOOK_MS);
	}
	return tare_fail(err, TARE_E_INVALID, "%s does not answer on %s: no MAC address of it became known (%s)", hop,
		path->device, path->v6 ? "neighbour discovery" : "ARP");
}

void net_route_renew(struct net_route *path)
{
	look(path);
}
