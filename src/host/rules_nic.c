/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-checks of network devices and of the stack above them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/rules.h"

/* ---- X4: places ---- */

static int node_of_cpu(const struct host_snapshot *snapshot, int cpu)
{
	size_t cursor = 0;
	for (const struct host_fact *fact; (fact = host_next(snapshot, "node[node", &cursor)) != NULL;) {
		struct host_cpus cpus;
		if (ends_with(fact->key, "].cpus") && fact->status == HOST_OK &&
			host_cpus_of_list(fact->value, -1, &cpus) && host_cpus_has(&cpus, cpu))
			return (int)strtol(fact->key + strlen("node[node"), NULL, 10);
	}
	return -1;
}

/* A device of unknown node (-1) is passed over: it is not node 0. */
static void check_node(struct judging *judging, const struct host_fact *node)
{
	char list[200] = "", what[96];
	struct text text = TEXT_IN(list);
	if (node->status != HOST_OK || node->unknown)
		return;
	int place = (int)strtol(node->value, NULL, 10);
	for (int cpu = -1; (cpu = host_cpus_next(&judging->view->hot, cpu)) >= 0;) {
		int other = node_of_cpu(judging->view->is, cpu);
		if (other >= 0 && other != place)
			text_add(&text, "%shot CPU %d on node %d", text.used ? ", " : "", cpu, other);
	}
	size_t cursor = 0;
	for (const struct host_fact *fact; (fact = host_next(judging->view->is, "process[", &cursor)) != NULL;) {
		struct host_cpus nodes;
		if (ends_with(fact->key, "].memory_nodes") && fact->status == HOST_OK &&
			host_cpus_of_list(fact->value, -1, &nodes) && !host_cpus_has(&nodes, place))
			text_add(&text, "%smemory on node %s", text.used ? ", " : "", fact->value);
	}
	if (text.used == 0)
		return;
	snprintf(
		what, sizeof what, "%.40s is on node %d, away from the responder", nic_name(judging, node->key), place);
	finding_add(judging, HOST_LEVEL_WARNING, "X4", node->key, what, "every packet crosses the link between sockets",
		list, "run the responder on the NIC's node");
}

/* ---- X7, X8: moderation ---- */

static double peak_of(const struct judging *judging, const char *key, const char **ret_source)
{
	const struct host_fact *packets = beside(judging, key, "nic[].rx_packets");
	const struct host_delta *delta =
		packets && judging->view->deltas ? host_delta_find(judging->view->deltas, packets->key) : NULL;
	if (judging->view->peak_per_second > 0) {
		*ret_source = "your peak";
		return judging->view->peak_per_second;
	}
	*ret_source = "its mean rate since the last inspection";
	return delta ? delta->per_second : 0;
}

/*
 * Field note 1: rx-usecs 100 behaves like 0 at 1 000/s and costs 145 us at 50 000/s. The crossover is where packets
 * come closer than the timer: 1e6 / rx_usecs a second.
 */
static void check_moderation(struct judging *judging, const struct host_fact *usecs)
{
	char what[160], evidence[200], remedy[160], rate[32], crossover[32];
	const char *source, *adaptive = value_beside(judging, usecs->key, "nic[].coalesce.adaptive_rx");
	const struct host_rule *rule = host_policy_rule(judging->view->policy, usecs->key);
	if (usecs->status != HOST_OK || usecs->unknown)
		return;
	double timer_us = strtod(usecs->value, NULL), peak = peak_of(judging, usecs->key, &source);
	if (adaptive && strcmp(adaptive, "1") == 0) {
		bool fixed = timer_us > 0 || rule;
		finding_add(judging, fixed ? HOST_LEVEL_WARNING : HOST_LEVEL_INFO, "X8", usecs->key,
			"adaptive moderation is on", "the driver rewrites rx_usecs: the value is not yours to fix",
			usecs->value, "ethtool -C DEVICE adaptive-rx off, then set rx-usecs");
	}
	if (timer_us <= 0)
		return;
	format_rate(1e6 / timer_us, crossover, sizeof crossover);
	format_rate(peak, rate, sizeof rate);
	snprintf(what, sizeof what, "rx_usecs %s holds packets from %s on", usecs->value, crossover);
	if (peak > 0)
		snprintf(evidence, sizeof evidence, "%s is %s, a packet every %.3g us; verify at %s or more", source,
			rate, 1e6 / peak, crossover);
	else
		snprintf(evidence, sizeof evidence, "verify at %s or more: below it the setting hardly shows",
			crossover);
	snprintf(remedy, sizeof remedy,
		"ethtool -C %.60s rx-usecs 0, for sockets that sleep; not where the application polls",
		nic_name(judging, usecs->key));
	bool beyond = peak > 0 && 1e6 / peak <= timer_us;
	finding_add(judging, beyond ? HOST_LEVEL_WARNING : HOST_LEVEL_INFO, "X7", usecs->key, what,
		"interrupt moderation delays packets that come closer than its timer", evidence, remedy);
}

