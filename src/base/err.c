/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one error object. A sentence is put together beside the old one before it
 * replaces it, so that err->text may itself be among the arguments.
 */
#include "tare/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void replace(struct tare_err *err, const struct text *sentence)
{
	_Static_assert(sizeof(err->text) >= 64, "room for a sentence");
	memcpy(err->text, sentence->bytes, sentence->used + 1);
}

int tare_fail(struct tare_err *err, enum tare_code code, const char *format, ...)
{
	if (!err)
		return -1;
	char bytes[sizeof(err->text)];
	struct text sentence = TEXT_IN(bytes);
	va_list args;
	va_start(args, format);
	text_add_list(&sentence, format, args);
	va_end(args);
	err->code = code;
	err->sys_errno = 0;
	replace(err, &sentence);
	return -1;
}

int tare_fail_errno(struct tare_err *err, int sys_errno, const char *format, ...)
{
	if (!err)
		return -1;
	char bytes[sizeof(err->text)], reason[96] = "";
	struct text sentence = TEXT_IN(bytes);
	va_list args;
	va_start(args, format);
	text_add_list(&sentence, format, args);
	va_end(args);
	text_add(&sentence, ": %s", strerror_r(sys_errno, reason, sizeof(reason)));
	err->code = sys_errno == EPERM || sys_errno == EACCES ? TARE_E_PERMISSION : TARE_E_SYSTEM;
	err->sys_errno = sys_errno;
	replace(err, &sentence);
	return -1;
}

int tare_err_prefix(struct tare_err *err, const char *format, ...)
{
	if (!err)
		return -1;
	char bytes[sizeof(err->text)];
	struct text sentence = TEXT_IN(bytes);
	va_list args;
	va_start(args, format);
	text_add_list(&sentence, format, args);
	va_end(args);
	text_add(&sentence, ": %s", err->text);
	replace(err, &sentence);
	return -1;
}

int tare_exit_status(enum tare_code code)
{
	switch (code) {
	case TARE_OK:
		return 0;
	case TARE_E_USAGE:
		return 2;
	case TARE_E_INVALID:
		return 4;
	case TARE_E_SYSTEM:
	case TARE_E_PERMISSION:
	case TARE_E_UNSUPPORTED:
		return 5;
	case TARE_E_FORMAT:
		return 6;
	}
	return 5;
}
