/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A serving thread's account of itself: why it answers a request late, for the
 * reason TLV. Belongs to one thread. Private to this folder.
 */
#pragma once
#include "cause/shares.h"
#include "cause/watch.h"
#include "clock/clock.h"
#include "wire/stamp.h"

struct account {
	struct watch *watch;
	bool spin;
	int64_t since_ns;     /* CLOCK_MONOTONIC: watched from here on */
	int64_t last_tx_ns;   /* CLOCK_MONOTONIC: when the last reply left */
	int64_t usual_ns;     /* what a request usually takes, arrival to reply */
	int64_t continued_ns; /* of the last stop entered */
};

/*
 * In the thread itself, before it gives up its privileges. Fails only without
 * memory; what cannot be watched is told by watch_missing.
 */
int account_open(struct account *account, int cpu, bool softirqs, bool spin, struct tare_err *err) TARE_MUST_USE;
void account_close(struct account *account);
/* Who ran on the thread's CPUs in all; once it has ended, before account_close. */
enum { ACCOUNT_ROWS = 8 * SHARES_ROWS };
struct account_shares {
	struct tare_share row[ACCOUNT_ROWS];
	size_t count;
	int64_t watched_ns;
	bool missing; /* records were lost: there was more */
};
void account_shares(struct account *account, struct account_shares *ret_shares);
/* Just before the reply leaves. kernel_rx ns 0: not known. */
void account_reason(struct account *account, clock_real kernel_rx, clock_real user_rx, struct stamp_reason *ret_reason);
/* Just behind it. */
void account_sent(struct account *account);
