/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The filter before an AF_XDP socket: UDP to one address and port goes to the
 * socket, everything else to the kernel's stack as if nothing were there (ARP, SSH, other
 * ports, fragments, IP options, VLAN tags, what arrives on another queue). Its
 * instructions are written here, some forty of them: nothing is compiled, at
 * build time or later.
 */
#pragma once
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

struct xdp_take {
	bool v6;
	uint8_t address[16]; /* in network order; IPv4: the first four */
	uint16_t port;
};

enum { XDP_FILTER_ROOM = 64 };
/*
 * Writes the program, at most XDP_FILTER_ROOM instructions; returns their number. map_fd: the XSKMAP, keyed by
 * queue. without_socket: what becomes of a packet that is to be taken while no socket serves its queue, XDP_PASS.
 */
size_t xdp_filter_write(const struct xdp_take *take, int map_fd, enum xdp_action without_socket, struct bpf_insn *ret_program);

struct xdp_filter {
	int map_fd, program_fd, link_fd; /* -1: none */
	bool generic;                    /* attached behind the driver, on socket buffers */
};
/*
 * Loads the program with an empty map. xdp_filter_attach puts it before interface `index`, by a link that
 * ends with this process however it ends: in the driver if `native`, behind it if `generic`, the former first.
 * A program that is there already stays, and the attachment is refused. Call xdp_filter_close also after failure.
 */
int xdp_filter_load(const struct xdp_take *take, enum xdp_action without_socket, struct xdp_filter *ret_filter,
		    struct tare_err *err) TARE_MUST_USE;
int xdp_filter_attach(struct xdp_filter *filter, unsigned index, const char *device, bool native, bool generic,
		      struct tare_err *err) TARE_MUST_USE;
void xdp_filter_close(struct xdp_filter *filter);

/* The sentence for a missing privilege: what is refused and what would grant it. */
int xdp_fail(struct tare_err *err, int sys_errno, const char *what, const char *device);
