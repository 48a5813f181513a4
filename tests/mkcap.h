/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes captures in memory, in every layout the reader knows, with chosen times:
 * frames, what switches and taps put on them, and files around them. The layouts
 * are written from their descriptions and share nothing with the decoders.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MK_FRAME_BYTES = 2048 };

struct mk_frame {
	uint8_t bytes[MK_FRAME_BYTES];
	size_t count;
};

/* A moment: whole seconds and picoseconds. */
struct mk_time {
	int64_t seconds, ps;
};
static inline struct mk_time mk_later(struct mk_time time, int64_t ps)
{
	int64_t sum = time.ps + ps % INT64_C(1000000000000);
	time.seconds += ps / INT64_C(1000000000000) + (sum >= INT64_C(1000000000000)) - (sum < 0);
	time.ps = sum - (sum >= INT64_C(1000000000000) ? INT64_C(1000000000000) : 0) +
		  (sum < 0 ? INT64_C(1000000000000) : 0);
	return time;
}

/* ---- frames: Ethernet, IPv4 10.0.0.SOURCE to 10.0.0.TARGET ---- */
struct mk_ends {
	uint8_t source, target;
	uint16_t source_port, target_port, ip_id;
};
void mk_udp(struct mk_frame *frame, const struct mk_ends *ends, const void *payload, size_t bytes);
void mk_tcp(struct mk_frame *frame, const struct mk_ends *ends, uint32_t sequence, uint32_t acknowledged,
	unsigned flags, const void *payload, size_t bytes);
void mk_echo(struct mk_frame *frame, const struct mk_ends *ends, bool reply, uint16_t id, uint16_t sequence);
/* IPv6 fd00::SOURCE with one hop-by-hop header in front of UDP. */
void mk_udp6(struct mk_frame *frame, const struct mk_ends *ends, const void *payload, size_t bytes);
/*
 * `count` bytes from `at` on of what is behind the IP header of `whole` (of mk_udp6: behind the hop-by-hop header) as
 * one fragment of datagram `id`. It says that more follow unless it ends where the datagram does.
 */
void mk_fragment(struct mk_frame *part, const struct mk_frame *whole, uint32_t id, size_t at, size_t count);
/* The same with the flag as given and bytes that may lie beyond the end, where they are 0xee. */
void mk_fragment_raw(
	struct mk_frame *part, const struct mk_frame *whole, uint32_t id, size_t at, size_t count, bool more);
void mk_pad(struct mk_frame *frame, size_t bytes); /* zeros up to `bytes` */
void mk_put(struct mk_frame *frame, const void *bytes, size_t count);
void mk_put_u16(struct mk_frame *frame, uint16_t value);
void mk_put_u32(struct mk_frame *frame, uint32_t value);
void mk_put_u64(struct mk_frame *frame, uint64_t value);
/* Check sequence over all so far; wrong: one that is not. */
void mk_fcs(struct mk_frame *frame, bool wrong);
/* `bytes` into the frame at `at`, what follows moves. */
void mk_insert(struct mk_frame *frame, size_t at, const void *bytes, size_t count);
/* Ethernet and IPv4 with protocol in front of all that is there. */
void mk_wrap_ip(struct mk_frame *frame, uint8_t protocol);

/* ---- stamps ---- */
void mk_expcap(
	struct mk_frame *frame, struct mk_time time, unsigned flags, unsigned device, unsigned port, uint16_t dropped);
void mk_hpt(struct mk_frame *frame, struct mk_time time, unsigned device, unsigned port);
/* extension words in the order of the wire, each with its own bits; 0 words: no extension */
void mk_metawatch(struct mk_frame *frame, struct mk_time time, unsigned flags, unsigned device, unsigned port,
	const uint32_t *words, size_t word_count);
