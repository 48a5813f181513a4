/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Facts that come from elsewhere: the saved JSON of a switch's show commands
 * (Arista EOS, "show … | json"), and what the neighbour says about itself by LLDP.
 * Both become facts like others, under the same rules for drift and counters.
 */
#pragma once
#include "host/snapshot.h"

/*
 * Files with the output of show version, show interfaces, … counters errors, … counters discards, … transceiver,
 * show queue-monitor length and show lldp neighbors, in any order: what each is, is told by its content. Several
 * outputs may stand in one file, one JSON value after the other. Fails with TARE_E_FORMAT, naming the file, for
 * what is none of them.
 */
int host_switch_load(const char *const *paths, size_t count, struct host_snapshot **ret_snapshot,
	struct tare_err *err) TARE_MUST_USE;
/* One file's content; adds to a snapshot that is not finished yet. */
int host_switch_parse(const char *text, size_t bytes, const char *name, struct host_snapshot *snapshot,
	struct tare_err *err) TARE_MUST_USE;

/* What a neighbour announced. Empty where it said nothing. */
struct host_neighbour {
	char system[128], port[128], description[128], chassis[64];
	int vlan, frame_bytes; /* port VLAN and largest frame; -1: not said */
};
/* A frame as it came, Ethernet header included. False for what is no LLDP. */
bool host_lldp_parse(const unsigned char *frame, size_t bytes, struct host_neighbour *ret_neighbour);
/*
 * Listens on a device for up to `patience_ns` (neighbours speak every 30 s): 1 with *ret_neighbour, 0 when nobody
 * spoke, -1 without CAP_NET_RAW or such a device. Sends nothing.
 */
int host_lldp_listen(const char *device, int64_t patience_ns, struct host_neighbour *ret_neighbour,
	struct tare_err *err) TARE_MUST_USE;
/* As a fact "lldp[DEVICE].neighbour"; adds to a snapshot, which is finished again. */
int host_lldp_add(struct host_snapshot *snapshot, const char *device, const struct host_neighbour *neighbour,
	struct tare_err *err) TARE_MUST_USE;
