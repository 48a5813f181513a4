/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a network card's clock (/dev/ptpN) against CLOCK_MONOTONIC. The best way
 * the driver has is found at opening and kept:
 *   precise   the card latched both clocks at once (PTP_SYS_OFFSET_PRECISE);
 *   extended  the driver read the system clock around its register read, so that
 *             the bus access alone is in the bracket (PTP_SYS_OFFSET_EXTENDED);
 *   bracket   we read the clock around the whole call.
 * Readings are struct tare_reading whose real_ns is the card's time.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "clock/clock.h"
#include "tare/axis.h"
#include "tare/err.h"

enum phc_way { PHC_PRECISE, PHC_EXTENDED, PHC_BRACKET };

struct phc {
	int fd;
	enum phc_way way;
	bool mono; /* extended: the kernel takes CLOCK_MONOTONIC for the bracket (6.12 on) */
};

int phc_open(int index, struct phc *ret_phc, struct tare_err *err) TARE_MUST_USE;
void phc_close(struct phc *phc); /* what was never opened, with fd -1, is fine */
const char *phc_way_name(enum phc_way way);
/* One reading: some microseconds, some tens where the bus is slow. False when the driver refuses. */
bool phc_read(const struct phc *phc, struct tare_reading *ret_reading);

/* ---- pure ---- */

struct phc_bracket { int64_t before_ns, card_ns, after_ns; };
/*
 * The narrowest of several brackets, none of which may be reversed. `wall` is a paired reading of wall and
 * monotonic clock taken just before when the brackets are in wall time, NULL when they are in monotonic time: the
 * bracket then widens by how far that pair leaves the offset open. False when none makes sense.
 */
bool phc_narrowest(const struct phc_bracket *brackets, size_t count, const struct tare_reading *wall,
		   struct tare_reading *ret_reading);
