/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Re-enactments about figures: what percentiles, means, rates and displays do not say. */
#include <math.h>

#include "cli/lab.h"

/* One round against a responder that injects; the responder spins where it has a CPU of its own. */
static int run_injected(struct lab *lab, const char *inject, uint64_t count, int64_t every_ns, struct lab_figures *ret,
	struct tare_err *err)
{
	char url[64];
	bool spin = lab->cpus > 1;
	pid_t responder = lab_echo(lab, lab->cpu[1], spin, inject, url, sizeof url, err);
	if (responder < 0)
		return -1;
	const char *urls[] = {url};
	struct session_config config = lab_config(lab, urls, 1, count, every_ns, lab->cpu[0], spin);
	int status = lab_run(lab, &config, ret, 1, err);
	lab_end(responder);
	return status;
}

int lab_stalls(struct lab *lab, struct tare_err *err)
{
	struct lab_figures still, held;
	char cell[8][32], inject[256];
	uint64_t step = lab_count(lab, 10000) / 6;
	snprintf(inject, sizeof inject,
		"delay 1500us at %llu, delay 300us at %llu, delay 700us at %llu, delay 200us at %llu, delay 900us at "
		"%llu",
		(unsigned long long)step, (unsigned long long)(2 * step), (unsigned long long)(3 * step),
		(unsigned long long)(4 * step), (unsigned long long)(5 * step));
	if (run_injected(lab, NULL, 10000, 2000000, &still, err) < 0 ||
		run_injected(lab, inject, 10000, 2000000, &held, err) < 0)
		return -1;
	static const struct lab_heading headings[] = {
		{"rtt p50", false}, {"p99", false}, {"p99.9", false}, {"max", false}, {"above 10 x p50", true}};
	const struct lab_row rows[] = {
		{"undisturbed", {still.rtt_p50, still.rtt_p99, still.rtt_p999, still.rtt_max, (double)still.stalls}},
		{"five delays", {held.rtt_p50, held.rtt_p99, held.rtt_p999, held.rtt_max, (double)held.stalls}},
	};
	if (lab_table(lab, "µs", headings, 5, rows, 2, err) < 0)
		return -1;
	lab_say(lab,
		"Five requests of %llu were held for 200 to 1500 µs, on purpose. The slowest is %.0f times the p99.9, "
		"which moved from %s to %s µs.",
		(unsigned long long)held.n, held.rtt_max / held.rtt_p999, lab_us(still.rtt_p999, cell[0]),
		lab_us(held.rtt_p999, cell[1]));
	if (still.stalls > 2)
		lab_say(lab,
			"This host has stalls of its own, %llu in the undisturbed round, so that p99.9 sees some: a "
			"quieter one shows it better.",
			(unsigned long long)still.stalls);
	else
		lab_say(lab, "p99.9 of 10000 has ten requests behind it, and up to ten stalls hide there: count them.");
	return 0;
}

int lab_average(struct lab *lab, struct tare_err *err)
{
	struct lab_figures still, held;
	char cell[8][32];
	if (run_injected(lab, NULL, 10000, 1000000, &still, err) < 0 ||
		run_injected(lab, "delay 4ms every 1000", 10000, 1000000, &held, err) < 0)
		return -1;
	static const struct lab_heading headings[] = {{"rtt p50", false}, {"mean", false}, {"p99", false}, {"max", false}};
	const struct lab_row rows[] = {
		{"undisturbed", {still.rtt_p50, still.rtt_mean, still.rtt_p99, still.rtt_max}},
		{"1 in 1000 held", {held.rtt_p50, held.rtt_mean, held.rtt_p99, held.rtt_max}},
	};
	if (lab_table(lab, "µs", headings, 4, rows, 2, err) < 0)
		return -1;
	if (held.rtt_mean <= still.rtt_mean)
		lab_say(lab, "This host held requests up by itself, and more than was done on purpose: a quieter one "
			     "shows it better.");
	else
		lab_say(lab,
			"One request in a thousand was held for 4 ms, and a few behind it waited: the median moved by "
			"%s "
			"µs, the mean by %s.",
			lab_us(fabs(held.rtt_p50 - still.rtt_p50), cell[0]),
			lab_us(held.rtt_mean - still.rtt_mean, cell[1]));
	lab_say(lab,
		"A mean of %s µs describes no request at all: neither the ordinary ones at %s nor the slow ones at %s.",
		lab_us(held.rtt_mean, cell[0]), lab_us(held.rtt_p50, cell[1]), lab_us(held.rtt_max, cell[2]));
	return 0;
}

