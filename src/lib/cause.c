/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Causes in words. Two causes count as one in a summary when a reader would act on them alike. */
#include "tare/cause.h"

#include <string.h>

#include "base/text.h"

static const struct { const char *name, *help; } words[TARE_WORD_COUNT] = {
#define X(id, name, help) {name, help},
	TARE_WORDS(X)
#undef X
};

const char *tare_word_name(enum tare_word word)
{
	return (unsigned)word < TARE_WORD_COUNT ? words[word].name : "unknown";
}

const char *tare_word_help(enum tare_word word)
{
	return (unsigned)word < TARE_WORD_COUNT ? words[word].help : "unknown";
}

bool tare_word_by_name(const char *name, enum tare_word *ret_word)
{
	for (int i = 0; i < TARE_WORD_COUNT; i++) {
		if (strcmp(words[i].name, name) == 0) {
			*ret_word = (enum tare_word)i;
			return true;
		}
	}
	return false;
}

const char *tare_share_kind_name(enum tare_share_kind kind)
{
	static const char *const names[TARE_SHARE_KINDS] = {[TARE_SHARE_TASK] = "task",
		[TARE_SHARE_WAITED] = "waited",
		[TARE_SHARE_INTERRUPT] = "interrupt",
		[TARE_SHARE_SOFTIRQ] = "softirq",
		[TARE_SHARE_STEAL] = "steal",
		[TARE_SHARE_SMI] = "SMI",
		[TARE_SHARE_THROTTLED] = "throttled"};
	return (unsigned)kind < TARE_SHARE_KINDS ? names[kind] : "unknown";
}

static const char *softirq_name(int32_t vector)
{
	static const char *const names[] = {
		"hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched", "hrtimer", "rcu"};
	return vector >= 0 && vector < (int32_t)(sizeof names / sizeof *names) ? names[vector] : "?";
}

/* Foreign names may hold anything but are printed in the middle of a sentence. */
static void add_name(struct text *text, const char *comm)
{
	for (size_t i = 0; i < TARE_COMM_BYTES && comm[i]; i++)
		text_add(text, "%c", (unsigned char)comm[i] < ' ' || comm[i] == 127 ? '?' : comm[i]);
}

static void add_cpu(struct text *text, int16_t cpu)
{
	if (cpu >= 0)
		text_add(text, " on CPU %d", cpu);
}

static void add_who(struct text *text, const struct tare_cause *cause, bool with_pid)
{
	if (cause->comm[0])
		add_name(text, cause->comm);
	else
		text_add(text, "another task");
	if (with_pid && cause->pid > 0)
		text_add(text, " (pid %d)", cause->pid);
}

/* The words without time: what a summary counts together. */
static void add_what(struct text *text, const struct tare_cause *cause, bool with_pid)
{
	if (cause->peer && cause->word != TARE_WORD_NETWORK)
		text_add(text, "peer ");
	switch (cause->word) {
	case TARE_WORD_PREEMPTED:
		text_add(text, "preempted by ");
		add_who(text, cause, with_pid);
		add_cpu(text, cause->cpu);
		break;
	case TARE_WORD_RUN_QUEUE:
		text_add(text, "waited in the run queue behind ");
		add_who(text, cause, with_pid);
		add_cpu(text, cause->cpu);
		break;
	case TARE_WORD_MIGRATED:
		text_add(text, "migrated %d->%d", cause->cpu, cause->cpu_after);
		break;
	case TARE_WORD_INTERRUPT:
		text_add(text, "held by interrupt ");
		if (cause->comm[0])
			add_name(text, cause->comm);
		else
			text_add(text, "%d", cause->detail);
		add_cpu(text, cause->cpu);
		break;
	case TARE_WORD_SOFTIRQ:
		text_add(text, "held by softirq %s", softirq_name(cause->detail));
		add_cpu(text, cause->cpu);
		break;
	case TARE_WORD_NETWORK:
		text_add(text, "%s", cause->peer ? "peer, which showed no evidence" : "network or peer without evidence");
		break;
	case TARE_WORD_IDLE:
	case TARE_WORD_HARDWARE:
		text_add(text, "%s", tare_word_name(cause->word));
		add_cpu(text, cause->cpu);
		break;
	default:
		text_add(text, "%s", tare_word_name(cause->word));
		break;
	}
}

static bool has_evidence(enum tare_word word)
{
	return word != TARE_WORD_NONE && word < TARE_WORD_LOST;
}

void tare_cause_sentence(const struct tare_cause *cause, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	char length[32];
	add_what(&text, cause, true);
	if (has_evidence(cause->word) && cause->explained_ns > 0) {
		format_duration(cause->explained_ns, length, sizeof length);
		text_add(&text, " for %s", length);
		if (cause->excess_ns > cause->explained_ns)
			text_add(&text, " (%d %% of the excess)",
				(int)(100.0 * (double)cause->explained_ns / (double)cause->excess_ns));
	}
	if (cause->weak)
		text_add(&text, ", as ordinary requests were: does not explain");
	if (cause->injected)
		text_add(&text, " [injected]");
}

struct tally {
	char what[96];
	size_t count;
};

/* Most frequent first; kinds beyond the room of the list are added up as "others". */
void tare_causes_summary(const struct tare_cause *causes, size_t count, char *ret_text, size_t room)
{
	enum { KINDS = 24, SHOWN = 6 };
	struct tally tally[KINDS];
	size_t kinds = 0, all = 0, others = 0;
	struct text text = {.bytes = ret_text, .room = room};
	if (room)
		ret_text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		struct tally one = {.count = 1};
		struct text what = TEXT_IN(one.what);
		if (causes[i].control)
			continue;
		all++;
		add_what(&what, &causes[i], false);
		size_t at = 0;
		while (at < kinds && strcmp(tally[at].what, one.what) != 0)
			at++;
		if (at == KINDS) {
			others++;
			continue;
		}
		if (at == kinds)
			tally[kinds++] = one;
		else
			tally[at].count++;
	}
	if (all == 0)
		return;
	text_add(&text, "%zu %s: ", all, all == 1 ? "stall" : "stalls");
	for (size_t shown = 0; shown < SHOWN && shown < kinds; shown++) {
		size_t most = shown;
		for (size_t i = shown + 1; i < kinds; i++)
			most = tally[i].count > tally[most].count ? i : most;
		struct tally swap = tally[shown];
		tally[shown] = tally[most];
		tally[most] = swap;
		text_add(&text, "%s%zu %s", shown ? ", " : "", tally[shown].count, tally[shown].what);
	}
	for (size_t i = SHOWN; i < kinds; i++)
		others += tally[i].count;
	if (others)
		text_add(&text, ", %zu others", others);
}
