/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same packets at two places: how long from one to the other. Nothing here is
 * believed about clocks: either one clock stamped both places, or the user says
 * how far apart the two may be, or there is no figure.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "import/capture/reader.h"

enum { TAKE_EVERY = 256, IDENTITY_PAYLOAD_MOST = 256, HEADERS_MOST = 128, WAIT_NS = 1000000 };

static const char *side_name(const struct import *import, const struct reader *reader, int side)
{
	return side && reader->plan.to_file ? reader->plan.to_file : import->name;
}

static const struct feed *side_feed(const struct reader *reader, int side)
{
	return side && reader->to_feed ? reader->to_feed : reader->feed;
}

/* One device stamped both: its number is in the stamps. */
static bool one_device(const struct stamp_verdict *one, const struct stamp_verdict *other)
{
	bool named = one->format == STAMP_METAWATCH || one->format == STAMP_CPACKET || one->format == STAMP_HPT ||
		     one->format == STAMP_TICKS || one->format == STAMP_LDA_LE || one->format == STAMP_LDA_BE;
	return named && one->format == other->format && one->device == other->device && one->device != 0 &&
	       !one->several_devices && !other->several_devices;
}

static int relate_clocks(const struct import *import, struct reader *reader, struct tare_err *err)
{
	const struct capture_plan *plan = &reader->plan;
	const struct stamp_verdict *from = feed_verdict(reader->feed), *to = feed_verdict(side_feed(reader, 1));
	if (plan->clock_said) {
		reader->bound_ns = plan->clock_bound_ns;
		reader->relation =
			plan->clock_same ? "one clock for both, as said" : "clocks apart by no more than was said";
		return 0;
	}
	if (one_device(from, to)) {
		reader->relation = "one device stamped both";
		return 0;
	}
	if (!plan->to_file && !from->several_devices) {
		reader->relation =
			from->format == STAMP_NONE ? "one capture, its clock for both" : "one device stamped both";
		return 0;
	}
	return tare_fail(err, TARE_E_USAGE,
		"nothing says how the clocks of '%s' and '%s' relate: --clock same if one device stamped both, or "
		"--clock "
		"TIME for how far apart they may be",
		import->name, side_name(import, reader, 1));
}

static enum capture_mark mark_of(const struct reader *reader, int side)
{
	if (reader->plan.marks[side] != MARK_UNKNOWN)
		return reader->plan.marks[side];
	return stamp_format_first_bit(feed_verdict(side_feed(reader, side))->format) == 1 ? MARK_FIRST : MARK_UNKNOWN;
}

static int relate_marks(const struct import *import, struct reader *reader, struct tare_err *err)
{
	enum capture_mark from = mark_of(reader, 0), to = mark_of(reader, 1);
	bool alike = feed_verdict(reader->feed)->format == feed_verdict(side_feed(reader, 1))->format;
	if (from == to && (from != MARK_UNKNOWN || alike))
		return 0;
	if (from == MARK_UNKNOWN || to == MARK_UNKNOWN)
		return tare_fail(err, TARE_E_USAGE,
			"'%s' and '%s' are stamped in different ways, and which bit of a frame is marked is not known: "
			"--marks "
			"first,last says it for each",
			import->name, side_name(import, reader, 1));
	if (!reader->plan.line_bits_per_second)
		return tare_fail(err, TARE_E_USAGE,
			"one side marks the first bit and the other the last: --line-rate brings them together (10G)");
	reader->to_first_bit[0] = from == MARK_LAST;
	reader->to_first_bit[1] = to == MARK_LAST;
	return 0;
}

static int open_second(const struct import *import, struct reader *reader, struct tare_err *err)
{
	const char *path = reader->plan.to_file;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	reader->to_stream = fd < 0 ? NULL : fdopen(fd, "r");
	if (!reader->to_stream)
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	take_fd(&fd);
	const struct feed_rules rules = {.stamps = reader->plan.stamps,
		.lenient = import->rules.lenient,
		.now_seconds = feed_survey(reader->feed)->now_seconds,
		.seed = reader->seed,
		.single_fragments = true};
	if (input_open(reader->to_stream, path, &reader->to_input, err))
		return -1;
	return feed_open(reader->to_input, path, &rules, &reader->to_feed, err);
}

int taps_open(struct import *import, struct reader *reader, struct tare_err *err)
{
	struct reader_part *part = &reader->part[0];
	if (reader->plan.to_file && open_second(import, reader, err))
		return -1;
	if (relate_clocks(import, reader, err) || relate_marks(import, reader, err))
		return -1;
	const struct match_rules rules = {
		.timeout_ns = reader->plan.timeout_ns, .early_ns = reader->bound_ns, .in_order = true};
	if (match_open(&rules, &reader->match, err))
		return -1;
	reader->parts = 1;
	part->target = (struct tare_target){.id = 1, .kind = "transit"};
	part->target.url = import_text(import, "transit://", err);
	part->target.address = import_text(import, side_name(import, reader, 1), err);
	return part->target.url && part->target.address ? 0 : -1;
}

