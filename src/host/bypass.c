/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks that slip in below a program are told what to do by its environment. */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "host/host.h"
#include "host/reading.h"

bool reading_is_bypass(const char *assignment)
{
	static const char *const prefixes[] = {"EF_", "EXASOCK_", "XLIO_", "VMA_", "LD_PRELOAD="};
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncmp(assignment, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

void host_bypass_settings(char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	buffer[0] = '\0';
	for (char *const *at = environ; at && *at; at++)
		if (reading_is_bypass(*at))
			text_add(&text, "%s%s", text.used ? " " : "", *at);
}
