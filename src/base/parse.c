/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text to numbers with units, in integers throughout: a decimal is kept as
 * digits and a power of ten, and the unit must absorb that power, or the value
 * is finer than what it counts. No floating point but for plain numbers, so
 * "0.1us" is 100 ns and 9007199254740993 stays itself.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* 18 digits fit 64 bits whatever they are; Linux is built for 8192 CPUs at most. */
enum { DECIMALS_MOST = 18, CPU_MOST = 8191, BITS_PER_WORD = 64 };

struct unit {
	const char *word;
	uint64_t factor;
};

/* What is being read; the words are for messages. */
struct kind {
	const char *name, *grain, *example, *listing;
	const struct unit *units; /* ends with word == NULL */
};

#define NS_PER_US  1000U
#define NS_PER_MS  1000000U
#define NS_PER_S   1000000000U
#define NS_PER_MIN 60000000000U
#define NS_PER_H   3600000000000U

static const struct kind duration_kind = {
	.name = "duration",
	.grain = "1 ns",
	.example = "10us",
	.listing = "ns, us, ms, s, min, h",
	/* U+00B5 is the micro sign, U+03BC the Greek letter: keyboards give either */
	.units = (const struct unit[]){{"ns", 1}, {"us", NS_PER_US}, {"\xc2\xb5s", NS_PER_US}, {"\xce\xbcs", NS_PER_US},
		{"ms", NS_PER_MS}, {"s", NS_PER_S}, {"min", NS_PER_MIN}, {"h", NS_PER_H}, {NULL, 0}},
};

static const struct kind count_kind = {
	.name = "count",
	.grain = "1",
	.example = "10k",
	.listing = "k, M, G",
	.units = (const struct unit[]){{"", 1}, {"k", 1000}, {"K", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}},
};

static const struct kind size_kind = {
	.name = "size",
	.grain = "1 byte",
	.example = "4KiB",
	.listing = "B, k, M, G, KiB, MiB, GiB",
	.units = (const struct unit[]){{"", 1}, {"B", 1}, {"k", 1000}, {"kB", 1000}, {"K", 1000}, {"KB", 1000},
		{"M", 1000000}, {"MB", 1000000}, {"G", 1000000000}, {"GB", 1000000000}, {"Ki", 1 << 10},
		{"KiB", 1 << 10}, {"Mi", 1 << 20}, {"MiB", 1 << 20}, {"Gi", 1 << 30}, {"GiB", 1 << 30}, {NULL, 0}},
};

/* Here `factor` is the power of ten. */
static const struct kind rate_kind = {
	.name = "rate",
	.example = "50k/s",
	.listing = "/s, k/s, M/s, /min, /h",
	.units = (const struct unit[]){{"", 0}, {"k", 3}, {"K", 3}, {"M", 6}, {"G", 9}, {NULL, 0}},
};

static const struct unit periods[] = {{"s", NS_PER_S}, {"min", NS_PER_MIN}, {"h", NS_PER_H}, {NULL, 0}};

static int refuse(struct tare_err *err, const char *text, const char *format, ...) TARE_PRINTF(3, 4);

/* "'TEXT' is …" */
static int refuse(struct tare_err *err, const char *text, const char *format, ...)
{
	char bytes[256];
	struct text sentence = TEXT_IN(bytes);
	text_add_quoted(&sentence, text);
	text_add(&sentence, " ");
	va_list args;
	va_start(args, format);
	text_add_list(&sentence, format, args);
	va_end(args);
	return tare_fail(err, TARE_E_USAGE, "%s", bytes);
}

static bool is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

static const char *skip_blanks(const char *at)
{
	while (*at == ' ')
		at++;
	return at;
}

/* The unit that is exactly `length` bytes at `word`, or NULL. */
static const struct unit *find_unit(const struct unit *units, const char *word, size_t length)
{
	for (; units->word; units++) {
		if (strlen(units->word) == length && memcmp(units->word, word, length) == 0)
			return units;
	}
	return NULL;
}

/* A decimal: whole + fraction / 10^decimals, without trailing zeros behind the point. */
struct decimal {
	uint64_t whole, fraction;
	unsigned decimals;
};

static bool add_digit(uint64_t *number, char digit)
{
	return !__builtin_mul_overflow(*number, 10U, number) &&
	       !__builtin_add_overflow(*number, (unsigned)(digit - '0'), number);
}

static int read_fraction(const char *text, const char **at, struct decimal *decimal, struct tare_err *err)
{
	const char *digits = *at, *end = digits;
	while (is_digit(*end))
		end++;
	*at = end;
	while (end > digits && end[-1] == '0')
		end--;
	if (end - digits > DECIMALS_MOST)
		return refuse(err, text, "has more than %d decimals", DECIMALS_MOST);
	for (const char *digit = digits; digit < end; digit++)
		decimal->fraction = decimal->fraction * 10 + (unsigned)(*digit - '0');
	decimal->decimals = (unsigned)(end - digits);
	return 0;
}

