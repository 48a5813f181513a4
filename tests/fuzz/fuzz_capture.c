/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole way from bytes to records, with rules chosen by the last byte: fates
 * are known ones, an unanswered request has no time, spans are no nonsense, and a
 * failure has a sentence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/capture/file.h"
#include "import/capture/packets.h"
#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void check(const struct tare_record *record)
{
	if (strncmp(record->run->tool, "capture", 7) != 0)
		return; /* a packed log */
	const struct tare_series *series = &record->series;
	require(series->fate && record->run && record->target && record->round && record->resolution_ns > 0);
	for (size_t i = 0; i < series->count; i++) {
		require(series->fate[i] < TARE_FATE_COUNT);
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
			bool reply = stage == TARE_STAGE_KERNEL_RX || stage == TARE_STAGE_NIC_RX;
			if (series->at_ns[stage] && reply &&
				(series->fate[i] == TARE_LOST || series->fate[i] == TARE_PENDING))
				require(series->at_ns[stage][i] == TARE_NO_TIME);
		}
	}
}

/* Every packet as a line: each cell is a value or says why not, and numbers go up. */
static void list_packets(FILE *stream, const struct import_rules *rules)
{
	struct packets *packets = NULL;
	const struct packet_at *packet;
	struct tare_err err = {0};
	uint64_t last = 0;
	int found = packets_open_stream(stream, "fuzz", rules, &packets, &err);
	while (found >= 0 && packets && (found = packets_next(packets, &packet, &err)) > 0) {
		for (size_t i = 0; i < packet_column_count; i++) {
			struct cell cell = packet_columns[i].get(packet, &packet_columns[i]);
			require(cell.state != CELL_VALUE || cell.type != CELL_TEXT || cell.as.text);
		}
		uint64_t number = packet_columns[0].get(packet, &packet_columns[0]).as.count;
		require(number > last);
		last = number;
	}
	require(found == 0 || err.text[0]);
	packets_free(packets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct capture_rules rules[] = {{0}, {.key = "order"}, {.key = "tcp-ack"},
		{.stamps = "capture", .key = "payload[0:2]"}, {.from = "interface:0", .to = "interface:1"},
		{.from = "port:1", .to = "port:2", .clock = "same"}, {.service = "53", .last_copy = true},
		{.stamps = "vss"}};
	if (bytes < 2)
		return 0;
	/* logs have a target of their own */
	bool packed = data[0] == 0x1f || data[0] == 0x28;
	if (!packed && capture_format_of(data, bytes - 1) == CAPTURE_NONE)
		return 0;
	struct import_rules all = {.lenient = data[bytes - 1] & 8, .capture = rules[data[bytes - 1] & 7]};
	struct import *import = NULL;
	struct tare_err err = {0};
	const struct tare_record *record;
	const struct import_note *notes;
	FILE *stream = fmemopen((void *)(uintptr_t)data, bytes - 1, "r");
	if (!stream)
		return 0;
	int found = import_open_stream(stream, "fuzz", &all, &import, &err);
	if (found == 0) {
		while ((found = import_next(import, &record, &err)) == 1)
			check(record);
		require(import_notes(import, &notes) <= IMPORT_NOTES_MAX);
	}
	require(found == 0 || err.text[0]);
	import_free(import);
	rewind(stream);
	list_packets(stream, &all);
	fclose(stream);
	return 0;
}
