/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names, keys and canonical values: pure functions of text. */
#include "host/fact.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/cpus.h"

static const char *const status_names[HOST_STATUS_COUNT] = {
	[HOST_OK] = "ok",
	[HOST_ABSENT] = "absent",
	[HOST_UNSUPPORTED] = "unsupported",
	[HOST_DENIED] = "denied",
	[HOST_BUSY] = "busy",
	[HOST_MALFORMED] = "malformed",
	[HOST_SKIPPED] = "skipped",
};
static const char kind_letters[HOST_KIND_COUNT + 1] = "BRIGC";
static const char *const via_names[HOST_VIA_COUNT] = {"file", "netlink", "ioctl", "call", "cpuid", "device", "import"};

const char *host_status_name(enum host_status status)
{
	return status < HOST_STATUS_COUNT ? status_names[status] : "malformed";
}

bool host_status_of(const char *name, enum host_status *ret_status)
{
	for (size_t i = 0; i < HOST_STATUS_COUNT; i++) {
		if (strcmp(name, status_names[i]) == 0) {
			*ret_status = (enum host_status)i;
			return true;
		}
	}
	return false;
}

enum host_status host_status_of_errno(int failure)
{
	switch (failure) {
	case 0:
		return HOST_OK;
	case ENOENT:
	case ENOTDIR:
	case ENODEV:
	case ENXIO:
	case ESRCH:
		return HOST_ABSENT;
	case EINVAL:
	case EOPNOTSUPP:
	case ENOSYS:
	case ENOTTY:
	case ENODATA:
	case EPROTONOSUPPORT:
	case EAFNOSUPPORT:
		return HOST_UNSUPPORTED;
	case EACCES:
	case EPERM:
		return HOST_DENIED;
	case EBUSY:
	case EAGAIN:
	case EINTR:
	case ETIMEDOUT:
		return HOST_BUSY;
	default:
		return HOST_MALFORMED;
	}
}

char host_kind_letter(enum host_kind kind)
{
	return kind < HOST_KIND_COUNT ? kind_letters[kind] : '?';
}

bool host_kind_of(char letter, enum host_kind *ret_kind)
{
	const char *at = letter ? strchr(kind_letters, letter) : NULL;
	if (at)
		*ret_kind = (enum host_kind)(at - kind_letters);
	return at != NULL;
}

const char *host_cost_name(enum host_cost cost)
{
	static const char *const names[] = {"file", "lock", "ipi", "slow"};
	return cost <= HOST_SLOW ? names[cost] : "?";
}

const char *host_via_name(enum host_via via)
{
	return via < HOST_VIA_COUNT ? via_names[via] : "?";
}

bool host_via_of(const char *name, enum host_via *ret_via)
{
	for (size_t i = 0; i < HOST_VIA_COUNT; i++) {
		if (strcmp(name, via_names[i]) == 0) {
			*ret_via = (enum host_via)i;
			return true;
		}
	}
	return false;
}

bool host_form_counts(enum host_form form)
{
	return form == HOST_COUNT || form == HOST_COUNT_U32 || form == HOST_PER_CPU || form == HOST_PER_CPU_U32;
}

/* ---- keys ---- */

bool host_key_text(const char *name, const char *instance, char *buffer, size_t room)
{
	const char *bracket = strchr(name, '[');
	struct text text = {.bytes = buffer, .room = room};
	if (!bracket || !instance) {
		text_add(&text, "%s", name);
		return !text.cut;
	}
	text_add(&text, "%.*s[", (int)(bracket - name), name);
	size_t from = text.used;
	text_add(&text, "%s", instance);
	for (size_t i = from; i < text.used; i++) {
		if (buffer[i] == '[' || buffer[i] == ']')
			buffer[i] = buffer[i] == '[' ? '(' : ')';
		else if ((unsigned char)buffer[i] < ' ' || buffer[i] == 0x7f)
			buffer[i] = '?';
	}
	text_add(&text, "%s", bracket + 1);
	return !text.cut;
}

void host_key_instance(const char *key, char *buffer, size_t room)
{
	const char *from = strchr(key, '['), *to = from ? strchr(from, ']') : NULL;
	struct text text = {.bytes = buffer, .room = room};
	text_add(&text, "%.*s", to ? (int)(to - from - 1) : 0, to ? from + 1 : "");
}