/* Reads "12", "1.5", ".5" or "1."; *ret_end is behind it. */
static int read_decimal(
	const char *text, const struct kind *kind, struct decimal *ret, const char **ret_end, struct tare_err *err)
{
	struct decimal decimal = {0};
	const char *at = text;
	if (*at == '-')
		return refuse(err, text, "is negative: a %s has no sign", kind->name);
	if (!is_digit(at[0]) && !(at[0] == '.' && is_digit(at[1])))
		return refuse(err, text, "is not a %s like %s", kind->name, kind->example);
	for (; is_digit(*at); at++) {
		if (!add_digit(&decimal.whole, *at))
			return refuse(err, text, "is too large");
	}
	if (*at == '.') {
		at++;
		if (read_fraction(text, &at, &decimal, err) < 0)
			return -1;
	}
	*ret = decimal;
	*ret_end = at;
	return 0;
}

/* decimal × factor as an integer; says "too large" and "finer than" by itself. */
static int scale_decimal(const char *text, const struct kind *kind, struct decimal decimal, uint64_t factor,
	uint64_t *ret, struct tare_err *err)
{
	uint64_t numerator = decimal.fraction, denominator = 1, value = 0;
	for (unsigned i = 0; i < decimal.decimals; i++)
		denominator *= 10;
	/* in lowest terms the fraction is exact if and only if the factor holds its denominator */
	static const uint64_t primes[] = {2, 5};
	for (size_t i = 0; i < sizeof(primes) / sizeof(primes[0]); i++) {
		while (numerator % primes[i] == 0 && denominator % primes[i] == 0) {
			numerator /= primes[i];
			denominator /= primes[i];
		}
	}
	if (factor % denominator != 0)
		return refuse(err, text, "is no multiple of %s", kind->grain);
	/* numerator < denominator, so the second product is below `factor` */
	if (__builtin_mul_overflow(decimal.whole, factor, &value) ||
		__builtin_add_overflow(value, numerator * (factor / denominator), &value))
		return refuse(err, text, "is too large");
	*ret = value;
	return 0;
}

static int parse_quantity(const char *text, const struct kind *kind, uint64_t *ret, struct tare_err *err)
{
	struct decimal decimal = {0};
	const char *at = NULL;
	if (read_decimal(text, kind, &decimal, &at, err) < 0)
		return -1;
	const char *word = skip_blanks(at);
	const struct unit *unit = find_unit(kind->units, word, strlen(word));
	/* nothing is nothing in any unit */
	if (!unit && *word == '\0' && decimal.whole == 0 && decimal.decimals == 0) {
		*ret = 0;
		return 0;
	}
	if (!unit && *word == '\0')
		return refuse(err, text, "needs a unit: %s", kind->listing);
	if (!unit)
		return refuse(err, text, "has an unknown unit, known are: %s", kind->listing);
	return scale_decimal(text, kind, decimal, unit->factor, ret, err);
}

int parse_duration_ns(const char *text, int64_t *ret_ns, struct tare_err *err)
{
	uint64_t ns = 0;
	if (parse_quantity(text, &duration_kind, &ns, err) < 0)
		return -1;
	if (ns > INT64_MAX)
		return refuse(err, text, "is too large");
	*ret_ns = (int64_t)ns;
	return 0;
}

int parse_count(const char *text, uint64_t *ret_count, struct tare_err *err)
{
	return parse_quantity(text, &count_kind, ret_count, err);
}

int parse_size_bytes(const char *text, uint64_t *ret_bytes, struct tare_err *err)
{
	return parse_quantity(text, &size_kind, ret_bytes, err);
}

static bool times_power_of_ten(uint64_t *number, uint64_t power)
{
	for (; power > 0; power--) {
		if (__builtin_mul_overflow(*number, 10U, number))
			return false;
	}
	return true;
}

/* period / (decimal × 10^power), to the nearest ns. */
static int interval_of(const char *text, struct decimal decimal, uint64_t power, uint64_t period_ns,
	int64_t *ret_interval_ns, struct tare_err *err)
{
	/* the rate as one integer over 10^decimals; what overflows is far above 1 per ns */
	uint64_t rate = decimal.whole, up = decimal.decimals > power ? decimal.decimals - power : 0;
	uint64_t numerator = period_ns;
	if (!times_power_of_ten(&rate, decimal.decimals) || __builtin_add_overflow(rate, decimal.fraction, &rate))
		return refuse(err, text, "has too many digits");
	if (rate == 0)
		return refuse(err, text, "is no rate");
	if (power > decimal.decimals && !times_power_of_ten(&rate, power - decimal.decimals))
		return refuse(err, text, "is faster than one per ns");
	if (!times_power_of_ten(&numerator, up))
		return refuse(err, text, "has too many digits");
	uint64_t interval = numerator / rate, rest = numerator % rate;
	if (rest >= rate - rest)
		interval++;
	if (interval == 0 || (interval == 1 && numerator < rate))
		return refuse(err, text, "is faster than one per ns");
	if (interval > INT64_MAX)
		return refuse(err, text, "is too slow");
	*ret_interval_ns = (int64_t)interval;
	return 0;
}

