/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading "delay 2ms every 1000, drop 1%" and carrying it out. A CPU that cannot
 * be moved to is refused when the text is read, since the thread that will move
 * has nobody to tell.
 */
#include "cause/inject.h"

#include <sched.h>
#include <string.h>

#include "base/text.h"
#include "clock/clock.h"
#include "clock/cpu.h"
#include "clock/pacer.h"

enum { WORDS_MAX = 4, WORD_BYTES = 32 };

static const char *const what_words[] = {
	[INJECT_DELAY] = "delay",
	[INJECT_STOP] = "stop",
	[INJECT_MIGRATE] = "migrate",
	[INJECT_DROP] = "drop",
	[INJECT_DUPLICATE] = "duplicate",
	[INJECT_REORDER] = "reorder",
	NULL,
};

struct words {
	char word[WORDS_MAX][WORD_BYTES];
	int count;
};

/* The words up to the next comma; -1 when there are too many or one is too long. */
static int split(const char **at, struct words *ret_words)
{
	ret_words->count = 0;
	for (;;) {
		*at += strspn(*at, " \t");
		size_t length = strcspn(*at, " \t,");
		if (length == 0)
			break;
		if (ret_words->count == WORDS_MAX || length >= WORD_BYTES)
			return -1;
		memcpy(ret_words->word[ret_words->count], *at, length);
		ret_words->word[ret_words->count++][length] = '\0';
		*at += length;
	}
	return 0;
}

static int read_what(const char *word, enum inject_side side, enum inject_what *ret_what, struct tare_err *err)
{
	int what = 0;
	while (what_words[what] && strcmp(what_words[what], word) != 0)
		what++;
	if (!what_words[what]) {
		const char *near = nearest_word(word, what_words);
		return tare_fail(err, TARE_E_USAGE, "unknown fault '%s'%s%s; there are delay, stop, migrate%s", word,
			near ? ", nearest is " : "", near ? near : "",
			side == INJECT_SENDER ? "" : ", drop, duplicate and reorder");
	}
	if (side == INJECT_SENDER && what >= INJECT_DROP)
		return tare_fail(
			err, TARE_E_USAGE, "a sender can delay, stop and migrate itself; '%s' is for tare echo", word);
	*ret_what = (enum inject_what)what;
	return 0;
}

static int read_share(const char *word, struct inject_fault *fault, struct tare_err *err)
{
	char number[WORD_BYTES];
	double percent;
	size_t length = strlen(word) - 1;
	memcpy(number, word, length);
	number[length] = '\0';
	if (parse_number(number, &percent, err) < 0)
		return -1;
	if (!(percent > 0 && percent <= 100))
		return tare_fail(err, TARE_E_USAGE, "'%s' is no share of requests", word);
	fault->when = INJECT_SHARE;
	/* 2^64 itself does not fit */
	fault->threshold = percent >= 100 ? UINT64_MAX : (uint64_t)(percent / 100 * 18446744073709551616.0);
	return 0;
}

static int read_cpu(const char *word, int *ret_cpu, struct tare_err *err)
{
	size_t count = 0;
	if (parse_cpu_list(word, ret_cpu, 1, &count, err) < 0 || count != 1)
		return tare_fail(err, TARE_E_USAGE, "migrate needs one CPU, not '%s'", word);
	return cpu_check(*ret_cpu, err);
}

static int read_when(const struct words *words, int at, struct inject_fault *fault, struct tare_err *err)
{
	const char *word = at < words->count ? words->word[at] : "";
	size_t length = strlen(word);
	if (length > 1 && word[length - 1] == '%' && at + 1 == words->count)
		return read_share(word, fault, err);
	bool every = strcmp(word, "every") == 0;
	if ((!every && strcmp(word, "at") != 0) || at + 2 != words->count)
		return tare_fail(err, TARE_E_USAGE, "'%s' needs to know when: 'every 1000', 'at 3000' or '1%%'",
			what_words[fault->what]);
	fault->when = every ? INJECT_EVERY : INJECT_AT;
	if (parse_count(words->word[at + 1], &fault->number, err) < 0)
		return -1;
	return fault->number ? 0 : tare_fail(err, TARE_E_USAGE, "requests are counted from 1 for '%s'", word);
}

