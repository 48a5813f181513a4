/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of a page: the answer first, then what an expert checks, then what it cannot say. */
#include "cli/report_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

static const char figure_columns[] =
	"file,run,round,label,target,span,sent,n,lost,min_ns,p50_ns,p90_ns,p99_ns,p999_ns,max_ns,pdv_ns,stalls";
static const char stall_columns_shown[] = "round,label,target,seq,at_ns,value_ns,of_median,cause";

/* The first line is the answer, the others stand behind it. */
static void write_verdict(const struct page *page, const struct report_making *making)
{
	const char *text = making->verdict.text;
	page_section(page, "verdict", "Verdict");
	if (!text || !text[0]) {
		page_paragraph(page, "verdict", "No comparison: these are figures, not a verdict.");
		page_paragraph(page, "dim",
			"A verdict needs rounds of two settings: tare abba measures them, tare compare judges what is "
			"recorded.");
	}
	bool first = true;
	for (const char *line = text ? text : ""; *line; first = false) {
		size_t length = strcspn(line, "\n");
		AUTO_FREE char *copy = strndup(
			line + strspn(line, " "), length - (strspn(line, " ") < length ? strspn(line, " ") : length));
		if (copy && copy[0])
			page_paragraph(page, first ? "verdict" : NULL, copy);
		line += length + (line[length] == '\n');
	}
	page_section_end(page);
}

static int write_figures(const struct page *page, struct report_making *making, struct tare_err *err)
{
	const struct stat_layout rows = {.format = &format_html, .asked = {.columns = figure_columns}};
	const struct stat_layout plain = {.format = &format_text, .width = 110};
	char *text = NULL;
	size_t bytes = 0;
	page_section(page, "figures", "Figures");
	AUTO_FILE out = open_memstream(&text, &bytes);
	if (!out)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	int failed = stat_view_print(out, making->view, &plain, err);
	fclose(take_ptr(out));
	if (!failed)
		page_preformatted(page, text);
	free(text);
	if (!failed) {
		fputs("<details><summary>Every row as a table</summary>\n", page->out);
		failed = stat_view_print(page->out, making->view, &rows, err);
		fputs("</details>\n", page->out);
	}
	page_section_end(page);
	return failed ? -1 : 0;
}

static int write_plot(const struct page *page, const struct report_making *making, const struct plot_target *target,
	size_t number, bool many, enum plot_kind kind, struct tare_err *err)
{
	char id[48];
	struct text text = TEXT_IN(id);
	text_add(&text, "p%zu%s", number, plot_kind_name(kind));
	const struct plot_svg_rules rules = {
		.id = id, .verdict = number == 0 && making->verdict.decided ? &making->verdict.primary : NULL};
	/* under the heading of the target where there are several */
	int level = many ? 4 : 3;
	fprintf(page->out,
		"<figure id=\"%s\"><h%d>%s</h%d><p class=\"dim\">%s</p>\n<div class=\"figure\" tabindex=\"0\">", id,
		level, plot_kind_title(kind), level, plot_kind_explanation(kind));
	if (plot_svg(page->out, target, kind, &rules, err))
		return -1;
	fputs("</div>\n", page->out);
	if (kind == PLOT_KIND_TIME && page_zoom(page, target, err))
		return -1;
	fputs("<details><summary>The same as a table</summary><div class=\"scroll\" tabindex=\"0\">\n", page->out);
	plot_html_table(page->out, target, kind);
	fputs("</div></details></figure>\n", page->out);
	return 0;
}

static int write_plots(const struct page *page, const struct report_making *making, struct tare_err *err)
{
	const struct plot_target *const *targets;
	size_t count = plots_targets(making->plots, &targets);
	page_section(page, "plots", "Plots");
	for (size_t i = 0; i < count; i++) {
		if (count > 1) {
			fputs("<h3>", page->out);
			page_text(page, targets[i]->url, 200);
			fputs("</h3>\n", page->out);
		}
		for (enum plot_kind kind = 0; kind < PLOT_KIND_COUNT; kind++)
			if (!plot_kind_missing(targets[i], kind) &&
				write_plot(page, making, targets[i], i, count > 1, kind, err))
				return -1;
		fputs("<p class=\"dim\">Left out: ", page->out);
		size_t left = 0;
		for (enum plot_kind kind = 0; kind < PLOT_KIND_COUNT; kind++) {
			const char *why = plot_kind_missing(targets[i], kind);
			if (why)
				fprintf(page->out, "%s%s (%s)", left++ ? "; " : "", plot_kind_title(kind), why);
		}
		fputs(left ? ".</p>\n" : "nothing.</p>\n", page->out);
	}
	if (plots_targets_left_out(making->plots))
		fprintf(page->out,
			"<p>%" PRIu64 " series of further targets have no plots here: name fewer files.</p>\n",
			plots_targets_left_out(making->plots));
	page_section_end(page);
	return 0;
}

