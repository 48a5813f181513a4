/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The boot line taken apart, what CPU this is, and whether packets go beside the kernel. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/text.h"
#include "host/reading.h"

/*
 * The next parameter of a boot line, which is changed in place: quotes may stand around a value and hold blanks.
 * NULL at the end.
 */
static char *next_parameter(char **at)
{
	*at += strspn(*at, " \t\n");
	if (**at == '\0')
		return NULL;
	char *from = *at, *to = from;
	bool quoted = false;
	for (; **at && (quoted || !isspace((unsigned char)**at)); ++*at) {
		if (**at == '"')
			quoted = !quoted;
		else
			*to++ = **at;
	}
	if (**at)
		++*at;
	*to = '\0';
	return from;
}

/* "isolcpus=domain,managed_irq,4-N": flags stay, the list becomes plain where it is one. */
static void canonical_list(const struct reading *reading, const char *value, char *buffer, size_t room)
{
	struct host_cpus cpus;
	const char *list = value;
	while (*list && !isdigit((unsigned char)*list) && *list != 'N' && strcmp(list, "all") != 0) {
		const char *comma = strchr(list, ',');
		if (!comma)
			break;
		list = comma + 1;
	}
	char text[512];
	if (*list && host_cpus_of_list(list, reading->last_cpu, &cpus) && host_cpus_text(&cpus, text, sizeof text))
		snprintf(buffer, room, "%.*s%s", (int)(list - value), value, text);
	else
		snprintf(buffer, room, "%s", value);
}

