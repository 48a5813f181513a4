/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU sets from the kernel's several spellings and back into one. */
#include "host/cpus.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

bool host_cpus_has(const struct host_cpus *cpus, int cpu)
{
	return cpu >= 0 && cpu < HOST_CPUS_MAX && (cpus->bits[cpu / 64] >> (cpu % 64) & 1);
}

void host_cpus_add(struct host_cpus *cpus, int cpu)
{
	if (cpu >= 0 && cpu < HOST_CPUS_MAX)
		cpus->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

void host_cpus_join(struct host_cpus *into, const struct host_cpus *from)
{
	for (size_t i = 0; i < HOST_CPUS_MAX / 64; i++)
		into->bits[i] |= from->bits[i];
}

int host_cpus_count(const struct host_cpus *cpus)
{
	int count = 0;
	for (size_t i = 0; i < HOST_CPUS_MAX / 64; i++)
		count += __builtin_popcountll(cpus->bits[i]);
	return count;
}

int host_cpus_next(const struct host_cpus *cpus, int cpu)
{
	for (int i = cpu + 1; i < HOST_CPUS_MAX;) {
		uint64_t rest = cpus->bits[i / 64] >> (i % 64);
		if (rest)
			return i + __builtin_ctzll(rest);
		i = (i / 64 + 1) * 64;
	}
	return -1;
}

bool host_cpus_subset(const struct host_cpus *part, const struct host_cpus *whole)
{
	for (size_t i = 0; i < HOST_CPUS_MAX / 64; i++)
		if (part->bits[i] & ~whole->bits[i])
			return false;
	return true;
}

bool host_cpus_meet(const struct host_cpus *one, const struct host_cpus *other)
{
	for (size_t i = 0; i < HOST_CPUS_MAX / 64; i++)
		if (one->bits[i] & other->bits[i])
			return true;
	return false;
}

/* A number, or N for the last CPU. */
static bool take_number(const char **at, int last, int *ret_number)
{
	int number = 0;
	if (**at == 'N') {
		++*at;
		*ret_number = last;
		return last >= 0;
	}
	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at); ++*at) {
		number = number * 10 + (**at - '0');
		if (number >= HOST_CPUS_MAX * 10)
			return false;
	}
	*ret_number = number;
	return true;
}

/* One part between commas: "4", "4-7", "0-31:2", "0-31:2/8". */
static bool take_part(const char **at, int last, struct host_cpus *cpus)
{
	int from, to, used = 1, group = 1;
	if (!take_number(at, last, &from))
		return false;
	to = from;
	if (**at == '-') {
		++*at;
		if (!take_number(at, last, &to))
			return false;
		if (**at == ':') {
			++*at;
			if (!take_number(at, -1, &used))
				return false;
			group = used;
			used = 1;
			if (**at == '/') {
				used = group;
				++*at;
				if (!take_number(at, -1, &group))
					return false;
			}
		}
	}
	if (from > to || to >= HOST_CPUS_MAX || used < 1 || group < used)
		return false;
	for (int cpu = from; cpu <= to; cpu++)
		if ((cpu - from) % group < used)
			host_cpus_add(cpus, cpu);
	return true;
}

bool host_cpus_of_list(const char *text, int last, struct host_cpus *ret_cpus)
{
	struct host_cpus cpus = {{0}};
	const char *at = text + strspn(text, " \t");
	size_t length = strcspn(at, " \t\n");
	if (at[length + strspn(at + length, " \t\n")] != '\0')
		return false;
	if (length == 0 || (length == 6 && strncmp(at, "(null)", length) == 0)) {
		*ret_cpus = cpus;
		return true;
	}
	if (length == 3 && strncmp(at, "all", 3) == 0) {
		if (last < 0)
			return false;
		for (int cpu = 0; cpu <= last; cpu++)
			host_cpus_add(&cpus, cpu);
		*ret_cpus = cpus;
		return true;
	}
	for (const char *end = at + length; at < end;) {
		if (!take_part(&at, last, &cpus) || at > end)
			return false;
		if (at < end && (*at++ != ',' || at == end))
			return false;
	}
	*ret_cpus = cpus;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool host_cpus_of_mask(const char *text, struct host_cpus *ret_cpus)
{
	struct host_cpus cpus = {{0}};
	const char *first = text + strspn(text, " \t");
	if (first[0] == '0' && (first[1] == 'x' || first[1] == 'X'))
		first += 2;
	size_t length = strcspn(first, " \t\n");
	if (length == 0 || first[length + strspn(first + length, " \t\n")] != '\0')
		return false;
	/* From the lowest digit up; a comma group holds 32 bits, however many digits are written. */
	int bit = 0, group_begin = 0;
	for (size_t i = length; i-- > 0;) {
		if (first[i] == ',') {
			if (bit == group_begin || bit > group_begin + 32 || i == 0)
				return false;
			bit = group_begin = group_begin + 32;
			continue;
		}
		int digit = hex_digit(first[i]);
		if (digit < 0)
			return false;
		for (int j = 0; j < 4; j++) {
			if (digit >> j & 1 && bit + j >= HOST_CPUS_MAX)
				return false;
			if (digit >> j & 1)
				host_cpus_add(&cpus, bit + j);
		}
		bit += 4;
	}
	if (group_begin && bit > group_begin + 32)
		return false;
	*ret_cpus = cpus;
	return true;
}

bool host_cpus_text(const struct host_cpus *cpus, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	text_add(&text, "%s", "");
	for (int from = host_cpus_next(cpus, -1); from >= 0;) {
		int to = from;
		while (host_cpus_has(cpus, to + 1))
			to++;
		text_add(&text, to > from ? "%s%d-%d" : "%s%d", text.used ? "," : "", from, to);
		from = host_cpus_next(cpus, to);
	}
	return !text.cut;
}
