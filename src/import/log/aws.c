/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CSV files of the EC2 packet timestamping tool: the client's and the
 * server's main file and one with kernel stamps for each (and what its own
 * csvjoin makes of them). A packet is its client's address, port and number;
 * files named by --with are joined to the first by these, and rows of clients
 * that the first does not know are passed over. The server's stamps are its own clock's;
 * spans from one clock to the other exist only where --clock says how far the two may be apart.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/log/beside.h"
#include "import/formats.h"

enum { COLUMNS = 40, FLOWS = 4096, FILES = 16, STAMPS = 10, NO_COLUMN = -1 };

/* In the order of `stamp_at`. The cycle counter's times are of no use beside the wall clock's. */
static const struct {
	const char *name;
	enum tare_stage stage;
} stamps[STAMPS] = {{"clt_app_tx_ts", TARE_STAGE_USER_TX}, {"clt_ker_tx_ts", TARE_STAGE_KERNEL_TX},
	{"clt_hw_rx_ts", TARE_STAGE_NIC_RX}, {"clt_ker_rx_ts", TARE_STAGE_KERNEL_RX}, {"clt_app_rx_ts", TARE_STAGE_USER_RX},
	{"svr_hw_rx_ts", TARE_STAGE_PEER_NIC_RX}, {"svr_ker_rx_ts", TARE_STAGE_PEER_RX},
	{"svr_app_rx_ts", TARE_STAGE_PEER_USER}, {"svr_app_tx_ts", TARE_STAGE_PEER_TX},
	{"svr_ker_tx_ts", TARE_STAGE_PEER_TX}};
enum { APP_TX, KERNEL_TX, HARDWARE_RX, KERNEL_RX, APP_RX, SERVER_HARDWARE_RX, SERVER_KERNEL_RX, SERVER_RX, SERVER_TX,
	SERVER_KERNEL_TX };

struct flow {
	char address[48];
	uint16_t port;
	struct piece *piece;
};

/* One packet: what all files say of it. */
struct packet {
	uint32_t flow, seq;
	uint32_t files; /* which files have it, a bit each */
	int64_t at_ns[STAMPS];
};

struct table {
	const char *name;
	int column[COLUMNS]; /* index into `stamps` */
	size_t columns;
	uint64_t rows, repeated, foreign;
};

struct join {
	struct flow *flow;
	struct packet *packet;
	uint32_t *slot; /* open addressing over packets, 0: free, else index + 1 */
	size_t flows, packets, room, slots;
	struct table table[FILES];
	size_t tables;
	uint32_t has; /* stamps that some file has a column for */
	int64_t bound_ns;
};

static void join_end(struct join *const *join)
{
	free((*join)->flow);
	free((*join)->packet);
	free((*join)->slot);
	free(*join);
}

static bool is_head(const char *text)
{
	return text_begins(text, "clt_src_ip,clt_src_port,seq_num,");
}

static bool knows(struct lines *head)
{
	return head_has(head, 20, is_head);
}

/* ---- packets by key ---- */

static size_t hash_of(uint32_t flow, uint32_t seq)
{
	uint64_t key = ((uint64_t)flow << 32 | seq) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(key ^ key >> 29);
}

static bool grow(struct join *join)
{
	size_t room = join->room ? 2 * join->room : 1024;
	struct packet *packet = reallocarray(join->packet, room, sizeof(*packet));
	if (packet)
		join->packet = packet;
	uint32_t *slot = packet ? calloc(2 * room, sizeof(*slot)) : NULL;
	if (!slot || room > UINT32_MAX / 4) {
		free(slot);
		return false;
	}
	free(join->slot);
	join->slot = slot;
	join->slots = 2 * room;
	join->room = room;
	for (size_t i = 0; i < join->packets; i++) {
		size_t at = hash_of(join->packet[i].flow, join->packet[i].seq) & (join->slots - 1);
		while (slot[at])
			at = (at + 1) & (join->slots - 1);
		slot[at] = (uint32_t)i + 1;
	}
	return true;
}

