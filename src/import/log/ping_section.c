/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From lines to samples. Surprising: 16-bit numbers are unwrapped by the nearest
 * way, but an answer to a request that already has one, and which ping has not
 * marked as a duplicate (it always marks those), is 65536 further on: that is how
 * an outage of more than half the range is told from late answers.
 */
#include "import/log/ping_section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tare/sample.h"

void ping_section_reset(struct ping_section *section, uint64_t first_line)
{
	struct ping_samples samples = section->samples;
	samples.count = 0;
	*section = (struct ping_section){.samples = samples,
		.highest = -1,
		.highest_answered = -1,
		.first_line = first_line,
		.last_line = first_line,
		.last_stamp_ns = TARE_NO_TIME};
}

void ping_section_free(struct ping_section *section)
{
	struct ping_samples *samples = &section->samples;
	free(samples->rtt_ns);
	free(samples->tx_ns);
	free(samples->rx_ns);
	free(samples->gap_ns);
	free(samples->scratch);
	free(samples->fate);
	free(samples->flags);
	free(samples->reason);
	*samples = (struct ping_samples){0};
}

bool ping_section_holds(const struct ping_section *section)
{
	/* other text of that shape makes no section unless something of ping's follows */
	if (section->unsure && !section->replies && !section->errors && !section->has_totals)
		return false;
	return section->has_header || section->samples.count || section->has_totals || section->unmatched_errors ||
	       section->local_errors;
}

uint64_t ping_section_limit(const struct ping_section *section)
{
	return (UINT64_C(1) << 20) + 4 * (section->last_line - section->first_line + 1);
}

static bool answered_at(const struct ping_section *section, int64_t index)
{
	return index >= 0 && index < (int64_t)section->samples.count && section->samples.fate[index] == TARE_ANSWERED;
}

enum ping_place ping_section_place(
	const struct ping_section *section, const struct ping_line *line, bool last, int64_t *ret_index)
{
	int64_t index = section->highest + 1;
	if (line->has_seq && section->numbered) {
		uint16_t highest_seq = (uint16_t)(section->base + section->highest);
		bool unmarked = line->kind == PING_REPLY && !line->duplicate && !line->marked && !line->bad_checksum;
		index = section->highest + (int16_t)(uint16_t)(line->seq - highest_seq);
		bool again = unmarked && index <= section->highest && answered_at(section, index) && !last;
		if ((again || index < 0) && line->seq <= 1 && section->highest < 65000)
			return PLACE_RESTART;
		if (index < 0 && index >= -64 && !section->has_header)
			return PLACE_BEFORE;
		if (again || index < 0)
			index += 65536;
	} else if (line->has_seq) {
		bool from_one = section->has_header && section->dialect == PING_IPUTILS && line->seq > 0;
		index = !section->has_header ? 0 : from_one ? line->seq - 1 : line->seq;
	}
	if ((uint64_t)index >= ping_section_limit(section))
		return PLACE_FAR;
	*ret_index = index;
	return PLACE_OK;
}

static int grow_one(void *slot, size_t room, size_t size, struct tare_err *err)
{
	void *array = NULL;
	memcpy(&array, slot, sizeof(array));
	void *grown = realloc(array, room * size);
	if (!grown)
		return tare_fail_errno(err, ENOMEM, "cannot hold %zu samples", room);
	memcpy(slot, &grown, sizeof(grown));
	return 0;
}

static int grow(struct ping_samples *samples, size_t count, struct tare_err *err)
{
	size_t room = samples->room ? samples->room : 256;
	while (room < count)
		room *= 2;
	if (grow_one(&samples->rtt_ns, room, sizeof(int64_t), err) ||
		grow_one(&samples->tx_ns, room, sizeof(int64_t), err) ||
		grow_one(&samples->rx_ns, room, sizeof(int64_t), err) ||
		grow_one(&samples->gap_ns, room, sizeof(int64_t), err) ||
		grow_one(&samples->scratch, room, sizeof(int64_t), err) || grow_one(&samples->fate, room, 1, err) ||
		grow_one(&samples->flags, room, sizeof(uint16_t), err) ||
		grow_one(&samples->reason, room, sizeof(uint16_t), err))
		return -1;
	samples->room = room;
	return 0;
}

static void clear(struct ping_samples *samples, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		samples->rtt_ns[i] = samples->tx_ns[i] = samples->rx_ns[i] = samples->gap_ns[i] = TARE_NO_TIME;
		samples->fate[i] = TARE_LOST;
		samples->flags[i] = samples->reason[i] = 0;
	}
}

