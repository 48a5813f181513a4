/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host with one file that holds something else than it should: the first byte
 * chooses the file, the rest is its text. Reading, judging and comparing it with
 * the host as it was must end, whatever stands there.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/finding.h"
#include "host/host.h"
#include "host/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *path, *text;
} files[] = {
	{"/sys/devices/system/cpu/online", "0-3\n"},
	{"/sys/devices/system/cpu/possible", "0-3\n"},
	{"/sys/devices/system/cpu/isolated", "3\n"},
	{"/proc/cmdline", "ro isolcpus=managed_irq,3 a=\"b c\"\n"},
	{"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"isolcpus=3\"\n"},
	{"/etc/tuned/bootcmdline", "TUNED_BOOT_CMDLINE=\"x=1\"\n"},
	{"/proc/cpuinfo", "model name\t: X\nflags\t\t: fpu hypervisor\n"},
	{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"},
	{"/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "C1\n"},
	{"/sys/devices/system/cpu/cpu0/cpuidle/state0/usage", "7\n"},
	{"/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2\n"},
	{"/proc/irq/default_smp_affinity", "0000000f\n"},
	{"/proc/irq/57/smp_affinity_list", "1\n"},
	{"/proc/irq/57/spurious", "count 1\nunhandled 0\nlast_unhandled 0 ms\n"},
	{"/proc/interrupts", "           CPU0       CPU1       \n 57:  7  8  PCI-MSI 524289-edge  eth0-rx-0\nLOC:  1  "
			     "2  Local\nERR:  0\n"},
	{"/proc/softirqs", "                    CPU0       CPU1       \n      NET_RX:          5          6\n"},
	{"/proc/net/softnet_stat", "00000010 00000000 00000001 0 0 0 0 0 0 0 0 0 00000000\n"},
	{"/proc/net/snmp", "Udp: InDatagrams RcvbufErrors\nUdp: 5 6\n"},
	{"/proc/net/netstat", "TcpExt: ListenDrops\nTcpExt: 1\n"},
	{"/proc/net/stat/nf_conntrack", "entries  drop insert_failed\n0000000c 00000003 0\n"},
	{"/proc/net/ptype", "Type Device      Function\nALL  tpacket_rcv\n"},
	{"/proc/stat", "cpu0 1 2 3 4 5 6 7 8 9 10\n"},
	{"/proc/vmstat", "pgmajfault 5\n"},
	{"/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"},
	{"/proc/swaps", "Filename Type\n/dev/sda1 partition\n"},
	{"/proc/self/cgroup", "0::/md\n"},
	{"/sys/fs/cgroup/cgroup.controllers", "cpu\n"},
	{"/sys/fs/cgroup/md/cpu.max", "50000 100000\n"},
	{"/sys/fs/cgroup/md/cpu.stat", "nr_throttled 5\n"},
	{"/proc/42/stat", "42 (md) S 1 42 42 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 5000 1\n"},
	{"/proc/42/status", "Name:\tmd\nCpus_allowed_list:\t3\n"},
	{"/proc/42/task/42/stat", "42 (md) S 1 42 42 0 -1 0 1 0 0 0 1 1 0 0 20 0 1 0 5000 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
				  "1 17 1 0 0 0 0 0\n"},
	{"/proc/42/task/42/status", "Cpus_allowed_list:\t0-3\n"},
	{"/proc/42/cgroup", "5:cpuset:/md\n4:cpu,cpuacct:/md\n"},
	{"/proc/42/environ", "EF_POLL_USEC=1\n"},
	{"/sys/class/net/eth0/ifindex", "2\n"},
	{"/sys/class/net/eth0/dev_port", "0\n"},
	{"/sys/class/net/eth0/speed", "25000\n"},
	{"/sys/class/net/eth0/queues/rx-0/rps_cpus", "0000000f\n"},
	{"/sys/class/net/eth0/statistics/rx_missed_errors", "5\n"},
	{"/proc/net/bonding/eth0", "Bonding Mode: x\nCurrently Active Slave: y\n"},
	{"/proc/net/vlan/eth0", "eth0  VID: 5\nDevice: eth1\n"},
	{"/etc/tuned/tuned-main.conf", "dynamic_tuning = 1\n"},
	{"/etc/tuned/active_profile", "p\n"},
	{"/etc/tuned/p/tuned.conf", "[main]\ninclude=q\n[sysctl]\nvm.swappiness=>5\n[bootloader]\ncmdline=+a=b\n"},
	{"/etc/tuned/q/tuned.conf", "[cpu]\ngovernor=performance|powersave\n"},
	{"/etc/sysconfig/irqbalance", "IRQBALANCE_ARGS=x\n"},
	{"/netlink/ethtool.coalesce", ""},
	{"/netlink/ethtool.features", ""},
	{"/netlink/ethtool.fec", ""},
	{"/netlink/ethtool.privflags", ""},
	{"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
	{"/proc/sys/net/ipv4/tcp_rmem", "1\t2\t3\n"},
	{"/etc/machine-id", "0123\n"},
};
enum { FILES = sizeof files / sizeof files[0] };

static char root[] = "/tmp/tare-fuzz.XXXXXX";
static struct host_snapshot *before;

static void put(size_t i, const void *bytes, size_t count)
{
	char path[512];
	snprintf(path, sizeof path, "%s%s", root, files[i].path);
	for (char *at = path + sizeof root; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			abort();
		*at = '/';
	}
	FILE *file = fopen(path, "w");
	if (!file || (count && fwrite(bytes, 1, count, file) != count) || fclose(file) != 0)
		abort();
}

static void end(void)
{
	char command[64];
	host_snapshot_free(before);
	snprintf(command, sizeof command, "rm -rf %s", root);
	if (system(command) != 0)
		return;
}

static struct host_snapshot *look(void)
{
	struct host_question question = {.root = root, .pid = 42, .slow = true};
	struct host_snapshot *snapshot = NULL;
	struct tare_err err;
	host_cpus_add(&question.hot, 3);
	if (host_read(&question, &snapshot, &err) == 0)
		return snapshot;
	/* the process may be gone with its stat file: then without it */
	question.pid = 0;
	if (host_read(&question, &snapshot, &err) < 0)
		abort();
	return snapshot;
}

static void judge(struct host_snapshot *is)
{
	struct tare_err err;
	struct host_view view = {.is = is, .was = before, .in_round = true, .across_hosts = true};
	struct host_deltas deltas;
	struct host_differences drift;
	struct host_findings findings;
	struct host_profile profile;
	host_cpus_add(&view.hot, 3);
	if (host_deltas_of(before, is, &deltas, &err) < 0 || host_difference_of(before, is, NULL, &drift, &err) < 0)
		abort();
	view.deltas = &deltas;
	view.drift = &drift;
	if (host_findings_of(&view, &findings, &err) < 0)
		abort();
	host_findings_free(&findings);
	host_differences_free(&drift);
	host_deltas_free(&deltas);
	if (host_profile_load(root, "p", is, &profile, &err) == 0)
		host_profile_free(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (!before) {
		if (!mkdtemp(root))
			return 0;
		for (size_t i = 0; i < FILES; i++)
			put(i, files[i].text, strlen(files[i].text));
		before = look();
		atexit(end);
	}
	size_t chosen = data[0] % FILES;
	put(chosen, data + 1, size - 1);
	struct host_snapshot *is = look();
	judge(is);
	host_snapshot_free(is);
	put(chosen, files[chosen].text, strlen(files[chosen].text));
	return 0;
}
