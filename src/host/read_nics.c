/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Network devices as sysfs shows them. The key of a device is where it sits (PCI
 * address and port), which survives renames and moves with no bond; devices
 * without a place go by their name. `device` of a virtio NIC points one level
 * below the PCI device, so the PCI folder is looked for upwards.
 */
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/reading.h"

#define NET "/sys/class/net/"

/* "0000:3b:00.0" */
static bool is_pci_address(const char *text)
{
	static const char form[] = "hhhh:hh:hh.h";
	size_t length = strlen(text);
	if (length < sizeof form - 1)
		return false;
	/* domains may have more than four digits */
	text += length - (sizeof form - 1);
	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'h' ? !isxdigit((unsigned char)text[i]) : text[i] != form[i])
			return false;
	return true;
}

/* The PCI folder at or above `device`: path into *ret_path, address into `address`. */
static const char *find_pci(struct reading *reading, const char *name, char *address, size_t room)
{
	char path[READING_PATH_BYTES], probe[READING_PATH_BYTES + 16], link[128], id[64];
	struct text text = TEXT_IN(path);
	text_add(&text, NET "%s/device", name);
	if (!tree_link(&reading->tree, path, link, sizeof link))
		return NULL;
	for (int up = 0; up < 3; up++) {
		if (up == 0) {
			snprintf(id, sizeof id, "%.63s", link);
		} else {
			/* the folder's own name is told by its uevent file: PCI_SLOT_NAME=0000:00:03.0 */
			char uevent[2048];
			size_t bytes;
			int failure;
			text_add(&text, "/..");
			snprintf(probe, sizeof probe, "%s/uevent", path);
			if (tree_read(&reading->tree, probe, uevent, sizeof uevent, &bytes, &failure) != HOST_OK)
				continue;
			char *slot = strstr(uevent, "PCI_SLOT_NAME=");
			if (!slot)
				continue;
			slot += strlen("PCI_SLOT_NAME=");
			snprintf(id, sizeof id, "%.*s", (int)strcspn(slot, "\n"), slot);
		}
		if (is_pci_address(id) && !text.cut) {
			snprintf(address, room, "%s", id);
			return arena_text(reading->scratch, path);
		}
	}
	return NULL;
}

/* A sysfs that was mounted in another network namespace shows devices that are not ours, under names that may be. */
static bool is_ours(struct reading *reading, const char *name, const char *ifindex_path)
{
	char line[32];
	uint64_t index = 0;
	if (reading->tree.foreign)
		return true;
	return reading_line(reading, ifindex_path, line, sizeof line) && parse_count(line, &index, NULL) == 0 &&
	       if_nametoindex(name) == index;
}

void reading_nics_find(struct reading *reading)
{
	struct tree_names names;
	int failure;
	bool elsewhere = false;
	tree_list(&reading->tree, "/sys/class/net", reading->scratch, &names, &failure);
	reading->nics = ARENA_ARRAY(reading->scratch, struct reading_nic, names.count ? names.count : 1);
	for (size_t i = 0; reading->nics && i < names.count; i++) {
		struct reading_nic *nic = &reading->nics[reading->nic_count];
		char address[64], id[96], path[READING_PATH_BYTES], port[32] = "0";
		snprintf(path, sizeof path, NET "%s/ifindex", names.name[i]);
		if (!tree_exists(&reading->tree, path)) /* bonding_masters is a file of its own */
			continue;
		if (!is_ours(reading, names.name[i], path)) {
			elsewhere = true;
			continue;
		}
		*nic = (struct reading_nic){.name = names.name[i], .detailed = reading->nic_count < HOST_NICS_MAX};
		nic->pci = find_pci(reading, nic->name, address, sizeof address);
		snprintf(path, sizeof path, NET "%s/dev_port", nic->name);
		reading_line(reading, path, port, sizeof port);
		struct text text = TEXT_IN(id);
		if (!nic->pci)
			text_add(&text, "%.*s", (int)strcspn(nic->name, "@"), nic->name);
		else if (strcmp(port, "0") == 0)
			text_add(&text, "%s", address);
		else
			text_add(&text, "%s/%s", address, port);
		/* two devices of one function and port are told apart by name */
		for (size_t j = 0; j < reading->nic_count; j++) {
			if (strcmp(reading->nics[j].id, id) == 0) {
				text_add(&text, " %s", nic->name);
				break;
			}
		}
		nic->id = arena_text(reading->scratch, id);
		if (nic->id)
			reading->nic_count++;
	}
	if (elsewhere)
		reading_fail(reading, reading_row("nic[].name"), "of another network namespace", NULL, HOST_VIA_FILE,
			"/sys/class/net", HOST_DENIED, EPERM);
}

