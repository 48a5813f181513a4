/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a capture to records. The first reading (feed_open) says which services
 * there are; the second pairs their packets, all services in one go. Each becomes
 * a round of its own target: two services are two populations.
 */
#include "import/capture/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { COPY_NS = 10000000, TAKE_EVERY = 256, MIN_FRAME_BYTES = 60, FCS_BYTES = 4 };

bool capture_knows(const void *head, size_t head_bytes)
{
	return capture_format_of(head, head_bytes) != CAPTURE_NONE;
}

uint32_t reader_wire_bytes(const struct feed_packet *packet)
{
	uint32_t bytes = packet->layers.net_end ? packet->layers.net_end : packet->frame.length;
	return (bytes > MIN_FRAME_BYTES ? bytes : MIN_FRAME_BYTES) + FCS_BYTES;
}

enum tare_stage reader_stage(const struct reader *reader, bool begin)
{
	enum capture_place place = reader->plan.place;
	if (place == PLACE_AUTO)
		place = reader->plan.taps                                  ? PLACE_SERVER_NIC
			: feed_verdict(reader->feed)->format == STAMP_NONE ? PLACE_CLIENT
									   : PLACE_CLIENT_NIC;
	switch (place) {
	case PLACE_CLIENT_NIC:
		return begin ? TARE_STAGE_NIC_TX : TARE_STAGE_NIC_RX;
	case PLACE_SERVER:
		return begin ? TARE_STAGE_PEER_RX : TARE_STAGE_PEER_TX;
	case PLACE_SERVER_NIC:
		return begin ? TARE_STAGE_PEER_NIC_RX : TARE_STAGE_PEER_NIC_TX;
	default:
		return begin ? TARE_STAGE_KERNEL_TX : TARE_STAGE_KERNEL_RX;
	}
}

bool reader_is_inside(const struct reader *reader)
{
	return reader->plan.place == PLACE_SERVER || reader->plan.place == PLACE_SERVER_NIC;
}

static void reader_free(void *opaque)
{
	struct reader *reader = opaque;
	if (!reader)
		return;
	for (size_t i = 0; i < reader->parts; i++) {
		pairing_free(reader->part[i].pairing);
		series_end(&reader->part[i].series);
	}
	match_free(reader->match);
	feed_free(reader->feed);
	feed_free(reader->to_feed);
	input_free(reader->to_input);
	if (reader->to_stream)
		fclose(reader->to_stream);
	capture_plan_end(&reader->plan);
	free(reader);
}

static const char *kind_of(enum key_kind kind, uint8_t protocol)
{
	switch (kind) {
	case KEY_ICMP:
		return "icmp";
	case KEY_STAMP:
		return "stamp";
	case KEY_DNS:
		return "dns";
	case KEY_TCP_SYN:
		return "connect";
	case KEY_TCP_ACK:
		return "tcp-ack";
	case KEY_TCP:
		return "tcp";
	default:
		return protocol == PROTOCOL_TCP ? "tcp" : "udp";
	}
}

static int name_target(struct import *import, struct reader_part *part, struct tare_err *err)
{
	char address[64] = "any", url[96];
	struct text text = TEXT_IN(url);
	const struct service *service = &part->service;
	if (service->version)
		layers_format_address(service->address, service->version, service->port, address, sizeof(address));
	else if (service->port)
		snprintf(address, sizeof(address), "any:%u", service->port);
	part->target.kind = kind_of(part->key.kind, service->protocol);
	text_add(&text, "%s://%s", part->target.kind, address);
	part->target.url = import_text(import, url, err);
	part->target.address = import_text(import, address, err);
	return part->target.url && part->target.address ? 0 : -1;
}

static int add_part(struct import *import, struct reader *reader, const struct service *service, enum key_kind kind,
	struct tare_err *err)
{
	struct reader_part *part = &reader->part[reader->parts];
	*part = (struct reader_part){.key = reader->plan.key, .service = *service};
	part->key.kind = kind;
	struct pairing_rules rules = {
		.key = part->key,
		.service = *service,
		.match = {.timeout_ns = reader->plan.timeout_ns,
			.copy_ns = COPY_NS,
			.last_copy = reader->plan.last_copy},
		.seed = reader->seed,
		.inside = reader_is_inside(reader),
	};
	if (pairing_open(&rules, &part->pairing, err))
		return -1;
	part->target.id = (int64_t)++reader->parts;
	part->target.position = (uint32_t)reader->parts - 1;
	return name_target(import, part, err);
}

