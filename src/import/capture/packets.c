/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packets as lines of a table. Texts of the line under way are made anew for each: one line lives at a time. */
#include "import/capture/packets.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/capture/feed.h"
#include "import/capture/rules.h"

enum { HEAD_BYTES = 4096 };

struct packet_at {
	const struct feed_packet *packet;
	const char *interface;
	bool has_clock, is_reference;
	char clock[40], stamp[40], source[64], target[64], protocol[16], flags[160];
};

struct packets {
	FILE *own_stream;
	struct input *input;
	struct feed *feed;
	struct service service;
	bool has_service;
	struct feed_packet packet;
	struct packet_at at;
	char *name;
	char remark[320];
};

/* ---- the table ---- */

static const struct packet_at *at(const void *record)
{
	return record;
}

static struct cell text_or_blank(const char *text)
{
	return text[0] ? cell_text(text) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_number(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(at(record)->packet->frame.number);
}

static struct cell get_interface(const void *record, const struct column *column)
{
	(void)column;
	return text_or_blank(at(record)->interface);
}

static struct cell get_clock(const void *record, const struct column *column)
{
	(void)column;
	return at(record)->has_clock ? cell_text(at(record)->clock) : cell_absent(CELL_NOT_MEASURED);
}

static struct cell get_stamp(const void *record, const struct column *column)
{
	(void)column;
	return at(record)->packet->has_stamp ? cell_text(at(record)->stamp) : cell_absent(CELL_NOT_MEASURED);
}

static struct cell get_difference(const void *record, const struct column *column)
{
	(void)column;
	const struct feed_packet *packet = at(record)->packet;
	if (!packet->has_stamp || !at(record)->has_clock)
		return cell_absent(CELL_NOT_MEASURED);
	return cell_integer(capture_time_ns(packet->stamp.time, packet->frame.time));
}

static struct cell get_scale(const void *record, const struct column *column)
{
	(void)column;
	const struct feed_packet *packet = at(record)->packet;
	return packet->has_stamp ? cell_text(stamp_scale_name(packet->stamp.scale)) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_device(const void *record, const struct column *column)
{
	(void)column;
	const struct feed_packet *packet = at(record)->packet;
	return packet->has_stamp ? cell_count(packet->stamp.device) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_port(const void *record, const struct column *column)
{
	(void)column;
	const struct feed_packet *packet = at(record)->packet;
	return packet->has_stamp ? cell_count(packet->stamp.port) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_flags(const void *record, const struct column *column)
{
	(void)column;
	return text_or_blank(at(record)->flags);
}

static struct cell get_length(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(at(record)->packet->frame.length);
}

static struct cell get_captured(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(at(record)->packet->frame.captured);
}

static struct cell get_protocol(const void *record, const struct column *column)
{
	(void)column;
	return text_or_blank(at(record)->protocol);
}

static struct cell get_source(const void *record, const struct column *column)
{
	(void)column;
	return text_or_blank(at(record)->source);
}

static struct cell get_target(const void *record, const struct column *column)
{
	(void)column;
	return text_or_blank(at(record)->target);
}

const struct column packet_columns[] = {
	{"packet", "packet", "its number in the file, from 1", .get = get_number},
	{"interface", "interface", "that captured it, where the file names one", .get = get_interface, .is_text = true},
	{"clock", "clock", "the capture's time, in seconds since 1970", .get = get_clock, .is_text = true},
	{"stamp", "stamp", "the time in the packet, in seconds as its device counts them", .get = get_stamp, .is_text = true},
	{"stamp_minus_clock_ns", "difference", "how far the second is from the first", .unit = UNIT_NS,
		.get = get_difference},
	{"scale", "scale", "what the stamp says it is: UTC, TAI, relative, unknown", .get = get_scale, .is_text = true},
	{"device", "device", "that stamped it; 0 where the format names none", .get = get_device},
	{"port", "port", "of the device", .get = get_port},
	{"flags", "flags",
		"keyframe, no_time, cut, rx_error; of the stamp: degraded, holdover, local, duplicate, bad_fcs, repaired, loss, "
		"cut_there; fragment, first_fragment, tunnel",
		.get = get_flags, .is_text = true},
	{"length", "length", "bytes on the wire", .get = get_length},
	{"captured", "captured", "bytes in the file", .get = get_captured},
	{"protocol", "protocol", "tcp, udp, icmp, or the number of it; an EtherType without IP", .get = get_protocol, .is_text = true},
	{"source", "source", "address and port, within the tunnel if there is one", .get = get_source, .is_text = true},
	{"target", "target", "the same, where it goes", .get = get_target, .is_text = true},
};
const size_t packet_column_count = sizeof(packet_columns) / sizeof(packet_columns[0]);

/* ---- a line ---- */

/* As many digits as a time of this step has, and no false one: 6, 9 or 12. */
static void format_time(struct capture_time time, int64_t step_ps, char *buffer, size_t room)
{
	bool negative = time.seconds < 0;
	uint64_t seconds = negative ? (uint64_t)-(time.seconds + 1) + 1 : (uint64_t)time.seconds;
	int64_t ps = time.picoseconds;
	if (negative && ps) {
		seconds--;
		ps = PS_PER_SECOND - ps;
	}
	int digits = step_ps >= 1000000 ? 6 : step_ps >= 1000 ? 9 : 12;
	for (int i = digits; i < 12; i++)
		ps /= 10;
	snprintf(buffer, room, "%s%" PRIu64 ".%0*" PRId64, negative ? "-" : "", seconds, digits, ps);
}

static void add_word(struct text *text, bool holds, const char *word)
{
	if (holds)
		text_add(text, "%s%s", text->used ? " " : "", word);
}

static void fill_flags(struct packet_at *line)
{
	const struct feed_packet *packet = line->packet;
	static const char *const stamp_words[] = {
		"degraded", "holdover", "local", "duplicate", "bad_fcs", "repaired", "loss", "cut_there"};
	struct text text = TEXT_IN(line->flags);
	line->flags[0] = '\0';
	add_word(&text, line->is_reference, "keyframe");
	add_word(&text, !line->has_clock, "no_time");
	add_word(&text, packet->frame.flags & CAPTURE_CUT, "cut");
	add_word(&text, packet->frame.flags & CAPTURE_RX_ERROR, "rx_error");
	for (size_t i = 0; packet->has_stamp && i < sizeof(stamp_words) / sizeof(*stamp_words); i++)
		add_word(&text, packet->stamp.flags >> i & 1, stamp_words[i]);
	add_word(&text, packet->layers.has & LAYERS_FRAGMENT, "fragment");
	add_word(&text, packet->layers.has & LAYERS_FIRST_FRAGMENT, "first_fragment");
	add_word(&text, packet->layers.has & LAYERS_TUNNEL, "tunnel");
}

static void fill_protocol(struct packet_at *line)
{
	const struct layers *layers = &line->packet->layers;
	char *buffer = line->protocol;
	size_t room = sizeof(line->protocol);
	buffer[0] = '\0';
	if (!(layers->has & LAYERS_IP) && layers->ethertype == 0)
		return;
	if (!(layers->has & LAYERS_IP))
		snprintf(buffer, room, "0x%04x", layers->ethertype);
	else if (layers->protocol == PROTOCOL_UDP)
		snprintf(buffer, room, "udp");
	else if (layers->protocol == PROTOCOL_TCP)
		snprintf(buffer, room, "tcp");
	else if (layers->protocol == PROTOCOL_ICMP || layers->protocol == PROTOCOL_ICMPV6)
		snprintf(buffer, room, "icmp");
	else
		snprintf(buffer, room, "%u", layers->protocol);
}

static void fill_line(struct packets *packets)
{
	const struct feed_packet *packet = &packets->packet;
	const struct layers *layers = &packet->layers;
	const struct capture_interface *interfaces;
	struct packet_at *line = &packets->at;
	bool ports = layers->has & LAYERS_PORTS;
	bool known = packet->frame.interface < feed_interfaces(packets->feed, &interfaces);
	line->packet = packet;
	line->interface = known ? interfaces[packet->frame.interface].name : "";
	line->has_clock = !(packet->frame.flags & (CAPTURE_NO_TIME | CAPTURE_BAD_FRACTION));
	line->is_reference = stamp_is_reference(&packet->frame, layers);
	format_time(packet->frame.time, known ? capture_interface_step_ps(&interfaces[packet->frame.interface]) : 1,
		line->clock, sizeof(line->clock));
	if (packet->has_stamp)
		format_time(packet->stamp.time, packet->stamp.time.picoseconds % 1000 ? 1 : 1000, line->stamp,
			sizeof(line->stamp));
	line->source[0] = line->target[0] = '\0';
	if (layers->has & LAYERS_IP) {
		layers_format_address(layers->source, layers->version, ports ? layers->source_port : 0, line->source,
			sizeof(line->source));
		layers_format_address(layers->target, layers->version, ports ? layers->target_port : 0, line->target,
			sizeof(line->target));
	}
	fill_protocol(line);
	fill_flags(line);
}

int packets_next(struct packets *packets, const struct packet_at **ret_packet, struct tare_err *err)
{
	int found;
	do {
		found = feed_next_frame(packets->feed, &packets->packet, err);
	} while (found > 0 && packets->has_service &&
		 service_direction(&packets->service, &packets->packet.layers) == SERVICE_NEITHER);
	if (found > 0) {
		fill_line(packets);
		*ret_packet = &packets->at;
	}
	return found;
}

/* ---- opening ---- */

const char *packets_remark(const struct packets *packets)
{
	const struct capture_about *about = feed_about(packets->feed);
	return about->damage[0] ? about->damage : packets->remark;
}

void packets_free(struct packets *packets)
{
	if (!packets)
		return;
	feed_free(packets->feed);
	input_free(packets->input);
	if (packets->own_stream)
		fclose(packets->own_stream);
	free(packets->name);
	free(packets);
}

static void auto_packets_end(struct packets *const *packets)
{
	packets_free(*packets);
}

static int open_feed(struct packets *packets, const struct import_rules *rules, struct tare_err *err)
{
	AUTO_CLEANUP(capture_plan_end) struct capture_plan plan = {0};
	if (capture_plan_of(&rules->capture, &plan, err))
		return -1;
	const struct feed_rules feed = {.stamps = plan.stamps, .lenient = rules->lenient, .now_seconds = time(NULL)};
	packets->has_service = plan.has_service;
	packets->service = plan.service;
	int64_t bytes = input_need(packets->input, HEAD_BYTES, err);
	if (bytes < 0)
		return -1;
	if (capture_format_of(input_window(packets->input)->at, (size_t)bytes) == CAPTURE_NONE)
		return tare_fail(err, TARE_E_FORMAT, "'%s' is no capture of packets: it is neither pcap, pcapng nor ERF", packets->name);
	if (feed_open(packets->input, packets->name, &feed, &packets->feed, err))
		return -1;
	snprintf(packets->remark, sizeof(packets->remark), "%s", feed_verdict(packets->feed)->words);
	return 0;
}

int packets_open_stream(FILE *stream, const char *name, const struct import_rules *rules, struct packets **ret_packets,
	struct tare_err *err)
{
	AUTO_CLEANUP(auto_packets_end) struct packets *packets = calloc(1, sizeof(*packets));
	if (!packets || !(packets->name = strdup(name)))
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (input_open(stream, packets->name, &packets->input, err) || open_feed(packets, rules, err))
		return -1;
	*ret_packets = take_ptr(packets);
	return 0;
}

int packets_open(const char *path, const struct import_rules *rules, struct packets **ret_packets, struct tare_err *err)
{
	if (strcmp(path, "-") == 0)
		return packets_open_stream(stdin, "standard input", rules, ret_packets, err);
	AUTO_FILE stream = fopen(path, "re");
	struct packets *packets = NULL;
	if (!stream)
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	if (packets_open_stream(stream, path, rules, &packets, err))
		return -1;
	packets->own_stream = take_ptr(stream);
	*ret_packets = packets;
	return 0;
}
