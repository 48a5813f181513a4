/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Interrupts by identity: PCI address, interrupt of the device, action. The
 * kernel's numbers change from boot to boot and are facts beside it. Columns of
 * /proc/interrupts and /proc/softirqs are those of the CPUs online, named in the
 * first line; rows at the end have fewer, and names may hold blanks.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/reading.h"

enum { IRQS_MAX = 8192 };

struct irq {
	unsigned number;
	const char *pci;  /* address, or NULL */
	const char *rest; /* chip, hardware number and action as /proc/interrupts tells them */
	const char *id;
};

struct columns {
	int *cpu;
	size_t count;
};

/* "CPU0 CPU1 CPU8": which CPU each column is. */
static bool read_columns(struct reading *reading, char *line, struct columns *ret_columns)
{
	struct columns columns = {.cpu = ARENA_ARRAY(reading->scratch, int, HOST_CPUS_MAX)};
	if (!columns.cpu)
		return false;
	for (char *at = strstr(line, "CPU"); at && columns.count < HOST_CPUS_MAX; at = strstr(at, "CPU")) {
		at += 3;
		if (!isdigit((unsigned char)*at))
			return false;
		long cpu = strtol(at, &at, 10);
		columns.cpu[columns.count++] = cpu < HOST_CPUS_MAX ? (int)cpu : -1;
	}
	*ret_columns = columns;
	return columns.count > 0;
}

/* Counts of a row behind its colon; what follows them is returned. */
static char *take_counts(char *at, const struct columns *columns, struct reading_counts *counts)
{
	memset(counts->by_cpu, 0, counts->room * sizeof *counts->by_cpu);
	counts->any = false;
	for (size_t i = 0; i < columns->count; i++) {
		char *digits = at + strspn(at, " \t"), *end;
		if (!isdigit((unsigned char)*digits))
			return digits;
		uint64_t count = strtoull(digits, &end, 10);
		if (*end && *end != ' ' && *end != '\t')
			return digits;
		if (columns->cpu[i] >= 0 && (size_t)columns->cpu[i] < counts->room)
			counts->by_cpu[columns->cpu[i]] = count;
		counts->any = true;
		at = end;
	}
	return at + strspn(at, " \t");
}

static int by_number(const void *left, const void *right)
{
	const struct irq *a = left, *b = right;
	return (a->number > b->number) - (a->number < b->number);
}

/* Which PCI device has which interrupt. */
static size_t find_pci(struct reading *reading, struct irq *found)
{
	struct tree_names devices, irqs;
	size_t count = 0;
	int failure;
	tree_list(&reading->tree, "/sys/bus/pci/devices", reading->scratch, &devices, &failure);
	for (size_t i = 0; i < devices.count; i++) {
		char path[READING_PATH_BYTES];
		snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/msi_irqs", devices.name[i]);
		tree_list(&reading->tree, path, reading->scratch, &irqs, &failure);
		for (size_t j = 0; j < irqs.count && count < IRQS_MAX; j++)
			found[count++] = (struct irq){
				.number = (unsigned)strtoul(irqs.name[j], NULL, 10), .pci = devices.name[i]};
	}
	qsort(found, count, sizeof *found, by_number);
	return count;
}

static const char *pci_of(const struct irq *pci, size_t count, unsigned number, const char *chip)
{
	const struct irq wanted = {.number = number};
	const struct irq *found = count ? bsearch(&wanted, pci, count, sizeof *pci, by_number) : NULL;
	/* "PCI-MSIX-0000:00:03.0" on newer kernels */
	if (!found && strncmp(chip, "PCI-MSI", 7) == 0) {
		const char *dash = strrchr(chip, '-');
		return dash && strchr(dash, ':') ? dash + 1 : NULL;
	}
	return found ? found->pci : NULL;
}

