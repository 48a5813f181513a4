/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-checks of CPUs: who runs there, what interrupts them, who stops them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/rules.h"

/* Shares of a second above which a sibling counts as busy, and ticks a second above which a CPU has its tick. */
#define SIBLING_BUSY 0.01
#define TICKS_OFF    2.0

static bool any_hot(const struct judging *judging)
{
	return host_cpus_next(&judging->hot, -1) >= 0;
}

/* ---- X1, X6: interrupts ---- */

struct landing {
	const struct judging *judging;
	const char *then;
	char list[200];
	struct text text;
	uint64_t fired;
};

static void note_landing(void *context, int cpu, uint64_t count)
{
	struct landing *landing = context;
	uint64_t before = landing->then ? host_count_of_cpu(landing->then, cpu) : 0;
	if (count <= before)
		return;
	landing->fired += count - before;
	if (host_cpus_has(&landing->judging->hot, cpu))
		text_add(&landing->text, "%sCPU %d: %" PRIu64, landing->text.used ? ", " : "", cpu, count - before);
}

/* Queues of a network device are wanted on hot CPUs: "0000:3b:00.0#5 eth0-rx-3" of a NIC's PCI device. */
static bool is_nic_queue(const struct judging *judging, const char *key)
{
	char instance[300];
	host_key_instance(key, instance, sizeof instance);
	char *hash = strchr(instance, '#');
	if (!hash)
		return false;
	*hash = '\0';
	return host_find_of(judging->view->is, "nic[].name", instance) != NULL;
}

static void check_landing(struct judging *judging, const struct host_fact *count)
{
	const struct host_fact *then = judging->view->was ? host_find(judging->view->was, count->key) : NULL;
	struct landing landing = {.judging = judging, .then = then && then->status == HOST_OK ? then->value : NULL};
	landing.text = (struct text)TEXT_IN(landing.list);
	char remedy[160];
	const char *number = value_beside(judging, count->key, "irq[].number");
	if (!judging->view->deltas || judging->view->deltas->rebooted || !landing.then || !any_hot(judging) ||
		is_nic_queue(judging, count->key))
		return;
	host_counts_each(count->value, note_landing, &landing);
	if (landing.text.used == 0)
		return;
	snprintf(remedy, sizeof remedy, "echo HOUSEKEEPING_CPUS > /proc/irq/%s/smp_affinity_list",
		number ? number : "N");
	finding_add(judging, HOST_LEVEL_WARNING, "X1", count->key, "fired on a CPU that should be left alone",
		"each interrupt costs the thread there some microseconds", landing.list, remedy);
}

static void check_effective(struct judging *judging, const struct host_fact *effective)
{
	struct host_cpus asked, served;
	char key[512], what[700];
	const char *affinity = value_beside(judging, effective->key, "irq[].affinity");
	host_key_instance(effective->key, key, sizeof key);
	const struct host_fact *count = host_find_of(judging->view->is, "irq[].count", key);
	if (!affinity || !effective->value || !host_cpus_of_list(affinity, -1, &asked) ||
		!host_cpus_of_list(effective->value, -1, &served) || host_cpus_next(&served, -1) < 0 ||
		host_cpus_subset(&served, &asked))
		return;
	bool fired = count && delta_of_key(judging, count->key) > 0;
	snprintf(what, sizeof what, "asked for CPU %.300s, served by CPU %.300s", affinity, effective->value);
	finding_add(judging, HOST_LEVEL_INFO, "X6", effective->key, what,
		fired ? "it has fired and did not move: managed by the kernel" : "it takes hold at the next interrupt",
		fired ? "fired since the last inspection" : "has not fired since the last inspection", NULL);
}

static void check_interrupts(struct judging *judging)
{
	size_t cursor = 0;
	for (const struct host_fact *fact; (fact = host_next(judging->view->is, "irq[", &cursor)) != NULL;) {
		if (fact->status != HOST_OK)
			continue;
		if (ends_with(fact->key, "].count"))
			check_landing(judging, fact);
		else if (ends_with(fact->key, "].effective"))
			check_effective(judging, fact);
	}
}

/* ---- X2, X12: the responder's threads ---- */

static const char *domain_of(const struct host_snapshot *snapshot, const struct host_cpus *cpus)
{
	/* a value without groups says that all CPUs are in one */
	const char *l3 = host_value(snapshot, "cpu.l3");
	char list[512];
	return l3 && strchr(l3, ';') && host_cpus_text(cpus, list, sizeof list) && !strstr(l3, list) ? "several caches"
												     : NULL;
}

