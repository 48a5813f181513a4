/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packets as lines: nothing is kept, so memory does not follow the capture. */
#include "cli/export_packets.h"

#include "base/cleanup.h"
#include "import/capture/packets.h"

enum { COLUMNS_MAX = 32 };

static void packets_end(struct packets *const *packets)
{
	packets_free(*packets);
}

int export_packets(struct cli *cli, FILE *out, const char *path, const struct import_rules *rules,
	const struct format *format, const char *columns, struct tare_err *err)
{
	AUTO_CLEANUP(packets_end) struct packets *packets = NULL;
	struct column chosen[COLUMNS_MAX];
	struct report report = {.out = out, .columns = packet_columns, .column_count = packet_column_count};
	const struct packet_at *packet;
	int found = 0;
	if (columns) {
		if (report_choose(packet_columns, packet_column_count, columns, chosen, COLUMNS_MAX, &report.column_count, err))
			return -1;
		report.columns = chosen;
	}
	if (packets_open(path, rules, &packets, err) || format->begin(&report, err))
		return -1;
	while (!ferror(out) && (found = packets_next(packets, &packet, err)) > 0) {
		if (format->row(&report, packet, err))
			return -1;
	}
	if (found < 0 || format->end(&report, err))
		return -1;
	if (packets_remark(packets)[0])
		cli_warn(cli, "%s: %s", path, packets_remark(packets));
	return 0;
}
