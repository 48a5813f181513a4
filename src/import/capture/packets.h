/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The packets of a capture one by one, as `tare export --packets` shows them: the time that the capture gave
 * each beside the one that a switch, tap or card wrote into it, and what it was. Nothing is matched or judged:
 * keyframes, copies and frames without a stamp are there too.
 */
#pragma once
#include "base/table.h"
#include "import/import.h"

struct packets;

/* "-" is standard input. Of the rules `stamps`, `service` (both ways) and `lenient` count. What is no capture is refused. */
int packets_open(
	const char *path, const struct import_rules *rules, struct packets **ret_packets, struct tare_err *err) TARE_MUST_USE;
/* The same from an open stream, which stays the caller's; `name` is what messages call it. */
int packets_open_stream(FILE *stream, const char *name, const struct import_rules *rules, struct packets **ret_packets,
	struct tare_err *err) TARE_MUST_USE;
void packets_free(struct packets *packets); /* NULL is fine */

/* What the columns read; valid until the next call. */
struct packet_at;
/* 1, 0 at the end, -1. */
int packets_next(struct packets *packets, const struct packet_at **ret_packet, struct tare_err *err) TARE_MUST_USE;
/* "" or what was passed over, or which hardware stamps there are not, as a sentence without a full stop. */
const char *packets_remark(const struct packets *packets);

extern const struct column packet_columns[];
extern const size_t packet_column_count;
