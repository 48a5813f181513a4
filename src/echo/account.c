/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Most replies need no explanation: they only keep the kernel's ring empty. A late
 * one is held against the last few pieces of evidence, which costs about 2 µs,
 * behind a delay that was longer.
 */
#include "echo/account.h"

#include <sched.h>
#include <string.h>

#include "cause/continued.h"
#include "cause/explain.h"
#include "clock/cpu.h"

enum { RECENT = 256 };
/* Shorter requests are not late, whatever is usual. */
#define LATE_LEAST_NS ((int64_t)5000)

int account_open(struct account *account, int cpu, bool softirqs, bool spin, struct tare_err *err)
{
	int cpus[WATCH_CPUS_MAX];
	size_t count = 0;
	cpu_set_t set;
	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET((size_t)cpu, &set);
	else
		sched_getaffinity(0, sizeof set, &set);
	for (int i = 0; i < CPU_SETSIZE && count < WATCH_CPUS_MAX; i++)
		if (CPU_ISSET((size_t)i, &set))
			cpus[count++] = i;
	struct watch_plan plan = {
		.cpus = cpus, .cpu_count = count, .room = RECENT, .sums = true, .recent = true, .softirqs = softirqs};
	*account = (struct account){.spin = spin, .last_tx_ns = clock_mono_now().ns};
	if (watch_open(&plan, &account->watch, err) < 0)
		return -1;
	watch_thread(account->watch);
	account->since_ns = clock_mono_now().ns;
	return 0;
}

void account_shares(struct account *account, struct account_shares *ret_shares)
{
	/* a thousandth of the time is what a reader asks about */
	ret_shares->watched_ns = clock_mono_now().ns - account->since_ns;
	watch_drain(account->watch);
	ret_shares->count = watch_shares(
		account->watch, ret_shares->watched_ns / 1000, ret_shares->row, ACCOUNT_ROWS, &ret_shares->missing);
}

void account_close(struct account *account)
{
	watch_free(account->watch);
	account->watch = NULL;
}

static void note_continued(struct account *account)
{
	int64_t at_ns = continued_at_ns();
	if (at_ns == account->continued_ns)
		return;
	account->continued_ns = at_ns;
	struct tare_evidence item = {.from_ns = at_ns,
		.to_ns = at_ns,
		.kind = TARE_EVIDENCE_CONTINUED,
		.cpu = TARE_NO_CPU,
		.cpu_after = TARE_NO_CPU,
		.pid = -1,
		.sequence = -1};
	watch_add(account->watch, &item);
}

static uint32_t fit(int64_t ns)
{
	return ns <= 0 ? 0 : ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static int64_t minimum(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Time on the CPU for others or for this request: what came while an earlier one was being answered waited for
 * that, and this one's own service. `off_ns` is what it spent off the CPU in all.
 */
static void add_busy(const struct account *account, const struct explain_index *index, int64_t from_ns, int64_t user_ns,
	int64_t to_ns, struct explain_sums *sums)
{
	struct explain_sums off = {0};
	struct explain_window before = {from_ns, minimum(account->last_tx_ns, to_ns), TARE_NO_CPU, true};
	struct explain_window service = {user_ns, to_ns, TARE_NO_CPU, true};
	int64_t busy_ns = to_ns - user_ns;
	if (before.to_ns > from_ns) {
		explain_window(index, &before, &off);
		busy_ns += before.to_ns - from_ns;
	}
	explain_window(index, &service, &off);
	sums->part[TARE_WORD_BUSY].ns = busy_ns - off.off_ns;
}

static int64_t all_of(const struct explain_sums *sums)
{
	int64_t ns = 0;
	for (int word = TARE_WORD_NONE + 1; word < TARE_WORD_COUNT; word++)
		ns += sums->part[word].ns;
	return ns;
}

static void explain(
	struct account *account, int64_t from_ns, int64_t user_ns, int64_t to_ns, struct stamp_reason *reason)
{
	int64_t latest_ns[RECENT];
	const struct tare_evidence *items;
	struct explain_sums sums = {0};
	note_continued(account);
	watch_mark_off(account->watch, account->last_tx_ns, user_ns, account->spin, to_ns);
	size_t count = watch_evidence(account->watch, &items);
	explain_latest(items, count, latest_ns);
	struct explain_index index = {items, latest_ns, count};
	int16_t cpu = (int16_t)cpu_current();
	explain_window(&index, &(struct explain_window){from_ns, to_ns, cpu, true}, &sums);
	add_busy(account, &index, from_ns, user_ns, to_ns, &sums);
	int64_t rest_ns = to_ns - from_ns - all_of(&sums);
	/* it never slept, no interrupt and no other task ran, and yet time is missing */
	if (account->spin && watch_has_softirqs(account->watch) && !sums.missing)
		sums.part[TARE_WORD_HARDWARE].ns = rest_ns;
	enum tare_word word = explain_largest(&sums);
	const struct explain_part *part = &sums.part[word];
	if (sums.missing && part->ns < (to_ns - from_ns) / 2)
		word = TARE_WORD_UNKNOWN;
	*reason = (struct stamp_reason){
		.word = (uint8_t)word,
		.detail = (uint16_t)part->detail,
		.cpu_before = part->longest_ns && part->cpu >= 0 ? (uint16_t)part->cpu : (uint16_t)cpu,
		.cpu_after = part->longest_ns && part->cpu_after >= 0 ? (uint16_t)part->cpu_after : (uint16_t)cpu,
		.pid = part->longest_ns ? part->pid : -1,
		.covered_ns = fit(part->ns),
		.off_ns = fit(sums.off_ns),
	};
	memcpy(reason->comm, part->comm, sizeof reason->comm);
}

void account_reason(struct account *account, clock_real kernel_rx, clock_real user_rx, struct stamp_reason *ret_reason)
{
	int64_t mono_ns = clock_mono_now().ns, offset_ns = clock_real_now().ns - mono_ns;
	int64_t user_ns = user_rx.ns - offset_ns, from_ns = kernel_rx.ns ? kernel_rx.ns - offset_ns : user_ns;
	int64_t took_ns = mono_ns - from_ns;
	*ret_reason = (struct stamp_reason){.cpu_before = STAMP_NO_CPU, .cpu_after = STAMP_NO_CPU, .pid = -1};
	bool late = took_ns > LATE_LEAST_NS && took_ns > 2 * account->usual_ns;
	/* slowly towards what is usual: a stall moves it by 1 % of itself at most */
	account->usual_ns += (minimum(took_ns, 2 * account->usual_ns + 1000) - account->usual_ns) / 64;
	if (late || watch_thread_waiting(account->watch))
		watch_drain(account->watch);
	if (late)
		explain(account, from_ns, user_ns, mono_ns, ret_reason);
}

void account_sent(struct account *account)
{
	account->last_tx_ns = clock_mono_now().ns;
	/* here it delays no reply; a spinning thread that nobody disturbs has no other reason to look */
	if (watch_crowded(account->watch))
		watch_drain(account->watch);
}
