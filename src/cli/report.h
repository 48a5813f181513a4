/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of `tare report`: what a page says beside its plots, and how it reaches the disk. */
#pragma once
#include "cli/cli.h"
#include "cli/source.h"
#include "report/page.h"
#include "tare/verdict.h"

/* ---- what was measured and how (report_about.c) ---- */

struct report_about;
int report_about_open(struct report_about **ret_about, struct tare_err *err) TARE_MUST_USE;
void report_about_free(struct report_about *about); /* NULL is fine */
/* Rates held and stamps that arrived, of one record. */
int report_about_record(struct report_about *about, const char *path, const struct tare_record *record,
	struct tare_err *err) TARE_MUST_USE;
int report_about_write(const struct page *page, const struct report_about *about, struct tare_err *err) TARE_MUST_USE;

/* ---- settings of the hosts (report_facts.c) ---- */

/* Facts of a recording that differ between its rounds, with the arms they belong to: 1 written, 0 it holds none, -1. */
int report_facts_write(const struct page *page, struct tare_recording *recording, const char *path,
	struct tare_err *err) TARE_MUST_USE;

/* ---- the verdict (report_verdict.c) ---- */

struct report_verdict {
	char *text;                  /* as tare abba prints it; NULL: the recording holds no comparison */
	struct tare_verdict primary;
	bool decided;                /* primary is filled */
	int status;                  /* what tare abba would exit with */
};
void report_verdict_end(struct report_verdict *verdict);
/* Recomputed from the rounds by the functions of tare compare; other verdicts are those given on the day. */
int report_verdict_of(struct cli *cli, const char *path, struct tare_recording *recording, bool lenient,
	struct report_verdict *ret_verdict, struct tare_err *err) TARE_MUST_USE;

/* ---- how to reproduce (report_again.c) ---- */

int report_again_write(struct cli *cli, const struct page *page, struct source *const *sources, char *const *paths, int count,
	struct tare_err *err) TARE_MUST_USE;

/* ---- files (report_file.c) ---- */

/*
 * A file that takes its name when it is complete: what stood there stays until
 * then, and whatever fails leaves it. With is_new, set before the opening, a file that is there already is refused.
 * "-" is `fallback`, which is not closed.
 */
struct report_file {
	FILE *out;
	char *beside;
	const char *path;
	bool is_new;
	bool direct; /* not a file of the usual kind: written to at once */
};
int report_file_open(const char *path, FILE *fallback, struct report_file *ret_file, struct tare_err *err) TARE_MUST_USE;
int report_file_close(struct report_file *file, struct tare_err *err) TARE_MUST_USE;
/* Takes back what was begun; nothing after a close. */
void report_file_abandon(struct report_file *file);
