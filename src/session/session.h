/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A measurement from start to end: targets opened, rounds run by a measuring
 * thread into spools, sealed, handed to the caller and written to the recording by
 * a thread of low priority. While every CPU carries a spinning thread of ours
 * nothing else of ours runs until the round ends: no writer, no progress.
 *
 * All functions are for one thread; SIGINT and SIGTERM must be blocked by it
 * (session_block_signals), since they are read as messages and not as interrupts.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/probe.h"
#include "tare/cause.h"
#include "tare/recording.h"
#include "tare/run.h"

/* How the measuring thread waits. BUSY_POLL: it spins, and each look drives the device's queue. */
enum session_receive { SESSION_RECEIVE_BLOCK, SESSION_RECEIVE_SPIN, SESSION_RECEIVE_EPOLL, SESSION_RECEIVE_BUSY_POLL };

/* AUTO: with --spin, where watching costs nothing until something disturbs. */
enum session_why { SESSION_WHY_AUTO, SESSION_WHY_ON, SESSION_WHY_OFF };

/*
 * A sweep: every round is one step of it, in order, and the whole as many times over as there are rounds. What a
 * step does not set is that of the configuration.
 */
enum { SESSION_STEPS_MAX = 64 };
struct session_step {
	int64_t every_ns;          /* 0: not set */
	size_t payload_bytes;      /* 0 */
	int source_port;           /* 0 */
	char label[64];            /* "size=512 rate=10k/s" */
};

struct session_config {
	const char *const *urls;
	size_t url_count;
	int family;                /* AF_UNSPEC, AF_INET, AF_INET6 */
	int64_t every_ns, jitter_ns, timeout_ns, for_ns; /* for_ns 0: by count */
	enum pacer_schedule schedule;
	uint32_t burst;            /* PACER_BURST: requests at once */
	uint64_t count;            /* requests per round and target beside the warm-up */
	uint32_t rounds, warmup;   /* rounds: of each step, if there are any */
	const struct session_step *steps; /* step_count of them, at most SESSION_STEPS_MAX; borrowed */
	size_t step_count;
	/*
	 * A step whose rate was not held (tare/rate.h), or that lost more than this share of its requests, is the last
	 * of its kind: steps of the same payload at its rate or a higher one are left out. Below 0: nothing is.
	 */
	double stop_loss;
	size_t payload_bytes;      /* 0: 64, or the kind's least where that is more */
	/* What a service is asked and must answer, with C escapes (probe/reply.h); NULL and 0: nothing of the kind. */
	const char *send, *expect, *expect_regex;
	size_t expect_bytes;
	struct probe_http http;
	uint8_t reply_dscp;        /* stamp: what replies shall leave with (RFC 8972, class of service) */
	const char *key_file;      /* stamp: authenticated mode (base/secret.h); NULL: no key */
	struct net_path path;      /* how packets are to travel; zero: as the system has it */
	enum probe_stamps stamps;
	bool set_nic_stamping;     /* the card may be set to stamp every packet; it is put back, whatever ends the run */
	enum probe_late on_late;
	int cpu, fifo;             /* -1 and 0: not asked */
	enum session_receive receive;
	bool spin;                 /* receive is SPIN or BUSY_POLL */
	unsigned idle_sockets;     /* EPOLL: beside the measuring ones */
	struct net_busy_poll busy_poll;
	uint64_t seed;             /* 0: drawn */
	enum session_why why;      /* watch the measuring thread and its CPUs */
	bool why_softirq;          /* soft interrupts too, which costs a record at both ends of each packet */
	const char *with;          /* command of a load that runs beside each round; NULL: none */
	bool mlock;                /* all memory of the process locked; refused when the system refuses */
	const char *inject;        /* holds of our own on purpose (cause/inject.h); NULL: none */
	const char *label;
	const char *output;        /* NULL: nothing is kept */
	bool append;
	const char *peer_facts;    /* a snapshot of the first target's host, as tare inspect -o writes them; NULL: none */
	bool ask_peer;             /* with a key: ask the first target's responder for its host's facts also without `output` */
	bool no_facts;             /* leaves out the host's facts and events around the rounds */
	const char *tool, *command_line;
	const struct tare_setting *settings;
	size_t setting_count;
};

struct session;

/* What is called between rounds and while waiting; each may be NULL. */
struct session_events {
	/* A sealed round; the records live until the function returns. -1 ends the run. */
	int (*round)(void *context, const struct tare_record *records, size_t count, struct tare_err *err);
	/* The causes of a round that was watched, stalls first, then the control; after `round` got its records. */
	void (*causes)(void *context, const struct tare_record *records, size_t count, const struct tare_cause *causes,
		size_t cause_count);
	/* A sentence about a round that has ended: who shared its CPUs, what a load did; before `causes`. */
	void (*say)(void *context, uint32_t round, const char *sentence);
	/* About twice a second or every progress_ms, only when a CPU is free of spinning threads. */
	void (*progress)(void *context, const struct session *session);
	unsigned progress_ms;      /* 0: 500; at least 100 */
	/* Before the first request of a round; quiet: neither progress nor input is called until its end. */
	void (*begin)(void *context, const struct session *session, bool quiet);
	/* When input_fd is readable while a round runs; true ends the run as a signal would. NULL: there is no input_fd. */
	bool (*input)(void *context);
	int input_fd;
	/* Something worth a line: memory not locked, a short sleep of the schedule, … */
	void (*note)(void *context, const char *text);
	void *context;
};