static void check_thread(struct judging *judging, const struct host_fact *mask)
{
	struct host_cpus allowed;
	char evidence[200], instance[300];
	host_key_instance(mask->key, instance, sizeof instance);
	const struct host_fact *moved = host_find_of(judging->view->is, "thread[].migrations", instance);
	uint64_t moves = moved && judging->view->deltas ? delta_of_key(judging, moved->key) : 0;
	if (!mask->value || !host_cpus_of_list(mask->value, -1, &allowed))
		return;
	/* threads that stay away from the hot CPUs may wander; without hot CPUs every thread is looked at */
	if ((host_cpus_count(&allowed) <= 1 && moves == 0) ||
		(host_cpus_next(&judging->view->hot, -1) >= 0 && !host_cpus_meet(&allowed, &judging->view->hot)))
		return;
	const char *domain = domain_of(judging->view->is, &allowed);
	snprintf(evidence, sizeof evidence, "may use %d CPUs%s%s, moved %" PRIu64 " times since the last inspection",
		host_cpus_count(&allowed), domain ? " of " : "", domain ? domain : "", moves);
	finding_add(judging, domain && judging->view->in_round ? HOST_LEVEL_CRITICAL : HOST_LEVEL_WARNING, "X2",
		mask->key, "is not pinned to one CPU",
		"each CPU has its own distance to NIC and memory: two modes of latency", evidence,
		"taskset -pc CPU TID, or an own cpuset");
}

static void check_policy(struct judging *judging, const struct host_fact *policy)
{
	int64_t runtime, period;
	char what[160];
	if (!policy->value || (strncmp(policy->value, "fifo", 4) != 0 && strncmp(policy->value, "rr", 2) != 0) ||
		!host_number(judging->view->is, "kernel.sched_rt_runtime_us", &runtime) ||
		!host_number(judging->view->is, "kernel.sched_rt_period_us", &period) || runtime < 0 ||
		runtime >= period)
		return;
	snprintf(what, sizeof what, "runs as %s, and may use %" PRId64 " of every %" PRId64 " us", policy->value,
		runtime, period);
	finding_add(judging, HOST_LEVEL_WARNING, "X12", policy->key, what,
		"a thread that spins is stopped for the rest of each period", NULL,
		"sysctl kernel.sched_rt_runtime_us=-1, only with the thread on an isolated CPU");
}

static void check_threads(struct judging *judging)
{
	size_t cursor = 0;
	for (const struct host_fact *fact; (fact = host_next(judging->view->is, "thread[", &cursor)) != NULL;) {
		if (fact->status == HOST_OK && ends_with(fact->key, "].cpus"))
			check_thread(judging, fact);
		else if (fact->status == HOST_OK && ends_with(fact->key, "].policy"))
			check_policy(judging, fact);
	}
}

/* ---- X3, X5: hot CPUs ---- */

/* The siblings of a CPU out of "0,64=0,64; 1,65=1,65" or "0=0; 1=1". */
static bool siblings_of(const char *groups, int cpu, struct host_cpus *ret_siblings)
{
	while (groups && *groups) {
		size_t length = strcspn(groups, ";");
		char group[1024];
		snprintf(group, sizeof group, "%.*s", (int)length, groups);
		char *equals = strchr(group, '=');
		struct host_cpus members;
		if (equals) {
			*equals = '\0';
			if (host_cpus_of_list(group, -1, &members) && host_cpus_has(&members, cpu))
				return host_cpus_of_list(equals + 1, -1, ret_siblings);
		}
		groups += length + (groups[length] ? 1 : 0);
		groups += strspn(groups, " ");
	}
	return false;
}

static double share_of(const struct judging *judging, const char *key, int cpu)
{
	const struct host_deltas *deltas = judging->view->deltas;
	const char *now = host_value(judging->view->is, key);
	const char *then = judging->view->was ? host_value(judging->view->was, key) : NULL;
	if (!deltas || deltas->rebooted || !now || !then || deltas->elapsed_ns <= 0)
		return -1;
	uint64_t is = host_count_of_cpu(now, cpu), was = host_count_of_cpu(then, cpu);
	return is < was ? -1 : (double)(is - was) * 1e9 / (double)deltas->elapsed_ns;
}

static void check_sibling(struct judging *judging, int cpu)
{
	struct host_cpus siblings;
	char what[64], evidence[96];
	if (!siblings_of(host_value(judging->view->is, "cpu.siblings"), cpu, &siblings))
		return;
	for (int other = -1; (other = host_cpus_next(&siblings, other)) >= 0;) {
		/* USER_HZ is 100 on every architecture that matters: ticks a second are per cent */
		double busy = share_of(judging, "cpu.busy", other) / 100;
		if (other == cpu || busy <= SIBLING_BUSY)
			continue;
		snprintf(what, sizeof what, "CPU %d, sibling of hot CPU %d, is busy", other, cpu);
		snprintf(evidence, sizeof evidence, "%.1f %% of the time since the last inspection", busy * 100);
		finding_add(judging, HOST_LEVEL_WARNING, "X3", "cpu.siblings", what,
			"siblings share a core: each slows the other", evidence,
			"take the sibling offline, or keep it empty");
	}
}

