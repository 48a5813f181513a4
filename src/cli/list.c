/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of names: what `tare lab` and `tare import --list-formats` offer. */
#include "cli/cli.h"
#include "report/report.h"

static struct cell get_name(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(((const struct cli_word *)record)->name);
}

static struct cell get_what(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(((const struct cli_word *)record)->what);
}

int cli_list(struct cli *cli, const char *heading, const struct cli_word *words, size_t count, struct tare_err *err)
{
	static const struct column columns[] = {
		{.name = "name", .heading = "name", .help = "what to ask for", .is_text = true, .get = get_name},
		{.name = "what", .heading = "what it is", .help = "in a sentence", .is_text = true, .get = get_what},
	};
	struct report report = {.out = cli->out,
		.columns = columns,
		.column_count = sizeof columns / sizeof *columns,
		.width = cli->columns,
		.corner = heading};
	return report_table(&report, &format_text, NULL, NULL, words, count, sizeof *words, err);
}