static bool at_tap(const struct reader *reader, const struct capture_tap *tap, const struct feed_packet *packet)
{
	const struct capture_interface *interfaces;
	if (tap->by_port && (!packet->has_stamp || packet->stamp.port != tap->port))
		return false;
	if (tap->by_device && (!packet->has_stamp || packet->stamp.device != tap->device))
		return false;
	if (!tap->by_interface)
		return true;
	char number[16];
	snprintf(number, sizeof(number), "%u", packet->frame.interface);
	size_t count = feed_interfaces(reader->feed, &interfaces);
	return strcmp(number, tap->interface) == 0 ||
	       (packet->frame.interface < count &&
		       strcmp(interfaces[packet->frame.interface].name, tap->interface) == 0);
}

/* Payload that every frame of both files has: a shorter snap length must not make all packets differ. */
static uint32_t identity_payload(const struct reader *reader)
{
	uint32_t least = UINT32_MAX;
	for (int side = 0; side < 2; side++) {
		uint32_t cut = feed_survey(side_feed(reader, side))->cut_at_least;
		least = cut < least ? cut : least;
	}
	if (least == UINT32_MAX)
		return IDENTITY_PAYLOAD_MOST;
	return least > HEADERS_MOST ? least - HEADERS_MOST : 0;
}

static int pass(
	struct reader *reader, struct feed_packet *packet, int side, uint32_t payload_most, struct tare_err *err)
{
	struct match_packet found = {.time = packet->time, .number = packet->frame.number};
	const struct service *service = &reader->plan.service;
	if (!packet->timed || !packet_identity(&packet->layers, payload_most, reader->seed, &found.key))
		return 0;
	if (reader->plan.has_service && service_direction(service, &packet->layers) == SERVICE_NEITHER)
		return 0;
	if (reader->to_first_bit[side])
		found.time = capture_time_add_ps(
			found.time, -capture_line_ps(reader_wire_bytes(packet), reader->plan.line_bits_per_second));
	if (!reader->has_base) {
		reader->base = found.time;
		reader->has_base = true;
	}
	if (side == 0) {
		reader->at_from++;
		return match_request(reader->match, &found, err);
	}
	reader->at_to++;
	match_reply(reader->match, &found);
	return 0;
}

static int read_one_file(struct reader *reader, struct tare_err *err)
{
	struct feed_packet packet;
	uint32_t payload_most = identity_payload(reader);
	int found;
	for (unsigned since = 1; (found = feed_next(reader->feed, &packet, err)) > 0; since++) {
		bool from = at_tap(reader, &reader->plan.from, &packet), to = at_tap(reader, &reader->plan.to, &packet);
		if (from != to && pass(reader, &packet, to ? 1 : 0, payload_most, err))
			return -1;
		if (since % TAKE_EVERY == 0 && series_take(&reader->part[0].series, reader->match, reader->base, err))
			return -1;
	}
	return found;
}

/*
 * Both files in the order of time; the second waits for the bound, since its clock may be that much behind, and a
 * millisecond more, so that a clock worse than was said shows as such and not as packets missing on both sides.
 */
static int read_two_files(struct reader *reader, struct tare_err *err)
{
	struct feed_packet packet[2];
	uint32_t payload_most = identity_payload(reader);
	int found[2];
	found[0] = feed_next(reader->feed, &packet[0], err);
	found[1] = found[0] < 0 ? -1 : feed_next(reader->to_feed, &packet[1], err);
	for (unsigned since = 1; found[0] >= 0 && found[1] >= 0 && (found[0] || found[1]); since++) {
		int side = 0;
		if (!found[0])
			side = 1;
		else if (found[1] && packet[0].timed && packet[1].timed)
			side = capture_time_ns(packet[1].time, packet[0].time) < -reader->bound_ns - WAIT_NS;
		if (pass(reader, &packet[side], side, payload_most, err))
			return -1;
		if (since % TAKE_EVERY == 0 && series_take(&reader->part[0].series, reader->match, reader->base, err))
			return -1;
		found[side] = feed_next(side ? reader->to_feed : reader->feed, &packet[side], err);
	}
	return found[0] < 0 || found[1] < 0 ? -1 : 0;
}

int taps_read(struct import *import, struct reader *reader, struct tare_err *err)
{
	if (reader->to_feed ? read_two_files(reader, err) : read_one_file(reader, err))
		return -1;
	match_finish(reader->match);
	if (series_take(&reader->part[0].series, reader->match, reader->base, err))
		return -1;
	if (!reader->at_from || !reader->at_to)
		return tare_fail(err, TARE_E_INVALID, "no packet with a usable time was seen at '%s'",
			reader->at_from ? (reader->plan.to_file ? reader->plan.to_file : import->rules.capture.to)
					: (import->rules.capture.from ? import->rules.capture.from : import->name));
	return 0;
}
