/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A against B: what was declared, what moved along, what must not have moved. */
#include "host/compare.h"
#include "host_facts.h"

struct values {
	const char *usecs, *ring, *swappiness, *governor, *dropped;
};

static struct host_snapshot *shot(int64_t up_s, struct values v)
{
	return MADE(up_s, "b", {"nic[p1].coalesce.rx_usecs", v.usecs, HOST_OK}, {"nic[p1].ring.rx", v.ring, HOST_OK},
		{"vm.swappiness", v.swappiness, HOST_OK}, {"cpu.governor", v.governor, HOST_DENIED},
		{"softnet.dropped", v.dropped, HOST_OK}, {"cpu.boost", NULL, HOST_ABSENT},
		{"load.average", "1", HOST_OK});
}

static const struct values a = {"0", "512", "60", "performance", "0"}, b = {"100", "512", "60", "performance", "0"};
static const char *const usecs[] = {"nic[*].coalesce.rx_usecs"}, *const ring[] = {"nic[*].ring.*"};

static struct host_comparison *begin(const char *declared)
{
	struct host_comparison *comparison = NULL;
	struct tare_err err;
	const char *const one[] = {declared};
	if (host_comparison_open(declared ? one : usecs, 1, ring, 1, &comparison, &err) < 0)
		OK(false, "%s", err.text);
	return comparison;
}

static void add(struct host_comparison *comparison, char arm, unsigned round, struct values start, struct values end)
{
	struct tare_err err;
	int64_t at = round * 10;
	if (host_comparison_round(comparison, arm, round, shot(at, start), shot(at + 5, end), &err) < 0)
		OK(false, "%s", err.text);
}

static const struct host_compare_result *result_of(struct host_comparison *comparison)
{
	const struct host_compare_result *result = NULL;
	struct tare_err err;
	if (host_comparison_result(comparison, &result, &err) < 0)
		OK(false, "%s", err.text);
	return result;
}

static const struct host_compared *row_of(const struct host_compare_result *result, const char *key)
{
	for (size_t i = 0; i < result->row_count; i++)
		if (strcmp(result->row[i].key, key) == 0)
			return &result->row[i];
	return NULL;
}

/* 8 rounds in the order ABBA BAAB, a leading one before them: 18 snapshots. */
static void clean(void)
{
	struct host_comparison *comparison = begin(NULL);
	static const char order[] = "AABBABAAB";
	add(comparison, 'A', 0, a, a);
	for (unsigned i = 1; i < 9; i++)
		add(comparison, order[i], i, order[i] == 'A' ? a : b, order[i] == 'A' ? a : b);
	const struct host_compare_result *result = result_of(comparison);
	IS_STR(result->sentence,
		"4 keys compared in 18 snapshots: 1 changed as declared, 0 undeclared, 0 unreadable. Not covered: BIOS "
		"options, "
		"the switch, the peer unless its facts were brought.",
		"the sentence");
	OK(!result->confounded && result->took_effect, "the declared change alone");
	const struct host_compared *row = row_of(result, "nic[p1].coalesce.rx_usecs");
	OK(row && row->role == HOST_AS_DECLARED && strcmp(row->a, "0") == 0 && strcmp(row->b, "100") == 0,
		"from 0 to 100");
	IS_I64(result->not_applicable, 1, "absent ones do not apply");
	IS_I64(result->flagged_count, 0, "no round is flagged");
	host_comparison_free(comparison);
}

static void confounded(void)
{
	struct host_comparison *comparison = begin(NULL);
	struct values other = b;
	other.swappiness = "10";
	add(comparison, 'A', 1, a, a);
	add(comparison, 'B', 2, other, other);
	const struct host_compare_result *result = result_of(comparison);
	const struct host_compared *row = row_of(result, "vm.swappiness");
	OK(result->confounded && row && row->role == HOST_UNDECLARED, "an undeclared change is named");
	host_comparison_free(comparison);
}

static void unsteady(void)
{
	struct host_comparison *comparison = begin(NULL);
	struct values other = a;
	other.swappiness = "10";
	add(comparison, 'A', 1, a, other);
	add(comparison, 'B', 2, b, b);
	add(comparison, 'A', 3, a, a);
	const struct host_compare_result *result = result_of(comparison);
	const struct host_compared *row = row_of(result, "vm.swappiness");
	OK(result->confounded && row && row->role == HOST_UNSTEADY, "a setting that moved within a round");
	IS_STR(row ? row->note : NULL, "changed within round A1", "which round");
	host_comparison_free(comparison);
	comparison = begin(NULL);
	add(comparison, 'A', 1, a, a);
	add(comparison, 'B', 2, b, b);
	add(comparison, 'A', 3, b, b);
	result = result_of(comparison);
	row = row_of(result, "nic[p1].coalesce.rx_usecs");
	OK(result->confounded && row && row->role == HOST_UNSTEADY, "A that was not put back");
	host_comparison_free(comparison);
}

