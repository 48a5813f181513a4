/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user says about a capture, turned from words into meaning. All failures are TARE_E_USAGE. */
#pragma once
#include "import/capture/key.h"
#include "import/capture/service.h"
#include "import/capture/stamp.h"
#include "import/import.h"

/* Where in the capture a packet was seen; none of them set: anywhere. */
struct capture_tap {
	bool by_interface, by_port, by_device;
	uint32_t port, device;
	char interface[64]; /* name or number */
};

enum capture_place { PLACE_AUTO, PLACE_CLIENT, PLACE_CLIENT_NIC, PLACE_SERVER, PLACE_SERVER_NIC };
enum capture_mark { MARK_UNKNOWN, MARK_FIRST, MARK_LAST };

struct capture_plan {
	struct key_rule key;
	struct service service;
	bool has_service;
	enum stamp_format stamps; /* STAMP_FORMAT_COUNT: find out */
	enum capture_place place;
	bool taps; /* the same packets at two places, not requests and replies */
	struct capture_tap from, to;
	const char *to_file; /* borrowed; NULL: both taps are in one file */
	bool clock_said, clock_same;
	int64_t clock_bound_ns;
	enum capture_mark marks[2];   /* of `from` and `to` */
	int64_t line_bits_per_second; /* 0: not said */
	int64_t timeout_ns;
	bool last_copy;
};

int capture_plan_of(
	const struct capture_rules *rules, struct capture_plan *ret_plan, struct tare_err *err) TARE_MUST_USE;
void capture_plan_end(struct capture_plan *plan);
/* Time that `bytes` take on the line: 1454 bytes at 10 Gbit/s are 1163200 ps. */
int64_t capture_line_ps(uint32_t bytes, int64_t bits_per_second);
