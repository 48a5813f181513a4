/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times that a switch, tap or card wrote into the frames themselves: trailers,
 * tags and tick counters with keyframes.
 *
 * Which format a file carries is named by the user, or found by reading the whole
 * file once (stamp_watch): a format is taken when at least 95 % of the frames
 * that could carry it do, when its own check holds in as many (the checksum of
 * the original frame, a magic with checksum, a keyframe), and when its times
 * keep their distance to the capture's clock. Formats without a check of their
 * own need 20 frames for that, or are named by the user. No frame is ever judged
 * alone: one that lacks its stamp has none.
 *
 * A wrong capture clock is no reason to refuse: the distance is found, not
 * assumed, and told (0 s; 37 s where a stamp is TAI; anything).
 */
#pragma once
#include "import/capture/layers.h"

/* X(id, name, words, first_bit): what --stamps takes; first_bit 1 where its makers say so, else -1. */
#define STAMP_FORMATS(X)                                                                                               \
	X(NONE, "capture", "the capture's own times", -1)                                                              \
	X(EXPCAP, "expcap", "exact-capture footers", -1)                                                               \
	X(METAWATCH, "metawatch", "MetaWatch/7130 trailers", -1)                                                       \
	X(CPACKET, "cpacket", "cPacket trailers", -1)                                                                  \
	X(HPT, "hpt", "Nexus 3550 HPT trailers", -1)                                                                   \
	X(AVSP, "arista", "Arista 0xD28B tags", -1)                                                                    \
	X(AVSP_MAC, "arista-mac", "Arista stamps in place of the source MAC", -1)                                      \
	X(IXIA, "ixia", "Ixia/Anue trailers", -1)                                                                      \
	X(GIGAMON, "gigamon", "Gigamon stamps", -1)                                                                    \
	X(TICKS, "ticks", "tick stamps of 7150 or Nexus 3550, with keyframes", 1)                                      \
	X(TTAG, "ttag", "Cisco TTAG", -1)                                                                              \
	X(TTAG_TRAILER, "ttag-trailer", "Cisco TTAG in the last 6 bytes", -1)                                          \
	X(BRCM, "brcm", "Broadcom stamps in the last 10 bytes", -1)                                                    \
	X(ERSPAN3, "erspan3", "ERSPAN III times", -1)                                                                  \
	X(LDA, "lda", "LDA Neo trailers", -1)                                                                          \
	X(LDA_LE, "lda-le", "LDA Neo trailers, least significant byte first", -1)                                      \
	X(LDA_BE, "lda-be", "LDA Neo trailers, most significant byte first", -1)                                       \
	X(VSS, "vss", "VSS Monitoring trailers", -1)

enum stamp_format {
#define X(id, name, words, first_bit) STAMP_##id,
	STAMP_FORMATS(X)
#undef X
		STAMP_FORMAT_COUNT
};
const char *stamp_format_name(enum stamp_format format);
const char *stamp_format_words(enum stamp_format format);
/* NULL-terminated, for suggestions. */
const char *const *stamp_format_names(void);
bool stamp_format_by_name(const char *name, enum stamp_format *ret_format);
/* 1: the first bit of the frame; -1: its makers do not say. */
int stamp_format_first_bit(enum stamp_format format);

enum stamp_scale { STAMP_SCALE_UNKNOWN, STAMP_SCALE_UTC, STAMP_SCALE_TAI, STAMP_SCALE_RELATIVE };
const char *stamp_scale_name(enum stamp_scale scale);

enum stamp_flag {
	STAMP_DEGRADED = 1 << 0, /* the device says that its clock cannot be trusted */
	STAMP_HOLDOVER = 1 << 1,
	STAMP_LOCAL = 1 << 2,     /* the device's clock is not synchronised to anything */
	STAMP_DUPLICATE = 1 << 3, /* the device marked the frame as a copy */
	STAMP_BAD_FCS = 1 << 4,   /* the frame arrived at the device damaged */
	STAMP_REPAIRED = 1 << 5,  /* seconds corrected by 4: a counter's halves were read at different times */
	STAMP_LOSS = 1 << 6,      /* the device says that frames were lost before this one */
	STAMP_CUT_THERE = 1 << 7, /* the device cut or aborted the frame */
};

struct stamp {
	struct capture_time time;
	enum stamp_scale scale;
	uint32_t port;
	uint32_t device;
	uint16_t flags; /* enum stamp_flag */
	uint32_t lost;  /* frames lost before, where the format says so */
	bool numbered;  /* the port numbers its frames: `sequence`, read most significant byte first */
	uint16_t sequence;
	uint8_t speed; /* of the port in Gbit/s; 0: not said */
};

/* ---- first reading: what is there ---- */

/* `named`: STAMP_FORMAT_COUNT to find out, NONE for no search, else the user's choice. */
struct stamp_watch;
int stamp_watch_open(enum stamp_format named, struct stamp_watch **ret_watch, struct tare_err *err) TARE_MUST_USE;
void stamp_watch_free(struct stamp_watch *watch); /* NULL is fine */
int stamp_watch_add(struct stamp_watch *watch, const struct capture_frame *frame, const struct layers *layers,
	struct tare_err *err) TARE_MUST_USE;

struct stamp_verdict {
	enum stamp_format format; /* NONE: nothing that passes */
	uint8_t variant;          /* private: where in the frame */
	bool named;               /* by the user: a failed check marks the stamp, it does not void it */
	bool undecodable_ticks;   /* tick stamps, but no keyframe in the file */
	int64_t offset_seconds;   /* stamp - capture's clock, nearest second of most frames */
	uint64_t frames, stamped; /* that could carry it, and that do */
	uint64_t keyframes;
	uint32_t device; /* of the first stamp; 0 where the format names none */
	bool several_devices;
	char words[280]; /* the reason, for a note; "" when there is nothing to say */
};
/* Fails (TARE_E_FORMAT) when not one frame carries the named format, or for tick stamps without keyframes. */
int stamp_watch_verdict(struct stamp_watch *watch, const char *file, struct stamp_verdict *ret_verdict,
	struct tare_err *err) TARE_MUST_USE;

/* ---- second reading ---- */

/* False when this frame has no stamp. Keyframes have none. The watch must have seen the whole file. */
bool stamp_read(const struct stamp_watch *watch, const struct stamp_verdict *verdict, const struct capture_frame *frame,
	const struct layers *layers, struct stamp *ret_stamp);
/* A keyframe or marker packet of a switch: it serves other frames' stamps and has none itself. */
bool stamp_is_reference(const struct capture_frame *frame, const struct layers *layers);
