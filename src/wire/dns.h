/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * DNS queries and the heads of their answers (RFC 1035), written and read by the C
 * library's ns_ functions. An answer is ours when its identifier is and it repeats the
 * question; what it says beyond the rcode is not looked at.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

enum { DNS_QUERY_MAX = 512, DNS_ID_AT = 0 };

struct dns_query {
	uint8_t bytes[DNS_QUERY_MAX]; /* identifier 0 */
	size_t count;
	uint16_t type;
	char name[256];               /* as it stands in answers: without the dot at the end, lower case */
};
/*
 * One question, class IN, recursion desired. type: a name such as "AAAA", in any case, or "TYPE65"; NULL is A.
 * Fails with TARE_E_USAGE for a name or type that is none.
 */
int dns_query_make(const char *name, const char *type, struct dns_query *ret_query, struct tare_err *err) TARE_MUST_USE;

/* "NXDOMAIN", in any case, or a number up to 15. */
int dns_rcode_parse(const char *text, uint16_t *ret_rcode, struct tare_err *err) TARE_MUST_USE;

struct dns_answer { uint16_t id, rcode, answers; bool truncated; };
/* False for what is no answer to this query: too short, a query itself, another question, malformed. */
bool dns_answer_read(const struct dns_query *query, const uint8_t *message, size_t bytes, struct dns_answer *ret_answer);
