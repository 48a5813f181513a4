/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of tare inspect. */
#include "cli/inspect.h"

#define AT(member) OPTION_AT(struct inspect_config, member)
#define TEXT_OPTION(name, metavar, help, member)                                                                       \
	{                                                                                                              \
		name, 0, OPTION_TEXT, metavar, NULL, help, AT(member), 0, 0, NULL                                      \
	}
#define FLAG_OPTION(name, help, member)                                                                                \
	{                                                                                                              \
		name, 0, OPTION_FLAG, NULL, NULL, help, AT(member), 0, 0, NULL                                         \
	}

const struct option inspect_options[] = {
	TEXT_OPTION("against", "NAME",
		"yardstick: an approved name, a FILE, or tuned:PROFILE (default: the only approved one)", against),
	TEXT_OPTION("approve", "NAME", "make what is found the yardstick of this name", approve),
	TEXT_OPTION("why", "TEXT", "reason of the approval, kept with it", why),
	FLAG_OPTION("save", "keep this inspection: the next one tells what changed since", save),
	TEXT_OPTION("state", "FOLDER", "where inspections are kept", state),
	TEXT_OPTION("policy", "FILE", "rules by key instead of NAME.policy in the state folder", policy),
	{"cpu", 0, OPTION_CPUS, "LIST", NULL, "hot CPUs: those of the threads that are measured", AT(cpus), 0, 0, NULL},
	TEXT_OPTION("exe", "NAME", "program of the responder: its threads, control group and settings", exe),
	{"pid", 0, OPTION_COUNT, "PID", NULL, "the same by process id", AT(pid), 1, 4194304, NULL},
	TEXT_OPTION("peer", "ADDRESS", "numeric address whose route and neighbour are looked at", peer),
	{"peak", 0, OPTION_RATE, "RATE", NULL, "the service's peak rate, for interrupt moderation", AT(peak_ns), 1,
		3600e9, NULL},
	FLAG_OPTION("across-hosts", "one-way or cross-host figures are wanted: clocks matter", across_hosts),
	TEXT_OPTION("root", "FOLDER", "read another host's /proc, /sys, /dev and /etc below it", root),
	TEXT_OPTION("netns", "NAME", "network namespace: a name, a path or a process id", netns),
	TEXT_OPTION(
		"facts-file", "FILE", "judge facts brought from another host instead of reading this one", facts_file),
	FLAG_OPTION("switch", "the operands are saved JSON of a switch's show commands", switches),
	TEXT_OPTION("lldp", "DEVICE", "also listen for the switch port at the other end of the cable", lldp_device),
	{"lldp-wait", 0, OPTION_DURATION, "TIME", "65s", "how long to listen", AT(lldp_ns), 1e6, 3600e9, NULL},
	FLAG_OPTION("diff",
		"compare saved facts: two FILEs, or pairs of A=FILE and B=FILE, start and end of each round", diff),
	TEXT_OPTION("declare", "KEY,...", "with --diff: what was meant to change; KEY or KEY=A->B", declare),
	TEXT_OPTION("allow", "KEY,...", "with --diff: what may move along", allow),
	FLAG_OPTION("facts", "list every fact instead of judging them", facts),
	TEXT_OPTION("explain", "KEY", "what a fact or a cross-check (X7) means", explain),
	{"output", 'o', OPTION_TEXT, "FILE", NULL, "write the facts to FILE, to be compared or taken elsewhere",
		AT(output), 0, 0, NULL},
	TEXT_OPTION("openmetrics", "FILE", "write metrics for a textfile collector", openmetrics),
	FLAG_OPTION("json", "print JSON", json),
	FLAG_OPTION("csv", "print findings, facts or compared keys as CSV", csv),
	TABLE_OPTIONS(struct inspect_config, 0),
	PAGER_OPTION(struct inspect_config),
	FLAG_OPTION("markdown", "print Markdown, for a ticket", markdown),
	FLAG_OPTION("nagios", "print the first line only, also for errors", nagios),
	FLAG_OPTION("exit-zero", "exit 0 whatever is found", exit_zero),
	FLAG_OPTION("intrusive", "also ask isolated CPUs what interrupts them", intrusive),
	FLAG_OPTION("slow", "also what takes long: transceivers, memory by NUMA node, who holds /dev/cpu_dma_latency", slow),
	{0},
};
