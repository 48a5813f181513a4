/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames between us and the kernel, without a system call but to send. A frame that was
 * received may be sent as it is: it comes back through the completion ring like any other.
 */
#include <errno.h>
#include <sys/socket.h>

#include "net/xdp_private.h"

/* The kernel takes 32 frames a call where it copies; a driver that is busy is asked again as often as this. */
enum { ASK_MOST = 8 };

static void give_back(struct xdp *xdp, uint64_t address)
{
	/* a packet begins somewhere within its frame */
	xdp->free[xdp->free_count++] = address - address % xdp->frame_bytes;
}

static void collect_sent(struct xdp *xdp)
{
	uint32_t at = 0, done = xsk_ring_cons__peek(&xdp->completion, XDP_TX_FRAMES, &at);
	for (uint32_t i = 0; i < done; i++)
		give_back(xdp, *xsk_ring_cons__comp_addr(&xdp->completion, at + i));
	if (done)
		xsk_ring_cons__release(&xdp->completion, done);
}

/* Frames to receive into, as many as are free above those kept for sending. */
static void refill(struct xdp *xdp)
{
	uint32_t at = 0, room = XDP_RX_FRAMES - xdp->waiting;
	if (room > xdp->free_count)
		room = xdp->free_count;
	if (room == 0 || xsk_ring_prod__reserve(&xdp->fill, room, &at) != room)
		return;
	for (uint32_t i = 0; i < room; i++)
		*xsk_ring_prod__fill_addr(&xdp->fill, at + i) = xdp->free[--xdp->free_count];
	xsk_ring_prod__submit(&xdp->fill, room);
	xdp->waiting += room;
}

static int ask_to_send(struct xdp *xdp)
{
	if (!xsk_ring_prod__needs_wakeup(&xdp->tx)) {
		xdp->unsent = false;
		return 0;
	}
	int why = 0;
	for (int i = 0; i < ASK_MOST; i++) {
		why = sendto(xdp->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? errno : 0;
		if (why != EAGAIN && why != EBUSY && why != ENOBUFS)
			break;
		/* EBUSY: one frame was dropped (the interface counts it), and those behind it still wait */
		collect_sent(xdp);
	}
	xdp->unsent = why == EAGAIN || why == EBUSY || why == ENOBUFS;
	return why;
}

unsigned xdp_receive(struct xdp *xdp, struct xdp_frame *ret_frames, unsigned most)
{
	uint32_t at = 0;
	if (xdp->unsent)
		ask_to_send(xdp);
	uint32_t got = xsk_ring_cons__peek(&xdp->rx, most < XDP_BATCH_MAX ? most : XDP_BATCH_MAX, &at);
	for (uint32_t i = 0; i < got; i++) {
		const struct xdp_desc *packet = xsk_ring_cons__rx_desc(&xdp->rx, at + i);
		ret_frames[i] = (struct xdp_frame){xdp->area + packet->addr, packet->len, packet->addr};
	}
	if (got) {
		xsk_ring_cons__release(&xdp->rx, got);
		xdp->waiting -= got;
		if (xdp->waiting > XDP_RX_FRAMES * 3 / 4)
			return got;
	}
	collect_sent(xdp);
	refill(xdp);
	if (got)
		return got;
	/* the driver waits to be asked, or runs in our calls alone */
	if (xdp->wish.busy_ns || xsk_ring_prod__needs_wakeup(&xdp->fill))
		recvfrom(xdp->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
	return 0;
}

bool xdp_take(struct xdp *xdp, struct xdp_frame *ret_frame)
{
	if (xdp->free_count == 0)
		collect_sent(xdp);
	if (xdp->free_count == 0)
		return false;
	uint64_t address = xdp->free[--xdp->free_count];
	*ret_frame = (struct xdp_frame){xdp->area + address, 0, address};
	return true;
}

void xdp_release(struct xdp *xdp, const struct xdp_frame *frame)
{
	give_back(xdp, frame->address);
}

/*
 * Takes frames back that the kernel has not looked at: where it copies, it does so in our own calls only, and a
 * call that fails because of the interface's state fails before.
 */
static void take_back(struct xdp *xdp, unsigned count)
{
	xdp->tx.cached_prod -= count;
	__atomic_store_n(xdp->tx.producer, *xdp->tx.producer - count, __ATOMIC_RELEASE);
}

int xdp_send(struct xdp *xdp, const struct xdp_frame *frames, unsigned count)
{
	uint32_t at = 0;
	if (xsk_ring_prod__reserve(&xdp->tx, count, &at) != count) {
		ask_to_send(xdp);
		collect_sent(xdp);
		if (xsk_ring_prod__reserve(&xdp->tx, count, &at) != count)
			return -EAGAIN;
	}
	for (unsigned i = 0; i < count; i++)
		*xsk_ring_prod__tx_desc(&xdp->tx, at + i) =
			(struct xdp_desc){.addr = frames[i].address, .len = frames[i].length};
	xsk_ring_prod__submit(&xdp->tx, count);
	int why = ask_to_send(xdp);
	if ((why != ENETDOWN && why != ENXIO) || xdp->zerocopy)
		return (int)count;
	take_back(xdp, count);
	return why == ENXIO ? -ENODEV : -ENETDOWN;
}
