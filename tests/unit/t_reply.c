/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replies within a stream: whole, in pieces of any size, several at once, and wrong ones. */
#include "probe/reply.h"
#include "tap.h"

/* The verdicts on a stream that arrives in pieces of `piece` bytes: 'r', 'w', one letter a reply. */
static void read_stream(
	const struct reply_rule *rule, const char *stream, size_t bytes, size_t piece, char verdicts[64])
{
	size_t arrived = 0, from = 0, used, count = 0;
	bool skipping = false;
	while (arrived < bytes) {
		arrived = arrived + piece < bytes ? arrived + piece : bytes;
		for (;;) {
			enum reply_verdict verdict =
				reply_next(rule, &skipping, (const uint8_t *)stream + from, arrived - from, &used);
			from += used;
			if (verdict != REPLY_MORE && count < 63)
				verdicts[count++] = verdict == REPLY_RIGHT ? 'r' : 'w';
			else if (used == 0)
				break;
		}
	}
	verdicts[count] = '\0';
}

struct expectation {
	const char *text, *regex;
	size_t bytes;
};

static void is_stream(struct expectation e, const char *stream, const char *want, const char *name)
{
	struct probe_exchange exchange = {.expect = (const uint8_t *)e.text,
		.expect_bytes = e.text ? strlen(e.text) : 0,
		.expect_regex = e.regex,
		.reply_bytes = e.bytes};
	struct reply_rule rule;
	struct tare_err err = {0};
	size_t bytes = strlen(stream), wrong = 0;
	char verdicts[64] = "";
	if (!OK(reply_rule_open(&exchange, &rule, &err) == 0, "%s: the rule", name))
		return;
	for (size_t piece = 1; piece <= bytes; piece++) {
		read_stream(&rule, stream, bytes, piece, verdicts);
		if (strcmp(verdicts, want) != 0 && wrong++ == 0)
			printf("# pieces of %zu: '%s', expected '%s'\n", piece, verdicts, want);
	}
	OK(wrong == 0, "%s: the same verdicts whatever the pieces", name);
	reply_rule_close(&rule);
}

static void refused_rules(void)
{
	struct probe_exchange exchange = {.expect_regex = "("};
	struct reply_rule rule;
	struct tare_err err = {0};
	OK(reply_rule_open(&exchange, &rule, &err) < 0 && strstr(err.text, "expect-regex"), "a broken expression: %s",
		err.text);
	exchange = (struct probe_exchange){.expect = (const uint8_t *)"abcd", .expect_bytes = 4, .reply_bytes = 3};
	OK(reply_rule_open(&exchange, &rule, &err) < 0, "a text longer than the reply: %s", err.text);
}

/* A reply without an end of line: its rest is forgotten when the next request leaves. */
static void no_line_end(void)
{
	struct probe_exchange exchange = {.expect = (const uint8_t *)"OK", .expect_bytes = 2};
	struct reply_rule rule;
	struct tare_err err = {0};
	bool skipping = false;
	size_t used;
	if (reply_rule_open(&exchange, &rule, &err) < 0)
		return;
	IS_I64(reply_next(&rule, &skipping, (const uint8_t *)"OK", 2, &used), REPLY_RIGHT,
		"judged without an end of line");
	OK(skipping, "its rest may still come");
	skipping = false; /* as the sender does */
	IS_I64(reply_next(&rule, &skipping, (const uint8_t *)"OK", 2, &used), REPLY_RIGHT, "and so is the next one");
	reply_rule_close(&rule);
}

int main(void)
{
	is_stream((struct expectation){.text = "+PONG"}, "+PONG\r\n+PONG\r\n+PONG\r\n", "rrr", "redis");
	is_stream((struct expectation){.text = "+PONG"}, "-ERR +PONG\r\n+PONG\r\n+PO\r\n+PONG\r\n", "wrwr",
		"a wrong line is one reply");
	is_stream((struct expectation){.text = "+PONG\r\n"}, "+PONG\r\n+PONG\r\n", "rr", "with its end of line");
	is_stream((struct expectation){.text = "a\nb\n"}, "a\nb\na\nb\na\nc\n", "rrw", "several lines");
	is_stream((struct expectation){.text = NULL}, "x\ny\n\nz\n", "rrr", "anything, a line each");
	is_stream((struct expectation){.regex = "^[0-9]+ ok$"}, "12 ok\r\n7 ok\nno\r\n9 ok\n", "rrwr",
		"an expression, to the end of the line");
	is_stream((struct expectation){.bytes = 4}, "abcdefghij", "rr", "so many bytes");
	is_stream((struct expectation){.bytes = 4, .text = "ab"}, "abcdaxcdab\n\n", "rwr", "bytes that begin so");
	is_stream((struct expectation){.bytes = 3, .regex = "b.$"}, "abcabxbbb\ncc", "rrrw", "bytes that match");
	refused_rules();
	no_line_end();
	return tap_done();
}