static const struct reading_nic *nic_named(const struct reading *reading, const char *name)
{
	for (size_t i = 0; i < reading->nic_count; i++)
		if (strcmp(reading->nics[i].name, name) == 0)
			return &reading->nics[i];
	return NULL;
}

static void add_link(struct reading *reading, const char *row, const char *id, const char *path)
{
	char name[128];
	if (tree_link(&reading->tree, path, name, sizeof name))
		reading_add_text(reading, row, id, HOST_VIA_FILE, name);
}

/* "vlan100 > bond0 > eth0* eth1": the devices a packet passes, the active member of a bond marked. */
static void add_path(struct reading *reading, const struct reading_nic *nic, struct text *text, int depth)
{
	char path[READING_PATH_BYTES], active[64] = "";
	struct tree_names names;
	int failure, lower = 0;
	snprintf(path, sizeof path, NET "%s", nic->name);
	tree_list(&reading->tree, path, reading->scratch, &names, &failure);
	snprintf(path, sizeof path, NET "%s/bonding/active_slave", nic->name);
	reading_line(reading, path, active, sizeof active);
	for (size_t i = 0; i < names.count; i++) {
		if (strncmp(names.name[i], "lower_", 6) != 0)
			continue;
		const char *name = names.name[i] + 6;
		const struct reading_nic *below = nic_named(reading, name);
		text_add(text, "%s%s%s", lower++ ? " " : " > ", name, strcmp(name, active) == 0 ? "*" : "");
		if (below && depth < 4)
			add_path(reading, below, text, depth + 1);
	}
}

static void read_bond(struct reading *reading, const struct reading_nic *nic)
{
	char path[READING_PATH_BYTES];
	enum host_status status;
	int failure;
	snprintf(path, sizeof path, "/proc/net/bonding/%s", nic->name);
	char *text = reading_text(reading, path, &status, &failure);
	if (!text)
		return;
	static const struct {
		const char *label, *row;
	} lines[] = {{"Bonding Mode: ", "nic[].bond_mode"}, {"Currently Active Slave: ", "nic[].bond_active"}};
	for (size_t i = 0; i < 2; i++) {
		char value[128], *at = strstr(text, lines[i].label);
		if (!at)
			continue;
		at += strlen(lines[i].label);
		snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\n"), at);
		reading_add(reading, reading_row(lines[i].row), nic->id, NULL, HOST_VIA_FILE, path, value);
	}
}

static void read_vlan(struct reading *reading, const struct reading_nic *nic)
{
	char path[READING_PATH_BYTES], value[128], device[64] = "?";
	enum host_status status;
	int failure, tag = -1;
	snprintf(path, sizeof path, "/proc/net/vlan/%s", nic->name);
	char *text = reading_text(reading, path, &status, &failure);
	char *at = text ? strstr(text, "VID: ") : NULL;
	if (!at)
		return;
	if (sscanf(at, "VID: %d", &tag) != 1)
		tag = -1;
	at = strstr(text, "Device: ");
	if (at && sscanf(at, "Device: %63s", device) != 1)
		snprintf(device, sizeof device, "?");
	snprintf(value, sizeof value, "%d on %s", tag, device);
	reading_add(reading, reading_row("nic[].vlan"), nic->id, NULL, HOST_VIA_FILE, path, value);
}

