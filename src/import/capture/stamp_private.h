/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the stamp_*.c files share; nobody else includes it. */
#pragma once
#include "import/capture/marker.h"
#include "import/capture/stamp.h"
#include "import/capture/tick.h"

/* What a reader of one format finds at one place of a frame. */
enum stamp_finding {
	STAMP_ABSENT,
	STAMP_SHAPED,    /* fields are possible; nothing proves them */
	STAMP_PROVEN,    /* a check of the format's own holds */
	STAMP_DISPROVEN, /* the shape is there and its check fails */
};

/* One way a format may lie in a frame: how many bytes of new check sequence follow, and for VSS the port's width. */
struct stamp_variant {
	enum stamp_format format;
	uint8_t fcs_bytes, port_bytes;
};
extern const struct stamp_variant stamp_variants[];
enum { VARIANTS = 31, SECONDS_KEPT = 32 };

/* One for each variant, over all frames. */
struct stamp_vote {
	uint64_t eligible, unbounded, shaped, proven, disproven; /* unbounded: where the packet ends is not known */
	uint64_t timed;                                          /* whose distance was counted */
	int64_t second[SECONDS_KEPT];
	uint64_t count[SECONDS_KEPT];
	unsigned seconds;
	uint32_t device;
	bool several_devices;
};

struct stamp_watch {
	struct stamp_vote votes[VARIANTS];
	enum stamp_format named;
	struct tick_keyframes keyframes;
	uint64_t frames, plain; /* plain: nothing lies behind the packet */
	struct markers markers;
	bool short_times; /* of ERSPAN III, in steps of granule_ps */
	int64_t granule_ps;
};

/* Whether the format lies behind the packet. */
bool stamp_is_trailer(enum stamp_format format);
/* Whether a name stands for this format. */
bool stamp_is_meant(enum stamp_format named, enum stamp_format format);

/* Trailers end where the first `end` bytes of the frame do. The capture's time serves counters that wrap. */
struct stamp_place {
	const struct capture_frame *frame;
	const struct layers *layers;
	size_t end;
};
enum stamp_finding stamp_expcap(const struct stamp_place *place, struct stamp *ret_stamp);
enum stamp_finding stamp_hpt(const struct stamp_place *place, struct stamp *ret_stamp);
enum stamp_finding stamp_metawatch(const struct stamp_place *place, bool cpacket, struct stamp *ret_stamp);
enum stamp_finding stamp_ixia(const struct stamp_place *place, struct stamp *ret_stamp);
enum stamp_finding stamp_gigamon(const struct stamp_place *place, struct stamp *ret_stamp);
enum stamp_finding stamp_vss(const struct stamp_place *place, unsigned port_bytes, struct stamp *ret_stamp);
enum stamp_finding stamp_lda(const struct stamp_place *place, bool big_endian, struct stamp *ret_stamp);
enum stamp_finding stamp_ttag_trailer(const struct stamp_place *place, struct stamp *ret_stamp);
enum stamp_finding stamp_brcm(const struct stamp_place *place, struct stamp *ret_stamp);
/* Tags inside the frame. */
enum stamp_finding stamp_avsp(const struct stamp_place *place, struct stamp *ret_stamp);
enum stamp_finding stamp_avsp_mac(const struct stamp_place *place, struct stamp *ret_stamp);
enum stamp_finding stamp_ttag(const struct stamp_place *place, struct stamp *ret_stamp);
enum stamp_finding stamp_erspan3(const struct stamp_place *place, struct stamp *ret_stamp);
/* Whether an ERSPAN III header has a time of 32 bits that count on over seconds, and these. */
bool stamp_erspan3_short(const struct stamp_place *place, uint32_t *ret_low, int64_t *ret_granule_ps);

/* True where 0xD28B has the 64-bit form of the first generations, whose seconds may be 4 too many. */
bool stamp_avsp_may_jump(const struct stamp_place *place);
/* Bytes of trailer that end at place->end, or NULL when the packet itself reaches into them. */
const uint8_t *stamp_behind_packet(const struct stamp_place *place, size_t bytes);
/* Ones' complement checksum as IP has it. */
uint16_t stamp_checksum(const uint8_t *bytes, size_t count);
/* The time nearest to `near` whose nanoseconds since the epoch are `low` in the lower `bits` bits, steps of step_ns. */
struct capture_time stamp_near(struct capture_time near, uint64_t low, unsigned bits, uint64_t step_ns);
/* CRC-32 of Ethernet. */
uint32_t stamp_crc(const uint8_t *bytes, size_t count);
bool stamp_fcs_valid(const uint8_t *bytes, size_t count);
enum { STAMP_SECONDS_1990 = 631152000 };
