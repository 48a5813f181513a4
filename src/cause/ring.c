/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_event_open(2) and its ring. With sample_id_all every record ends in the
 * same 32 bytes (pid, tid, time, cpu, identifier), which is where times and CPUs
 * are taken from; sizes in the ring come from the kernel but are checked all the
 * same, since a wrong one would read past the ring.
 */
#include "cause/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { HEADER_BYTES = 8, TAIL_BYTES = 32, RECORD_MAX = 512 };

static struct perf_event_attr attr_of(const struct ring_plan *plan)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* nobody polls: no wake-ups */
		.exclude_kernel = plan->user_only,
		.exclude_hv = plan->user_only,
	};
	return attr;
}

static int open_event(struct ring *ring, struct perf_event_attr *attr, const struct ring_plan *plan, int tag)
{
	if (ring->events == RING_EVENTS_MAX)
		return -E2BIG;
	int fd = (int)syscall(SYS_perf_event_open, attr, plan->pid, plan->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	uint64_t id = 0;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0 ||
		(ring->events && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd[0]) != 0)) {
		int why = errno;
		close(fd);
		return -why;
	}
	ring->fd[ring->events] = fd;
	ring->id[ring->events] = id;
	ring->tag[ring->events++] = tag;
	return 0;
}

static int fail_open(int why, const struct ring_plan *plan, struct tare_err *err)
{
	bool refused = why == EACCES || why == EPERM;
	char remedy[120] = "";
	if (refused)
		snprintf(remedy, sizeof remedy,
			"\n  needs CAP_PERFMON, or: sudo sysctl -w kernel.perf_event_paranoid=%d",
			plan->pid < 0 ? 0 : 2);
	return tare_fail(err, refused ? TARE_E_PERMISSION : TARE_E_UNSUPPORTED, "cannot watch %s: %s%s",
		plan->pid < 0 ? "who runs on a CPU" : "the scheduler's view of a thread", strerror(why), remedy);
}

int ring_open(const struct ring_plan *plan, struct ring *ret_ring, struct tare_err *err)
{
	struct ring ring = {.map = MAP_FAILED};
	struct perf_event_attr attr = attr_of(plan);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.context_switch = !plan->events_only;
	attr.comm = plan->names;
	attr.task = plan->names;
	int status = open_event(&ring, &attr, plan, -1);
	if (status < 0)
		return fail_open(-status, plan, err);
	ring.bytes = (size_t)plan->pages * (size_t)sysconf(_SC_PAGESIZE);
	ring.map = mmap(
		NULL, ring.bytes + (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd[0], 0);
	if (ring.map == MAP_FAILED) {
		int why = errno;
		ring_close(&ring);
		return fail_open(why, plan, err);
	}
	*ret_ring = ring;
	return 0;
}

int ring_add(
	struct ring *ring, const struct ring_plan *plan, uint32_t type, uint64_t config, const char *filter, int tag)
{
	struct perf_event_attr attr = attr_of(plan);
	attr.type = type;
	attr.config = config;
	attr.sample_period = 1;
	if (type == PERF_TYPE_TRACEPOINT)
		attr.sample_type |= PERF_SAMPLE_RAW;
	int status = open_event(ring, &attr, plan, tag);
	if (status < 0 || !filter)
		return status;
	if (ioctl(ring->fd[ring->events - 1], PERF_EVENT_IOC_SET_FILTER, filter) == 0)
		return 0;
	int why = errno;
	close(ring->fd[--ring->events]);
	return -why;
}

void ring_close(struct ring *ring)
{
	if (ring->map && ring->map != MAP_FAILED)
		munmap(ring->map, ring->bytes + (size_t)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < ring->events; i++)
		close(ring->fd[i]);
	*ring = (struct ring){.map = MAP_FAILED};
}

size_t ring_bytes_waiting(const struct ring *ring)
{
	struct perf_event_mmap_page *page = ring->map;
	return (size_t)(__atomic_load_n(&page->data_head, __ATOMIC_RELAXED) - page->data_tail);
}

bool ring_waiting(const struct ring *ring)
{
	return ring_bytes_waiting(ring) != 0;
}

bool ring_full(const struct ring *ring)
{
	const struct perf_event_mmap_page *page = ring->map;
	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) - page->data_tail + RECORD_MAX > ring->bytes;
}

