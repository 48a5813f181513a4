/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decoding of SFF-8472 and SFF-8636 pages: big-endian numbers in fixed places.
 * A module that leaves calibration to the host (SFF-8472 byte 92, bit 4) measures
 * nothing as far as we are concerned: its raw numbers look plausible and are wrong.
 */
#include "host/module_page.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define TEMPERATURE_PER_C 256.0
#define VOLTAGE_PER_V     10000.0
#define POWER_PER_UW      10.0
#define BIAS_PER_MA       500.0 /* 2 µA each */

enum { SFP = 0x03, QSFP = 0x0c, QSFP_PLUS = 0x0d, QSFP28 = 0x11 };

static unsigned word_at(const unsigned char *page, size_t at)
{
	return (unsigned)page[at] << 8 | page[at + 1];
}

/* Sixteen places, padded with blanks. */
static void text_at(const unsigned char *page, size_t at, char *buffer)
{
	size_t used = 0;
	for (size_t i = 0; i < 16; i++) {
		unsigned char c = page[at + i];
		buffer[i] = c >= ' ' && c < 0x7f ? (char)c : c ? '?' : ' ';
		if (buffer[i] != ' ')
			used = i + 1;
	}
	buffer[used] = '\0';
}

/* One bit of alarm or warning; lane 0 for those that the module has once. */
static void complain(struct text *text, bool set, const char *what, const char *how, unsigned lane)
{
	if (!set)
		return;
	text_add(text, "%s%s %s", text->used ? ", " : "", what, how);
	if (lane)
		text_add(text, " %u", lane);
}

static void read_sfp(const unsigned char *page, size_t bytes, struct module_reading *reading)
{
	enum { DIAGNOSTIC_TYPE = 92, MEASURES = 0x40, OWN_CALIBRATION = 0x20, A2 = 256, NOW = A2 + 96 };
	static const char *const names[] = {"temperature", "voltage", "bias", "tx power", "rx power"};
	reading->form = "SFP";
	text_at(page, 20, reading->vendor);
	text_at(page, 40, reading->part);
	text_at(page, 68, reading->serial);
	if (bytes < A2 + 120 || (page[DIAGNOSTIC_TYPE] & (MEASURES | OWN_CALIBRATION)) != (MEASURES | OWN_CALIBRATION))
		return;
	reading->measures = true;
	reading->lanes = 1;
	reading->temperature_c = (int16_t)word_at(page, NOW) / TEMPERATURE_PER_C;
	reading->voltage_v = word_at(page, NOW + 2) / VOLTAGE_PER_V;
	reading->bias_ma[0] = word_at(page, NOW + 4) / BIAS_PER_MA;
	reading->tx_power_uw[0] = word_at(page, NOW + 6) / POWER_PER_UW;
	reading->rx_power_uw[0] = word_at(page, NOW + 8) / POWER_PER_UW;
	struct text text = TEXT_IN(reading->alarms);
	/* two bits each from the highest on: high, low; alarms at 112, warnings at 116 */
	unsigned alarms = word_at(page, A2 + 112), warnings = word_at(page, A2 + 116);
	for (unsigned i = 0; i < 5; i++) {
		complain(&text, alarms >> (15 - 2 * i) & 1, names[i], "high", 0);
		complain(&text, alarms >> (14 - 2 * i) & 1, names[i], "low", 0);
		complain(&text, !(alarms >> (15 - 2 * i) & 1) && warnings >> (15 - 2 * i) & 1, names[i],
			"high (warning)", 0);
		complain(&text, !(alarms >> (14 - 2 * i) & 1) && warnings >> (14 - 2 * i) & 1, names[i],
			"low (warning)", 0);
	}
}

/* Two lanes a byte, four bits a lane: high alarm, low alarm, high warning, low warning. */
static void complain_lanes(struct text *text, const unsigned char *page, size_t at, const char *what)
{
	for (unsigned lane = 0; lane < MODULE_LANES_MAX; lane++) {
		unsigned bits = page[at + lane / 2] >> (lane % 2 ? 0 : 4) & 15;
		complain(text, bits & 8, what, "high", lane + 1);
		complain(text, bits & 4, what, "low", lane + 1);
		complain(text, (bits & 10) == 2, what, "high (warning)", lane + 1);
		complain(text, (bits & 5) == 1, what, "low (warning)", lane + 1);
	}
}

static void read_qsfp(const unsigned char *page, struct module_reading *reading)
{
	enum { TEMPERATURE = 22, VOLTAGE = 26, RX_POWER = 34, BIAS = 42, TX_POWER = 50 };
	reading->form = page[0] == QSFP28 ? "QSFP28" : page[0] == QSFP_PLUS ? "QSFP+" : "QSFP";
	text_at(page, 148, reading->vendor);
	text_at(page, 168, reading->part);
	text_at(page, 196, reading->serial);
	/* copper cables have the places and nothing in them: 0 °C and 0 V */
	reading->measures = word_at(page, TEMPERATURE) || word_at(page, VOLTAGE);
	if (!reading->measures)
		return;
	reading->lanes = MODULE_LANES_MAX;
	reading->temperature_c = (int16_t)word_at(page, TEMPERATURE) / TEMPERATURE_PER_C;
	reading->voltage_v = word_at(page, VOLTAGE) / VOLTAGE_PER_V;
	for (size_t lane = 0; lane < MODULE_LANES_MAX; lane++) {
		reading->rx_power_uw[lane] = word_at(page, RX_POWER + 2 * lane) / POWER_PER_UW;
		reading->bias_ma[lane] = word_at(page, BIAS + 2 * lane) / BIAS_PER_MA;
		reading->tx_power_uw[lane] = word_at(page, TX_POWER + 2 * lane) / POWER_PER_UW;
	}
	struct text text = TEXT_IN(reading->alarms);
	complain(&text, page[6] & 0x80, "temperature", "high", 0);
	complain(&text, page[6] & 0x40, "temperature", "low", 0);
	complain(&text, page[7] & 0x80, "voltage", "high", 0);
	complain(&text, page[7] & 0x40, "voltage", "low", 0);
	complain_lanes(&text, page, 9, "rx power");
	complain_lanes(&text, page, 11, "bias");
	complain_lanes(&text, page, 13, "tx power");
}

bool module_page_read(
	enum module_kind kind, const unsigned char *page, size_t bytes, struct module_reading *ret_reading)
{
	struct module_reading reading = {.form = NULL};
	if (kind == MODULE_SFP && bytes >= 96 && page[0] == SFP)
		read_sfp(page, bytes, &reading);
	else if (kind == MODULE_QSFP && bytes >= 256 && (page[0] == QSFP || page[0] == QSFP_PLUS || page[0] == QSFP28))
		read_qsfp(page, &reading);
	else
		return false;
	*ret_reading = reading;
	return true;
}
