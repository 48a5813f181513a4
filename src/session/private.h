/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this folder share: the session itself, and the writer thread. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "cause/assign.h"
#include "cause/inject.h"
#include "cause/watch.h"
#include "clock/phc.h"
#include "host/snapshot.h"
#include "host/watch.h"
#include "net/card.h"
#include "session/session.h"
#include "session/spool.h"
#include "session/waiting.h"
#include "session/with.h"

enum { JOB_SENTENCES = 4, JOB_FACTS = 4 };

/* One sealed round on its way into the recording; owned by the writer once submitted. */
struct writer_job {
	struct tare_round round;
	struct tare_record *records;
	size_t record_count;
	struct tare_event *events;
	size_t event_count;
	const struct tare_reading *readings;
	size_t reading_count;
	struct arena *arena;      /* holds all of the above */
	struct arena *fact_arena; /* NULL, or holds the facts around the round */
	const struct tare_fact *facts[JOB_FACTS]; /* at its start, at its end; the same of the peer */
	size_t fact_counts[JOB_FACTS];
	/* of a round that was watched; on the heap */
	struct tare_cause *causes;
	struct tare_evidence *evidence;
	size_t cause_count, evidence_count;
	bool *wanted;
	struct tare_share *shares;
	size_t share_count;
	char said[JOB_SENTENCES][512]; /* about who shared the CPUs */
	size_t said_count;
	struct spool spool;
};

/* Text is copied; beyond the room for events it is dropped. */
void writer_job_event(struct writer_job *job, int64_t at_ns, const char *kind, const char *sentence);

/* A thread of low priority that writes one round at a time. */
struct writer_thread {
	struct tare_writer *writer; /* used by the thread alone between start and stop */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct writer_job *job;     /* NULL: idle */
	bool running, stopping, failed;
	struct tare_err err;
};
int writer_start(struct writer_thread *thread, struct tare_writer *writer, struct tare_err *err) TARE_MUST_USE;
/* Waits until the round before is written, then hands this one over. -1 when writing failed. */
int writer_submit(struct writer_thread *thread, struct writer_job *job, struct tare_err *err) TARE_MUST_USE;
/* Until nothing is left to write. */
int writer_wait(struct writer_thread *thread, struct tare_err *err) TARE_MUST_USE;
int writer_stop(struct writer_thread *thread, struct tare_err *err);

/* What the first target's responder is asked about its host (peer.c). */
struct session_asked {
	bool wanted;
	unsigned silent;                           /* failures in a row */
	struct host_snapshot *first, *start, *end; /* of the run, of the round; NULL: not there */
	char why[480];                             /* not there; "" */
};

/* The host around the rounds; watch is NULL when nothing is kept. */
enum { SESSION_EVENTS_MAX = 256 };
struct session_around {
	struct host_watch *watch;
	struct host_snapshot *peer;          /* of the first target's host, brought by hand; NULL: none */
	struct host_snapshot *first, *start; /* of the run, of the round; NULL: could not be read */
	struct session_asked asked;
	struct host_event event[SESSION_EVENTS_MAX];
	size_t events, fd_count;
	int fd[2];
	bool lost;
};

/* What the kernel counted of the measuring thread, of one round. */
struct thread_use {
	int64_t waited_ns;      /* ready to run and not running; TARE_NO_TIME: not told */
	long pushed, faults;    /* involuntary switches, page faults */
};

/* --send and --expect as bytes. */
struct session_exchange {
	bool given;
	struct probe_exchange as_bytes;
	uint8_t send[REPLY_TEXT_MAX], expect[REPLY_TEXT_MAX];
};
int exchange_read(struct session *session, struct tare_err *err) TARE_MUST_USE;
/* What of it concerns a kind; NULL: nothing. */
const struct probe_exchange *exchange_for(const struct session *session, const struct probe_kind *kind);

/* A sweep under way (steps.c). */
struct session_steps {
	size_t at;                      /* the step whose settings are on */
	bool left_out[SESSION_STEPS_MAX];
};

struct session {
	struct session_config config;
	struct session_config asked;    /* as it was given: a step changes `config` */
	struct session_steps steps;
	uint64_t seed, slots;
	size_t target_count;            /* of a round */
	/* Targets as the recording has them: with payloads that differ by step, target_count for each payload. */
	struct tare_target targets[SPOOL_TARGETS_MAX];
	size_t target_rows, first_target; /* of them all; of the step */
	const struct probe_kind *kinds[SPOOL_TARGETS_MAX];
	struct net_address addresses[SPOOL_TARGETS_MAX];
	struct probe_target probes[SPOOL_TARGETS_MAX];
	struct probe_target *probe_list[SPOOL_TARGETS_MAX];
	struct session_exchange exchange;
	struct stamp_key *key;          /* NULL: none */
	int keeper;
	struct phc phc;                 /* clock of the card that stamps; fd -1: none */
	int card_index;                 /* N of its /dev/ptpN */
	struct card_hold card;          /* its setting, changed by us */
	char card_notes[400];           /* what cards lack for the stamps that were asked for; "" for nothing */
	struct waiting *waiting;        /* NULL: the system's ppoll */
	struct inject_plan inject;      /* count 0: nothing */
	struct watch *watch;            /* NULL: the run is not explained */
	struct landed *landed;          /* what the kernel counts by CPU; NULL as well */
	atomic_bool watching;           /* the measuring thread is being watched */
	struct thread_use use;          /* of the last round */
	struct with with;               /* the load beside the round */
	char path_said[SPOOL_TARGETS_MAX][700]; /* of the round before */
	bool receiving_said;
	bool peer_is_here;              /* the first target is this host */
	int64_t watch_cost_ns;          /* of a context switch; TARE_NO_TIME: not measured */

