/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparison under way, shared by the order of arms and by what is said of the settings. Private to arms*.c. */
#pragma once
#include <sys/types.h>

#include "session/arms.h"

struct arms {
	struct arms_config config;
	struct session *session;
	struct host_comparison *comparison, *peer; /* of this host; of the one that is asked */
	size_t rounds, peer_rounds;
	uint32_t position;
	pid_t responder;
	bool touched, interrupted;
	char restored[256];
	char moved[200];            /* within the round under way */
};
