/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting per responder: a walk over few addresses, the last one's first, and a ring of who answered which request. */
#include "probe/responders.h"

#include <netinet/in.h>
#include <string.h>

#include "base/text.h"
#include "net/group.h"

void responders_begin(struct responders *responders)
{
	memset(responders, 0, sizeof *responders);
}

/* Its place, a new one if need be; RESPONDERS_MAX when there is no room. */
static size_t find(struct responders *responders, const struct sockaddr_storage *from)
{
	size_t i = 0;
	while (i < responders->count && !net_same_host(&responders->one[i].address, from))
		i++;
	if (i == responders->count && i < RESPONDERS_MAX) {
		responders->one[i].address = *from;
		responders->count++;
	}
	return i;
}

/* Whether responder i answered this request before; notes that it has. Of requests that left the ring nothing is known. */
static bool note(struct responders *responders, size_t i, uint64_t number)
{
	struct responders_seen *seen = &responders->seen[number % RESPONDERS_RING];
	uint64_t bit = UINT64_C(1) << i;
	if (seen->number_plus_one > number + 1)
		return false;
	if (seen->number_plus_one < number + 1)
		*seen = (struct responders_seen){.number_plus_one = number + 1};
	bool before = seen->who & bit;
	seen->who |= bit;
	return before;
}

enum responders_verdict responders_take(
	struct responders *responders, const struct sockaddr_storage *from, uint64_t number, bool answered)
{
	size_t i = find(responders, from);
	if (i == RESPONDERS_MAX) {
		responders->others++;
		return answered ? RESPONDERS_OTHER : RESPONDERS_FIRST;
	}
	struct responder *one = &responders->one[i];
	if (note(responders, i, number)) {
		one->twice++;
		return RESPONDERS_TWICE;
	}
	one->answered++;
	one->first += !answered;
	return answered ? RESPONDERS_OTHER : RESPONDERS_FIRST;
}

static void tell_one(const struct responder *one, uint64_t sent, uint64_t firsts, struct text *text)
{
	struct net_address address = {.storage = one->address};
	address.length = one->address.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	net_address_text(&address, false);
	uint64_t tenths = firsts ? (one->first * 1000 + firsts / 2) / firsts : 0;
	text_add(text, "%s answered %llu of %llu, first to %llu (%llu.%llu %%)", address.host,
		(unsigned long long)one->answered, (unsigned long long)sent, (unsigned long long)one->first,
		(unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10));
	if (one->twice)
		text_add(text, ", %llu more than once", (unsigned long long)one->twice);
}

void responders_tell(const struct responders *responders, uint64_t sent, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	uint64_t firsts = 0;
	text_add(&text, "%s", "");
	for (size_t i = 0; i < responders->count; i++)
		firsts += responders->one[i].first;
	for (size_t i = 0; i < responders->count && i < RESPONDERS_TOLD; i++) {
		if (i == 0)
			text_add(&text, "%zu responder%s: ", responders->count, responders->count == 1 ? "" : "s");
		text_add(&text, "%s", i ? "; " : "");
		tell_one(&responders->one[i], sent, firsts, &text);
	}
	if (responders->count > RESPONDERS_TOLD)
		text_add(&text, "; and %zu more", responders->count - RESPONDERS_TOLD);
	if (responders->others)
		text_add(&text, "; %llu answers of others beyond %d", (unsigned long long)responders->others, RESPONDERS_MAX);
}
