/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of facts as one: its parts stand in keys_*.c. */
#include "host/keys.h"

static const struct host_keys *const parts[] = {
	&host_keys_boot, &host_keys_cpu, &host_keys_system, &host_keys_nic, &host_keys_stack};
enum { PARTS = sizeof parts / sizeof parts[0] };

size_t host_key_count(void)
{
	size_t count = 0;
	for (size_t i = 0; i < PARTS; i++)
		count += parts[i]->count;
	return count;
}

const struct host_key *host_key_at(size_t i)
{
	for (size_t part = 0; part < PARTS; part++) {
		if (i < parts[part]->count)
			return &parts[part]->row[i];
		i -= parts[part]->count;
	}
	return &parts[0]->row[0];
}
