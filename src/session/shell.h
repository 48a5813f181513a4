/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands of the user between rounds: what switches a setting, and a responder
 * of his. Each runs through /bin/sh in a process group of its own, so that Ctrl-C
 * at the terminal reaches us and not a command half way through.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tare/err.h"

enum { SHELL_OUTPUT_BYTES = 4096 };
struct shell_result {
	int exit;                /* 128 + signal when one ended it */
	int64_t took_ns;
	bool interrupted;        /* a signal came for us: the command was ended */
	bool late;               /* it took too long: the command was ended */
	char output[SHELL_OUTPUT_BYTES]; /* both streams, cut */
};
/* signals: descriptor that becomes readable when we are to stop; -1: none. limit_ns: longest time, then it is ended. */
int shell_run(const char *line, int signals, int64_t limit_ns, struct shell_result *ret_result,
	struct tare_err *err) TARE_MUST_USE;

/* Starts a responder; its output goes to ours. `exports` NULL or "NAME=VALUE NAME=VALUE" as the shell takes them. */
int shell_start(const char *line, const char *exports, pid_t *ret_pid, struct tare_err *err) TARE_MUST_USE;
bool shell_lives(pid_t pid);
/* TERM to the whole group, KILL after two seconds. */
void shell_stop(pid_t pid);
