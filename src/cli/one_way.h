/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Figures of one direction, from a time of ours to one of the peer's: only with a
 * bound on the offset of the two clocks, which nobody but the user knows. NTP's or
 * PTP's own word for it is an estimate and is not taken for one.
 */
#pragma once
#include "report/stat_view.h"

/* The two spans as a mask. */
uint32_t one_way_spans(void);
/*
 * Adds the record to the view with its bound, 0: none, and a sentence on what that makes of the figures, what
 * contradicts it or, `asked`, why there are none.
 */
int one_way_add(struct stat_view *view, const char *path, const struct tare_record *record, int64_t bound_ns, bool asked,
	struct tare_err *err) TARE_MUST_USE;
/* The bound that a run was given, from its settings; 0: none. */
int64_t one_way_bound_of(const struct tare_setting *settings, size_t count);
