/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys read from and hashed over packets. A key of which bytes were not captured is no
 * key: half of one would match what it should not.
 */
#include "import/capture/key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "wire/bytes.h"

static const char *const names[] = {
	[KEY_AUTO] = "auto",
	[KEY_ICMP] = "icmp",
	[KEY_TARE] = "tare",
	[KEY_STAMP] = "stamp",
	[KEY_DNS] = "dns",
	[KEY_TCP] = "tcp",
	[KEY_TCP_ACK] = "tcp-ack",
	[KEY_TCP_SYN] = "tcp-syn",
	[KEY_ORDER] = "order",
	[KEY_PAYLOAD] = "payload",
	[KEY_BYTES] = NULL,
};

static int read_index(const char **at, uint32_t *ret)
{
	uint32_t number = 0;
	const char *begin = *at;
	while (**at >= '0' && **at <= '9' && number < 100000)
		number = number * 10 + (uint32_t)(*(*at)++ - '0');
	*ret = number;
	return *at == begin || number > 65535 ? -1 : 0;
}

static int parse_bytes(const char *text, struct key_rule *rule, struct tare_err *err)
{
	const char *at = text;
	rule->kind = KEY_BYTES;
	if (strncmp(at, "udp.", 4) == 0)
		rule->protocol = PROTOCOL_UDP;
	else if (strncmp(at, "tcp.", 4) == 0)
		rule->protocol = PROTOCOL_TCP;
	at += rule->protocol ? 4 : 0;
	if (strncmp(at, "payload[", 8) == 0) {
		at += 8;
		if (!read_index(&at, &rule->from) && *at++ == ':' && !read_index(&at, &rule->to) &&
			strcmp(at, "]") == 0 && rule->from < rule->to)
			return 0;
		return tare_fail(err, TARE_E_USAGE,
			"key '%s': expected the first byte and the one behind the last, like udp.payload[4:8]", text);
	}
	const char *near = nearest_word(text, (const char *const *)names);
	return tare_fail(err, TARE_E_USAGE,
		"unknown key '%s'%s%s%s; there are icmp, tare, stamp, dns, tcp, tcp-ack, "
		"tcp-syn, order, payload, udp.payload[4:8], re:EXPRESSION",
		text, near ? ", nearest is '" : "", near ? near : "", near ? "'" : "");
}

static int parse_expression(const char *text, struct key_rule *rule, struct tare_err *err)
{
	char reason[128];
	regex_t *expression = calloc(1, sizeof(*expression));
	if (!expression)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	int status = regcomp(expression, text, REG_EXTENDED);
	if (status) {
		regerror(status, expression, reason, sizeof(reason));
		free(expression);
		return tare_fail(err, TARE_E_USAGE, "key 're:%s': %s", text, reason);
	}
	rule->kind = KEY_REGEX;
	rule->expression = expression;
	return 0;
}

int key_parse(const char *text, struct key_rule *ret_rule, struct tare_err *err)
{
	struct key_rule rule = {.kind = KEY_AUTO};
	struct text copy = TEXT_IN(rule.text);
	text_add(&copy, "%s", text ? text : "auto");
	if (text && strncmp(text, "re:", 3) == 0) {
		if (parse_expression(text + 3, &rule, err))
			return -1;
	} else if (text) {
		int kind = KEY_AUTO;
		while (names[kind] && strcmp(names[kind], text) != 0)
			kind++;
		if (names[kind])
			rule.kind = (enum key_kind)kind;
		else if (parse_bytes(text, &rule, err))
			return -1;
	}
	*ret_rule = rule;
	return 0;
}

void key_end(struct key_rule *rule)
{
	if (rule->expression)
		regfree(rule->expression);
	free(rule->expression);
	rule->expression = NULL;
}

const char *key_name(const struct key_rule *rule)
{
	return rule->kind < KEY_BYTES ? names[rule->kind] : rule->text;
}

bool key_in_order(enum key_kind kind)
{
	return kind == KEY_ORDER || kind == KEY_TCP || kind == KEY_TCP_ACK;
}

