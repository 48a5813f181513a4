/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The columns of each command, from the tables that print them, for `tare help COMMAND --columns`: a line a table
 * that names the manual page which describes it, then "  NAME  HELP" a line a column. A test compares the two.
 */
#pragma once
#include <stdio.h>

void columns_of_run(FILE *out);
void columns_of_stat(FILE *out); /* those of run, stalls and the budget */
void columns_of_export(FILE *out);
void columns_of_comparison(FILE *out); /* compare, abba and verify */
void columns_of_calibrate(FILE *out);
void columns_of_inspect(FILE *out);
void columns_of_echo(FILE *out);
void columns_of_noise(FILE *out);
