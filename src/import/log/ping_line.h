/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One line of a ping's output, understood by its structure (key=number unit) and
 * not by its words, since those are translated: "time=0.030 ms", "Zeit=6,16 ms",
 * "temps<1ms", "время=37мс". Words decide only where there is no structure: the
 * reason of an error, and marks such as "(DUP!)".
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ping_kind {
	PING_BLANK,
	PING_KNOWN,  /* the tool's own, nothing to keep: warnings, "pipe 3", dumps of headers */
	PING_HEADER, /* starts a section: who, address, payload_bytes, dialect */
	PING_REPLY,
	PING_NO_ANSWER,   /* the tool says that seq has no answer (yet) */
	PING_TIMEOUT,     /* the same without a number (Windows) */
	PING_ERROR,       /* an ICMP error from `who`: reason, what; has_seq where it names the request */
	PING_REDIRECT,    /* an ICMP redirect: nothing is wrong with the request */
	PING_LOCAL_ERROR, /* our own host refused to send: reason, what */
	PING_CLOCK,       /* "time of day goes back" */
	PING_STATISTICS,  /* "--- host ping statistics ---" */
	PING_TOTALS,      /* transmitted and received */
	PING_TIMES,       /* min/avg/max: `what` */
	PING_REMARK, /* on the answer before or behind it: `what` */
	PING_NOISE,
	PING_DAMAGED, /* `damage` says why */
};

enum ping_dialect { PING_UNKNOWN, PING_IPUTILS, PING_BSD, PING_BUSYBOX, PING_WINDOWS };

/* Bytes inside the line. */
struct slice {
	const char *at;
	size_t bytes;
};

struct ping_line {
	enum ping_kind kind;
	enum ping_dialect dialect; /* as far as this line alone tells */
	bool has_seq, below, duplicate, bad_checksum, other_address, truncated;
	bool marked;   /* a mark in parentheses that was not understood */
	bool complete; /* a reply whose time and unit were read: not cut off */
	uint32_t seq;
	uint16_t reason; /* errno, 0: not told or not understood */
	uint32_t payload_bytes;
	int64_t rtt_ns;        /* TARE_NO_TIME: not printed, or below the display's step */
	int64_t resolution_ns; /* step of the digits printed; 0 without */
	int64_t stamp_ns;      /* the bracket of -D, ns since 1970; TARE_NO_TIME without */
	uint64_t transmitted, received, duplicates, errors;
	bool has_transmitted, has_received;
	struct slice who, address, what;
	const char *damage;
	bool stamps;          /* of a header: "sending timestamp requests" */
	int64_t times_ns[3];  /* of PING_TIMES: min, avg, max; TARE_NO_TIME where they cannot be read */
	int64_t times_step_ns; /* of their digits */
};

/* What the lines before decide: a Windows log has no numbers, so any sentence in it is a request without answer. */
struct ping_context {
	bool windows, statistics, dump;
	bool stamps;   /* ICMP timestamps were asked for: answers have no time */
	bool indented; /* by a tab: no line of ping's own but parts of one; set by ping_line_read */
};

/* `text` is terminated at `bytes`, holds no NUL before and no blank at its end: what lines_next() gives. */
void ping_line_read(const char *text, size_t bytes, struct ping_context context, struct ping_line *ret_line);

/* ---- parts, shared by the files ping_*.c ---- */

/* key=number unit, or key<number unit. */
struct ping_item {
	struct slice key, number, unit;
	bool less, negative, malformed, slashed; /* slashed: a/b/c follows */
	const char *end;
};
enum { PING_ITEMS_MAX = 8 };
size_t ping_items(const char *text, size_t bytes, struct ping_item *ret_items);
bool slice_is(struct slice slice, const char *word); /* ASCII letters in any case */
bool slice_ends(struct slice slice, const char *word);

/* The time of an item in ns and the step of its digits; NULL, or what is wrong with it. */
const char *ping_item_time(const struct ping_item *item, int64_t *ret_ns, int64_t *ret_resolution_ns);
/* Min, avg and max of "… = a/b/c[/d] ms", or of Windows' three items in the order min, max, avg. */
void ping_times_read(const struct ping_item *items, size_t count, const char *end, struct ping_line *line);
/* A run of digits; false when it exceeds `most`. */
bool ping_number(const char *at, size_t bytes, uint64_t most, uint64_t *ret_number);
/* The bracket "[seconds.microseconds]" at text: its length, 0 when there is none, -1 when it is impossible. */
int ping_stamp(const char *text, size_t bytes, int64_t *ret_ns);

/* The first numeric IPv4 or IPv6 address in the text. */
bool ping_address(const char *text, size_t bytes, struct slice *ret_address);
/* errno of an error's text, 0 when no language known here. */
uint16_t ping_reason(const char *text);
bool ping_says(const char *text, const char *words); /* contains, ASCII letters in any case */

/* Lines without a sequence number: headers, summaries, errors, Windows. False: not of these. */
bool ping_read_header(const char *text, size_t bytes, struct ping_line *line);
bool ping_read_summary(const char *text, size_t bytes, struct ping_context context, struct ping_line *line);
bool ping_read_trouble(const char *text, size_t bytes, struct ping_context context, struct ping_line *line);
