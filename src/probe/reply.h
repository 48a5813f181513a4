/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replies of a service within a stream of bytes: where one ends, and whether it is
 * the one expected. Bytes come as they come: a reply may arrive in pieces, several
 * may arrive together, and more may come than was asked for.
 *
 * With `bytes` a reply is exactly so many. Else it is a line: judged as soon as the
 * expected text, or a match, has arrived, and its rest up to the end of the line is
 * passed over. An expected text may hold ends of lines itself. Empty lines before a
 * reply are passed over too, unless the text begins with one.
 */
#pragma once
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

/* Of a longer line only so much is held against an expression. */
enum { REPLY_TEXT_MAX = 4096, REPLY_LINE_MAX = 65536 };

/* What is sent and expected, as the user gave it; all borrowed. */
struct probe_exchange {
	const uint8_t *send;
	size_t send_bytes;
	const uint8_t *expect;      /* how the reply begins; NULL: anything */
	size_t expect_bytes;
	const char *expect_regex;   /* POSIX extended; NULL: none */
	size_t reply_bytes;         /* length of each reply; 0: lines */
};

struct reply_rule {
	const uint8_t *text;
	size_t text_bytes, bytes;
	bool has_pattern;
	regex_t pattern;
	char *subject; /* REPLY_LINE_MAX and a zero: what the pattern is held against */
};
/* Compiles the expression; the texts stay borrowed. */
int reply_rule_open(const struct probe_exchange *exchange, struct reply_rule *ret_rule, struct tare_err *err) TARE_MUST_USE;
void reply_rule_close(struct reply_rule *rule);

/* A whole body, as of HTTP: the text anywhere in it, and the expression. */
bool reply_body_right(const struct reply_rule *rule, const uint8_t *body, size_t bytes);

enum reply_verdict { REPLY_MORE, REPLY_RIGHT, REPLY_WRONG };

/*
 * Looks at the front of what has arrived. *ret_used bytes are done with, also for REPLY_MORE: call again with
 * the rest until that is 0. *skipping is the reader's memory from call to call, false at first: the rest of a
 * judged line is being passed over. Set it to false when a request is sent with none under way.
 */
enum reply_verdict reply_next(const struct reply_rule *rule, bool *skipping, const uint8_t *data, size_t bytes,
			      size_t *ret_used);
