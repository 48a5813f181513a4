/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hostile DNS answers, and names as a command line may hold them. */
#include <stdlib.h>
#include <string.h>

#include "wire/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dns_query query;
	struct tare_err err = {0};
	struct dns_answer answer;
	if (!query.count && dns_query_make("www.tare.test", "AAAA", &query, &err) < 0)
		abort();
	if (dns_answer_read(&query, data, size, &answer) && answer.rcode > 15)
		abort();
	char name[300] = "";
	struct dns_query own;
	memcpy(name, data, size < sizeof name - 1 ? size : sizeof name - 1);
	if (dns_query_make(name, NULL, &own, &err) == 0 &&
		(own.count > sizeof own.bytes || !memchr(own.name, 0, sizeof own.name)))
		abort();
	return 0;
}
