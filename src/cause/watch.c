/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From perf records to evidence. The thread's own ring is in the order of time
 * whatever CPUs it moves over; each CPU's ring tells who else ran there. They are
 * read one after the other and sorted afterwards, so nothing here depends on how
 * they interleave.
 */
#include "cause/watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "cause/names.h"
#include "cause/ring.h"
#include "cause/shares.h"
#include "cause/tracepoint.h"
#include "cause/wakeups.h"
#include "clock/clock.h"

enum { THREAD_PAGES = 64, CPU_PAGES = 128, SOFTIRQ_PAGES = 1024, CROWDED_BYTES = 4096 };
/* Shorter interrupts are within the noise of a clock reading and would fill the memory. */
#define SHORTEST_NS ((int64_t)300)

enum tag {
	TAG_FAULT,
	TAG_IRQ,
	TAG_IRQ_END,
	TAG_SOFTIRQ,
	TAG_SOFTIRQ_END,
	TAG_TIMER,
	TAG_TIMER_END,
	TAG_CALL,
	TAG_CALL_END,
	TAG_CALLS,
	TAG_CALLS_END,
	TAG_RESCHEDULE,
	TAG_RESCHEDULE_END,
	TAG_COUNT
};

/* Entry and exit of what may take a CPU from a task without a switch; the kernel lets nobody sample irq_work_exit. */
static const struct {
	const char *event, *name;
} points[TAG_COUNT] = {
	[TAG_IRQ] = {"irq/irq_handler_entry", NULL},
	[TAG_IRQ_END] = {"irq/irq_handler_exit", NULL},
	[TAG_SOFTIRQ] = {"irq/softirq_entry", NULL},
	[TAG_SOFTIRQ_END] = {"irq/softirq_exit", NULL},
	[TAG_TIMER] = {"irq_vectors/local_timer_entry", "timer"},
	[TAG_TIMER_END] = {"irq_vectors/local_timer_exit", "timer"},
	[TAG_CALL] = {"irq_vectors/call_function_single_entry", "call"},
	[TAG_CALL_END] = {"irq_vectors/call_function_single_exit", "call"},
	[TAG_CALLS] = {"irq_vectors/call_function_entry", "call"},
	[TAG_CALLS_END] = {"irq_vectors/call_function_exit", "call"},
	[TAG_RESCHEDULE] = {"irq_vectors/reschedule_entry", "reschedule"},
	[TAG_RESCHEDULE_END] = {"irq_vectors/reschedule_exit", "reschedule"},
};

struct cpu_watch {
	struct ring ring;
	int cpu;
	int32_t running; /* tid, -1: not known */
	int64_t since_ns, last_ns, began_ns[TAG_COUNT];
	int32_t detail[TAG_COUNT];
	char name[TAG_COUNT][TARE_COMM_BYTES];
	struct cpu_shares sums; /* of all that was drained */
	struct tare_share pushed;
};

struct watch {
	unsigned cpu_pages; /* of each CPU's ring */
	struct tare_evidence *item;
	size_t count, room, cpu_count, looked_at;
	bool recent, sums, full, sorted, interrupts, softirqs, has_thread;
	uint64_t lost;
	int32_t tid;
	struct ring thread;
	int64_t off_ns, last_ns; /* OUT without its IN yet; last record */
	int16_t off_cpu;
	bool off_preempt;
	struct cpu_watch *cpu;
	struct wakeups wakeups;
	struct names names;
	struct tracepoint_field vector, irq, irq_name;
	char missing[512];
};

static int by_end(const void *left, const void *right)
{
	int64_t a = ((const struct tare_evidence *)left)->to_ns, b = ((const struct tare_evidence *)right)->to_ns;
	return (a > b) - (a < b);
}

/*
 * By time, not by arrival: the thread's ring is read before those of its CPUs, where a second of timer interrupts may
 * wait, and would be the first to be forgotten.
 */
static void forget_older_half(struct watch *watch)
{
	size_t half = watch->room / 2;
	qsort(watch->item, watch->count, sizeof *watch->item, by_end);
	memmove(watch->item, watch->item + watch->count - half, half * sizeof *watch->item);
	watch->count = half;
	watch->sorted = false;
}

