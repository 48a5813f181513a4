/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel tells about CPUs: perf's ring of records, tracefs' descriptions,
 * /proc/interrupts and /proc/stat. The first byte chooses; whatever stands there,
 * reading must end and stay within it.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cause/landed.h"
#include "cause/ring.h"
#include "cause/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RING_BYTES = 4096 };

static void hold(bool condition)
{
	if (!condition)
		abort();
}

/* The second byte says where in the ring the oldest record begins, so that records wrap. */
static void try_ring(const uint8_t *data, size_t size)
{
	char *map = calloc(1, 2 * RING_BYTES);
	if (!map || size < 1 || size - 1 > RING_BYTES) {
		free(map);
		return;
	}
	struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)(void *)map;
	struct ring ring = {.map = map, .bytes = RING_BYTES, .events = 1, .id = {7}, .tag = {3}};
	struct ring_record record;
	size_t records = 0, offset = (size_t)data[0] * 16;
	page->data_offset = RING_BYTES;
	page->data_tail = offset;
	page->data_head = offset + size - 1;
	for (size_t i = 1; i < size; i++)
		map[RING_BYTES + (offset + i - 1) % RING_BYTES] = (char)data[i];
	while (ring_next(&ring, &record)) {
		hold(record.raw_bytes <= RING_RAW_BYTES && memchr(record.comm, 0, sizeof record.comm));
		hold(++records <= RING_BYTES / 8);
	}
	hold(page->data_tail == page->data_head);
	free(map);
}

static void try_format(const uint8_t *data, size_t size)
{
	struct tracepoint_field field;
	char *text = malloc(size + 1), name[16];
	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	tracepoint_id_of(text);
	if (tracepoint_field_of(text, "vec", &field)) {
		tracepoint_number(data, size, &field);
		tracepoint_text(data, size, &field, name, sizeof name);
		hold(strlen(name) < sizeof name);
	}
	free(text);
}

static void try_landed(const uint8_t *data, size_t size, bool steal)
{
	static const int cpus[] = {0, 1, 7};
	char *text = malloc(size + 1);
	struct landed_row *rows = calloc(LANDED_ROWS_MAX, sizeof *rows);
	uint64_t ticks[3];
	size_t count = 0;
	if (text && rows) {
		memcpy(text, data, size);
		text[size] = '\0';
		if (steal)
			landed_parse_steal(text, cpus, 3, ticks);
		else
			landed_parse(TARE_SHARE_INTERRUPT, text, cpus, 3, rows, &count);
		hold(count <= LANDED_ROWS_MAX);
		for (size_t i = 0; i < count; i++)
			hold(memchr(rows[i].name, 0, sizeof rows[i].name) && rows[i].name[0]);
	}
	free(text);
	free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	switch (data[0] % 4) {
	case 0:
		try_ring(data + 1, size - 1);
		break;
	case 1:
		try_format(data + 1, size - 1);
		break;
	default:
		try_landed(data + 1, size - 1, data[0] % 4 == 3);
	}
	return 0;
}
