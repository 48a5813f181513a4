/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tracepoints as tracefs describes them: number, and where a field lies in a record. Private to this folder. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracepoint_field {
	size_t offset, bytes;
	bool text;
};
/* Pure: finds "field:TYPE NAME;" in a format file. text: a __data_loc string, u16 offset and u16 length. */
bool tracepoint_field_of(const char *format, const char *name, struct tracepoint_field *ret_field);
/* Pure: the number behind "ID:"; 0 when there is none. */
uint64_t tracepoint_id_of(const char *format);
/* Reads events/EVENT/format ("irq/softirq_entry") where tracefs is mounted; false when it cannot be read. */
bool tracepoint_read(const char *event, char *format, size_t room);

/* Values out of a raw record; 0 and "" beyond its end. */
uint64_t tracepoint_number(const uint8_t *raw, size_t bytes, const struct tracepoint_field *field);
void tracepoint_text(
	const uint8_t *raw, size_t bytes, const struct tracepoint_field *field, char *ret_text, size_t room);