int lab_rate(struct lab *lab, struct tare_err *err)
{
	static const struct {
		int64_t every_ns;
		uint64_t count;
		const char *what;
	} rates[] = {{1000000, 4000, "1 000/s"}, {50000, 80000, "20 000/s"}};
	struct lab_figures f[2][2];
	char url[64], words[400];
	if (lab->cpus < 2)
		return tare_fail(
			err, TARE_E_INVALID, "one CPU is all there is: busy waiting would keep the responder from it");
	for (int spin = 0; spin < 2; spin++) {
		pid_t responder = lab_echo(lab, lab->cpu[1], spin, NULL, url, sizeof url, err);
		if (responder < 0)
			return -1;
		const char *urls[] = {url};
		int status = 0;
		for (int rate = 0; rate < 2 && status == 0; rate++) {
			struct session_config config =
				lab_config(lab, urls, 1, rates[rate].count, rates[rate].every_ns, lab->cpu[0], spin);
			status = lab_run(lab, &config, &f[spin][rate], 1, err);
		}
		lab_end(responder);
		if (status < 0)
			return -1;
	}
	static const struct lab_heading headings[] = {{"p50 sleeping", false}, {"p50 busy", false}, {"difference", false}};
	struct lab_row rows[2];
	for (int rate = 0; rate < 2; rate++)
		rows[rate] = (struct lab_row){rates[rate].what,
			{f[0][rate].rtt_p50, f[1][rate].rtt_p50, f[0][rate].rtt_p50 - f[1][rate].rtt_p50}};
	if (lab_table(lab, "µs", headings, 3, rows, 2, err) < 0)
		return -1;
	lab_rate_words(f[0][0].rtt_p50 - f[1][0].rtt_p50, f[0][1].rtt_p50 - f[1][1].rtt_p50, words, sizeof words);
	lab_say(lab, "%s", words);
	lab_say(lab, "A verdict at one rate says nothing about another: verify at the rate of production.");
	return 0;
}

int lab_resolution(struct lab *lab, struct tare_err *err)
{
	struct lab_figures f[2];
	char url[64], words[400];
	bool spin = lab->cpus > 1;
	pid_t responder = lab_echo(lab, lab->cpu[1], spin, NULL, url, sizeof url, err);
	if (responder < 0)
		return -1;
	const char *urls[] = {url};
	static const size_t sizes[] = {104, 1472};
	int status = 0;
	for (int i = 0; i < 2 && status == 0; i++) {
		struct session_config config = lab_config(lab, urls, 1, 5000, 1000000, lab->cpu[0], spin);
		config.payload_bytes = sizes[i];
		status = lab_run(lab, &config, &f[i], 1, err);
	}
	lab_end(responder);
	if (status < 0)
		return -1;
	static const struct lab_heading headings[] = {
		{"rtt min", false}, {"p50", false}, {"min, steps of 1 µs", false}, {"p50, steps of 1 µs", false}};
	const struct lab_row rows[] = {
		{"104 bytes", {f[0].rtt_min, f[0].rtt_p50, floor(f[0].rtt_min / 1000) * 1000, floor(f[0].rtt_p50 / 1000) * 1000}},
		{"1472 bytes", {f[1].rtt_min, f[1].rtt_p50, floor(f[1].rtt_min / 1000) * 1000, floor(f[1].rtt_p50 / 1000) * 1000}},
	};
	if (lab_table(lab, "ns", headings, 4, rows, 2, err) < 0)
		return -1;
	lab_resolution_words(f[0].rtt_p50, f[1].rtt_p50, sizes[1] - sizes[0], words, sizeof words);
	lab_say(lab, "%s", words);
	lab_say(lab, "What is smaller than one step of a display cannot be seen through it, however many requests are "
		     "averaged into its columns.");
	return 0;
}
