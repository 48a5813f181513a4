/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a fact is: a key, a canonical value or the reason for having none, and a
 * row of the one table (keys_*.c) that says where it is read, what kind of thing it
 * is and why it matters for latency. No value is good by itself: the table's
 * words are hints, the yardstick is the approved snapshot.
 *
 * Keys of things that come in numbers carry a stable identity in brackets, never
 * the kernel's number: "nic[0000:3b:00.0].coalesce.rx_usecs",
 * "irq[0000:3b:00.0#5 eth0-rx-3].affinity", "cpuidle[C6].disable". A setting of
 * every CPU is one fact; CPUs that differ are told apart in its value:
 * "0-3=performance 4-7=powersave".
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Each is data: an absent knob is no failure, an unreadable one is never "unchanged". */
enum host_status {
	HOST_OK,
	HOST_ABSENT,      /* ENOENT and their like: this host has no such thing */
	HOST_UNSUPPORTED, /* there, but it cannot answer: EOPNOTSUPP, EINVAL, a listed file that reads as ENOENT */
	HOST_DENIED,      /* EACCES, EPERM: root would know */
	HOST_BUSY,        /* EBUSY, EAGAIN: an offline or idle CPU */
	HOST_MALFORMED,   /* read, but not of the form it should have */
	HOST_SKIPPED,     /* not tried: it would have disturbed an isolated CPU, or is slow */
	HOST_STATUS_COUNT
};

enum host_kind {
	HOST_BOOT,     /* B: changes only at a reboot */
	HOST_RUNTIME,  /* R: anything may change it at any moment */
	HOST_IDENTITY, /* I: hardware, firmware, versions */
	HOST_GAUGE,    /* G: a state; reported, not required to be equal */
	HOST_COUNTER,  /* C: only its difference means anything */
	HOST_KIND_COUNT
};

enum host_scope {
	HOST_ONE,  /* path is absolute; one fact */
	HOST_CPU,  /* below /sys/devices/system/cpu/cpuN; equal CPUs are grouped */
	HOST_IDLE, /* below cpuN/cpuidle/stateM; the same, by name of state */
	HOST_NIC,  /* below /sys/class/net/NAME */
	HOST_RX_QUEUE,
	HOST_TX_QUEUE, /* below queues/rx-N, tx-N */
	HOST_PCI,      /* below the PCI device of a NIC */
	HOST_IRQ,      /* below /proc/irq/N */
	HOST_PROCESS,  /* of the process asked for */
	HOST_THREAD,
	HOST_OTHER, /* read by a function of its own */
};

enum host_cost {
	HOST_FILE, /* a small file */
	HOST_LOCK, /* takes the RTNL lock or asks a driver */
	HOST_IPI,  /* interrupts the CPU it asks about: never done to an isolated one unasked */
	HOST_SLOW, /* milliseconds, or grows with the host: on demand */
};

enum host_via {
	HOST_VIA_FILE,
	HOST_VIA_NETLINK,
	HOST_VIA_IOCTL,
	HOST_VIA_CALL,
	HOST_VIA_CPUID,
	HOST_VIA_DEVICE,
	HOST_VIA_IMPORT,
	HOST_VIA_COUNT
};

/* How text becomes a canonical value. */
enum host_form {
	HOST_TEXT,      /* runs of blanks are one blank */
	HOST_NUMBER,    /* decimal or 0x */
	HOST_SPEED,     /* a number; -1, 0, 65535 and 4294967295 are how drivers say unknown */
	HOST_NODE,      /* a number; -1 is unknown, not node 0 */
	HOST_COUNT_U32, /* a counter the kernel keeps in 32 bits: it wraps */
	HOST_COUNT,     /* a counter of 64 bits */
	HOST_CPU_LIST,
	HOST_CPU_MASK, /* both become "0-1,24" */
	HOST_CHOICE,   /* "always [madvise] never" becomes "madvise" */
	HOST_PER_CPU,  /* counters by CPU, "0=2139 7=14", zeros left out; "0" when all are zero */
	HOST_PER_CPU_U32,
	HOST_FORM_COUNT
};

enum host_key_flag {
	HOST_ERRORS = 1 << 0,      /* a counter of errors: any difference counts, and voids a measured round */
	HOST_SUSPECT = 1 << 1,     /* a counter that makes a round suspect: steal, SMI, throttling */
	HOST_REQUIRED = 1 << 2,    /* without it nothing can be said: unreadable is UNKNOWN, not only incomplete */
	HOST_AT_SOCKET = 1 << 3,   /* sockets take it over when they are created: older ones keep the old value */
	HOST_KERNEL_PATH = 1 << 4, /* says nothing about packets that bypass the kernel */
};

struct host_key {
	const char *name; /* "nic[].mtu"; a trailing '*' stands for names that the driver gives */
	const char *path; /* see host_scope; a leading '@': words for what is no file */
	enum host_kind kind;
	enum host_scope scope;
	enum host_form form;
	enum host_cost cost;
	unsigned flags;      /* enum host_key_flag */
	unsigned since;      /* revision of the table that brought it */
	const char *meaning; /* what it does to latency, and when the usual advice is wrong */
};

/* Raised when rows are added: an older snapshot does not know them, which is no drift. */
enum { HOST_TABLE_REVISION = 2 };

size_t host_key_count(void);
const struct host_key *host_key_at(size_t i);
/* The row for "nic[0000:3b:00.0].mtu", or NULL. */
const struct host_key *host_key_of(const char *key);
/* "nic[].mtu" + "0000:3b:00.0" → "nic[0000:3b:00.0].mtu"; brackets within the instance become parentheses. */
bool host_key_text(const char *name, const char *instance, char *buffer, size_t room);
/* The text in the brackets, "" where there are none. */
void host_key_instance(const char *key, char *buffer, size_t room);
/* '*' any run, '?' one character; brackets are letters like others. */
bool host_glob(const char *pattern, const char *text);

const char *host_status_name(enum host_status status);
/* False for a name that is none. */
bool host_status_of(const char *name, enum host_status *ret_status);
enum host_status host_status_of_errno(int failure);
char host_kind_letter(enum host_kind kind);
bool host_kind_of(char letter, enum host_kind *ret_kind);
const char *host_cost_name(enum host_cost cost);
const char *host_via_name(enum host_via via);
bool host_via_of(const char *name, enum host_via *ret_via);
bool host_form_counts(enum host_form form);

/*
 * Foreign text to the form's one spelling. False when it is not of the form. *ret_unknown: the source says itself
 * that it does not know ("unknown", -1, 65535); the value is then "unknown" and never a number.
 */
bool host_canonical(enum host_form form, const char *raw, char *buffer, size_t room, bool *ret_unknown);
