/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the samples of a capture mean and where they come from, as every log says it.
 * A capture does not know why a request left when it did: pacing and lateness are
 * unknown. Lost requests are in it, so that their number is known; what the capture
 * itself lost is in its counters, what a filter left out leaves no trace.
 */
#include "base/text.h"
#include "import/capture/reader.h"

/* Hardware stamps are said by their name; ERF does not say whether card or host stamped. */
static enum tare_clock clock_of(const struct feed *feed)
{
	if (feed_verdict(feed)->format != STAMP_NONE)
		return TARE_CLOCK_HARDWARE;
	return feed_about(feed)->format == CAPTURE_ERF ? TARE_CLOCK_UNKNOWN : TARE_CLOCK_WALL;
}

static enum tare_quantity quantity_of(const struct reader *reader)
{
	if (reader->plan.taps)
		return TARE_QUANTITY_ONE_WAY;
	return reader_is_inside(reader) ? TARE_QUANTITY_RESIDENCE : TARE_QUANTITY_RTT;
}

/* Whether its interfaces counted packets that are not in the file; one that did not count says nothing. */
static bool says_lost(const struct feed *feed)
{
	const struct capture_interface *interfaces;
	size_t count = feed_interfaces(feed, &interfaces);
	for (size_t i = 0; i < count; i++) {
		uint64_t by_interface = interfaces[i].dropped_by_interface, by_system = interfaces[i].dropped_by_system;
		if ((by_interface && by_interface != UINT64_MAX) || (by_system && by_system != UINT64_MAX) ||
			interfaces[i].dropped_between)
			return true;
	}
	return false;
}

static const char *format_of(const struct feed *feed)
{
	static const char *const names[] = {[CAPTURE_NONE] = "capture",
		[CAPTURE_PCAP] = "pcap",
		[CAPTURE_PCAPNG] = "pcapng",
		[CAPTURE_ERF] = "erf"};
	return names[feed_about(feed)->format];
}

int reader_origin(
	struct import *import, const struct reader *reader, struct tare_origin *ret_origin, struct tare_err *err)
{
	const struct feed *feed = reader->feed, *other = reader->to_feed ? reader->to_feed : feed;
	const struct stamp_verdict *verdict = feed_verdict(feed), *beside = feed_verdict(other);
	char name[48];
	struct text text = TEXT_IN(name);
	text_add(&text, "%s", format_of(feed));
	if (verdict->format != STAMP_NONE)
		text_add(&text, "+%s", stamp_format_name(verdict->format));
	if (beside->format != verdict->format && beside->format != STAMP_NONE)
		text_add(&text, "+%s", stamp_format_name(beside->format));
	const char *format = import_text(import, name, err);
	if (!format)
		return -1;
	*ret_origin = (struct tare_origin){.format = format,
		.quantity = quantity_of(reader),
		.clock = clock_of(feed) == clock_of(other) ? clock_of(feed) : TARE_CLOCK_MIXED,
		.pacing = TARE_PACING_UNKNOWN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.shape = TARE_SHAPE_SAMPLES,
		.left_out = says_lost(feed) || says_lost(other) ? TARE_LEFT_OUT_SOME : 0};
	return 0;
}