uint8_t key_protocol(const struct key_rule *rule)
{
	switch (rule->kind) {
	case KEY_TCP:
	case KEY_TCP_ACK:
	case KEY_TCP_SYN:
		return PROTOCOL_TCP;
	case KEY_TARE:
	case KEY_STAMP:
	case KEY_DNS:
		return PROTOCOL_UDP;
	case KEY_BYTES:
		return rule->protocol;
	default:
		return 0;
	}
}

static enum key_result add_slice(const struct layers *layers, uint32_t from, uint32_t to, struct hash *hash)
{
	if (layers->payload_bytes < to)
		return KEY_OTHER;
	if (!layers->payload || layers->payload_captured < to)
		return KEY_NOT_CAPTURED;
	hash_bytes(hash, layers->payload + from, to - from);
	return KEY_FOUND;
}

static enum key_result add_stamp(const struct layers *layers, bool request, struct hash *hash)
{
	enum {
		SEQUENCE_AT = 0,
		T1_AT = 4,
		ECHOED_SEQUENCE_AT = 24,
		ECHOED_T1_AT = 28,
		REPLY_LEAST = 36,
		REQUEST_LEAST = 12
	};
	uint32_t needed = request ? REQUEST_LEAST : REPLY_LEAST;
	if (layers->payload_bytes < needed)
		return KEY_OTHER;
	if (!layers->payload || layers->payload_captured < needed)
		return KEY_NOT_CAPTURED;
	hash_word(hash, get_u32(layers->payload + (request ? SEQUENCE_AT : ECHOED_SEQUENCE_AT)));
	hash_word(hash, get_u64(layers->payload + (request ? T1_AT : ECHOED_T1_AT)));
	return KEY_FOUND;
}

static enum key_result add_match(const struct key_rule *rule, const struct layers *layers, struct hash *hash)
{
	enum { TEXT_MAX = 2048 };
	char text[TEXT_MAX + 1];
	regmatch_t match[2] = {{0}};
	size_t bytes = layers->payload_captured;
	if (layers->payload_bytes == 0)
		return KEY_OTHER;
	if (!layers->payload || bytes == 0)
		return KEY_NOT_CAPTURED;
	if (bytes > TEXT_MAX)
		bytes = TEXT_MAX;
	for (size_t i = 0; i < bytes; i++)
		text[i] = layers->payload[i] ? (char)layers->payload[i] : ' ';
	text[bytes] = '\0';
	if (regexec(rule->expression, text, 2, match, 0) != 0)
		return layers->payload_captured < layers->payload_bytes ? KEY_NOT_CAPTURED : KEY_OTHER;
	const regmatch_t *found = match[1].rm_so >= 0 ? &match[1] : &match[0];
	hash_bytes(hash, layers->payload + found->rm_so, (size_t)(found->rm_eo - found->rm_so));
	return KEY_FOUND;
}

enum key_result key_add(const struct key_rule *rule, const struct layers *layers, bool request, struct hash *hash)
{
	switch (rule->kind) {
	case KEY_ICMP:
		if (!(layers->has & (LAYERS_ECHO_REQUEST | LAYERS_ECHO_REPLY)))
			return KEY_OTHER;
		hash_word(hash, (uint64_t)layers->echo_id << 16 | layers->echo_sequence);
		return KEY_FOUND;
	case KEY_TARE:
		return add_slice(layers, 0, 16, hash);
	case KEY_STAMP:
		return add_stamp(layers, request, hash);
	case KEY_DNS:
		return add_slice(layers, 0, 2, hash);
	case KEY_BYTES:
		return add_slice(layers, rule->from, rule->to, hash);
	case KEY_PAYLOAD:
		return layers->payload_bytes ? add_slice(layers, 0, layers->payload_bytes, hash) : KEY_OTHER;
	case KEY_REGEX:
		return add_match(rule, layers, hash);
	case KEY_ORDER:
		/* a TCP segment without data is no message */
		return layers->protocol == PROTOCOL_TCP && !layers->payload_bytes ? KEY_OTHER : KEY_FOUND;
	case KEY_TCP:
	case KEY_TCP_ACK:
	case KEY_TCP_SYN:
	case KEY_AUTO:
		break;
	}
	return layers->has & LAYERS_TCP ? KEY_FOUND : KEY_OTHER;
}
