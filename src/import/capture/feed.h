/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A capture read twice. Opening reads it once, to know its clock, its stamps and
 * its services; then it gives packet after packet, decoded, with the time that
 * counts: the hardware stamp where the file has stamps, else the capture's own,
 * never one for some packets and the other for the rest.
 *
 * Fragments are put together, and the datagram comes with the fragment that makes it
 * whole. Where the file has only first ones between two ends (a filter by port keeps
 * no others) each of them stands for its datagram, since nothing better will come.
 */
#pragma once
#include "import/capture/census.h"
#include "import/capture/file.h"
#include "import/capture/fragments.h"
#include "import/capture/stamp.h"
#include "import/capture/survey.h"

struct feed_rules {
	enum stamp_format stamps; /* STAMP_FORMAT_COUNT: find out; STAMP_NONE: the capture's own times */
	bool lenient;
	int64_t now_seconds; /* 0: do not judge times in the future */
	uint64_t seed;
	bool single_fragments; /* each fragment is a packet of its own */
};

struct feed_packet {
	struct capture_frame frame;
	struct layers layers;
	struct stamp stamp;       /* where has_stamp */
	struct capture_time time; /* the one that counts, where timed; of fragments the earliest */
	struct capture_time last; /* where layers.has & LAYERS_JOINED: the latest fragment's */
	bool has_stamp, timed;
};

/* What the second reading saw of stamps, complete at its end. */
struct feed_seen {
	uint64_t without_stamp, duplicates, degraded, bad_fcs, repaired, holdover, local, lost;
	int64_t stamp_step_ps;
	uint64_t missing;   /* frames that are not in the file, as the numbers of their ports show */
	uint32_t scales;    /* 1 << enum stamp_scale: what the stamps are labelled as */
	uint32_t speeds[4]; /* of ports in Gbit/s, in the order in which they were met; 0 behind the last */
	uint64_t alone;     /* first fragments that stand for their datagrams */
};

struct feed;
/* The input is borrowed; pass 1 is done here. */
int feed_open(struct input *input, const char *name, const struct feed_rules *rules, struct feed **ret_feed,
	struct tare_err *err) TARE_MUST_USE;
void feed_free(struct feed *feed); /* NULL is fine */
/*
 * The next frame as it lies in the file, keyframes, copies and fragments too: decoded, its stamp read, nothing judged;
 * `time` is the capture's. 1, 0 at the end, -1.
 */
int feed_next_frame(struct feed *feed, struct feed_packet *ret_packet, struct tare_err *err) TARE_MUST_USE;
/* The next packet. Frames that a device marked as copies are passed over. 1, 0 at the end, -1. */
int feed_next(struct feed *feed, struct feed_packet *ret_packet, struct tare_err *err) TARE_MUST_USE;

const struct survey *feed_survey(const struct feed *feed);
const struct census *feed_census(const struct feed *feed);
const struct stamp_verdict *feed_verdict(const struct feed *feed);
const struct feed_seen *feed_seen(const struct feed *feed);
const struct fragments_counts *feed_fragments(const struct feed *feed);
const struct capture_about *feed_about(const struct feed *feed);
size_t feed_interfaces(const struct feed *feed, const struct capture_interface **ret_interfaces);
/* Step of the times that count, observed; at least 1 ps. */
int64_t feed_step_ps(const struct feed *feed);
