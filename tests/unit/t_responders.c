/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers to a group's requests, scripted: first, other, twice; more responders and older requests than there is room for. */
#include <netinet/in.h>

#include "probe/responders.h"
#include "tap.h"

static struct sockaddr_storage host(unsigned last, uint16_t port)
{
	struct sockaddr_storage address = {.ss_family = AF_INET};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
	v4->sin_addr.s_addr = htonl(0x0a000000 + last);
	v4->sin_port = htons(port);
	return address;
}

static struct responders responders;

static enum responders_verdict take(unsigned last, uint64_t number, bool answered)
{
	struct sockaddr_storage from = host(last, 7000);
	return responders_take(&responders, &from, number, answered);
}

static void counting(void)
{
	char text[400];
	responders_begin(&responders);
	responders_tell(&responders, 10, text, sizeof text);
	IS_STR(text, "", "nobody: nothing is told");
	for (uint64_t i = 0; i < 10; i++) {
		bool late = i == 9;
		IS_I64(take(late ? 3 : 2, i, false), RESPONDERS_FIRST, "the first answer");
		if (i != 5)
			IS_I64(take(late ? 2 : 3, i, true), RESPONDERS_OTHER, "another's is no duplicate");
	}
	IS_I64(take(2, 4, true), RESPONDERS_TWICE, "the same responder's is");
	IS_I64(take(3, 9, true), RESPONDERS_TWICE, "that of the first one too");
	struct sockaddr_storage port = host(2, 7001);
	IS_I64(responders_take(&responders, &port, 4, true), RESPONDERS_TWICE, "a responder is its address, whatever its port");
	responders_tell(&responders, 10, text, sizeof text);
	IS_STR(text, "2 responders: 10.0.0.2 answered 10 of 10, first to 9 (90.0 %), 2 more than once; "
		     "10.0.0.3 answered 9 of 10, first to 1 (10.0 %), 1 more than once", "the sentence");
}

static void old_requests(void)
{
	responders_begin(&responders);
	take(2, 5, false);
	take(2, 5 + RESPONDERS_RING, false);
	IS_I64(take(3, 5, true), RESPONDERS_OTHER, "a request that left the ring is counted all the same");
	IS_I64(take(2, 5 + RESPONDERS_RING, true), RESPONDERS_TWICE, "and does not disturb the one in its place");
	IS_I64(responders.one[1].answered, 1, "counted");
}

static void many(void)
{
	char text[900];
	responders_begin(&responders);
	for (unsigned i = 0; i < RESPONDERS_MAX + 3; i++)
		IS_I64(take(i + 1, 0, i > 0), i ? RESPONDERS_OTHER : RESPONDERS_FIRST, "one of many");
	IS_I64(responders.count, RESPONDERS_MAX, "as many as there is room for");
	IS_I64(responders.others, 3, "and the rest together");
	responders_tell(&responders, 1, text, sizeof text);
	OK(strstr(text, "64 responders: 10.0.0.1 answered 1 of 1, first to 1 (100.0 %)") == text, "told: %s", text);
	OK(strstr(text, "; and 56 more; 3 answers of others beyond 64") != NULL, "with the rest: %s", text);
}

static void six(void)
{
	char text[200];
	struct sockaddr_storage from = {.ss_family = AF_INET6};
	((struct sockaddr_in6 *)&from)->sin6_addr.s6_addr[15] = 2;
	((struct sockaddr_in6 *)&from)->sin6_addr.s6_addr[0] = 0xfd;
	responders_begin(&responders);
	IS_I64(responders_take(&responders, &from, 0, false), RESPONDERS_FIRST, "IPv6");
	responders_tell(&responders, 1, text, sizeof text);
	IS_STR(text, "1 responder: fd00::2 answered 1 of 1, first to 1 (100.0 %)", "told without port and brackets");
}

int main(void)
{
	counting();
	old_requests();
	many();
	six();
	return tap_done();
}
