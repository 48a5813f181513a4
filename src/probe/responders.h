/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who answered requests to a group. The first answer to a request is its sample; the others are counted here, by
 * address, and are no duplicates unless they come twice from one responder. Bounded: RESPONDERS_MAX of them,
 * and the last RESPONDERS_RING requests, are told apart.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { RESPONDERS_MAX = 64, RESPONDERS_RING = 8192, RESPONDERS_TOLD = 8 };

/* A request as a whole is known by its number plus one; 0: none. */
struct responders {
	struct responder {
		struct sockaddr_storage address;
		uint64_t answered, first, twice; /* requests; of them first of all; answers beyond one a request */
	} one[RESPONDERS_MAX];
	size_t count;
	uint64_t others;        /* answers of responders beyond those */
	struct responders_seen {
		uint64_t number_plus_one, who; /* a bit for each responder */
	} seen[RESPONDERS_RING];
};

enum responders_verdict { RESPONDERS_FIRST, RESPONDERS_OTHER, RESPONDERS_TWICE };

void responders_begin(struct responders *responders);
/* An answer to request `number`, which `answered` says to have one already. */
enum responders_verdict responders_take(
	struct responders *responders, const struct sockaddr_storage *from, uint64_t number, bool answered);
/* "2 responders: 10.0.0.2 answered 1000 of 1002 (first to 90 %), …" of `sent` requests; "" when nobody answered. */
void responders_tell(const struct responders *responders, uint64_t sent, char *buffer, size_t room);
