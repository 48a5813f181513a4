/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of an import of captures: what reader.c runs and notes.c tells. */
#pragma once
#include "import/capture/capture.h"
#include "import/capture/feed.h"
#include "import/capture/pairing.h"
#include "import/capture/rules.h"
#include "import/capture/series.h"

enum { READER_SERVICES = 16 };

/* One service with its samples; becomes one round. */
struct reader_part {
	struct key_rule key; /* its expression is the plan's */
	struct service service;
	struct pairing *pairing;
	struct series series;
	struct tare_target target;
	struct tare_round round;
	struct tare_record record;
	uint64_t retransmitted;
};

struct reader {
	struct capture_plan plan;
	struct feed *feed; /* of the file, or of the `from` side */
	/* a second file */
	FILE *to_stream;
	struct input *to_input;
	struct feed *to_feed;
	/* taps */
	struct match *match;
	uint64_t at_from, at_to; /* packets seen there */
	int64_t bound_ns;
	const char *relation; /* of the two clocks, in words */
	bool to_first_bit[2]; /* this side marks the last bit and is brought to the first */

	struct reader_part part[READER_SERVICES];
	size_t parts, given; /* given: records handed out */
	size_t others;       /* services that were left out */
	uint64_t seed;
	bool read, has_base;
	struct capture_time base;
};

/* Two taps: reads everything into part[0]. */
int taps_open(struct import *import, struct reader *reader, struct tare_err *err) TARE_MUST_USE;
int taps_read(struct import *import, struct reader *reader, struct tare_err *err) TARE_MUST_USE;

enum tare_stage reader_stage(const struct reader *reader, bool begin);
/* Seen at the answering host. */
bool reader_is_inside(const struct reader *reader);
/* What the samples mean; its format is "pcap", "pcapng" or "erf", and behind + the name of the hardware stamps. */
int reader_origin(struct import *import, const struct reader *reader, struct tare_origin *ret_origin,
	struct tare_err *err) TARE_MUST_USE;
/* Frame's place on the wire in bytes: packet, padding, check sequence; no trailer. */
uint32_t reader_wire_bytes(const struct feed_packet *packet);

/* Of the file, once; of a part, before its record is handed out. */
int notes_of_file(struct import *import, struct reader *reader, struct tare_err *err) TARE_MUST_USE;
int notes_of_part(
	struct import *import, struct reader *reader, struct reader_part *part, struct tare_err *err) TARE_MUST_USE;
