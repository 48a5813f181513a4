/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is to be said about a ping log besides its figures: what they mean, how
 * fine they are, whether the schedule was kept, and where lines and summary
 * disagree. One sentence each, only where there is something to say.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/log/ping_section.h"
#include "import/printed.h"
#include "tare/sample.h"

const char *ping_tool(enum ping_dialect dialect)
{
	static const char *const names[] = {
		[PING_UNKNOWN] = "ping",
		[PING_IPUTILS] = "ping (iputils)",
		[PING_BSD] = "ping (BSD, macOS or inetutils)",
		[PING_BUSYBOX] = "ping (BusyBox)",
		[PING_WINDOWS] = "ping (Windows)",
	};
	return names[dialect];
}

typedef unsigned long long count; /* for printf */

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

static int64_t median_rtt(const struct ping_section *section)
{
	const struct ping_samples *samples = &section->samples;
	size_t known = 0;
	for (size_t i = 0; i < samples->count; i++) {
		if (samples->rtt_ns[i] != TARE_NO_TIME)
			samples->scratch[known++] = samples->rtt_ns[i];
	}
	if (!known)
		return TARE_NO_TIME;
	qsort(samples->scratch, known, sizeof(int64_t), by_value);
	return samples->scratch[(known - 1) / 2];
}

static int note_head(const struct ping_section *section, struct import *import, struct tare_err *err)
{
	char asked[32], buffer[256];
	struct text text = TEXT_IN(buffer);
	text_add(&text, "%s, %zu packet%s", ping_tool(section->dialect), section->samples.count,
		plural(section->samples.count));
	if (import->has_schedule && import->schedule.asked_ns) {
		format_duration(import->schedule.asked_ns, asked, sizeof(asked));
		text_add(&text, ", asked %s apart%s", asked, import->schedule.inferred ? " (inferred)" : "");
	} else if (import->rules.every_ns > 0) {
		format_duration(import->rules.every_ns, asked, sizeof(asked));
		text_add(&text, ", asked %s apart", asked);
	}
	return import_note(import, IMPORT_HEAD, err, "%s", buffer);
}

static int note_quantity(const struct ping_section *section, struct import *import, struct tare_err *err)
{
	char fine[32], coarse[32];
	if (!section->coarsest_ns)
		return 0;
	format_duration(section->finest_ns, fine, sizeof(fine));
	format_duration(section->coarsest_ns, coarse, sizeof(coarse));
	bool mixed = section->finest_ns != section->coarsest_ns;
	if (import_note(import, IMPORT_QUANTITY, err, "resolution %s%s%s%s; RTT counts from the actual send", fine,
		    mixed ? " to " : "", mixed ? coarse : "", mixed ? ", coarser the longer the time" : "") ||
		import_note(import, IMPORT_LIMIT, err, "percentiles finer than %s cannot be told from this log", fine))
		return -1;
	if (section->zeros &&
		import_note(import, IMPORT_LIMIT, err, "%llu time%s printed as 0: less than %s, not nothing",
			(count)section->zeros, plural(section->zeros), fine))
		return -1;
	if (!section->below)
		return 0;
	uint64_t known = section->answered - section->below;
	if (!known)
		return import_note(import, IMPORT_LIMIT, err,
			"all of the %llu answers took less than %s: no time is known, only this bound",
			(count)section->below, coarse);
	return import_note(import, IMPORT_LIMIT, err,
		"%llu of %llu answers took less than %s and have no value: figures of the other %llu are those of the "
		"slower "
		"ones, not of all",
		(count)section->below, (count)section->answered, coarse, (count)known);
}

