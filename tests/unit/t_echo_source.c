/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is answered: ports, allowed addresses, the bucket, and the decision made of them. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "echo/answer.h"
#include "tap.h"

static struct sockaddr_storage from(const char *address, uint16_t port)
{
	struct sockaddr_storage storage = {0};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
	} else if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
	} else {
		abort();
	}
	v4->sin_port = htons(port);
	return storage;
}

static struct source_key key(const char *address)
{
	struct sockaddr_storage storage = from(address, 1);
	return source_key_of(&storage);
}

static void loopback(void)
{
	OK(source_is_loopback(key("127.0.0.1")) && source_is_loopback(key("127.255.1.2")), "127/8");
	OK(source_is_loopback(key("::1")), "::1");
	OK(!source_is_loopback(key("128.0.0.1")) && !source_is_loopback(key("126.255.255.255")), "beside 127/8");
	OK(!source_is_loopback(key("::2")) && !source_is_loopback(key("fe80::1")) && !source_is_loopback(key("1::1")),
		"other IPv6");
}

static void ports(void)
{
	static struct source_ports refused;
	source_ports_usual(&refused);
	static const uint16_t reflecting[] = {0, 7, 13, 17, 19, 37, 53, 862};
	size_t wrong = 0, total = 0;
	for (size_t i = 0; i < sizeof reflecting / sizeof reflecting[0]; i++)
		wrong += !source_port_refused(&refused, reflecting[i]);
	for (unsigned port = 0; port < 65536; port++)
		total += source_port_refused(&refused, (uint16_t)port);
	IS_I64(wrong, 0, "reflecting services are refused");
	IS_I64(total, 8, "and no other");
	source_port_refuse(&refused, 65535);
	OK(source_port_refused(&refused, 65535) && !source_port_refused(&refused, 65534), "a port of our own added");
}

static void allowing(void)
{
	struct source_allow allow = {0};
	OK(source_allowed(&allow, key("1.2.3.4")), "no list: everybody");
	IS_I64(source_allow_parse("10.0.0.0/8,192.0.2.7,fd00::/8,2001:db8::1", &allow, NULL), 0, "a list");
	IS_I64(allow.count, 4, "of four");
	OK(source_allowed(&allow, key("10.255.3.4")) && !source_allowed(&allow, key("11.0.0.1")), "10/8");
	OK(source_allowed(&allow, key("192.0.2.7")) && !source_allowed(&allow, key("192.0.2.6")), "one address");
	OK(source_allowed(&allow, key("fdff::1")) && !source_allowed(&allow, key("fe00::1")), "fd00::/8");
	OK(source_allowed(&allow, key("2001:db8::1")) && !source_allowed(&allow, key("2001:db8::2")),
		"one IPv6 address");
	OK(source_allow_parse("0.0.0.0/0", &allow, NULL) == 0 && source_allowed(&allow, key("8.8.8.8")) &&
			!source_allowed(&allow, key("::1")),
		"all of IPv4 is none of IPv6");
	OK(source_allow_parse("::/0", &allow, NULL) == 0 && source_allowed(&allow, key("fe80::1")), "all of IPv6");

	static const char *const bad[] = {"", ",", "10.0.0.1,", "10.0.0.1,,::1", "10.0.0.0/33", "::/129", "10.0.0.0/",
		"10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.1/8", "fd00::1/8", "localhost", "10.0.0", "1.2.3.4/0008",
		"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000"};
	size_t count = allow.count;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct tare_err err = {0};
		OK(source_allow_parse(bad[i], &allow, &err) == -1 && err.code == TARE_E_USAGE && err.text[0],
			"refused: '%s'", bad[i]);
	}
	IS_I64(allow.count, count, "and the list is left as it was");
	char many[65 * 8 + 1] = "";
	for (int i = 0; i < 65; i++)
		snprintf(many + i * 8, 9, "1.1.1.%d%s", i % 10, i < 64 ? "," : "");
	struct tare_err err = {0};
	OK(source_allow_parse(many, &allow, &err) == -1, "more than 64");
}

static void bucket(void)
{
	static struct source_limit limit;
	struct source_key one = key("192.0.2.1"), other = key("192.0.2.2");
	source_limit_open(&limit, 1000000); /* 1000/s: 100 at once */
	int64_t now = 5000000000;
	int taken = 0;
	for (int i = 0; i < 1000; i++)
		taken += source_limit_take(&limit, one, now);
	IS_I64(taken, 101, "a tenth of a second's worth at once, and one");
	OK(source_limit_take(&limit, other, now), "another source has its own");
	OK(!source_limit_take(&limit, one, now + 999999), "just before the next is due");
	OK(source_limit_take(&limit, one, now + 1000000), "when it is due");
	taken = 0;
	for (int i = 1; i <= 3000; i++)
		taken += source_limit_take(&limit, one, now + 1000000 + i * 500000);
	IS_I64(taken, 1500, "twice the rate: half of it");
	taken = 0;
	for (int i = 0; i < 1000; i++)
		taken += source_limit_take(&limit, one, now + 60000000000);
	IS_I64(taken, 101, "rested: the burst again, no more");

	source_limit_open(&limit, 0);
	taken = 0;
	for (int i = 0; i < 1000; i++)
		taken += source_limit_take(&limit, one, now);
	IS_I64(taken, 1000, "no limit");
}

static void many_sources(void)
{
	static struct source_limit limit;
	source_limit_open(&limit, 100000000); /* 10/s: 1 and 1 at once */
	size_t refused = 0;
	for (uint64_t i = 0; i < 100000; i++)
		refused += !source_limit_take(&limit, (struct source_key){i, i * 7}, 1000 + (int64_t)i);
	IS_I64(refused, 0, "100000 sources once each: none refused, however the table overflows");
}

static void decisions(void)
{
	static struct answer_rules rules;
	static struct source_limit limit;
	source_ports_usual(&rules.refused_ports);
	struct sockaddr_storage good = from("192.0.2.1", 40000), reflector = from("192.0.2.1", 7),
				reflector6 = from("2001:db8::1", 862), local = from("127.0.0.1", 40000);
	IS_I64(answer_source(&rules, NULL, &good), ANSWER_REPLY, "anybody");
	IS_I64(answer_source(&rules, NULL, &reflector), ANSWER_REFUSED, "a reflecting port");
	IS_I64(answer_source(&rules, NULL, &reflector6), ANSWER_REFUSED, "the same over IPv6");
	source_limit_open(&limit, 1000000000);
	IS_I64(answer_source(&rules, &limit, &good), ANSWER_REPLY, "first within the rate");
	IS_I64(answer_source(&rules, &limit, &good), ANSWER_LIMITED, "second above it");
	size_t limited = 0;
	for (int i = 0; i < 1000; i++)
		limited += answer_source(&rules, &limit, &local) != ANSWER_REPLY;
	IS_I64(limited, 0, "loopback is never limited");
	IS_I64(source_allow_parse("10.0.0.0/8", &rules.allow, NULL), 0, "allowed: 10/8");
	IS_I64(answer_source(&rules, NULL, &good), ANSWER_REFUSED, "not in the list");
	struct sockaddr_storage inside = from("10.1.2.3", 40000);
	IS_I64(answer_source(&rules, NULL, &inside), ANSWER_REPLY, "in the list");
}

int main(void)
{
	loopback();
	ports();
	allowing();
	bucket();
	many_sources();
	decisions();
	return tap_done();
}
