/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Causes and evidence in a recording: written, read back, and added to a file of format 1. */
#include "recording_data.h"

static const struct tare_cause written[] = {
	{.sequence = 17,
		.word = TARE_WORD_PREEMPTED,
		.excess_ns = 1548000,
		.explained_ns = 1539000,
		.cpu = 25,
		.cpu_after = 25,
		.pid = 812,
		.comm = "backup-agent",
		.peer = true},
	{.sequence = 40,
		.target = 1,
		.word = TARE_WORD_LOST,
		.excess_ns = TARE_NO_TIME,
		.cpu = TARE_NO_CPU,
		.cpu_after = TARE_NO_CPU,
		.pid = -1,
		.injected = true},
	{.sequence = 3,
		.control = true,
		.weak = true,
		.word = TARE_WORD_SOFTIRQ,
		.detail = 3,
		.cpu = 0,
		.cpu_after = 0,
		.pid = -1},
};
static const struct tare_evidence seen[] = {
	{.from_ns = 1000,
		.to_ns = 2000,
		.kind = TARE_EVIDENCE_OFF,
		.flags = TARE_EVIDENCE_PREEMPTED,
		.cpu = 3,
		.cpu_after = 4,
		.pid = -1,
		.sequence = -1},
	{.to_ns = 777,
		.kind = TARE_EVIDENCE_PEER,
		.detail = TARE_WORD_STOPPED,
		.cpu = TARE_NO_CPU,
		.cpu_after = 1,
		.pid = 9,
		.comm = "0123456789abcde",
		.target = 1,
		.sequence = 40},
};

static const struct tare_share shared[] = {
	{.cpu = 3, .of = TARE_SHARE_OF_SENDER, .kind = TARE_SHARE_TASK, .name = "stress-ng", .ns = 920000000, .times = 40},
	{.cpu = 3, .of = TARE_SHARE_OF_SENDER | TARE_SHARE_OF_RESPONDER, .kind = TARE_SHARE_INTERRUPT, .name = "LOC",
		.ns = TARE_NO_TIME, .times = 1000},
	{.cpu = 0, .kind = TARE_SHARE_STEAL, .ns = 10000000},
};

static bool same_share(const struct tare_share *a, const struct tare_share *b)
{
	return a->cpu == b->cpu && a->of == b->of && a->kind == b->kind && strcmp(a->name, b->name) == 0 && a->ns == b->ns &&
	       a->times == b->times;
}

static void copy(const char *from, const char *to)
{
	char buffer[65536];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t got;
	while (in && out && (got = fread(buffer, 1, sizeof buffer, in)) > 0)
		fwrite(buffer, 1, got, out);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

static int64_t first_round(const struct tare_recording *recording)
{
	const struct tare_run *runs;
	if (tare_recording_runs(recording, &runs) == 0)
		return 0;
	const struct tare_round *round = tare_recording_round(recording, runs[0].id, 0);
	return round ? round->id : 0;
}

/* Member by member: what lies between them is nobody's. */
static bool same_cause(const struct tare_cause *a, const struct tare_cause *b)
{
	return a->target == b->target && a->sequence == b->sequence && a->control == b->control && a->peer == b->peer &&
	       a->injected == b->injected && a->weak == b->weak && a->word == b->word && a->excess_ns == b->excess_ns &&
	       a->explained_ns == b->explained_ns && a->cpu == b->cpu && a->cpu_after == b->cpu_after &&
	       a->pid == b->pid && a->detail == b->detail && strcmp(a->comm, b->comm) == 0;
}

static bool same_evidence(const struct tare_evidence *a, const struct tare_evidence *b)
{
	return a->from_ns == b->from_ns && a->to_ns == b->to_ns && a->kind == b->kind && a->flags == b->flags &&
	       a->cpu == b->cpu && a->cpu_after == b->cpu_after && a->pid == b->pid && a->detail == b->detail &&
	       strcmp(a->comm, b->comm) == 0 && a->target == b->target && a->sequence == b->sequence;
}

static void reads_back(const char *path, int64_t round)
{
	struct tare_err err = {0};
	struct tare_recording *recording = NULL;
	const struct tare_cause *causes;
	const struct tare_evidence *evidence;
	size_t count = 0, pieces = 0;
	MUST(tare_recording_open(path, false, &recording, &err));
	MUST(tare_recording_causes(recording, round, &causes, &count, &err));
	MUST(tare_recording_evidence(recording, round, &evidence, &pieces, &err));
	IS_I64(count, 3, "three causes");
	IS_I64(pieces, 2, "two pieces of evidence");
	size_t wrong = count != 3 || pieces != 2;
	for (size_t i = 0; i < 3 && count == 3; i++)
		wrong += !same_cause(&causes[i], &written[i]);
	IS_I64(wrong, 0, "causes come back as they were");
	for (size_t i = 0; i < 2 && pieces == 2; i++)
		wrong += !same_evidence(&evidence[i], &seen[i]);
	IS_I64(wrong, 0, "and evidence");
	MUST(tare_recording_causes(recording, round + 1, &causes, &count, &err));
	IS_I64(count, 0, "another round has none");
	const struct tare_share *shares;
	MUST(tare_recording_shares(recording, round, &shares, &count, &err));
	IS_I64(count, 3, "three shares of CPUs");
	for (size_t i = 0; i < 3 && count == 3; i++)
		OK(same_share(&shares[i], &shared[i]), "share %zu comes back as it was", i + 1);
	tare_recording_free(recording);
}

int main(void)
{
	struct tare_err err = {0};
	struct tare_recording *recording = NULL;
	struct tare_writer *writer = NULL;
	const struct tare_cause *causes;
	size_t count = 1;
	char fixture[512], path[] = "/tmp/tare-causes-XXXXXX";
	const char *data = getenv("TARE_TEST_DATA");
	int fd = mkstemp(path);
	snprintf(fixture, sizeof fixture, "%s/recording-v1.tare", data ? data : "tests/data");
	copy(fixture, path);
	MUST(tare_recording_open(path, false, &recording, &err));
	int64_t round = first_round(recording);
	MUST(tare_recording_causes(recording, round, &causes, &count, &err));
	IS_I64(count, 0, "a recording of format 1 opens and has no causes");
	tare_recording_free(recording);

	MUST(tare_writer_open(path, TARE_APPEND, &writer, &err));
	MUST(tare_writer_causes(writer, round, written, 3, seen, 2, &err));
	MUST(tare_writer_shares(writer, round, shared, 3, &err));
	MUST(tare_writer_close(&writer, &err));
	reads_back(path, round);
	/* once more: it has format 2 by now */
	MUST(tare_writer_open(path, TARE_APPEND, &writer, &err));
	MUST(tare_writer_close(&writer, &err));
	reads_back(path, round);
	copy(fixture, path);
	IS_I64(tare_writer_open(path, TARE_RESUME, &writer, &err), -1, "a finished recording is not resumed");
	close(fd);
	unlink(path);
	return tap_done();
}
