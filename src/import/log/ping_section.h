/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One section of a ping log, being built: samples by index (0 is the first
 * request), where 16-bit numbers are unwrapped to, and what the lines said
 * besides. The arrays are kept from section to section.
 */
#pragma once
#include "import/import_private.h"
#include "import/log/ping_line.h"

struct ping_samples {
	size_t count, room;
	int64_t *rtt_ns, *tx_ns, *rx_ns, *gap_ns, *scratch;
	uint8_t *fate;
	uint16_t *flags, *reason;
};

/* Sends that our host refused since the highest number last moved. */
struct ping_refused {
	uint64_t count;
	uint16_t reason;
};

struct ping_section {
	struct ping_samples samples;
	enum ping_dialect dialect;
	bool has_header, unsure; /* unsure: a header by shape alone, not by word */
	bool numbered, has_stamps, clock_warned, statistics, dump, no_times;
	int64_t base;             /* unwrapped number of index 0 */
	int64_t highest;          /* highest index seen, -1: none */
	int64_t highest_answered; /* for reordering */
	uint32_t payload_bytes;
	char host[128], address[128];

	uint64_t first_line, last_line, noise, damaged, cut, before_first;
	uint64_t noise_line, damaged_line;
	struct quoted first_noise;
	char first_damage[160];

	struct ping_refused refused;
	uint64_t answered, replies, duplicates, reordered, below, zeros, bad_checksum, other_address, truncated;
	uint64_t errors, unmatched_errors, local_errors, local_placed, known_by_totals;
	struct quoted first_error, first_reporter, first_local_error;
	int64_t finest_ns, coarsest_ns;
	uint64_t steps[12]; /* answers by the step of their digits, 10^i ns */
	int64_t last_stamp_ns;

	uint64_t remarks, remark_line;
	struct quoted first_remark;
	int64_t duplicates_ns; /* their times together, which ping's own average holds */

	bool has_totals, has_times;
	uint64_t transmitted, received;
	struct quoted times;
	int64_t times_ns[3], times_step_ns; /* as in struct ping_line */
};

enum ping_place {
	PLACE_OK,
	PLACE_RESTART, /* numbering starts anew: the line belongs to another section */
	PLACE_BEFORE,  /* a request from before the log's first */
	PLACE_FAR,     /* more places than the lines so far justify */
};

/* Forgets everything but the arrays. */
void ping_section_reset(struct ping_section *section, uint64_t first_line);
void ping_section_free(struct ping_section *section);
/* True when there is something to make a record of. */
bool ping_section_holds(const struct ping_section *section);

/* The index of a line's request. Makes no room yet. */
enum ping_place ping_section_place(
	const struct ping_section *section, const struct ping_line *line, bool last, int64_t *ret_index);
/* How many samples the lines so far allow for. */
uint64_t ping_section_limit(const struct ping_section *section);
/* Makes `count` samples exist, new ones lost. */
int ping_section_extend(struct ping_section *section, size_t count, struct tare_err *err) TARE_MUST_USE;
/* Puts `count` lost samples before the first. */
int ping_section_shift(struct ping_section *section, size_t count, struct tare_err *err) TARE_MUST_USE;
/* Names a request that a line speaks of: extends, and settles the sends refused before it. */
int ping_section_reach(struct ping_section *section, int64_t index, bool answered, struct tare_err *err) TARE_MUST_USE;

void ping_section_answer(struct ping_section *section, int64_t index, const struct ping_line *line);
void ping_section_error(struct ping_section *section, int64_t index, const struct ping_line *line);

/* The step of the digits that the median answer has; 0 without answers. */
int64_t ping_section_step(const struct ping_section *section);
/* Brings the samples and the totals together, then fills gap_ns; events for a wall clock that was set back. */
int ping_section_close(struct ping_section *section, struct import *import, struct tare_err *err) TARE_MUST_USE;
/* All notes about the closed section. */
int ping_section_notes(const struct ping_section *section, struct import *import, struct tare_err *err) TARE_MUST_USE;
const char *ping_tool(enum ping_dialect dialect);
