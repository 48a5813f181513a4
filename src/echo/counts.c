/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counts as a column table: what text and JSON print, and what docs explain. */
#include "echo/echo.h"

static struct cell listener_of(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(((const struct echo_counts *)record)->listener);
}

/* `index` is the offset of the count within the record. */
static struct cell count_of(const void *record, const struct column *column)
{
	return cell_count(*(const uint64_t *)(const void *)((const char *)record + column->index));
}

#define COUNT(member, title, explanation)                                                                              \
	{                                                                                                              \
		.name = #member, .heading = (title), .help = (explanation), .get = count_of,                           \
		.index = offsetof(struct echo_counts, member)                                                          \
	}

const struct column echo_columns[] = {
	{.name = "listener", .heading = "listener", .help = "what was listened on", .get = listener_of},
	COUNT(requests, "requests", "datagrams received; tcp: reads that brought bytes"),
	COUNT(replies, "replies", "of these, answered"),
	COUNT(too_short, "too short", "stamp: under 44 octets, or under 14 with --light"),
	COUNT(refused, "refused", "source not allowed, or its port one that reflects; xdp: damaged too, or to another MAC"),
	COUNT(limited, "limited", "source above --limit"),
	COUNT(send_errors, "send errors", "the kernel did not take the reply"),
	COUNT(unauthenticated, "unauthenticated", "with --key-file: dropped, no authenticated STAMP request"),
	COUNT(wrong_hmac, "wrong HMAC", "with --key-file: dropped, made with another key or changed on the way"),
	COUNT(wrong_tlvs, "wrong TLVs", "with --key-file: answered without their TLVs, whose HMAC was wrong or missing"),
	COUNT(foreign, "foreign", "stamp: answered, but the sender is no tare: no stamps in a TLV"),
	COUNT(overrun, "overrun", "lost before they were seen: the socket's buffer, or ring, was full"),
	{.name = NULL},
};
