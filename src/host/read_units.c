/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Units of systemd that change settings or wake up by the clock, as their files
 * say: whether they start at the next boot. That they run now is another fact
 * ("service[]"); the two differ after a "systemctl start" that nobody made last.
 */
#include <stdio.h>
#include <string.h>

#include "host/reading.h"

static const char *const units[] = {"tuned.service", "irqbalance.service", "power-profiles-daemon.service",
	"thermald.service", "ksmtuned.service", "ksm.service", "numad.service", "auditd.service", "chrony.service",
	"chronyd.service", "ptp4l.service", "phc2sys.service", "systemd-timesyncd.service", "cron.service",
	"crond.service", "packagekit.service", "unattended-upgrades.service", "apt-daily.timer",
	"apt-daily-upgrade.timer", "dnf-automatic.timer", "dnf-makecache.timer", "fstrim.timer", "logrotate.timer",
	"man-db.timer", "mlocate-updatedb.timer", "plocate-updatedb.timer", "sysstat-collect.timer",
	"tare-inspect.timer"};

#define ADMINISTRATOR "/etc/systemd/system"

static bool is_installed(struct reading *reading, const char *unit)
{
	static const char *const folders[] = {ADMINISTRATOR, "/usr/lib/systemd/system", "/lib/systemd/system"};
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		char path[READING_PATH_BYTES];
		snprintf(path, sizeof path, "%s/%s", folders[i], unit);
		if (tree_exists(&reading->tree, path))
			return true;
	}
	return false;
}

/* A link of its name in any folder NAME.wants or NAME.requires. */
static bool is_wanted(struct reading *reading, const struct tree_names *names, const char *unit)
{
	for (size_t i = 0; i < names->count; i++) {
		char path[READING_PATH_BYTES], target[64];
		const char *dot = strrchr(names->name[i], '.');
		if (!dot || (strcmp(dot, ".wants") != 0 && strcmp(dot, ".requires") != 0))
			continue;
		snprintf(path, sizeof path, ADMINISTRATOR "/%.200s/%s", names->name[i], unit);
		if (tree_link(&reading->tree, path, target, sizeof target))
			return true;
	}
	return false;
}

void reading_units(struct reading *reading)
{
	struct tree_names names;
	int failure;
	tree_list(&reading->tree, ADMINISTRATOR, reading->scratch, &names, &failure);
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		char path[READING_PATH_BYTES], target[64];
		snprintf(path, sizeof path, ADMINISTRATOR "/%s", units[i]);
		bool masked = tree_link(&reading->tree, path, target, sizeof target) && strcmp(target, "null") == 0;
		if (!masked && !is_installed(reading, units[i]))
			continue;
		reading_add_text(reading, "unit[]", units[i], HOST_VIA_FILE,
			masked                                 ? "masked"
			: is_wanted(reading, &names, units[i]) ? "enabled"
							       : "not enabled");
	}
}
