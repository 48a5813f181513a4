/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Datagrams put together from their fragments (RFC 791, RFC 8200), so that a key in
 * a later fragment is found and a datagram counts once. One is whole when every byte
 * up to the end of its last fragment was on the wire; bytes that the snap length cut
 * off end what is captured of it, they do not make it incomplete.
 *
 * Bounded: 1024 datagrams at a time, 16 MB, 1 s from the first fragment (their
 * 16-bit numbers come round within seconds at high rates). Fragments that overlap
 * earlier ones are refused, so the first to come wins; the same bytes again are a
 * copy. What was whole is remembered for 10 ms, so that a mirror's copies of its
 * fragments make a copy of the datagram, or nothing, but no datagram with holes.
 */
#pragma once
#include "import/capture/layers.h"
#include "tare/err.h"

enum { FRAGMENTS_NUMBERS = 8 };

struct fragments_counts {
	uint64_t datagrams;   /* put together */
	uint64_t incomplete;  /* given up: fragments are missing */
	uint64_t overlapping; /* fragments refused: other bytes for a place that has some, or beyond the end */
	uint64_t impossible;  /* fragments that no sender makes: empty, past 65535, odd length before the last */
	uint64_t copies;      /* of fragments, left out */
	uint64_t no_room;     /* fragments refused for the limit of memory */
	uint64_t incomplete_first[FRAGMENTS_NUMBERS]; /* frame numbers */
	size_t bytes_most;                            /* held at a time */
};

/* A frame that is a fragment: layers.has & LAYERS_ANY_FRAGMENT. */
struct fragment {
	const struct layers *layers;
	uint64_t number;                        /* of its frame */
	struct capture_time clock, first, last; /* the capture's clock for ages; the times that count (usually one) */
	bool has_clock, timed;
};

struct joined {
	struct layers layers;      /* pointers are valid until the next call */
	uint64_t number;           /* of the frame with its earliest fragment */
	struct capture_time first; /* the earliest and the latest of its fragments, whatever their places in it */
	struct capture_time last;
	bool timed; /* all of them are */
};

struct fragments;
int fragments_open(uint64_t seed, struct fragments **ret_fragments, struct tare_err *err) TARE_MUST_USE;
void fragments_free(struct fragments *fragments); /* NULL is fine */
/* 1: this one made a datagram whole. 0: not. -1: no memory. */
int fragments_add(struct fragments *fragments, const struct fragment *fragment, struct joined *ret_joined,
	struct tare_err *err) TARE_MUST_USE;
/* The capture's end: what still waits is incomplete. */
void fragments_finish(struct fragments *fragments);
const struct fragments_counts *fragments_counts(const struct fragments *fragments);
