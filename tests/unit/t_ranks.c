/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose percentile: rows of every tool, drawn at random from few values so that neighbours differ or not, become tare's
 * nearest ranks (ceil(p x n)); what the tool prints of the same rows by its own rule is told where, and only where, it is
 * another figure. The rules are written down here anew, from the tools' sources.
 */
#include "log_read.h"

enum { MOST = 400, ROOM = 1 << 18 };

static int64_t value_ns[MOST], sorted_ns[MOST];
static size_t n;
static char text[ROOM];
static size_t used;
static uint64_t state;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	used += (size_t)vsnprintf(text + used, ROOM - used, format, args);
	va_end(args);
}

static uint64_t draw(uint64_t below)
{
	state = state * 6364136223846793005U + 1442695040888963407U;
	return (state >> 33) % below;
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

/* Values of whole µs below 1 ms, which every tool prints without loss. */
static void draw_values(void)
{
	n = 2 + (size_t)draw(MOST - 2);
	for (size_t i = 0; i < n; i++)
		sorted_ns[i] = value_ns[i] = 100000 + 1000 * (int64_t)draw(draw(2) ? 3 : 800);
	qsort(sorted_ns, n, sizeof(sorted_ns[0]), by_value);
}

static int64_t nearest(unsigned percent)
{
	return sorted_ns[(n * percent + 99) / 100 - 1];
}

static int64_t ranked(size_t from_zero)
{
	return sorted_ns[from_zero < n ? from_zero : n - 1];
}

static int64_t sum_us(void)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += value_ns[i] / 1000;
	return sum;
}

/* ---- the tools: what they write, and whether a figure of theirs is another than tare's ---- */

static bool sockperf(void)
{
	static const unsigned percent[] = {99, 90, 75, 50, 25};
	bool other = false;
	add("test was performed using the following parameters: --mps=1000 --burst=1 --reply-every=2 --msg-size=14 --time=1 --full-rtt\n");
	for (size_t i = 0; i < sizeof(percent) / sizeof(percent[0]); i++) {
		size_t index = (size_t)(0.5 + percent[i] / 100.0 * (double)n);
		int64_t theirs = ranked(index ? index - 1 : 0);
		add("sockperf: ---> percentile %6.3f = %8.3f\n", (double)percent[i], (double)theirs / 1e3);
		other |= theirs != nearest(percent[i]);
	}
	add("packet, txTime(sec), rxTime(sec), rtt(usec)\n");
	for (size_t i = 0; i < n; i++)
		add("%zu, %.9f, %.9f, %.3f\n", i, 1 + 0.002 * (double)i, 1 + 0.002 * (double)i + (double)value_ns[i] / 1e9, (double)value_ns[i] / 1e3);
	return other;
}

static bool ping(void)
{
	add("PING h (10.0.0.1) 56(84) bytes of data.\n");
	for (size_t i = 0; i < n; i++)
		add("64 bytes from 10.0.0.1: icmp_seq=%zu ttl=64 time=0.%03d ms\n", i + 1, (int)(value_ns[i] / 1000));
	int64_t avg = sum_us() / (int64_t)n;
	add("\n--- h ping statistics ---\n%zu packets transmitted, %zu received, 0%% packet loss, time 9ms\n"
	    "rtt min/avg/max/mdev = 0.%03d/0.%03d/0.%03d/0.001 ms\n", n, n, (int)(sorted_ns[0] / 1000), (int)avg, (int)(sorted_ns[n - 1] / 1000));
	/* cut and rounded alike */
	return 2 * (sum_us() % (int64_t)n) >= (int64_t)n;
}

static bool fping(void)
{
	for (size_t i = 0; i < n; i++)
		add("h : [%zu], 64 bytes, 0.%03d ms (0.1 avg, 0%% loss)\n", i, (int)(value_ns[i] / 1000));
	add("\nh : xmt/rcv/%%loss = %zu/%zu/0%%, min/avg/max = 0.%03d/%.3f/0.%03d\n", n, n, (int)(sorted_ns[0] / 1000),
		(double)(sum_us() * 1000 / (int64_t)n) / 1e6, (int)(sorted_ns[n - 1] / 1000));
	return false; /* three digits of the same: never another figure */
}

