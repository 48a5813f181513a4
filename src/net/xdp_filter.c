/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing, loading and attaching the filter. A jump's distance is known only when its
 * target is: jumps to the end are noted as they are written and completed there.
 */
#include "net/xdp_filter.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* More than any card has. */
enum { QUEUES_MOST = 256 };

struct writing {
	struct bpf_insn *program;
	size_t count, to_pass_count;
	size_t to_pass[XDP_FILTER_ROOM];
};

static void add(struct writing *w, uint8_t code, unsigned to, unsigned from, int16_t offset, int32_t value)
{
	w->program[w->count++] = (struct bpf_insn){
		.code = code, .dst_reg = to & 15u, .src_reg = from & 15u, .off = offset, .imm = value};
}

/* Unless register `reg` (32 bits of it) is `value`: let it pass. */
static void need(struct writing *w, uint8_t reg, uint32_t value)
{
	w->to_pass[w->to_pass_count++] = w->count;
	add(w, BPF_JMP32 | BPF_JNE | BPF_K, reg, 0, 0, (int32_t)value);
}

/* The same for octets of the packet, as they lie in memory; register 2 points to it. */
static void need_at(struct writing *w, uint8_t size, int16_t at, uint32_t value)
{
	add(w, BPF_LDX | BPF_MEM | size, BPF_REG_4, BPF_REG_2, at, 0);
	need(w, BPF_REG_4, value);
}

static void need_masked(struct writing *w, uint8_t size, int16_t at, uint32_t mask, uint32_t value)
{
	add(w, BPF_LDX | BPF_MEM | size, BPF_REG_4, BPF_REG_2, at, 0);
	add(w, BPF_ALU | BPF_AND | BPF_K, BPF_REG_4, 0, 0, (int32_t)mask);
	need(w, BPF_REG_4, value);
}

/* Every load is behind a comparison with the packet's end, or the kernel refuses the program. */
static void need_length(struct writing *w, int32_t bytes)
{
	add(w, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, data), 0);
	add(w, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_3, BPF_REG_1, offsetof(struct xdp_md, data_end), 0);
	add(w, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_5, BPF_REG_2, 0, 0);
	add(w, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_5, 0, 0, bytes);
	w->to_pass[w->to_pass_count++] = w->count;
	add(w, BPF_JMP | BPF_JGT | BPF_X, BPF_REG_5, BPF_REG_3, 0, 0);
}

static uint32_t word_of(const uint8_t *at)
{
	uint32_t word;
	memcpy(&word, at, sizeof word);
	return word;
}

static void match_ipv4(struct writing *w, const struct xdp_take *take)
{
	need_length(w, 42);
	need_at(w, BPF_H, 12, htons(0x0800));
	need_at(w, BPF_B, 14, 0x45);                 /* no options */
	need_masked(w, BPF_H, 20, htons(0x3fff), 0); /* neither a first fragment nor a later one */
	need_at(w, BPF_B, 23, IPPROTO_UDP);
	need_at(w, BPF_W, 30, word_of(take->address));
	need_at(w, BPF_H, 36, htons(take->port));
}

static void match_ipv6(struct writing *w, const struct xdp_take *take)
{
	need_length(w, 62);
	need_at(w, BPF_H, 12, htons(0x86dd));
	need_masked(w, BPF_B, 14, 0xf0, 0x60);
	need_at(w, BPF_B, 20, IPPROTO_UDP); /* no extension headers, fragments among them */
	for (int i = 0; i < 4; i++)
		need_at(w, BPF_W, (int16_t)(38 + 4 * i), word_of(take->address + 4 * i));
	need_at(w, BPF_H, 56, htons(take->port));
}

