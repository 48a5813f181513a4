/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What fping's text, its JSON and oping have in common: many hosts at once, each with its requests by number, found by name in a
 * table since there may be tens of thousands. A host whose final figures were printed begins another round with its next
 * line; so does one whose numbers start anew.
 */
#pragma once
#include "import/pieces.h"

struct fping_host {
	char *name; /* as printed: "name" or "name (address)"; lives as long as the import */
	struct piece *piece;
	int64_t base;       /* number of the piece's first row */
	int64_t lowest, highest; /* numbers seen, -1: none */
	bool ended;
	uint64_t answered, duplicates, interval;
	int64_t coarsest_ns, printed_ns[3]; /* min, avg, max of its summary; TARE_NO_TIME without */
	int64_t printed_step_ns[3];
};

struct fping {
	struct pieces *pieces;
	struct fping_host *host;
	size_t count, room;
	uint32_t *slot; /* index + 1 into host, 0: free */
	size_t slots;
	uint64_t lines; /* read so far: what bounds a jump of the numbers */
	uint64_t rows;  /* of them, those that speak of requests */
	uint64_t foreign, returned, errors, beyond; /* beyond: requests that only a summary knows */
};

enum fping_kind { FPING_ANSWER, FPING_LOST, FPING_FOREIGN, FPING_DUPLICATE };
struct fping_reply {
	enum fping_kind kind;
	uint64_t seq;
	struct number time; /* of an answer */
	int64_t stamp_ns;   /* TARE_NO_TIME without */
};

/* The host of that name in its present round, made when there is none; valid until the next call. NULL on failure. */
struct fping_host *fping_host_of(struct fping *fping, const char *name, struct tare_err *err);
/* What a line says of one request; *ret_why is set, and nothing taken, where that cannot be. */
int fping_take(struct fping *fping, const char *name, const struct fping_reply *reply, const char **ret_why,
	struct tare_err *err) TARE_MUST_USE;
/* One of the list of all answers: fills in what no line has said. ns TARE_NO_TIME: lost. */
int fping_listed(struct fping *fping, struct fping_host *host, uint64_t seq, struct number time, bool lost,
	struct tare_err *err) TARE_MUST_USE;
/* The final summary: sent and received; requests without a line become lost ones, or answered without a time. */
int fping_total(struct fping *fping, struct fping_host *host, uint64_t sent, uint64_t received, struct tare_err *err) TARE_MUST_USE;
/* All is read: what was before the first number seen is dropped, and the notes are made. */
int fping_end(struct fping *fping, const char *what, const char *steps, struct tare_err *err) TARE_MUST_USE;
#define FPING_STEPS "rtt is the printed time: 1 µs steps below 1 ms, 10 below 10, 100 below 100, whole ms above"
void fping_free(const struct fping *fping); /* for AUTO_CLEANUP */
