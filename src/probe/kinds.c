/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds there are, by scheme. */
#include <string.h>

#include "base/text.h"
#include "probe/probe.h"

/* Libraries may be missing where this is built; their schemes then have a word of their own. */
#ifdef HAVE_CURL
#define KINDS_OF_CURL &probe_http_kind, &probe_https_kind,
#define LEFT_OUT_CURL
#else
#define KINDS_OF_CURL
#define LEFT_OUT_CURL {"http", "libcurl"}, {"https", "libcurl"},
#endif
#ifdef HAVE_XDP
#define KINDS_OF_XDP &probe_xdp,
#define LEFT_OUT_XDP
#else
#define KINDS_OF_XDP
#define LEFT_OUT_XDP {"xdp", "libxdp or libbpf"},
#endif
static const struct {
	const char *scheme, *library;
} left_out[] = {LEFT_OUT_CURL LEFT_OUT_XDP {NULL, NULL}};

const struct probe_kind *const probe_kinds[] = {
	&probe_connect, &probe_dns, KINDS_OF_CURL &probe_icmp, &probe_stamp, &probe_tcp, &probe_udp, KINDS_OF_XDP NULL};

const struct probe_kind *probe_kind_of(const char *scheme, struct tare_err *err)
{
	const char *words[sizeof probe_kinds / sizeof probe_kinds[0]];
	for (size_t i = 0; probe_kinds[i]; i++) {
		if (strcmp(probe_kinds[i]->scheme, scheme) == 0)
			return probe_kinds[i];
		words[i] = probe_kinds[i]->scheme;
	}
	words[sizeof words / sizeof words[0] - 1] = NULL;
	for (size_t i = 0; left_out[i].scheme; i++) {
		if (strcmp(scheme, left_out[i].scheme) == 0) {
			tare_fail(err, TARE_E_USAGE, "this build has no %s://: %s was not there", scheme, left_out[i].library);
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
