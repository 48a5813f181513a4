/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines without a sequence number: where a section begins, its totals, and what
 * went wrong. Windows is read by shape alone: its header ends with ':' and has an
 * address and a number, its totals are three "= N", its times three "= N unit".
 */
#include "import/log/ping_line.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts(const char *text, const char *word)
{
	return strncasecmp(text, word, strlen(word)) == 0;
}

/* The run of digits from `at` on that stands alone: not part of a word, an address or a fraction. */
static const char *lone_number(const char *at, const char *end, struct slice *ret_number)
{
	for (const char *start = at; start < end; start++) {
		if (!is_digit(*start))
			continue;
		const char *stop = start;
		while (stop < end && is_digit(*stop))
			stop++;
		bool before = start == at || *(start - 1) == ' ' || *(start - 1) == '(' || *(start - 1) == '+' ||
			      (unsigned char)*(start - 1) >= 0x80;
		/* "2a00:1450::2" holds digits and no number */
		bool word = stop < end && ((*stop >= 'a' && *stop <= 'z') || (*stop >= 'A' && *stop <= 'Z'));
		bool after = stop == end || (!word && !strchr(".:%/", *stop)) ||
			     (stop + 1 < end && *stop == '.' && !is_digit(stop[1]));
		if (before && after) {
			*ret_number = (struct slice){start, (size_t)(stop - start)};
			return stop;
		}
		while (stop < end && (is_digit(*stop) || *stop == '.' || *stop == ':'))
			stop++;
		start = stop - 1;
	}
	return NULL;
}

static void take_payload(struct slice number, struct ping_line *line)
{
	uint64_t payload = 0;
	if (ping_number(number.at, number.bytes, 65535, &payload))
		line->payload_bytes = (uint32_t)payload;
}

/* "PING host (address) 56(84) bytes of data.", with ':' behind the address on BSD, macOS and BusyBox. */
static bool read_ping_header(const char *text, size_t bytes, struct ping_line *line)
{
	if (bytes < 5 || strncmp(text, "PING ", 5) != 0)
		return false;
	const char *end = text + bytes, *at = text + 5;
	size_t host = strcspn(at, " (");
	const char *open = memchr(at, '(', (size_t)(end - at));
	const char *close = open ? memchr(open, ')', (size_t)(end - open)) : NULL;
	if (!host || !close)
		return false;
	line->kind = PING_HEADER;
	line->stamps = ping_says(close, "sending timestamp requests");
	line->who = (struct slice){at, host};
	if (!ping_address(open + 1, (size_t)(close - open - 1), &line->address))
		line->address = (struct slice){open + 1, (size_t)(close - open - 1)};
	line->dialect = close + 1 < end && close[1] == ':' ? PING_BSD : PING_IPUTILS;
	struct slice number;
	/* "from fe80::1%eth0 eth0: 56 data bytes": behind the last colon */
	const char *data = strrchr(close, ':');
	at = data ? data : close;
	for (; at < end && !is_digit(*at); at++) {
	}
	for (number.at = at; at < end && is_digit(*at); at++) {
	}
	number.bytes = (size_t)(at - number.at);
	take_payload(number, line);
	return true;
}

/* KAME: "PING6(56=40+8+8 bytes) ::1 --> ::1" */
static bool read_ping6_header(const char *text, size_t bytes, struct ping_line *line)
{
	const char *arrow = strncmp(text, "PING6(", 6) == 0 ? strstr(text, "--> ") : NULL;
	if (!arrow)
		return false;
	const char *at = arrow + 4;
	line->kind = PING_HEADER;
	line->dialect = PING_BSD;
	line->who = (struct slice){at, (size_t)(text + bytes - at)};
	line->address = line->who;
	const char *plus = strrchr(text, '+');
	if (plus)
		take_payload((struct slice){plus + 1, strspn(plus + 1, "0123456789")}, line);
	return true;
}

static bool read_windows_header(const char *text, size_t bytes, struct ping_line *line)
{
	struct slice address, number, first = {0};
	if (text[bytes - 1] != ':' || memchr(text, '=', bytes) || !ping_address(text, bytes, &address))
		return false;
	size_t numbers = 0;
	for (const char *at = text; (at = lone_number(at, text + bytes, &number)) != NULL; numbers++)
		first = number;
	if (numbers != 1 || bytes > 200)
		return false;
	line->kind = PING_HEADER;
	line->dialect = PING_WINDOWS;
	line->who = address;
	line->address = address;
	take_payload(first, line);
	return true;
}

bool ping_read_header(const char *text, size_t bytes, struct ping_line *line)
{
	return read_ping_header(text, bytes, line) || read_ping6_header(text, bytes, line) ||
	       read_windows_header(text, bytes, line);
}

