/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare inspect: reads the facts of a host, compares them with what was approved
 * and with the last inspection, and says what matters. It exits 0, 1, 2 or 3 as
 * monitoring plugins do, in every output format alike, also for its own errors.
 */
#include "cli/inspect.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/columns.h"
#include "report/report.h"
#include "report/utf8.h"

enum { EXIT_UNKNOWN = 3 };

static void end_inspection(struct inspection *inspection)
{
	if (inspection->compared)
		host_differences_free(&inspection->drift);
	if (inspection->counted)
		host_deltas_free(&inspection->deltas);
	host_findings_free(&inspection->findings);
	host_profile_free(&inspection->profile);
	host_policy_free(inspection->policy);
	host_snapshot_free(inspection->approved);
	host_snapshot_free(inspection->was);
	host_snapshot_free(inspection->is);
}

static int check(const struct inspect_config *config, int operands, struct tare_err *err)
{
	int sources = (config->root != NULL) + (config->facts_file != NULL) + config->switches + config->diff;
	if (sources > 1)
		return tare_fail(err, TARE_E_USAGE, "--root, --facts-file, --switch and --diff exclude each other");
	if (config->json + config->csv + config->markdown + config->nagios > 1)
		return tare_fail(err, TARE_E_USAGE, "--json, --csv, --markdown and --nagios exclude each other");
	if ((config->switches || config->diff) && operands == 0)
		return tare_fail(err, TARE_E_USAGE, "%s needs files", config->diff ? "--diff" : "--switch");
	if (!config->switches && !config->diff && operands > 0)
		return tare_fail(err, TARE_E_USAGE, "files go with --switch or --diff");
	if ((config->declare || config->allow) && !config->diff)
		return tare_fail(err, TARE_E_USAGE, "--declare and --allow go with --diff");
	if (config->why && !config->approve)
		return tare_fail(err, TARE_E_USAGE, "--why goes with --approve");
	if (config->table.columns && (config->markdown || config->nagios))
		return tare_fail(err, TARE_E_USAGE, "--columns goes with text, --json and --csv");
	if (config->pid && config->exe)
		return tare_fail(err, TARE_E_USAGE, "--pid and --exe exclude each other");
	const struct host_columns *columns = config->facts  ? &host_fact_columns
					     : config->diff ? &host_compared_columns
							    : &host_finding_columns;
	return report_check(&config->table, columns->column, columns->count, err);
}

static void hot_cpus(const struct inspect_config *config, struct host_cpus *ret_cpus)
{
	*ret_cpus = (struct host_cpus){{0}};
	for (size_t i = 0; i < config->cpus.count; i++)
		host_cpus_add(ret_cpus, config->cpus.cpu[i]);
}