static bool names_cpus(const char *name)
{
	static const char *const names[] = {"isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity", "kthread_cpus"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void read_cmdline(struct reading *reading)
{
	enum host_status status;
	int failure;
	char canonical[4096];
	char *text = reading_text(reading, "/proc/cmdline", &status, &failure), *at = text;
	if (!text)
		return;
	const struct host_key *row = reading_row("boot[]");
	/* repeated parameters: the last one wins for most, so they are walked from the end */
	struct {
		char *name;
		const char *value;
	} parameter[512];
	size_t count = 0;
	for (char *word; count < 512 && (word = next_parameter(&at)) != NULL; count++) {
		char *equals = strchr(word, '=');
		parameter[count].name = word;
		parameter[count].value = equals ? equals + 1 : "";
		if (equals)
			*equals = '\0';
		for (char *c = word; *c; c++)
			*c = *c == '-' ? '_' : *c; /* the kernel takes both for the same */
	}
	while (count-- > 0) {
		if (names_cpus(parameter[count].name))
			canonical_list(reading, parameter[count].value, canonical, sizeof canonical);
		else
			snprintf(canonical, sizeof canonical, "%s", parameter[count].value);
		reading_add(reading, row, parameter[count].name, NULL, HOST_VIA_FILE, "/proc/cmdline", canonical);
	}
}

/* The value of NAME="…" or NAME=… in a shell-like file; appended to `line`. */
static void take_variable(char *text, const char *name, struct text *line)
{
	size_t length = strlen(name);
	for (char *at = text, *end; at; at = end ? end + 1 : NULL) {
		end = strchr(at, '\n');
		size_t bytes = end ? (size_t)(end - at) : strlen(at);
		if (bytes <= length || strncmp(at, name, length) != 0 || at[length] != '=')
			continue;
		const char *value = at + length + 1;
		bytes -= length + 1;
		if (bytes >= 2 && (value[0] == '"' || value[0] == '\'') && value[bytes - 1] == value[0]) {
			value++;
			bytes -= 2;
		}
		text_add(line, "%s%.*s", line->used && bytes ? " " : "", (int)bytes, value);
	}
}

static void read_bootloader(struct reading *reading)
{
	char line[4096] = "";
	struct text text = TEXT_IN(line);
	enum host_status status;
	int failure;
	const char *source = "/etc/kernel/cmdline";
	char *file = reading_text(reading, source, &status, &failure);
	if (file) {
		text_add(&text, "%s", file);
	} else {
		source = "/etc/default/grub";
		file = reading_text(reading, source, &status, &failure);
		if (file) {
			take_variable(file, "GRUB_CMDLINE_LINUX", &text);
			take_variable(file, "GRUB_CMDLINE_LINUX_DEFAULT", &text);
		}
	}
	const struct host_key *row = reading_row("bootloader.cmdline");
	if (file)
		reading_add(reading, row, NULL, NULL, HOST_VIA_FILE, source, line);
	else
		reading_fail(reading, row, NULL, NULL, HOST_VIA_FILE, source, status, failure);
	text = (struct text)TEXT_IN(line);
	line[0] = '\0';
	file = reading_text(reading, "/etc/tuned/bootcmdline", &status, &failure);
	if (file)
		take_variable(file, "TUNED_BOOT_CMDLINE", &text);
	row = reading_row("bootloader.tuned");
	if (file)
		reading_add(reading, row, NULL, NULL, HOST_VIA_FILE, "/etc/tuned/bootcmdline", line);
	else
		reading_fail(reading, row, NULL, NULL, HOST_VIA_FILE, "/etc/tuned/bootcmdline", status, failure);
}

/* What stands behind "NAME\t: " at its first place in /proc/cpuinfo. */
static bool cpuinfo_of(char *text, const char *name, char *buffer, size_t room)
{
	size_t length = strlen(name);
	for (char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		if (strncmp(at, name, length) != 0 || !strchr("\t :", at[length]))
			continue;
		char *value = strchr(at, ':');
		if (!value)
			return false;
		value += 1 + strspn(value + 1, " \t");
		snprintf(buffer, room, "%.*s", (int)strcspn(value, "\n"), value);
		return true;
	}
	return false;
}

static void add_optional(struct reading *reading, const char *name, enum host_via via, const char *text)
{
	if (text)
		reading_add_text(reading, name, NULL, via, text);
	else
		reading_fail(reading, reading_row(name), NULL, NULL, via, NULL, HOST_ABSENT, 0);
}

static void model_of_cpuinfo(struct reading *reading)
{
	enum host_status status;
	int failure;
	char model[256], family[32] = "?", number[32] = "?", stepping[32] = "?", line[512], flags[8192];
	char *text = reading_text(reading, "/proc/cpuinfo", &status, &failure);
	bool known = text && cpuinfo_of(text, "model name", model, sizeof model);
	if (known) {
		cpuinfo_of(text, "cpu family", family, sizeof family);
		cpuinfo_of(text, "model\t", number, sizeof number);
		cpuinfo_of(text, "stepping", stepping, sizeof stepping);
		snprintf(line, sizeof line, "%s, family %s model %s stepping %s", model, family, number, stepping);
	}
	add_optional(reading, "cpu.model", HOST_VIA_FILE, known ? line : NULL);
	bool guest = text && cpuinfo_of(text, "flags", flags, sizeof flags) && strstr(flags, " hypervisor");
	char type[64];
	bool typed = reading_line(reading, "/sys/hypervisor/type", type, sizeof type);
	add_optional(reading, "host.hypervisor", HOST_VIA_FILE, typed ? type : guest ? "yes" : text ? "none" : NULL);
}

#if defined(__x86_64__) || defined(__i386__)
/* Asks the CPU this runs on: no file, no interrupt of another one. */
static void model_of_cpuid(struct reading *reading)
{
	unsigned a, b, c, d, brand[13] = {0};
	char line[256], signature[13] = "none";
	for (unsigned i = 0; i < 3; i++)
		if (!__get_cpuid(
			    0x80000002 + i, &brand[4 * i], &brand[4 * i + 1], &brand[4 * i + 2], &brand[4 * i + 3])) {
			model_of_cpuinfo(reading);
			return;
		}
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return;
	unsigned family = (a >> 8 & 15) + ((a >> 8 & 15) == 15 ? a >> 20 & 255 : 0);
	unsigned model = (a >> 4 & 15) | (a >> 16 & 15) << 4;
	snprintf(
		line, sizeof line, "%.48s, family %u model %u stepping %u", (const char *)brand, family, model, a & 15);
	reading_add_text(reading, "cpu.model", NULL, HOST_VIA_CPUID, line);
	if (c >> 31) {
		unsigned name[4] = {0};
		__cpuid(0x40000000, name[0], name[1], name[2], name[3]);
		memcpy(signature, &name[1], 12);
		signature[12] = '\0';
		if (!signature[0])
			snprintf(signature, sizeof signature, "yes");
	}
	reading_add_text(reading, "host.hypervisor", NULL, HOST_VIA_CPUID, signature);
}
#else
static void model_of_cpuid(struct reading *reading)
{
	model_of_cpuinfo(reading);
}
#endif

/* Names in a folder as one text. */
static void add_names(struct reading *reading, const char *name, const char *folder)
{
	struct tree_names names;
	int failure;
	enum host_status status = tree_list(&reading->tree, folder, reading->scratch, &names, &failure);
	char line[4096] = "";
	struct text text = TEXT_IN(line);
	for (size_t i = 0; i < names.count; i++)
		text_add(&text, "%s%s", i ? " " : "", names.name[i]);
	if (status == HOST_OK)
		reading_add(reading, reading_row(name), NULL, NULL, HOST_VIA_FILE, folder, line);
	else
		reading_fail(reading, reading_row(name), NULL, NULL, HOST_VIA_FILE, folder, status, failure);
}

static void read_bypass(struct reading *reading)
{
	static const struct {
		const char *path, *name;
	} stacks[] = {
		{"/sys/module/onload", "onload"},
		{"/proc/driver/onload", "onload"},
		{"/dev/exanic0", "exanic"},
		{"/sys/module/exanic", "exanic"},
		{"/sys/module/exasock", "exasock"},
		{"/sys/module/uio_pci_generic", "uio"},
		{"/sys/module/igb_uio", "uio"},
		{"/dev/vfio/0", "vfio"},
	};
	char line[256] = "";
	struct text text = TEXT_IN(line);
	for (size_t i = 0; i < sizeof stacks / sizeof stacks[0]; i++)
		if (tree_exists(&reading->tree, stacks[i].path) && !strstr(line, stacks[i].name))
			text_add(&text, "%s%s", text.used ? " " : "", stacks[i].name);
	reading_add_text(reading, "bypass.stack", NULL, HOST_VIA_FILE, text.used ? line : "none");
}

static void read_self(struct reading *reading)
{
	struct utsname names;
	enum host_status status;
	int failure;
	if (reading->tree.foreign)
		return;
	if (uname(&names) == 0)
		reading_add_text(reading, "host.machine", NULL, HOST_VIA_CALL, names.machine);
	char *text = reading_text(reading, "/proc/self/status", &status, &failure);
	char *at = text ? strstr(text, "\nCpus_allowed_list:") : NULL;
	if (at) {
		at += strlen("\nCpus_allowed_list:");
		at[strcspn(at, "\n")] = '\0';
		reading_add_text(reading, "process.cpus_allowed", NULL, HOST_VIA_FILE, at);
	}
	if (getenv("LD_PRELOAD"))
		reading_add_text(reading, "process.ld_preload", NULL, HOST_VIA_CALL, getenv("LD_PRELOAD"));
	char settings[2048];
	host_bypass_settings(settings, sizeof settings);
	if (settings[0])
		reading_add_text(reading, "process.environment", NULL, HOST_VIA_CALL, settings);
}

void reading_boot(struct reading *reading)
{
	read_cmdline(reading);
	read_bootloader(reading);
	if (reading->tree.foreign)
		model_of_cpuinfo(reading);
	else
		model_of_cpuid(reading);
	add_names(reading, "kernel.livepatch", "/sys/kernel/livepatch");
	struct tree_names bugs;
	int failure;
	tree_list(&reading->tree, "/sys/devices/system/cpu/vulnerabilities", reading->scratch, &bugs, &failure);
	for (size_t i = 0; i < bugs.count; i++) {
		char path[READING_PATH_BYTES];
		snprintf(path, sizeof path, "/sys/devices/system/cpu/vulnerabilities/%s", bugs.name[i]);
		reading_file(reading, reading_row("cpu.vulnerability[]"), bugs.name[i], path);
	}
	read_bypass(reading);
	read_self(reading);
}
