/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds there are, by scheme. */
#include <string.h>

#include "base/text.h"
#include "probe/probe.h"

const struct probe_kind *const probe_kinds[] = {&probe_icmp, &probe_stamp, &probe_udp, NULL};

const struct probe_kind *probe_kind_of(const char *scheme, struct tare_err *err)
{
	const char *words[sizeof probe_kinds / sizeof probe_kinds[0]];
	for (size_t i = 0; probe_kinds[i]; i++) {
		if (strcmp(probe_kinds[i]->scheme, scheme) == 0)
			return probe_kinds[i];
		words[i] = probe_kinds[i]->scheme;
	}
	words[sizeof words / sizeof words[0] - 1] = NULL;
	const char *near = nearest_word(scheme, words);
	tare_fail(err, TARE_E_USAGE, "unknown scheme '%s://'%s%s%s; there are icmp, stamp and udp", scheme,
		near ? ", nearest is '" : "", near ? near : "", near ? "://'" : "");
	return NULL;
}
