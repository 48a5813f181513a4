/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Medians of small arrays, which are reordered. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* The k-th smallest from 0; k < n. */
int64_t select_integer(int64_t *values, size_t n, size_t k);
double select_real(double *values, size_t n, size_t k);
/* Mean of the two middle ones where n is even; n > 0. */
double median_real(double *values, size_t n);
