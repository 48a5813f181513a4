/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rings of 32 KiB with nothing but a thread's wake-ups in them, brought together with its sleeps. */
#include "cause/wakeups.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <unistd.h>

#include "cause/tracepoint.h"

static bool open_one(struct ring *ring, int cpu, uint64_t id, const char *filter)
{
	struct ring_plan plan = {.pid = -1, .cpu = cpu, .pages = WAKEUPS_PAGES, .events_only = true};
	struct tare_err ignored;
	if (ring_open(&plan, ring, &ignored) < 0)
		return false;
	if (ring_add(ring, &plan, PERF_TYPE_TRACEPOINT, id, filter, 0) == 0)
		return true;
	ring_close(ring);
	return false;
}

bool wakeups_open(struct wakeups *wakeups, int32_t tid)
{
	char format[4096], filter[32];
	long cpus = sysconf(_SC_NPROCESSORS_CONF), online = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t id = tracepoint_read("sched/sched_wakeup", format, sizeof format) ? tracepoint_id_of(format) : 0;
	struct tracepoint_field pid;
	wakeups_close(wakeups);
	if (!id || !tracepoint_field_of(format, "pid", &pid) || online > WAKEUPS_CPUS_MAX)
		return false;
	snprintf(filter, sizeof filter, "pid == %d", tid);
	/* what an offline CPU refuses is not missed */
	for (int cpu = 0; cpu < cpus && wakeups->count < WAKEUPS_CPUS_MAX; cpu++)
		wakeups->count += open_one(&wakeups->ring[wakeups->count], cpu, id, filter);
	if (wakeups->count >= (size_t)online)
		return true;
	wakeups_close(wakeups);
	return false;
}

void wakeups_close(struct wakeups *wakeups)
{
	for (size_t i = 0; i < wakeups->count; i++)
		ring_close(&wakeups->ring[i]);
	wakeups->count = 0;
	wakeups->last_ns = 0;
}

bool wakeups_note(struct tare_evidence *items, size_t count, int64_t at_ns)
{
	/* the latest sleep is the likeliest */
	for (size_t i = count; i-- > 0;) {
		struct tare_evidence *off = &items[i];
		if (off->kind != TARE_EVIDENCE_OFF || off->flags & TARE_EVIDENCE_PREEMPTED || at_ns <= off->from_ns ||
			at_ns > off->to_ns)
			continue;
		int64_t before_ns = off->to_ns - at_ns;
		off->detail = before_ns < 1 ? 1 : before_ns < INT32_MAX ? (int32_t)before_ns : INT32_MAX;
		return true;
	}
	return false;
}

void wakeups_drain(struct wakeups *wakeups, struct tare_evidence *items, size_t count)
{
	struct ring_record record;
	/* its sleep had not ended when it was read */
	if (wakeups->last_ns && wakeups_note(items, count, wakeups->last_ns))
		wakeups->last_ns = 0;
	for (size_t i = 0; i < wakeups->count; i++)
		while (ring_next(&wakeups->ring[i], &record))
			if (record.type == RING_EVENT && !wakeups_note(items, count, record.at_ns) &&
				record.at_ns > wakeups->last_ns)
				wakeups->last_ns = record.at_ns;
}
