/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One flat table over all files. In text, what is known of no row (file, run, label) is left out. */
#include "cli/stat_shared.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "lib/share_columns.h"
#include "report/report.h"
#include "tare/recording.h"

struct rows {
	struct share_at *at;
	size_t count, room;
};

static void rows_end(const struct rows *rows)
{
	free(rows->at);
}

static int add_row(struct rows *rows, const struct share_at *at, struct tare_err *err)
{
	if (rows->count == rows->room) {
		size_t room = rows->room ? 2 * rows->room : 256;
		struct share_at *more = reallocarray(rows->at, room, sizeof *more);
		if (!more)
			return tare_fail_errno(err, ENOMEM, "cannot hold what took the CPUs");
		rows->at = more;
		rows->room = room;
	}
	rows->at[rows->count++] = *at;
	return 0;
}

static int gather(struct rows *rows, const char *path, struct source *source, struct tare_err *err)
{
	struct tare_recording *recording = source_recording(source);
	const struct tare_record *record;
	const struct tare_round *last = NULL;
	int found;
	while ((found = source_next(source, &record, err)) > 0) {
		const struct tare_share *shares;
		size_t count;
		if (!recording || record->round == last)
			continue;
		last = record->round;
		if (tare_recording_shares(recording, record->round->id, &shares, &count, err))
			return -1;
		for (size_t i = 0; i < count; i++)
			if (add_row(rows, &(struct share_at){.place = {path, record->run, record->target, record->round}, .share = &shares[i]}, err))
				return -1;
	}
	return found;
}

struct open_sources {
	struct source **source;
	int count;
};

static void sources_end(const struct open_sources *sources)
{
	for (int i = 0; i < sources->count; i++)
		source_free(sources->source[i]);
	free(sources->source);
}

int stat_shared(struct cli *cli, const struct source_rules *rules, int count, char **paths,
	const struct stat_layout *layout, struct tare_err *err)
{
	/* rows point into their sources */
	AUTO_CLEANUP(sources_end) struct open_sources sources = {calloc((size_t)count, sizeof *sources.source), 0};
	AUTO_CLEANUP(rows_end) struct rows rows = {.at = NULL};
	struct report report = {.out = cli->out,
		.schema = "tare.shared/1",
		.width = layout->width,
		.columns = share_columns,
		.column_count = share_column_count};
	if (!sources.source)
		return tare_fail_errno(err, ENOMEM, "cannot open the files");
	for (int i = 0; i < count; i++) {
		if (source_open(paths[i], rules, &sources.source[i], err))
			return -1;
		sources.count = i + 1;
		if (gather(&rows, paths[i], sources.source[i], err))
			return -1;
	}
	if (!rows.count)
		fprintf(cli->note, "no round of these was watched: tare run --why, or --spin\n");
	return report_table(&report, layout->format, &layout->asked,
		count > 1 ? "file,round,cpu,whose,what,name,percent,ns,times"
			  : "round,cpu,whose,what,name,percent,ns,times",
		rows.at, rows.count, sizeof *rows.at, err);
}
