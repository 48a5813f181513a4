/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children, rounds and figures of the re-enactments. */
#include "cli/lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "clock/cpu.h"
#include "echo/echo.h"
#include "report/report.h"

static uint16_t free_port(void)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof name;
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) != 0 ||
		getsockname(fd, (struct sockaddr *)&name, &length) != 0)
		return 8620;
	return ntohs(name.sin_port);
}

/* In a child: ends with its parent, and on SIGTERM as by default. */
static void settle_child(pid_t parent)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

static void serve(const char *url, int cpu, bool spin, const char *inject, int ready)
{
	const char *urls[] = {url};
	struct echo_config config = {.urls = urls,
		.url_count = 1,
		.cpus = &cpu,
		.cpu_count = cpu >= 0 ? 1 : 0,
		.spin = spin,
		.inject = inject};
	struct echo *echo = NULL;
	struct tare_err err = {0};
	char well = echo_open(&config, &echo, &err) == 0 && echo_start(echo, &err) == 0;
	if (write(ready, &well, 1) != 1 || !well)
		_exit(1);
	for (;;)
		pause();
}

pid_t lab_echo(
	const struct lab *lab, int cpu, bool spin, const char *inject, char *ret_url, size_t room, struct tare_err *err)
{
	int ends[2];
	char well = 0;
	pid_t parent = getpid();
	(void)lab;
	snprintf(ret_url, room, "stamp://127.0.0.1:%u", free_port());
	if (pipe(ends) != 0)
		return tare_fail_errno(err, errno, "cannot start a responder");
	pid_t child = fork();
	if (child == 0) {
		settle_child(parent);
		serve(ret_url, cpu, spin, inject, ends[1]);
	}
	close(ends[1]);
	ssize_t got = child < 0 ? -1 : read(ends[0], &well, 1);
	close(ends[0]);
	if (got == 1 && well)
		return child;
	lab_end(child);
	return tare_fail(err, TARE_E_SYSTEM, "cannot start a responder on %s", ret_url);
}

pid_t lab_load(enum load_kind kind, int cpu, int cpu_other, struct tare_err *err)
{
	pid_t parent = getpid(), child = fork();
	if (child < 0)
		return tare_fail_errno(err, errno, "cannot start a load");
	if (child > 0) {
		usleep(100000);
		return child;
	}
	settle_child(parent);
	int cpus[] = {cpu, cpu_other};
	struct load_plan plan = {.kind = kind, .cpus = cpus, .cpu_count = 2, .interval_ns = 100000};
	if (kind != LOAD_TCP)
		plan.cpu_count = 1;
	struct load_result result;
	atomic_bool never = false;
	_exit(load_run(&plan, &never, &result, NULL) < 0);
}