static struct packet *packet_of(struct join *join, uint32_t flow, uint32_t seq)
{
	if (join->packets == join->room && !grow(join))
		return NULL;
	size_t at = hash_of(flow, seq) & (join->slots - 1);
	for (; join->slot[at]; at = (at + 1) & (join->slots - 1)) {
		struct packet *packet = &join->packet[join->slot[at] - 1];
		if (packet->flow == flow && packet->seq == seq)
			return packet;
	}
	struct packet *packet = &join->packet[join->packets++];
	join->slot[at] = (uint32_t)join->packets;
	*packet = (struct packet){.flow = flow, .seq = seq};
	for (size_t i = 0; i < STAMPS; i++)
		packet->at_ns[i] = TARE_NO_TIME;
	return packet;
}

/* The flow's index; SIZE_MAX where there is none and none is made. */
static size_t flow_of(struct join *join, struct field_text address, uint16_t port, bool make)
{
	for (size_t i = 0; i < join->flows; i++) {
		if (join->flow[i].port == port && field_is(address, join->flow[i].address))
			return i;
	}
	struct flow *flow = make && join->flows < FLOWS ? reallocarray(join->flow, join->flows + 1, sizeof(*flow)) : NULL;
	if (!flow)
		return SIZE_MAX;
	join->flow = flow;
	flow[join->flows] = (struct flow){.port = port};
	memcpy(flow[join->flows].address, address.at, address.bytes);
	return join->flows++;
}

/* ---- files ---- */

static void take_head(struct join *join, struct table *table, char *text)
{
	struct field_text field[COLUMNS];
	table->columns = fields_of(text, ',', field, COLUMNS);
	for (size_t i = 0; i < table->columns; i++) {
		table->column[i] = NO_COLUMN;
		for (size_t j = 0; j < STAMPS; j++) {
			if (!field_is(field[i], stamps[j].name))
				continue;
			table->column[i] = (int)j;
			join->has |= 1u << j;
		}
	}
}

static bool is_address(struct field_text field)
{
	for (size_t i = 0; i < field.bytes; i++) {
		if (!strchr("0123456789abcdefABCDEF.:", field.at[i]))
			return false;
	}
	return field.bytes > 0 && field.bytes < sizeof(((struct flow *)0)->address);
}

/* NULL and 0.000000000 are stamps that did not arrive. */
static const char *read_stamp(struct field_text field, int64_t *ret_ns)
{
	*ret_ns = TARE_NO_TIME;
	if (!field.bytes || field_is(field, "NULL"))
		return NULL;
	struct number number = number_read(field.at, field.bytes, UNIT_S);
	if (!number.why && number.ns < 0)
		return "a negative time";
	if (!number.why && number.ns > 0)
		*ret_ns = number.ns;
	return number.why;
}

static int take_row(struct pieces *pieces, struct join *join, struct table *table, const struct line *line, char *text,
	struct tare_err *err)
{
	struct field_text field[COLUMNS];
	int64_t at_ns[COLUMNS];
	uint64_t port = 0, seq = 0;
	uint32_t file = 1u << (table - join->table);
	if (piece_cut(pieces, line))
		return 0;
	size_t count = fields_of(text, ',', field, COLUMNS);
	if (count != table->columns)
		return piece_damaged(pieces, line, count < table->columns ? "fewer columns than the header" : "more columns than the header", err);
	if (!is_address(field[0]) || !number_count(field[1].at, field[1].bytes, &port) || port > UINT16_MAX ||
		!number_count(field[2].at, field[2].bytes, &seq) || seq > UINT32_MAX)
		return piece_damaged(pieces, line, "not an address, a port and a number", err);
	for (size_t i = 3; i < count; i++) {
		const char *why = table->column[i] == NO_COLUMN ? NULL : read_stamp(field[i], &at_ns[i]);
		if (why)
			return piece_damaged(pieces, line, why, err);
	}
	size_t flow = flow_of(join, field[0], (uint16_t)port, table == join->table);
	if (flow == SIZE_MAX && table == join->table)
		return tare_fail(err, TARE_E_FORMAT, "'%s': more than %d clients", table->name, FLOWS);
	table->rows++;
	if (flow == SIZE_MAX) {
		table->foreign++;
		return 0;
	}
	struct packet *packet = packet_of(join, (uint32_t)flow, (uint32_t)seq);
	if (!packet)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for the packets of '%s'", table->name);
	table->repeated += (packet->files & file) != 0;
	for (size_t i = 3; i < count && !(packet->files & file); i++) {
		if (table->column[i] != NO_COLUMN && packet->at_ns[table->column[i]] == TARE_NO_TIME)
			packet->at_ns[table->column[i]] = at_ns[i];
	}
	packet->files |= file;
	return 0;
}

