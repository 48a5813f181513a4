/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libtare in fifty lines: reads whole nanoseconds, one a line, from standard
 * input and prints their row.
 *
 *     cc row.c $(pkg-config --cflags --libs tare) -o row
 *     ./row < numbers.txt
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tare/tare.h>

static int read_numbers(FILE *in, struct tare_counts *counts, struct tare_err *err)
{
	char line[64];
	for (unsigned long number = 1; fgets(line, sizeof line, in); number++) {
		char *end;
		errno = 0;
		int64_t value_ns = strtoll(line, &end, 10);
		if (end == line || (*end != '\n' && *end != '\0') || errno)
			return tare_fail(err, TARE_E_FORMAT, "line %lu is not a whole number", number);
		if (tare_counts_add(counts, &value_ns, 1, err) < 0)
			return -1;
	}
	return 0;
}

static int print_row(const struct tare_counts *counts, struct tare_err *err)
{
	static const char *const wanted[] = {"50", "90", "99", "99.9"};
	uint64_t n = tare_counts_n(counts);
	printf("n %" PRIu64 "  min %" PRId64 "  max %" PRId64 "\n", n, tare_counts_at(counts, 1), tare_counts_at(counts, n));
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		struct tare_percentile p;
		if (tare_percentile_parse(wanted[i], &p, err) < 0)
			return -1;
		uint64_t rank = tare_rank(&p, n);
		enum tare_grade grade = tare_grade_of(n - rank);
		if (grade == TARE_GRADE_NONE)
			printf("p%-5s needs %" PRIu64 " values\n", p.text, tare_needed(&p, 10));
		else
			printf("p%-5s %" PRId64 "  (%" PRIu64 " behind, %s)\n", p.text, tare_counts_at(counts, rank), n - rank,
				tare_grade_name(grade));
	}
	return 0;
}

int main(void)
{
	struct tare_err err = {0};
	struct tare_counts *counts = NULL;
	int failed = tare_counts_open(&counts, &err) < 0 || read_numbers(stdin, counts, &err) < 0;
	if (!failed && tare_counts_n(counts) == 0)
		failed = tare_fail(&err, TARE_E_FORMAT, "no numbers") < 0;
	failed = failed || print_row(counts, &err) < 0;
	tare_counts_free(counts);
	if (failed)
		fprintf(stderr, "row: %s\n", err.text);
	return failed ? tare_exit_status(err.code) : 0;
}
