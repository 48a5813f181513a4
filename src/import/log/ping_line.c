/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines that carry a sequence number, and the order in which kinds are tried.
 * Surprising: "icmp_seq=7" with nothing behind it is the tool saying that there
 * is no answer yet; with a sentence behind it, an ICMP error; with a time or a
 * ttl, a reply. No word is needed to tell them apart.
 */
#include "import/log/ping_line.h"

#include <string.h>
#include <strings.h>

#include "tare/sample.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_seq(struct slice key)
{
	return slice_ends(key, "seq") || slice_ends(key, "icmp_req");
}

static bool is_ttl(struct slice key)
{
	return slice_is(key, "ttl") || slice_is(key, "hlim");
}

static void damaged(struct ping_line *line, const char *why)
{
	line->kind = PING_DAMAGED;
	line->damage = why;
}

/* "(DUP!)", "(BAD CHECKSUM!)", "(same route)" … behind a reply, or the bell of -a. False: something else stands there. */
static bool read_marks(const char *at, const char *end, struct ping_line *line)
{
	for (; at < end; at++) {
		if (*at == ' ' || *at == '.' || *at == ',' || *at == '\t' || *at == '\a')
			continue;
		const char *close = *at == '(' ? memchr(at, ')', (size_t)(end - at)) : NULL;
		if (!close)
			return false;
		char mark[64];
		size_t bytes = (size_t)(close - at) < sizeof(mark) ? (size_t)(close - at) : sizeof(mark) - 1;
		memcpy(mark, at, bytes);
		mark[bytes] = '\0';
		if (ping_says(mark, "DUP"))
			line->duplicate = true;
		else if (ping_says(mark, "CHECKSUM") || ping_says(mark, "FSUMME"))
			line->bad_checksum = true;
		else if (ping_says(mark, "ADDRESS") || ping_says(mark, "ADRESS"))
			line->other_address = true;
		else if (ping_says(mark, "trunc"))
			line->truncated = true;
		else if (!ping_says(mark, "same route"))
			line->marked = true;
		at = close;
	}
	return true;
}

static bool take_seq(const struct ping_item *item, struct ping_line *line)
{
	uint64_t seq = 0;
	if (item->negative || !ping_number(item->number.at, item->number.bytes, 65535, &seq)) {
		damaged(line, "a sequence number that is none of 0 to 65535");
		return false;
	}
	line->has_seq = true;
	line->seq = (uint32_t)seq;
	return true;
}

static void take_time(const struct ping_item *item, struct ping_line *line)
{
	const char *wrong = ping_item_time(item, &line->rtt_ns, &line->resolution_ns);
	if (wrong) {
		damaged(line, wrong);
		return;
	}
	line->kind = PING_REPLY;
	line->complete = true;
	line->below = item->less;
	if (item->less) {
		line->resolution_ns = line->rtt_ns > line->resolution_ns ? line->rtt_ns : line->resolution_ns;
		line->rtt_ns = TARE_NO_TIME;
	}
}

/* Seq and a sentence, or seq alone. */
static void read_error(const char *text, const char *rest, const char *end, bool stamps, struct ping_line *line)
{
	while (rest < end && (*rest == ' ' || *rest == '.' || *rest == ':'))
		rest++;
	line->what = (struct slice){rest, (size_t)(end - rest)};
	if (rest == end) {
		/* "64 bytes from …: icmp_seq=7" is the start of a reply, not a message about a missing one */
		if (is_digit(*text) && stamps)
			line->kind = PING_REPLY;
		else if (is_digit(*text))
			damaged(line, "a reply that stops behind its number");
		else
			line->kind = PING_NO_ANSWER;
		return;
	}
	line->reason = ping_reason(rest);
	line->kind = ping_says(rest, "redirect") ? PING_REDIRECT : PING_ERROR;
}

/* The item that is the time: the last with a unit, neither seq nor ttl. */
static const struct ping_item *time_item(const struct ping_item *items, size_t count)
{
	for (size_t i = count; i-- > 0;) {
		if (!is_seq(items[i].key) && !is_ttl(items[i].key) && !slice_is(items[i].key, "mtu") &&
			(items[i].unit.bytes || items[i].less || slice_is(items[i].key, "time")))
			return &items[i];
	}
	return NULL;
}

