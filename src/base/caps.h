/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linux capabilities are per thread: the measuring thread gives up all of its
 * own after its sockets are open, while the writer keeps what files need.
 */
#pragma once
#include <stdbool.h>

#include "tare/err.h"

/* CAP_NET_RAW … as in linux/capability.h: effective in the calling thread. False also when it cannot be told. */
bool caps_have(int capability);
/*
 * Drops every capability of the calling thread except the `count` listed: permitted, effective and
 * inheritable (ambient ones go with them); adds none. The bounding set stays, so that a program which
 * root then executes has them again.
 */
int caps_keep_only(const int *capabilities, int count, struct tare_err *err) TARE_MUST_USE;