void lab_end(pid_t child)
{
	if (child <= 0)
		return;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* ---- rounds ---- */

uint64_t lab_count(const struct lab *lab, uint64_t count)
{
	uint64_t scaled = (uint64_t)((double)count * lab->scale);
	return scaled > 20 ? scaled : 20;
}

struct session_config lab_config(const struct lab *lab, const char *const *urls, size_t count, uint64_t requests,
	int64_t every_ns, int cpu, bool spin)
{
	return (struct session_config){
		.urls = urls,
		.url_count = count,
		.family = AF_INET,
		.every_ns = every_ns,
		.timeout_ns = 200000000,
		/* else a tick of the kernel would meet all requests of a round, or none */
		.jitter_ns = every_ns / 10,
		.count = lab_count(lab, requests),
		.rounds = 1,
		.warmup = 2,
		.stamps = PROBE_STAMPS_KERNEL,
		.cpu = cpu,
		.spin = spin,
		.why = SESSION_WHY_OFF,
		.no_facts = true,
		.tool = cli_version(),
	};
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* Nearest rank; values sorted. */
static double rank_of(const double *values, size_t n, double share)
{
	if (n == 0)
		return NAN;
	size_t rank = (size_t)ceil(share * (double)n);
	return values[rank ? rank - 1 : 0];
}

static double mean_of(const double *values, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return n ? sum / (double)n : NAN;
}

/* Values of a span behind the warm-up, sorted; where `peer_cpu` is not -1 only those answered there. */
static size_t values_of(const struct tare_record *record, enum tare_span span, int peer_cpu, double *ret_values)
{
	const struct tare_series *series = &record->series;
	const int16_t *cpus = series->cpu[TARE_CPU_PEER_RX];
	size_t n = 0;
	for (size_t i = record->round->warmup; i < series->count; i++) {
		int64_t ns = tare_span_of(series, span, i);
		if (ns != TARE_NO_TIME && (peer_cpu < 0 || (cpus && cpus[i] == peer_cpu)))
			ret_values[n++] = (double)ns;
	}
	qsort(ret_values, n, sizeof *ret_values, by_value);
	return n;
}

static void peer_cpus(const struct tare_record *record, struct lab_figures *figures, double *values)
{
	const int16_t *cpus = record->series.cpu[TARE_CPU_PEER_RX];
	uint64_t seen[1024] = {0};
	figures->peer_cpu[0] = figures->peer_cpu[1] = -1;
	for (size_t i = 0; cpus && i < record->series.count; i++)
		if (cpus[i] >= 0 && cpus[i] < 1024)
			seen[cpus[i]]++;
	for (int place = 0; place < 2; place++) {
		int most = -1;
		for (int cpu = 0; cpu < 1024; cpu++)
			if (seen[cpu] && (most < 0 || seen[cpu] > seen[most]))
				most = cpu;
		if (most < 0)
			break;
		seen[most] = 0;
		size_t n = values_of(record, TARE_SPAN_RTT, most, values);
		figures->peer_cpu[place] = most;
		figures->by_cpu_n[place] = n;
		figures->by_cpu_p50[place] = rank_of(values, n, 0.5);
	}
}

static void take_figures(const struct tare_record *record, struct lab_figures *figures)
{
	const struct tare_series *series = &record->series;
	AUTO_FREE double *values = calloc(series->count + 1, sizeof *values);
	struct tare_fates fates = tare_fates_of(series);
	*figures = (struct lab_figures){
		.sent = fates.sent, .answered = fates.count[TARE_ANSWERED] + fates.count[TARE_OVERDUE]};
	if (!values)
		return;
	peer_cpus(record, figures, values);
	size_t n = values_of(record, TARE_SPAN_LATE, -1, values);
	figures->late_mean = mean_of(values, n);
	figures->late_p50 = rank_of(values, n, 0.5);
	n = values_of(record, TARE_SPAN_RESPONSE, -1, values);
	figures->response_p50 = rank_of(values, n, 0.5);
	n = values_of(record, TARE_SPAN_RTT, -1, values);
	figures->n = n;
	figures->rtt_min = rank_of(values, n, 0);
	figures->rtt_p50 = rank_of(values, n, 0.5);
	figures->rtt_p99 = rank_of(values, n, 0.99);
	figures->rtt_p999 = rank_of(values, n, 0.999);
	figures->rtt_max = n ? values[n - 1] : NAN;
	figures->rtt_mean = mean_of(values, n);
	for (size_t i = 0; i < n; i++)
		figures->stalls += values[i] > 10 * figures->rtt_p50;
	int64_t first = tare_span_of(series, TARE_SPAN_RTT, 0), second = tare_span_of(series, TARE_SPAN_RTT, 1);
	figures->first = first == TARE_NO_TIME ? NAN : (double)first;
	figures->second = second == TARE_NO_TIME ? NAN : (double)second;
	figures->first_is_slowest = figures->first > figures->rtt_max && !(figures->second > figures->first);
}

struct collector {
	struct lab_figures *figures;
	size_t targets;
};

static int collect(void *context, const struct tare_record *records, size_t count, struct tare_err *err)
{
	struct collector *collector = context;
	(void)err;
	for (size_t i = 0; i < count && i < collector->targets; i++)
		take_figures(&records[i], &collector->figures[i]);
	return 0;
}

int lab_run(const struct lab *lab, const struct session_config *config, struct lab_figures *ret_figures, size_t targets,
	struct tare_err *err)
{
	struct session *session = NULL;
	struct collector collector = {ret_figures, targets};
	struct session_events events = {.round = collect, .context = &collector};
	enum session_ending end = SESSION_COMPLETE;
	(void)lab;
	if (session_open(config, &session, err) < 0)
		return -1;
	int status = session_run(session, &events, &end, err);
	session_free(session);
	if (status == 0 && end == SESSION_INTERRUPTED)
		return tare_fail(err, TARE_E_INVALID, "interrupted");
	return status;
}

/* ---- tables and words ---- */

static struct cell get_what(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(((const struct lab_row *)record)->what);
}

static struct cell get_value(const void *record, const struct column *column)
{
	double value = ((const struct lab_row *)record)->value[column->index];
	if (!isfinite(value))
		return cell_absent(CELL_NOT_MEASURED);
	return column->unit == UNIT_NS ? cell_integer((int64_t)llround(value)) : cell_count((uint64_t)value);
}

int lab_table(const struct lab *lab, const char *unit, const struct lab_heading *headings, size_t columns,
	const struct lab_row *rows, size_t count, struct tare_err *err)
{
	struct column table[LAB_VALUES + 1] = {{.name = "what", .heading = "what", .is_text = true, .get = get_what}};
	for (size_t i = 0; i < columns && i < LAB_VALUES; i++)
		table[i + 1] = (struct column){.name = headings[i].text,
			.heading = headings[i].text,
			.unit = headings[i].is_count ? UNIT_NONE : UNIT_NS,
			.get = get_value,
			.index = i};
	struct report report = {.out = lab->cli->out,
		.columns = table,
		.column_count = columns + 1,
		.width = lab->cli->columns,
		.scale = scale_for(strcmp(unit, "ns") == 0 ? 1 : 1000, 1),
		.corner = unit};
	return report_table(&report, &format_text, NULL, NULL, rows, count, sizeof *rows, err);
}

void lab_say(const struct lab *lab, const char *format, ...)
{
	char line[1024];
	struct text text = TEXT_IN(line);
	va_list args;
	va_start(args, format);
	text_add_list(&text, format, args);
	va_end(args);
	report_sentence(lab->cli->out, lab->cli->columns > 0 ? lab->cli->columns : 100, "%s", line);
}
