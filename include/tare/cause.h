/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a request was slow: evidence (intervals and moments seen by the kernel or
 * by the responder) and the cause that follows from it. Both are plain records;
 * a cause can be worked out again from the evidence in a recording. docs/causes.md
 * says what each word means and what it cannot tell.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "tare/sample.h"

/* X(id, name, help) */
#define TARE_WORDS(X)                                                                                       \
	X(NONE, "none", "nothing to explain")                                                               \
	X(PREEMPTED, "preempted", "another task took the CPU")                                              \
	X(RUN_QUEUE, "run queue", "ready to run, but the CPU was another task's")                           \
	X(MIGRATED, "migrated", "moved to another CPU in between")                                          \
	X(INTERRUPT, "interrupt", "an interrupt ran on the CPU")                                            \
	X(SOFTIRQ, "softirq", "a soft interrupt ran on the CPU")                                            \
	X(PAGE_FAULT, "page fault", "memory was not there")                                                 \
	X(BLOCKED, "blocked by itself", "slept although there was work")                                    \
	X(STOPPED, "stopped", "stopped by a signal (SIGSTOP) until it was continued")                       \
	X(IDLE, "idle exit", "the CPU had to be woken from idling")                                         \
	X(HARDWARE, "hypervisor or SMI", "ran, but the clock jumped: the CPU was elsewhere")                \
	X(BUSY, "busy itself", "ran its own code all the time")                                             \
	X(LOST, "lost", "no answer came")                                                                   \
	X(NETWORK, "network or peer without evidence", "the time was spent beyond what is watched")         \
	X(UNKNOWN, "unknown", "records of this time were lost")                                             \
	X(UNEXPLAINED, "unexplained", "watched, and nothing was seen that covers it")

enum tare_word {
#define X(id, name, help) TARE_WORD_##id,
	TARE_WORDS(X)
#undef X
	TARE_WORD_COUNT
};
/* "unknown" for a value outside of the list. Never NULL. */
TARE_API const char *tare_word_name(enum tare_word word);
TARE_API const char *tare_word_help(enum tare_word word);
/* False when no word has this name. */
TARE_API bool tare_word_by_name(const char *name, enum tare_word *ret_word);

enum { TARE_COMM_BYTES = 16 };

enum tare_evidence_kind {
	TARE_EVIDENCE_OFF,       /* the watched thread was off the CPU; pid and comm: whom it gave way to */
	TARE_EVIDENCE_RAN,       /* another task ran on a watched CPU */
	TARE_EVIDENCE_INTERRUPT, /* `detail`: number, or 0 with a name in comm */
	TARE_EVIDENCE_SOFTIRQ,   /* `detail`: vector */
	TARE_EVIDENCE_FAULT,     /* the watched thread met a page fault: a moment */
	TARE_EVIDENCE_CONTINUED, /* its process was continued after a stop: a moment */
	TARE_EVIDENCE_GAP,       /* with request `sequence`: it looked at the clock without end, and the clock jumped */
	TARE_EVIDENCE_MISSING,   /* records of this CPU (-1: of the thread) were lost */
	TARE_EVIDENCE_PEER,      /* what the responder says of request `sequence`: `detail` is its word */
	TARE_EVIDENCE_KINDS
};
enum tare_evidence_flag {
	TARE_EVIDENCE_PREEMPTED = 1 << 0, /* OFF: it wanted to go on */
	TARE_EVIDENCE_WAITING = 1 << 1,   /* OFF: waiting for what it is there for */
	TARE_EVIDENCE_SELF = 1 << 2,      /* OFF: slept in the middle of its work */
};

/* Intervals lie on the run's axis; what is noted with a request (PEER, GAP) has from = 0 and its duration as `to`. */
struct tare_evidence {
	int64_t from_ns, to_ns;
	uint8_t kind, flags;
	int16_t cpu, cpu_after; /* TARE_NO_CPU: not told; cpu_after: where OFF ended */
	int32_t pid, detail; /* pid 0: the CPU idled, -1: not told; OFF: detail ns before its end it was woken, 0: not
				told */
	char comm[TARE_COMM_BYTES];
	uint32_t target;        /* position; PEER and GAP only */
	int64_t sequence;       /* of the request; -1 for intervals */
};

/* What was found for one request. */
struct tare_cause {
	uint32_t target;        /* position */
	int64_t sequence;
	bool control;           /* one of the ordinary requests looked at for comparison */
	bool peer;              /* at the responder */
	bool injected;          /* the request was disturbed on purpose */
	bool weak;              /* this cause is as frequent among ordinary requests: it does not explain */
	enum tare_word word;
	int64_t excess_ns;      /* response over the round's median; TARE_NO_TIME without an answer */
	int64_t explained_ns;   /* what the evidence covers of it */
	int16_t cpu, cpu_after;
	int32_t pid, detail;
	char comm[TARE_COMM_BYTES];
};

/* What took a CPU during a round. */
enum tare_share_kind {
	TARE_SHARE_TASK,      /* another task ran; its name */
	TARE_SHARE_WAITED,    /* the measuring thread was ready and did not run; times: it was pushed aside */
	TARE_SHARE_INTERRUPT, /* landed there; the line's device or the kernel's short name ("LOC") */
	TARE_SHARE_SOFTIRQ,   /* the same of soft interrupts ("NET_RX") */
	TARE_SHARE_STEAL,     /* the hypervisor ran somebody else, in steps of the kernel's tick */
	TARE_SHARE_SMI,       /* system management interrupts, as the CPU counts them; invisible otherwise */
	TARE_SHARE_THROTTLED, /* times that heat or power cut its frequency */
	TARE_SHARE_KINDS
};
TARE_API const char *tare_share_kind_name(enum tare_share_kind kind);
enum tare_share_of { TARE_SHARE_OF_SENDER = 1 << 0, TARE_SHARE_OF_RESPONDER = 1 << 1 };
struct tare_share {
	int16_t cpu;
	uint8_t kind, of;   /* enum tare_share_of: whose CPU it was, as a set; 0: neither's */
	char name[TARE_COMM_BYTES];
	int64_t ns;         /* TARE_NO_TIME: only counted */
	uint64_t times;
};

/*
 * "peer preempted by stress-ng (pid 812) on CPU 25 for 1.539 ms": without the number of the request, no
 * full stop, foreign text as it is. `room` of 200 always does.
 */
TARE_API void tare_cause_sentence(const struct tare_cause *cause, char *ret_text, size_t room);
/*
 * "7 stalls: 5 preempted by stress-ng on CPU 25, 1 peer migrated 19->25, 1 unexplained" of the causes that are
 * no control; "" when there is none.
 */
TARE_API void tare_causes_summary(const struct tare_cause *causes, size_t count, char *ret_text, size_t room);
