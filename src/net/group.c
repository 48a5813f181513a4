/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options and memberships of multicast groups. The MCAST_ options of RFC 3678 serve both families. */
#include "net/group.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "net/path.h"

/* Linux 4.20; older C libraries have no name for it. */
#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

bool net_is_group(const struct net_address *address)
{
	if (address->storage.ss_family == AF_INET)
		return IN_MULTICAST(ntohl(((const struct sockaddr_in *)&address->storage)->sin_addr.s_addr));
	return IN6_IS_ADDR_MULTICAST(&((const struct sockaddr_in6 *)&address->storage)->sin6_addr);
}

bool net_same_host(const struct sockaddr_storage *one, const struct sockaddr_storage *other)
{
	if (one->ss_family != other->ss_family)
		return false;
	if (one->ss_family == AF_INET)
		return ((const struct sockaddr_in *)one)->sin_addr.s_addr == ((const struct sockaddr_in *)other)->sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *)one)->sin6_addr, &((const struct sockaddr_in6 *)other)->sin6_addr);
}

/* asked: where the interface was named, "if=" or "--interface ". */
static int check_device(struct net_group *group, const char *asked, const struct net_address *address, struct tare_err *err)
{
	struct ifreq request = {0};
	if (!group->device[0])
		return 0;
	group->index = if_nametoindex(group->device);
	if (group->index == 0)
		return tare_fail(err, TARE_E_USAGE, "%s%s: there is no interface of that name", asked, group->device);
	AUTO_FD fd = socket(address->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(request.ifr_name, group->device, sizeof request.ifr_name);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		return tare_fail_errno(err, errno, "%s%s: cannot ask what the interface does", asked, group->device);
	if (!(request.ifr_flags & IFF_UP))
		return tare_fail(err, TARE_E_USAGE, "%s%s: the interface is down", asked, group->device);
	if (!(request.ifr_flags & IFF_MULTICAST))
		return tare_fail(err, TARE_E_USAGE,
			"%s%s: the interface does no multicast; 'ip link' shows MULTICAST where one does", asked, group->device);
	return 0;
}

static int read_source(const char *value, const struct net_address *address, struct net_group *group, struct tare_err *err)
{
	if (net_source_parse(value, &group->source, NULL) < 0)
		return tare_fail(err, TARE_E_USAGE, "source=%.60s is no numeric address", value);
	if (group->source.storage.ss_family != address->storage.ss_family)
		return tare_fail(err, TARE_E_USAGE, "source=%.60s is of another family than %s", value, address->text);
	if (net_is_group(&group->source))
		return tare_fail(err, TARE_E_USAGE, "source=%.60s is a group itself; name a host that sends to it", value);
	return 0;
}

static int read_reply(const char *value, enum net_group_side side, struct net_group *group, struct tare_err *err)
{
	if (side == NET_GROUP_SENDER)
		return tare_fail(err, TARE_E_USAGE, "reply= is for 'tare echo': the responder decides where its answers go");
	if (strcmp(value, "multicast") != 0 && strcmp(value, "unicast") != 0)
		return tare_fail(err, TARE_E_USAGE, "reply=%.40s is neither unicast nor multicast", value);
	group->reply_to_group = value[0] == 'm';
	return 0;
}

static int read_numbers(const struct net_url *url, struct net_group *group, struct tare_err *err)
{
	char value[8] = "";
	uint64_t ttl = 0;
	int given = net_url_option(url, "ttl", value, sizeof value);
	if (given < 0 || (given > 0 && (parse_count(value, &ttl, NULL) < 0 || ttl > 255)))
		return tare_fail(err, TARE_E_USAGE, "ttl= of udp:// takes a number from 0 (this host) to 255");
	if (given) {
		group->ttl = (int)ttl;
		group->has_ttl = true;
	}
	given = net_url_option(url, "loop", value, sizeof value);
	if (given < 0 || (given > 0 && strcmp(value, "0") != 0 && strcmp(value, "1") != 0))
		return tare_fail(err, TARE_E_USAGE, "loop= of udp:// takes 1 (members on this host hear it too) or 0");
	group->loop = given && value[0] == '1';
	return 0;
}

int net_group_read(const struct net_url *url, const struct net_address *address, enum net_group_side side,
	const char *device, struct net_group *ret_group, struct tare_err *err)
{
	static const char *const known[] = {"if", "source", "ttl", "loop", "reply", NULL};
	struct net_group group = {.ttl = 1};
	char value[80] = "";
	if (url->path[0] && url->path[0] != '?')
		return tare_fail(err, TARE_E_USAGE, "udp:// has no path: '%.100s'", url->path);
	if (net_url_options(url, known, err) < 0)
		return -1;
	int named = net_url_option(url, "if", group.device, sizeof group.device);
	if (named < 0 || (named > 0 && !group.device[0]))
		return tare_fail(err, TARE_E_USAGE, "if= of udp:// is not the name of an interface");
	/* a name that is too long is refused where --interface is applied */
	if (!named && device && strlen(device) < sizeof group.device)
		memcpy(group.device, device, strlen(device) + 1);
	int given = net_url_option(url, "source", value, sizeof value);
	if (given < 0)
		return tare_fail(err, TARE_E_USAGE, "source= of udp:// is longer than an address can be");
	if (given > 0 && read_source(value, address, &group, err) < 0)
		return -1;
	given = net_url_option(url, "reply", value, sizeof value);
	if (given && read_reply(given < 0 ? "?" : value, side, &group, err) < 0)
		return -1;
	if (read_numbers(url, &group, err) < 0 || check_device(&group, named ? "if=" : "--interface ", address, err) < 0)
		return -1;
	*ret_group = group;
	return 0;
}

void net_group_scope(const struct net_group *group, struct net_address *address)
{
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address->storage;
	if (address->storage.ss_family == AF_INET6 &&
		(IN6_IS_ADDR_MC_LINKLOCAL(&v6->sin6_addr) || IN6_IS_ADDR_MC_NODELOCAL(&v6->sin6_addr)) && !v6->sin6_scope_id)
		v6->sin6_scope_id = group->index;
}

static int fail_join(const struct net_group *group, const struct net_address *address, int why, struct tare_err *err)
{
	if (why == ENODEV && !group->index)
		return tare_fail(err, TARE_E_USAGE,
			"no route to the group %s and no interface given; name one behind the port, as '?if=eth0'", address->host);
	if (why == ENOBUFS)
		return tare_fail(err, TARE_E_SYSTEM, "cannot join %s: too many groups on one socket or host\n"
			"  'sysctl net.ipv4.igmp_max_memberships' tells the limit", address->host);
	return tare_fail_errno(err, why, "cannot join the group %s%s%s", address->host, group->device[0] ? " on " : "",
		group->device);
}

static int set_sending(int fd, const struct net_group *group, bool v6)
{
	int loop = group->loop, ttl = group->ttl, none = 0, level = v6 ? SOL_IPV6 : SOL_IP;
	int index = (int)group->index;
	struct ip_mreqn by = {.imr_ifindex = index};
	/* before Linux 4.20 there is no such option for IPv6: memberships of others then count as ours */
	if (setsockopt(fd, level, v6 ? IPV6_MULTICAST_ALL : IP_MULTICAST_ALL, &none, sizeof none) < 0 && !v6)
		return -1;
	if (setsockopt(fd, level, v6 ? IPV6_MULTICAST_HOPS : IP_MULTICAST_TTL, &ttl, sizeof ttl) < 0 ||
		setsockopt(fd, level, v6 ? IPV6_MULTICAST_LOOP : IP_MULTICAST_LOOP, &loop, sizeof loop) < 0)
		return -1;
	if (!index)
		return 0;
	return v6 ? setsockopt(fd, level, IPV6_MULTICAST_IF, &index, sizeof index)
		  : setsockopt(fd, level, IP_MULTICAST_IF, &by, sizeof by);
}

int net_group_join(int fd, const struct net_group *group, const struct net_address *address, struct tare_err *err)
{
	bool v6 = address->storage.ss_family == AF_INET6;
	int level = v6 ? SOL_IPV6 : SOL_IP, status;
	if (set_sending(fd, group, v6) < 0)
		return tare_fail_errno(err, errno, "cannot send to the group %s%s%s", address->host,
			group->device[0] ? " by " : "", group->device);
	if (group->source.length) {
		struct group_source_req request = {
			.gsr_interface = group->index, .gsr_group = address->storage, .gsr_source = group->source.storage};
		status = setsockopt(fd, level, MCAST_JOIN_SOURCE_GROUP, &request, sizeof request);
	} else {
		struct group_req request = {.gr_interface = group->index, .gr_group = address->storage};
		status = setsockopt(fd, level, MCAST_JOIN_GROUP, &request, sizeof request);
	}
	return status < 0 ? fail_join(group, address, errno, err) : 0;
}
