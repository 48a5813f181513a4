/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of capabilities is the device's own: its pointers are bounded and the walk ends after as many as fit. */
#include "host/pci_config.h"

#include <stdint.h>

enum {
	STATUS = 6,
	STATUS_HAS_LIST = 0x10,
	LIST = 0x34,
	HEADER_BYTES = 64,
	EXPRESS = 0x10,
	DEVICE_CONTROL = 8,
	LINK_CONTROL = 16,
	CAPABILITIES_MAX = 48, /* of four bytes, between header and byte 256 */
};

static unsigned word_at(const unsigned char *config, size_t at)
{
	return (unsigned)config[at] | (unsigned)config[at + 1] << 8;
}

enum pci_config_result pci_config_control(const unsigned char *config, size_t bytes, struct pci_control *ret_control)
{
	if (bytes < HEADER_BYTES || !(config[STATUS] & STATUS_HAS_LIST))
		return bytes < HEADER_BYTES ? PCI_CONFIG_CUT : PCI_CONFIG_NONE;
	size_t at = config[LIST] & ~3U;
	for (int i = 0; i < CAPABILITIES_MAX && at >= HEADER_BYTES; i++) {
		if (at + LINK_CONTROL + 2 > bytes)
			return bytes < 256 ? PCI_CONFIG_CUT : PCI_CONFIG_NONE;
		if (config[at] == EXPRESS) {
			unsigned device = word_at(config, at + DEVICE_CONTROL),
				 link = word_at(config, at + LINK_CONTROL);
			*ret_control = (struct pci_control){
				.payload_bytes = 128U << (device >> 5 & 7),
				.read_request_bytes = 128U << (device >> 12 & 7),
				.relaxed_ordering = device & 1U << 4,
				.extended_tags = device & 1U << 8,
				.l0s = link & 1,
				.l1 = link & 2,
			};
			return PCI_CONFIG_OK;
		}
		at = config[at + 1] & ~3U;
	}
	return PCI_CONFIG_NONE;
}
