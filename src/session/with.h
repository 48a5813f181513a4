/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A load beside a round: a command of the user's, started before and stopped
 * after it, in a process group of its own. Private to this folder.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tare/err.h"

enum { WITH_TIDS_MOST = 1024 };
struct with {
	pid_t child;                 /* 0: none runs */
	int output;                  /* reading end of what it prints */
	int32_t tid[WITH_TIDS_MOST]; /* sorted: threads it had at the end of the round */
	size_t tid_count;
	double cpu_seconds;
	bool ended_early;
	int status;     /* of wait: exit status, or 128 + signal */
	char line[200]; /* last line it printed, made harmless */
};
/* Starts `sh -c command`; returns once it runs and 0.2 s have passed, so that its start is no part of the round. */
int with_start(struct with *with, const char *command, struct tare_err *err) TARE_MUST_USE;
/* Notes its threads, then asks it to end, after 2 s insists. Safe to call twice. */
void with_stop(struct with *with);
