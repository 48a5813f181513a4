/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kind udp becomes when its target is a multicast group. Private to this folder. */
#pragma once
#include "probe/datagram.h"

/*
 * Opens the target for a group with what its URL says, and makes it the kind probe_udp_group: from then on it is sent
 * to the group, and answers are taken from whoever sends them.
 */
int group_open(struct probe_target *target, const struct datagram_format *format, struct tare_err *err) TARE_MUST_USE;
