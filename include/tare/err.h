/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors: functions return 0 or -1 and describe the failure in a caller-owned
 * `struct tare_err`, always the last parameter. The lowest function that knows
 * the object writes the sentence ("cannot open '/sys/x': Permission denied");
 * callers may put one prefix before it. The library never prints, never exits,
 * and leaves `ret_` outputs untouched on failure.
 */
#pragma once

#define TARE_API __attribute__((visibility("default")))
#define TARE_MUST_USE __attribute__((warn_unused_result))
#define TARE_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))

enum tare_code {
	TARE_OK,
	TARE_E_USAGE,       /* the request itself is wrong; exit 2 */
	TARE_E_INVALID,     /* a measurement that says nothing; exit 4 */
	TARE_E_SYSTEM,      /* the system refused or ran out of something; exit 5 */
	TARE_E_PERMISSION,  /* a privilege is missing; exit 5 */
	TARE_E_UNSUPPORTED, /* this build or host cannot do it; exit 5 */
	TARE_E_FORMAT,      /* an input file or message is not what it should be; exit 6 */
};

/* Holds one failure. Needs no release; may be NULL where a caller does not want the text. */
struct tare_err {
	enum tare_code code;
	int sys_errno;    /* 0 when no system call was involved */
	char text[512];   /* lower case, no full stop; may hold further lines with the remedy */
};

/* Writes the sentence and returns -1, so that `return tare_fail(err, …)` reads as one step. */
TARE_API int tare_fail(struct tare_err *err, enum tare_code code, const char *format, ...)
	TARE_PRINTF(3, 4);

/* The same with ": " and the system's text for `sys_errno`; EPERM and EACCES become TARE_E_PERMISSION. */
TARE_API int tare_fail_errno(struct tare_err *err, int sys_errno, const char *format, ...)
	TARE_PRINTF(3, 4);

/* Puts "what we were doing: " before an existing text; returns -1. */
TARE_API int tare_err_prefix(struct tare_err *err, const char *format, ...) TARE_PRINTF(2, 3);

/* The command's exit status for a code (DESIGN: 2 usage, 4 invalid, 5 system, 6 bad input). */
TARE_API int tare_exit_status(enum tare_code code);
