/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Driver settings by ethtool netlink: one dump per kind of message answers for
 * all devices, and needs no privilege. Numbers of attributes are our own list,
 * since kernels send more than the headers of the machine that built this know;
 * what is not in it either is kept as attr_N with its raw bytes.
 */
#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "host/netlink.h"
#include "host/reading.h"

enum { ATTRIBUTES_MAX = 48, HEADER = 1, HEADER_DEV_NAME = 2, HEADER_FLAGS = 3 };
enum attr_type { A_NONE, A_NUMBER, A_BITS, A_NAMES, A_PAUSE_STATS, A_FEC_STATS, A_LINK_DOWNS, A_IGNORE };

struct attr {
	const char *name;
	enum attr_type type;
};

/* A kind of message: names of its attributes by number. `headline` is told unsupported when a device does not answer.
 */
struct message {
	const char *name;
	uint8_t command;
	const char *row, *headline;
	struct attr attr[32];
};

static const struct message messages[] = {
	{"linkmodes", ETHTOOL_MSG_LINKMODES_GET, "nic[].link.*", "autonegotiation",
		{[2] = {"autonegotiation", A_NUMBER},
			{"advertised", A_BITS},
			{"partner", A_BITS},
			{0, A_IGNORE},
			{0, A_IGNORE},
			{0, A_IGNORE},
			{0, A_IGNORE},
			{"lanes", A_NUMBER},
			{"rate_matching", A_NUMBER}}},
	{"linkstate", ETHTOOL_MSG_LINKSTATE_GET, NULL, NULL,
		{[2] = {0, A_IGNORE}, {0, A_IGNORE}, {0, A_IGNORE}, {0, A_IGNORE}, {0, A_IGNORE}, {0, A_LINK_DOWNS}}},
	{"features", ETHTOOL_MSG_FEATURES_GET, "nic[].feature.*", NULL, {[2] = {0, A_IGNORE}}},
	{"privflags", ETHTOOL_MSG_PRIVFLAGS_GET, "nic[].flag.*", NULL, {[2] = {NULL, A_NAMES}}},
	{"rings", ETHTOOL_MSG_RINGS_GET, "nic[].ring.*", "rx",
		{[2] = {"rx_max", A_NUMBER},
			{"rx_mini_max", A_NUMBER},
			{"rx_jumbo_max", A_NUMBER},
			{"tx_max", A_NUMBER},
			{"rx", A_NUMBER},
			{"rx_mini", A_NUMBER},
			{"rx_jumbo", A_NUMBER},
			{"tx", A_NUMBER},
			{"rx_buf_len", A_NUMBER},
			{"tcp_data_split", A_NUMBER},
			{"cqe_size", A_NUMBER},
			{"tx_push", A_NUMBER},
			{"rx_push", A_NUMBER},
			{"tx_push_buf_len", A_NUMBER},
			{"tx_push_buf_len_max", A_NUMBER},
			{"hds_thresh", A_NUMBER},
			{"hds_thresh_max", A_NUMBER}}},
	{"channels", ETHTOOL_MSG_CHANNELS_GET, "nic[].channels.*", "combined",
		{[2] = {"rx_max", A_NUMBER},
			{"tx_max", A_NUMBER},
			{"other_max", A_NUMBER},
			{"combined_max", A_NUMBER},
			{"rx", A_NUMBER},
			{"tx", A_NUMBER},
			{"other", A_NUMBER},
			{"combined", A_NUMBER}}},
	{"coalesce", ETHTOOL_MSG_COALESCE_GET, "nic[].coalesce.*", "rx_usecs",
		{[2] = {"rx_usecs", A_NUMBER},
			{"rx_frames", A_NUMBER},
			{"rx_usecs_irq", A_NUMBER},
			{"rx_frames_irq", A_NUMBER},
			{"tx_usecs", A_NUMBER},
			{"tx_frames", A_NUMBER},
			{"tx_usecs_irq", A_NUMBER},
			{"tx_frames_irq", A_NUMBER},
			{"stats_block_usecs", A_NUMBER},
			{"adaptive_rx", A_NUMBER},
			{"adaptive_tx", A_NUMBER},
			{"pkt_rate_low", A_NUMBER},
			{"rx_usecs_low", A_NUMBER},
			{"rx_frames_low", A_NUMBER},
			{"tx_usecs_low", A_NUMBER},
			{"tx_frames_low", A_NUMBER},
			{"pkt_rate_high", A_NUMBER},
			{"rx_usecs_high", A_NUMBER},
			{"rx_frames_high", A_NUMBER},
			{"tx_usecs_high", A_NUMBER},
			{"tx_frames_high", A_NUMBER},
			{"sample_interval", A_NUMBER},
			{"cqe_mode_tx", A_NUMBER},
			{"cqe_mode_rx", A_NUMBER},
			{"tx_aggr_max_bytes", A_NUMBER},
			{"tx_aggr_max_frames", A_NUMBER},
			{"tx_aggr_time_usecs", A_NUMBER}}},
	{"pause", ETHTOOL_MSG_PAUSE_GET, "nic[].pause.*", "rx",
		{[2] = {"autonegotiation", A_NUMBER},
			{"rx", A_NUMBER},
			{"tx", A_NUMBER},
			{0, A_PAUSE_STATS},
			{"stats_source", A_NUMBER}}},
	{"eee", ETHTOOL_MSG_EEE_GET, "nic[].eee.*", "enabled",
		{[2] = {0, A_IGNORE},
			{0, A_IGNORE},
			{"active", A_NUMBER},
			{"enabled", A_NUMBER},
			{"tx_lpi", A_NUMBER},
			{"tx_lpi_timer", A_NUMBER}}},
	{"tsinfo", ETHTOOL_MSG_TSINFO_GET, "nic[].stamps.*", "phc",
		{[2] = {"kinds", A_BITS},
			{"tx", A_BITS},
			{"rx", A_BITS},
			{"phc", A_NUMBER},
			{0, A_IGNORE},
			{0, A_IGNORE}}},
	{"fec", ETHTOOL_MSG_FEC_GET, "nic[].fec.*", "active",
		{[2] = {"modes", A_BITS}, {"auto", A_NUMBER}, {"active", A_NUMBER}, {0, A_FEC_STATS}}},
};
enum { MESSAGES = sizeof messages / sizeof messages[0] };