/* ---- X9 ---- */

static void check_busy_poll(struct judging *judging)
{
	int64_t busy = 0;
	const struct host_snapshot *is = judging->view->is;
	if (!judging->view->deltas || !host_number(is, "net.core.busy_read", &busy) || busy <= 0 ||
		!host_value(is, "stack[TcpExt.BusyPollRxPackets]"))
		return;
	uint64_t polled = delta_of_key(judging, "stack[TcpExt.BusyPollRxPackets]");
	uint64_t received =
		delta_of_key(judging, "stack[Udp.InDatagrams]") + delta_of_key(judging, "stack[Tcp.InSegs]");
	char evidence[96];
	if (polled || received == 0)
		return;
	snprintf(evidence, sizeof evidence, "%" PRIu64 " packets received, none by polling", received);
	finding_add(judging, HOST_LEVEL_WARNING, "X9", "net.core.busy_read", "busy polling is set and not effective",
		"sockets take it over when they are made; the device may not support it", evidence,
		"restart the service");
}

/* ---- X14, X15 ---- */

/* The port's own figures are there to tell what the slot can; its link is the card's link. */
static bool is_of_port(const char *key)
{
	return strstr(key, "].port.") != NULL;
}

/* A card in a slot that has fewer lanes, or is slower, is as fast as it can be there. */
static bool slot_has_no_more(struct judging *judging, const struct host_fact *fact)
{
	const char *most = value_beside(judging, fact->key,
		ends_with(fact->key, "].link_width") ? "pci[].port.link_width_max" : "pci[].port.link_speed_max");
	return most && strtod(most, NULL) > 0 && strtod(fact->value, NULL) >= strtod(most, NULL);
}

static void check_pcie(struct judging *judging, const struct host_fact *fact)
{
	const char *most;
	char what[200];
	if (fact->status != HOST_OK || fact->unknown)
		return;
	if (ends_with(fact->key, "].link_width")) {
		most = value_beside(judging, fact->key, "pci[].link_width_max");
		if (!most || strcmp(most, fact->value) == 0 || is_of_port(fact->key) || slot_has_no_more(judging, fact))
			return;
		snprintf(what, sizeof what, "%s of %s PCI lanes in use", fact->value, most);
		finding_add(judging, HOST_LEVEL_CRITICAL, "X14", fact->key, what,
			"lanes are missing: a bad seat or slot", NULL,
			"see whether the slot has as many lanes; reseat the card");
	} else if (ends_with(fact->key, "].link_speed")) {
		most = value_beside(judging, fact->key, "pci[].link_speed_max");
		if (!most || strtod(fact->value, NULL) >= strtod(most, NULL) || is_of_port(fact->key) ||
			slot_has_no_more(judging, fact))
			return;
		snprintf(what, sizeof what, "PCI link at %.60s of %.60s", fact->value, most);
		finding_add(judging, HOST_LEVEL_WARNING, "X14", fact->key, what,
			"slower under load; some cards train down while idle under ASPM", NULL,
			"look again under load");
	} else if (strstr(fact->key, "].aer.")) {
		uint64_t errors = delta_of_key(judging, fact->key);
		if (!errors)
			return;
		/* Timeout is that of the replay timer, Rollover that of the number of replays */
		bool replay = strstr(fact->key, ".Timeout") || strstr(fact->key, "Rollover") ||
			      strstr(fact->key, "Replay") || strstr(fact->key, "fatal.");
		snprintf(what, sizeof what, "%" PRIu64 " PCI errors", errors);
		finding_add(judging, replay ? HOST_LEVEL_CRITICAL : worse_in_round(judging, HOST_LEVEL_WARNING), "X14",
			fact->key, what,
			strstr(fact->key, ".aer.port.") ? "a replay is a delay; counted by the port above the card"
							: "a replay is a delay; the port above the card may count more",
			NULL, "reseat the card, look at the port above");
	}
}

static bool is_loss(const char *key)
{
	/* those have a rule of their own */
	return !strstr(key, "].aer.") && strncmp(key, "edac[", 5) != 0;
}

