/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A terminal taken over for a while: the alternate screen, keys without Enter, no
 * echo. However it ends (screen_leave, exit, a signal that kills, Ctrl-Z) the
 * terminal is as it was; only SIGKILL cannot be seen coming. There is one at a time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "tare/err.h"

/* fd: what is drawn on. Fails with TARE_E_USAGE where it is no terminal or belongs to another process group. */
int screen_open(int fd, struct tare_err *err) TARE_MUST_USE;
/* Takes the terminal over, or over again. Does nothing while another process group has it. */
void screen_enter(void);
/* Gives it back; draws are passed over until screen_enter. */
void screen_leave(void);
/* The same for good. */
void screen_close(void);

/* Readable when there is something for screen_take. */
int screen_fd(void);
/* Takes keys, and Ctrl-Z (stops the process, terminal given back, and returns when it is continued). True: q was pressed. */
bool screen_take(void);

/* As of now, so that a resize is seen at the next draw. */
void screen_size(int *ret_columns, int *ret_lines);
/* Lines of text from the upper left on; what was there before vanishes. */
void screen_draw(const char *text);