int parse_interval_of_rate(const char *text, int64_t *ret_interval_ns, struct tare_err *err)
{
	struct decimal decimal = {0};
	const char *at = NULL;
	if (read_decimal(text, &rate_kind, &decimal, &at, err) < 0)
		return -1;
	const char *word = skip_blanks(at), *slash = strchr(word, '/');
	if (!slash)
		return refuse(err, text, "needs a unit: %s", rate_kind.listing);
	const struct unit *unit = find_unit(rate_kind.units, word, (size_t)(slash - word));
	const struct unit *period = find_unit(periods, slash + 1, strlen(slash + 1));
	if (!unit || !period)
		return refuse(err, text, "has an unknown unit, known are: %s", rate_kind.listing);
	return interval_of(text, decimal, unit->factor, period->factor, ret_interval_ns, err);
}

static const char *skip_digits(const char *at)
{
	while (is_digit(*at))
		at++;
	return at;
}

/* Only plain decimals: strtod alone would take "nan", "0x1p3" and leading blanks. */
static bool is_number(const char *text)
{
	const char *at = text + (*text == '-' || *text == '+'), *digits = at;
	at = skip_digits(at);
	size_t count = (size_t)(at - digits);
	if (*at == '.') {
		digits = at + 1;
		at = skip_digits(digits);
		count += (size_t)(at - digits);
	}
	if (count == 0)
		return false;
	if (*at == 'e' || *at == 'E') {
		at += at[1] == '-' || at[1] == '+' ? 2 : 1;
		digits = at;
		at = skip_digits(at);
		if (at == digits)
			return false;
	}
	return *at == '\0';
}

int parse_number(const char *text, double *ret_number, struct tare_err *err)
{
	if (!is_number(text))
		return refuse(err, text, "is not a number like 0.5");
	double number = strtod(text, NULL);
	if (!isfinite(number))
		return refuse(err, text, "is too large");
	*ret_number = number;
	return 0;
}

struct cpu_bits {
	uint64_t words[(CPU_MOST + 1) / BITS_PER_WORD];
	size_t count;
};

static void add_cpu(struct cpu_bits *bits, unsigned cpu)
{
	uint64_t bit = UINT64_C(1) << (cpu % BITS_PER_WORD);
	bits->count += (bits->words[cpu / BITS_PER_WORD] & bit) == 0;
	bits->words[cpu / BITS_PER_WORD] |= bit;
}

/* A small decimal at *at; no number, or one above `most`, is false. */
static bool read_small(const char **at, unsigned most, unsigned *ret)
{
	unsigned number = 0;
	if (!is_digit(**at))
		return false;
	for (; is_digit(**at); (*at)++) {
		number = number * 10 + (unsigned)(**at - '0');
		if (number > most)
			return false;
	}
	*ret = number;
	return true;
}

/* One of "3", "0-3", "0-31:2/8". */
static bool read_cpu_range(const char **at, struct cpu_bits *bits)
{
	unsigned first = 0, last = 0, used = 1, group = 1;
	if (!read_small(at, CPU_MOST, &first))
		return false;
	last = first;
	if (**at == '-') {
		(*at)++;
		if (!read_small(at, CPU_MOST, &last) || last < first)
			return false;
		if (**at == ':') {
			(*at)++;
			if (!read_small(at, CPU_MOST + 1, &used) || *(*at)++ != '/' ||
				!read_small(at, CPU_MOST + 1, &group) || used == 0 || used > group)
				return false;
		}
	}
	for (unsigned cpu = first; cpu <= last; cpu++) {
		if ((cpu - first) % group < used)
			add_cpu(bits, cpu);
	}
	return true;
}

int parse_cpu_list(const char *text, int *ret_cpus, size_t room, size_t *ret_count, struct tare_err *err)
{
	struct cpu_bits bits = {.count = 0};
	const char *at = text;
	bool empty = *at == '\0' || strcmp(at, "\n") == 0;
	while (!empty) {
		if (!read_cpu_range(&at, &bits))
			return refuse(err, text, "is not a list of CPUs like 0-3,8 (at most %d)", CPU_MOST);
		if (*at == '\0' || strcmp(at, "\n") == 0)
			break;
		if (*at++ != ',')
			return refuse(err, text, "is not a list of CPUs like 0-3,8 (at most %d)", CPU_MOST);
	}
	if (bits.count > room)
		return refuse(err, text, "names %zu CPUs, more than %zu", bits.count, room);
	size_t count = 0;
	for (unsigned cpu = 0; cpu <= CPU_MOST; cpu++) {
		if (bits.words[cpu / BITS_PER_WORD] >> (cpu % BITS_PER_WORD) & 1)
			ret_cpus[count++] = (int)cpu;
	}
	*ret_count = count;
	return 0;
}
