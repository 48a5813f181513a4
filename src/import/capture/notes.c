/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is to be said of a capture beyond its figures, in sentences without a full stop. */
#include <inttypes.h>

#include "base/text.h"
#include "import/capture/reader.h"

/* "3 packets (5, 9, 12)", "20 packets (5, 9, …)" */
static void add_numbers(struct text *text, uint64_t count, const uint64_t *first, size_t kept, const char *thing)
{
	size_t shown = count < kept ? (size_t)count : kept;
	text_add(text, "%" PRIu64 " %s%s (", count, thing, count == 1 ? "" : "s");
	for (size_t i = 0; i < shown; i++)
		text_add(text, "%s%" PRIu64, i ? ", " : "", first[i]);
	text_add(text, "%s)", count > shown ? ", …" : "");
}

static int say_list(struct import *import, const struct survey_list *list, const char *words, struct tare_err *err)
{
	char line[300];
	struct text text = TEXT_IN(line);
	if (!list->count)
		return 0;
	add_numbers(&text, list->count, list->first, SURVEY_NUMBERS, "packet");
	return import_note(import, IMPORT_LIMIT, err, "%s %s", line, words);
}

static void format_step(int64_t step_ps, char *buffer, size_t room)
{
	if (step_ps < 1000)
		snprintf(buffer, room, "%" PRId64 " ps", step_ps);
	else
		format_duration((step_ps + 500) / 1000, buffer, room);
}

static int say_times(struct import *import, const struct survey *survey, struct tare_err *err)
{
	char line[300], most[40];
	struct text text = TEXT_IN(line);
	if (survey->backwards.count) {
		format_duration(survey->backwards_most_ps / 1000, most, sizeof(most));
		add_numbers(&text, survey->backwards.count, survey->backwards.first, SURVEY_NUMBERS, "packet");
		if (import_note(import, IMPORT_LIMIT, err,
			    "times run backwards at %s, by %s at most; they are kept as they are", line, most))
			return -1;
	}
	return say_list(import, &survey->bad_fraction, "have a fraction of a second or more: their times mean nothing",
		       err) || say_list(import, &survey->no_time, "have no time", err) ||
			       say_list(import, &survey->implausible,
				       "have times before 1990 or in the future, which are not used unless most are "
				       "such",
				       err) ||
			       say_list(import, &survey->rx_error, "arrived damaged, as the card says", err)
		       ? -1
		       : 0;
}

static int say_drops(struct import *import, const struct feed *feed, struct tare_err *err)
{
	const struct capture_interface *interfaces;
	size_t count = feed_interfaces(feed, &interfaces);
	uint64_t by_interface = 0, by_system = 0, between = 0;
	bool told = false;
	for (size_t i = 0; i < count; i++) {
		if (interfaces[i].dropped_by_interface != UINT64_MAX) {
			by_interface += interfaces[i].dropped_by_interface;
			told = true;
		}
		if (interfaces[i].dropped_by_system != UINT64_MAX) {
			by_system += interfaces[i].dropped_by_system;
			told = true;
		}
		between += interfaces[i].dropped_between;
	}
	if (by_interface || by_system || between)
		return import_note(import, IMPORT_LIMIT, err,
			"the capture lost packets: %" PRIu64 " at the interface, %" PRIu64 " in the system, %" PRIu64
			" between packets; requests or replies among them count as lost or foreign",
			by_interface, by_system, between);
	if (told)
		return import_note(import, IMPORT_FATE, err, "the capture says that it lost nothing");
	return 0;
}

static int say_file(struct import *import, const struct capture_about *about, struct tare_err *err)
{
	if (about->ends_inside && import_note(import, IMPORT_DAMAGE, err,
					  "the file ends inside the record at byte %" PRIu64 ", behind packet %" PRIu64,
					  about->ends_inside, about->frames))
		return -1;
	if (about->damage[0] && import_note(import, IMPORT_DAMAGE, err, "nothing is read from %s", about->damage))
		return -1;
	if (about->padding_records && import_note(import, IMPORT_FATE, err,
					      "%" PRIu64 " padding records are no packets", about->padding_records))
		return -1;
	return 0;
}

/* The label is no proof: the distance to the capture's clock stands before it. */
static const char *scale_words(uint32_t scales)
{
	switch (scales) {
	case 1 << STAMP_SCALE_UTC:
		return "; labelled UTC";
	case 1 << STAMP_SCALE_TAI:
		return "; labelled TAI";
	case 1 << STAMP_SCALE_RELATIVE:
		return "; a count without a date";
	default:
		return "";
	}
}

