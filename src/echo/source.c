/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who is answered. The bucket is kept as one number (GCRA): the time at which the
 * source's next request is due if it kept to its rate; a request is refused when
 * that lies more than the burst ahead.
 */
#include "echo/source.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "wire/bytes.h"

#define MAPPED_V4 UINT64_C(0x0000ffff00000000)
#define BURST_NS  INT64_C(100000000)

struct source_key source_key_of(const struct sockaddr_storage *from)
{
	if (from->ss_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
		return (struct source_key){.low = MAPPED_V4 | ntohl(v4->sin_addr.s_addr)};
	}
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
	return (struct source_key){get_u64(v6->sin6_addr.s6_addr), get_u64(v6->sin6_addr.s6_addr + 8)};
}

bool source_is_loopback(struct source_key key)
{
	return key.high == 0 && (key.low == 1 || key.low >> 24 == (MAPPED_V4 >> 24 | 127));
}

void source_ports_usual(struct source_ports *ports)
{
	static const uint16_t reflecting[] = {0, 7, 13, 17, 19, 37, 53, 862};
	*ports = (struct source_ports){0};
	for (size_t i = 0; i < sizeof reflecting / sizeof reflecting[0]; i++)
		source_port_refuse(ports, reflecting[i]);
}

/* Number of leading ones in a 64-bit mask, as the mask. */
static uint64_t mask_of(unsigned bits)
{
	return bits == 0 ? 0 : bits >= 64 ? UINT64_MAX : ~(UINT64_MAX >> bits);
}

/* "/24" or "" into bits; -1 when it is no number up to `most`. */
static int bits_of(const char *slash, unsigned most, unsigned *ret_bits)
{
	unsigned bits = 0;
	if (!slash) {
		*ret_bits = most;
		return 0;
	}
	if (!slash[1] || strlen(slash + 1) > 3)
		return -1;
	for (const char *c = slash + 1; *c; c++) {
		if (*c < '0' || *c > '9')
			return -1;
		bits = bits * 10 + (unsigned)(*c - '0');
	}
	*ret_bits = bits;
	return bits <= most ? 0 : -1;
}

static int parse_prefix(char *text, struct source_prefix *ret_prefix, struct tare_err *err)
{
	char shown[80];
	snprintf(shown, sizeof shown, "%s", text);
	char *slash = strchr(text, '/');
	if (slash)
		*slash = '\0';
	struct sockaddr_storage address = {0};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;
	unsigned bits = 0, family_bits = 0;
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		address.ss_family = AF_INET;
		family_bits = 96;
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		address.ss_family = AF_INET6;
	} else {
		return tare_fail(err, TARE_E_USAGE, "'%s' is no address or ADDRESS/BITS, as 10.0.0.0/8", shown);
	}
	if (bits_of(slash, 128 - family_bits, &bits) < 0)
		return tare_fail(
			err, TARE_E_USAGE, "'%s' needs 0 to %u bits behind the slash", shown, 128 - family_bits);
	bits += family_bits;
	struct source_prefix prefix = {
		.key = source_key_of(&address),
		.mask = {mask_of(bits), mask_of(bits > 64 ? bits - 64 : 0)},
	};
	if ((prefix.key.high & ~prefix.mask.high) || (prefix.key.low & ~prefix.mask.low))
		return tare_fail(err, TARE_E_USAGE, "'%s' has bits set behind its prefix", shown);
	*ret_prefix = prefix;
	return 0;
}

int source_allow_parse(const char *text, struct source_allow *ret_allow, struct tare_err *err)
{
	struct source_allow allow = {.count = 0};
	while (*text) {
		char word[64];
		size_t length = strcspn(text, ",");
		if (length == 0 || length >= sizeof word)
			return tare_fail(
				err, TARE_E_USAGE, "'%.80s' is no list of addresses, as 10.0.0.0/8,fd00::1", text);
		if (allow.count == SOURCE_ALLOW_MAX)
			return tare_fail(err, TARE_E_USAGE, "more than %d allowed sources", SOURCE_ALLOW_MAX);
		memcpy(word, text, length);
		word[length] = '\0';
		if (parse_prefix(word, &allow.prefix[allow.count], err) < 0)
			return -1;
		allow.count++;
		text += length;
		if (*text == ',' && !*++text)
			return tare_fail(err, TARE_E_USAGE, "the list of allowed sources ends with a comma");
	}
	if (allow.count == 0)
		return tare_fail(err, TARE_E_USAGE, "the list of allowed sources is empty");
	*ret_allow = allow;
	return 0;
}

bool source_allowed(const struct source_allow *allow, struct source_key key)
{
	for (size_t i = 0; i < allow->count; i++) {
		const struct source_prefix *prefix = &allow->prefix[i];
		if (((key.high ^ prefix->key.high) & prefix->mask.high) == 0 &&
			((key.low ^ prefix->key.low) & prefix->mask.low) == 0)
			return true;
	}
	return allow->count == 0;
}

void source_limit_open(struct source_limit *limit, int64_t interval_ns)
{
	memset(limit, 0, sizeof *limit);
	limit->interval_ns = interval_ns;
	limit->burst_ns = BURST_NS;
	if (getrandom(&limit->secret, sizeof limit->secret, GRND_NONBLOCK) != (ssize_t)sizeof limit->secret)
		limit->secret = (uint64_t)(uintptr_t)limit;
}

static size_t set_of(const struct source_limit *limit, struct source_key key)
{
	/* multiply and fold (constants: the odd fractions of the golden ratio and of pi) */
	uint64_t mixed = (key.low ^ limit->secret) * UINT64_C(0x9e3779b97f4a7c15);
	mixed = (mixed ^ mixed >> 32 ^ key.high) * UINT64_C(0x243f6a8885a308d3 | 1);
	return (size_t)(mixed >> 54) % LIMIT_SETS;
}

bool source_limit_take(struct source_limit *limit, struct source_key key, int64_t now_ns)
{
	if (limit->interval_ns == 0)
		return true;
	struct source_bucket *set = limit->bucket[set_of(limit, key)], *found = &set[0];
	for (size_t i = 0; i < LIMIT_WAYS; i++) {
		if (set[i].key.high == key.high && set[i].key.low == key.low && set[i].due_ns) {
			found = &set[i];
			break;
		}
		if (set[i].due_ns < found->due_ns)
			found = &set[i];
	}
	if (found->key.high != key.high || found->key.low != key.low || found->due_ns < now_ns)
		*found = (struct source_bucket){.key = key, .due_ns = now_ns};
	if (found->due_ns - now_ns > limit->burst_ns)
		return false;
	found->due_ns += limit->interval_ns;
	return true;
}
