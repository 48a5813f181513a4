/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters: wraps, resets, reboots, re-created devices, CPUs that come and go. */
#include "host/delta.h"
#include "host_facts.h"

#define S INT64_C(1000000000)

static void numbers(void)
{
	static const struct {
		bool u32;
		uint64_t was, is;
		int64_t elapsed_s;
		double most;
		enum host_delta_state state;
		uint64_t delta;
		const char *name;
	} cases[] = {
		{false, 100, 150, 10, 0, HOST_DELTA_PLAIN, 50, "plain"},
		{true, 4294967290u, 10, 10, 1e6, HOST_DELTA_WRAPPED, 16, "32 bits wrapped, few events"},
		{true, 4000000000u, 10, 10, 1e6, HOST_DELTA_BACKWARDS, 0,
			"295 million in 10 s are beyond a million a second"},
		{true, 4000000000u, 10, 400, 1e6, HOST_DELTA_WRAPPED, 294967306, "in 400 s they are not"},
		{true, 100, 50, 10, 0, HOST_DELTA_BACKWARDS, 0, "no known rate: never taken for a wrap"},
		{false, 4294967290u, 10, 1000000, 1e9, HOST_DELTA_BACKWARDS, 0, "64 bits do not wrap"},
		{true, UINT64_C(1) << 33, 10, 1000000, 1e9, HOST_DELTA_BACKWARDS, 0, "was beyond 32 bits"},
		{true, 10, 20, 4300, 1e6, HOST_DELTA_AT_LEAST, 10,
			"72 minutes at a million a second: may have wrapped"},
		{true, 10, 20, 4200, 1e6, HOST_DELTA_PLAIN, 10, "70 minutes: cannot have"},
		{false, 10, 10, 5, 0, HOST_DELTA_PLAIN, 0, "nothing"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint64_t delta = 77;
		enum host_delta_state state = host_delta_number(
			cases[i].u32, cases[i].was, cases[i].is, cases[i].elapsed_s * S, cases[i].most, &delta);
		IS_STR(host_delta_state_name(state), host_delta_state_name(cases[i].state), cases[i].name);
		IS_I64(delta, cases[i].delta, "and its difference");
	}
}

static const struct host_delta *find(const struct host_deltas *all, const char *key)
{
	return host_delta_find(all, key);
}

static void snapshots(void)
{
	struct host_snapshot *was =
		MADE(100, "b", {"softnet.dropped", "0=5", HOST_OK}, {"nic[a].rx_missed_errors", "7", HOST_OK},
			{"nic[a].ifindex", "2", HOST_OK}, {"nic[b].rx_crc_errors", "50", HOST_OK},
			{"nic[b].ifindex", "3", HOST_OK}, {"cpu.steal", "0=10 1=20", HOST_OK},
			{"nic[c].tx_errors", "9", HOST_OK}, {"nic[c].ifindex", "4", HOST_OK},
			{"queue[b tx-0].tx_timeout", "8", HOST_OK}, {"stack[Udp.NoPorts]", "5", HOST_OK});
	struct host_snapshot *is =
		MADE(160, "b", {"softnet.dropped", "0=5 3=12", HOST_OK}, {"nic[a].rx_missed_errors", "7", HOST_OK},
			{"nic[a].ifindex", "2", HOST_OK}, {"nic[b].rx_crc_errors", "3", HOST_OK},
			{"nic[b].ifindex", "9", HOST_OK}, {"cpu.steal", "0=10 1=26", HOST_OK},
			{"nic[c].tx_errors", "4", HOST_OK}, {"nic[c].ifindex", "4", HOST_OK},
			{"queue[b tx-0].tx_timeout", "1", HOST_OK}, {"stack[Udp.NoPorts]", "5", HOST_OK});
	struct host_deltas all;
	struct tare_err err;
	OK(host_deltas_of(was, is, &all, &err) == 0, "compared");
	IS_I64(all.elapsed_ns, 60 * S, "time between");
	IS_I64(all.unchanged, 2, "silent about what did not move");
	const struct host_delta *row = find(&all, "softnet.dropped");
	OK(row && row->delta == 12 && row->state == HOST_DELTA_PLAIN && row->per_second == 0.2,
		"sum over CPUs, and rate");
	IS_STR(row ? row->where : NULL, "CPU 3: 12", "where most of it was");
	row = find(&all, "nic[b].rx_crc_errors");
	OK(row && row->state == HOST_DELTA_REBASED && row->delta == 3, "a re-created device counts from zero");
	row = find(&all, "queue[b tx-0].tx_timeout");
	OK(row && row->state == HOST_DELTA_REBASED && row->delta == 1, "and so do its queues");
	row = find(&all, "nic[c].tx_errors");
	OK(row && row->state == HOST_DELTA_BACKWARDS && row->delta == 0, "a reset counter has no difference");
	row = find(&all, "cpu.steal");
	OK(row && row->delta == 6, "one CPU of two moved");
	OK(!find(&all, "nic[a].rx_missed_errors") && !find(&all, "no.such"), "what did not move has no row");
	host_deltas_free(&all);
	is->header.boot = "another";
	OK(host_deltas_of(was, is, &all, &err) == 0 && all.rebooted, "a reboot in between");
	row = find(&all, "nic[a].rx_missed_errors");
	OK(row && row->state == HOST_DELTA_SINCE_BOOT && row->delta == 7, "counts since boot");
	IS_I64(all.elapsed_ns, 160 * S, "over the time since boot");
	host_deltas_free(&all);
	host_snapshot_free(was);
	host_snapshot_free(is);
}

static void renames(void)
{
	struct host_snapshot *was = MADE(1, "b", {"nic[a].name", "eth0", HOST_OK}, {"nic[a].ifindex", "2", HOST_OK},
		{"nic[a].tx_errors", "1", HOST_OK});
	struct host_snapshot *is = MADE(2, "b", {"nic[a].name", "lan0", HOST_OK}, {"nic[a].ifindex", "2", HOST_OK},
		{"nic[a].tx_errors", "3", HOST_OK});
	struct host_deltas all;
	struct tare_err err;
	OK(host_deltas_of(was, is, &all, &err) == 0, "compared");
	const struct host_delta *row = find(&all, "nic[a].tx_errors");
	OK(row && row->state == HOST_DELTA_PLAIN && row->delta == 2, "a rename is no new device");
	host_deltas_free(&all);
	host_snapshot_free(was);
	host_snapshot_free(is);
}

static void per_cpu(void)
{
	struct host_snapshot *was = MADE(1, "b", {"cpu.steal", "0=5 2=9", HOST_OK});
	struct host_snapshot *is = MADE(2, "b", {"cpu.steal", "0", HOST_OK});
	struct host_deltas all;
	struct tare_err err;
	OK(host_deltas_of(was, is, &all, &err) == 0 && all.count == 1 && all.row[0].state == HOST_DELTA_BACKWARDS,
		"all back to zero is a reset");
	IS_I64(host_count_of_cpu("0=5 2=9", 2), 9, "one CPU's count");
	IS_I64(host_count_of_cpu("0=5 2=9", 1), 0, "a CPU that is not listed");
	IS_I64(host_count_of_cpu("0", 0), 0, "all zero");
	IS_I64(host_count_of_cpu("9999999=1", 1), 0, "a CPU that cannot be");
	host_deltas_free(&all);
	host_snapshot_free(was);
	host_snapshot_free(is);
}

int main(void)
{
	numbers();
	snapshots();
	renames();
	per_cpu();
	return tap_done();
}
