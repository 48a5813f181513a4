/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error object: sentences, prefixes, codes, exit statuses, and that nothing overflows or needs an object. */
#include <errno.h>
#include <string.h>

#include "tap.h"
#include "tare/err.h"

static void sentences(void)
{
	struct tare_err err = {.code = TARE_OK, .sys_errno = 7};
	IS_I64(tare_fail(&err, TARE_E_USAGE, "no %s in '%s'", "target", "run"), -1, "tare_fail returns -1");
	IS_STR(err.text, "no target in 'run'", "its sentence");
	IS_I64(err.code, TARE_E_USAGE, "its code");
	IS_I64(err.sys_errno, 0, "no system call was involved");
	IS_I64(tare_fail_errno(&err, EACCES, "cannot open '%s'", "/sys/x"), -1, "tare_fail_errno returns -1");
	IS_STR(err.text, "cannot open '/sys/x': Permission denied", "the system's words behind the sentence");
	IS_I64(err.code, TARE_E_PERMISSION, "EACCES is a missing permission");
	IS_I64(err.sys_errno, EACCES, "errno is kept");
	tare_fail_errno(&err, EPERM, "x");
	IS_I64(err.code, TARE_E_PERMISSION, "so is EPERM");
	tare_fail_errno(&err, ENOENT, "x");
	IS_I64(err.code, TARE_E_SYSTEM, "ENOENT is the system's");
}

static void prefixes(void)
{
	struct tare_err err = {.code = TARE_OK};
	tare_fail_errno(&err, ENOENT, "cannot open 'f'");
	IS_I64(tare_err_prefix(&err, "round %d", 3), -1, "tare_err_prefix returns -1");
	IS_STR(err.text, "round 3: cannot open 'f': No such file or directory", "prefix and sentence");
	IS_I64(err.sys_errno, ENOENT, "errno outlives a prefix");
	tare_fail(&err, TARE_E_FORMAT, "again %s", err.text);
	IS_STR(err.text, "again round 3: cannot open 'f': No such file or directory",
		"its own text may be an argument");
}

static void bounds(void)
{
	struct tare_err err = {.code = TARE_OK};
	char lengthy[1024];
	memset(lengthy, 'a', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	tare_fail(&err, TARE_E_FORMAT, "%s", lengthy);
	IS_I64(strlen(err.text), sizeof(err.text) - 1, "a long sentence is cut to the room");
	tare_err_prefix(&err, "prefix");
	IS_I64(strncmp(err.text, "prefix: aaa", 11), 0, "a prefix still comes first");
	IS_I64(strlen(err.text), sizeof(err.text) - 1, "and the whole still fits");
	IS_I64(tare_fail(NULL, TARE_E_USAGE, "%s", "x"), -1, "no object: tare_fail");
	IS_I64(tare_fail_errno(NULL, EIO, "%s", "x"), -1, "no object: tare_fail_errno");
	IS_I64(tare_err_prefix(NULL, "%s", "x"), -1, "no object: tare_err_prefix");
}

static void statuses(void)
{
	static const struct {
		enum tare_code code;
		int status;
	} table[] = {
		{TARE_OK, 0},
		{TARE_E_USAGE, 2},
		{TARE_E_INVALID, 4},
		{TARE_E_SYSTEM, 5},
		{TARE_E_PERMISSION, 5},
		{TARE_E_UNSUPPORTED, 5},
		{TARE_E_FORMAT, 6},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		IS_I64(tare_exit_status(table[i].code), table[i].status, "exit status of a code");
}

int main(void)
{
	sentences();
	prefixes();
	bounds();
	statuses();
	return tap_done();
}
