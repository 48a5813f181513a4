/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which settings of the environment are noted as those of a stack beside the kernel's. */
#include <stdlib.h>

#include "host/host.h"
#include "tap.h"

int main(void)
{
	char settings[256], narrow[16];
	clearenv();
	host_bypass_settings(settings, sizeof settings);
	IS_STR(settings, "", "none");
	setenv("EF_POLL_USEC", "100", 1);
	setenv("HOME", "/", 1);
	setenv("XEF_POLL", "1", 1);
	setenv("LD_PRELOAD_X", "1", 1);
	setenv("VMA_SPEC", "latency", 1);
	host_bypass_settings(settings, sizeof settings);
	IS_STR(settings, "EF_POLL_USEC=100 VMA_SPEC=latency", "those of Onload and VMA, and no others");
	host_bypass_settings(narrow, sizeof narrow);
	OK(strlen(narrow) < sizeof narrow, "cut where there is no room");
	setenv("LD_PRELOAD", "", 1);
	host_bypass_settings(settings, sizeof settings);
	OK(strstr(settings, "LD_PRELOAD=") != NULL, "what is slipped in below the program");
	return tap_done();
}
