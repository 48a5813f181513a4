/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The locale is read from the environment and not set: nothing else of tare depends on it. */
#include "cli/plotting.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/report.h"

const struct option_choice plot_style_choices[] = {
	{"auto", PLOT_STYLE_AUTO, "braille, or ascii where the locale is not UTF-8 or TERM is dumb"},
	{"braille", PLOT_STYLE_BRAILLE, "dots, eight in a character"},
	{"block", PLOT_STYLE_BLOCK, "quarters of a block, for fonts without braille"},
	{"ascii", PLOT_STYLE_ASCII, "characters that every terminal and mail has"},
	{0},
};

static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < 3; i++) {
		const char *value = getenv(names[i]);
		if (value && value[0])
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

enum terminal_style plotting_style(enum plot_style style)
{
	const char *term = getenv("TERM");
	if (style == PLOT_STYLE_AUTO)
		return locale_is_utf8() && !(term && strcmp(term, "dumb") == 0) ? TERMINAL_BRAILLE : TERMINAL_ASCII;
	return style == PLOT_STYLE_BRAILLE ? TERMINAL_BRAILLE : style == PLOT_STYLE_BLOCK ? TERMINAL_BLOCK : TERMINAL_ASCII;
}

struct terminal plotting_terminal(const struct cli *cli, enum plot_style style)
{
	return (struct terminal){
		.width = cli->columns > 0 ? cli->columns : 80, .style = plotting_style(style), .colour = cli->colour};
}

int plotting_add(
	struct plots *plots, const struct stat_view *view, const struct plotting_input *input, struct tare_err *err)
{
	const struct tare_round *round = input->record->round;
	const char *label = round->label && round->label[0] ? round->label : NULL;
	struct plot_input plot = {.file = input->file,
		.record = input->record,
		.causes = input->causes,
		.cause_count = input->cause_count,
		.warmup = input->warmup >= 0 ? (size_t)input->warmup : round->warmup,
		.series = label ? label : input->many_files ? input->file : NULL,
		.arm = label && (label[0] == 'A' || label[0] == 'B') && !label[1] ? label[0] : 0};
	plot.row = stat_view_last(view, &plot.insight);
	return plots_add(plots, &plot, err);
}

int plotting_draw(struct cli *cli, struct plots *plots, unsigned kinds, enum plot_style style, struct tare_err *err)
{
	const struct plot_target *const *targets;
	const struct terminal terminal = plotting_terminal(cli, style);
	if (plots_finish(plots, err))
		return -1;
	size_t count = plots_targets(plots, &targets), drawn = 0;
	for (size_t i = 0; i < count; i++) {
		for (unsigned kind = 0; kind < TERMINAL_PLOT_COUNT; kind++) {
			/* one round in order is no picture, unless it is what was asked for */
			bool alone = kind == TERMINAL_PLOT_ROUNDS && targets[i]->round_count < 2 && kinds != 1u << kind;
			if (!(kinds >> kind & 1) || alone)
				continue;
			if (drawn++)
				fputc('\n', cli->out);
			if (terminal_draw(cli->out, &terminal, (enum terminal_plot)kind, targets[i], err))
				return -1;
		}
	}
	if (plots_targets_left_out(plots))
		report_sentence(cli->out, terminal.width, "%llu records of further targets are not drawn: %d targets are the most.",
			(unsigned long long)plots_targets_left_out(plots), PLOT_TARGETS_MAX);
	return 0;
}