static void check_tick(struct judging *judging)
{
	struct host_cpus full, spared = {{0}};
	const char *list = host_value(judging->view->is, "cpu.nohz_full"),
		   *nocbs = host_value(judging->view->is, "boot[rcu_nocbs]");
	if (!list || !host_cpus_of_list(list, -1, &full) || host_cpus_next(&full, -1) < 0)
		return;
	/* nohz_full offloads RCU callbacks by itself; an explicit list that leaves some out is a mistake */
	if (nocbs && host_cpus_of_list(nocbs, -1, &spared) && !host_cpus_subset(&full, &spared))
		finding_add(judging, HOST_LEVEL_WARNING, "X5", "boot[rcu_nocbs]", "does not hold all CPUs of nohz_full",
			"RCU callbacks then run on a CPU that should have no tick", nocbs,
			"rcu_nocbs= with the list of nohz_full=");
	for (int cpu = -1; (cpu = host_cpus_next(&full, cpu)) >= 0;) {
		char what[64], evidence[64];
		double rate = share_of(judging, "interrupts[LOC]", cpu);
		if (rate <= TICKS_OFF)
			continue;
		snprintf(what, sizeof what, "CPU %d of nohz_full still has timer interrupts", cpu);
		snprintf(evidence, sizeof evidence, "%.1f a second since the last inspection", rate);
		finding_add(judging, HOST_LEVEL_WARNING, "X5", "interrupts[LOC]", what,
			"the tick stops only while one task is runnable and no POSIX CPU timer is set", evidence, NULL);
	}
}

static void check_others(struct judging *judging)
{
	size_t cursor = 0;
	for (const struct host_fact *fact; (fact = host_next(judging->view->is, "hot[", &cursor)) != NULL;)
		if (fact->status == HOST_OK && strcmp(fact->value, "0") != 0)
			finding_add(judging, HOST_LEVEL_WARNING, "X3", fact->key, "other tasks may run on this hot CPU",
				"whoever runs there makes the responder wait", fact->value,
				"isolate the CPU, or an own cpuset for the responder");
	for (int cpu = -1; (cpu = host_cpus_next(&judging->hot, cpu)) >= 0;)
		check_sibling(judging, cpu);
}

/* ---- X13, X17: what stops a CPU ---- */

static void check_groups(struct judging *judging)
{
	size_t cursor = 0;
	char evidence[64];
	for (const struct host_fact *fact; (fact = host_next(judging->view->is, "cgroup[", &cursor)) != NULL;) {
		if (fact->status != HOST_OK)
			continue;
		if (ends_with(fact->key, "].quota") && strcmp(fact->value, "max") != 0)
			finding_add(judging, worse_in_round(judging, HOST_LEVEL_WARNING), "X13", fact->key,
				"its control group has a CPU quota",
				"a quota stalls for up to a whole period once it is used up", fact->value,
				"cpu.max = max");
		uint64_t throttled = ends_with(fact->key, "].throttled") ? delta_of_key(judging, fact->key) : 0;
		if (!throttled)
			continue;
		snprintf(evidence, sizeof evidence, "%" PRIu64 " periods since the last inspection", throttled);
		finding_add(judging, worse_in_round(judging, HOST_LEVEL_WARNING), "X13", fact->key,
			"its control group was throttled", "every throttled period is a stall", evidence,
			"cpu.max = max");
	}
}

static void check_standstill(struct judging *judging)
{
	static const struct {
		const char *key, *what, *why;
	} rows[] = {
		{"cpu.smi", "system management interrupts", "all CPUs stop for each, invisible to the kernel"},
		{"cpu.steal", "the hypervisor kept CPUs", "stalls of that length are candidates for it"},
		{"cpu.throttled", "cores were slowed by heat", "the frequency was cut"},
		{"cpu.package_throttled", "a package was slowed by heat", "the frequency was cut"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char evidence[128];
		const struct host_delta *delta =
			judging->view->deltas ? host_delta_find(judging->view->deltas, rows[i].key) : NULL;
		if (!delta || delta->delta == 0)
			continue;
		snprintf(evidence, sizeof evidence, "%" PRIu64 ", most on %s", delta->delta, delta->where);
		/* a guest always loses some ticks: worth a word, not an alarm, unless a round is judged */
		enum host_level level = i == 1 ? HOST_LEVEL_INFO : HOST_LEVEL_WARNING;
		finding_add(judging, judging->view->in_round ? HOST_LEVEL_WARNING : level, "X17", rows[i].key,
			rows[i].what, rows[i].why, evidence, NULL);
	}
}

void rules_cpu(struct judging *judging)
{
	check_interrupts(judging);
	check_threads(judging);
	check_others(judging);
	check_tick(judging);
	check_groups(judging);
	check_standstill(judging);
}
