/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a PCI device's configuration space matters for latency and has no file of its own. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct pci_control {
	unsigned payload_bytes;      /* largest write the device may make: MPS */
	unsigned read_request_bytes; /* largest read it may ask for: MRRS */
	bool relaxed_ordering, extended_tags;
	bool l0s, l1; /* link may sleep: ASPM as the device has it */
};

enum pci_config_result {
	PCI_CONFIG_OK,
	PCI_CONFIG_CUT,  /* without privilege the kernel gives 64 bytes, and the capability lies beyond */
	PCI_CONFIG_NONE, /* no PCI Express: a plain or a virtual PCI device */
};

/*
 * `bytes` as /sys/bus/pci/devices/ADDRESS/config gives them. Device Control is at offset 8 and Link Control at
 * 16 of the PCI Express capability (id 10h; PCI Express Base Specification, 7.5.3). Lists that loop end.
 */
enum pci_config_result pci_config_control(const unsigned char *config, size_t bytes, struct pci_control *ret_control);
