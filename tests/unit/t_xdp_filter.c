/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The filter of AF_XDP, run by the kernel on frames of our own (BPF_PROG_TEST_RUN): which it
 * takes and which it lets pass. With no socket in its map a packet that is taken would
 * pass as well, so the program is loaded to drop those: here "dropped" means "taken".
 */
#include <bpf/bpf.h>

#include "net/xdp_filter.h"
#include "tap.h"
#include "wire/bytes.h"
#include "wire/frame.h"

static const struct frame_end FROM4 = {{2, 0, 0, 0, 0, 1}, {10, 77, 0, 1}, 40000};
static const struct frame_end TO4 = {{2, 0, 0, 0, 0, 2}, {10, 77, 0, 2}, 7000};
static const struct frame_end FROM6 = {{2, 0, 0, 0, 0, 1}, {0xfd, 0x77, [15] = 1}, 40000};
static const struct frame_end TO6 = {{2, 0, 0, 0, 0, 2}, {0xfd, 0x77, [7] = 9, [15] = 2}, 7000};

static struct xdp_filter filter;

static size_t make(uint8_t *frame, bool v6, size_t payload_bytes)
{
	memset(frame + frame_udp_header_bytes(v6), 7, payload_bytes);
	frame_udp_fill(frame, v6, v6 ? &FROM6 : &FROM4, v6 ? &TO6 : &TO4, payload_bytes);
	frame_udp_seal(frame, v6, payload_bytes);
	return frame_udp_bytes(v6, payload_bytes);
}

/* -1: could not be run. */
static int verdict(const uint8_t *frame, size_t bytes)
{
	struct bpf_test_run_opts run = {.sz = sizeof run, .data_in = frame, .data_size_in = (uint32_t)bytes, .repeat = 1};
	return bpf_prog_test_run_opts(filter.program_fd, &run) < 0 ? -1 : (int)run.retval;
}

static void taken(const uint8_t *frame, size_t bytes, const char *name)
{
	IS_I64(verdict(frame, bytes), XDP_DROP, name);
}

static void passes(const uint8_t *frame, size_t bytes, const char *name)
{
	IS_I64(verdict(frame, bytes), XDP_PASS, name);
}

/* A frame of ours with one octet changed. */
struct change {
	const char *name;
	size_t at;
	uint8_t value;
};

static void changed(bool v6, const struct change *changes, size_t count)
{
	uint8_t frame[256];
	for (size_t i = 0; i < count; i++) {
		size_t bytes = make(frame, v6, 64);
		frame[changes[i].at] = changes[i].value;
		passes(frame, bytes, changes[i].name);
	}
}

static void short_frames(bool v6)
{
	uint8_t frame[256];
	size_t wrong = 0, needed = frame_udp_header_bytes(v6);
	make(frame, v6, 64);
	for (size_t bytes = 14; bytes < needed + 64; bytes++)
		wrong += verdict(frame, bytes) != (bytes < needed ? XDP_PASS : XDP_DROP);
	IS_I64(wrong, 0, "frames of every length: those without whole headers pass");
}

static int load(bool v6)
{
	struct xdp_take take = {.v6 = v6, .port = 7000};
	memcpy(take.address, v6 ? TO6.address : TO4.address, sizeof take.address);
	struct tare_err err;
	if (xdp_filter_load(&take, XDP_DROP, &filter, &err) == 0)
		return 0;
	printf("# %s\n", err.text);
	return err.code == TARE_E_PERMISSION ? 1 : -1;
}

static void ipv4(void)
{
	static const struct change changes[] = {{"ARP", 13, 6}, {"IPv6's type", 12, 0x86}, {"a VLAN tag", 12, 0x81},
		{"IP options", 14, 0x46}, {"a first fragment", 20, 0x20}, {"a later fragment", 21, 1},
		{"the last of a fragment's offset bits", 20, 0x10}, {"TCP (SSH)", 23, 6}, {"ICMP", 23, 1},
		{"another address", 33, 3}, {"another network", 30, 11}, {"another port", 37, 0x59},
		{"another port's high half", 36, 0}};
	uint8_t frame[2048];
	taken(frame, make(frame, false, 64), "IPv4: UDP to the address and port is taken");
	taken(frame, make(frame, false, 0), "an empty datagram too");
	taken(frame, make(frame, false, 1472), "and the largest");
	size_t bytes = make(frame, false, 64);
	frame[15] = 0xb8;
	frame[22] = 1;
	frame[26] = 192;
	frame[34] = 1;
	taken(frame, bytes, "from any address and port, with any class and TTL");
	frame[20] = 0x40;
	taken(frame, bytes, "do-not-fragment is no fragment");
	frame[20] = 0;
	taken(frame, bytes, "nor is may-fragment");
	changed(false, changes, sizeof changes / sizeof changes[0]);
	passes(frame, make(frame, true, 64), "IPv6 passes an IPv4 filter");
	short_frames(false);
}

static void ipv6(void)
{
	static const struct change changes[] = {{"IPv6: another type", 13, 0xd0}, {"a version that is not 6", 14, 0x40},
		{"TCP (SSH)", 20, 6}, {"neighbour discovery", 20, 58}, {"a fragment header", 20, 44},
		{"hop-by-hop options", 20, 0}, {"another address, last octet", 53, 3},
		{"another address, eighth octet", 45, 8}, {"another address, first octet", 38, 0xfe},
		{"another port", 57, 0x59}};
	uint8_t frame[2048];
	taken(frame, make(frame, true, 64), "IPv6: UDP to the address and port is taken");
	size_t bytes = make(frame, true, 64);
	frame[14] = 0x6b;
	frame[15] = 0x87;
	frame[21] = 1;
	taken(frame, bytes, "with any class, flow label and hop limit");
	changed(true, changes, sizeof changes / sizeof changes[0]);
	passes(frame, make(frame, false, 64), "IPv4 passes an IPv6 filter");
	short_frames(true);
}

int main(void)
{
	struct bpf_insn program[XDP_FILTER_ROOM];
	for (int v6 = 0; v6 <= 1; v6++) {
		struct xdp_take take = {.v6 = v6, .port = 7000};
		size_t count = xdp_filter_write(&take, 3, XDP_PASS, program), astray = 0;
		OK(count > 10 && count <= XDP_FILTER_ROOM, "IPv%d: %zu instructions", v6 ? 6 : 4, count);
		for (size_t i = 0; i < count; i++)
			if ((program[i].code & 7) == BPF_JMP32 && i + 1 + (size_t)program[i].off != count - 2)
				astray++;
		IS_I64(astray, 0, "every comparison that fails leads to \"pass\"");
	}
	for (int v6 = 0; v6 <= 1; v6++) {
		int loaded = load(v6);
		if (loaded > 0) {
			SKIP(1, "loading a program needs CAP_BPF and CAP_NET_ADMIN");
			continue;
		}
		if (!OK(loaded == 0, "IPv%d: the kernel takes the program", v6 ? 6 : 4))
			continue;
		(v6 ? ipv6 : ipv4)();
		xdp_filter_close(&filter);
	}
	return tap_done();
}
