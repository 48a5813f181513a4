/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening and closing an AF_XDP socket. The order matters: the filter is attached
 * before the socket is bound (drivers want it for zero-copy), and the socket enters the
 * filter's map last, when it has frames to receive into.
 */
#include "net/xdp.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "net/xdp_private.h"
#include "wire/frame.h"

/* Since Linux 5.11; the C library of Debian 12 knows them, older ones do not. */
#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#define SO_BUSY_POLL_BUDGET 70
#endif
enum { BUSY_LOOKS = 40, BUSY_LOOK_MS = 25 };
enum { BUSY_BUDGET = 64, HEADROOM = 256 /* XDP_PACKET_HEADROOM */ };

int xdp_wish_read(const struct net_url *url, struct xdp_wish *ret_wish, char *ret_device, struct tare_err *err)
{
	static const char *const known[] = {"dev", "queue", "mode", "busy", NULL};
	static const char *const modes[] = {"auto", "zerocopy", "copy", "generic", NULL};
	struct xdp_wish wish = {0};
	char value[32] = "", device[IF_NAMESIZE] = "";
	uint64_t queue = 0;
	if (url->path[0] && url->path[0] != '?')
		return tare_fail(err, TARE_E_USAGE, "xdp:// has no path: '%.100s'", url->path);
	if (net_url_options(url, known, err) < 0)
		return -1;
	if (net_url_option(url, "dev", device, sizeof device) < 0)
		return tare_fail(err, TARE_E_USAGE, "dev= of xdp:// is longer than the name of an interface can be");
	if (net_url_option(url, "queue", value, sizeof value) && (parse_count(value, &queue, err) < 0 || queue > 255))
		return tare_fail(err, TARE_E_USAGE, "queue=%s of xdp:// is no number from 0 to 255", value);
	if (net_url_option(url, "busy", value, sizeof value) &&
		(parse_duration_ns(value, &wish.busy_ns, err) < 0 || wish.busy_ns < 1000 || wish.busy_ns > 1000000))
		return tare_fail(err, TARE_E_USAGE, "busy=%s of xdp:// is no time from 1us to 1ms", value);
	if (net_url_option(url, "mode", value, sizeof value)) {
		size_t i = 0;
		while (modes[i] && strcmp(modes[i], value) != 0)
			i++;
		if (!modes[i])
			return tare_fail(err, TARE_E_USAGE,
				"mode=%s of xdp://: there are auto, zerocopy, copy and generic", value);
		wish.mode = (enum xdp_mode)i;
	}
	wish.queue = (unsigned)queue;
	*ret_wish = wish;
	memcpy(ret_device, device, sizeof device);
	return 0;
}

/* ---- the UDP socket beside it ---- */

static int open_udp(
	struct xdp *xdp, const struct net_address *own, const struct net_address *peer, struct tare_err *err)
{
	struct sockaddr_storage name;
	socklen_t length = sizeof name;
	int on = 1;
	xdp->udp_fd = socket(own->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (xdp->udp_fd < 0)
		return tare_fail_errno(err, errno, "cannot open a socket for %s", own->text);
	if (xdp->path.v6)
		setsockopt(xdp->udp_fd, SOL_IPV6, IPV6_V6ONLY, &on, sizeof on);
	if (bind(xdp->udp_fd, (const struct sockaddr *)&own->storage, own->length) < 0)
		return tare_fail_errno(err, errno, "cannot keep the port of %s%s", own->text,
			errno == EADDRINUSE ? " to ourselves" : "");
	if (peer && setsockopt(xdp->udp_fd, xdp->path.v6 ? SOL_IPV6 : SOL_IP, xdp->path.v6 ? IPV6_RECVERR : IP_RECVERR,
			    &on, sizeof on) < 0)
		return tare_fail_errno(err, errno, "cannot ask for network errors of %s", peer->text);
	if (peer && connect(xdp->udp_fd, (const struct sockaddr *)&peer->storage, peer->length) < 0)
		return tare_fail_errno(err, errno, "cannot reach %s", peer->text);
	if (getsockname(xdp->udp_fd, (struct sockaddr *)&name, &length) < 0)
		return tare_fail_errno(err, errno, "cannot learn the port of %s", own->text);
	net_buffers(xdp->udp_fd, 1 << 20);
	/* both families keep it at the same place */
	xdp->port = ntohs(((const struct sockaddr_in *)(const void *)&name)->sin_port);
	return 0;
}

/* ---- queues and frames ---- */

/* How many queues receive; 0: the driver does not tell. */
static unsigned queues_of(const char *device)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
	struct ifreq request = {.ifr_data = (char *)&channels};
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request) < 0)
		return 0;
	return channels.rx_count + channels.combined_count;
}

