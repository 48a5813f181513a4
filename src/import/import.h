/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads what other tools have written and hands it on as records, the same that
 * a live run makes: logs, and captures of packets (pcap, pcapng, ERF), either of
 * them packed with gzip or zstd. The format is told from the content, never from
 * the name, within the first 64 kB. Figures of the other tool's own summary are never
 * taken over as values: what tare prints is recomputed from the lines, and a
 * summary that disagrees with them is a note.
 *
 * Lines fall into four classes:
 *   known   replies, errors, headers, summaries, warnings of the tool itself;
 *   noise   anything else (shell prompts, other programs): counted and passed
 *           over, told in one note with the first of them;
 *   damaged of a known shape with an impossible content (1e400, a negative time,
 *           a sequence number above 65535, a jump that would need more places
 *           than the file has lines to justify): an error "'x':LINE: …", or with
 *           `lenient` counted, passed over and told in a note;
 *   cut off a last line without its end: passed over, told in a note.
 * NUL bytes are dropped, a byte order mark selects UTF-8 or UTF-16, bytes that are
 * no UTF-8 are tolerated, lines above 4095 bytes are noise.
 *
 * Memory follows the number of samples of the longest section: at most about
 * 60 bytes for each of (4 x lines + 2^20).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tare/err.h"
#include "tare/run.h"

struct import;

/*
 * Captures only. Text as users write it, NULL for what fits by itself:
 *   key        what ties a reply to its request: icmp, tare, stamp, dns, tcp, tcp-ack, tcp-syn, order, payload,
 *              udp.payload[4:8], re:EXPRESSION
 *   service    who answers: PORT, ADDRESS, ADDRESS:PORT; without it the busiest services, each its own round
 *   stamps     capture (its own times), or a format of hardware stamps; else found out over the whole file
 *   seen_at    client (the span is `stack`), client-nic (`wire`), server (`residence`), server-nic (`host`)
 *   from, to   two places in one capture (interface:NAME, port:DEVICE/NUMBER), or `to` a second capture file: the
 *              same packets, and how long they took from one place to the other (`host`)
 *   clock      for two captures: "same", or how far apart their clocks may be
 *   marks      which bit of a frame its stamp marks: first, last; for two places also first,last
 *   line_rate  bits a second (10G), to bring first and last bits together
 */
struct capture_rules {
	const char *key, *service, *stamps, *seen_at, *from, *to, *clock, *marks, *line_rate;
	int64_t timeout_ns; /* 0: 1 s */
	bool last_copy;     /* of a request that was captured twice, the last copy counts, not the first */
};

struct import_rules {
	int64_t every_ns; /* the interval that was asked for; 0: infer it where send times exist */
	bool lenient;     /* damaged lines are counted instead of ending the reading */
	/*
	 * Plain numbers only: the column by name or number from 1, NULL where there is one only; the unit (ps, ns, us,
	 * ms, s), NULL: as the column's name ends ("rtt_us"), else ns.
	 */
	const char *column, *unit;
	const char *with;   /* files that belong to this one, with commas between; NULL: none. Refused where a format has no such */
	const char *format; /* name of a reader, whatever the content looks like; NULL: told from the content */
	struct capture_rules capture;
};

/* The readers of logs by name with a word on each, in the order in which they are tried; NULL behind the last. */
const char *import_format_name(size_t i, const char **ret_help);

/*
 * Opens `path` ("-": standard input) and tells its format. An empty file, a
 * directory and content that tare does not know are TARE_E_FORMAT.
 */
int import_open(const char *path, const struct import_rules *rules, struct import **ret_import,
	struct tare_err *err) TARE_MUST_USE;
/* The same from an open stream, which stays the caller's; `name` is what messages call it. */
int import_open_stream(FILE *stream, const char *name, const struct import_rules *rules, struct import **ret_import,
	struct tare_err *err) TARE_MUST_USE;
void import_free(struct import *import); /* NULL is fine */

/* True when these first bytes of a file are a log or capture that import_open would read. */
bool import_looks_like(const void *head, size_t head_bytes);