static void without_effect(void)
{
	struct host_comparison *comparison = begin(NULL);
	add(comparison, 'A', 1, a, a);
	add(comparison, 'B', 2, a, a);
	const struct host_compare_result *result = result_of(comparison);
	OK(!result->took_effect && result->count[HOST_WITHOUT_EFFECT] == 1, "declared, and nothing changed");
	host_comparison_free(comparison);
	comparison = begin("nic[*].coalesce.rx_usecs=0->50");
	add(comparison, 'A', 1, a, a);
	add(comparison, 'B', 2, b, b);
	result = result_of(comparison);
	OK(!result->took_effect && result->count[HOST_NOT_AS_DECLARED] == 1, "declared with another value");
	host_comparison_free(comparison);
	comparison = begin("nic[*].coalesc.rx_usecs");
	add(comparison, 'A', 1, a, a);
	add(comparison, 'B', 2, a, a);
	result = result_of(comparison);
	OK(!result->took_effect && result->unmatched == 1, "declared, and no such key");
	host_comparison_free(comparison);
	struct tare_err err;
	const char *const odd[] = {"key=value"};
	comparison = NULL;
	OK(host_comparison_open(odd, 1, NULL, 0, &comparison, &err) < 0 && strstr(err.text, "KEY=A->B"), "refused: %s",
		err.text);
}

static void side_effects(void)
{
	struct host_comparison *comparison = begin(NULL);
	struct values other = b;
	other.ring = "1024";
	add(comparison, 'A', 1, a, a);
	add(comparison, 'B', 2, other, other);
	const struct host_compare_result *result = result_of(comparison);
	OK(!result->confounded && result->count[HOST_SIDE_EFFECT] == 1, "what may move along does no harm");
	host_comparison_free(comparison);
}

static void unreadable(void)
{
	struct host_comparison *comparison = begin(NULL);
	struct values other = b;
	other.governor = NULL;
	add(comparison, 'A', 1, a, a);
	add(comparison, 'B', 2, b, other);
	const struct host_compare_result *result = result_of(comparison);
	const struct host_compared *row = row_of(result, "cpu.governor");
	OK(row && row->role == HOST_NOT_READABLE, "denied once is never equal");
	OK(strstr(result->sentence, "1 unreadable") != NULL, "and is told: %s", result->sentence);
	host_comparison_free(comparison);
}

static void counters(void)
{
	struct host_comparison *comparison = begin(NULL);
	struct values other = b;
	other.dropped = "1=3";
	add(comparison, 'A', 1, a, a);
	add(comparison, 'B', 2, b, other);
	const struct host_compare_result *result = result_of(comparison);
	OK(result->flagged_count == 1 && result->flagged[0].arm == 'B' && result->flagged[0].round == 2 &&
			result->flagged[0].delta == 3 && result->flagged[0].voids,
		"a round with drops is void");
	host_comparison_free(comparison);
}

static void one_arm(void)
{
	struct host_comparison *comparison = begin(NULL);
	const struct host_compare_result *result = NULL;
	struct tare_err err;
	add(comparison, 'A', 1, a, a);
	OK(host_comparison_result(comparison, &result, &err) < 0 && !result, "one arm is no comparison: %s", err.text);
	OK(host_comparison_round(comparison, 'C', 2, shot(1, a), shot(2, a), &err) < 0, "there are two arms");
	host_comparison_free(comparison);
}

/* The affinity asked for and the one in force; sockets older than a sysctl. */
static void effects(void)
{
	static const char *const declared[] = {"irq[*].affinity", "net.core.busy_read"};
	struct host_comparison *comparison = NULL;
	struct tare_err err;
	struct host_snapshot *shots[4];
	for (int i = 0; i < 4; i++)
		shots[i] = MADE(100 + i * 10, "b", {"irq[p#1 rx].affinity", i < 2 ? "0" : "2", HOST_OK},
			{"irq[p#1 rx].effective", "0", HOST_OK}, {"irq[p#1 rx].count", "0=5", HOST_OK},
			{"irq[p#2 rx].affinity", i < 2 ? "0" : "2", HOST_OK}, {"irq[p#2 rx].effective", "0", HOST_OK},
			{"irq[p#2 rx].count", i == 3 ? "0=9" : "0=5", HOST_OK},
			{"net.core.busy_read", i < 2 ? "0" : "50", HOST_OK},
			{"process[md].started_ns", "50000000000", HOST_OK});
	OK(host_comparison_open(declared, 2, NULL, 0, &comparison, &err) == 0 &&
			host_comparison_round(comparison, 'A', 1, shots[0], shots[1], &err) == 0 &&
			host_comparison_round(comparison, 'B', 2, shots[2], shots[3], &err) == 0,
		"two rounds");
	const struct host_compare_result *result = result_of(comparison);
	const struct host_compared *row = row_of(result, "irq[p#1 rx].affinity");
	IS_STR(row ? row->note : NULL, "still served by CPU 0: it takes hold at the next interrupt, and none has come",
		"not fired yet");
	row = row_of(result, "irq[p#2 rx].affinity");
	IS_STR(row ? row->note : NULL, "still served by CPU 0 although it has fired: managed by the kernel?",
		"fired, and not moved");
	row = row_of(result, "net.core.busy_read");
	OK(row && strstr(row->note, "those that md opened before keep the old value"), "older sockets: %s",
		row ? row->note : "");
	host_comparison_free(comparison);
}

int main(void)
{
	clean();
	confounded();
	unsteady();
	without_effect();
	side_effects();
	unreadable();
	counters();
	one_arm();
	effects();
	return tap_done();
}