static int read_fault(
	const struct words *words, enum inject_side side, struct inject_fault *fault, struct tare_err *err)
{
	int at = 1;
	if (words->count == 0)
		return tare_fail(err, TARE_E_USAGE, "an empty fault; one is 'delay 2ms every 1000'");
	*fault = (struct inject_fault){.cpu = -1};
	if (read_what(words->word[0], side, &fault->what, err) < 0)
		return -1;
	if (fault->what <= INJECT_MIGRATE && words->count < 2)
		return tare_fail(err, TARE_E_USAGE, "'%s' needs a %s", words->word[0],
			fault->what == INJECT_MIGRATE ? "CPU, as 'migrate 1 at 6000'" : "time, as '2ms'");
	if (fault->what == INJECT_DELAY || fault->what == INJECT_STOP) {
		if (parse_duration_ns(words->word[at++], &fault->ns, err) < 0)
			return -1;
		if (fault->ns > INT64_C(60000000000))
			return tare_fail(
				err, TARE_E_USAGE, "%s %s: more than a minute", words->word[0], words->word[1]);
	} else if (fault->what == INJECT_MIGRATE && read_cpu(words->word[at++], &fault->cpu, err) < 0) {
		return -1;
	}
	return read_when(words, at, fault, err);
}

int inject_parse(const char *text, enum inject_side side, struct inject_plan *ret_plan, struct tare_err *err)
{
	struct inject_plan plan = {.seed = 0x7461726500000000};
	struct words words;
	const char *at = text;
	for (;;) {
		if (plan.count == INJECT_FAULTS_MAX)
			return tare_fail(err, TARE_E_USAGE, "more than %d faults to inject", INJECT_FAULTS_MAX);
		if (split(&at, &words) < 0)
			return tare_fail(err, TARE_E_USAGE,
				"cannot read the fault before '%.20s'; one is 'delay 2ms every 1000'", at);
		if (read_fault(&words, side, &plan.fault[plan.count++], err) < 0)
			return tare_err_prefix(err, "--inject");
		if (*at == '\0')
			break;
		at++;
	}
	*ret_plan = plan;
	return 0;
}

static bool hits(const struct inject_plan *plan, size_t i, uint64_t number, uint64_t draw)
{
	const struct inject_fault *fault = &plan->fault[i];
	if (fault->when == INJECT_AT)
		return number == fault->number;
	if (fault->when == INJECT_EVERY)
		return number > 0 && number % fault->number == 0;
	return pacer_mix(plan->seed + i, draw) < fault->threshold;
}

bool inject_at(const struct inject_plan *plan, uint64_t number, uint64_t draw, struct inject_due *ret_due)
{
	bool any = false;
	*ret_due = (struct inject_due){.cpu = -1};
	for (size_t i = 0; i < plan->count; i++) {
		const struct inject_fault *fault = &plan->fault[i];
		if (!hits(plan, i, number, draw))
			continue;
		any = true;
		switch (fault->what) {
		case INJECT_DELAY:
			ret_due->delay_ns += fault->ns;
			break;
		case INJECT_STOP:
			ret_due->stop_ns += fault->ns;
			break;
		case INJECT_MIGRATE:
			ret_due->cpu = fault->cpu;
			break;
		case INJECT_DROP:
			ret_due->drop = true;
			break;
		case INJECT_DUPLICATE:
			ret_due->duplicate = true;
			break;
		case INJECT_REORDER:
			ret_due->reorder = true;
			break;
		}
	}
	return any;
}

static void move_to(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

void inject_hold(const struct inject_due *due)
{
	if (due->cpu >= 0)
		move_to(due->cpu);
	if (due->stop_ns > 0) {
		struct timespec until = clock_timespec(clock_mono_now().ns + due->stop_ns);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	int64_t until_ns = clock_mono_now().ns + due->delay_ns;
	while (due->delay_ns > 0 && clock_mono_now().ns < until_ns)
		continue;
}