void mk_ixia(struct mk_frame *frame, struct mk_time time, unsigned source);
void mk_vss(struct mk_frame *frame, struct mk_time time, unsigned clock, unsigned port_bytes, unsigned port);
/* As its makers describe it, or `dissected`: as their dissector reads it. speed: 0 10G, 1 25G, 2 40G. */
struct mk_lda {
	uint16_t sequence;
	unsigned device, port, speed;
	bool damaged, dissected;
};
void mk_lda(struct mk_frame *frame, struct mk_time time, const struct mk_lda *lda);
void mk_gigamon_trailer(struct mk_frame *frame, struct mk_time time, uint32_t port);
void mk_gigamon_header(struct mk_frame *frame, struct mk_time time, uint32_t port);
void mk_avsp(struct mk_frame *frame, struct mk_time time, uint16_t version);
void mk_avsp_mac(struct mk_frame *frame, struct mk_time time);
void mk_ttag(struct mk_frame *frame, struct mk_time time);
void mk_ttag_trailer(struct mk_frame *frame, struct mk_time time);
void mk_brcm(struct mk_frame *frame, struct mk_time time, uint32_t port);
/* What is there goes into GRE; platform < 0: no subheader. `low` and `high` are the time's words as they are. */
void mk_erspan3(struct mk_frame *frame, unsigned granularity, int platform, uint32_t low, uint32_t high);
/* A Nexus marker from 10.0.0.FROM: the counter's 48 bits at the moment that the switch's CPU takes for `utc`. */
struct mk_marker {
	uint64_t ticks;
	struct mk_time utc;
	uint32_t sequence;
	uint8_t from, session, granularity, utc_offset;
};
void mk_marker(struct mk_frame *frame, const struct mk_marker *marker);

/* 350 MHz counter: ticks of a moment whose count is 0 at 1970; 20/7 ns each, rounded down. */
uint64_t mk_ticks(struct mk_time time);
/* The moment that a count stands for, rounded to the nearest ps. */
struct mk_time mk_tick_time(uint64_t ticks);
enum mk_keyframe { MK_NATIVE, MK_NATIVE_IP, MK_OLDER, MK_COMPAT_1, MK_COMPAT_2 };
void mk_keyframe(struct mk_frame *frame, enum mk_keyframe kind, struct mk_time time, uint64_t ticks);
/* The field of 32 bits, or of 31 with its padding bit set. */
uint32_t mk_tick_field(uint64_t ticks, bool compat);

/* ---- files ---- */
struct mk_file {
	uint8_t *bytes;
	size_t count, room;
	bool swapped; /* in the other byte order than this host's */
	bool nano, modified;
};
void mk_file_end(struct mk_file *file);
void mk_raw(struct mk_file *file, const void *bytes, size_t count);

void mk_pcap(struct mk_file *file, uint32_t magic, bool swapped, uint32_t link);
/* captured > frame->count is cut to it; length 0: as captured. */
void mk_record(struct mk_file *file, struct mk_time time, const struct mk_frame *frame, size_t captured, size_t length);
void mk_record_raw(struct mk_file *file, uint32_t seconds, uint32_t fraction, uint32_t captured, uint32_t length,
	const void *bytes);

void mk_section(struct mk_file *file, bool swapped);
struct mk_interface {
	uint16_t link;
	uint32_t snap;
	const char *name;
	int resolution; /* -1: the option is left out */
	int64_t offset; /* seconds; 0: left out */
	int fcs;        /* -1: left out */
};
void mk_interface(struct mk_file *file, const struct mk_interface *interface);
struct mk_packet {
	uint32_t interface;
	uint64_t raw;            /* ticks of the interface */
	size_t captured, length; /* 0: all */
	uint32_t flags;
	uint64_t dropped, id; /* 0: left out */
	bool old;             /* the obsolete block */
};
void mk_packet(struct mk_file *file, const struct mk_packet *packet, const struct mk_frame *frame);
void mk_simple(struct mk_file *file, const struct mk_frame *frame);
void mk_statistics(struct mk_file *file, uint32_t interface, uint64_t received, uint64_t dropped, uint64_t by_system);
void mk_unknown_block(struct mk_file *file, uint32_t type, size_t bytes);

/* Extension headers: `extensions` of 8 bytes. */
void mk_erf(struct mk_file *file, unsigned type, struct mk_time time, unsigned port, int extensions,
	const struct mk_frame *frame, size_t length);
