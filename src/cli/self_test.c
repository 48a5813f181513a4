/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be stamped here: interfaces, flags the kernel takes, levels with their
 * cost, clocks with their granularity. All of it is one table of rows, printed as four
 * in text, each with the columns that say something.
 */
#include "cli/self_test.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "cli/self_cost.h"
#include "clock/phc.h"
#include "net/card.h"
#include "net/stamps.h"
#include "tare/sample.h"

enum { INTERFACES_MOST = 64 };

struct self_row {
	const char *kind, *name, *state, *detail;
	int64_t whole_ns, more_ns, low_ns, high_ns, step_ns; /* TARE_NO_TIME: does not apply */
};
#define AT(record) ((const struct self_row *)(record))

static struct cell get_text(const void *record, const struct column *column)
{
	const char *const *members[] = {&AT(record)->kind, &AT(record)->name, &AT(record)->state, &AT(record)->detail};
	const char *text = *members[column->index];
	return text && text[0] ? cell_text(text) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_ns(const void *record, const struct column *column)
{
	const int64_t *members[] = {&AT(record)->whole_ns, &AT(record)->more_ns, &AT(record)->low_ns,
		&AT(record)->high_ns, &AT(record)->step_ns};
	int64_t ns = *members[column->index];
	return ns == TARE_NO_TIME ? cell_absent(CELL_NOT_APPLICABLE) : cell_integer(ns);
}

enum { KIND, NAME, STATE, WHOLE, MORE, LOW, HIGH, STEP, DETAIL, COLUMNS };
const struct column self_test_columns[] = {
	[KIND] = {"kind", "kind", "interface, flag, level or clock", .get = get_text, .is_text = true, .index = 0},
	[NAME] = {"name", "name", "which", .get = get_text, .is_text = true, .index = 1},
	[STATE] = {"state", "state", "what it can, or whether the kernel takes it", .get = get_text, .is_text = true,
		.index = 2},
	[WHOLE] = {"round_trip_ns", "round trip", "level: median, answering included; clock: one reading",
		.unit = UNIT_NS, .get = get_ns, .index = 0},
	[MORE] = {"cost_ns", "cost", "level: over the empty loop, median of the alternations", .unit = UNIT_NS,
		.get = get_ns, .index = 1},
	[LOW] = {"cost_low_ns", "low", "its 95 % interval", .unit = UNIT_NS, .get = get_ns, .index = 2},
	[HIGH] = {"cost_high_ns", "high", "its 95 % interval", .unit = UNIT_NS, .get = get_ns, .index = 3},
	[STEP] = {"granularity_ns", "granularity", "all readings seen are multiples of it", .unit = UNIT_NS,
		.get = get_ns, .index = 4},
	[DETAIL] = {"detail", "", "what is to be known beside", .get = get_text, .is_text = true, .index = 3},
};

const size_t self_test_column_count = sizeof(self_test_columns) / sizeof(self_test_columns[0]);

/* One of the four tables of text; other formats are one table from begin to end. */
struct printing {
	struct report report;
	const struct format *format;
	struct column columns[COLUMNS];
	bool text;
};

static int open_table(
	struct printing *printing, const char *title, const int *wanted, size_t count, struct tare_err *err)
{
	if (!printing->text)
		return 0;
	for (size_t i = 0; i < count; i++)
		printing->columns[i] = self_test_columns[wanted[i]];
	printing->columns[0].heading = title;
	printing->report.columns = printing->columns;
	printing->report.column_count = count;
	return printing->format->begin(&printing->report, err);
}

static int close_table(struct printing *printing, struct tare_err *err)
{
	if (!printing->text)
		return 0;
	int status = printing->format->end(&printing->report, err);
	report_free(&printing->report);
	fputc('\n', printing->report.out);
	return status;
}

static int put(struct printing *printing, const struct self_row *row, struct tare_err *err)
{
	return printing->format->row(&printing->report, row, err);
}

static struct self_row row_of(const char *kind, const char *name, const char *state, const char *detail)
{
	return (struct self_row){.kind = kind,
		.name = name,
		.state = state,
		.detail = detail,
		.whole_ns = TARE_NO_TIME,
		.more_ns = TARE_NO_TIME,
		.low_ns = TARE_NO_TIME,
		.high_ns = TARE_NO_TIME,
		.step_ns = TARE_NO_TIME};
}

/* ---- interfaces ---- */

static const char *card_state(const struct card *card)
{
	if (!card->told)
		return "not told";
	if (card_can_tx(card) && card_can_rx(card))
		return "hardware, all packets";
	if (card_can_tx(card) || card->offers & SOF_TIMESTAMPING_RX_HARDWARE)
		return "hardware, some packets";
	bool tx = card->offers & SOF_TIMESTAMPING_TX_SOFTWARE, rx = card->offers & SOF_TIMESTAMPING_RX_SOFTWARE;
	return tx && rx ? "software" : rx ? "software, receive only" : "none";
}

static int put_card(struct printing *printing, const char *name, struct tare_err *err)
{
	struct card card;
	struct phc phc;
	char detail[500];
	struct text text = TEXT_IN(detail);
	struct tare_err why;
	if (card_read(name, &card, err) < 0)
		return -1;
	card_lacks(&card, detail, sizeof detail);
	text.used = strlen(detail);
	if (card.phc >= 0 && phc_open(card.phc, &phc, &why) < 0) {
		text_add(&text, "%s%s", text.used ? "; " : "", why.text);
	} else if (card.phc >= 0) {
		struct tare_reading reading;
		char width[32] = "";
		if (phc_read(&phc, &reading))
			format_duration(reading.mono_after_ns - reading.mono_before_ns, width, sizeof width);
		text_add(&text, "%sclock /dev/ptp%d, %s, one reading is good to %s", text.used ? "; " : "", card.phc,
			phc_way_name(phc.way), width);
		phc_close(&phc);
	}
	struct self_row row = row_of("interface", name, card_state(&card), detail);
	return put(printing, &row, err);
}

static int put_cards(struct printing *printing, const char *only, struct tare_err *err)
{
	static const int wanted[] = {NAME, STATE, DETAIL};
	if (open_table(printing, "interface", wanted, 3, err))
		return -1;
	struct if_nameindex *all = only ? NULL : if_nameindex();
	int status = only ? put_card(printing, only, err) : 0;
	for (size_t i = 0; all && all[i].if_index && i < INTERFACES_MOST && status == 0; i++)
		status = put_card(printing, all[i].if_name, err);
	if (all)
		if_freenameindex(all);
	return status ? -1 : close_table(printing, err);
}

/* ---- flags ---- */

static int put_flags(struct printing *printing, struct tare_err *err)
{
	static const int wanted[] = {NAME, STATE, DETAIL};
	if (open_table(printing, "flag", wanted, 3, err))
		return -1;
	for (size_t i = 0; i < net_flag_count; i++) {
		int refused = net_flag_try(&net_flags[i]);
		const char *state = refused == 0 ? "taken" : refused == EINVAL ? "unknown here" : strerror(refused);
		struct self_row row = row_of("flag", net_flags[i].name, state, net_flags[i].help);
		if (put(printing, &row, err))
			return -1;
	}
	return close_table(printing, err);
}

/* ---- levels ---- */

static int put_levels(struct printing *printing, const struct self_costs *costs, struct tare_err *err)
{
	static const int wanted[] = {NAME, WHOLE, MORE, LOW, HIGH, DETAIL};
	static const char *const names[SELF_LEVELS] = {"empty loop", "user", "kernel receive", "kernel", "nic"};
	static const char *const details[SELF_LEVELS] = {
		"send, answer, receive, nothing else",
		"two clock readings, counting, matching",
		"and receive stamps of the kernel",
		"and transmit stamps, read from the error queue",
		"and asking for those of a card, which the loopback has not",
	};
	if (open_table(printing, "level, ns", wanted, 6, err))
		return -1;
	for (int level = 0; level < SELF_LEVELS; level++) {
		const struct self_cost *cost = &costs->level[level];
		struct self_row row = row_of("level", names[level], NULL, details[level]);
		row.whole_ns = cost->whole_ns;
		if (level != SELF_EMPTY) {
			row.more_ns = cost->more_ns;
			row.low_ns = cost->low_ns;
			row.high_ns = cost->high_ns;
		}
		if (put(printing, &row, err))
			return -1;
	}
	return close_table(printing, err);
}

/* ---- clocks ---- */

static int put_clock(
	struct printing *printing, const char *name, clockid_t id, const char *detail, struct tare_err *err)
{
	enum { READINGS = 2000 };
	struct timespec t;
	int64_t step = 0, before = clock_mono_now().ns;
	for (int i = 0; i < READINGS; i++) {
		if (clock_gettime(id, &t) != 0)
			return 0;
		step = self_step(step, clock_ns_of(t));
	}
	int64_t each = (clock_mono_now().ns - before) / READINGS;
	struct self_row row = row_of("clock", name, NULL, detail);
	row.whole_ns = each;
	row.step_ns = step;
	return put(printing, &row, err);
}

static int put_stamp(
	struct printing *printing, const char *name, uint64_t came, uint64_t asked, int64_t step, struct tare_err *err)
{
	char detail[100];
	struct text text = TEXT_IN(detail);
	text_add(&text, "%llu of %llu arrived on the loopback", (unsigned long long)came, (unsigned long long)asked);
	struct self_row row = row_of("clock", name, NULL, detail);
	row.step_ns = step ? step : TARE_NO_TIME;
	return put(printing, &row, err);
}

static int put_clocks(struct printing *printing, const struct self_costs *costs, struct tare_err *err)
{
	static const int wanted[] = {NAME, WHOLE, STEP, DETAIL};
	const struct self_cost *kernel = &costs->level[SELF_KERNEL];
	if (open_table(printing, "clock, ns", wanted, 4, err))
		return -1;
	if (printing->text)
		printing->columns[1].heading = "a reading";
	if (put_clock(printing, "monotonic", CLOCK_MONOTONIC, "our own times", err) ||
		put_clock(printing, "real-time", CLOCK_REALTIME, "what the kernel's stamps are in", err) ||
		put_stamp(printing, "kernel transmit", kernel->stamps_tx, kernel->requests, kernel->step_tx_ns, err) ||
		put_stamp(printing, "kernel receive", kernel->stamps_rx, kernel->requests, kernel->step_rx_ns, err))
		return -1;
	return close_table(printing, err);
}

static int interface_of(const char *url, char ret_name[IFNAMSIZ], struct tare_err *err)
{
	struct net_url parsed;
	struct net_address address;
	if (net_url_parse(url, &parsed, err) < 0 || net_resolve(&parsed, AF_UNSPEC, &address, err) < 0)
		return -1;
	return card_towards((const struct sockaddr *)&address.storage, address.length, ret_name, err);
}

int self_test_run(
	struct cli *cli, const char *url, const char *interface, const struct format *format, struct tare_err *err)
{
	char name[IFNAMSIZ];
	struct self_costs costs;
	static const struct scale all_ns = {"ns", 1, 0};
	struct printing printing = {.format = format, .text = format == &format_text};
	printing.report = (struct report){.out = cli->out,
		.schema = "tare.self-test/1",
		.width = cli->columns,
		.columns = self_test_columns,
		.column_count = COLUMNS,
		.scale = &all_ns};
	if (url && interface_of(url, name, err) < 0)
		return -1;
	if (self_cost_measure(&costs, err) < 0)
		return -1;
	if (!printing.text && format->begin(&printing.report, err))
		return -1;
	int status = put_cards(&printing, url ? name : interface, err) || put_flags(&printing, err) ||
		     put_levels(&printing, &costs, err) || put_clocks(&printing, &costs, err);
	if (!printing.text && !status)
		status = format->end(&printing.report, err);
	report_free(&printing.report);
	if (printing.text && !status)
		report_sentence(cli->out, cli->columns > 0 ? cli->columns : 100,
			"costs are time of the CPU over the empty loop: medians of %u alternations of %u requests to "
			"127.0.0.1, "
			"answered by the same thread; low and high are their 95 %% interval.",
			costs.alternations, costs.block);
	return status ? -1 : 0;
}