/* Reads import->lines, whichever file they are of. */
static int read_file(struct import *import, struct pieces *pieces, struct join *join, struct tare_err *err)
{
	struct table *table = &join->table[join->tables++];
	struct line line;
	char copy[LINES_MAX_BYTES + 1];
	int got;
	table->name = import_text(import, import->name, err);
	if (!table->name)
		return -1;
	while ((got = lines_next(import->lines, &line, err)) == 1) {
		memcpy(copy, line.text, line.bytes + 1);
		if (line.overlong || (line.bytes && !table->columns && !is_head(line.text)))
			piece_noise(pieces, &line);
		else if (is_head(line.text))
			take_head(join, table, copy);
		else if (line.bytes && take_row(pieces, join, table, &line, copy, err))
			return -1;
	}
	if (got == 0 && !table->columns)
		return tare_fail(err, TARE_E_FORMAT, "'%s' is none of the tool's CSV files: no header with clt_src_ip, clt_src_port, seq_num",
			table->name);
	return got;
}

static int read_others(struct import *import, struct pieces *pieces, struct join *join, struct tare_err *err)
{
	const char *at = import->rules.with;
	for (size_t bytes; at && *at; at += bytes + (at[bytes] == ',')) {
		struct beside beside;
		char path[4096];
		bytes = strcspn(at, ",");
		if (!bytes || bytes >= sizeof(path))
			return tare_fail(err, TARE_E_USAGE, "option '--with': expected files with commas between them");
		if (join->tables == FILES)
			return tare_fail(err, TARE_E_USAGE, "option '--with': more than %d files", FILES - 1);
		memcpy(path, at, bytes);
		path[bytes] = '\0';
		if (beside_open(import, path, &beside, err))
			return -1;
		int failed = read_file(import, pieces, join, err);
		if (beside_close(import, &beside, err) || failed)
			return -1;
	}
	return 0;
}

/* ---- what they make together ---- */

static int by_flow_and_seq(const void *a, const void *b)
{
	const struct packet *left = a, *right = b;
	if (left->flow != right->flow)
		return left->flow < right->flow ? -1 : 1;
	return (left->seq > right->seq) - (left->seq < right->seq);
}

static bool has(const struct join *join, int stamp)
{
	return join->has >> stamp & 1u;
}

/* What became of requests, for the notes. */
struct tally {
	uint64_t requests, answered, lost_there, lost_back, lost, absent, unstamped, server_unstamped;
};

static enum tare_quantity quantity_of(const struct join *join)
{
	if (has(join, APP_RX))
		return TARE_QUANTITY_RTT;
	return has(join, APP_TX) || has(join, KERNEL_TX) ? TARE_QUANTITY_ONE_WAY : TARE_QUANTITY_RESIDENCE;
}

static enum tare_fate fate_of(const struct join *join, enum tare_quantity quantity, const struct packet *packet)
{
	if (quantity == TARE_QUANTITY_RTT)
		return packet->at_ns[APP_RX] != TARE_NO_TIME ? TARE_ANSWERED : TARE_LOST;
	bool arrived = packet->at_ns[SERVER_RX] != TARE_NO_TIME || packet->at_ns[SERVER_KERNEL_RX] != TARE_NO_TIME;
	return arrived || !has(join, SERVER_RX) ? TARE_ANSWERED : TARE_LOST;
}

static void count_packet(const struct join *join, const struct packet *packet, enum tare_fate fate, struct tally *tally)
{
	bool arrived = packet->at_ns[SERVER_RX] != TARE_NO_TIME;
	bool lost = fate == TARE_LOST;
	tally->requests++;
	tally->answered += !lost;
	tally->lost += lost;
	tally->lost_back += lost && arrived;
	tally->lost_there += lost && !arrived && has(join, SERVER_RX);
	tally->absent += !lost && !arrived && has(join, SERVER_RX);
	tally->unstamped += !lost && has(join, KERNEL_TX) && packet->at_ns[KERNEL_TX] == TARE_NO_TIME;
	tally->server_unstamped += arrived && has(join, SERVER_KERNEL_TX) && packet->at_ns[SERVER_KERNEL_TX] == TARE_NO_TIME;
}