	struct tare_run run;
	struct arena *names;            /* strings of the run */
	struct tare_writer *writer;     /* NULL without a recording */
	struct writer_thread writing;
	char prefix[SPOOL_PATH_BYTES];

	struct spool spool;             /* of the round under way */
	uint32_t round_number;
	int signals;                    /* signalfd */
	int done;                       /* eventfd: the measuring thread has finished */
	atomic_bool stop;
	struct session_around around;
};

/* Whether a configuration can be measured, and how many slots a round of it has. */
int session_check(const struct session_config *config, uint64_t *ret_slots, struct tare_err *err) TARE_MUST_USE;
/* Opens target i of the step that is on (its URL was resolved before), with `salt` mixed into its seed. */
int session_open_target(struct session *session, size_t i, uint64_t salt, struct tare_err *err) TARE_MUST_USE;
/* Whether the schedule leaves time to read transmit stamps. */
bool session_transmit_stamps(const struct session_config *config);
/* The payload of target i with the settings that are on. */
int session_payload(const struct session *session, size_t i, uint32_t *ret_bytes, struct tare_err *err) TARE_MUST_USE;

/* Checks every step, describes the targets of all of them, and puts the first one on. */
int steps_open(struct session *session, struct tare_err *err) TARE_MUST_USE;
/* How many rounds a run has at most. */
uint32_t steps_rounds(const struct session *session);
/* Puts the settings of round i (from 0) on; false when its step is left out. */
int steps_apply(struct session *session, uint32_t i, bool *ret_runs, struct tare_err *err) TARE_MUST_USE;
/* After a round: whether its step ends a part of the sweep; then as an event, too. */
void steps_judge(struct session *session, struct writer_job *job);

/* For target i, whose address is known and whose socket is not open yet. */
int session_card_open(struct session *session, size_t i, struct tare_err *err) TARE_MUST_USE;
/* An event of the round about the way its packets took, if there is something to say. */
void path_tell(struct session *session, struct writer_job *job, size_t i);

/* An event of the first round about a way of waiting that is not the usual one. */
void receiving_tell(struct session *session, struct writer_job *job);

/* Reads what the user brought of the peer's host, before anything is opened. */
int session_around_peer(struct session *session, struct tare_err *err) TARE_MUST_USE;
/* Opens the watch and writes the facts of the run's start; nothing without a recording. */
int session_around_begin(struct session *session, struct tare_err *err) TARE_MUST_USE;
/* Before a round: its first snapshot. During it: notices that have come in. After it: the second, into the sealed round. */
void session_around_start(struct session *session);
void session_around_take(struct session *session);
void session_around_seal(struct session *session, struct writer_job *job);
/* What differs at the end of the run. */
int session_around_end(struct session *session, struct tare_err *err) TARE_MUST_USE;
/* The same of the peer, from around.c; seal wants the job's fact_arena where there is a recording. */
void session_peer_begin(struct session *session);
void session_peer_start(struct session *session);
void session_peer_seal(struct session *session, struct writer_job *job);
void session_peer_free(struct session *session);
void session_around_free(struct session *session);

/*
 * A measuring thread: runs its targets' part of one round in session->spool. The first one has the placement the
 * user asked for and the clock readings that are kept; kinds that must be alone have further ones.
 */
enum { SESSION_SPARE_READINGS = 16 };
struct measurement {
	struct session *session;
	struct probe_round round;
	struct probe_target *targets[SPOOL_TARGETS_MAX];
	bool first;
	struct tare_reading spare[SESSION_SPARE_READINGS]; /* of all but the first */
	_Atomic uint64_t spare_count;
	pthread_t thread;
	struct tare_err err;            /* set when the thread could not be placed */
	bool failed;
};
/*
 * Whether every CPU carries a spinning thread of ours, so that nothing else may run until the round ends; waits for the
 * writer if so, and tells events->begin. It takes milliseconds: before times of the round are set.
 */
int session_quiet(struct session *session, const struct session_events *events, bool *ret_quiet,
		  struct tare_err *err) TARE_MUST_USE;
int session_measure(struct session *session, const struct session_events *events, bool quiet,
		    struct measurement *measurements, size_t count, bool *ret_interrupted,
		    struct tare_err *err) TARE_MUST_USE;

/* Seals what a spool holds; records, events and strings go into *ret_job's own arena. */
struct sealing_of_spool {
	const struct tare_run *run;
	const struct tare_target *targets; /* in order of position */
	const struct spool *spool;
	int64_t ended_mono_ns;
	const char *status;
};
int session_seal(const struct sealing_of_spool *sealing, struct writer_job **ret_job, struct tare_err *err) TARE_MUST_USE;
void writer_job_free(struct writer_job *job, bool remove_spool); /* NULL is fine */
