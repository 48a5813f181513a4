/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One reading under way, and the readers it is made of. Private to this folder. */
#pragma once
#include "host/host.h"
#include "host/tree.h"

enum {
	READING_PATH_BYTES = 512,
	READING_KEY_BYTES = 512,
	READING_VALUE_BYTES = 16384,  /* of one fact */
	READING_TEXT_BYTES = 4 << 20, /* /proc/interrupts of a large host */
};

/* A NIC, by what the kernel calls it and what we call it. */
struct reading_nic {
	const char *name,
		*id;     /* id: PCI address, "address/port", permanent MAC of others, or the name of virtual ones */
	const char *pci; /* path of its PCI folder below /sys/class/net, NULL for none */
	bool detailed;   /* one of the first HOST_NICS_MAX: queues and drivers are asked */
};
enum { HOST_NICS_MAX = 48 };

struct reading {
	const struct host_question *question;
	struct host_tree tree;
	struct host_snapshot *snapshot;
	struct arena *scratch;          /* names and texts of this reading */
	struct host_cpus online, quiet; /* quiet: isolated, nohz_full or hot: not to be interrupted */
	int last_cpu;                   /* highest possible; -1 unknown */
	char *text;                     /* READING_TEXT_BYTES */
	char *value;                    /* READING_VALUE_BYTES */
	struct reading_nic *nics;
	size_t nic_count;
	pid_t pid;         /* of the process asked for, or 0 */
	char process[256]; /* its identity: program and cgroup */
};

/* ---- adding ---- */

/* The row of this very name ("nic[].mtu", or what an open-ended row covers). */
const struct host_key *reading_row(const char *name);
/* Raw text in the row's form; instance NULL for rows without brackets; leaf NULL, or what stands for '*'. */
void reading_add(struct reading *reading, const struct host_key *row, const char *instance, const char *leaf,
	enum host_via via, const char *source, const char *raw);
void reading_add_number(
	struct reading *reading, const char *name, const char *instance, enum host_via via, int64_t number);
void reading_add_text(
	struct reading *reading, const char *name, const char *instance, enum host_via via, const char *raw);
/* A fact without a value. */
void reading_fail(struct reading *reading, const struct host_key *row, const char *instance, const char *leaf,
	enum host_via via, const char *source, enum host_status status, int failure);
void reading_fail_name(struct reading *reading, const char *name, const char *instance, enum host_via via, int failure);
/* A file as it is. */
void reading_file(struct reading *reading, const struct host_key *row, const char *instance, const char *path);
/* All rows of a scope that have a file below `folder`. */
void reading_scope(struct reading *reading, enum host_scope scope, const char *folder, const char *instance);
/* The text of a file in reading->text; NULL when it cannot be read (*ret_status, *ret_errno say why). */
char *reading_text(struct reading *reading, const char *path, enum host_status *ret_status, int *ret_errno);
/* One line of a file, trimmed; false when it cannot be read. */
bool reading_line(struct reading *reading, const char *path, char *buffer, size_t room);

/* ---- counters by CPU ---- */

struct reading_counts {
	uint64_t *by_cpu; /* last_cpu + 1 of them */
	size_t room;
	bool any;
};
bool reading_counts_open(struct reading *reading, struct reading_counts *ret_counts);
void reading_counts_add(struct reading *reading, const char *name, const char *instance, const char *leaf,
	const char *source, const struct reading_counts *counts);

/* ---- the readers ---- */

void reading_boot(struct reading *reading);       /* boot line, cpuid, uname, bypass */
void reading_cpus(struct reading *reading);       /* rows of scope CPU and IDLE, and what lies around them */
void reading_devices(struct reading *reading);    /* /dev: PM QoS, MSR; EDAC, nodes, uncore */
void reading_memory(struct reading *reading);     /* vmstat, stat, pressure, swaps */
void reading_interrupts(struct reading *reading); /* /proc/irq, /proc/interrupts, /proc/softirqs */
void reading_nics_find(struct reading *reading);
void reading_nics(struct reading *reading); /* sysfs of every NIC, its queues, its PCI device */
void reading_pci(struct reading *reading, const struct reading_nic *nic); /* its PCI device and the port above it */
void reading_ethtool(struct reading *reading); /* ethtool netlink, or ioctl where there is none */
void reading_ethtool_ioctl(
	struct reading *reading);             /* kernels before 5.6: tagged ioctl, as zero and unsupported look alike */
void reading_driver(struct reading *reading); /* ioctl: driver, firmware, RSS, its own counters */
/* By ioctl on any socket: the transceiver, and the rules by which flows get their queue. */
void reading_module(struct reading *reading, int fd, const struct reading_nic *nic);
void reading_steering(struct reading *reading, int fd, const struct reading_nic *nic);
void reading_filters(struct reading *reading); /* rules of nftables */
void reading_routes(struct reading *reading);  /* route netlink: links, counters, queue disciplines, path */
void reading_stack(struct reading *reading);   /* softnet, snmp, netstat, conntrack, sniffers */
int reading_process_find(struct reading *reading, struct tare_err *err) TARE_MUST_USE;
void reading_process(struct reading *reading);  /* the responder, its threads, its cgroup; others on hot CPUs */
void reading_services(struct reading *reading); /* tuned, daemons, clocks */
void reading_units(struct reading *reading);    /* systemd: what starts at the next boot or by a timer */
/* This namespace's devices even where /sys was mounted in another one (nsenter --net); as far as rights go. */
void reading_own_sysfs(struct reading *reading);
int reading_enter_netns(struct reading *reading, struct tare_err *err) TARE_MUST_USE;

/* Whether "NAME=value" of an environment steers a stack that bypasses the kernel's. */
bool reading_is_bypass(const char *assignment);
