/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Format files of tracefs, and values out of raw records, cut ones included; the reason TLV there and back. */
#include "cause/shares.h"
#include "cause/tracepoint.h"
#include "tap.h"

static const char irq[] = "name: irq_handler_entry\nID: 225\nformat:\n"
			  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			  "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
			  "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
			  "\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n";

static void formats(void)
{
	struct tracepoint_field field = {0};
	IS_I64(tracepoint_id_of(irq), 225, "the number of an event");
	IS_I64(tracepoint_id_of("name: x\n"), 0, "none");
	OK(tracepoint_field_of(irq, "irq", &field) && field.offset == 8 && field.bytes == 4 && !field.text, "a number");
	OK(tracepoint_field_of(irq, "comm", &field) && field.offset == 16 && field.bytes == 16, "an array");
	OK(tracepoint_field_of(irq, "name", &field) && field.offset == 12 && field.text, "a text kept elsewhere");
	OK(!tracepoint_field_of(irq, "vec", &field), "no such field");
	OK(!tracepoint_field_of(irq, "pid", &field), "the end of another field's name is not it");
	OK(!tracepoint_field_of("field:int irq", "irq", &field), "cut off");
}

static void values(void)
{
	uint8_t raw[24] = {0, 0, 0, 0, 0, 0, 0, 0, 19, 0, 0, 0, 16, 0, 6, 0, 'v', 'i', 'r', 't', 'i', 'o', 0, 0};
	struct tracepoint_field number = {.offset = 8, .bytes = 4}, name = {.offset = 12, .bytes = 4, .text = true};
	char text[16];
	IS_I64(tracepoint_number(raw, sizeof raw, &number), 19, "number");
	IS_I64(tracepoint_number(raw, 10, &number), 0, "beyond the record: 0");
	tracepoint_text(raw, sizeof raw, &name, text, sizeof text);
	IS_STR(text, "virtio", "text");
	tracepoint_text(raw, sizeof raw, &name, text, 4);
	IS_STR(text, "vir", "cut to the room");
	raw[12] = 200;
	tracepoint_text(raw, sizeof raw, &name, text, sizeof text);
	IS_STR(text, "", "a place outside of the record");
}

static void shares(void)
{
	struct tare_evidence items[] = {
		{.from_ns = 0,
			.to_ns = 100,
			.kind = TARE_EVIDENCE_RAN,
			.cpu = 1,
			.pid = 7,
			.comm = "load",
			.sequence = -1},
		{.from_ns = 150,
			.to_ns = 400,
			.kind = TARE_EVIDENCE_RAN,
			.cpu = 1,
			.pid = 8,
			.comm = "cc1",
			.sequence = -1},
		{.from_ns = 500,
			.to_ns = 600,
			.kind = TARE_EVIDENCE_RAN,
			.cpu = 1,
			.pid = 9,
			.comm = "load",
			.sequence = -1},
		{.from_ns = 0,
			.to_ns = 900,
			.kind = TARE_EVIDENCE_RAN,
			.cpu = 2,
			.pid = 7,
			.comm = "load",
			.sequence = -1},
		{.from_ns = 700, .to_ns = 720, .kind = TARE_EVIDENCE_SOFTIRQ, .cpu = 1, .sequence = -1},
		{.from_ns = 0, .to_ns = 900, .kind = TARE_EVIDENCE_PEER, .cpu = 1, .sequence = 4},
	};
	const int32_t tids[] = {7, 9};
	struct cpu_shares s;
	cpu_shares_of(items, 6, 1, 50, 550, &s);
	OK(s.count == 2 && strcmp(s.share[0].comm, "cc1") == 0 && s.share[0].ns == 250, "largest first");
	OK(s.share[1].ns == 100 && s.share[1].times == 2, "by name, clipped to the round");
	IS_I64(s.others_ns, 350, "all of them");
	IS_I64(s.interrupts_ns, 0, "the interrupt was later");
	IS_I64(shares_of_tids(items, 6, tids, 2, 1, 0, 1000), 200, "threads of a load on one CPU");
	IS_I64(shares_of_tids(items, 6, tids, 2, -1, 0, 1000), 1100, "and on all");
}

int main(void)
{
	formats();
	values();
	shares();
	return tap_done();
}
