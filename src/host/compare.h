/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A against B: did what was declared change, and nothing else? Two snapshots a
 * round (start and end) of every round, leading ones included, go in; out comes
 * what each key did over all of them. A change that lasts shorter than a round
 * and raises no event cannot be seen this way, nor can BIOS options or a switch.
 */
#pragma once
#include "host/delta.h"
#include "host/snapshot.h"

enum host_role {
	HOST_AS_DECLARED,     /* one value in all of A, another in all of B, and it was declared */
	HOST_WITHOUT_EFFECT,  /* declared, yet equal in A and B */
	HOST_NOT_AS_DECLARED, /* declared with values, and has others */
	HOST_SIDE_EFFECT,     /* allowed to move along */
	HOST_UNDECLARED,      /* differs between A and B without having been declared */
	HOST_UNSTEADY,        /* differs within an arm or within a round */
	HOST_NOT_READABLE,    /* at one of the moments at least */
	HOST_ROLE_COUNT
};
const char *host_role_name(enum host_role role);

struct host_compared {
	const char *key;
	enum host_role role;
	const char *a, *b; /* values; NULL where it was not there or not read */
	char note[200];    /* when it takes effect, where it was unsteady; "" */
};

/* A round whose counters say that something went wrong in it. */
struct host_flagged {
	char arm;       /* 'A' or 'B' */
	unsigned round; /* as given */
	const char *key;
	uint64_t delta;
	bool voids; /* errors void the round, else it is only suspect */
};

struct host_comparison;
/*
 * Declared: "KEY" or "KEY=VALUE_A->VALUE_B", allowed: "KEY"; '*' and '?' are wild. Declarations that fit no key
 * are told by the result. Texts are copied.
 */
int host_comparison_open(const char *const *declared, size_t declared_count, const char *const *allowed,
	size_t allowed_count, struct host_comparison **ret_comparison, struct tare_err *err) TARE_MUST_USE;
void host_comparison_free(struct host_comparison *comparison); /* NULL is fine */
/* Whether declaration i, in the order given, fits a key: behind host_comparison_result. */
bool host_comparison_fits(const struct host_comparison *comparison, size_t i);
/* Start and end of one round; arm 'A' or 'B'. Takes both over, also on failure. */
int host_comparison_round(struct host_comparison *comparison, char arm, unsigned round, struct host_snapshot *start,
	struct host_snapshot *end, struct tare_err *err) TARE_MUST_USE;

struct host_compare_result {
	const struct host_compared *row; /* all but equal ones, in order of keys */
	size_t row_count;
	const struct host_flagged *flagged;
	size_t flagged_count;
	size_t keys, snapshots, count[HOST_ROLE_COUNT], not_applicable,
		unmatched;  /* unmatched: declarations without a key */
	bool confounded;    /* undeclared or unsteady ones: no verdict may blame the declared change */
	bool took_effect;   /* everything declared changed as declared */
	char sentence[400]; /* "214 keys compared in 18 snapshots: 1 changed as declared, 0 undeclared, 3 unreadable" */
};
/* Owned by the comparison, valid until it is added to or freed. Fails with TARE_E_INVALID without both arms. */
int host_comparison_result(struct host_comparison *comparison, const struct host_compare_result **ret_result,
	struct tare_err *err) TARE_MUST_USE;