static void read_queues(struct reading *reading, const struct reading_nic *nic)
{
	char path[READING_PATH_BYTES], id[256], line[64];
	struct tree_names names;
	int failure, rx = 0, tx = 0;
	snprintf(path, sizeof path, NET "%s/queues", nic->name);
	tree_list(&reading->tree, path, reading->scratch, &names, &failure);
	for (size_t i = 0; i < names.count; i++) {
		bool receives = strncmp(names.name[i], "rx-", 3) == 0;
		rx += receives;
		tx += !receives;
		snprintf(path, sizeof path, NET "%s/queues/%s/", nic->name, names.name[i]);
		snprintf(id, sizeof id, "%s %s", nic->id, names.name[i]);
		reading_scope(reading, receives ? HOST_RX_QUEUE : HOST_TX_QUEUE, path, id);
	}
	snprintf(line, sizeof line, "%d rx, %d tx", rx, tx);
	reading_add_text(reading, "nic[].queues", nic->id, HOST_VIA_FILE, line);
}

/* Permanent addresses come by netlink; the current one stands in where that is silent (fixtures, older kernels). */
static void read_address(struct reading *reading, const struct reading_nic *nic)
{
	char path[READING_PATH_BYTES], line[128], type[16] = "";
	snprintf(path, sizeof path, NET "%s/addr_assign_type", nic->name);
	reading_line(reading, path, type, sizeof type);
	snprintf(path, sizeof path, NET "%s/address", nic->name);
	/* a random address is no identity: it is drawn anew at each boot */
	if (strcmp(type, "0") == 0 && reading->tree.foreign && reading_line(reading, path, line, sizeof line))
		reading_add(reading, reading_row("nic[].mac"), nic->id, NULL, HOST_VIA_FILE, path, line);
}

static void read_statistics(struct reading *reading, const struct reading_nic *nic)
{
	for (size_t i = 0; i < host_key_count(); i++) {
		const struct host_key *row = host_key_at(i);
		char path[READING_PATH_BYTES];
		if (strcmp(row->path, "@RTM_GETLINK or statistics") != 0)
			continue;
		snprintf(path, sizeof path, NET "%s/statistics/%s", nic->name, row->name + strlen("nic[]."));
		if (tree_exists(&reading->tree, path))
			reading_file(reading, row, nic->id, path);
	}
}

void reading_nics(struct reading *reading)
{
	for (size_t i = 0; i < reading->nic_count; i++) {
		const struct reading_nic *nic = &reading->nics[i];
		char path[READING_PATH_BYTES], line[512];
		reading_add_text(reading, "nic[].name", nic->id, HOST_VIA_FILE, nic->name);
		snprintf(path, sizeof path, NET "%s/", nic->name);
		if (!nic->detailed) {
			reading_fail(reading, reading_row("nic[].queues"), nic->id, NULL, HOST_VIA_FILE, NULL,
				HOST_SKIPPED, 0);
			continue;
		}
		reading_scope(reading, HOST_NIC, path, nic->id);
		snprintf(path, sizeof path, NET "%s/device/driver", nic->name);
		add_link(reading, "nic[].driver", nic->id, path);
		struct text text = TEXT_IN(line);
		text_add(&text, "%s", nic->name);
		add_path(reading, nic, &text, 0);
		reading_add_text(reading, "nic[].path", nic->id, HOST_VIA_FILE, line);
		read_address(reading, nic);
		read_bond(reading, nic);
		read_vlan(reading, nic);
		read_queues(reading, nic);
		if (nic->pci)
			reading_pci(reading, nic);
		if (reading->tree.foreign)
			read_statistics(reading, nic);
	}
}