static void take_total(struct slice number, bool plus, const char *word, size_t *plain, struct ping_line *line)
{
	uint64_t count = 0;
	if (!ping_number(number.at, number.bytes, UINT32_MAX, &count)) {
		line->kind = PING_DAMAGED;
		line->damage = "a total that cannot be";
		return;
	}
	if (plus && starts(word, "dup")) {
		line->duplicates = count;
	} else if (plus) {
		line->errors += count;
	} else if (*plain == 0) {
		line->transmitted = count;
		line->has_transmitted = true;
	} else if (*plain == 1) {
		line->received = count;
		line->has_received = true;
	} else if (*plain == 2) {
		line->duplicates = count;
	}
	*plain += !plus;
}

/* "5 packets transmitted, 4 received, +1 duplicates, 20% packet loss": numbers in this order in every language. */
static bool read_totals(const char *text, size_t bytes, bool expected, struct ping_line *line)
{
	const char *end = text + bytes, *percent = memchr(text, '%', bytes), *stop;
	size_t plain = 0;
	struct slice number;
	if (!percent || memchr(text, '/', bytes) || memchr(text, '=', bytes) ||
		!(expected || ping_says(text, "transmitted")))
		return false;
	line->kind = PING_TOTALS;
	for (const char *at = text; (stop = lone_number(at, percent, &number)) != NULL; at = stop) {
		const char *word = stop;
		while (word < end && (*word == ' ' || (unsigned char)*word == 0xC2 || (unsigned char)*word == 0xA0))
			word++;
		/* the share lost is no count: "0%", "0 %" */
		if (word == percent)
			break;
		take_total(number, number.at > text && number.at[-1] == '+', word, &plain, line);
	}
	if (line->kind == PING_TOTALS && plain < 2)
		line->kind = PING_NOISE;
	return line->kind != PING_NOISE;
}

static bool read_windows_totals(const char *text, size_t bytes, struct ping_line *line)
{
	struct ping_item items[PING_ITEMS_MAX];
	size_t count = ping_items(text, bytes, items), plain = 0, timed = 0;
	for (size_t i = 0; i < count; i++) {
		timed += items[i].unit.bytes != 0;
		plain += items[i].unit.bytes == 0 && !items[i].negative && !items[i].less;
	}
	if (count == 3 && timed == 3) {
		line->kind = PING_TIMES;
		line->what = (struct slice){text, bytes};
		ping_times_read(items, count, text + bytes, line);
		return true;
	}
	if (count != 3 || plain != 3)
		return false;
	size_t taken = 0;
	line->kind = PING_TOTALS;
	line->dialect = PING_WINDOWS;
	for (size_t i = 0; i < 2; i++)
		take_total(items[i].number, false, "", &taken, line);
	return true;
}

/*
 * What SIGQUIT and SIGINFO bring: "13/14 packets, 7% loss, min/avg/ewma/max = …", "13/14 packets received (92.9%) …".
 * No totals: the section goes on.
 */
static bool is_interim(const char *text, size_t bytes)
{
	size_t first = strspn(text, "0123456789"), second = text[first] == '/' ? strspn(text + first + 1, "0123456789") : 0;
	return first && second && text[first + 1 + second] == ' ' && memchr(text, '%', bytes);
}

bool ping_read_summary(const char *text, size_t bytes, struct ping_context context, struct ping_line *line)
{
	struct ping_item items[PING_ITEMS_MAX];
	if (bytes > 8 && strncmp(text, "--- ", 4) == 0 && strncmp(text + bytes - 4, " ---", 4) == 0) {
		line->kind = PING_STATISTICS;
		line->who = (struct slice){text + 4, strcspn(text + 4, " ")};
		return true;
	}
	if (is_interim(text, bytes)) {
		line->kind = PING_KNOWN;
		return true;
	}
	size_t count = ping_items(text, bytes, items);
	if (count && items[0].slashed) {
		line->kind = PING_TIMES;
		line->what = (struct slice){text, bytes};
		ping_times_read(items, count, text + bytes, line);
		return true;
	}
	if (read_totals(text, bytes, context.statistics, line))
		return true;
	struct slice address;
	if (context.windows && !count && text[bytes - 1] == ':' && ping_address(text, bytes, &address)) {
		line->kind = PING_STATISTICS;
		return true;
	}
	return read_windows_totals(text, bytes, line);
}

