/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes as a user writes them on a command line. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

/*
 * C escapes into bytes: \n \r \t \0 \a \b \f \v \e \\ \' \" and \xHH with two digits; all else stands for
 * itself. Fails with TARE_E_USAGE, naming the escape, and when `room` is too small.
 */
int parse_escapes(const char *text, uint8_t *ret_bytes, size_t room, size_t *ret_count, struct tare_err *err) TARE_MUST_USE;
