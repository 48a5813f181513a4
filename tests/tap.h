/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tests' whole framework: TAP on stdout, one line per check, the plan at the
 * end. A test program calls checks and ends with `return tap_done();`.
 */
#pragma once
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failures;

__attribute__((format(printf, 3, 4), unused)) static bool tap_ok(bool passed, const char *where, const char *format, ...)
{
	char description[512];
	va_list args;
	va_start(args, format);
	vsnprintf(description, sizeof(description), format, args);
	va_end(args);
	/* an error text may have several lines; a check has one */
	for (char *c = description; *c; c++)
		if (*c == '\n')
			*c = ' ';
	printf("%sok %d - %s\n", passed ? "" : "not ", ++tap_count, description);
	if (!passed) {
		tap_failures++;
		printf("# failed at %s\n", where);
	}
	fflush(stdout);
	return passed;
}

#define TAP_STR_(x) #x
#define TAP_STR(x) TAP_STR_(x)
#define TAP_HERE __FILE__ ":" TAP_STR(__LINE__)

/* OK(condition, "what should hold", …): printf-style description. */
#define OK(condition, ...) tap_ok((condition), TAP_HERE, __VA_ARGS__)

#define IS_I64(got, want, name)                                                                       \
	do {                                                                                          \
		int64_t got_ = (int64_t)(got), want_ = (int64_t)(want);                               \
		if (!tap_ok(got_ == want_, TAP_HERE, "%s", (name)))                                   \
			printf("#      got %" PRId64 "\n# expected %" PRId64 "\n", got_, want_);     \
	} while (0)

#define IS_STR(got, want, name)                                                                       \
	do {                                                                                          \
		const char *got_ = (got), *want_ = (want);                                            \
		if (!tap_ok(got_ && want_ && strcmp(got_, want_) == 0, TAP_HERE, "%s", (name)))       \
			printf("#      got '%s'\n# expected '%s'\n", got_ ? got_ : "(null)", want_); \
	} while (0)

/* SKIP(count, "reason"): counts `count` checks as skipped, with the reason in the output. */
#define SKIP(count, reason)                                                                           \
	do {                                                                                          \
		for (int skip_ = 0; skip_ < (count); skip_++)                                         \
			printf("ok %d # SKIP %s\n", ++tap_count, (reason));                           \
	} while (0)

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failures ? 1 : 0;
}