static void read_numbered(const char *text, size_t bytes, const struct ping_item *items, size_t count, size_t seq_at,
	bool stamps, struct ping_line *line)
{
	const char *end = text + bytes;
	const struct ping_item *time = time_item(items, count), *last = &items[seq_at];
	bool ttl = false;
	for (size_t i = 0; i < count; i++) {
		ttl = ttl || is_ttl(items[i].key);
		last = &items[i];
	}
	if (!take_seq(&items[seq_at], line))
		return;
	if (seq_at == 0 && slice_is(items[0].key, "seq"))
		line->dialect = PING_BUSYBOX;
	if (time && time->end > items[seq_at].end) {
		take_time(time, line);
		if (line->kind == PING_REPLY && !read_marks(last->end, end, line))
			damaged(line, "a reply with something behind its time");
		return;
	}
	if (!ttl) {
		read_error(text, items[seq_at].number.at + items[seq_at].number.bytes, end, stamps, line);
		return;
	}
	/* replies too short for a time of their own have none: "icmp_seq=1 ttl=64 (truncated)" */
	line->kind = PING_REPLY;
	if (!read_marks(last->number.at + last->number.bytes, end, line))
		damaged(line, "a reply whose time cannot be read");
}

/* "Request timeout for icmp_seq 7": the only numbered line without a sign. */
static bool read_timeout(const char *text, size_t bytes, struct ping_line *line)
{
	const char *at = strcasestr(text, "icmp_seq ");
	if (!at)
		return false;
	const char *number = at + strlen("icmp_seq "), *end = text + bytes, *stop = number;
	while (stop < end && is_digit(*stop))
		stop++;
	if (stop == number || stop != end)
		return false;
	struct ping_item item = {.number = {number, (size_t)(stop - number)}};
	if (take_seq(&item, line))
		line->kind = PING_NO_ANSWER;
	return true;
}

/* Windows: no number; an address, then a time, mostly a TTL behind it. */
static bool read_unnumbered(
	const char *text, size_t bytes, const struct ping_item *items, size_t count, struct ping_line *line)
{
	const struct ping_item *time = time_item(items, count);
	size_t times = 0;
	bool ttl = false;
	for (size_t i = 0; i < count; i++) {
		ttl = ttl || is_ttl(items[i].key);
		times += items[i].unit.bytes != 0;
	}
	struct slice address = {0};
	bool addressed = ping_address(text, bytes, &address);
	if (!time || times > 1 || (!ttl && !addressed))
		return false;
	if (!memchr(text, ':', (size_t)(time->number.at - text)))
		return false;
	line->dialect = PING_WINDOWS;
	line->who = address;
	line->address = address;
	take_time(time, line);
	return true;
}

static size_t skip_prefix(const char *text, size_t bytes, struct ping_line *line)
{
	size_t at = 0;
	/* inetutils' flood has no line's end in front of its statistics */
	size_t flood = strspn(text, ".\b");
	if (flood < bytes && memchr(text, '\b', flood) && text[flood] == '-')
		at = flood;
	/* a terminal's echo of Ctrl-C and Ctrl-\ */
	while (at + 1 < bytes && text[at] == '^' && (text[at + 1] == 'C' || text[at + 1] == '\\'))
		at += 2;
	while (at < bytes && strchr(" \t\r", text[at]))
		at++;
	int stamp = ping_stamp(text + at, bytes - at, &line->stamp_ns);
	if (stamp < 0)
		damaged(line, "a time stamp that cannot be");
	if (stamp > 0)
		at += (size_t)stamp;
	while (at < bytes && (text[at] == ' ' || text[at] == '\t'))
		at++;
	return at;
}

void ping_line_read(const char *text, size_t bytes, struct ping_context context, struct ping_line *line)
{
	struct ping_item items[PING_ITEMS_MAX];
	*line = (struct ping_line){.kind = PING_NOISE, .rtt_ns = TARE_NO_TIME, .stamp_ns = TARE_NO_TIME};
	context.indented = bytes && text[0] == '\t';
	size_t skipped = skip_prefix(text, bytes, line);
	if (line->kind == PING_DAMAGED)
		return;
	text += skipped;
	bytes -= skipped;
	if (!bytes) {
		line->kind = PING_BLANK;
		return;
	}
	if (ping_read_header(text, bytes, line))
		return;
	size_t count = ping_items(text, bytes, items);
	for (size_t i = 0; i < count; i++) {
		if (!is_seq(items[i].key))
			continue;
		if (ping_address(text, (size_t)(items[i].key.at - text), &line->address))
			line->who = line->address;
		read_numbered(text, bytes, items, count, i, context.stamps, line);
		return;
	}
	if (read_timeout(text, bytes, line) || ping_read_summary(text, bytes, context, line) ||
		read_unnumbered(text, bytes, items, count, line))
		return;
	ping_read_trouble(text, bytes, context, line);
}