static void check_losses(struct judging *judging)
{
	const struct host_deltas *deltas = judging->view->deltas;
	for (size_t i = 0; deltas && i < deltas->count; i++) {
		const struct host_delta *delta = &deltas->row[i];
		const struct host_key *row = delta->is->row;
		const struct host_rule *rule = host_policy_rule(judging->view->policy, delta->is->key);
		char what[160], evidence[200];
		int64_t most = rule && rule->kind == HOST_RULE_MAX_DELTA ? rule->most : -1;
		bool counts = row && row->flags & HOST_ERRORS && is_loss(delta->is->key);
		double days = deltas->elapsed_ns > 0 ? (double)deltas->elapsed_ns / 86400e9 : 0;
		if ((rule && rule->kind == HOST_RULE_IGNORE) || (!counts && most < 0) ||
			delta->state == HOST_DELTA_BACKWARDS)
			continue;
		if (most >= 0 && (double)delta->delta <= (double)most * (days > 1 ? days : 1))
			continue;
		snprintf(what, sizeof what, "%s%" PRIu64 "%s%s",
			delta->state == HOST_DELTA_AT_LEAST ? "at least " : "+", delta->delta,
			delta->where[0] ? ", " : "", delta->where);
		snprintf(evidence, sizeof evidence, "%.3g a second%s%s%s", delta->per_second, delta->state ? " (" : "",
			host_delta_state_name(delta->state), delta->state ? ")" : "");
		finding_add(judging, worse_in_round(judging, HOST_LEVEL_WARNING), "X15", delta->is->key, what,
			row ? row->meaning : "", evidence, NULL);
	}
	const struct host_delta *squeezed = deltas ? host_delta_find(deltas, "softnet.squeezed") : NULL;
	if (squeezed && squeezed->delta) {
		char what[96];
		snprintf(what, sizeof what, "+%" PRIu64 ", %s", squeezed->delta, squeezed->where);
		finding_add(judging, HOST_LEVEL_INFO, "counter", "softnet.squeezed", what, squeezed->is->row->meaning,
			NULL, NULL);
	}
}

/* ---- X18, X19 ---- */

static void check_intruders(struct judging *judging)
{
	const struct host_snapshot *is = judging->view->is;
	int64_t count;
	const char *text;
	char what[96];
	if (host_number(is, "net.sniffers", &count) && count > 0) {
		snprintf(what, sizeof what, "%" PRId64 " socket%s a copy of every packet", count,
			count > 1 ? "s get" : " gets");
		finding_add(judging, HOST_LEVEL_WARNING, "X18", "net.sniffers", what,
			"a forgotten capture clones every packet", NULL, "ss -0p tells whose they are");
	}
	text = host_value(is, "tracing.current_tracer");
	if (text && text[0] && strcmp(text, "nop") != 0)
		finding_add(judging, HOST_LEVEL_WARNING, "X18", "tracing.current_tracer", "a tracer is on",
			"the very path that is measured is traced", text,
			"echo nop > /sys/kernel/tracing/current_tracer");
	text = host_value(is, "tracing.events");
	if (text && text[0])
		finding_add(judging, HOST_LEVEL_WARNING, "X18", "tracing.events", "trace events are on",
			"each costs where it fires", text, "echo > /sys/kernel/tracing/set_event");
	if (host_number(is, "netfilter.conntrack_count", &count) && count > 0) {
		snprintf(what, sizeof what, "%" PRId64 " connections are tracked", count);
		finding_add(judging, HOST_LEVEL_INFO, "X18", "netfilter.conntrack_count", what,
			"connection tracking is in the path of every packet", NULL, NULL);
	}
	text = host_value(is, "bypass.stack");
	if (text && strcmp(text, "none") != 0)
		finding_add(judging, HOST_LEVEL_INFO, "X19", "bypass.stack", "a bypass stack is installed",
			"facts of interrupts, softnet and busy polling are not on the data path of what uses it", text,
			NULL);
}

void rules_nic(struct judging *judging)
{
	size_t cursor = 0;
	for (const struct host_fact *fact; (fact = host_next(judging->view->is, "nic[", &cursor)) != NULL;)
		if (ends_with(fact->key, "].coalesce.rx_usecs"))
			check_moderation(judging, fact);
	cursor = 0;
	for (const struct host_fact *fact; (fact = host_next(judging->view->is, "pci[", &cursor)) != NULL;) {
		if (ends_with(fact->key, "].node"))
			check_node(judging, fact);
		else
			check_pcie(judging, fact);
	}
	check_busy_poll(judging);
	check_losses(judging);
	check_intruders(judging);
}