static int write_stalls(const struct page *page, struct report_making *making, struct tare_err *err)
{
	const struct stat_layout layout = {.format = &format_html, .asked = {.columns = stall_columns_shown}};
	page_section(page, "stalls", "Stalls and their causes");
	if (stat_view_print_stalls(page->out, making->view, &layout, err))
		return -1;
	page_paragraph(page, "dim",
		"A stall is above ten times the round's median, unless another limit was given. A cause that is not "
		"there was not looked for: "
		"tare run --why watches the CPUs.");
	page_section_end(page);
	return 0;
}

static int write_settings(const struct page *page, const struct report_making *making, struct tare_err *err)
{
	page_section(page, "settings", "Settings of the hosts, and what changed");
	size_t with_facts = 0;
	for (int i = 0; i < making->count; i++) {
		struct tare_recording *recording = source_recording(making->sources[i]);
		if (!recording)
			continue;
		int written = report_facts_write(page, recording, making->paths[i], err);
		if (written < 0)
			return -1;
		with_facts += (size_t)written;
	}
	if (!with_facts)
		page_paragraph(
			page, NULL, "No settings of the hosts were recorded: tare abba reads them around every round.");
	page_section_end(page);
	return 0;
}

static void write_limits(const struct page *page, const struct report_making *making)
{
	const struct plot_target *const *targets;
	size_t count = plots_targets(making->plots, &targets);
	page_section(page, "limits", "What this cannot say");
	fputs("<ul>\n<li>Anything about another rate, another size of requests or another time of day than those "
	      "measured.</li>\n",
		page->out);
	for (size_t i = 0; i < count; i++) {
		const struct plot_target *target = targets[i];
		for (size_t k = 0; k < target->curve_count; k++) {
			const struct plot_curve *curve = &target->curves[k];
			if (!curve->n || curve->n >= 100000)
				continue;
			fputs("<li>", page->out);
			page_text(page, target->url, 120);
			if (curve->name[0]) {
				fputs(", ", page->out);
				page_text(page, curve->name, 60);
			}
			fprintf(page->out,
				": %" PRIu64
				" values carry percentiles up to %s with ten behind; finer ones need more.</li>\n",
				curve->n,
				curve->n >= 10000  ? "p99.9"
				: curve->n >= 1000 ? "p99"
				: curve->n >= 100  ? "p90"
						   : "p50 at most");
		}
		if (!target->lateness || !target->lateness->n)
			fputs("<li>How late requests left: the source does not tell, so time spent before the send is "
			      "in no figure.</li>\n",
				page->out);
		if (!target->breakdown_count)
			fputs("<li>Where the time went inside of a request: there are no stamps between.</li>\n",
				page->out);
		if (target->binned)
			fputs("<li>Exact values: the source counted in bins, and figures lie somewhere within "
			      "them.</li>\n",
				page->out);
	}
	if (!making->verdict.text)
		fputs("<li>Whether anything changed anything: nothing was compared.</li>\n", page->out);
	fputs("</ul>\n", page->out);
	page_section_end(page);
}

int report_page(struct cli *cli, const struct page *page, struct report_making *making, struct tare_err *err)
{
	if (page_begin(page, err))
		return -1;
	fputs("<nav aria-label=\"Sections\"><ul><li><a href=\"#verdict\">Verdict</a></li><li><a "
	      "href=\"#measured\">Measured</a></li>"
	      "<li><a href=\"#figures\">Figures</a></li><li><a href=\"#plots\">Plots</a></li><li><a "
	      "href=\"#stalls\">Stalls</a></li>"
	      "<li><a href=\"#settings\">Settings</a></li><li><a href=\"#limits\">Limits</a></li><li><a "
	      "href=\"#again\">Again</a></li></ul></nav>\n",
		page->out);
	write_verdict(page, making);
	page_section(page, "measured", "What was measured, and how");
	if (report_about_write(page, making->about, err))
		return -1;
	page_section_end(page);
	if (write_figures(page, making, err) || write_plots(page, making, err) || write_stalls(page, making, err) ||
		write_settings(page, making, err))
		return -1;
	write_limits(page, making);
	page_section(page, "again", "How to measure it again");
	if (report_again_write(cli, page, making->sources, making->paths, making->count, err))
		return -1;
	page_section_end(page);
	page_end(page);
	return 0;
}

/* ---- text for a ticket ---- */

/* Markdown of others' text is a block of code, which nothing in it can leave: no line of it begins with a fence. */
static void write_block(FILE *out, const char *text)
{
	fputs("```\n", out);
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");
		size_t blanks = strspn(line, " ");
		fprintf(out, "%s%.*s\n", strncmp(line + blanks, "```", 3) == 0 ? "'" : "", (int)length, line);
		line += length + (line[length] == '\n');
	}
	fputs("```\n", out);
}

int report_markdown(const struct page *page, struct report_making *making, struct tare_err *err)
{
	const struct stat_layout layout = {.format = &format_text, .width = 100};
	char *text = NULL;
	size_t bytes = 0;
	AUTO_FILE out = open_memstream(&text, &bytes);
	if (!out)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (making->verdict.text)
		write_block(page->out, making->verdict.text);
	int failed = stat_view_print(out, making->view, &layout, err);
	fclose(take_ptr(out));
	if (!failed)
		write_block(page->out, text);
	free(text);
	fprintf(page->out, "\n%s\n", page->version);
	return failed ? -1 : 0;
}
