/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * UTF-8 without the locale: how many terminal columns a text takes, and how to
 * show text that others wrote. Labels, targets and messages come from files and
 * networks; escape sequences, control characters, direction overrides and broken
 * UTF-8 in them are shown as \x1b or \u202e, so that they never reach a terminal.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What utf8_next reports for a byte that starts no valid character. */
#define UTF8_INVALID UINT32_MAX

/* Decodes the character at bytes[0..room), room > 0; returns the bytes it takes (1 where invalid). */
size_t utf8_next(const char *bytes, size_t room, uint32_t *ret_code);
/* Columns of one character: 0 combining, 2 wide East Asian and emoji, else 1. */
int utf8_width(uint32_t code);
/* Columns of a text that utf8_safe made. */
int utf8_columns(const char *text);
/*
 * A copy to be freed that is safe to show; characters of `keep` (such as "\n")
 * are let through. NULL when memory is short.
 */
char *utf8_safe(const char *text, const char *keep);
/* Writes a safe form at once, without memory. */
void utf8_write_safe(FILE *out, const char *text, const char *keep);