/*
 * The next record: 1, 0 at the end, or -1. Each section of a log (a "PING"
 * header, or numbering that starts anew) is a round. The columns are borrowed
 * until the next call; run, target, round and all strings live until
 * import_free().
 *
 * Of a ping log: given_ns[RTT] is the printed time; with -D also given_ns[GAP],
 * at_ns[USER_RX] (the bracket: when the line was printed) and at_ns[USER_TX]
 * (bracket - time, so early by nothing and late by ping's own wake-up). A request
 * without an answer below the highest number seen or the transmitted count is
 * LOST; one that the network refused is ERROR with its errno; one that our own
 * host refused is NOT_SENT where the log leaves no doubt which it was. "<1 ms" is
 * ANSWERED with an unknown value. Answers that only the summary knows of are
 * ANSWERED with an unknown value, at arbitrary places. resolution_ns is the step
 * that the digits of the median answer have. ping's step grows with the time, 1 µs
 * below 1 ms to 1 ms from 100 ms on, and one slow answer must not make the others
 * look coarse; where steps are mixed, a note says from which to which.
 */
int import_next(struct import *import, const struct tare_record **ret_record, struct tare_err *err) TARE_MUST_USE;

enum import_note_kind {
	IMPORT_HEAD,     /* what it is: tool, packets, interval asked */
	IMPORT_QUANTITY, /* what the values mean and how fine they are */
	IMPORT_PACING,   /* whether the schedule was kept */
	IMPORT_LIMIT,    /* what cannot be told from this log */
	IMPORT_FATE,     /* what became of requests, where the fates do not say it all */
	IMPORT_MISMATCH, /* the log's own summary disagrees with its lines */
	IMPORT_PRINTED,  /* the tool's own figures, as it printed them */
	IMPORT_DAMAGE,   /* lines that were passed over */
};

/* "head", "quantity", "pacing", …: how JSON and recordings call the kind. */
const char *import_note_name(enum import_note_kind kind);

/* A sentence about one round (0: about the whole file), lower case, without a full stop. Text from the log in it is quoted and harmless. */
struct import_note {
	uint32_t round;
	enum import_note_kind kind;
	const char *text;
};

/* All notes so far, in order, at most IMPORT_NOTES_MAX; the array is valid until the next import_next(). */
enum { IMPORT_NOTES_MAX = 2000, IMPORT_EVENTS_MAX = 1000 };
size_t import_notes(const struct import *import, const struct import_note **ret_notes);
/* Events of the record last returned (clock warnings, refused sends, redirects), valid as long as it is. */
size_t import_events(const struct import *import, const struct tare_event **ret_events);

/* ---- the schedule that send times show ---- */

/*
 * `asked` is the caller's, or inferred: the largest of 1, 2, 5 x 10^k ns that is
 * not above 1/0.95 of the first percentile of the gaps. The margin is needed
 * since gaps come from print times, which lie on both sides of the interval even
 * when it is kept: ping -i 0.005 on an idle host has a first percentile of 4.990
 * ms, which is no reason to think that 2 ms were asked for.
 * A gap is the difference of two neighbours with known times; where answers are
 * missing, slip and mean go on across the hole, the percentiles leave it out.
 * Negative differences (the wall clock was set back) are left out of everything.
 */
struct ping_schedule {
	uint64_t gaps;      /* neighbours with known times */
	uint64_t intervals; /* intervals that slip_ns covers, holes included */
	uint64_t backwards; /* differences left out since time went backwards */
	int64_t asked_ns;   /* 0: unknown, and the three below are 0 */
	bool inferred;
	int64_t slip_ns;        /* last - first - intervals x asked */
	int64_t mean_excess_ns; /* slip / intervals, rounded */
	int64_t median_excess_ns;
	int64_t min_ns, first_percentile_ns, median_ns, p99_ns, max_ns; /* of the gaps, nearest rank; 0 without */
};

/* sent_ns: a time per request or TARE_NO_TIME. scratch: room for `count` values. */
void ping_schedule_of(
	const int64_t *sent_ns, size_t count, int64_t every_ns, int64_t *scratch, struct ping_schedule *ret_schedule);
/*
 * The verdict in words: "every gap was 454 µs too long, the schedule slipped 908
 * ms; the RTT column shows 1 µs a packet" where the median gap exceeds the asked
 * one by at least ten steps of the stamps (10 µs) and 0.2 % of it, else "kept:
 * …". Returns the length.
 */
size_t ping_schedule_text(const struct ping_schedule *schedule, int64_t median_rtt_ns, char *buffer, size_t room);

/* The schedule of the record last returned; NULL where it has no send times. */
const struct ping_schedule *import_schedule(const struct import *import);
