/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control data as a strange kernel, driver or preloaded stack might write it: reading stays
 * inside, and what is taken for a stamp is a time that says of which packet.
 */
#include <stdlib.h>
#include <string.h>

#include "net/stamps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > 4096)
		return 0;
	/* of exactly this size, so that a sanitizer sees a step beyond */
	struct cmsghdr *control = malloc(size);
	if (!control)
		return 0;
	memcpy(control, data + 1, size - 1);
	struct msghdr message = {
		.msg_control = control, .msg_controllen = size - 1, .msg_flags = data[0] & 1 ? MSG_CTRUNC : 0};
	struct net_notice notice;
	struct net_arrival arrival;
	net_notice_of(&message, &notice);
	net_arrival_of(&message, &arrival);
	if (!notice.is_stamp && (notice.kernel_tx.ns || notice.nic_tx.ns))
		abort();
	if (notice.is_stamp && (notice.error || (notice.moment != NET_MOMENT_SENT && notice.nic_tx.ns)))
		abort();
	if (notice.cut != ((data[0] & 1) != 0) || arrival.cut != notice.cut)
		abort();
	free(control);
	return 0;
}
