/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything gathered for a report, and its two forms. */
#pragma once
#include "cli/report.h"
#include "report/stat_view.h"

struct report_making {
	char **paths;
	int count_asked, count;  /* files named; opened */
	struct source **sources; /* open until the end, since rows and plots point into them */
	struct tare_rules rules;
	struct stat_view *view;
	struct plots *plots;
	struct report_about *about;
	struct report_verdict verdict;
	const char *title;
	char **names;            /* of curves */
	size_t name_count, records;
};

int report_page(struct cli *cli, const struct page *page, struct report_making *making, struct tare_err *err) TARE_MUST_USE;
int report_markdown(const struct page *page, struct report_making *making, struct tare_err *err) TARE_MUST_USE;