static bool irtt(void)
{
	int64_t middle = n % 2 ? sorted_ns[n / 2] : (sorted_ns[n / 2 - 1] + sorted_ns[n / 2]) / 2, mean = sum_us() * 1000 / (int64_t)n;
	add("{\"version\":{\"irtt\":\"0.9.2\",\"json_format\":1},\"config\":{\"params\":{\"interval\":1000000,\"stamp_at\":\"none\"}},"
	    "\"stats\":{\"rtt\":{\"min\":%lld,\"mean\":%lld,\"median\":%lld,\"max\":%lld}},\"round_trips\":[", (long long)sorted_ns[0], (long long)mean,
		(long long)middle, (long long)sorted_ns[n - 1]);
	for (size_t i = 0; i < n; i++)
		add("%s{\"seqno\":%zu,\"lost\":\"false\",\"timestamps\":{\"client\":{\"send\":{\"monotonic\":%zu},\"receive\":{\"monotonic\":%lld}}},"
		    "\"delay\":{\"rtt\":%lld}}", i ? "," : "", i, 1000000 * (i + 1), (long long)(1000000 * (i + 1)) + (long long)value_ns[i], (long long)value_ns[i]);
	add("]}\n");
	return middle != nearest(50);
}

static bool exanic(void)
{
	static const unsigned percent[] = {99, 90, 50, 10};
	bool other = false;
	add("Sample, Latency, Sequence, CPU_DELAY_NS, TX_NIC_NS, RX_NIC_NS, TX_CPU_NS, RX_CPU_NS\n");
	for (size_t i = 0; i < n; i++)
		add("%zu, %lld.00, %zu, 1, %zu, %zu, 1, 1\n", i, (long long)value_ns[i], i + 1, 1000 * (i + 1), 1000 * (i + 1) + 500);
	for (size_t i = 0; i < sizeof(percent) / sizeof(percent[0]); i++) {
		float rank = (float)percent[i] / 100 * (float)n;
		int64_t theirs = ranked((size_t)rank);
		add("Percentile %.2f = %lld.00 ns\n", (double)percent[i], (long long)theirs);
		other |= theirs != nearest(percent[i]);
	}
	return other;
}

static void add_rows(void)
{
	for (size_t i = 0; i < n; i++)
		add("%lld\n", (long long)value_ns[i]);
}

static bool sfnt(void)
{
	add_rows();
	return ranked(n / 2) != nearest(50) || ranked(n * 99 / 100) != nearest(99);
}

static bool eflatency(void)
{
	add_rows();
	return ranked(n / 2) != nearest(50) || ranked(n - n / 20) != nearest(95) || ranked(n - n / 100) != nearest(99);
}

static bool sfnt_stream(void)
{
	add("#send-target(ns)\tsend-actual(ns)\tlatency(ns)\n");
	for (size_t i = 0; i < n; i++)
		add("0.%09zu\t0.%09zu\t0.%09lld\n", i, i, (long long)value_ns[i]);
	return ranked(n / 2) != nearest(50) || ranked(n * 99 / 100) != nearest(99);
}

/* A percentile without a value behind it is not given at all. */
static bool is_nearest(const struct tare_row *row, int at, unsigned percent)
{
	bool hidden = row->ranked[at].grade == TARE_GRADE_NONE;
	return hidden ? n * (100 - percent) < 200 : row->ranked[at].value_ns == nearest(percent);
}

static void test_tool(const char *name, const char *format, bool (*write)(void))
{
	int told = 0, silent = 0;
	bool same = true, right = true;
	for (int i = 0; i < 60; i++) {
		draw_values();
		used = 0;
		bool other = write();
		struct log_read *log = log_text(text, (struct import_rules){.format = format});
		const struct tare_row *row = &log->record[0].row;
		same &= log->result == 0 && row->n == n && is_nearest(row, P50, 50) && is_nearest(row, P90, 90) &&
			is_nearest(row, P99, 99);
		bool says = strstr(log->notes, "prints") && strstr(log->notes, "(tare: ");
		if (says != other || !same)
			printf("# %s, n = %zu: expected %s, row of %zu, %lld %lld %lld for %lld %lld %lld, notes: %s%s\n", name, n,
				other ? "a line" : "none", (size_t)row->n, (long long)row->ranked[P50].value_ns,
				(long long)row->ranked[P90].value_ns, (long long)row->ranked[P99].value_ns, (long long)nearest(50),
				(long long)nearest(90), (long long)nearest(99), log->notes, log->err.text);
		right &= says == other;
		told += other;
		silent += !other;
		free(log);
	}
	OK(same, "%s: p50, p90 and p99 are the nearest ranks of its rows", name);
	OK(right, "%s: its own rule is told where it gives another figure (%d), and nowhere else (%d)", name, told, silent);
}

int main(void)
{
	state = 20261130;
	printf("# seed %" PRIu64 "\n", state);
	test_tool("sockperf", NULL, sockperf);
	test_tool("ping", NULL, ping);
	test_tool("fping", NULL, fping);
	test_tool("irtt", NULL, irtt);
	test_tool("exanic-measure", NULL, exanic);
	test_tool("sfnt-pingpong", "sfnt-raw", sfnt);
	test_tool("eflatency", "eflatency-raw", eflatency);
	test_tool("sfnt-stream", NULL, sfnt_stream);
	return tap_done();
}
