/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conclusions of re-enactments that depend on how two medians lie to each other. Apart from the rounds, so that what
 * a noisy host makes of them, down to a larger packet that was the faster one, can be tried without any. Pure.
 */
#pragma once
#include <stddef.h>

/* "12.3" in µs, or a mark where there is none. */
const char *lab_us(double ns, char buffer[32]);
/*
 * What `bytes` more cost, from the median round trips (ns, NAN: none) of the small and the large packet, and what of
 * it a display in whole µs shows. `room` of 400 always does.
 */
void lab_resolution_words(double small_ns, double large_ns, size_t bytes, char *ret_text, size_t room);
/*
 * How much more sleeping takes than being busy, at a low and at a high rate (differences of medians, ns). `room` of
 * 400 always does.
 */
void lab_rate_words(double low_ns, double high_ns, char *ret_text, size_t room);