/* "(-1500us)": ping says by how much the clock went back */
static bool is_clock_warning(const char *text)
{
	const char *end = strstr(text, "us)");
	if (!end || !is_digit(end == text ? ' ' : end[-1]))
		return false;
	const char *at = end;
	while (at > text && is_digit(at[-1]))
		at--;
	if (at > text && at[-1] == '-')
		at--;
	return at > text && at[-1] == '(';
}

/* Lists of a flood: a dot for each request, taken back by its answer; C a bad checksum, E a refused send. */
static bool is_flood(const char *text, size_t bytes)
{
	return strspn(text, ".\b CE") == bytes && strpbrk(text, ".\b");
}

static bool is_known_line(const char *text, size_t bytes, struct ping_context context)
{
	static const char *const beginnings[] = {"vr hl tos", "warning:", "pipe ", "ping: warning", "RR: ", "TS: ",
		"Unrecorded hops:", "NOP", "PATTERN: 0x", "ping: sock4.fd", "ai->ai_family", "icmp_otime =", "icmp_rtime =",
		"icmp_ttime =", "ping: getnameinfo"};
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		if (starts(text, beginnings[i]))
			return true;
	}
	/* a route's further hops, "\t10.77.0.2\t0", and the bytes of a changed answer, "#16\t10 11 12" */
	bool dump = text[0] == '#' && is_digit(text[1]) && memchr(text, '\t', bytes);
	return context.dump || context.indented || dump || is_flood(text, bytes);
}

/* Words on an answer that has its own line besides. */
static bool read_remark(const char *text, size_t bytes, struct ping_line *line)
{
	if (!starts(text, "wrong data byte #") && !starts(text, "checksum mismatch from ") &&
		!starts(text, "packet too short ("))
		return false;
	line->kind = PING_REMARK;
	line->what = (struct slice){text, bytes};
	return true;
}

static bool read_local_error(const char *text, size_t bytes, struct ping_line *line)
{
	const char *what = strstr(text, "sendmsg: ");
	what = what ? what : strstr(text, "sendto: ");
	what = what ? strchr(what, ' ') + 1 : strstr(text, "local error: ");
	/* "ping: …", "ping6: …", "/usr/bin/ping: …": the program's name as it was called */
	size_t name = strcspn(text, ": \t");
	bool ours = text[name] == ':' && (slice_ends((struct slice){text, name}, "ping") ||
						 slice_ends((struct slice){text, name}, "ping6"));
	if (!what && ours && ping_reason(text))
		what = text + name + 1;
	if (!what && (ping_says(text, "transmit failed") || starts(text, "general failure")))
		what = text;
	if (!what)
		return false;
	while (*what == ' ')
		what++;
	line->kind = PING_LOCAL_ERROR;
	line->reason = ping_reason(what);
	line->what = (struct slice){what, (size_t)(text + bytes - what)};
	return true;
}

/* "92 bytes from gateway (address): Destination Host Unreachable"; Windows "Reply from address: …" */
static bool read_reported(const char *text, size_t bytes, struct ping_context context, struct ping_line *line)
{
	struct slice address;
	if (!ping_address(text, bytes, &address) || !(context.windows || is_digit(*text) || starts(text, "from ")))
		return false;
	const char *behind = address.at + address.bytes, *end = text + bytes;
	const char *colon = behind < end ? memchr(behind, ':', (size_t)(end - behind)) : NULL;
	if (!colon || colon + 1 >= end || (is_digit(*text) && !ping_says(text, " bytes from ") && !context.windows))
		return false;
	for (colon++; colon < end && *colon == ' '; colon++) {
	}
	line->kind = ping_says(colon, "redirect") ? PING_REDIRECT : PING_ERROR;
	line->who = address;
	line->address = address;
	line->what = (struct slice){colon, (size_t)(end - colon)};
	line->reason = ping_reason(colon);
	return true;
}

bool ping_read_trouble(const char *text, size_t bytes, struct ping_context context, struct ping_line *line)
{
	if (is_clock_warning(text)) {
		line->kind = PING_CLOCK;
		line->what = (struct slice){text, bytes};
		return true;
	}
	if (is_known_line(text, bytes, context)) {
		line->kind = PING_KNOWN;
		return true;
	}
	if (read_remark(text, bytes, line) || read_local_error(text, bytes, line))
		return true;
	if (context.windows && context.statistics && bytes < 160) {
		line->kind = PING_KNOWN;
		return true;
	}
	if (read_reported(text, bytes, context, line))
		return true;
	/* no time, no number, no address: the sentence for "timed out", whatever the language */
	if (context.windows && bytes < 160 && !strpbrk(text, "\\=>{}|#$")) {
		line->kind = PING_TIMEOUT;
		line->what = (struct slice){text, bytes};
		return true;
	}
	return false;
}
