/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A transceiver's own memory: what it is, how much light it sees, what it complains about. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum module_kind {
	MODULE_SFP,  /* SFF-8472: page A0h, then A2h from byte 256 */
	MODULE_QSFP, /* SFF-8636 and 8436: lower page, then page 00h */
};
enum { MODULE_LANES_MAX = 4, MODULE_PAGE_BYTES = 512 };

struct module_reading {
	const char *form; /* "SFP", "QSFP+", "QSFP28" */
	char vendor[17], part[17], serial[17];
	bool measures; /* the rest is there: calibrated readings */
	unsigned lanes;
	double temperature_c, voltage_v;
	double rx_power_uw[MODULE_LANES_MAX], tx_power_uw[MODULE_LANES_MAX], bias_ma[MODULE_LANES_MAX];
	char alarms[256]; /* "rx power low 2, temperature high", "" for none; warnings say so */
};

/* False when the bytes are too few or of no such module. Texts hold printing ASCII only. */
bool module_page_read(
	enum module_kind kind, const unsigned char *page, size_t bytes, struct module_reading *ret_reading);
