/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of `tare inspect` share: its options, and an inspection with all that belongs to it. */
#pragma once
#include "cli/cli.h"
#include "cli/table_options.h"
#include "host/columns.h"
#include "host/exchange.h"
#include "host/host.h"
#include "host/profile.h"
#include "host/store.h"

struct inspect_config {
	const char *root, *netns, *exe, *peer, *state, *approve, *why, *against, *policy, *explain, *declare, *allow;
	const char *facts_file, *openmetrics, *output, *lldp_device;
	uint64_t pid;
	int64_t lldp_ns, peak_ns;
	struct option_cpus cpus;
	struct table_asked table;
	bool pager;
	bool save, facts, diff, switches, json, csv, markdown, nagios, intrusive, slow, across_hosts, exit_zero;
};
extern const struct option inspect_options[];

struct inspection {
	struct host_snapshot *is, *was, *approved; /* NULL: none */
	struct host_policy *policy;
	struct host_profile profile;
	struct host_deltas deltas;
	struct host_differences drift;
	struct host_findings findings;
	struct host_tally tally;
	struct host_store store;
	bool stored;            /* there is a state folder to read from */
	bool counted, compared; /* deltas and drift were made */
	char yardstick[128];    /* what it was compared with; "" for nothing */
	char role[80];          /* a name in the store, "" for none */
	int verdict;
	int64_t took_ns;
};

/* "TARE WARNING - 2 drift, 1 counter | drift=2;0;; …", one line. */
void inspect_first_line(FILE *out, const struct inspection *inspection);
void inspect_text(struct cli *cli, const struct inspection *inspection);
void inspect_markdown(FILE *out, const struct inspection *inspection);
int inspect_json(FILE *out, const struct inspection *inspection, struct tare_err *err) TARE_MUST_USE;
/* Through a file beside it and a rename, as the textfile collector wants it. */
int inspect_openmetrics(const char *path, const struct inspection *inspection, struct tare_err *err) TARE_MUST_USE;

int inspect_explain(struct cli *cli, const char *key, struct tare_err *err) TARE_MUST_USE;
/* Findings, facts or compared keys as a table; report_table in short. */
int inspect_table(struct cli *cli, const struct inspect_config *config, const struct host_columns *columns,
	const char *schema, const char *usual, const void *records, size_t count, size_t record_bytes,
	struct tare_err *err) TARE_MUST_USE;
int inspect_facts(struct cli *cli, const struct inspect_config *config, const struct host_snapshot *snapshot,
	struct tare_err *err) TARE_MUST_USE;
/* --diff: the exit status. */
int inspect_diff(
	struct cli *cli, const struct inspect_config *config, int count, char **operands, struct tare_err *err);

/* "changed" and the other words of a JSON value for one row of a column table. */
struct json_t;
struct json_t *inspect_json_row(const struct host_columns *columns, const void *record);
