/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lists of a sweep. In a range of rates "/s" may be left out, as in "1k-100k:x2";
 * its end is a step even when the factor does not meet it.
 */
#include "cli/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* One list, its values in the unit of the step: bytes, or ns between requests. */
struct values {
	uint64_t value[SESSION_STEPS_MAX];
	size_t count;
};

static int add_value(struct values *values, uint64_t value, const char *option, struct tare_err *err)
{
	for (size_t i = 0; i < values->count; i++)
		if (values->value[i] == value)
			return tare_fail(err, TARE_E_USAGE, "%s names a step twice", option);
	if (values->count == SESSION_STEPS_MAX)
		return tare_fail(err, TARE_E_USAGE, "%s: more than %d steps", option, SESSION_STEPS_MAX);
	values->value[values->count++] = value;
	return 0;
}

/* The next of a list without blanks, cut out into `word`: 1, 0 at the end, -1 when it is empty or too long. */
static int next_word(const char **at, const char *option, char *word, size_t room, struct tare_err *err)
{
	if (!*at)
		return 0;
	size_t length = strcspn(*at, ",");
	if (length == 0 || length >= room)
		return tare_fail(err, TARE_E_USAGE, "%s: %s between its commas", option, length ? "too much" : "nothing stands");
	memcpy(word, *at, length);
	word[length] = '\0';
	*at = (*at)[length] ? *at + length + 1 : NULL;
	return 1;
}

static int read_sizes(const char *list, struct values *values, struct tare_err *err)
{
	char word[64];
	int found;
	while ((found = next_word(&list, "--sizes", word, sizeof word, err)) > 0) {
		uint64_t bytes = 0;
		if (parse_size_bytes(word, &bytes, err) < 0)
			return tare_err_prefix(err, "--sizes");
		if (bytes == 0)
			return tare_fail(err, TARE_E_USAGE, "--sizes: a request of 0 bytes cannot be told from another");
		if (add_value(values, bytes, "--sizes", err) < 0)
			return -1;
	}
	return found;
}

static int read_rate(const char *text, int64_t *ret_interval_ns, struct tare_err *err)
{
	char with_unit[80];
	snprintf(with_unit, sizeof with_unit, "%s%s", text, strchr(text, '/') ? "" : "/s");
	if (parse_interval_of_rate(with_unit, ret_interval_ns, err) < 0)
		return tare_err_prefix(err, "--rates");
	/* as --rate has it: up to 10 million a second, and no fewer than one an hour */
	if (*ret_interval_ns < 100 || *ret_interval_ns > (int64_t)3600 * 1000000000)
		return tare_fail(err, TARE_E_USAGE, "--rates: '%s' is not between 1/h and 10M/s", text);
	return 0;
}

/* "LOW-HIGH:xFACTOR" */
static int read_range(char *word, struct values *values, struct tare_err *err)
{
	int64_t low_ns = 0, high_ns = 0;
	double factor = 0;
	char *high = strchr(word, '-'), *by = strchr(word, ':');
	if (!high || !by || by < high || by[1] != 'x')
		return tare_fail(err, TARE_E_USAGE, "--rates: '%s' is no range like 1k-100k:x2", word);
	*high++ = '\0';
	*by = '\0';
	if (read_rate(word, &low_ns, err) < 0 || read_rate(high, &high_ns, err) < 0)
		return -1;
	if (parse_number(by + 2, &factor, err) < 0)
		return tare_err_prefix(err, "--rates");
	if (!(factor > 1))
		return tare_fail(err, TARE_E_USAGE, "--rates: the factor of a range must be above 1, x%s is not", by + 2);
	if (high_ns >= low_ns)
		return tare_fail(err, TARE_E_USAGE, "--rates: the range from %s to %s does not ascend", word, high);
	/* in real numbers, since every step of a chain of rounded ones would drift */
	for (double rate = 1e9 / (double)low_ns; rate < 0.999 * 1e9 / (double)high_ns; rate *= factor)
		if (add_value(values, (uint64_t)llround(1e9 / rate), "--rates", err) < 0)
			return -1;
	return add_value(values, (uint64_t)high_ns, "--rates", err);
}

