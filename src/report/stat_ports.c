/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rounds from several source ports, as `tare run --source-ports` makes them: where
 * equal-cost paths are chosen by a hash of the ports, a slow path shows as a group
 * of ports, and as nothing else.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/stat_priv.h"

/* Neighbouring ports in order of p50 must differ by this much for two groups: paths of one length do not. */
#define GROUPS_APART 1.5
enum { PORTS_MOST = 64, PORTS_TOLD = 12 };

struct port {
	unsigned number;
	int64_t p50_ns; /* the lowest of its rounds: a stall or a busy moment slows down one of them */
};

static unsigned port_of(const char *label)
{
	const char *at = label ? strstr(label, "port=") : NULL;
	if (!at || (at != label && at[-1] != ' '))
		return 0;
	return (unsigned)strtoul(at + 5, NULL, 10);
}

static int by_p50(const void *left, const void *right)
{
	const struct port *a = left, *b = right;
	if (a->p50_ns != b->p50_ns)
		return a->p50_ns < b->p50_ns ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static size_t gather(const struct tare_row *const *rows, size_t count, const int64_t *p50_ns, struct port *ports)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++) {
		unsigned number = port_of(rows[i]->label);
		size_t at = 0;
		if (number == 0 || p50_ns[i] == TARE_NO_TIME || rows[i]->payload_bytes != rows[0]->payload_bytes ||
			rows[i]->rate_asked != rows[0]->rate_asked)
			continue;
		while (at < found && ports[at].number != number)
			at++;
		if (at == PORTS_MOST)
			continue;
		if (at == found)
			ports[found++] = (struct port){number, p50_ns[i]};
		else if (p50_ns[i] < ports[at].p50_ns)
			ports[at].p50_ns = p50_ns[i];
	}
	return found;
}

static void add_ports(struct text *text, const struct port *ports, size_t count)
{
	for (size_t i = 0; i < count && i < PORTS_TOLD; i++)
		text_add(text, "%s%u", i ? ", " : "", ports[i].number);
	if (count > PORTS_TOLD)
		text_add(text, " and %zu more", count - PORTS_TOLD);
}

void stat_ports(FILE *out, int width, const struct tare_row *const *rows, size_t count, const int64_t *p50_ns)
{
	struct port ports[PORTS_MOST];
	size_t found = gather(rows, count, p50_ns, ports), split = 0;
	double widest = GROUPS_APART;
	if (found < 2)
		return;
	qsort(ports, found, sizeof *ports, by_p50);
	for (size_t i = 1; i < found; i++) {
		double ratio = (double)ports[i].p50_ns / (double)(ports[i - 1].p50_ns > 0 ? ports[i - 1].p50_ns : 1);
		if (ratio > widest) {
			widest = ratio;
			split = i;
		}
	}
	char line[700], fast[32], slow[32];
	struct text text = TEXT_IN(line);
	if (split == 0) {
		report_sentence(out, width, "%zu source ports, and no path among them that is slower by half.", found);
		return;
	}
	format_duration(ports[split - 1].p50_ns, fast, sizeof fast);
	format_duration(ports[split].p50_ns, slow, sizeof slow);
	text_add(&text, "more than one path: p50 up to %s from source port%s ", fast, split == 1 ? "" : "s");
	add_ports(&text, ports, split);
	text_add(&text, ", from %s on with ", slow);
	add_ports(&text, ports + split, found - split);
	report_sentence(out, width, "%s.", line);
}