size_t xdp_filter_write(
	const struct xdp_take *take, int map_fd, enum xdp_action without_socket, struct bpf_insn *ret_program)
{
	struct writing w = {.program = ret_program};
	(take->v6 ? match_ipv6 : match_ipv4)(&w, take);
	add(&w, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, rx_queue_index), 0);
	/* a 64-bit constant takes two instructions */
	add(&w, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map_fd);
	add(&w, 0, 0, 0, 0, 0);
	add(&w, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, (int32_t)without_socket);
	add(&w, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map);
	add(&w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	for (size_t i = 0; i < w.to_pass_count; i++)
		ret_program[w.to_pass[i]].off = (int16_t)(w.count - w.to_pass[i] - 1);
	add(&w, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, XDP_PASS);
	add(&w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	return w.count;
}

int xdp_fail(struct tare_err *err, int sys_errno, const char *what, const char *device)
{
	if (sys_errno != EPERM && sys_errno != EACCES)
		return tare_fail_errno(err, sys_errno, "%s on %s", what, device);
	return tare_fail(err, TARE_E_PERMISSION,
		"%s on %s: operation not permitted\n"
		"  needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF, and not only inside a user namespace:\n"
		"  run it as root, or  sudo setcap cap_net_admin,cap_net_raw,cap_bpf+ep $(command -v tare)\n"
		"  udp:// measures the same service through the kernel's stack without any privilege",
		what, device);
}

int xdp_filter_load(const struct xdp_take *take, enum xdp_action without_socket, struct xdp_filter *ret_filter,
	struct tare_err *err)
{
	struct bpf_insn program[XDP_FILTER_ROOM];
	*ret_filter = (struct xdp_filter){.map_fd = -1, .program_fd = -1, .link_fd = -1};
	libbpf_set_print(NULL); /* it would write to stderr */
	ret_filter->map_fd =
		bpf_map_create(BPF_MAP_TYPE_XSKMAP, "tare", sizeof(uint32_t), sizeof(int), QUEUES_MOST, NULL);
	if (ret_filter->map_fd < 0)
		return xdp_fail(err, errno, "cannot make the filter of AF_XDP", "this host");
	size_t count = xdp_filter_write(take, ret_filter->map_fd, without_socket, program);
	ret_filter->program_fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "tare", "GPL", program, count, NULL);
	if (ret_filter->program_fd < 0)
		return xdp_fail(err, errno, "cannot load the filter of AF_XDP", "this host");
	return 0;
}

static int try_attach(const struct xdp_filter *filter, unsigned index, uint32_t flags)
{
	struct bpf_link_create_opts options = {.sz = sizeof options, .flags = flags};
	return bpf_link_create(filter->program_fd, (int)index, BPF_XDP, &options);
}

static int fail_attach(struct tare_err *err, int why, unsigned index, const char *device)
{
	uint32_t id = 0;
	if (why == EBUSY || why == EEXIST) {
		bpf_xdp_query_id((int)index, 0, &id);
		return tare_fail(err, TARE_E_SYSTEM,
			"another XDP program is attached to %s (id %u) and stays there\n"
			"  'ip link show dev %s' shows it; one xdp:// at a time can have an interface",
			device, id, device);
	}
	/* the two reasons of veth, which it tells by number alone */
	if (why == ERANGE)
		return tare_fail(err, TARE_E_SYSTEM,
			"%s takes no XDP program: the MTU is too large for one page a frame (of veth: its peer's)\n"
			"  ip link set %s mtu 1500, or mode=generic",
			device, device);
	if (why == ENOSPC)
		return tare_fail(err, TARE_E_SYSTEM,
			"%s takes no XDP program: its peer sends on more queues than it receives on\n"
			"  ethtool -L PEER tx 1, or as many as %s has; or mode=generic",
			device, device);
	return xdp_fail(err, why, "cannot attach the filter of AF_XDP", device);
}

int xdp_filter_attach(
	struct xdp_filter *filter, unsigned index, const char *device, bool native, bool generic, struct tare_err *err)
{
	int why = EOPNOTSUPP;
	if (native) {
		filter->link_fd = try_attach(filter, index, XDP_FLAGS_DRV_MODE);
		why = errno;
	}
	bool taken = filter->link_fd < 0 && (why == EBUSY || why == EEXIST || why == EPERM);
	if (filter->link_fd < 0 && generic && !taken) {
		filter->link_fd = try_attach(filter, index, XDP_FLAGS_SKB_MODE);
		why = errno;
		filter->generic = true;
	}
	return filter->link_fd < 0 ? fail_attach(err, why, index, device) : 0;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void xdp_filter_close(struct xdp_filter *filter)
{
	close_one(&filter->link_fd);
	close_one(&filter->program_fd);
	close_one(&filter->map_fd);
}
