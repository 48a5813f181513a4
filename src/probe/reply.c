/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading replies from a stream. The clock has been read before: what a regular expression costs is not measured. */
#include "probe/reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void reply_rule_close(struct reply_rule *rule)
{
	if (rule->has_pattern)
		regfree(&rule->pattern);
	free(rule->subject);
	rule->subject = NULL;
	rule->has_pattern = false;
}

int reply_rule_open(const struct probe_exchange *exchange, struct reply_rule *ret_rule, struct tare_err *err)
{
	struct reply_rule rule = {
		.text = exchange->expect, .text_bytes = exchange->expect_bytes, .bytes = exchange->reply_bytes};
	if (rule.bytes && rule.text_bytes > rule.bytes)
		return tare_fail(err, TARE_E_USAGE, "--expect is %zu bytes but --expect-bytes says %zu",
			rule.text_bytes, rule.bytes);
	if (exchange->expect_regex) {
		char why[100];
		int status = regcomp(&rule.pattern, exchange->expect_regex, REG_EXTENDED | REG_NOSUB);
		if (status != 0) {
			regerror(status, &rule.pattern, why, sizeof why);
			return tare_fail(err, TARE_E_USAGE, "--expect-regex '%.100s': %s", exchange->expect_regex, why);
		}
		rule.has_pattern = true;
		rule.subject = malloc(REPLY_LINE_MAX + 1);
		if (!rule.subject) {
			reply_rule_close(&rule);
			return tare_fail_errno(err, ENOMEM, "--expect-regex");
		}
	}
	*ret_rule = rule;
	return 0;
}

/* Zeros within are fine; the one at the end is for the C library's own checks. */
static bool matches(const struct reply_rule *rule, const uint8_t *data, size_t bytes)
{
	if (!rule->has_pattern)
		return true;
	size_t seen = bytes < REPLY_LINE_MAX ? bytes : REPLY_LINE_MAX;
	regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)seen};
	memcpy(rule->subject, data, seen);
	rule->subject[seen] = '\0';
	return regexec(&rule->pattern, rule->subject, 1, &range, REG_STARTEND) == 0;
}

bool reply_body_right(const struct reply_rule *rule, const uint8_t *body, size_t bytes)
{
	bool has_text = rule->text_bytes == 0 || (bytes && memmem(body, bytes, rule->text, rule->text_bytes));
	return has_text && (!rule->has_pattern || matches(rule, body, bytes));
}

/* Bytes up to the end of the line, that included; 0 when it has not arrived. */
static size_t line_of(const uint8_t *data, size_t bytes)
{
	const uint8_t *end = bytes ? memchr(data, '\n', bytes) : NULL;
	return end ? (size_t)(end - data) + 1 : 0;
}

static size_t without_end(const uint8_t *data, size_t line)
{
	line -= line > 0 && data[line - 1] == '\n';
	return line - (line > 0 && data[line - 1] == '\r');
}

static enum reply_verdict fixed_next(const struct reply_rule *rule, const uint8_t *data, size_t bytes, size_t *ret_used)
{
	if (bytes < rule->bytes)
		return REPLY_MORE;
	*ret_used = rule->bytes;
	bool right = (rule->text_bytes == 0 || memcmp(data, rule->text, rule->text_bytes) == 0) &&
		     matches(rule, data, rule->bytes);
	return right ? REPLY_RIGHT : REPLY_WRONG;
}

/* The verdict on the line at `data`, of which `bytes` are there, `line` of them with its end (0: not complete). */
static enum reply_verdict judge(const struct reply_rule *rule, const uint8_t *data, size_t bytes, size_t line)
{
	size_t seen = bytes < rule->text_bytes ? bytes : rule->text_bytes;
	if (seen && memcmp(data, rule->text, seen) != 0)
		return REPLY_WRONG;
	if (seen < rule->text_bytes)
		return REPLY_MORE;
	if (!rule->has_pattern)
		return REPLY_RIGHT;
	if (matches(rule, data, line ? without_end(data, line) : bytes))
		return REPLY_RIGHT;
	return line ? REPLY_WRONG : REPLY_MORE;
}

/* Bytes from the beginning that are as expected. */
static size_t alike(const struct reply_rule *rule, const uint8_t *data, size_t bytes)
{
	size_t n = 0;
	while (n < bytes && n < rule->text_bytes && data[n] == rule->text[n])
		n++;
	return n;
}

enum reply_verdict reply_next(
	const struct reply_rule *rule, bool *skipping, const uint8_t *data, size_t bytes, size_t *ret_used)
{
	*ret_used = 0;
	if (bytes == 0)
		return REPLY_MORE;
	if (rule->bytes)
		return fixed_next(rule, data, bytes, ret_used);
	size_t line = line_of(data, bytes);
	if (*skipping) {
		*skipping = line == 0;
		*ret_used = line ? line : bytes;
		return REPLY_MORE;
	}
	bool text_begins_so = rule->text_bytes && (rule->text[0] == '\n' || rule->text[0] == '\r');
	if (!text_begins_so && (data[0] == '\n' || data[0] == '\r')) {
		*ret_used = 1;
		return REPLY_MORE;
	}
	enum reply_verdict verdict = judge(rule, data, bytes, line);
	if (verdict == REPLY_MORE)
		return REPLY_MORE;
	/* a text may end in the middle of a line, at its end, or hold several: the rest of the last line goes with it
	 */
	size_t done = alike(rule, data, bytes);
	if (verdict == REPLY_RIGHT && done && rule->text[done - 1] == '\n') {
		*ret_used = done;
		return verdict;
	}
	size_t rest = line_of(data + done, bytes - done);
	*skipping = rest == 0;
	*ret_used = rest ? done + rest : bytes;
	return verdict;
}
