/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Busy polling keeps an interface's interrupts off as long as somebody polls:
 * napi_defer_hard_irqs and gro_flush_timeout, which hold for the whole interface.
 * Whatever becomes of this process, they are put back: a small process of ours does
 * nothing but wait for its end.
 */
#pragma once
#include "tare/err.h"

struct napi;

/* Needs CAP_NET_ADMIN, which the waiting process keeps. Forks: before other threads are started. */
int napi_defer(const char *device, unsigned index, struct napi **ret_napi, struct tare_err *err) TARE_MUST_USE;
/* Puts both back and returns when that is done; NULL is fine. */
void napi_restore(struct napi *napi);
