/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every command that reads captures lets the user say about them: one set of
 * rows, put into a command's table as CAPTURE_OPTIONS(struct its_config, member),
 * where the member is a `struct capture_rules`.
 */
#pragma once
#include "base/option.h"
#include "import/import.h"

#define CAPTURE_OPTION_TEXT(config, member, field, dashed, meta, words)                                                \
	{                                                                                                              \
		.name = dashed, .type = OPTION_TEXT, .metavar = meta, .help = words,                                   \
		.offset = OPTION_AT(config, member.field)                                                              \
	}

#define CAPTURE_OPTIONS(config, member)                                                                                \
	CAPTURE_OPTION_TEXT(config, member, service, "service", "[HOST:]PORT",                                         \
		"captures: who answers, or a HOST alone (default: the busiest)"),                                      \
		CAPTURE_OPTION_TEXT(config, member, key, "key", "KEY",                                                 \
			"captures: what ties a reply to its request: icmp, tare, stamp, dns, tcp, tcp-ack, tcp-syn, "  \
			"order, payload, udp.payload[4:8], re:EXPRESSION (default: found out)"),                       \
		CAPTURE_OPTION_TEXT(config, member, seen_at, "seen-at", "PLACE",                                       \
			"captures: where it was taken: client, client-nic, server, server-nic"),                       \
		CAPTURE_OPTION_TEXT(config, member, stamps, "stamps", "FORMAT",                                        \
			"captures: hardware stamps: capture (none), expcap, metawatch, cpacket, hpt, arista, "         \
			"arista-mac, ixia, gigamon, ticks, ttag, ttag-trailer, brcm, erspan3, vss, lda, lda-le, "      \
			"lda-be (default: found out)"),                                                                \
		CAPTURE_OPTION_TEXT(config, member, from, "from", "TAP",                                               \
			"captures: the same packets from here: interface:NAME, port:[DEVICE/]NUMBER"),                 \
		CAPTURE_OPTION_TEXT(config, member, to, "to", "TAP|FILE",                                              \
			"captures: to there, in the same file or in a second one"),                                    \
		CAPTURE_OPTION_TEXT(config, member, clock, "clock", "same|TIME",                                       \
			"captures and joined logs: two files' clocks are one, or this far apart at most"),             \
		CAPTURE_OPTION_TEXT(config, member, marks, "marks", "BIT",                                             \
			"captures: stamps mark the first or the last bit; first,last for two taps"),                   \
		CAPTURE_OPTION_TEXT(config, member, line_rate, "line-rate", "BITS",                                    \
			"captures: bits a second, to bring first and last bits together: 10G"),                        \
		{.name = "last-copy",                                                                                  \
			.type = OPTION_FLAG,                                                                           \
			.help = "captures: of a request seen twice the last copy counts, not the first",               \
			.offset = OPTION_AT(config, member.last_copy)},                                                \
	{                                                                                                              \
		.name = "answer-within", .type = OPTION_DURATION, .metavar = "TIME", .fallback = "1s",                 \
		.help = "captures: a reply later than this is overdue, one that is not there lost",                    \
		.offset = OPTION_AT(config, member.timeout_ns), .least = 1000, .most = 3600e9                          \
	}