void watch_add(struct watch *watch, const struct tare_evidence *item)
{
	if (watch->count == watch->room && watch->recent)
		forget_older_half(watch);
	if (watch->count == watch->room) {
		/* the last piece says from when on nothing was kept */
		if (!watch->full)
			watch->item[watch->room - 1] = (struct tare_evidence){.from_ns = item->from_ns,
				.to_ns = INT64_MAX,
				.kind = TARE_EVIDENCE_MISSING,
				.cpu = TARE_NO_CPU,
				.cpu_after = TARE_NO_CPU,
				.pid = -1,
				.sequence = -1};
		watch->full = true;
		return;
	}
	watch->item[watch->count++] = *item;
	watch->sorted = false;
}

static struct tare_evidence piece(enum tare_evidence_kind kind, int64_t from_ns, int64_t to_ns, int16_t cpu)
{
	return (struct tare_evidence){.from_ns = from_ns,
		.to_ns = to_ns,
		.kind = (uint8_t)kind,
		.cpu = cpu,
		.cpu_after = cpu,
		.pid = -1,
		.sequence = -1};
}

static void add_missing(struct watch *watch, int64_t from_ns, const struct ring_record *record, int16_t cpu)
{
	struct tare_evidence item = piece(TARE_EVIDENCE_MISSING, from_ns, record->at_ns, cpu);
	watch->lost += record->lost;
	watch_add(watch, &item);
}

/* Evidence of one CPU: kept while there is room, and in its sums for good. */
static void add_of_cpu(struct watch *watch, struct cpu_watch *cpu, const struct tare_evidence *item)
{
	if (watch->sums)
		cpu_shares_add(&cpu->sums, item, item->to_ns - item->from_ns);
	watch_add(watch, item);
}

/* ---- the thread ---- */

static void sum_pushed(struct watch *watch, const struct tare_evidence *off)
{
	for (size_t i = 0; off->flags & TARE_EVIDENCE_PREEMPTED && i < watch->cpu_count; i++) {
		struct tare_share *pushed = &watch->cpu[i].pushed;
		if (watch->cpu[i].cpu != off->cpu)
			continue;
		pushed->ns += off->to_ns - off->from_ns;
		pushed->times++;
	}
}

static void take_thread_record(struct watch *watch, const struct ring_record *record)
{
	switch (record->type) {
	case RING_SWITCH_OUT:
		watch->off_ns = record->at_ns;
		watch->off_cpu = record->cpu;
		watch->off_preempt = record->preempt;
		break;
	case RING_SWITCH_IN:
		if (watch->off_ns) {
			struct tare_evidence item =
				piece(TARE_EVIDENCE_OFF, watch->off_ns, record->at_ns, watch->off_cpu);
			item.cpu_after = record->cpu;
			item.flags = watch->off_preempt ? TARE_EVIDENCE_PREEMPTED : 0;
			sum_pushed(watch, &item);
			watch_add(watch, &item);
		}
		watch->off_ns = 0;
		break;
	case RING_EVENT:
		if (record->tag == TAG_FAULT) {
			struct tare_evidence item =
				piece(TARE_EVIDENCE_FAULT, record->at_ns, record->at_ns, record->cpu);
			watch_add(watch, &item);
		}
		break;
	case RING_LOST:
		add_missing(watch, watch->last_ns, record, TARE_NO_CPU);
		watch->off_ns = 0;
		break;
	case RING_NAME:
	case RING_FORK:
		break;
	}
	watch->last_ns = record->at_ns;
}

/* ---- CPUs ---- */

static void ran_until(struct watch *watch, struct cpu_watch *cpu, int32_t tid, int64_t at_ns)
{
	if (tid > 0 && tid != watch->tid && cpu->since_ns) {
		struct tare_evidence item = piece(TARE_EVIDENCE_RAN, cpu->since_ns, at_ns, (int16_t)cpu->cpu);
		item.pid = tid;
		memcpy(item.comm, names_get(&watch->names, tid, 1),
			strnlen(names_get(&watch->names, tid, 0), TARE_COMM_BYTES - 1));
		add_of_cpu(watch, cpu, &item);
	}
	cpu->since_ns = at_ns;
}

static void begin_interrupt(struct watch *watch, struct cpu_watch *cpu, const struct ring_record *record)
{
	int tag = record->tag;
	cpu->began_ns[tag] = record->at_ns;
	cpu->detail[tag] = 0;
	cpu->name[tag][0] = '\0';
	if (tag == TAG_SOFTIRQ) {
		cpu->detail[tag] = (int32_t)tracepoint_number(record->raw, record->raw_bytes, &watch->vector);
	} else if (tag == TAG_IRQ) {
		cpu->detail[tag] = (int32_t)tracepoint_number(record->raw, record->raw_bytes, &watch->irq);
		tracepoint_text(record->raw, record->raw_bytes, &watch->irq_name, cpu->name[tag], TARE_COMM_BYTES);
	} else {
		snprintf(cpu->name[tag], TARE_COMM_BYTES, "%s", points[tag].name);
	}
}

