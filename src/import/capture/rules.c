/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words into meaning; what cannot be together is refused here. */
#include "import/capture/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const int64_t TIMEOUT_NS = 1000000000;

static int parse_u32(const char *text, size_t bytes, uint32_t *ret)
{
	uint64_t value = 0;
	if (!bytes)
		return -1;
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = value * 10 + (uint64_t)(text[i] - '0');
		if (value > UINT32_MAX)
			return -1;
	}
	*ret = (uint32_t)value;
	return 0;
}

/* What follows `prefix`, or NULL when the text does not begin with it. */
static const char *behind(const char *text, const char *prefix)
{
	size_t bytes = strlen(prefix);
	return strncmp(text, prefix, bytes) == 0 ? text + bytes : NULL;
}

/* False when the text is no tap but perhaps a file. */
static bool parse_tap(const char *text, struct capture_tap *ret)
{
	struct capture_tap tap = {0};
	const char *name = behind(text, "interface:"), *port = behind(text, "port:");
	if (name) {
		struct text copy = TEXT_IN(tap.interface);
		text_add(&copy, "%s", name);
		tap.by_interface = true;
		if (!*name || copy.cut)
			return false;
	} else if (port) {
		const char *slash = strchr(port, '/');
		tap.by_port = true;
		tap.by_device = slash != NULL;
		if (slash && parse_u32(port, (size_t)(slash - port), &tap.device))
			return false;
		const char *number = slash ? slash + 1 : port;
		if (parse_u32(number, strlen(number), &tap.port))
			return false;
	} else {
		return false;
	}
	*ret = tap;
	return true;
}

static int parse_taps(const struct capture_rules *rules, struct capture_plan *plan, struct tare_err *err)
{
	if (rules->from && !parse_tap(rules->from, &plan->from))
		return tare_fail(err, TARE_E_USAGE,
			"option '--from': '%s': expected interface:NAME, interface:NUMBER, port:NUMBER or "
			"port:DEVICE/NUMBER",
			rules->from);
	if (rules->to && !parse_tap(rules->to, &plan->to))
		plan->to_file = rules->to;
	plan->taps = rules->to != NULL;
	if (rules->from && !rules->to)
		return tare_fail(err, TARE_E_USAGE, "--from says where packets come from; --to must say where they go");
	if (plan->taps && !plan->to_file && !rules->from)
		return tare_fail(err, TARE_E_USAGE,
			"--to %s is in the same capture: --from must say what it is compared with", rules->to);
	return 0;
}

static int parse_mark(const char *text, size_t bytes, enum capture_mark *ret)
{
	if (bytes == 5 && memcmp(text, "first", 5) == 0)
		*ret = MARK_FIRST;
	else if (bytes == 4 && memcmp(text, "last", 4) == 0)
		*ret = MARK_LAST;
	else
		return -1;
	return 0;
}

static int parse_marks(const char *text, struct capture_plan *plan, struct tare_err *err)
{
	const char *comma = strchr(text, ',');
	size_t bytes = comma ? (size_t)(comma - text) : strlen(text);
	if (parse_mark(text, bytes, &plan->marks[0]) ||
		(comma ? parse_mark(comma + 1, strlen(comma + 1), &plan->marks[1])
		       : parse_mark(text, bytes, &plan->marks[1])))
		return tare_fail(err, TARE_E_USAGE,
			"option '--marks': '%s': expected first, last, or one for each tap: first,last", text);
	return 0;
}

/* 10G, 2.5G, 100M: bits a second. */
static int parse_line_rate(const char *text, struct capture_plan *plan, struct tare_err *err)
{
	uint64_t bits;
	if (parse_count(text, &bits, err))
		return tare_err_prefix(err, "option '--line-rate'");
	if (bits < 1000000 || bits > UINT64_C(10000000000000))
		return tare_fail(err, TARE_E_USAGE,
			"option '--line-rate': '%s': expected bits a second between 1M and 10000G", text);
	plan->line_bits_per_second = (int64_t)bits;
	return 0;
}

static int parse_place(const char *text, struct capture_plan *plan, struct tare_err *err)
{
	static const char *const names[] = {"auto", "client", "client-nic", "server", "server-nic", NULL};
	for (int i = 0; names[i]; i++) {
		if (strcmp(text, names[i]) == 0) {
			plan->place = (enum capture_place)i;
			return 0;
		}
	}
	return tare_fail(
		err, TARE_E_USAGE, "option '--seen-at': '%s': expected client, client-nic, server or server-nic", text);
}

static int parse_clock(const char *text, struct capture_plan *plan, struct tare_err *err)
{
	plan->clock_said = true;
	plan->clock_same = strcmp(text, "same") == 0;
	if (!plan->clock_same && parse_duration_ns(text, &plan->clock_bound_ns, err))
		return tare_err_prefix(err, "option '--clock': expected 'same' or how far apart the clocks may be");
	return 0;
}

static int parse_stamps(const char *text, struct capture_plan *plan, struct tare_err *err)
{
	if (strcmp(text, "auto") == 0 || stamp_format_by_name(text, &plan->stamps))
		return 0;
	char list[300];
	struct text words = TEXT_IN(list);
	for (const char *const *name = stamp_format_names(); *name; name++)
		text_add(&words, ", %s", *name);
	return tare_fail(err, TARE_E_USAGE, "option '--stamps': unknown format '%s'; there are auto%s", text, list);
}

int capture_plan_of(const struct capture_rules *rules, struct capture_plan *ret_plan, struct tare_err *err)
{
	struct capture_plan plan = {.stamps = STAMP_FORMAT_COUNT, .timeout_ns = TIMEOUT_NS};
	static const struct capture_rules none = {0};
	if (!rules)
		rules = &none;
	if ((rules->service && service_parse(rules->service, &plan.service, err)) ||
		(rules->stamps && parse_stamps(rules->stamps, &plan, err)) ||
		(rules->seen_at && parse_place(rules->seen_at, &plan, err)) || parse_taps(rules, &plan, err) ||
		(rules->clock && parse_clock(rules->clock, &plan, err)) ||
		(rules->marks && parse_marks(rules->marks, &plan, err)) ||
		(rules->line_rate && parse_line_rate(rules->line_rate, &plan, err)))
		return -1;
	plan.has_service = rules->service != NULL;
	plan.last_copy = rules->last_copy;
	if (rules->timeout_ns > 0)
		plan.timeout_ns = rules->timeout_ns;
	if (key_parse(rules->key, &plan.key, err))
		return tare_err_prefix(err, "option '--key'");
	*ret_plan = plan;
	return 0;
}

void capture_plan_end(struct capture_plan *plan)
{
	key_end(&plan->key);
}

int64_t capture_line_ps(uint32_t bytes, int64_t bits_per_second)
{
	__extension__ typedef __int128 wide;
	return (int64_t)((wide)bytes * 8 * PS_PER_SECOND / bits_per_second);
}
