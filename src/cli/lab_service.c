/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Re-enactments about who answers: kernel or service, one CPU or two, warm or cold. */
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "cli/lab.h"

int lab_kernel_alive(struct lab *lab, struct tare_err *err)
{
	char url[64], cell[4][32];
	struct lab_figures figures[2][2];
	pid_t responder = lab_echo(lab, lab->cpu[1], false, NULL, url, sizeof url, err);
	if (responder < 0)
		return -1;
	const char *urls[] = {"icmp://127.0.0.1", url};
	struct session_config config = lab_config(lab, urls, 2, 400, 5000000, lab->cpu[0], false);
	int status = lab_run(lab, &config, figures[0], 2, err);
	kill(responder, SIGSTOP);
	if (status == 0)
		status = lab_run(lab, &config, figures[1], 2, err);
	lab_end(responder);
	if (status < 0)
		return -1;
	static const struct lab_heading headings[] = {{"sent", true}, {"answered", true}, {"rtt p50", false},
		{"stopped: sent", true}, {"answered", true}, {"rtt p50", false}};
	struct lab_row rows[2];
	for (int i = 0; i < 2; i++)
		rows[i] = (struct lab_row){i ? "the service (stamp)" : "ping (icmp)",
			{(double)figures[0][i].sent, (double)figures[0][i].answered, figures[0][i].rtt_p50,
				(double)figures[1][i].sent, (double)figures[1][i].answered, figures[1][i].rtt_p50}};
	if (lab_table(lab, "µs", headings, 6, rows, 2, err) < 0)
		return -1;
	bool shown = figures[1][0].answered * 10 >= figures[1][0].sent * 9 && figures[1][1].answered == 0;
	lab_say(lab, "%s",
		shown ? "The service was stopped, and every ping was answered: an answered ping proves that the kernel "
			"lives, "
			"not the service. Probe the port."
		      : "This time the two did not come apart as they should: the figures above say how.");
	lab_say(lab, "The kernel answers in %s µs, the service in %s µs: its process must be woken.",
		lab_us(figures[0][0].rtt_p50, cell[0]), lab_us(figures[0][1].rtt_p50, cell[1]));
	return 0;
}

int lab_two_modes(struct lab *lab, struct tare_err *err)
{
	char url[64], inject[64], cell[4][32];
	struct lab_figures f;
	uint64_t count = lab_count(lab, 10000);
	if (lab->cpus < 2)
		return tare_fail(err, TARE_E_INVALID, "one CPU is all there is: nothing can move to another");
	snprintf(inject, sizeof inject, "migrate %d at %llu", lab->cpu[1], (unsigned long long)(count * 4 / 10));
	/* it begins beside the sender and moves to a CPU of its own, as an unpinned one may at any time */
	pid_t responder = lab_echo(lab, lab->cpu[0], false, inject, url, sizeof url, err);
	if (responder < 0)
		return -1;
	const char *urls[] = {url};
	struct session_config config = lab_config(lab, urls, 1, 10000, 500000, lab->cpu[0], false);
	int status = lab_run(lab, &config, &f, 1, err);
	lab_end(responder);
	if (status < 0)
		return -1;
	static const struct lab_heading headings[] = {{"requests", true}, {"rtt p50", false}, {"rtt mean", false}};
	struct lab_row rows[3];
	char names[2][32];
	size_t count_rows = 0;
	for (int i = 0; i < 2 && f.peer_cpu[i] >= 0; i++) {
		snprintf(names[i], sizeof names[i], "responder on CPU %d", f.peer_cpu[i]);
		rows[count_rows++] = (struct lab_row){names[i], {(double)f.by_cpu_n[i], f.by_cpu_p50[i], NAN}};
	}
	rows[count_rows++] = (struct lab_row){"all", {(double)f.n, f.rtt_p50, f.rtt_mean}};
	if (lab_table(lab, "µs", headings, 3, rows, count_rows, err) < 0)
		return -1;
	if (f.peer_cpu[1] < 0) {
		lab_say(lab, "The responder did not move this time: nothing is shown.");
		return 0;
	}
	double low = fmin(f.by_cpu_p50[0], f.by_cpu_p50[1]), high = fmax(f.by_cpu_p50[0], f.by_cpu_p50[1]);
	lab_say(lab,
		"The responder moved once, at request %llu, and with it the median from one mode to the other: %s and "
		"%s µs.",
		(unsigned long long)(count * 4 / 10), lab_us(f.by_cpu_p50[1], cell[0]),
		lab_us(f.by_cpu_p50[0], cell[1]));
	if (f.rtt_mean > low && f.rtt_mean < high)
		lab_say(lab,
			"The mean of %s µs lies between them, where hardly any request was; the median of all, %s, in "
			"the larger group only.",
			lab_us(f.rtt_mean, cell[0]), lab_us(f.rtt_p50, cell[1]));
	else
		lab_say(lab, "The mean of %s µs is neither: a few slow requests pulled it out of both.",
			lab_us(f.rtt_mean, cell[0]));
	lab_say(lab, "Two populations are two populations: report them apart.");
	return 0;
}

int lab_first_request(struct lab *lab, struct tare_err *err)
{
	enum { ROUNDS = 30 };
	char url[64];
	struct lab_figures f;
	double first = 0, second = 0, median = 0;
	int slowest = 0, known = 0;
	pid_t responder = lab_echo(lab, lab->cpu[1], false, NULL, url, sizeof url, err);
	if (responder < 0)
		return -1;
	const char *urls[] = {url};
	struct session_config config = lab_config(lab, urls, 1, 200, 1000000, lab->cpu[0], false);
	config.timeout_ns = 50000000;
	int status = 0;
	for (int i = 0; i < ROUNDS && status == 0; i++) {
		usleep(200000); /* long enough for caches and CPUs to go cold */
		status = lab_run(lab, &config, &f, 1, err);
		if (status < 0 || !isfinite(f.first) || !isfinite(f.second))
			continue;
		first += f.first;
		second += f.second;
		median += f.rtt_p50;
		slowest += f.first_is_slowest;
		known++;
	}
	lab_end(responder);
	if (status < 0)
		return -1;
	if (known == 0)
		return tare_fail(err, TARE_E_INVALID, "no first request was answered");
	static const struct lab_heading headings[] = {{"rtt", false}};
	const struct lab_row rows[] = {{"first request, mean", {first / known}}, {"second request, mean", {second / known}},
		{"all others, mean of the medians", {median / known}}};
	fprintf(lab->cli->out, "%d rounds of %llu requests, a pause before each\n", known,
		(unsigned long long)lab_count(lab, 200));
	if (lab_table(lab, "µs", headings, 1, rows, 3, err) < 0)
		return -1;
	lab_say(lab,
		"The first request takes %.1f times the median, the second %.1f times; the first was the slowest of "
		"its round in %d of %d.",
		first / median, second / median, slowest, known);
	lab_say(lab, "A maximum that includes them is a cold start and not a stall: they are a figure of their own.");
	return 0;
}
