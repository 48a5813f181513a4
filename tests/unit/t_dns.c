/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DNS queries and what counts as their answer. */
#include "tap.h"
#include "wire/bytes.h"
#include "wire/dns.h"

/* RFC 1035's layout, written out: header, question. */
static const uint8_t question[] = "\0\0\1\0\0\1\0\0\0\0\0\0\3www\4tare\4test\0\0\x1c\0\1";

static void queries(void)
{
	struct dns_query query;
	struct tare_err err = {0};
	OK(dns_query_make("www.tare.test", "AAAA", &query, &err) == 0, "a query for AAAA");
	IS_I64(query.count, sizeof question - 1, "of the right length");
	OK(memcmp(query.bytes, question, query.count) == 0, "as RFC 1035 writes it");
	OK(dns_query_make("www.tare.test.", NULL, &query, &err) == 0 && query.type == 1,
		"the dot at the end changes nothing");
	IS_STR(query.name, "www.tare.test", "nor the name in answers");
	OK(dns_query_make("1.0.0.127.in-addr.arpa", "ptr", &query, &err) == 0 && query.type == 12, "types in any case");
	OK(dns_query_make("x", "TYPE65280", &query, &err) == 0 && query.type == 65280, "types by number");
	OK(dns_query_make(".", "NS", &query, &err) == 0 && query.count == 17, "the root");
	OK(dns_query_make("x", "QUUX", &query, &err) < 0 && err.code == TARE_E_USAGE, "no such type: %s", err.text);
	OK(dns_query_make("", "A", &query, &err) < 0, "no name: %s", err.text);
	OK(dns_query_make("a..b", "A", &query, &err) < 0, "an empty label: %s", err.text);
	char label[80] = "";
	memset(label, 'a', 64);
	OK(dns_query_make(label, "A", &query, &err) < 0, "a label of 64: %s", err.text);
	uint16_t rcode = 99;
	OK(dns_rcode_parse("nxdomain", &rcode, &err) == 0 && rcode == 3, "rcodes by name");
	OK(dns_rcode_parse("5", &rcode, &err) == 0 && rcode == 5, "and by number");
	OK(dns_rcode_parse("16", &rcode, &err) < 0 && dns_rcode_parse("", &rcode, &err) < 0, "16 is none");
}

static void answers(void)
{
	struct dns_query query;
	struct dns_answer answer;
	struct tare_err err = {0};
	uint8_t message[512];
	if (dns_query_make("www.tare.test", "AAAA", &query, &err) < 0)
		return;
	memcpy(message, query.bytes, query.count);
	put_u16(message, 0xbeef);
	OK(!dns_answer_read(&query, message, query.count, &answer), "a query is no answer");
	message[2] |= 0x80;
	OK(dns_answer_read(&query, message, query.count, &answer) && answer.id == 0xbeef && answer.rcode == 0,
		"its answer is");
	message[13] = 'W';
	OK(dns_answer_read(&query, message, query.count, &answer), "in any case of letters");
	message[3] = 3;
	OK(dns_answer_read(&query, message, query.count, &answer) && answer.rcode == 3, "NXDOMAIN is an rcode");
	message[13] = 'v';
	OK(!dns_answer_read(&query, message, query.count, &answer), "another name is another question");
	message[13] = 'w';
	message[query.count - 3] = 1;
	OK(!dns_answer_read(&query, message, query.count, &answer), "another type too");
	put_u16(message + 4, 0);
	message[3] = 5;
	OK(dns_answer_read(&query, message, 12, &answer) && answer.rcode == 5, "a refusal may leave the question out");
	message[3] = 0;
	OK(!dns_answer_read(&query, message, 12, &answer), "a success may not");
}

static void cut_short(void)
{
	struct dns_query query;
	struct dns_answer answer;
	struct tare_err err = {0};
	uint8_t message[DNS_QUERY_MAX];
	if (dns_query_make("www.tare.test", "AAAA", &query, &err) < 0)
		return;
	memcpy(message, query.bytes, query.count);
	message[2] |= 0x80;
	size_t taken = 0;
	for (size_t bytes = 0; bytes < query.count; bytes++)
		taken += dns_answer_read(&query, message, bytes, &answer);
	IS_I64(taken, 0, "an answer cut anywhere is none");
}

int main(void)
{
	queries();
	answers();
	cut_short();
	return tap_done();
}
