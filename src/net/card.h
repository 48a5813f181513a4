/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Network cards and what they can stamp: which interface the way to a target
 * leaves by, what its driver offers (ETHTOOL_GET_TS_INFO), what it is set to
 * (SIOCGHWTSTAMP), and, only when the user asked for it, setting it.
 *
 * The setting is the card's, not ours: another program's (ptp4l) would be
 * overwritten. So it is read first, never taken down, and put back by a process
 * of its own, the keeper, which holds the privilege and waits for us to end, in
 * whatever way: it survives a SIGKILL.
 */
#pragma once
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "tare/err.h"

struct card_setting { int flags, tx_type, rx_filter; }; /* as struct hwtstamp_config */

struct card {
	char name[IFNAMSIZ];
	uint32_t offers;       /* SOF_TIMESTAMPING_* bits of the driver; 0: not told */
	int phc;               /* /dev/ptpN; -1: no clock */
	uint32_t tx_types;     /* 1 << HWTSTAMP_TX_* */
	uint32_t rx_filters;   /* 1 << HWTSTAMP_FILTER_* */
	bool told;             /* the driver answered at all */
	bool set_known;        /* `set` was read; else the driver cannot stamp, or does not tell */
	struct card_setting set;
};

/* The interface that packets to this address leave by; "lo" for an address of our own. */
int card_towards(const struct sockaddr *address, socklen_t length, char ret_name[IFNAMSIZ],
		 struct tare_err *err) TARE_MUST_USE;
/* Fails only for an interface that is not there. */
int card_read(const char *name, struct card *ret_card, struct tare_err *err) TARE_MUST_USE;

/* Whether it can, and whether it is set to, stamp every packet sent; received. */
bool card_can_tx(const struct card *card);
bool card_can_rx(const struct card *card);
bool card_stamps_tx(const struct card *card);
bool card_stamps_rx(const struct card *card);
/* What is missing for stamps of both ways, as a sentence; "" when nothing is. */
void card_lacks(const struct card *card, char *buffer, size_t room);
/* HWTSTAMP_FILTER_* and HWTSTAMP_TX_* by name: "all", "ptpv2-event", "off". */
const char *card_filter_name(int filter);
const char *card_tx_name(int type);

/* How a setting is read and made: 0 or -errno. Tests bring their own. */
struct card_driver {
	int (*get)(void *self, const char *name, struct card_setting *ret_setting);
	int (*set)(void *self, const char *name, const struct card_setting *setting);
	void *self;
};
extern const struct card_driver card_system;

/* A setting that was changed, and who will put it back. */
struct card_hold {
	char name[IFNAMSIZ];
	struct card_setting before, now;
	int alive;             /* closing it, or dying, is the keeper's sign */
	pid_t keeper;
};
#define CARD_HOLD_NONE ((struct card_hold){.alive = -1, .keeper = -1})
/*
 * Makes the card stamp every packet both ways. 1: it was changed and the keeper runs (a forked process: call
 * it before there are threads, locks or sockets); 0: it did so already; -1: refused.
 */
int card_stamping_on(const struct card_driver *driver, const char *name, struct card_hold *ret_hold,
		     struct tare_err *err) TARE_MUST_USE;
/* Puts it back and waits until that is done. A setting that somebody else changed meanwhile is left, and said. */
int card_stamping_back(struct card_hold *hold, struct tare_err *err) TARE_MUST_USE;