static int note_pacing(const struct ping_section *section, struct import *import, struct tare_err *err)
{
	char buffer[400];
	if (!section->samples.count)
		return 0;
	if (!import->has_schedule)
		return import_note(import, IMPORT_PACING, err,
			"no send times in this log (ping -D prints them): whether the schedule was kept cannot be "
			"told");
	ping_schedule_text(&import->schedule, median_rtt(section), buffer, sizeof(buffer));
	if (import_note(import, IMPORT_PACING, err, "%s", buffer))
		return -1;
	if (import_note(
		    import, IMPORT_LIMIT, err, "send times are print times less the RTT: late by ping's own wake-up"))
		return -1;
	if (!import->schedule.backwards)
		return 0;
	return import_note(import, IMPORT_LIMIT, err, "%llu send time%s before the one in front: left out of the gaps",
		(count)import->schedule.backwards, plural(import->schedule.backwards));
}

static int note_local_errors(const struct ping_section *section, struct import *import, struct tare_err *err)
{
	uint64_t unplaced = section->local_errors - section->local_placed;
	if (!section->local_errors)
		return 0;
	if (!unplaced)
		return import_note(import, IMPORT_FATE, err, "%llu send%s refused by the host itself (%s)",
			(count)section->local_errors, plural(section->local_errors), section->first_local_error.text);
	return import_note(import, IMPORT_FATE, err,
		"%llu send%s refused by the host itself (%s); ping does not say which, so %llu of the lost may never "
		"have "
		"left",
		(count)section->local_errors, plural(section->local_errors), section->first_local_error.text,
		(count)unplaced);
}

static int note_remarks(const struct ping_section *section, struct import *import, struct tare_err *err)
{
	if (!section->remarks)
		return 0;
	return import_note(import, IMPORT_FATE, err, "%llu remark%s of ping, the first on line %llu: %s",
		(count)section->remarks, plural(section->remarks), (count)section->remark_line, section->first_remark.text);
}

static int note_fates(const struct ping_section *section, struct import *import, struct tare_err *err)
{
	if (section->errors && import_note(import, IMPORT_FATE, err, "%llu request%s refused, the first by %s: %s",
				       (count)section->errors, plural(section->errors), section->first_reporter.text,
				       section->first_error.text))
		return -1;
	if (section->unmatched_errors &&
		import_note(import, IMPORT_FATE, err, "%llu error%s without an open request, the first by %s: %s",
			(count)section->unmatched_errors, plural(section->unmatched_errors),
			section->first_reporter.text, section->first_error.text))
		return -1;
	if (note_local_errors(section, import, err) || note_remarks(section, import, err))
		return -1;
	if (section->bad_checksum &&
		import_note(import, IMPORT_FATE, err, "%llu answer%s with a bad checksum not counted as such",
			(count)section->bad_checksum, plural(section->bad_checksum)))
		return -1;
	if (section->other_address && import_note(import, IMPORT_FATE, err, "%llu answer%s from another address",
					      (count)section->other_address, plural(section->other_address)))
		return -1;
	if (section->before_first &&
		import_note(import, IMPORT_FATE, err, "%llu answer%s to requests from before this log left out",
			(count)section->before_first, plural(section->before_first)))
		return -1;
	if (!section->has_header && section->numbered && section->base > 1)
		return import_note(import, IMPORT_LIMIT, err,
			"the log begins at request %lld: what was before is not known", (long long)section->base);
	return 0;
}

/* Why ping's average is not that of its lines. */
static void add_reason(const struct ping_section *section, struct text *text)
{
	bool cuts = section->dialect != PING_BSD;
	if (section->duplicates)
		text_add(text, "it counts the %llu duplicate%s, too", (count)section->duplicates, plural(section->duplicates));
	if (cuts)
		text_add(text, "%sit cuts its average to whole %s", text->used ? ", and " : "",
			section->dialect == PING_WINDOWS ? "ms" : "µs");
	if (section->coarsest_ns > section->times_step_ns)
		text_add(text, "%sits figures are of times before they were rounded for its lines", text->used ? ", and " : "");
	if (!text->used)
		text_add(text, "by whatever rule, over the same %llu answers", (count)section->answered);
}