int ping_section_extend(struct ping_section *section, size_t count, struct tare_err *err)
{
	struct ping_samples *samples = &section->samples;
	if (count <= samples->count)
		return 0;
	if (count > samples->room && grow(samples, count, err))
		return -1;
	clear(samples, samples->count, count);
	samples->count = count;
	return 0;
}

int ping_section_shift(struct ping_section *section, size_t count, struct tare_err *err)
{
	struct ping_samples *samples = &section->samples;
	size_t old = samples->count;
	if (ping_section_extend(section, old + count, err))
		return -1;
	memmove(samples->rtt_ns + count, samples->rtt_ns, old * sizeof(int64_t));
	memmove(samples->tx_ns + count, samples->tx_ns, old * sizeof(int64_t));
	memmove(samples->rx_ns + count, samples->rx_ns, old * sizeof(int64_t));
	memmove(samples->fate + count, samples->fate, old);
	memmove(samples->flags + count, samples->flags, old * sizeof(uint16_t));
	memmove(samples->reason + count, samples->reason, old * sizeof(uint16_t));
	clear(samples, 0, count);
	section->base -= (int64_t)count;
	section->highest += (int64_t)count;
	section->highest_answered += (int64_t)count;
	return 0;
}

/*
 * ping counts a send that our host refused as transmitted but does not say which
 * it was. Where exactly as many requests lack an answer as were refused, there is
 * no doubt; elsewhere they stay lost and a note says so.
 */
static void settle_refused(struct ping_section *section, int64_t first, int64_t end)
{
	struct ping_samples *samples = &section->samples;
	struct ping_refused refused = section->refused;
	section->refused = (struct ping_refused){0};
	if (!refused.count || end - first != (int64_t)refused.count)
		return;
	for (int64_t i = first; i < end; i++) {
		samples->fate[i] = TARE_NOT_SENT;
		samples->reason[i] = refused.reason;
	}
	section->local_placed += refused.count;
}

int ping_section_reach(struct ping_section *section, int64_t index, bool answered, struct tare_err *err)
{
	int64_t highest = section->highest;
	if (index <= highest)
		return 0;
	if (ping_section_extend(section, (size_t)index + 1, err))
		return -1;
	section->highest = index;
	settle_refused(section, highest + 1, answered ? index : index + 1);
	return 0;
}

static void note_resolution(struct ping_section *section, int64_t resolution_ns)
{
	if (!resolution_ns)
		return;
	if (!section->finest_ns || resolution_ns < section->finest_ns)
		section->finest_ns = resolution_ns;
	if (resolution_ns > section->coarsest_ns)
		section->coarsest_ns = resolution_ns;
	size_t power = 0;
	for (; resolution_ns >= 10 && power < 11; resolution_ns /= 10)
		power++;
	section->steps[power]++;
}

int64_t ping_section_step(const struct ping_section *section)
{
	uint64_t all = 0, below = 0;
	int64_t step_ns = 1;
	for (size_t i = 0; i < 12; i++)
		all += section->steps[i];
	for (size_t i = 0; i < 12; i++, step_ns *= 10) {
		below += section->steps[i];
		if (all && 2 * below >= all)
			return step_ns;
	}
	return 0;
}

void ping_section_answer(struct ping_section *section, int64_t index, const struct ping_line *line)
{
	struct ping_samples *samples = &section->samples;
	section->replies++;
	if (line->bad_checksum) {
		section->bad_checksum++;
		if (samples->fate[index] != TARE_ANSWERED) {
			samples->fate[index] = TARE_ERROR;
			samples->reason[index] = EBADMSG;
		}
		return;
	}
	if (line->duplicate || samples->fate[index] == TARE_ANSWERED) {
		section->duplicates++;
		section->duplicates_ns += line->rtt_ns != TARE_NO_TIME ? line->rtt_ns : 0;
		samples->flags[index] |= TARE_FLAG_DUPLICATED;
		/* the first answer's line is missing: answered, but its time is not this one */
		section->answered += samples->fate[index] != TARE_ANSWERED;
		samples->fate[index] = TARE_ANSWERED;
		samples->reason[index] = 0;
		return;
	}
	section->answered++;
	section->below += line->below;
	section->other_address += line->other_address;
	section->truncated += line->truncated;
	note_resolution(section, line->resolution_ns);
	samples->fate[index] = TARE_ANSWERED;
	samples->reason[index] = 0;
	samples->rtt_ns[index] = line->rtt_ns;
	if (section->clock_warned && line->rtt_ns == 0) {
		/* ping prints 0 where the clock went back between send and receive */
		samples->rtt_ns[index] = TARE_NO_TIME;
		samples->flags[index] |= TARE_FLAG_CLOCK_STEP;
	} else if (line->rtt_ns == 0) {
		section->zeros++;
	}
	section->clock_warned = false;
	if (line->stamp_ns != TARE_NO_TIME) {
		section->has_stamps = true;
		samples->rx_ns[index] = line->stamp_ns;
		if (samples->rtt_ns[index] != TARE_NO_TIME)
			samples->tx_ns[index] = line->stamp_ns - samples->rtt_ns[index];
	}
	if (index < section->highest_answered) {
		section->reordered++;
		samples->flags[index] |= TARE_FLAG_REORDERED;
	} else {
		section->highest_answered = index;
	}
}