struct answers {
	struct reading *reading;
	const struct message *message;
	bool answered[HOST_NICS_MAX];
};

/* A row of its own ("nic[].coalesce.rx_usecs") where there is one, else the open-ended one with a leaf. */
static void add_leaf(struct reading *reading, const char *open_row, const char *id, const char *leaf,
	const char *source, const char *value)
{
	char name[128];
	snprintf(name, sizeof name, "%.*s%s", (int)strlen(open_row) - 1, open_row, leaf);
	const struct host_key *own = reading_row(name);
	reading_add(reading, own ? own : reading_row(open_row), id, own ? NULL : leaf, HOST_VIA_NETLINK, source, value);
}

/* Bits of a bitset: calls `each` with the name and whether it is set. Bit lists without a mask name only set bits. */
typedef void each_bit(void *context, const char *name, bool set);
static void walk_bits(const struct nlattr *bitset, each_bit *each, void *context)
{
	const struct nlattr *part[6];
	if (!netlink_attributes(mnl_attr_get_payload(bitset), mnl_attr_get_payload_len(bitset), part, 5) || !part[3])
		return;
	bool only_set = part[1] != NULL;
	for (const struct nlattr *bit = NULL; (bit = netlink_next(part[3], bit)) != NULL;) {
		const struct nlattr *field[4];
		char name[96];
		if (!netlink_attributes(mnl_attr_get_payload(bit), mnl_attr_get_payload_len(bit), field, 3))
			return;
		netlink_text(field[2], name, sizeof name);
		if (name[0])
			each(context, name, only_set || field[3]);
	}
}

static void join_set(void *context, const char *name, bool set)
{
	struct text *text = context;
	if (set)
		text_add(text, "%s%s", text->used ? " " : "", name);
}

struct named_bits {
	struct reading *reading;
	const char *row, *id, *source;
};
static void add_named(void *context, const char *name, bool set)
{
	const struct named_bits *bits = context;
	add_leaf(bits->reading, bits->row, bits->id, name, bits->source, set ? "on" : "off");
}

/* Which features can be changed, are wanted and are active. */
enum { FEATURES_MAX = 128 };
struct features {
	size_t count;
	struct {
		char name[64];
		bool wanted, active;
	} feature[FEATURES_MAX];
	int pass; /* 2 changeable, 3 wanted, 4 active */
};