/*
 * Nothing where the log's summary says what its lines say. A summary of more answers than there are lines, or of some
 * below the display's step, is of other values and stands as it is.
 */
static int note_figures(const struct ping_section *section, struct import *import, struct tare_err *err)
{
	const struct ping_samples *samples = &section->samples;
	char reason[200];
	struct text text = TEXT_IN(reason);
	if (!section->has_times)
		return 0;
	AUTO_CLEANUP(ranked_end) struct ranked ranked = {0};
	if (ranked_open(samples->rtt_ns, samples->count, &ranked, err))
		return -1;
	uint64_t received = section->answered + (section->dialect == PING_WINDOWS ? section->errors : 0);
	bool whole = section->has_totals && section->received == received && ranked.count == section->answered;
	if (!whole || !ranked.count)
		return import_note(import, IMPORT_PRINTED, err, "the log's own figures, not used: %s", section->times.text);
	/* "0.352" of 0.35287 is cut, of 0.3524 rounded alike: only what no rounding explains is told */
	int64_t step = section->times_step_ns, half = step / 2 - (section->dialect != PING_BSD), coarse = section->coarsest_ns > step ? section->coarsest_ns : step;
	struct printed list[] = {{"min", section->times_ns[0], ranked_at(&ranked, 1), coarse},
		{"avg", section->times_ns[1], ranked_mean(&ranked), half},
		{"max", section->times_ns[2], ranked_at(&ranked, ranked.count), coarse}};
	add_reason(section, &text);
	return printed_note(import, "ping", "prints", UNIT_MS, list, sizeof(list) / sizeof(*list), reason, err);
}

static int note_totals(const struct ping_section *section, struct import *import, struct tare_err *err)
{
	size_t seen = (size_t)(section->highest + 1);
	if (note_figures(section, import, err))
		return -1;
	if (!section->has_totals) {
		return section->samples.count
			       ? import_note(import, IMPORT_LIMIT, err,
					 "the log has no summary: requests after the last line are not known")
			       : 0;
	}
	if (!section->replies && section->known_by_totals)
		return import_note(import, IMPORT_MISMATCH, err,
			"summary only: %llu transmitted, %llu received, not one line about an answer; nothing can be "
			"measured",
			(count)section->transmitted, (count)section->received);
	bool windows = section->dialect == PING_WINDOWS;
	uint64_t received = section->answered + (windows ? section->errors : 0);
	if (section->transmitted < seen || section->transmitted > section->samples.count ||
		section->received != received)
		return import_note(import, IMPORT_MISMATCH, err,
			"the log's own summary counts %llu transmitted and %llu received, its lines show %zu and "
			"%llu%s",
			(count)section->transmitted, (count)section->received, seen, (count)received,
			section->known_by_totals
				? "; answers without a line are counted as answered, their times unknown"
				: "");
	return 0;
}

static int note_damage(const struct ping_section *section, struct import *import, struct tare_err *err)
{
	if (section->damaged &&
		import_note(import, IMPORT_DAMAGE, err, "%llu damaged line%s passed over, the first is line %llu: %s",
			(count)section->damaged, plural(section->damaged), (count)section->damaged_line,
			section->first_damage))
		return -1;
	if (section->noise && import_note(import, IMPORT_DAMAGE, err,
				      "%llu line%s not of ping, the first is line %llu: %s", (count)section->noise,
				      plural(section->noise), (count)section->noise_line, section->first_noise.text))
		return -1;
	if (section->cut &&
		import_note(import, IMPORT_DAMAGE, err, "the log is cut off in mid-line: its last line is left out"))
		return -1;
	return 0;
}

int ping_section_notes(const struct ping_section *section, struct import *import, struct tare_err *err)
{
	if (note_head(section, import, err) || note_quantity(section, import, err) ||
		note_pacing(section, import, err) || note_fates(section, import, err) ||
		note_totals(section, import, err) || note_damage(section, import, err))
		return -1;
	return 0;
}