/* Stamps that make a stage; the reply's kernel stamp only where every reply has one. */
static int put_packet(struct import *import, const struct packet *packet, struct piece *piece, bool kernel_tx,
	int64_t *base_ns, struct tare_err *err)
{
	for (size_t i = 0; i < STAMPS; i++) {
		bool other = i == (kernel_tx ? SERVER_TX : SERVER_KERNEL_TX);
		if (packet->at_ns[i] == TARE_NO_TIME || other)
			continue;
		if (*base_ns == TARE_NO_TIME)
			*base_ns = import->run.epoch_real_ns = packet->at_ns[i];
		if (piece_stage(piece, piece->count - 1, stamps[i].stage, packet->at_ns[i] - *base_ns, err))
			return -1;
	}
	int64_t sent_ns = packet->at_ns[APP_TX], seen_ns = packet->at_ns[SERVER_KERNEL_RX];
	bool one_way = piece->origin.quantity == TARE_QUANTITY_ONE_WAY && piece->clock_bound_ns;
	if (one_way && sent_ns != TARE_NO_TIME && seen_ns != TARE_NO_TIME)
		return piece_span(piece, piece->count - 1, TARE_SPAN_ONE_WAY, seen_ns - sent_ns, err);
	return 0;
}

/* Numbers between two packets that stand in no file. */
static int put_gap(const struct join *join, struct piece *piece, uint32_t count, struct tally *tally, struct tare_err *err)
{
	if (count > 4 * join->packets + (1u << 20))
		return tare_fail(err, TARE_E_FORMAT, "'%s': %" PRIu32 " numbers between two packets stand in no file: too many to be losses",
			join->table[0].name, count);
	for (uint32_t i = 0; i < count; i++) {
		if (piece_row(piece, err))
			return -1;
		piece->fate[piece->count - 1] = TARE_LOST;
	}
	tally->requests += count;
	tally->lost += count;
	return 0;
}

static int note_join(struct import *import, const struct join *join, const struct tally *tally, struct tare_err *err)
{
	char buffer[900];
	struct text text = TEXT_IN(buffer);
	for (size_t i = 0; i < join->tables; i++) {
		const struct table *table = &join->table[i];
		text_add(&text, "%s%s %" PRIu64 " rows", i ? ", " : "", quote(table->name, strlen(table->name)).text, table->rows);
		if (table->repeated)
			text_add(&text, " (%" PRIu64 " of them repeated: the first counts)", table->repeated);
		if (table->foreign)
			text_add(&text, " (%" PRIu64 " of other clients)", table->foreign);
	}
	if (import_note(import, IMPORT_HEAD, err, "%" PRIu64 " packets by client, port and number: %s", tally->requests, buffer))
		return -1;
	if (has(join, APP_RX) && has(join, SERVER_RX) && tally->lost &&
		import_note(import, IMPORT_FATE, err,
			"%" PRIu64 " lost: %" PRIu64 " did not reach the server, %" PRIu64 " did and have no answer, %" PRIu64
			" stand in no file",
			tally->lost, tally->lost_there, tally->lost_back, tally->lost - tally->lost_there - tally->lost_back))
		return -1;
	if (tally->absent && import_note(import, IMPORT_FATE, err,
				     "%" PRIu64 " answered ones are not in the server's file", tally->absent))
		return -1;
	if (tally->unstamped && import_note(import, IMPORT_LIMIT, err,
					"answered packets without the client's kernel transmit stamp: %" PRIu64, tally->unstamped))
		return -1;
	if (tally->server_unstamped)
		return import_note(import, IMPORT_LIMIT, err,
			"replies without the server's kernel transmit stamp: %" PRIu64 ", so its application's counts for all",
			tally->server_unstamped);
	return 0;
}