void ping_section_error(struct ping_section *section, int64_t index, const struct ping_line *line)
{
	struct ping_samples *samples = &section->samples;
	if (samples->fate[index] == TARE_ANSWERED) {
		section->unmatched_errors++;
		return;
	}
	section->errors += samples->fate[index] != TARE_ERROR;
	samples->fate[index] = TARE_ERROR;
	samples->reason[index] = line->reason;
}

/* A log without its head: the totals tell how many requests went before. */
static int restore_head(struct ping_section *section, struct tare_err *err)
{
	int64_t start = section->dialect == PING_BUSYBOX ? 0 : 1;
	int64_t missing = section->base - start;
	if (section->has_header || !section->numbered || missing <= 0)
		return 0;
	uint64_t counted = (uint64_t)(section->highest + 1 + missing);
	if (section->transmitted < counted || section->transmitted - counted >= 65536 ||
		counted > ping_section_limit(section))
		return 0;
	return ping_section_shift(section, (size_t)missing, err);
}

static int apply_totals(struct ping_section *section, struct tare_err *err)
{
	struct ping_samples *samples = &section->samples;
	if (restore_head(section, err))
		return -1;
	size_t seen = samples->count;
	if (section->transmitted > seen && section->transmitted <= ping_section_limit(section) &&
		ping_section_extend(section, (size_t)section->transmitted, err))
		return -1;
	settle_refused(section, section->highest + 1, (int64_t)samples->count);
	/* answers whose lines are missing (ping -q, a cut log): they are no losses */
	uint64_t unknown = section->received > section->answered ? section->received - section->answered : 0;
	/* Windows counts "destination host unreachable" as received */
	if (section->dialect == PING_WINDOWS)
		unknown = unknown > section->errors ? unknown - section->errors : 0;
	for (size_t i = 0; i < samples->count && unknown; i++) {
		if (samples->fate[i] != TARE_LOST)
			continue;
		samples->fate[i] = TARE_ANSWERED;
		section->known_by_totals++;
		unknown--;
	}
	return 0;
}

/* What our host refused behind the last line of a request: no totals count it, but it was to be sent. */
static int add_refused(struct ping_section *section, struct tare_err *err)
{
	size_t first = section->samples.count;
	uint64_t count = section->refused.count;
	if (section->dialect == PING_WINDOWS || !count || first + count > ping_section_limit(section))
		return 0;
	if (ping_section_extend(section, first + (size_t)count, err))
		return -1;
	settle_refused(section, (int64_t)first, (int64_t)(first + count));
	return 0;
}

/* A millisecond back is more than the order of printing explains: the wall clock was set. */
static int fill_gaps(struct ping_section *section, struct import *import, struct tare_err *err)
{
	const int64_t step_ns = 1000000;
	struct ping_samples *samples = &section->samples;
	for (size_t i = 1; i < samples->count; i++) {
		if (samples->tx_ns[i] == TARE_NO_TIME || samples->tx_ns[i - 1] == TARE_NO_TIME)
			continue;
		int64_t gap = samples->tx_ns[i] - samples->tx_ns[i - 1];
		if (gap >= 0) {
			samples->gap_ns[i] = gap;
		} else if (gap < -step_ns) {
			samples->flags[i] |= TARE_FLAG_CLOCK_STEP;
			if (import_event(import, samples->tx_ns[i], "wall-step", err,
				    "the wall clock went back by %lld ns or more before request %zu", (long long)-gap,
				    i + 1))
				return -1;
		}
	}
	return 0;
}

int ping_section_close(struct ping_section *section, struct import *import, struct tare_err *err)
{
	struct ping_samples *samples = &section->samples;
	int64_t epoch = import->run.epoch_real_ns;
	if (section->has_totals && apply_totals(section, err))
		return -1;
	if (!section->has_totals && add_refused(section, err))
		return -1;
	for (size_t i = 0; i < samples->count; i++) {
		if (samples->rx_ns[i] != TARE_NO_TIME)
			samples->rx_ns[i] -= epoch;
		if (samples->tx_ns[i] != TARE_NO_TIME)
			samples->tx_ns[i] -= epoch;
	}
	return fill_gaps(section, import, err);
}
