/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Transceivers. Their memory is asked over a bus of 100 kHz, milliseconds each and
 * under the RTNL lock, so only when slow readings were wanted. Light that fades is
 * seen here before frames get damaged.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "host/module_page.h"
#include "host/reading.h"

static void add_number(struct reading *reading, const char *id, const char *leaf, unsigned lane, double value)
{
	char name[64], text[32];
	snprintf(name, sizeof name, lane ? "%s.%u" : "%s", leaf, lane);
	snprintf(text, sizeof text, "%.1f", value);
	reading_add(reading, reading_row("nic[].module.*"), id, name, HOST_VIA_IOCTL, NULL, text);
}

static void add_module(struct reading *reading, const char *id, const struct module_reading *module)
{
	char line[128];
	snprintf(line, sizeof line, "%s %s %s %s", module->form, module->vendor, module->part, module->serial);
	reading_add_text(reading, "nic[].module", id, HOST_VIA_IOCTL, line);
	if (!module->measures)
		return;
	add_number(reading, id, "temperature_c", 0, module->temperature_c);
	add_number(reading, id, "voltage_v", 0, module->voltage_v);
	for (unsigned lane = 0; lane < module->lanes; lane++) {
		unsigned number = module->lanes > 1 ? lane + 1 : 0;
		add_number(reading, id, "rx_power_uw", number, module->rx_power_uw[lane]);
		add_number(reading, id, "tx_power_uw", number, module->tx_power_uw[lane]);
		add_number(reading, id, "bias_ma", number, module->bias_ma[lane]);
	}
	reading_add(reading, reading_row("nic[].module.*"), id, "alarms", HOST_VIA_IOCTL, NULL,
		module->alarms[0] ? module->alarms : "none");
}

/* 0 or an errno. */
static int ask_module(int fd, const char *name, struct module_reading *ret_module)
{
	struct ethtool_modinfo info = {.cmd = ETHTOOL_GMODULEINFO};
	struct ifreq request = {.ifr_data = (char *)&info};
	snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
	if (ioctl(fd, SIOCETHTOOL, &request) < 0)
		return errno;
	enum module_kind kind =
		info.type == ETH_MODULE_SFF_8472 || info.type == ETH_MODULE_SFF_8079 ? MODULE_SFP : MODULE_QSFP;
	uint32_t bytes = info.eeprom_len < MODULE_PAGE_BYTES ? info.eeprom_len : MODULE_PAGE_BYTES;
	AUTO_FREE struct ethtool_eeprom *page = calloc(1, sizeof *page + MODULE_PAGE_BYTES);
	if (!page)
		return ENOMEM;
	*page = (struct ethtool_eeprom){.cmd = ETHTOOL_GMODULEEEPROM, .len = bytes};
	request.ifr_data = (char *)page;
	if (ioctl(fd, SIOCETHTOOL, &request) < 0)
		return errno;
	bytes = page->len < bytes ? page->len : bytes;
	return module_page_read(kind, (const unsigned char *)(page + 1), bytes, ret_module) ? 0 : EOPNOTSUPP;
}

void reading_module(struct reading *reading, int fd, const struct reading_nic *nic)
{
	struct module_reading module;
	if (!nic->pci)
		return;
	if (!reading->question->slow) {
		reading_fail(
			reading, reading_row("nic[].module"), nic->id, NULL, HOST_VIA_IOCTL, NULL, HOST_SKIPPED, 0);
		return;
	}
	int failure = ask_module(fd, nic->name, &module);
	if (failure)
		reading_fail_name(reading, "nic[].module", nic->id, HOST_VIA_IOCTL, failure);
	else
		add_module(reading, nic->id, &module);
}
