/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result longer than the terminal goes through $TARE_PAGER, $PAGER or "less -FIRX".
 * The result is there as a whole before the pager starts, so that nothing which
 * fits ever starts one and nothing is lost where there is none.
 */
#pragma once
#include <stddef.h>
#include <stdio.h>

/* Writes `text` to `out`, a terminal of so many lines and columns, through a pager where it does not fit. */
void pager_show(FILE *out, const char *text, size_t bytes, int lines, int columns);
