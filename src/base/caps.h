/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linux capabilities are per thread: the measuring thread gives up all of its
 * own after its sockets are open, while the writer keeps what files need.
 */
#pragma once
#include <stdbool.h>

#include "tare/err.h"

/* CAP_NET_RAW … as in linux/capability.h. False also when it cannot be told. */
bool caps_have(int capability);
/* Drops every capability of the calling thread except the `count` listed. */
int caps_keep_only(const int *capabilities, int count, struct tare_err *err) TARE_MUST_USE;
