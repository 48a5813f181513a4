/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server that refuses may answer with a head alone, without the question; it then
 * has to carry the right identifier and a failure.
 */
#include "wire/dns.h"

#include <arpa/nameser.h>
#include <ctype.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "wire/bytes.h"

enum { FLAG_RECURSION_DESIRED = 0x0100, HEAD_BYTES = 12, RCODES = 16 };

static const struct {
	const char *name;
	uint16_t type;
} types[] = {
	{"A", ns_t_a},
	{"NS", ns_t_ns},
	{"CNAME", ns_t_cname},
	{"SOA", ns_t_soa},
	{"PTR", ns_t_ptr},
	{"MX", ns_t_mx},
	{"TXT", ns_t_txt},
	{"AAAA", ns_t_aaaa},
	{"SRV", ns_t_srv},
	{"NAPTR", ns_t_naptr},
	{"DS", 43},
	{"RRSIG", 46},
	{"NSEC", 47},
	{"DNSKEY", 48},
	{"TLSA", 52},
	{"SVCB", 64},
	{"HTTPS", 65},
	{"CAA", 257},
	{"ANY", ns_t_any},
};

static const char *const rcode_names[RCODES] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED",
	"YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH", "NOTZONE"};

/* A whole number up to `most`; -1 for anything else. */
static long number_of(const char *text, long most)
{
	char *end = NULL;
	if (!isdigit((unsigned char)*text))
		return -1;
	long number = strtol(text, &end, 10);
	return *end == '\0' && number <= most ? number : -1;
}

static int read_type(const char *text, uint16_t *ret_type, struct tare_err *err)
{
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		if (strcasecmp(text, types[i].name) == 0) {
			*ret_type = types[i].type;
			return 0;
		}
	}
	long number = strncasecmp(text, "TYPE", 4) == 0 ? number_of(text + 4, 65535) : -1;
	if (number < 0)
		return tare_fail(err, TARE_E_USAGE, "'%.40s' is no type of DNS record; A, AAAA, MX, TYPE65, …", text);
	*ret_type = (uint16_t)number;
	return 0;
}

int dns_rcode_parse(const char *text, uint16_t *ret_rcode, struct tare_err *err)
{
	long number = number_of(text, RCODES - 1);
	for (int i = 0; i < RCODES && number < 0; i++)
		if (rcode_names[i] && strcasecmp(text, rcode_names[i]) == 0)
			number = i;
	if (number < 0)
		return tare_fail(err, TARE_E_USAGE, "'%.40s' is no DNS rcode; NOERROR, NXDOMAIN, REFUSED, …", text);
	*ret_rcode = (uint16_t)number;
	return 0;
}

int dns_query_make(const char *name, const char *type, struct dns_query *ret_query, struct tare_err *err)
{
	struct dns_query query = {.count = HEAD_BYTES};
	size_t length = strlen(name);
	if (read_type(type ? type : "A", &query.type, err) < 0)
		return -1;
	if (length == 0 || length >= sizeof query.name)
		return tare_fail(err, TARE_E_USAGE, "a DNS name has 1 to 255 characters, not %zu", length);
	put_u16(query.bytes + 2, FLAG_RECURSION_DESIRED);
	put_u16(query.bytes + 4, 1);
	int used = ns_name_compress(name, query.bytes + HEAD_BYTES, DNS_QUERY_MAX - HEAD_BYTES - 4, NULL, NULL);
	if (used < 0)
		return tare_fail(err, TARE_E_USAGE, "'%.100s' is no DNS name", name);
	query.count += (size_t)used;
	put_u16(query.bytes + query.count, query.type);
	put_u16(query.bytes + query.count + 2, ns_c_in);
	query.count += 4;
	/* in the spelling that reading answers gives */
	if (ns_name_uncompress(query.bytes, query.bytes + query.count, query.bytes + HEAD_BYTES, query.name,
		    sizeof query.name) < 0)
		return tare_fail(err, TARE_E_USAGE, "'%.100s' is no DNS name", name);
	*ret_query = query;
	return 0;
}

static bool repeats_question(const struct dns_query *query, ns_msg *message)
{
	ns_rr question;
	if (ns_parserr(message, ns_s_qd, 0, &question) < 0)
		return false;
	return ns_rr_type(question) == query->type && ns_rr_class(question) == ns_c_in &&
	       strcasecmp(ns_rr_name(question), query->name) == 0;
}

bool dns_answer_read(const struct dns_query *query, const uint8_t *message, size_t bytes, struct dns_answer *ret_answer)
{
	ns_msg parsed;
	if (bytes < HEAD_BYTES || bytes > 65535 || ns_initparse(message, (int)bytes, &parsed) < 0)
		return false;
	if (!ns_msg_getflag(parsed, ns_f_qr))
		return false;
	uint16_t questions = ns_msg_count(parsed, ns_s_qd), rcode = (uint16_t)ns_msg_getflag(parsed, ns_f_rcode);
	if (questions == 0 ? rcode == ns_r_noerror : !repeats_question(query, &parsed))
		return false;
	*ret_answer = (struct dns_answer){
		.id = ns_msg_id(parsed),
		.rcode = rcode,
		.answers = ns_msg_count(parsed, ns_s_an),
		.truncated = ns_msg_getflag(parsed, ns_f_tc) != 0,
	};
	return true;
}
