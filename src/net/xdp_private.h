/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the AF_XDP socket share. */
#pragma once
#include <linux/if_xdp.h>
#include <sys/types.h>
#include <xdp/xsk.h>

#include "net/napi.h"
#include "net/xdp.h"
#include "net/xdp_filter.h"

/*
 * 2048 frames wait for packets or hold ones that were not read yet: 20 ms at 100 000 a second. 1024 more are for
 * sending. Of 2048 octets each that is 6 MB, within the 8 MB that may be locked without a privilege.
 */
enum { XDP_RX_FRAMES = 2048, XDP_TX_FRAMES = 1024, XDP_FRAMES = XDP_RX_FRAMES + XDP_TX_FRAMES };

struct xdp {
	struct net_route path;
	struct xdp_wish wish;
	uint16_t port;
	int udp_fd;
	struct xdp_filter filter;
	struct napi *napi;          /* NULL: no busy polling */

	uint8_t *area;              /* XDP_FRAMES of frame_bytes */
	size_t frame_bytes;
	struct xsk_umem *umem;
	struct xsk_socket *socket;
	int fd;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons completion, rx;
	bool zerocopy;
	bool unsent;                /* the kernel has left frames in the ring and wants to be asked again */

	uint64_t free[XDP_FRAMES];  /* addresses nobody holds */
	unsigned free_count;
	unsigned waiting;           /* frames the kernel has for packets */
	uint64_t elsewhere;
};