static int say_stamps(struct import *import, const struct feed *feed, struct tare_err *err)
{
	const struct stamp_verdict *verdict = feed_verdict(feed);
	const struct feed_seen *seen = feed_seen(feed);
	char line[400];
	struct text text = TEXT_IN(line);
	if (verdict->words[0] && import_note(import, verdict->format == STAMP_NONE ? IMPORT_LIMIT : IMPORT_QUANTITY,
					 err, "%s%s", verdict->words, scale_words(seen->scales)))
		return -1;
	if (verdict->format == STAMP_NONE)
		return 0;
	static const char *const words[] = {"frames without a stamp", "marked as copies by the device",
		"stamped by a clock in doubt", "damaged on arrival at the device", "with repaired seconds",
		"stamped in holdover", "stamped by an unsynchronised clock", "lost before the device's port",
		"not in the file by the device's own numbers (lost on the way to it, or left out by a filter)"};
	const uint64_t counts[] = {seen->without_stamp, seen->duplicates, seen->degraded, seen->bad_fcs, seen->repaired,
		seen->holdover, seen->local, seen->lost, seen->missing};
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		if (counts[i])
			text_add(&text, "%s%" PRIu64 " %s", text.used ? ", " : "", counts[i], words[i]);
	}
	for (size_t i = 0; i < sizeof(seen->speeds) / sizeof(*seen->speeds) && seen->speeds[i]; i++)
		text_add(&text, "%s%u Gbit/s", i ? " and " : text.used ? ", ports of " : "ports of ", seen->speeds[i]);
	return text.used ? import_note(import, IMPORT_FATE, err, "%s", line) : 0;
}

/* How many datagrams came in fragments, whose time is theirs, and what of them is not here. */
static int say_fragments(
	struct import *import, const struct reader *reader, const struct feed *feed, struct tare_err *err)
{
	const struct fragments_counts *counts = feed_fragments(feed);
	uint64_t alone = feed_seen(feed)->alone;
	char line[300];
	struct text text = TEXT_IN(line);
	if (counts->datagrams &&
		import_note(import, IMPORT_QUANTITY, err,
			"%" PRIu64 " datagram%s came in fragments: time runs from the %s fragment of a request to the "
			"%s of its reply",
			counts->datagrams, counts->datagrams == 1 ? "" : "s",
			reader_is_inside(reader) ? "last" : "first", reader_is_inside(reader) ? "first" : "last"))
		return -1;
	if (alone &&
		import_note(import, IMPORT_LIMIT, err,
			"of %" PRIu64
			" datagrams in fragments only the first is in this capture, as a filter by port leaves it: "
			"time is the first fragment's, and a reply was complete later",
			alone))
		return -1;
	if (counts->incomplete) {
		add_numbers(&text, counts->incomplete, counts->incomplete_first, FRAGMENTS_NUMBERS, "datagram");
		if (import_note(import, IMPORT_LIMIT, err,
			    "%s without all fragments in this capture: left out, neither answered nor lost", line))
			return -1;
		text.used = 0;
	}
	static const char *const words[] = {"that overlap others (the first to come counts)", "that cannot be",
		"for which there was no room", "that were captured twice"};
	const uint64_t numbers[] = {counts->overlapping, counts->impossible, counts->no_room, counts->copies};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (numbers[i])
			text_add(&text, "%s%" PRIu64 " %s", text.used ? ", " : "", numbers[i], words[i]);
	}
	return text.used ? import_note(import, IMPORT_FATE, err, "fragments left out: %s", line) : 0;
}

static int say_feed(struct import *import, const struct feed *feed, struct tare_err *err)
{
	const struct capture_about *about = feed_about(feed);
	const struct survey *survey = feed_survey(feed);
	char span[40], step[40], cut[80] = "";
	format_duration(capture_time_ns(survey->latest, survey->earliest), span, sizeof(span));
	format_step(feed_step_ps(feed), step, sizeof(step));
	if (survey->cut.count)
		snprintf(cut, sizeof(cut), ", %" PRIu64 " of them cut to %u bytes", survey->cut.count,
			survey->cut_at_most);
	if (import_note(import, IMPORT_HEAD, err, "%s%s%s: %" PRIu64 " packets%s over %s, times in steps of %s",
		    about->words, about->coding ? ", " : "", about->coding ? about->coding : "", about->frames, cut,
		    span, step))
		return -1;
	return say_stamps(import, feed, err) || say_times(import, survey, err) || say_drops(import, feed, err) ||
			       say_file(import, about, err)
		       ? -1
		       : 0;
}

