/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One page of HTML that needs nothing beside it: no reference to anything
 * outside, a Content-Security-Policy that allows our one style and our one script
 * by their hashes and nothing else, and no foreign text in either. Without
 * scripts everything is there; with them plots over time can be zoomed.
 */
#pragma once
#include <stdio.h>

#include "report/plot/svg.h"

struct page {
	FILE *out;
	const char *title;   /* foreign */
	const char *version; /* "tare 0.1.0" */
	int64_t made_at_s;   /* by the wall clock, or SOURCE_DATE_EPOCH */
};
/* False where the build had no dygraphs: pages then have no zoom. */
bool page_can_zoom(void);
int page_begin(const struct page *page, struct tare_err *err) TARE_MUST_USE;
void page_end(const struct page *page);
/* <section id=…><h2>…</h2>; ends with page_section_end. Ids and headings are ours. */
void page_section(const struct page *page, const char *id, const char *heading);
void page_section_end(const struct page *page);
/* Foreign text, made harmless, cut after `most` characters (0: never). */
void page_text(const struct page *page, const char *text, size_t most);
/* A paragraph; the text is foreign. */
void page_paragraph(const struct page *page, const char *class, const char *text);
/* A line "name: value" of a list that page_list and page_list_end enclose. */
void page_list(const struct page *page);
void page_item(const struct page *page, const char *name, const char *value);
void page_list_end(const struct page *page);
/* Text as a terminal would show it, in a block of its own. */
void page_preformatted(const struct page *page, const char *text);
/* Numbers of the plot over time for zooming: base64 of little-endian figures, in attributes. Nothing without dygraphs. */
int page_zoom(const struct page *page, const struct plot_target *target, struct tare_err *err) TARE_MUST_USE;
