/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that change settings behind the operator's back, and the clocks. The
 * kernel's word on synchronisation is kept as it is: chrony without rtcsync leaves
 * it at "unsynchronised" although all is well.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ptp_clock.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/timex.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/reading.h"

/* comm is cut to 15 letters by the kernel */
static const char *const daemons[] = {"tuned", "irqbalance", "power-profiles-", "thermald", "ksmtuned", "numad",
	"auditd", "packagekitd", "unattended-upgr", "chronyd", "ptp4l", "phc2sys", "ntpd", "systemd-timesyn",
	"tuned-ppd"};

/* tuned is a Python script: its name stands in the command line. */
static bool is_tuned(struct reading *reading, const char *pid)
{
	char path[96], line[512];
	size_t bytes;
	int failure;
	snprintf(path, sizeof path, "/proc/%.20s/cmdline", pid);
	enum host_status status = tree_read(&reading->tree, path, line, sizeof line, &bytes, &failure);
	return status == HOST_OK && strstr(line, "/tuned ");
}

static void read_daemons(struct reading *reading)
{
	enum { DAEMONS = sizeof daemons / sizeof daemons[0] };
	struct tree_names pids;
	int failure;
	bool runs[DAEMONS] = {false};
	enum host_status status = tree_list(&reading->tree, "/proc", reading->scratch, &pids, &failure);
	for (size_t i = 0; i < pids.count; i++) {
		char path[96], comm[64];
		if (pids.name[i][0] < '1' || pids.name[i][0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%.20s/comm", pids.name[i]);
		if (!reading_line(reading, path, comm, sizeof comm))
			continue;
		for (size_t d = 0; d < DAEMONS; d++)
			runs[d] |= strcmp(comm, daemons[d]) == 0;
		if (strncmp(comm, "python", 6) == 0 && is_tuned(reading, pids.name[i]))
			runs[0] = true;
	}
	for (size_t d = 0; status == HOST_OK && d < DAEMONS; d++)
		reading_add_text(reading, "service[]", daemons[d], HOST_VIA_FILE, runs[d] ? "running" : "not running");
}

/* "key = value" or KEY="value" of a configuration file; comments begin with '#'. */
static bool setting_of(struct reading *reading, const char *path, const char *name, char *buffer, size_t room,
	enum host_status *ret_status, int *ret_errno)
{
	char *at = reading_text(reading, path, ret_status, ret_errno);
	size_t length = strlen(name);
	bool found = false;
	for (char *line; (line = text_next_line(&at)) != NULL;) {
		line += strspn(line, " \t");
		if (strncmp(line, name, length) != 0)
			continue;
		char *value = line + length + strspn(line + length, " \t");
		if (*value++ != '=')
			continue;
		value += strspn(value, " \t\"'");
		snprintf(buffer, room, "%.*s", (int)strcspn(value, "\"'#"), value);
		found = true;
	}
	return found;
}

static void read_tuned(struct reading *reading)
{
	char value[256];
	enum host_status status;
	int failure;
	reading_file(reading, reading_row("tuned.profile"), NULL, "/etc/tuned/active_profile");
	reading_file(reading, reading_row("tuned.mode"), NULL, "/etc/tuned/profile_mode");
	const struct host_key *row = reading_row("tuned.dynamic");
	if (setting_of(reading, "/etc/tuned/tuned-main.conf", "dynamic_tuning", value, sizeof value, &status, &failure))
		reading_add(reading, row, NULL, NULL, HOST_VIA_FILE, "/etc/tuned/tuned-main.conf", value);
	else
		reading_fail(reading, row, NULL, NULL, HOST_VIA_FILE, "/etc/tuned/tuned-main.conf",
			status == HOST_OK ? HOST_ABSENT : status, failure);
}

static void read_irqbalance(struct reading *reading)
{
	static const char *const files[] = {"/etc/default/irqbalance", "/etc/sysconfig/irqbalance"};
	static const char *const names[] = {
		"IRQBALANCE_BANNED_CPUS", "IRQBALANCE_BANNED_CPULIST", "IRQBALANCE_ARGS", "OPTIONS"};
	char line[1024] = "", value[256];
	struct text text = TEXT_IN(line);
	enum host_status status = HOST_ABSENT, last;
	int failure = ENOENT;
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 4; j++) {
			if (setting_of(reading, files[i], names[j], value, sizeof value, &last, &failure) && value[0])
				text_add(&text, "%s%s=%s", text.used ? " " : "", names[j], value);
			if (last == HOST_OK)
				status = HOST_OK;
		}
	const struct host_key *row = reading_row("irqbalance.options");
	if (status == HOST_OK)
		reading_add(reading, row, NULL, NULL, HOST_VIA_FILE, NULL, text.used ? line : "none");
	else
		reading_fail(reading, row, NULL, NULL, HOST_VIA_FILE, NULL, status, failure);
}

static void read_timex(struct reading *reading)
{
	struct timex timex = {0};
	if (reading->tree.foreign)
		return;
	int state = adjtimex(&timex);
	if (state < 0) {
		reading_fail_name(reading, "time.synchronised", NULL, HOST_VIA_CALL, errno);
		return;
	}
	reading_add_number(
		reading, "time.synchronised", NULL, HOST_VIA_CALL, state != TIME_ERROR && !(timex.status & STA_UNSYNC));
	reading_add_number(reading, "time.max_error_us", NULL, HOST_VIA_CALL, timex.maxerror);
	reading_add_number(reading, "time.estimated_error_us", NULL, HOST_VIA_CALL, timex.esterror);
	reading_add_number(reading, "time.tai_offset", NULL, HOST_VIA_CALL, timex.tai);
}

/* NIC clock minus system clock, of the tightest of five pairs. */
static void read_ptp_offset(struct reading *reading, const char *name)
{
	char path[96];
	snprintf(path, sizeof path, "/dev/%.60s", name);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct ptp_sys_offset_extended offset = {.n_samples = 5};
	if (fd < 0 || ioctl(fd, PTP_SYS_OFFSET_EXTENDED, &offset) < 0) {
		reading_fail_name(reading, "ptp[].offset_ns", name, HOST_VIA_IOCTL, errno);
		return;
	}
	int64_t best_width = INT64_MAX, best = 0;
	for (unsigned i = 0; i < offset.n_samples && i < PTP_MAX_SAMPLES; i++) {
		const struct ptp_clock_time *t = offset.ts[i];
		int64_t before = t[0].sec * 1000000000 + t[0].nsec, after = t[2].sec * 1000000000 + t[2].nsec;
		int64_t nic = t[1].sec * 1000000000 + t[1].nsec, width = after - before;
		if (width >= 0 && width < best_width) {
			best_width = width;
			best = nic - before - width / 2;
		}
	}
	reading_add_number(reading, "ptp[].offset_ns", name, HOST_VIA_IOCTL, best);
}

static void read_ptp(struct reading *reading)
{
	struct tree_names names;
	int failure;
	tree_list(&reading->tree, "/sys/class/ptp", reading->scratch, &names, &failure);
	for (size_t i = 0; i < names.count; i++) {
		char path[READING_PATH_BYTES];
		snprintf(path, sizeof path, "/sys/class/ptp/%s/clock_name", names.name[i]);
		reading_file(reading, reading_row("ptp[].clock"), names.name[i], path);
		if (!reading->tree.foreign)
			read_ptp_offset(reading, names.name[i]);
	}
}

void reading_services(struct reading *reading)
{
	read_daemons(reading);
	read_tuned(reading);
	read_irqbalance(reading);
	read_timex(reading);
	read_ptp(reading);
}