/* An even tag ends what the odd one before it began. */
static void end_interrupt(struct watch *watch, struct cpu_watch *cpu, const struct ring_record *record)
{
	int tag = record->tag - 1;
	int64_t from_ns = cpu->began_ns[tag];
	cpu->began_ns[tag] = 0;
	if (!from_ns || record->at_ns - from_ns < SHORTEST_NS)
		return;
	struct tare_evidence item = piece(tag == TAG_SOFTIRQ ? TARE_EVIDENCE_SOFTIRQ : TARE_EVIDENCE_INTERRUPT, from_ns,
		record->at_ns, (int16_t)cpu->cpu);
	item.detail = cpu->detail[tag];
	memcpy(item.comm, cpu->name[tag], TARE_COMM_BYTES);
	add_of_cpu(watch, cpu, &item);
}

static void take_cpu_record(struct watch *watch, struct cpu_watch *cpu, const struct ring_record *record)
{
	switch (record->type) {
	case RING_SWITCH_OUT:
		ran_until(watch, cpu, (int32_t)record->tid, record->at_ns);
		break;
	case RING_SWITCH_IN:
		cpu->since_ns = record->at_ns;
		cpu->running = (int32_t)record->tid;
		break;
	case RING_NAME:
		names_put(&watch->names, (int32_t)record->tid, record->comm);
		break;
	case RING_FORK:
		names_put(&watch->names, (int32_t)record->tid, names_get(&watch->names, record->other_tid, 0));
		break;
	case RING_EVENT:
		if (record->tag > TAG_FAULT && record->tag % 2 == TAG_IRQ % 2)
			begin_interrupt(watch, cpu, record);
		else if (record->tag > TAG_FAULT)
			end_interrupt(watch, cpu, record);
		break;
	case RING_LOST:
		add_missing(watch, cpu->last_ns, record, (int16_t)cpu->cpu);
		cpu->sums.missing = true;
		memset(cpu->began_ns, 0, sizeof cpu->began_ns);
		cpu->since_ns = 0;
		break;
	}
	cpu->last_ns = record->at_ns;
}

/* From the last record that fitted until now nothing is known. */
static void add_overflow(struct watch *watch, int64_t last_ns, int16_t cpu)
{
	struct tare_evidence item = piece(TARE_EVIDENCE_MISSING, last_ns, clock_mono_now().ns, cpu);
	watch->lost++;
	watch_add(watch, &item);
}

static void drain_thread(struct watch *watch)
{
	struct ring_record record;
	bool full = ring_full(&watch->thread);
	while (ring_next(&watch->thread, &record))
		take_thread_record(watch, &record);
	if (!full)
		return;
	add_overflow(watch, watch->last_ns, TARE_NO_CPU);
	watch->off_ns = 0;
}

static void drain_cpu(struct watch *watch, struct cpu_watch *cpu)
{
	struct ring_record record;
	bool full = ring_full(&cpu->ring);
	while (ring_next(&cpu->ring, &record))
		take_cpu_record(watch, cpu, &record);
	if (!full)
		return;
	add_overflow(watch, cpu->last_ns, (int16_t)cpu->cpu);
	memset(cpu->began_ns, 0, sizeof cpu->began_ns);
	cpu->since_ns = 0;
}

void watch_drain(struct watch *watch)
{
	size_t known = watch->count;
	if (watch->has_thread) {
		drain_thread(watch);
		/* sleeps that have ended since; where old pieces are forgotten meanwhile all are few */
		known = watch->recent ? 0 : known;
		wakeups_drain(&watch->wakeups, watch->item + known, watch->count - known);
	}
	for (size_t i = 0; i < watch->cpu_count; i++)
		drain_cpu(watch, &watch->cpu[i]);
}

bool watch_thread_waiting(const struct watch *watch)
{
	return watch->has_thread && ring_waiting(&watch->thread);
}

