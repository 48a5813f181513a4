/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts of the boot line, the kernel and the platform. */
#include "host/keys.h"

#define CPU                             "/sys/devices/system/cpu/"
#define BOOT(name, path, form, meaning) ROW(name, path, HOST_BOOT, HOST_ONE, form, meaning)
#define IDENTITY(name, path, meaning)   ROW(name, path, HOST_IDENTITY, HOST_ONE, HOST_TEXT, meaning)

static const struct host_key rows[] = {
	ROW_WITH("kernel.release", "/proc/sys/kernel/osrelease", HOST_IDENTITY, HOST_ONE, HOST_TEXT, HOST_FILE,
		HOST_REQUIRED, "a kernel change moves everything: compare nothing across it"),
	IDENTITY("kernel.version", "/proc/sys/kernel/version",
		"build and preemption model; PREEMPT_RT lowers the worst case and usually raises the median"),
	IDENTITY("kernel.realtime", "/sys/kernel/realtime", "1 on a PREEMPT_RT kernel; absent elsewhere"),
	ROW("kernel.cmdline", "/proc/cmdline", HOST_GAUGE, HOST_ONE, HOST_TEXT,
		"the boot line as it stands; its parameters are facts of their own, boot[NAME]"),
	ROW("boot[]", "@/proc/cmdline, one parameter", HOST_BOOT, HOST_OTHER, HOST_TEXT,
		"a parameter of the running kernel; equal in A and B, or a reboot lies between"),
	SETTING("bootloader.cmdline", "@/etc/kernel/cmdline, /etc/default/grub", HOST_TEXT,
		"what the next boot will use; where it differs from the running line a reboot changes the host"),
	SETTING("bootloader.tuned", "@/etc/tuned/bootcmdline", HOST_TEXT,
		"what tuned wants on the boot line; a profile that was never rebooted into leaves cpu.isolated empty"),
	BOOT("cpu.isolated", CPU "isolated", HOST_CPU_LIST,
		"CPUs out of load balancing: right for pinned spinning threads, wrong for many threads without "
		"pinning, "
		"which then share one CPU"),
	BOOT("cpu.nohz_full", CPU "nohz_full", HOST_CPU_LIST,
		"no tick while one task runs; entering the kernel gets slower: good for spinning in user space, not "
		"for "
		"system-call-heavy responders"),
	BOOT("cpu.vulnerability[]", "@" CPU "vulnerabilities/NAME", HOST_TEXT,
		"mitigations cost at every kernel entry; equal in A and B, and no advice here to turn them off"),
	BOOT("module.intel_idle.max_cstate", "/sys/module/intel_idle/parameters/max_cstate", HOST_NUMBER,
		"deepest idle state the driver takes; 0 gives repeatable wake-ups but may cost other cores their "
		"turbo"),
	BOOT("module.processor.max_cstate", "/sys/module/processor/parameters/max_cstate", HOST_NUMBER,
		"deepest ACPI idle state; the classic thing to try as A against B"),
	SETTING("kernel.watchdog", "/proc/sys/kernel/watchdog", HOST_NUMBER,
		"soft and hard lockup detectors: a timer and an NMI per CPU; off costs the diagnosis of hangs"),
	SETTING("kernel.nmi_watchdog", "/proc/sys/kernel/nmi_watchdog", HOST_NUMBER,
		"takes a performance counter and an NMI on every CPU; 0 on latency hosts, or keep it off the isolated "
		"CPUs"),
	SETTING("kernel.soft_watchdog", "/proc/sys/kernel/soft_watchdog", HOST_NUMBER, "a periodic timer on each CPU"),
	SETTING("kernel.watchdog_thresh", "/proc/sys/kernel/watchdog_thresh", HOST_NUMBER,
		"seconds; sets the watchdogs' period"),
	SETTING("kernel.watchdog_cpumask", "/proc/sys/kernel/watchdog_cpumask", HOST_CPU_LIST,
		"CPUs the watchdogs run on: the housekeeping ones where others are isolated"),
	BOOT("kernel.lockdown", "/sys/kernel/security/lockdown", HOST_CHOICE,
		"no latency of its own; decides whether MSRs, and with them SMI counts, can be read"),
	SETTING("kernel.tainted", "/proc/sys/kernel/tainted", HOST_NUMBER,
		"out-of-tree drivers taint the kernel; a change means a module, a warning or a live patch arrived"),
	SETTING("kernel.livepatch", "@/sys/kernel/livepatch", HOST_TEXT,
		"live patches put trampolines before functions"),
	SETTING("tracing.current_tracer", "/sys/kernel/tracing/current_tracer", HOST_TEXT,
		"anything but nop traces the very path that is measured; hwlat must never run in production"),
	SETTING("tracing.events", "/sys/kernel/tracing/set_event", HOST_TEXT,
		"trace events switched on; none on a latency host"),
	ROW("tracing.on", "/sys/kernel/tracing/tracing_on", HOST_GAUGE, HOST_ONE, HOST_NUMBER,
		"1 is the default even when nothing is traced"),
	SETTING("kernel.ftrace_enabled", "/proc/sys/kernel/ftrace_enabled", HOST_NUMBER,
		"allows function tracing; no cost by itself"),
	SETTING("kernel.bpf_stats_enabled", "/proc/sys/kernel/bpf_stats_enabled", HOST_NUMBER,
		"1 takes two clock readings around every BPF program"),
	IDENTITY("cpu.model", "@cpuid or /proc/cpuinfo", "model and stepping; nothing compares across two"),
	IDENTITY("cpu.microcode", CPU "cpu0/microcode/version", "microcode changes mitigations and turbo"),
	IDENTITY("host.hypervisor", "@cpuid or /proc/cpuinfo, /sys/hypervisor/type",
		"a guest has steal and no say over idle states and frequency: those rows do not apply there"),
	IDENTITY("host.machine", "@uname", "architecture"),
	IDENTITY("dmi.sys_vendor", "/sys/class/dmi/id/sys_vendor", "maker"),
	IDENTITY("dmi.product_name", "/sys/class/dmi/id/product_name", "model of the machine"),
	IDENTITY("dmi.board_name", "/sys/class/dmi/id/board_name", "main board"),
	IDENTITY("dmi.bios_version", "/sys/class/dmi/id/bios_version",
		"an update often resets the BIOS profile; most BIOS options cannot be read from here"),
	IDENTITY("dmi.bios_date", "/sys/class/dmi/id/bios_date", "date of the BIOS"),
	IDENTITY("module.onload", "/sys/module/onload/version", "Onload moves sockets out of the kernel's path"),
	IDENTITY("module.exanic", "/sys/module/exanic/version",
		"ExaNIC driver; libexanic and exasock bypass the kernel"),
	SETTING("bypass.stack", "@/sys/module, /proc/driver, environment of the process", HOST_TEXT,
		"a stack beside the kernel's: interrupts, softnet and busy polling then do not describe the data path"),
	ROW("load.average", "/proc/loadavg", HOST_GAUGE, HOST_ONE, HOST_TEXT,
		"how busy the host was when it was asked"),
	ROW("process.cpus_allowed", "@/proc/self/status", HOST_GAUGE, HOST_OTHER, HOST_CPU_LIST,
		"CPUs this program itself may use"),
	ROW("process.ld_preload", "@environment", HOST_GAUGE, HOST_OTHER, HOST_TEXT,
		"libraries slipped in before this program, as bypass stacks do"),
	ROW("process.environment", "@environment", HOST_GAUGE, HOST_OTHER, HOST_TEXT,
		"EF_, VMA_, EXASOCK_, XLIO_ and LD_PRELOAD settings of this program itself"),
};
const struct host_keys host_keys_boot = KEYS_END(rows);
