/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of /proc/interrupts, /proc/softirqs and /proc/stat, by CPU. */
#include <stdio.h>
#include <string.h>

#include "cause/landed.h"
#include "tap.h"

static struct landed_row rows[LANDED_ROWS_MAX];

static void interrupts(void)
{
	/* CPU 1 is offline: columns go by their heading */
	char text[] = "            CPU0       CPU2       CPU3\n"
		      " 57:          5          0         11   PCI-MSI 524289-edge      eth0-rx-0\n"
		      "  9:          0          0          0   IO-APIC    9-fasteoi   acpi\n"
		      "LOC:       1000       1001       1002   Local timer interrupts\n"
		      "ERR:          7\n"
		      "a line without its mark\n"
		      "longer-than-any-name-the-kernel-has: 1 2 3 x\n";
	static const int cpus[] = {3, 1, 0};
	size_t count = 0;
	landed_parse(TARE_SHARE_INTERRUPT, text, cpus, 3, rows, &count);
	IS_I64(count, 4, "four lines have a name and counts");
	IS_STR(rows[0].name, "eth0-rx-0", "a line of a device is called by it");
	IS_I64(rows[0].count[0], 11, "CPU 3");
	IS_I64(rows[0].count[1], 0, "CPU 1 is not there");
	IS_I64(rows[0].count[2], 5, "CPU 0");
	IS_STR(rows[2].name, "LOC", "the kernel's own keep their short name");
	IS_I64(rows[2].count[0], 1002, "and their counts");
	IS_I64(rows[3].count[2], 7, "one number for all counts for the first column");
}

static void soft(void)
{
	char text[] = "                    CPU0       CPU1       \n"
		      "          HI:          1          2\n"
		      "      NET_RX:         30         40\n";
	static const int cpus[] = {1};
	size_t count = 0;
	landed_parse(TARE_SHARE_SOFTIRQ, text, cpus, 1, rows, &count);
	IS_I64(count, 2, "two vectors");
	IS_STR(rows[1].name, "NET_RX", "by name");
	IS_I64(rows[1].count[0], 40, "of the CPU asked for");
}

static void full(void)
{
	static char text[LANDED_ROWS_MAX * 16 + 64];
	size_t used = (size_t)snprintf(text, sizeof text, "CPU0\n"), count = 0;
	static const int cpus[] = {0};
	for (int i = 0; i < LANDED_ROWS_MAX + 20; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%d: 1 x\n", i);
	landed_parse(TARE_SHARE_INTERRUPT, text, cpus, 1, rows, &count);
	IS_I64(count, LANDED_ROWS_MAX, "more lines than there is room for");
}

static void steal(void)
{
	char text[] = "cpu  1 2 3 4 5 6 7 99 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu11 1 2 3 4 5 6 7 18 9 10\ncpu1 1 "
		      "2\nintr 5\n";
	static const int cpus[] = {11, 0, 1, -1};
	uint64_t ticks[4] = {7, 7, 7, 7};
	landed_parse_steal(text, cpus, 4, ticks);
	IS_I64(ticks[0], 18, "CPU 11, not 1");
	IS_I64(ticks[1], 8, "CPU 0, not the sum of all");
	IS_I64(ticks[2], 0, "a kernel that does not tell");
	IS_I64(ticks[3], 0, "no CPU");
}

static void this_host(void)
{
	static const int cpus[] = {0};
	struct tare_err err = {.text = ""};
	struct tare_share shares[LANDED_ROWS_MAX];
	struct landed *landed = NULL;
	OK(landed_open(cpus, 1, &landed, &err) == 0, "opened: %s", err.text);
	landed_begin(landed);
	landed_end(landed);
	size_t n = landed_since(landed, 0, shares, LANDED_ROWS_MAX);
	bool sane = true;
	for (size_t i = 0; i < n; i++)
		sane &= shares[i].cpu == 0 && shares[i].kind > TARE_SHARE_WAITED && shares[i].kind < TARE_SHARE_KINDS &&
			(shares[i].times > 0 || shares[i].ns > 0);
	OK(sane, "what was counted between two readings is of this CPU and not zero");
	landed_free(landed);
}

int main(void)
{
	interrupts();
	soft();
	full();
	steal();
	this_host();
	return tap_done();
}