static int nothing_there(const struct import *import, const struct reader *reader, struct tare_err *err)
{
	const struct survey *survey = feed_survey(reader->feed);
	if (survey->frames == 0)
		return tare_fail(err, TARE_E_INVALID, "'%s' holds no packets", import->name);
	return tare_fail(err, TARE_E_INVALID,
		"'%s': none of its %" PRIu64 " packets are requests and replies that tare knows%s; --service says who "
		"answers, --key what ties a reply to its request; 'tare export --packets' shows them as they are",
		import->name, survey->frames, reader->plan.has_service ? " of this service" : "");
}

static int choose_services(struct import *import, struct reader *reader, struct tare_err *err)
{
	const struct census_service *found[READER_SERVICES + 1];
	struct capture_plan *plan = &reader->plan;
	size_t count = census_choose(
		feed_census(reader->feed), &plan->service, key_protocol(&plan->key), found, READER_SERVICES + 1);
	uint64_t uncaptured = 0;
	reader->others = count > READER_SERVICES ? 1 : 0;
	for (size_t i = 0; i < count && reader->parts < READER_SERVICES; i++) {
		bool echo = found[i]->service.protocol != PROTOCOL_UDP && found[i]->service.protocol != PROTOCOL_TCP;
		enum key_kind kind = plan->key.kind == KEY_AUTO ? census_key(found[i]) : plan->key.kind;
		if ((kind == KEY_ICMP) != echo && plan->key.kind != KEY_AUTO)
			continue;
		uncaptured += kind == KEY_AUTO ? found[i]->uncaptured : 0;
		if (kind != KEY_AUTO && add_part(import, reader, &found[i]->service, kind, err))
			return -1;
	}
	if (uncaptured && !reader->parts)
		return tare_fail(err, TARE_E_INVALID,
			"'%s': the payload, in which replies carry what ties them to requests, was not captured "
			"(frames are cut "
			"at %u bytes): cannot match; --key order pairs by order alone",
			import->name, feed_survey(reader->feed)->cut_at_most);
	if (!reader->parts && plan->has_service && plan->key.kind != KEY_AUTO) {
		plan->service.protocol = key_protocol(&plan->key);
		return add_part(import, reader, &plan->service, plan->key.kind, err);
	}
	return reader->parts ? 0 : nothing_there(import, reader, err);
}

static int check_clock(const struct import *import, const struct feed *feed, struct tare_err *err)
{
	const struct survey *survey = feed_survey(feed);
	if (feed_verdict(feed)->format != STAMP_NONE)
		return 0;
	if (survey_stands_still(survey))
		return tare_fail(err, TARE_E_INVALID,
			"'%s': all %" PRIu64
			" packets carry the same time: its clock is unusable, there is nothing to measure",
			import->name, survey->timed);
	if (survey->frames && !survey->timed)
		return tare_fail(err, TARE_E_INVALID, "'%s': none of its %" PRIu64 " packets has a usable time",
			import->name, survey->frames);
	return 0;
}

static void auto_reader_end(struct reader *const *reader)
{
	reader_free(*reader);
}

static int capture_open(struct import *import, void **ret_reader, struct tare_err *err)
{
	AUTO_CLEANUP(auto_reader_end) struct reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", import->name);
	if (capture_plan_of(&import->rules.capture, &reader->plan, err))
		return -1;
	if (getrandom(&reader->seed, sizeof(reader->seed), GRND_NONBLOCK) != (ssize_t)sizeof(reader->seed))
		reader->seed = (uint64_t)(uintptr_t)reader;
	const struct feed_rules rules = {.stamps = reader->plan.stamps,
		.lenient = import->rules.lenient,
		.now_seconds = time(NULL),
		.seed = reader->seed,
		.single_fragments = reader->plan.taps};
	if (feed_open(import->input, import->name, &rules, &reader->feed, err) ||
		check_clock(import, reader->feed, err) ||
		(reader->plan.taps ? taps_open(import, reader, err) : choose_services(import, reader, err)))
		return -1;
	*ret_reader = take_ptr(reader);
	return 0;
}

static int take_all(struct reader *reader, struct tare_err *err)
{
	for (size_t i = 0; i < reader->parts; i++) {
		if (series_take(&reader->part[i].series, pairing_match(reader->part[i].pairing), reader->base, err))
			return -1;
	}
	return 0;
}

static int read_services(struct reader *reader, struct tare_err *err)
{
	struct feed_packet packet;
	int found;
	for (unsigned since = 1; (found = feed_next(reader->feed, &packet, err)) > 0; since++) {
		if (!reader->has_base && packet.timed) {
			reader->base = packet.time;
			reader->has_base = true;
		}
		for (size_t i = 0; i < reader->parts; i++) {
			if (pairing_add(reader->part[i].pairing, &packet, err))
				return -1;
		}
		if (since % TAKE_EVERY == 0 && take_all(reader, err))
			return -1;
	}
	if (found < 0)
		return -1;
	for (size_t i = 0; i < reader->parts; i++)
		match_finish(pairing_match(reader->part[i].pairing));
	return take_all(reader, err);
}

