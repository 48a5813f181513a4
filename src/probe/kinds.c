/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds there are, by scheme. */
#include <string.h>

#include "base/text.h"
#include "probe/probe.h"

/* libcurl may be missing where this is built; the schemes then have a word of their own. */
#ifdef HAVE_CURL
#define KINDS_OF_CURL &probe_http_kind, &probe_https_kind,
static const char *const left_out[] = {NULL};
#else
#define KINDS_OF_CURL
static const char *const left_out[] = {"http", "https", NULL};
#endif

const struct probe_kind *const probe_kinds[] = {
	&probe_connect, &probe_dns, KINDS_OF_CURL &probe_icmp, &probe_stamp, &probe_tcp, &probe_udp, NULL};

const struct probe_kind *probe_kind_of(const char *scheme, struct tare_err *err)
{
	const char *words[sizeof probe_kinds / sizeof probe_kinds[0]];
	for (size_t i = 0; probe_kinds[i]; i++) {
		if (strcmp(probe_kinds[i]->scheme, scheme) == 0)
			return probe_kinds[i];
		words[i] = probe_kinds[i]->scheme;
	}
	words[sizeof words / sizeof words[0] - 1] = NULL;
	for (size_t i = 0; left_out[i]; i++) {
		if (strcmp(scheme, left_out[i]) == 0) {
			tare_fail(err, TARE_E_USAGE, "this build has no %s://: libcurl was not there", scheme);
			return NULL;
		}
	}
	const char *near = nearest_word(scheme, words);
	char list[128];
	struct text text = TEXT_IN(list);
	for (size_t i = 0; words[i]; i++)
		text_add(&text, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " and ", words[i]);
	tare_fail(err, TARE_E_USAGE, "unknown scheme '%s://'%s%s%s; there are %s", scheme, near ? ", nearest is '" : "",
		near ? near : "", near ? "://'" : "", list);
	return NULL;
}