/* Resolves and opens all targets, and the recording; sends nothing. */
int session_open(const struct session_config *config, struct session **ret_session, struct tare_err *err) TARE_MUST_USE;
void session_free(struct session *session); /* NULL is fine */

/* Puts back what the card was set to. session_free does so too, but cannot tell of a failure. */
int session_card_back(struct session *session, struct tare_err *err) TARE_MUST_USE;

size_t session_targets(const struct session *session, const struct tare_target **ret_targets);
const struct tare_run *session_run_of(const struct session *session);
/* Requests per round and target, warm-up included; of the step under way. */
uint64_t session_slots(const struct session *session);

/* Blocks SIGINT and SIGTERM for this thread and those it starts. */
int session_block_signals(struct tare_err *err) TARE_MUST_USE;

/* What a run sees of its own causes. */
struct session_why_state {
	bool on, thread, cpus, interrupts, softirqs;
	size_t bytes;        /* of rings and evidence */
	int64_t cost_ns;     /* that a context switch takes longer meanwhile; TARE_NO_TIME: not measured */
	const char *missing; /* what is not seen, why, and what would allow it; "" when all is */
};
struct session_why_state session_why_of(const struct session *session);

enum session_ending { SESSION_COMPLETE, SESSION_INTERRUPTED };
/*
 * Runs all rounds. -1 when the run had to end with an error; what was measured until then has reached `round`
 * and the recording. *ret_end tells a run that was stopped by a signal.
 */
int session_run(struct session *session, const struct session_events *events, enum session_ending *ret_end,
		struct tare_err *err) TARE_MUST_USE;

/*
 * The same in parts, for those who do something between rounds: any number of
 * rounds, then the end. *ret_interrupted is set by a signal and never cleared.
 */
int session_round(struct session *session, const struct session_events *events, const char *label, bool *ret_interrupted,
		  struct tare_err *err) TARE_MUST_USE;
uint32_t session_round_number(const struct session *session);
/* Waits until every round is written; until the next round the writer is the caller's. NULL without a recording. */
int session_writer(struct session *session, struct tare_writer **ret_writer, struct tare_err *err) TARE_MUST_USE;
/* why: the error's text when it failed, else NULL. */
int session_end(struct session *session, enum tare_run_status status, const char *why, struct tare_err *err) TARE_MUST_USE;
/* Between rounds: waits; true as soon as a signal came. A signal is taken once. */
bool session_pause(const struct session *session, int64_t ns);
bool session_interrupted(const struct session *session);
int session_signals(const struct session *session); /* descriptor that is readable when a signal waits */
struct host_snapshot;
/*
 * What the first target's responder told of its host before and after the last round; the caller's then. False: it was
 * not asked, or one is missing.
 */
bool session_peer_take(struct session *session, struct host_snapshot **ret_start, struct host_snapshot **ret_end);
int64_t session_now_ns(const struct session *session); /* on the run's axis */

/* A look at the round under way, for progress. */
struct session_progress {
	uint32_t round, rounds;
	uint64_t slots, slots_all;  /* of all targets */
	uint64_t sent, answered, foreign, duplicate;
	int64_t left_ns;
};
struct session_progress session_progress_of(const struct session *session);

/* A request of the round under way whose fate is settled. */
struct session_glance {
	uint64_t sequence;
	int64_t due_ns;            /* since the first request of the round was due */
	int64_t late_ns, rtt_ns;   /* TARE_NO_TIME: it did not leave; no answer */
	uint8_t fate;              /* enum tare_fate */
};
/*
 * Requests from *next on, in order, up to the first whose answer may still come: what is seen is as old as the oldest
 * request under way, at most the timeout. Moves *next behind them; returns how many. For `progress`.
 */
size_t session_look(const struct session *session, size_t target, uint64_t *next, struct session_glance *ret_glances,
	size_t room);

/* ---- the plan in words ---- */

/* "10000 requests 1 ms apart, 10 s. Visible: up to p99.9 (10 behind); p99.99 needs 100000." */
void session_describe(const struct session_config *config, char *buffer, size_t room);
/* A sentence when the grid is commensurate with the kernel's tick; false when it is not. */
bool session_tick_note(const struct session_config *config, int64_t tick_ns, char *buffer, size_t room);

/* ---- after a crash ---- */

/*
 * Brings what spools still hold into an unfinished recording: rounds that were under way when the process
 * died; an event in the recording says so. Does nothing while that process lives, or without the right to
 * write: then `note` says what lies where ("" otherwise).
 */
int session_salvage(const char *path, char *note, size_t note_room, struct tare_err *err) TARE_MUST_USE;