static int64_t real_ns(struct capture_time time)
{
	int64_t ns;
	if (__builtin_mul_overflow(time.seconds, INT64_C(1000000000), &ns) ||
		__builtin_add_overflow(ns, time.picoseconds / 1000, &ns))
		return 0;
	return ns;
}

static int fill_run(struct import *import, struct reader *reader, struct tare_err *err)
{
	const struct capture_about *about = feed_about(reader->feed);
	char tool[64];
	struct text text = TEXT_IN(tool);
	text_add(&text, "capture (%s)", about->words);
	import->run = (struct tare_run){.id = 1,
		.epoch_real_ns = real_ns(reader->base),
		.status = TARE_RUN_FINISHED,
		.tool = import_text(import, tool, err)};
	return import->run.tool ? 0 : -1;
}

static void fill_record(struct import *import, struct reader *reader, struct reader_part *part)
{
	struct series *series = &part->series;
	int64_t step_ns = feed_step_ps(reader->feed);
	step_ns = step_ns > 1000 ? (step_ns + 999) / 1000 : 1;
	int64_t last_ns = series->count ? series_from_ns(series)[series->count - 1] : 0;
	const struct match_counts *counts = match_counts(part->pairing ? pairing_match(part->pairing) : reader->match);
	part->round = (struct tare_round){
		.id = (int64_t)import->round,
		.number = import->round,
		.label = "",
		.first_due_ns = series->count ? series_from_ns(series)[0] : 0,
		.timeout_ns = reader->plan.timeout_ns,
		.ended_ns = last_ns,
		.axis_error_ns = reader->plan.taps ? reader->bound_ns : TARE_NO_TIME,
		.status = feed_about(reader->feed)->ends_inside ? "interrupted" : "finished",
	};
	part->target.payload_bytes = part->pairing ? pairing_counts(part->pairing)->payload_bytes : 0;
	part->record = (struct tare_record){
		.run = &import->run,
		.target = &part->target,
		.round = &part->round,
		.beside = {.duplicate = counts->duplicates, .reordered = counts->reordered, .foreign = counts->foreign},
		.series = {.count = series->count, .fate = series_fate(series), .flags = series_flags(series)},
		.resolution_ns = step_ns,
	};
	static const uint8_t no_fate;
	if (!series->count)
		part->record.series.fate = &no_fate;
	part->record.series.at_ns[reader_stage(reader, true)] = series_from_ns(series);
	part->record.series.at_ns[reader_stage(reader, false)] = series_to_ns(series);
}

static int check_part(const struct import *import, const struct reader_part *part, struct tare_err *err)
{
	if (!part->pairing || part->series.count)
		return 0;
	const struct pairing_counts *counts = pairing_counts(part->pairing);
	if (counts->not_captured)
		return tare_fail(err, TARE_E_INVALID,
			"'%s': key %s was not captured: of %" PRIu64 " packets of %s, %" PRIu64
			" have it beyond what is in the file; cannot match",
			import->name, key_name(&part->key), counts->packets, part->target.url, counts->not_captured);
	return tare_fail(err, TARE_E_INVALID, "'%s': no request to %s with key %s among %" PRIu64 " packets of it",
		import->name, part->target.url, key_name(&part->key), counts->packets);
}

static int capture_next(
	struct import *import, void *opaque, const struct tare_record **ret_record, struct tare_err *err)
{
	struct reader *reader = opaque;
	if (!reader->read) {
		import->round = 1;
		if (reader->plan.taps ? taps_read(import, reader, err) : read_services(reader, err))
			return -1;
		reader->read = true;
		if (fill_run(import, reader, err) || notes_of_file(import, reader, err))
			return -1;
	}
	if (reader->given)
		series_end(&reader->part[reader->given - 1].series);
	if (reader->given == reader->parts)
		return 0;
	struct reader_part *part = &reader->part[reader->given++];
	import->round = (uint32_t)reader->given;
	if (check_part(import, part, err))
		return -1;
	fill_record(import, reader, part);
	if (reader_origin(import, reader, &part->record.origin, err) || notes_of_part(import, reader, part, err))
		return -1;
	*ret_record = &part->record;
	return 1;
}

const struct import_format capture_format = {
	.name = "capture",
	.open = capture_open,
	.next = capture_next,
	.free = reader_free,
};