/* "PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0" → "0000:00:03.0#1 virtio2-input.0" */
static const char *identify(
	struct reading *reading, const struct irq *pci, size_t pci_count, unsigned number, char *rest)
{
	char chip[64], hardware[64], id[384];
	int action = 0;
	if (sscanf(rest, "%63s %63s %n", chip, hardware, &action) != 2)
		return NULL;
	hardware[strcspn(hardware, "-")] = '\0'; /* the trigger is no part of it */
	const char *address = pci_of(pci, pci_count, number, chip);
	struct text text = TEXT_IN(id);
	text_add(&text, "%s#%s %s", address ? address : chip, hardware, rest + action);
	while (text.used && id[text.used - 1] == ' ')
		id[--text.used] = '\0';
	return arena_text(reading->scratch, id);
}

static void add_irq(struct reading *reading, unsigned number, const char *id, const struct reading_counts *counts)
{
	char folder[READING_PATH_BYTES], path[READING_PATH_BYTES], spurious[256];
	size_t bytes;
	int failure;
	snprintf(folder, sizeof folder, "/proc/irq/%u/", number);
	reading_scope(reading, HOST_IRQ, folder, id);
	reading_add_number(reading, "irq[].number", id, HOST_VIA_FILE, number);
	reading_counts_add(reading, "irq[].count", id, NULL, "/proc/interrupts", counts);
	snprintf(path, sizeof path, "/proc/irq/%u/spurious", number);
	if (tree_read(&reading->tree, path, spurious, sizeof spurious, &bytes, &failure) != HOST_OK)
		return;
	char *unhandled = strstr(spurious, "unhandled ");
	if (unhandled) {
		unhandled += strlen("unhandled ");
		unhandled[strspn(unhandled, "0123456789")] = '\0';
		reading_add(reading, reading_row("irq[].unhandled"), id, NULL, HOST_VIA_FILE, path, unhandled);
	}
}

static void read_interrupts(struct reading *reading)
{
	enum host_status status;
	int failure;
	struct columns columns;
	struct reading_counts counts;
	struct irq *pci = ARENA_ARRAY(reading->scratch, struct irq, IRQS_MAX);
	if (!pci || !reading_counts_open(reading, &counts))
		return;
	size_t pci_count = find_pci(reading, pci);
	char *at = reading_text(reading, "/proc/interrupts", &status, &failure), *line = text_next_line(&at);
	if (!line || !read_columns(reading, line, &columns)) {
		reading_fail(reading, reading_row("interrupts[]"), "all", NULL, HOST_VIA_FILE, "/proc/interrupts",
			line ? HOST_MALFORMED : status, failure);
		return;
	}
	while ((line = text_next_line(&at)) != NULL) {
		char *colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		char *name = line + strspn(line, " \t"), *end;
		char *rest = take_counts(colon + 1, &columns, &counts);
		unsigned long number = strtoul(name, &end, 10);
		if (!counts.any)
			continue;
		if (*name && isdigit((unsigned char)*name) && *end == '\0' && number < 1000000) {
			const char *id = identify(reading, pci, pci_count, (unsigned)number, rest);
			if (id)
				add_irq(reading, (unsigned)number, id, &counts);
		} else if (*name) {
			reading_counts_add(reading, "interrupts[]", name, NULL, "/proc/interrupts", &counts);
		}
	}
}

static void read_softirqs(struct reading *reading)
{
	enum host_status status;
	int failure;
	struct columns columns;
	struct reading_counts counts;
	char *at = reading_text(reading, "/proc/softirqs", &status, &failure), *line = text_next_line(&at);
	if (!line || !read_columns(reading, line, &columns) || !reading_counts_open(reading, &counts))
		return;
	while ((line = text_next_line(&at)) != NULL) {
		char *colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		take_counts(colon + 1, &columns, &counts);
		if (counts.any)
			reading_counts_add(
				reading, "softirq[]", line + strspn(line, " \t"), NULL, "/proc/softirqs", &counts);
	}
}

void reading_interrupts(struct reading *reading)
{
	read_interrupts(reading);
	read_softirqs(reading);
}