static void note_feature(void *context, const char *name, bool set)
{
	struct features *features = context;
	size_t i = 0;
	if (!set)
		return;
	while (i < features->count && strcmp(features->feature[i].name, name) != 0)
		i++;
	if (i == FEATURES_MAX)
		return;
	if (i == features->count) {
		snprintf(features->feature[i].name, sizeof features->feature[i].name, "%s", name);
		features->feature[i].wanted = features->feature[i].active = false;
		features->count++;
	}
	features->feature[i].wanted |= features->pass == 3;
	features->feature[i].active |= features->pass == 4;
}

static void add_features(struct answers *answers, const struct nlattr **part, const char *id, const char *source)
{
	struct features features = {.count = 0};
	for (features.pass = 2; features.pass <= 4; features.pass++)
		if (part[features.pass])
			walk_bits(part[features.pass], note_feature, &features);
	for (size_t i = 0; i < features.count; i++) {
		bool active = features.feature[i].active, wanted = features.feature[i].wanted;
		add_leaf(answers->reading, "nic[].feature.*", id, features.feature[i].name, source,
			active   ? "on"
			: wanted ? "off, wanted on"
				 : "off");
	}
}

static void add_counter(struct reading *reading, const char *name, const char *id, const struct nlattr *attribute)
{
	uint64_t number;
	/* lanes may follow the total, 8 bytes each */
	if (attribute && mnl_attr_get_payload_len(attribute) >= 8)
		memcpy(&number, mnl_attr_get_payload(attribute), sizeof number);
	else if (!netlink_number(attribute, &number))
		return;
	if (number != UINT64_MAX) /* not counted by this device */
		reading_add_number(reading, name, id, HOST_VIA_NETLINK, (int64_t)(number & INT64_MAX));
}

static void add_raw(struct answers *answers, const struct nlattr *attribute, const char *id, const char *source)
{
	char leaf[32], hex[130] = "";
	struct text text = TEXT_IN(hex);
	const unsigned char *bytes = mnl_attr_get_payload(attribute);
	snprintf(leaf, sizeof leaf, "attr_%u", mnl_attr_get_type(attribute));
	for (size_t i = 0; i < mnl_attr_get_payload_len(attribute) && i < 64; i++)
		text_add(&text, "%02x", bytes[i]);
	reading_add(answers->reading, reading_row(answers->message->row), id, leaf, HOST_VIA_NETLINK, source, hex);
}

static void add_attribute(struct answers *answers, const struct nlattr *attribute, const char *id, const char *source)
{
	const struct message *message = answers->message;
	unsigned type = mnl_attr_get_type(attribute);
	struct attr none = {0}, attr = type < 32 ? message->attr[type] : none;
	const struct nlattr *part[6];
	char line[2048] = "";
	struct text text = TEXT_IN(line);
	uint64_t number;
	switch (attr.type) {
	case A_IGNORE:
		break;
	case A_NUMBER:
		if (netlink_number(attribute, &number)) {
			snprintf(line, sizeof line, "%llu", (unsigned long long)number);
			add_leaf(answers->reading, message->row, id, attr.name, source, line);
		}
		break;
	case A_BITS:
		walk_bits(attribute, join_set, &text);
		add_leaf(answers->reading, message->row, id, attr.name, source, text.used ? line : "none");
		break;
	case A_NAMES: {
		struct named_bits bits = {answers->reading, message->row, id, source};
		walk_bits(attribute, add_named, &bits);
		break;
	}
	case A_LINK_DOWNS:
		add_counter(answers->reading, "nic[].link_downs", id, attribute);
		break;
	case A_PAUSE_STATS:
	case A_FEC_STATS:
		if (!netlink_attributes(mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute), part, 5))
			break;
		add_counter(answers->reading,
			attr.type == A_FEC_STATS ? "nic[].fec_corrected" : "nic[].pause_tx_frames", id, part[2]);
		add_counter(answers->reading,
			attr.type == A_FEC_STATS ? "nic[].fec_uncorrectable" : "nic[].pause_rx_frames", id, part[3]);
		break;
	case A_NONE:
		if (message->row)
			add_raw(answers, attribute, id, source);
		break;
	}
}