static int note_meaning(struct import *import, const struct join *join, enum tare_quantity quantity, struct tare_err *err)
{
	char bound[32];
	format_duration(join->bound_ns, bound, sizeof(bound));
	if (import_note(import, IMPORT_QUANTITY, err,
		    "stamps of application (CLOCK_REALTIME), kernel and card; the card's clock is related to the others only as "
		    "far as somebody keeps it so"))
		return -1;
	if (has(join, SERVER_RX) && join->bound_ns &&
		import_note(import, IMPORT_QUANTITY, err,
			"the two clocks are within %s of each other, by your word: forward and backward are as good as that", bound))
		return -1;
	if (quantity == TARE_QUANTITY_ONE_WAY && !join->bound_ns)
		return import_note(import, IMPORT_LIMIT, err,
			"one way needs to know how far the two clocks may be apart: --clock TIME; without it there are the parts on each "
			"end only");
	if (has(join, APP_RX) && !has(join, KERNEL_TX) && !has(join, SERVER_RX))
		return import_note(import, IMPORT_LIMIT, err,
			"what never came back at the end is in no row; --with adds the tool's other files (client_tx, server, server_tx)");
	return 0;
}

static int make_pieces(struct import *import, struct pieces *pieces, struct join *join, struct tare_err *err)
{
	struct tally tally = {.requests = 0};
	int64_t base_ns = TARE_NO_TIME;
	enum tare_quantity quantity = quantity_of(join);
	const struct tare_origin origin = {.quantity = quantity,
		.clock = TARE_CLOCK_MIXED,
		.pacing = TARE_PACING_OPEN,
		.lateness = TARE_LATENESS_UNKNOWN,
		.left_out = has(join, KERNEL_TX) || has(join, SERVER_RX) ? 0 : TARE_LEFT_OUT_LOST};
	if (join->packets)
		qsort(join->packet, join->packets, sizeof(*join->packet), by_flow_and_seq);
	for (size_t i = 0; i < join->packets; i++)
		count_packet(join, &join->packet[i], fate_of(join, quantity, &join->packet[i]), &tally);
	for (size_t i = 0; i < join->packets; i++) {
		const struct packet *packet = &join->packet[i];
		struct flow *flow = &join->flow[packet->flow];
		char url[80];
		snprintf(url, sizeof(url), "aws:%s:%u", flow->address, flow->port);
		bool first = !flow->piece;
		if (first && !(flow->piece = piece_add(pieces, url, "udp", "", &origin, err)))
			return -1;
		flow->piece->clock_bound_ns = join->bound_ns;
		if ((!first && put_gap(join, flow->piece, packet->seq - packet[-1].seq - 1, &tally, err)) ||
			piece_row(flow->piece, err))
			return -1;
		flow->piece->fate[flow->piece->count - 1] = (uint8_t)fate_of(join, quantity, packet);
		if (put_packet(import, packet, flow->piece, !tally.server_unstamped && has(join, SERVER_KERNEL_TX), &base_ns, err))
			return -1;
	}
	for (size_t i = 0; i < join->flows && quantity == TARE_QUANTITY_RTT; i++) {
		if (join->flow[i].piece && join->flows == 1)
			join->flow[i].piece->beside.duplicate = join->table[0].repeated;
	}
	import->round = 1;
	return pieces->count ? note_join(import, join, &tally, err) || note_meaning(import, join, quantity, err) ? -1 : 0 : 0;
}

static int read_aws(struct import *import, struct pieces *pieces, struct tare_err *err)
{
	AUTO_CLEANUP(join_end) struct join *join = calloc(1, sizeof(*join));
	const char *clock = import->rules.capture.clock;
	if (!join)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (clock && strcmp(clock, "same") != 0 && parse_duration_ns(clock, &join->bound_ns, err))
		return tare_err_prefix(err, "option '--clock': expected 'same' or how far apart the clocks may be");
	if (clock && !join->bound_ns)
		join->bound_ns = 1;
	if (read_file(import, pieces, join, err) || read_others(import, pieces, join, err))
		return -1;
	if (has(join, APP_TX) && !has(join, APP_RX) && !has(join, SERVER_RX))
		return tare_fail(err, TARE_E_FORMAT,
			"'%s' tells when packets left and nothing of what became of them\n  --with server.csv adds the server's file",
			import->name);
	if (join->has == 1u << KERNEL_TX || join->has == 1u << SERVER_KERNEL_TX)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s' holds the kernel's transmit stamps alone\n  name the tool's main file, and this one after --with",
			import->name);
	return make_pieces(import, pieces, join, err);
}

const struct import_format aws_format = {.name = "aws",
	.knows = knows,
	.read = read_aws,
	.joins = true,
	.tool = "ec2 timestamping",
	.help = "the CSV files of the EC2 packet timestamping tool"};