static bool key_fits(const char *name, const char *key)
{
	for (; *name; name++, key++) {
		if (*name == '*' && name[1] == '\0')
			return *key != '\0';
		if (*name != *key)
			return false;
		if (*name == '[') {
			const char *end = strchr(key, ']');
			if (!end)
				return false;
			key = end - 1;
		}
	}
	return *key == '\0';
}

const struct host_key *host_key_of(const char *key)
{
	const struct host_key *open_ended = NULL;
	for (size_t i = 0; i < host_key_count(); i++) {
		const struct host_key *row = host_key_at(i);
		if (row->name[0] != key[0] || !key_fits(row->name, key))
			continue;
		if (row->name[strlen(row->name) - 1] != '*')
			return row;
		open_ended = open_ended ? open_ended : row;
	}
	return open_ended;
}

bool host_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *retry = NULL;
	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			retry = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/* ---- canonical values ---- */

static bool normal_text(const char *raw, char *buffer, size_t room)
{
	size_t used = 0;
	bool gap = false;
	for (const unsigned char *at = (const unsigned char *)raw; *at; at++) {
		if (isspace(*at)) {
			gap = used > 0;
			continue;
		}
		if (used + 2 + (size_t)gap > room)
			return false;
		if (gap)
			buffer[used++] = ' ';
		gap = false;
		buffer[used++] = *at < ' ' || *at == 0x7f ? '?' : (char)*at;
	}
	if (room == 0)
		return false;
	buffer[used] = '\0';
	return true;
}

static bool says_unknown(const char *text)
{
	return strcmp(text, "unknown") == 0 || strcmp(text, "<unknown>") == 0 || strcmp(text, "<unsupported>") == 0;
}

/* The one number in the text; signs and 0x allowed. */
static bool take_whole(const char *text, bool *ret_negative, uint64_t *ret_number)
{
	bool negative = *text == '-';
	const char *digits = text + (negative || *text == '+');
	int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
	char *end;
	if (!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	uint64_t number = strtoull(digits, &end, base);
	if (errno || *end)
		return false;
	*ret_negative = negative;
	*ret_number = number;
	return true;
}

static bool normal_number(enum host_form form, char *text, size_t room, bool *ret_unknown)
{
	bool negative;
	uint64_t number;
	if (!take_whole(text, &negative, &number))
		return false;
	if (host_form_counts(form)) {
		if (negative || (form == HOST_COUNT_U32 && number > UINT32_MAX))
			return false;
	} else if (form == HOST_SPEED) {
		*ret_unknown = negative || number == 0 || number == 65535 || number == UINT32_MAX;
	} else if (form == HOST_NODE) {
		*ret_unknown = negative;
	}
	struct text out = {.bytes = text, .room = room};
	if (*ret_unknown)
		text_add(&out, "unknown");
	else
		text_add(&out, "%s%" PRIu64, negative && number ? "-" : "", number);
	return !out.cut;
}

static bool normal_choice(char *text)
{
	char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;
	if (!from)
		return strchr(text, ']') == NULL;
	if (!to)
		return false;
	memmove(text, from + 1, (size_t)(to - from - 1));
	text[to - from - 1] = '\0';
	return true;
}

bool host_canonical(enum host_form form, const char *raw, char *buffer, size_t room, bool *ret_unknown)
{
	struct host_cpus cpus;
	*ret_unknown = false;
	if (form == HOST_CPU_LIST)
		return host_cpus_of_list(raw, -1, &cpus) && host_cpus_text(&cpus, buffer, room);
	if (form == HOST_CPU_MASK)
		return host_cpus_of_mask(raw, &cpus) && host_cpus_text(&cpus, buffer, room);
	if (!normal_text(raw, buffer, room))
		return false;
	if (says_unknown(buffer)) {
		*ret_unknown = true;
		return room > strlen("unknown") && snprintf(buffer, room, "unknown") > 0;
	}
	if (form == HOST_NUMBER || form == HOST_SPEED || form == HOST_NODE || form == HOST_COUNT ||
		form == HOST_COUNT_U32)
		return normal_number(form, buffer, room, ret_unknown);
	return form != HOST_CHOICE || normal_choice(buffer);
}