/* Copies from the ring, which wraps anywhere. */
static void copy_out(const struct ring *ring, uint64_t at, void *into, size_t bytes)
{
	const struct perf_event_mmap_page *page = ring->map;
	const char *data = (const char *)ring->map + page->data_offset;
	size_t offset = (size_t)(at % ring->bytes), first = ring->bytes - offset;
	first = first < bytes ? first : bytes;
	memcpy(into, data + offset, first);
	memcpy((char *)into + first, data, bytes - first);
}

static uint32_t u32_at(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static uint64_t u64_at(const uint8_t *bytes)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static int tag_of(const struct ring *ring, uint64_t id)
{
	for (size_t i = 0; i < ring->events; i++)
		if (ring->id[i] == id)
			return ring->tag[i];
	return -1;
}

/* tid, time and CPU from 24 bytes that all records have in this order, at their end or (samples) their start. */
static void take_common(struct ring_record *record, const uint8_t *from)
{
	record->pid = u32_at(from);
	record->tid = u32_at(from + 4);
	record->at_ns = (int64_t)u64_at(from + 8);
	record->cpu = (int16_t)u32_at(from + 16);
}

/* A sample begins with its identifier; u32 raw size and the raw bytes follow the common part. */
static bool take_sample(struct ring *ring, const uint8_t *body, size_t bytes, struct ring_record *record)
{
	if (bytes < 32)
		return false;
	record->type = RING_EVENT;
	record->tag = tag_of(ring, u64_at(body));
	take_common(record, body + 8);
	if (bytes > 36) {
		size_t raw = u32_at(body + 32);
		raw = raw < bytes - 36 ? raw : bytes - 36;
		record->raw_bytes = raw < RING_RAW_BYTES ? raw : RING_RAW_BYTES;
		memcpy(record->raw, body + 36, record->raw_bytes);
	}
	return true;
}

/* What a record of this type has of its own at least. */
static size_t least_bytes(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_SWITCH_CPU_WIDE:
	case PERF_RECORD_COMM:
		return 8;
	case PERF_RECORD_FORK:
	case PERF_RECORD_LOST:
		return 16;
	default:
		return 0;
	}
}

static bool take_record(struct ring *ring, const struct perf_event_header *header, const uint8_t *body, size_t bytes,
	struct ring_record *record)
{
	record->other_tid = -1;
	record->raw_bytes = 0;
	if (header->type == PERF_RECORD_SAMPLE)
		return take_sample(ring, body, bytes, record);
	size_t own = bytes < TAIL_BYTES ? 0 : bytes - TAIL_BYTES; /* what stands before the common part */
	if (bytes < TAIL_BYTES || own < least_bytes(header->type))
		return false;
	take_common(record, body + bytes - TAIL_BYTES);
	switch (header->type) {
	case PERF_RECORD_SWITCH_CPU_WIDE:
		record->other_tid = (int32_t)u32_at(body + 4);
		/* fall through */
	case PERF_RECORD_SWITCH:
		record->type = header->misc & PERF_RECORD_MISC_SWITCH_OUT ? RING_SWITCH_OUT : RING_SWITCH_IN;
		record->preempt = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		return true;
	case PERF_RECORD_COMM: {
		size_t length = own - 8;
		record->type = RING_NAME;
		record->tid = u32_at(body + 4);
		memset(record->comm, 0, sizeof record->comm);
		memcpy(record->comm, body + 8, length < sizeof record->comm - 1 ? length : sizeof record->comm - 1);
		return true;
	}
	case PERF_RECORD_FORK:
		record->type = RING_FORK;
		record->tid = u32_at(body + 8);
		record->other_tid = (int32_t)u32_at(body + 12);
		return true;
	case PERF_RECORD_LOST:
		record->type = RING_LOST;
		record->lost = u64_at(body + 8);
		return true;
	default:
		return false;
	}
}

bool ring_next(struct ring *ring, struct ring_record *ret_record)
{
	struct perf_event_mmap_page *page = ring->map;
	uint64_t tail = page->data_tail, head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	while (tail < head) {
		struct perf_event_header header;
		uint8_t body[RECORD_MAX];
		copy_out(ring, tail, &header, sizeof header);
		if (header.size < HEADER_BYTES || header.size > head - tail) {
			tail = head; /* cannot happen; what follows could not be told from garbage */
			break;
		}
		size_t bytes = header.size - HEADER_BYTES;
		bool fits = bytes <= sizeof body;
		if (fits)
			copy_out(ring, tail + HEADER_BYTES, body, bytes);
		tail += header.size;
		if (fits && take_record(ring, &header, body, bytes, ret_record)) {
			__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
			return true;
		}
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return false;
}