bool watch_crowded(struct watch *watch)
{
	if (watch->cpu_count == 0)
		return false;
	watch->looked_at = (watch->looked_at + 1) % watch->cpu_count;
	return ring_bytes_waiting(&watch->cpu[watch->looked_at].ring) > CROWDED_BYTES;
}

void watch_clear(struct watch *watch)
{
	watch_drain(watch);
	watch->count = 0;
	watch->full = false;
	watch->lost = 0;
}

void watch_mark_off(struct watch *watch, int64_t idle_ns, int64_t user_ns, bool spins, int64_t to_ns)
{
	for (size_t i = 0; i < watch->count; i++) {
		struct tare_evidence *item = &watch->item[i];
		if (item->kind != TARE_EVIDENCE_OFF || item->flags || item->from_ns < idle_ns || item->from_ns >= to_ns)
			continue;
		item->flags |= item->from_ns < user_ns && !spins ? TARE_EVIDENCE_WAITING : TARE_EVIDENCE_SELF;
	}
}

size_t watch_shares(struct watch *watch, int64_t least_ns, struct tare_share *ret_rows, size_t room, bool *ret_missing)
{
	size_t n = 0, i = 0;
	*ret_missing = false;
	for (; watch->sums && i < watch->cpu_count && n + SHARES_ROWS <= room; i++) {
		struct cpu_watch *cpu = &watch->cpu[i];
		cpu_shares_sort(&cpu->sums);
		*ret_missing |= cpu->sums.missing;
		n += cpu_shares_rows(&cpu->sums, (int16_t)cpu->cpu, TARE_SHARE_OF_RESPONDER, least_ns,
			cpu->pushed.times ? &cpu->pushed : NULL, ret_rows + n);
	}
	*ret_missing |= watch->sums && i < watch->cpu_count;
	return n;
}

static int by_beginning(const void *left, const void *right)
{
	const struct tare_evidence *a = left, *b = right;
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return a->to_ns < b->to_ns ? -1 : a->to_ns > b->to_ns;
}

size_t watch_evidence(struct watch *watch, const struct tare_evidence **ret_evidence)
{
	if (!watch->sorted)
		qsort(watch->item, watch->count, sizeof *watch->item, by_beginning);
	watch->sorted = true;
	*ret_evidence = watch->item;
	return watch->count;
}

/* ---- opening ---- */

static void add_missing_text(struct watch *watch, const char *what, const char *why)
{
	struct text text = {.bytes = watch->missing, .room = sizeof watch->missing, .used = strlen(watch->missing)};
	text_add(&text, "%s%s: %s", text.used ? "\n" : "", what, why);
}

/* Where the fields lie; false when tracefs is not there or is another kernel's. */
static bool read_points(struct watch *watch, bool softirqs, uint64_t ids[TAG_COUNT])
{
	char format[4096];
	for (int tag = TAG_IRQ; tag < TAG_COUNT; tag++) {
		ids[tag] = tracepoint_read(points[tag].event, format, sizeof format) ? tracepoint_id_of(format) : 0;
		if (tag == TAG_SOFTIRQ && ids[tag] && !tracepoint_field_of(format, "vec", &watch->vector))
			ids[tag] = 0;
		if (tag == TAG_IRQ && ids[tag] &&
			(!tracepoint_field_of(format, "irq", &watch->irq) ||
				!tracepoint_field_of(format, "name", &watch->irq_name)))
			ids[tag] = 0;
	}
	bool soft = ids[TAG_SOFTIRQ] && ids[TAG_SOFTIRQ_END];
	if (!softirqs || !soft)
		ids[TAG_SOFTIRQ] = ids[TAG_SOFTIRQ_END] = 0;
	/* vectors exist on x86 only; what every kernel has are these */
	return ids[TAG_IRQ] && ids[TAG_IRQ_END] && (soft || !softirqs);
}

static bool open_points(struct ring *ring, const struct ring_plan *plan, const uint64_t ids[TAG_COUNT])
{
	for (int tag = TAG_IRQ; tag < TAG_COUNT; tag++)
		if (ids[tag] && ring_add(ring, plan, PERF_TYPE_TRACEPOINT, ids[tag], NULL, tag) < 0)
			return false;
	return true;
}