static int read_rates(const char *list, struct values *values, struct tare_err *err)
{
	char word[96];
	int found;
	while ((found = next_word(&list, "--rates", word, sizeof word, err)) > 0) {
		int64_t interval_ns = 0;
		if (strchr(word, '-') || strchr(word, ':')) {
			if (read_range(word, values, err) < 0)
				return -1;
			continue;
		}
		if (!strchr(word, '/'))
			return tare_fail(err, TARE_E_USAGE, "--rates: '%s' needs a unit, as 50k/s", word);
		if (read_rate(word, &interval_ns, err) < 0 || add_value(values, (uint64_t)interval_ns, "--rates", err) < 0)
			return -1;
	}
	return found;
}

static void name_step(struct session_step *step, const char *label)
{
	char rate[32];
	struct text text = TEXT_IN(step->label);
	if (label)
		text_add(&text, "%s", label);
	if (step->payload_bytes)
		text_add(&text, "%ssize=%zu", text.used ? " " : "", step->payload_bytes);
	format_rate(step->every_ns ? 1e9 / (double)step->every_ns : 0, rate, sizeof rate);
	if (step->source_port)
		text_add(&text, "%sport=%d", text.used ? " " : "", step->source_port);
	if (step->every_ns)
		text_add(&text, "%srate=%s", text.used ? " " : "", rate);
}

int sweep_steps(const struct sweep_lists *lists, struct session_step ret_steps[SESSION_STEPS_MAX], size_t *ret_count,
	struct tare_err *err)
{
	struct values sizes = {.count = 0}, rates = {.count = 0};
	size_t count = 0;
	if ((lists->sizes && read_sizes(lists->sizes, &sizes, err) < 0) ||
		(lists->rates && read_rates(lists->rates, &rates, err) < 0))
		return -1;
	bool swept = sizes.count + rates.count + lists->ports > 0;
	if (lists->label && strlen(lists->label) > 24 && swept)
		return tare_fail(err, TARE_E_USAGE, "--label of a sweep: at most 24 bytes, the step's own name stands behind it");
	size_t by_size = sizes.count ? sizes.count : 1, by_rate = rates.count ? rates.count : 1;
	size_t by_port = lists->ports ? lists->ports : 1;
	if (by_size * by_rate * by_port > SESSION_STEPS_MAX)
		return tare_fail(err, TARE_E_USAGE, "a sweep of %zu steps (sizes, ports and rates multiplied): at most %d",
			by_size * by_rate * by_port, SESSION_STEPS_MAX);
	if (lists->first_port + (int)by_port - 1 > 65535)
		return tare_fail(err, TARE_E_USAGE, "--source-ports %u from port %d on: there are ports up to 65535", lists->ports,
			lists->first_port);
	for (size_t i = 0; i < by_size * by_port * by_rate && swept; i++) {
		struct session_step *step = &ret_steps[count++];
		*step = (struct session_step){
			.payload_bytes = sizes.count ? (size_t)sizes.value[i / (by_port * by_rate)] : 0,
			.source_port = lists->ports ? lists->first_port + (int)(i / by_rate % by_port) : 0,
			.every_ns = rates.count ? (int64_t)rates.value[i % by_rate] : 0};
		name_step(step, lists->label);
	}
	*ret_count = count;
	return 0;
}

int sweep_stop_loss(const char *text, double *ret_share, struct tare_err *err)
{
	char number[32];
	double percent = 0;
	size_t length = strlen(text);
	if (strcmp(text, "none") == 0) {
		*ret_share = -1;
		return 0;
	}
	if (length < 2 || length >= sizeof number || text[length - 1] != '%')
		return tare_fail(err, TARE_E_USAGE, "--stop-loss: '%.40s' is no share like 1%%, and not none", text);
	memcpy(number, text, length - 1);
	number[length - 1] = '\0';
	number[strcspn(number, " ")] = '\0';
	if (parse_number(number, &percent, err) < 0)
		return tare_err_prefix(err, "--stop-loss");
	if (!(percent >= 0 && percent <= 100))
		return tare_fail(err, TARE_E_USAGE, "--stop-loss: '%.40s' is not between 0%% and 100%%", text);
	*ret_share = percent / 100;
	return 0;
}