static int check_queue(const struct xdp *xdp, struct tare_err *err)
{
	unsigned queues = queues_of(xdp->path.device);
	if (queues == 0 || xdp->wish.queue < queues)
		return 0;
	return tare_fail(err, TARE_E_USAGE, "%s has no queue %u: it has %u (ethtool -l %s), counted from 0",
		xdp->path.device, xdp->wish.queue, queues, xdp->path.device);
}

static int open_area(struct xdp *xdp, struct tare_err *err)
{
	/* frames longer than a page are beyond AF_XDP without its fragments */
	xdp->frame_bytes = xdp->path.mtu + FRAME_ETHERNET_BYTES + HEADROOM <= 2048 ? 2048 : 4096;
	void *area = mmap(NULL, XDP_FRAMES * xdp->frame_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (area == MAP_FAILED)
		return tare_fail_errno(err, errno, "no memory for %d frames of %s", XDP_FRAMES, xdp->path.device);
	xdp->area = area;
	for (unsigned i = 0; i < XDP_FRAMES; i++)
		xdp->free[xdp->free_count++] = (uint64_t)i * xdp->frame_bytes;
	return 0;
}

static int fail_socket(struct tare_err *err, const struct xdp *xdp, int why)
{
	const char *device = xdp->path.device;
	if (why == ENOBUFS)
		return tare_fail(err, TARE_E_SYSTEM,
			"cannot lock %zu MB of frames for %s: the limit of locked memory is too low\n  ulimit -l "
			"unlimited",
			XDP_FRAMES * xdp->frame_bytes >> 20, device);
	if (why == EBUSY)
		return tare_fail(err, TARE_E_SYSTEM, "queue %u of %s serves another AF_XDP socket already",
			xdp->wish.queue, device);
	if (why == EOPNOTSUPP && xdp->wish.mode == XDP_MODE_ZEROCOPY)
		return tare_fail(err, TARE_E_UNSUPPORTED,
			"the driver of %s has no zero-copy; mode=auto takes what there is", device);
	if (why == EAFNOSUPPORT)
		return tare_fail(err, TARE_E_UNSUPPORTED, "this kernel has no AF_XDP (CONFIG_XDP_SOCKETS)");
	return xdp_fail(err, why, "cannot open an AF_XDP socket", device);
}

/* 0 or an errno; an area can be bound once, whether that succeeds or not. */
static int try_bind(struct xdp *xdp)
{
	static const uint16_t flags[] = {[XDP_MODE_AUTO] = 0,
		[XDP_MODE_ZEROCOPY] = XDP_ZEROCOPY,
		[XDP_MODE_COPY] = XDP_COPY,
		[XDP_MODE_GENERIC] = XDP_COPY};
	struct xsk_umem_config area = {
		.fill_size = XDP_RX_FRAMES, .comp_size = XDP_TX_FRAMES, .frame_size = (uint32_t)xdp->frame_bytes};
	struct xsk_socket_config rings = {.rx_size = XDP_RX_FRAMES,
		.tx_size = XDP_TX_FRAMES,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		/* without a wish the kernel tries zero-copy itself and copies where there is none */
		.bind_flags = (uint16_t)(flags[xdp->wish.mode] | XDP_USE_NEED_WAKEUP)};
	int why = xsk_umem__create(
		&xdp->umem, xdp->area, XDP_FRAMES * xdp->frame_bytes, &xdp->fill, &xdp->completion, &area);
	if (why == 0)
		why = xsk_socket__create(
			&xdp->socket, xdp->path.device, xdp->wish.queue, xdp->umem, &xdp->rx, &xdp->tx, &rings);
	if (why == 0)
		return 0;
	xdp->socket = NULL;
	if (xdp->umem)
		xsk_umem__delete(xdp->umem);
	xdp->umem = NULL;
	return -why;
}

/* The kernel takes a socket that was closed off its queue when it finds the time, some milliseconds later. */
static int bind_socket(struct xdp *xdp, struct tare_err *err)
{
	int why = try_bind(xdp);
	for (int i = 0; why == EBUSY && i < BUSY_LOOKS; i++) {
		poll(NULL, 0, BUSY_LOOK_MS);
		why = try_bind(xdp);
	}
	if (why != 0)
		return fail_socket(err, xdp, why);
	xdp->fd = xsk_socket__fd(xdp->socket);
	struct xdp_options options = {0};
	socklen_t length = sizeof options;
	if (getsockopt(xdp->fd, SOL_XDP, XDP_OPTIONS, &options, &length) == 0)
		xdp->zerocopy = options.flags & XDP_OPTIONS_ZEROCOPY;
	return 0;
}

static int poll_busily(struct xdp *xdp, struct tare_err *err)
{
	int on = 1, us = (int)(xdp->wish.busy_ns / 1000), budget = BUSY_BUDGET;
	if (xdp->wish.busy_ns == 0)
		return 0;
	if (setsockopt(xdp->fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &on, sizeof on) < 0 ||
		setsockopt(xdp->fd, SOL_SOCKET, SO_BUSY_POLL, &us, sizeof us) < 0 ||
		setsockopt(xdp->fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &budget, sizeof budget) < 0)
		return xdp_fail(err, errno, "cannot switch busy polling on", xdp->path.device);
	return napi_defer(xdp->path.device, xdp->path.index, &xdp->napi, err);
}

static int enter_map(struct xdp *xdp, struct tare_err *err)
{
	uint32_t queue = xdp->wish.queue;
	if (bpf_map_update_elem(xdp->filter.map_fd, &queue, &xdp->fd, BPF_ANY) < 0)
		return xdp_fail(err, errno, "cannot enter the AF_XDP socket into its filter", xdp->path.device);
	return 0;
}

static int open_parts(
	struct xdp *xdp, const struct net_address *own, const struct net_address *peer, struct tare_err *err)
{
	struct xdp_take take = {.v6 = xdp->path.v6};
	struct xdp_frame none[1];
	bool native = xdp->wish.mode != XDP_MODE_GENERIC;
	bool generic = xdp->wish.mode == XDP_MODE_AUTO || xdp->wish.mode == XDP_MODE_GENERIC;
	if (check_queue(xdp, err) < 0 || open_udp(xdp, own, peer, err) < 0 || open_area(xdp, err) < 0)
		return -1;
	memcpy(take.address, xdp->path.from, sizeof take.address);
	take.port = xdp->port;
	if (xdp_filter_load(&take, XDP_PASS, &xdp->filter, err) < 0 ||
		xdp_filter_attach(&xdp->filter, xdp->path.index, xdp->path.device, native, generic, err) < 0 ||
		bind_socket(xdp, err) < 0 || poll_busily(xdp, err) < 0)
		return -1;
	xdp_receive(xdp, none, 1); /* hands the kernel its frames */
	return enter_map(xdp, err);
}

int xdp_open(const struct xdp_wish *wish, const struct net_route *path, const struct net_address *own,
	const struct net_address *peer, struct xdp **ret_xdp, struct tare_err *err)
{
	struct xdp *xdp = calloc(1, sizeof *xdp);
	if (!xdp)
		return tare_fail_errno(err, ENOMEM, "cannot hold the frames of %s", path->device);
	xdp->path = *path;
	xdp->wish = *wish;
	xdp->udp_fd = xdp->fd = -1;
	xdp->filter = (struct xdp_filter){.map_fd = -1, .program_fd = -1, .link_fd = -1};
	if (open_parts(xdp, own, peer, err) < 0) {
		xdp_close(xdp);
		return -1;
	}
	*ret_xdp = xdp;
	return 0;
}

void xdp_close(struct xdp *xdp)
{
	if (!xdp)
		return;
	/* first the filter: from then on packets go the usual way */
	xdp_filter_close(&xdp->filter);
	napi_restore(xdp->napi);
	if (xdp->socket)
		xsk_socket__delete(xdp->socket);
	if (xdp->umem)
		xsk_umem__delete(xdp->umem);
	if (xdp->area)
		munmap(xdp->area, XDP_FRAMES * xdp->frame_bytes);
	if (xdp->udp_fd >= 0)
		close(xdp->udp_fd);
	free(xdp);
}

int xdp_fd(const struct xdp *xdp)
{
	return xdp->fd;
}

int xdp_udp_fd(const struct xdp *xdp)
{
	return xdp->udp_fd;
}

uint16_t xdp_port(const struct xdp *xdp)
{
	return xdp->port;
}

size_t xdp_room(const struct xdp *xdp)
{
	size_t frame = xdp->path.mtu + FRAME_ETHERNET_BYTES, room = xdp->frame_bytes - HEADROOM;
	return frame < room ? frame : room;
}

void xdp_describe(const struct xdp *xdp, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	text_add(&text, "%s, queue %u, filter %s, %s", xdp->path.device, xdp->wish.queue,
		xdp->filter.generic ? "behind the driver (generic)" : "in the driver",
		xdp->zerocopy ? "zero-copy" : "copied");
	if (xdp->wish.busy_ns) {
		char busy[32];
		format_duration(xdp->wish.busy_ns, busy, sizeof busy);
		text_add(&text, ", busy polling for %s", busy);
	}
}