static void open_cpus(struct watch *watch, const struct watch_plan *plan)
{
	uint64_t ids[TAG_COUNT] = {0};
	bool described = read_points(watch, plan->softirqs, ids);
	struct tare_err why = {0};
	watch->interrupts = described;
	watch->softirqs = described && plan->softirqs;
	for (size_t i = 0; i < plan->cpu_count && i < WATCH_CPUS_MAX; i++) {
		struct ring_plan ring = {.pid = -1, .cpu = plan->cpus[i], .pages = watch->cpu_pages, .names = true};
		struct cpu_watch *cpu = &watch->cpu[watch->cpu_count];
		if (ring_open(&ring, &cpu->ring, &why) < 0) {
			add_missing_text(watch, "who else ran on the CPUs is not seen", why.text);
			watch->interrupts = false;
			return;
		}
		cpu->cpu = plan->cpus[i];
		cpu->running = -1;
		watch->cpu_count++;
		if (described && !open_points(&cpu->ring, &ring, ids))
			watch->interrupts = false;
	}
	if (!watch->interrupts)
		add_missing_text(watch, "interrupts are not seen",
			described ? "the system refuses tracepoints"
				  : "tracefs cannot be read\n  sudo mount -t tracefs nodev /sys/kernel/tracing; it "
				    "needs root");
}

int watch_open(const struct watch_plan *plan, struct watch **ret_watch, struct tare_err *err)
{
	struct watch *watch = calloc(1, sizeof *watch);
	if (watch) {
		watch->item = calloc(plan->room, sizeof *watch->item);
		watch->cpu = calloc(WATCH_CPUS_MAX, sizeof *watch->cpu);
	}
	if (!watch || !watch->item || !watch->cpu) {
		watch_free(watch);
		return tare_fail_errno(err, ENOMEM, "cannot hold evidence");
	}
	/* touched now: no page faults while a round runs */
	memset(watch->item, 0, plan->room * sizeof *watch->item);
	watch->room = plan->room;
	watch->recent = plan->recent;
	/* a soft interrupt a packet, and nobody empties the ring while all CPUs spin: eight times as much */
	watch->cpu_pages = plan->softirqs ? SOFTIRQ_PAGES : CPU_PAGES;
	watch->sums = plan->sums;
	names_read_all(&watch->names);
	open_cpus(watch, plan);
	*ret_watch = watch;
	return 0;
}

bool watch_thread(struct watch *watch)
{
	struct ring_plan plan = {.pid = 0, .cpu = -1, .pages = THREAD_PAGES};
	struct tare_err why = {0};
	watch_thread_end(watch);
	watch->tid = (int32_t)syscall(SYS_gettid);
	/* an unprivileged caller may watch himself, the kernel's part left out */
	if (ring_open(&plan, &watch->thread, &why) < 0) {
		plan.user_only = true;
		if (ring_open(&plan, &watch->thread, &why) < 0) {
			add_missing_text(watch, "the measuring thread is not watched", why.text);
			return false;
		}
	}
	ring_add(&watch->thread, &plan, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, NULL, TAG_FAULT);
	if (watch->interrupts)
		wakeups_open(&watch->wakeups, watch->tid);
	watch->has_thread = true;
	watch->last_ns = clock_mono_now().ns;
	return true;
}

void watch_thread_end(struct watch *watch)
{
	if (watch->has_thread)
		ring_close(&watch->thread);
	wakeups_close(&watch->wakeups);
	watch->has_thread = false;
	watch->off_ns = 0;
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	watch_thread_end(watch);
	for (size_t i = 0; i < watch->cpu_count; i++)
		ring_close(&watch->cpu[i].ring);
	free(watch->cpu);
	free(watch->item);
	free(watch);
}

bool watch_has_thread(const struct watch *watch)
{
	return watch->has_thread;
}

bool watch_has_cpus(const struct watch *watch)
{
	return watch->cpu_count > 0;
}

bool watch_has_softirqs(const struct watch *watch)
{
	return watch->interrupts && watch->softirqs;
}

bool watch_has_interrupts(const struct watch *watch)
{
	return watch->interrupts;
}

bool watch_has_wakeups(const struct watch *watch)
{
	return watch->wakeups.count > 0;
}

const char *watch_missing(const struct watch *watch)
{
	return watch->missing;
}

uint64_t watch_lost(const struct watch *watch)
{
	return watch->lost;
}

size_t watch_bytes(const struct watch *watch)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return watch->room * sizeof *watch->item + sizeof *watch + (THREAD_PAGES + 1) * page +
	       watch->cpu_count * (watch->cpu_pages + 1) * page + watch->wakeups.count * (WAKEUPS_PAGES + 1) * page;
}
