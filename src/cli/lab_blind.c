/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What ping does not see. The sender of tare spins, so that what another task
 * takes from it is whole slices of CPU time: requests that fall due meanwhile
 * leave late, and their round trip, which starts when they leave, is as ever.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/lab.h"

enum { PACKETS = 800, EVERY_MS = 5 };

struct ping_figures {
	double rtt_p50_us, slip_us;
	size_t n;
};

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* Lines of ping -D: "[seconds] 64 bytes from ...: icmp_seq=1 ttl=64 time=0.041 ms". */
static void read_ping(FILE *in, struct ping_figures *figures)
{
	AUTO_FREE double *rtt = calloc(PACKETS, sizeof *rtt);
	double first = NAN, last = NAN, at, ms;
	char line[256];
	while (rtt && fgets(line, sizeof line, in)) {
		const char *time = strstr(line, "time=");
		if (!time || sscanf(line, "[%lf]", &at) != 1 || sscanf(time, "time=%lf", &ms) != 1 ||
			figures->n == PACKETS)
			continue;
		if (figures->n == 0)
			first = at;
		last = at;
		rtt[figures->n++] = ms * 1000;
	}
	if (figures->n < 2)
		return;
	qsort(rtt, figures->n, sizeof *rtt, by_value);
	figures->rtt_p50_us = rtt[(figures->n - 1) / 2];
	figures->slip_us = (last - first) * 1e6 / (double)(figures->n - 1) - EVERY_MS * 1000.0;
}

/* ping on a CPU (-1: any). n stays 0 where there is no ping, or none that does this. */
static struct ping_figures run_ping(const struct lab *lab, int cpu)
{
	struct ping_figures figures = {NAN, NAN, 0};
	int ends[2];
	char count[16];
	snprintf(count, sizeof count, "%llu", (unsigned long long)lab_count(lab, PACKETS));
	if (pipe(ends) != 0)
		return figures;
	pid_t child = fork();
	if (child == 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET((size_t)(cpu >= 0 ? cpu : 0), &set);
		if (cpu >= 0)
			sched_setaffinity(0, sizeof set, &set);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execlp("ping", "ping", "-n", "-D", "-i", "0.005", "-c", count, "127.0.0.1", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	AUTO_FILE in = fdopen(ends[0], "r");
	if (in && child > 0)
		read_ping(in, &figures);
	if (child > 0)
		waitpid(child, NULL, 0);
	return figures;
}

struct row {
	const char *what;
	int cpu;      /* of the sender and of ping; -1: any */
	int load_cpu; /* -1: none */
	struct lab_figures tare;
	struct ping_figures ping;
};

static int run_row(struct lab *lab, const char *url, struct row *row, struct tare_err *err)
{
	const char *urls[] = {url};
	pid_t load = 0;
	if (row->load_cpu >= 0 && (load = lab_load(LOAD_SPIN, row->load_cpu, row->load_cpu, err)) < 0)
		return -1;
	row->ping = run_ping(lab, row->cpu);
	struct session_config config = lab_config(lab, urls, 1, PACKETS, EVERY_MS * 1000000, row->cpu, true);
	int status = lab_run(lab, &config, &row->tare, 1, err);
	lab_end(load);
	return status;
}

static int print_rows(const struct lab *lab, const struct row *rows, size_t count, struct tare_err *err)
{
	static const struct lab_heading headings[] = {
		{"ping p50", false}, {"ping's gap too long", false}, {"rtt p50", false}, {"late mean", false}, {"response p50", false}};
	struct lab_row table[4] = {{0}};
	fprintf(lab->cli->out, "%llu requests a row, %d ms apart\n",
		(unsigned long long)lab_count(lab, PACKETS), EVERY_MS);
	for (size_t i = 0; i < count && i < 4; i++) {
		const struct row *row = &rows[i];
		table[i] = (struct lab_row){row->what,
			{row->ping.rtt_p50_us * 1000, row->ping.slip_us * 1000, row->tare.rtt_p50, row->tare.late_mean,
				row->tare.response_p50}};
	}
	return lab_table(lab, "µs", headings, 5, table, count, err);
}

static void conclude(const struct lab *lab, const struct row *rows)
{
	char a[32], b[32], c[32];
	const struct row *still = &rows[0], *held = &rows[3];
	double moved = fabs(held->tare.rtt_p50 - still->tare.rtt_p50),
	       late = held->tare.late_mean - still->tare.late_mean;
	double ratio = late / fmax(1000, moved);
	lab_say(lab,
		"With the load on its CPU every request left %s µs later on average; the median round trip moved by %s "
		"µs.",
		lab_us(late, a), lab_us(moved, b));
	lab_say(lab, "Lateness moved %.0f times as much as the round trip did (of which at least 1 µs): %s", ratio,
		ratio >= 50 ? "a stopwatch that starts at the send cannot see what happened before it."
			    : "this time the load did not hold the sender up for long enough to show it.");
	if (held->ping.n > 1)
		lab_say(lab, "ping's own column says %s µs where it said %s; each of its packets came %s µs too late.",
			lab_us(held->ping.rtt_p50_us * 1000, a), lab_us(still->ping.rtt_p50_us * 1000, b),
			lab_us(held->ping.slip_us * 1000, c));
	else
		lab_say(lab, "There is no ping here that does -D -i 0.005: its columns are empty.");
	lab_say(lab,
		"The load of the second row ran on CPU %d, the sender of the fourth on CPU %d: load elsewhere is no "
		"contention.",
		rows[1].load_cpu, held->cpu);
}

int lab_ping_blind(struct lab *lab, struct tare_err *err)
{
	char url[64];
	int here = lab->cpu[0], there = lab->cpu[1];
	struct row rows[] = {
		{.what = "free", .cpu = -1, .load_cpu = -1},
		{.what = "load elsewhere", .cpu = here, .load_cpu = there},
		{.what = "pinned, no load", .cpu = here, .load_cpu = -1},
		{.what = "pinned with the load", .cpu = here, .load_cpu = here},
	};
	if (lab->cpus < 2)
		return tare_fail(err, TARE_E_INVALID,
			"one CPU is all there is: sender, responder and load always share it, so that nothing can be "
			"told apart");
	/* not pinned: where a load is, the scheduler moves it out of the way */
	pid_t responder = lab_echo(lab, -1, false, NULL, url, sizeof url, err);
	if (responder < 0)
		return -1;
	int status = 0;
	for (size_t i = 0; i < 4 && status == 0; i++)
		status = run_row(lab, url, &rows[i], err);
	lab_end(responder);
	if (status < 0)
		return -1;
	if (print_rows(lab, rows, 4, err) < 0)
		return -1;
	conclude(lab, rows);
	if (lab->cpus < 3)
		lab_say(lab,
			"With %d CPUs the responder shares one with the load of the second row, and says so in its "
			"round trip.",
			lab->cpus);
	return 0;
}