/* The NIC that an answer is about; HOST_NICS_MAX when it is none of ours. */
static size_t whose(struct answers *answers, const struct nlattr *header)
{
	const struct nlattr *part[4];
	char name[64];
	if (!header || !netlink_attributes(mnl_attr_get_payload(header), mnl_attr_get_payload_len(header), part, 3))
		return HOST_NICS_MAX;
	netlink_text(part[HEADER_DEV_NAME], name, sizeof name);
	for (size_t i = 0; i < answers->reading->nic_count && i < HOST_NICS_MAX; i++)
		if (strcmp(answers->reading->nics[i].name, name) == 0)
			return i;
	return HOST_NICS_MAX;
}

static void take_answer(const struct nlmsghdr *message, void *context)
{
	struct answers *answers = context;
	const struct nlattr *part[ATTRIBUTES_MAX + 1];
	char source[64];
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct genlmsghdr) ||
		!netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof(struct genlmsghdr)),
			mnl_nlmsg_get_payload_len(message) - sizeof(struct genlmsghdr), part, ATTRIBUTES_MAX))
		return;
	size_t nic = whose(answers, part[HEADER]);
	if (nic == HOST_NICS_MAX)
		return;
	answers->answered[nic] = true;
	const char *id = answers->reading->nics[nic].id;
	snprintf(source, sizeof source, "netlink ethtool %s", answers->message->name);
	if (strcmp(answers->message->name, "features") == 0) {
		add_features(answers, part, id, source);
		return;
	}
	for (unsigned i = HEADER + 1; i <= ATTRIBUTES_MAX; i++)
		if (part[i])
			add_attribute(answers, part[i], id, source);
}

static void note_silent(struct answers *answers, int failure)
{
	const struct message *message = answers->message;
	char name[128];
	if (!message->headline)
		return;
	snprintf(name, sizeof name, "%.*s%s", (int)strlen(message->row) - 1, message->row, message->headline);
	const struct host_key *own = reading_row(name);
	for (size_t i = 0; i < answers->reading->nic_count && i < HOST_NICS_MAX; i++)
		if (!answers->answered[i])
			reading_fail(answers->reading, own ? own : reading_row(message->row),
				answers->reading->nics[i].id, own ? NULL : message->headline, HOST_VIA_NETLINK,
				"netlink ethtool", host_status_of_errno(failure), failure);
}

static void ask_all(struct reading *reading, struct netlink *netlink, uint16_t family)
{
	for (size_t i = 0; i < MESSAGES; i++) {
		struct answers answers = {.reading = reading, .message = &messages[i]};
		void *extra;
		struct nlmsghdr *request =
			netlink_request(netlink, family, NLM_F_DUMP, sizeof(struct genlmsghdr), &extra);
		*(struct genlmsghdr *)extra = (struct genlmsghdr){.cmd = messages[i].command, .version = 1};
		struct nlattr *nest = mnl_attr_nest_start(request, HEADER);
		if (messages[i].command == ETHTOOL_MSG_PAUSE_GET || messages[i].command == ETHTOOL_MSG_FEC_GET)
			mnl_attr_put_u32(request, HEADER_FLAGS, ETHTOOL_FLAG_STATS);
		mnl_attr_nest_end(request, nest);
		int failure = netlink_ask(netlink, request, take_answer, &answers);
		note_silent(&answers, failure ? failure : EOPNOTSUPP);
	}
}

/* What another kernel answered: netlink/ethtool.NAME, messages as they came. */
static void replay_all(struct reading *reading)
{
	for (size_t i = 0; i < MESSAGES; i++) {
		struct answers answers = {.reading = reading, .message = &messages[i]};
		char path[READING_PATH_BYTES];
		size_t bytes;
		int failure;
		snprintf(path, sizeof path, "/netlink/ethtool.%s", messages[i].name);
		if (tree_read_raw(&reading->tree, path, reading->text, READING_TEXT_BYTES, &bytes, &failure) != HOST_OK)
			continue;
		netlink_replay(reading->text, bytes, take_answer, &answers);
		note_silent(&answers, EOPNOTSUPP);
	}
}

void reading_ethtool(struct reading *reading)
{
	struct netlink netlink = {.socket = NULL};
	uint16_t family;
	if (reading->tree.foreign) {
		replay_all(reading);
		return;
	}
	if (netlink_open(NETLINK_GENERIC, &netlink) == 0 &&
		netlink_family(&netlink, "ethtool", NULL, &family, NULL) == 0)
		ask_all(reading, &netlink, family);
	else
		reading_ethtool_ioctl(reading);
	netlink_close(&netlink);
}
