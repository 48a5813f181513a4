/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The spool: where the hot loop writes. One file per round on tmpfs, allocated
 * whole, prefaulted and locked before the first request, so that a process killed
 * at any instant leaves everything it had measured. (On a disk file system the
 * kernel would write-protect its pages in mid-run.) A run without a recording has
 * the same layout in anonymous memory.
 *
 * Layout: struct spool_header, counters, readings of the wall clock and of the
 * card's clock, then the samples of each target, all as this host writes them: a spool is read on the host it was
 * written on, and its version refuses other builds.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/probe.h"
#include "tare/run.h"

enum { SPOOL_VERSION = 3, SPOOL_TARGETS_MAX = 64, SPOOL_LABEL_BYTES = 256, SPOOL_PATH_BYTES = 256 };

struct spool_header {
	char magic[8]; /* "tarespl\0" */
	uint32_t version, target_count;
	uint64_t file_bytes, count, readings_room, card_room;
	int64_t epoch_mono_ns, epoch_real_ns;
	uint64_t seed;
	int64_t first_due_ns, interval_ns, phase_ns, jitter_ns, timeout_ns; /* first due: CLOCK_MONOTONIC */
	uint32_t number, warmup;
	uint32_t injecting;                       /* the sender holds itself up on purpose */
	uint32_t first_target;                    /* of the run's targets, that of a sweep's step */
	uint32_t stamps[SPOOL_TARGETS_MAX];       /* enum net_stamp asked for */
	char label[SPOOL_LABEL_BYTES];
	_Atomic uint64_t readings_count, card_count;
};

struct spool {
	char path[SPOOL_PATH_BYTES]; /* "" for anonymous memory */
	int fd;                      /* holds the lock; -1 for anonymous memory */
	void *map;
	size_t bytes;
	bool locked;                 /* in memory, against paging */
	struct spool_header *header;
	struct raw_counters *counters;    /* target_count */
	struct tare_reading *readings;    /* readings_room */
	struct tare_reading *card;        /* card_room, of the network card's clock */
	struct raw_sample *samples;       /* target_count x count */
};

/* Samples of one target. */
static inline struct raw_sample *spool_samples(const struct spool *spool, size_t target)
{
	return spool->samples + target * spool->header->count;
}

/*
 * A prefix for the spools of one run, on tmpfs: "/dev/shm/tare-PID-TOKEN"; round n
 * appends ".n". Fails when no tmpfs can be written.
 */
int spool_prefix(uint64_t seed, char *prefix, size_t room, struct tare_err *err) TARE_MUST_USE;

/*
 * Creates the spool of a round; `plan` has everything but magic, version and sizes. prefix NULL: anonymous
 * memory. Refuses what memory cannot hold, before anything is sent.
 */
int spool_create(const char *prefix, const struct spool_header *plan, struct spool *ret_spool,
		 struct tare_err *err) TARE_MUST_USE;
/*
 * Opens a spool left behind, checking every size in it. 1: opened and locked; 0: its process is alive (the lock
 * is held); -1: damaged, foreign or not ours (another user's files are not touched).
 */
int spool_adopt(const char *path, struct spool *ret_spool, struct tare_err *err) TARE_MUST_USE;
/* Unmaps; `remove` deletes the file. */
void spool_close(struct spool *spool, bool remove);
