/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A socket that takes its packets from one queue of an interface before the
 * kernel's stack sees them (AF_XDP), and sends frames past it. It comes with its filter
 * (xdp_filter.h) and with an ordinary UDP socket on the same address and port, which
 * keeps the port, hears ICMP errors, and counts what came past the filter: on another
 * queue, or in fragments.
 *
 * All packets lie in one area of equal frames, which are handed round: xdp_receive and
 * xdp_take give frames to the caller, xdp_send and xdp_release take them. One thread
 * uses them; counters may be read by others. Functions used between requests
 * return -errno and write no text.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/net.h"
#include "net/route.h"

/* AUTO: the first that works of the other three, in their order. */
enum xdp_mode { XDP_MODE_AUTO, XDP_MODE_ZEROCOPY, XDP_MODE_COPY, XDP_MODE_GENERIC };

struct xdp_wish {
	unsigned queue;
	enum xdp_mode mode;
	int64_t busy_ns;     /* busy polling for as long in each receive call; 0: none */
};
/*
 * Reads ?dev=…&queue=…&mode=…&busy=… of a URL; *ret_device is "" where none is named (IF_NAMESIZE of room).
 */
int xdp_wish_read(const struct net_url *url, struct xdp_wish *ret_wish, char *ret_device, struct tare_err *err) TARE_MUST_USE;

/* At most this many frames at a time. */
enum { XDP_BATCH_MAX = 64 };

struct xdp_frame {
	uint8_t *bytes;
	uint32_t length;     /* of what it holds */
	uint64_t address;    /* where the kernel knows it */
};

struct xdp;

/*
 * Opens all of it for what arrives for `own` on path->device. `peer`: the only one the UDP socket hears (a
 * sender's), NULL: everybody (a responder's). own's port 0: one is found. Fails with a sentence that says what would help.
 */
int xdp_open(const struct xdp_wish *wish, const struct net_route *path, const struct net_address *own,
	     const struct net_address *peer, struct xdp **ret_xdp, struct tare_err *err) TARE_MUST_USE;
void xdp_close(struct xdp *xdp); /* NULL is fine; takes the filter off, puts busy polling back */
int xdp_fd(const struct xdp *xdp);      /* readable when a frame has arrived */
int xdp_udp_fd(const struct xdp *xdp);  /* the UDP socket beside it */
uint16_t xdp_port(const struct xdp *xdp);
size_t xdp_room(const struct xdp *xdp); /* octets of the longest frame that can be sent */
/* "a0, queue 0, driver, copied, …": what was got of what was wished for. */
void xdp_describe(const struct xdp *xdp, char *buffer, size_t room);

/* Frames that have arrived, at most XDP_BATCH_MAX of `most`; returns their number. Costs no system call. */
unsigned xdp_receive(struct xdp *xdp, struct xdp_frame *ret_frames, unsigned most);
/* An empty frame of xdp_room() octets; false: all are under way. */
bool xdp_take(struct xdp *xdp, struct xdp_frame *ret_frame);
void xdp_release(struct xdp *xdp, const struct xdp_frame *frame);
/*
 * Sends `count` frames, which are the caller's no longer, unless it fails: -EAGAIN with the ring full, -ENETDOWN or
 * -ENODEV with an interface that is down or gone (the last two only where the kernel has certainly not sent any).
 */
int xdp_send(struct xdp *xdp, const struct xdp_frame *frames, unsigned count);

/* ---- counters ---- */

/* One counter of the ring ("ring rx_ring_full") or the interface ("a0 rx_dropped"). */
struct xdp_counter {
	char name[56];
	uint64_t value;
};
enum { XDP_COUNTERS_MOST = 512 };
struct xdp_counts {
	size_t count;
	struct xdp_counter counter[XDP_COUNTERS_MOST];
};
/* Frames that came for us and were lost before we saw them: what the ring counts as such. */
uint64_t xdp_overrun(const struct xdp *xdp);
/* Datagrams that came for us past the filter, up to now. Reads them away. */
uint64_t xdp_elsewhere(struct xdp *xdp);
void xdp_counts_read(struct xdp *xdp, struct xdp_counts *ret_counts);
/*
 * What moved from one reading to the next, and every counter of the ring, as a list. Returns whether one that stands
 * for losses is among them; with `losses_only` no other is listed.
 */
bool xdp_counts_text(const struct xdp_counts *before, const struct xdp_counts *after, bool losses_only, char *buffer, size_t room);