int notes_of_file(struct import *import, struct reader *reader, struct tare_err *err)
{
	if (say_feed(import, reader->feed, err) || say_fragments(import, reader, reader->feed, err) ||
		(reader->to_feed && say_feed(import, reader->to_feed, err)))
		return -1;
	if (census_beyond(feed_census(reader->feed)) &&
		import_note(import, IMPORT_LIMIT, err,
			"more than 4096 services: name one with --service to be sure it is looked at"))
		return -1;
	if (reader->others)
		return import_note(import, IMPORT_LIMIT, err,
			"only the %d busiest services are shown: --service names another", READER_SERVICES);
	return 0;
}

static const char *place_words(const struct reader *reader)
{
	switch (reader_stage(reader, true)) {
	case TARE_STAGE_NIC_TX:
		return "request to reply on the wire, as the client's side sees it";
	case TARE_STAGE_PEER_RX:
		return "request in to reply out, in the answering host's kernel";
	case TARE_STAGE_PEER_NIC_RX:
		return "request in to reply out, at the answering host's port";
	default:
		return "request to reply, as the capturing host's kernel sees it";
	}
}

static int notes_of_taps(struct import *import, struct reader *reader, struct reader_part *part, struct tare_err *err)
{
	const struct match_counts *counts = match_counts(reader->match);
	char bound[40] = "", missing[300], extra[300];
	struct text lost = TEXT_IN(missing), foreign = TEXT_IN(extra);
	if (reader->bound_ns)
		format_duration(reader->bound_ns, bound, sizeof(bound));
	if (import_note(import, IMPORT_QUANTITY, err, "the same packets at two places; %s%s%s%s", reader->relation,
		    bound[0] ? ": every value is uncertain by " : "", bound,
		    reader->to_first_bit[0] || reader->to_first_bit[1]
			    ? "; last bits brought to first bits by length and line rate"
			    : ""))
		return -1;
	if (part->series.lost) {
		add_numbers(&lost, part->series.lost, part->series.lost_first, 8, "packet");
		if (import_note(import, IMPORT_FATE, err, "only at the first place: %s", missing))
			return -1;
	}
	if (counts->foreign) {
		add_numbers(&foreign, counts->foreign, counts->foreign_first, 8, "packet");
		if (import_note(import, IMPORT_FATE, err, "only at the second place: %s", extra))
			return -1;
	}
	if (counts->impossible)
		return import_note(import, IMPORT_MISMATCH, err,
			"%" PRIu64 " packets arrived before they left by more than the clocks may be apart: left out",
			counts->impossible);
	return 0;
}

static int say_counts(struct import *import, const struct reader_part *part, struct tare_err *err)
{
	const struct match_counts *counts = match_counts(pairing_match(part->pairing));
	const struct pairing_counts *seen = pairing_counts(part->pairing);
	char line[400];
	struct text text = TEXT_IN(line);
	static const char *const words[] = {"copies of packets left out", "retransmissions (time runs from the first)",
		"further replies to answered requests", "replies whose request is not in the capture",
		"replies before their requests", "packets without a usable time", "packets whose key was not captured"};
	const uint64_t numbers[] = {counts->copies, counts->retransmitted + seen->retransmitted, counts->duplicates,
		counts->foreign, counts->impossible, seen->not_timed, seen->not_captured};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (numbers[i])
			text_add(&text, "%s%" PRIu64 " %s", text.used ? ", " : "", numbers[i], words[i]);
	}
	return text.used ? import_note(import, IMPORT_FATE, err, "%s", line) : 0;
}

int notes_of_part(struct import *import, struct reader *reader, struct reader_part *part, struct tare_err *err)
{
	if (!part->pairing)
		return notes_of_taps(import, reader, part, err);
	enum key_kind kind = part->key.kind;
	if (import_note(import, IMPORT_QUANTITY, err, "%s%s; matched by %s",
		    kind == KEY_TCP_ACK ? "data to the kernel's acknowledgement of it, not to an answer of the service"
					: place_words(reader),
		    reader->plan.place == PLACE_AUTO ? " (--seen-at says otherwise)" : "",
		    kind == KEY_TARE ? "udp.payload[0:16]" : key_name(&part->key)))
		return -1;
	if (kind == KEY_ORDER &&
		import_note(import, IMPORT_LIMIT, err,
			"pairs by order alone: behind a lost packet a reply is taken for the next request's"))
		return -1;
	if (kind == KEY_TCP && import_note(import, IMPORT_LIMIT, err,
				       "%" PRIu64 " acknowledgements of data, either direction, are the kernels' and "
				       "no replies: --key tcp-ack times them",
				       pairing_counts(part->pairing)->acknowledged_data))
		return -1;
	return say_counts(import, part, err);
}