static int64_t now_ns(void)
{
	struct timespec now = {0};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The facts to judge: of this host, of another one's folder or file, or of a switch. */
static int take_facts(const struct inspect_config *config, int count, char **operands, struct inspection *inspection,
	struct tare_err *err)
{
	struct host_question question = {.root = config->root,
		.netns = config->netns,
		.pid = (pid_t)config->pid,
		.exe = config->exe,
		.peer = config->peer,
		.intrusive = config->intrusive,
		.slow = config->slow,
		.tool = cli_version()};
	int64_t from_ns = now_ns();
	if (config->facts_file)
		return host_snapshot_load(config->facts_file, &inspection->is, err);
	if (config->switches)
		return host_switch_load((const char *const *)operands, (size_t)count, &inspection->is, err);
	hot_cpus(config, &question.hot);
	if (!config->root)
		host_move_aside(&question.hot);
	if (host_read(&question, &inspection->is, err) < 0)
		return -1;
	inspection->took_ns = now_ns() - from_ns;
	return 0;
}

static int listen_lldp(
	struct cli *cli, const struct inspect_config *config, struct inspection *inspection, struct tare_err *err)
{
	struct host_neighbour neighbour;
	int heard = host_lldp_listen(config->lldp_device, config->lldp_ns, &neighbour, err);
	if (heard < 0)
		return -1;
	if (heard == 0) {
		cli_warn(cli, "nobody announced itself by LLDP on %s", config->lldp_device);
		return 0;
	}
	return host_lldp_add(inspection->is, config->lldp_device, &neighbour, err);
}

static bool same_host(const struct host_snapshot *one, const struct host_snapshot *other)
{
	const char *a = one->header.host, *b = other->header.host;
	return one->header.foreign == other->header.foreign && (!a || !b || strcmp(a, b) == 0);
}

/* The last inspection, if it was of this host. */
static int take_last(struct cli *cli, struct inspection *inspection, struct tare_err *err)
{
	int found = inspection->stored ? host_store_last(&inspection->store, &inspection->was, err) : 0;
	if (found <= 0)
		return found;
	if (!same_host(inspection->was, inspection->is)) {
		cli_warn(cli, "the last inspection in '%s' was of host %s: not compared with it",
			inspection->store.folder, inspection->was->header.host ? inspection->was->header.host : "?");
		host_snapshot_free(take_ptr(inspection->was));
		return 0;
	}
	if (host_deltas_of(inspection->was, inspection->is, &inspection->deltas, err) < 0)
		return -1;
	inspection->counted = true;
	return 0;
}

static int read_policy(const char *path, struct host_policy **ret_policy, struct tare_err *err)
{
	AUTO_FILE file = fopen(path, "re");
	enum { ROOM = 1 << 20 };
	AUTO_FREE char *text = malloc(ROOM + 1);
	if (!file || !text)
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	size_t used = fread(text, 1, ROOM, file);
	if (ferror(file))
		return tare_fail_errno(err, errno, "cannot read '%s'", path);
	text[used] = '\0';
	return host_policy_parse(text, path, ret_policy, err);
}

/* Settings that a profile does not mention are none of its business, nor is a knob that this host does not have. */
static void drop_unmentioned(struct host_differences *drift)
{
	size_t kept = 0;
	for (size_t i = 0; i < drift->count; i++) {
		const struct host_difference *row = &drift->row[i];
		bool no_knob = row->change == HOST_VANISHED && strncmp(row->key, "boot[", 5) != 0;
		drift->not_applicable += row->was && no_knob;
		if (row->was && !no_knob)
			drift->row[kept++] = *row;
	}
	drift->count = kept;
	drift->vanished = drift->appeared = 0;
	for (size_t i = 0; i < kept; i++)
		drift->vanished += drift->row[i].change == HOST_VANISHED;
}

static int compare_profile(
	const struct inspect_config *config, const char *name, struct inspection *inspection, struct tare_err *err)
{
	if (host_profile_load(config->root, name, inspection->is, &inspection->profile, err) < 0 ||
		host_difference_of(inspection->profile.wants, inspection->is, inspection->profile.policy,
			&inspection->drift, err) < 0)
		return -1;
	drop_unmentioned(&inspection->drift);
	inspection->drift.compared = inspection->profile.wants->count;
	inspection->compared = true;
	snprintf(inspection->yardstick, sizeof inspection->yardstick,
		"tuned profile %s (%zu of %zu lines not understood)", name, inspection->profile.not_understood,
		inspection->profile.lines);
	return 0;
}

static void name_yardstick(struct inspection *inspection)
{
	const struct host_header *header = &inspection->approved->header;
	char day[32] = "";
	struct tm utc;
	time_t at = (time_t)(header->approved_ns / 1000000000);
	if (header->approved && gmtime_r(&at, &utc) && strftime(day, sizeof day, "%Y-%m-%d", &utc) > 0)
		snprintf(inspection->yardstick, sizeof inspection->yardstick, "%.64s approved %s #%.8s",
			header->approved, day, header->hash);
	else
		snprintf(inspection->yardstick, sizeof inspection->yardstick, "%.80s #%.8s", inspection->role,
			header->hash);
}

static int take_yardstick(
	struct cli *cli, const struct inspect_config *config, struct inspection *inspection, struct tare_err *err)
{
	const char *against = config->against;
	char only[80] = "";
	if (against && strncmp(against, "tuned:", 6) == 0)
		return compare_profile(config, against + 6, inspection, err);
	if (!against || strcmp(against, "auto") == 0) {
		struct tare_err several;
		int found =
			inspection->stored ? host_store_only_role(&inspection->store, only, sizeof only, &several) : 0;
		if (found < 0)
			cli_warn(cli, "%s", several.text);
		if (found <= 0)
			return config->policy ? read_policy(config->policy, &inspection->policy, err) : 0;
		against = only;
	}
	snprintf(inspection->role, sizeof inspection->role, "%s", against);
	if (host_store_approved(&inspection->store, against, &inspection->approved, err) < 0)
		return -1;
	int status = config->policy ? read_policy(config->policy, &inspection->policy, err)
				    : host_store_policy(&inspection->store, against, &inspection->policy, err);
	if (status < 0 || host_difference_of(inspection->approved, inspection->is, inspection->policy,
				  &inspection->drift, err) < 0)
		return -1;
	inspection->compared = true;
	int64_t previous_ns = inspection->was ? inspection->was->header.real_ns : 0;
	name_yardstick(inspection);
	return host_store_since(&inspection->store, against, &inspection->drift, previous_ns, config->save, err);
}

static int judge(const struct inspect_config *config, struct inspection *inspection, struct tare_err *err)
{
	struct host_view view = {.is = inspection->is,
		.was = inspection->was,
		.deltas = inspection->counted ? &inspection->deltas : NULL,
		.drift = inspection->compared ? &inspection->drift : NULL,
		.policy = inspection->policy ? inspection->policy : inspection->profile.policy,
		.peak_per_second = config->peak_ns ? 1e9 / (double)config->peak_ns : 0,
		.across_hosts = config->across_hosts};
	hot_cpus(config, &view.hot);
	inspection->tally = host_tally_of(inspection->is);
	if (host_findings_of(&view, &inspection->findings, err) < 0)
		return -1;
	inspection->verdict = host_verdict(&inspection->findings);
	return 0;
}

static const char *user_name(void)
{
	const char *sudo = getenv("SUDO_USER");
	const struct passwd *entry = getpwuid(getuid());
	return sudo && sudo[0] ? sudo : entry ? entry->pw_name : "?";
}

static int keep(
	struct cli *cli, const struct inspect_config *config, struct inspection *inspection, struct tare_err *err)
{
	if (config->output && host_snapshot_save(inspection->is, config->output, 0644, err) < 0)
		return -1;
	if (config->save && host_store_keep(&inspection->store, inspection->is, err) < 0)
		return -1;
	if (!config->approve)
		return 0;
	if (host_store_approve(&inspection->store, config->approve, inspection->is, user_name(), config->why, err) < 0)
		return -1;
	if (!config->nagios)
		fprintf(cli->note, "approved as %s in %s, #%.8s\n", config->approve, inspection->store.folder,
			inspection->is->header.hash);
	return 0;
}

static int print(
	struct cli *cli, const struct inspect_config *config, const struct inspection *inspection, struct tare_err *err)
{
	if (config->openmetrics && inspect_openmetrics(config->openmetrics, inspection, err) < 0)
		return -1;
	if (config->csv || config->table.columns)
		return inspect_table(cli, config, &host_finding_columns, "tare.inspect/1", NULL, inspection->findings.row,
			inspection->findings.count, sizeof *inspection->findings.row, err);
	if (config->nagios)
		inspect_first_line(cli->out, inspection);
	else if (config->json)
		return inspect_json(cli->out, inspection, err);
	else if (config->markdown)
		inspect_markdown(cli->out, inspection);
	else
		inspect_text(cli, inspection);
	return 0;
}

/* A folder of another host must not be measured against what this host was: it needs a state folder of its own. */
static int open_store(const struct inspect_config *config, struct inspection *inspection, struct tare_err *err)
{
	bool writes = config->save || config->approve,
	     elsewhere = config->root || config->facts_file || config->switches;
	if (!config->state && elsewhere) {
		if (writes)
			return tare_fail(
				err, TARE_E_USAGE, "--save and --approve of another host's facts need --state FOLDER");
		return 0;
	}
	if (host_store_open(config->state, writes, &inspection->store, err) < 0)
		return -1;
	inspection->stored = true;
	return 0;
}

static int inspect(
	struct cli *cli, const struct inspect_config *config, int count, char **operands, struct tare_err *err)
{
	AUTO_CLEANUP(end_inspection) struct inspection inspection = {.is = NULL};
	if (take_facts(config, count, operands, &inspection, err) < 0)
		return -1;
	if (config->lldp_device && listen_lldp(cli, config, &inspection, err) < 0)
		return -1;
	if (config->facts)
		return config->output && host_snapshot_save(inspection.is, config->output, 0644, err) < 0
			       ? -1
			       : inspect_facts(cli, config, inspection.is, err);
	if (open_store(config, &inspection, err) < 0 || take_last(cli, &inspection, err) < 0 ||
		take_yardstick(cli, config, &inspection, err) < 0 || judge(config, &inspection, err) < 0 ||
		keep(cli, config, &inspection, err) < 0 || print(cli, config, &inspection, err) < 0)
		return -1;
	return config->exit_zero ? 0 : inspection.verdict;
}

static int run_inspect(struct cli *cli, void *untyped, int operand_count, char **operands, struct tare_err *err)
{
	const struct inspect_config *config = untyped;
	int status = check(config, operand_count, err);
	if (status == 0 && config->explain)
		return inspect_explain(cli, config->explain, err);
	if (status == 0)
		status = config->diff ? inspect_diff(cli, config, operand_count, operands, err)
				      : inspect(cli, config, operand_count, operands, err);
	if (status < 0 && config->nagios) {
		fputs("TARE UNKNOWN - ", cli->out);
		err->text[strcspn(err->text, "\n")] = '\0';
		utf8_write_safe(cli->out, err->text, "");
		fputc('\n', cli->out);
		return EXIT_UNKNOWN;
	}
	return status;
}

const struct command command_inspect = {
	.name = "inspect",
	.summary = "what this host is set to, what changed, and what of it matters for latency",
	.operands = "[FILE...]",
	.examples = "  tare inspect --exe md-handler --cpu 19 --approve md-handler --why 'after the move to rack 7'\n"
		    "  tare inspect --save\n"
		    "  tare inspect --against tuned:network-latency\n"
		    "  tare inspect --diff before.jsonl after.jsonl --declare 'nic[*].coalesce.rx_usecs'\n"
		    "  tare inspect --explain X7\n",
	.options = inspect_options,
	.columns = columns_of_inspect,
	.config_bytes = sizeof(struct inspect_config),
	.pages = true,
	.monitoring = true,
	.run = run_inspect,
};
