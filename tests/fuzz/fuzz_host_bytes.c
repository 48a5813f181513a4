/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that devices and the kernel hand to the inspection. The first byte chooses what they stand for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/filters.h"
#include "host/module_page.h"
#include "host/pci_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(bool condition)
{
	if (!condition)
		abort();
}

static void try_module(enum module_kind kind, const uint8_t *data, size_t size)
{
	struct module_reading module;
	if (!module_page_read(kind, data, size, &module))
		return;
	hold(module.form && module.lanes <= MODULE_LANES_MAX && strlen(module.vendor) <= 16 &&
		strlen(module.alarms) < sizeof module.alarms);
	for (const char *c = module.serial; *c; c++)
		hold(*c >= ' ' && *c < 0x7f);
}

static void try_config(const uint8_t *data, size_t size)
{
	struct pci_control control;
	if (pci_config_control(data, size, &control) == PCI_CONFIG_OK)
		hold(control.payload_bytes >= 128 && control.read_request_bytes <= 16384);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct filters filters = {.hash = FILTERS_HASH_START};
	if (size < 1)
		return 0;
	switch (data[0] % 4) {
	case 0:
		try_config(data + 1, size - 1);
		break;
	case 1:
		try_module(MODULE_SFP, data + 1, size - 1);
		break;
	case 2:
		try_module(MODULE_QSFP, data + 1, size - 1);
		break;
	default:
		netlink_replay(data + 1, size - 1, filters_take_chain, &filters);
		netlink_replay(data + 1, size - 1, filters_take_rule, &filters);
		hold(filters.rules + filters.chains <= size);
	}
	return 0;
}
