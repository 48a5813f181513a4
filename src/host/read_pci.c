/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The PCI side of a NIC, and the port above it: a bad link is counted by either
 * end, and often only by the port.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "host/pci_config.h"
#include "host/reading.h"

/* "RxErr 0" lines, one file a severity; names differ by kernel and are kept, blanks and all. `end` is "" or "port.". */
static void read_aer(struct reading *reading, const char *folder, const char *id, const char *end)
{
	static const char *const severities[] = {"correctable", "nonfatal", "fatal"};
	for (size_t i = 0; i < 3; i++) {
		char path[READING_PATH_BYTES], text[2048], leaf[96];
		size_t bytes;
		int failure;
		snprintf(path, sizeof path, "%.400s/aer_dev_%s", folder, severities[i]);
		if (tree_read(&reading->tree, path, text, sizeof text, &bytes, &failure) != HOST_OK)
			continue;
		for (char *at = text, *line; (line = text_next_line(&at)) != NULL;) {
			char *count = strrchr(line, ' ');
			if (!count || strncmp(line, "TOTAL", 5) == 0)
				continue;
			*count++ = '\0';
			snprintf(leaf, sizeof leaf, "%s%s.%.60s", end, severities[i], line);
			reading_add(reading, reading_row("pci[].aer.*"), id, leaf, HOST_VIA_FILE, path, count);
		}
	}
}

/* A root port counts what all devices below it report. */
static void read_root_totals(struct reading *reading, const char *folder, const char *id)
{
	static const struct {
		const char *file, *leaf;
	} totals[] = {
		{"cor", "port.total.correctable"}, {"nonfatal", "port.total.nonfatal"}, {"fatal", "port.total.fatal"}};
	for (size_t i = 0; i < 3; i++) {
		char path[READING_PATH_BYTES], count[32];
		snprintf(path, sizeof path, "%.400s/aer_rootport_total_err_%s", folder, totals[i].file);
		if (reading_line(reading, path, count, sizeof count))
			reading_add(
				reading, reading_row("pci[].aer.*"), id, totals[i].leaf, HOST_VIA_FILE, path, count);
	}
}

static void read_port(struct reading *reading, const struct reading_nic *nic)
{
	static const struct {
		const char *file, *row;
	} files[] = {{"current_link_speed", "pci[].port.link_speed"}, {"max_link_speed", "pci[].port.link_speed_max"},
		{"current_link_width", "pci[].port.link_width"}, {"max_link_width", "pci[].port.link_width_max"}};
	char folder[READING_PATH_BYTES], path[READING_PATH_BYTES];
	snprintf(folder, sizeof folder, "%.400s/..", nic->pci);
	/* the host bridge above a device without a port has no link */
	snprintf(path, sizeof path, "%.440s/current_link_speed", folder);
	if (!tree_exists(&reading->tree, path))
		return;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(path, sizeof path, "%.440s/%s", folder, files[i].file);
		reading_file(reading, reading_row(files[i].row), nic->id, path);
	}
	read_aer(reading, folder, nic->id, "port.");
	read_root_totals(reading, folder, nic->id);
}

static void read_control(struct reading *reading, const struct reading_nic *nic)
{
	char path[READING_PATH_BYTES], config[4097], line[128];
	size_t bytes;
	int failure;
	struct pci_control control;
	const struct host_key *row = reading_row("pci[].control");
	/* a device without a link has no such control; the capability itself shows only to root */
	snprintf(path, sizeof path, "%.400s/max_link_speed", nic->pci);
	if (!tree_exists(&reading->tree, path)) {
		reading_fail(reading, row, nic->id, NULL, HOST_VIA_FILE, path, HOST_ABSENT, 0);
		return;
	}
	snprintf(path, sizeof path, "%.400s/config", nic->pci);
	enum host_status status = tree_read_raw(&reading->tree, path, config, sizeof config, &bytes, &failure);
	if (status != HOST_OK) {
		reading_fail(reading, row, nic->id, NULL, HOST_VIA_FILE, path, status, failure);
		return;
	}
	switch (pci_config_control((const unsigned char *)config, bytes, &control)) {
	case PCI_CONFIG_CUT:
		reading_fail(reading, row, nic->id, NULL, HOST_VIA_FILE, path, HOST_DENIED, 0);
		return;
	case PCI_CONFIG_NONE:
		reading_fail(reading, row, nic->id, NULL, HOST_VIA_FILE, path, HOST_UNSUPPORTED, 0);
		return;
	case PCI_CONFIG_OK:
		break;
	}
	snprintf(line, sizeof line, "payload %u read %u%s%s%s%s", control.payload_bytes, control.read_request_bytes,
		control.relaxed_ordering ? " relaxed" : "", control.extended_tags ? " tags" : "",
		control.l0s ? " l0s" : "", control.l1 ? " l1" : "");
	reading_add(reading, row, nic->id, NULL, HOST_VIA_FILE, path, line);
}

void reading_pci(struct reading *reading, const struct reading_nic *nic)
{
	char path[READING_PATH_BYTES], line[1024];
	struct tree_names names;
	struct text text = TEXT_IN(line);
	int failure;
	snprintf(path, sizeof path, "%.500s/", nic->pci);
	reading_scope(reading, HOST_PCI, path, nic->id);
	read_aer(reading, nic->pci, nic->id, "");
	read_port(reading, nic);
	read_control(reading, nic);
	snprintf(path, sizeof path, "%.500s/msi_irqs", nic->pci);
	if (tree_list(&reading->tree, path, reading->scratch, &names, &failure) != HOST_OK || names.count == 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		text_add(&text, "%s%s", i ? " " : "", names.name[i]);
	reading_add_text(reading, "nic[].irqs", nic->id, HOST_VIA_FILE, line);
}
