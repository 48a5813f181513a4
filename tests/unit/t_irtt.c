/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * irtt's JSON of 0.9.1 and 0.9.2 by its source (client.go, recorder.go, irtt_client.go): slots on its grid, answers that
 * overtook each other, round trips that cannot be; and the text of -r.
 */
#include "log_read.h"

enum { ROOM = 65536 };
static char text[ROOM];
static size_t used;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	used += (size_t)vsnprintf(text + used, ROOM - used, format, args);
	va_end(args);
}

/* Start at 1000 ns, an interval of 10 µs. */
static void begin(void)
{
	used = 0;
	add("{\"version\":{\"irtt\":\"0.9.1\",\"protocol\":1,\"json_format\":1},\"config\":{\"remote_address\":\"h:2112\",\"params\":"
	    "{\"interval\":10000,\"length\":60,\"stamp_at\":\"both\"}},\"stats\":{\"start_time\":{\"wall\":1,\"monotonic\":1000}},"
	    "\"round_trips\":[");
}

static void add_trip(int seq, int64_t sent_ns, int64_t received_ns)
{
	add("%s{\"seqno\":%d,\"lost\":\"%s\",\"timestamps\":{\"client\":{\"send\":{\"wall\":1,\"monotonic\":%lld}", seq ? "," : "", seq,
		received_ns ? "false" : "true", (long long)sent_ns);
	if (received_ns)
		add(",\"receive\":{\"wall\":2,\"monotonic\":%lld}", (long long)received_ns);
	add("}},\"delay\":{\"rtt\":%lld}}", (long long)(received_ns - sent_ns));
}

static struct log_read *finish(bool lenient)
{
	add("]}");
	return log_text(text, (struct import_rules){.lenient = lenient});
}

static void test_slots(void)
{
	begin();
	add_trip(0, 1000, 1500);
	add_trip(1, 11040, 11500);  /* 40 ns late */
	add_trip(2, 28000, 28500);  /* 7 of 10 µs late: irtt passes over the slot behind it */
	add_trip(3, 40900, 41500);  /* 100 ns early */
	add_trip(4, 51000, 0);
	struct log_read *log = finish(false);
	struct log_record *record = &log->record[0];
	OK(log->result == 0, "read: %s", log->err.text);
	IS_I64(record->count, 6, "five trips in six slots");
	IS_I64(record->value_ns[TARE_SPAN_LATE][1], 40, "late by 40 ns");
	IS_I64(record->value_ns[TARE_SPAN_LATE][2], 7000, "late by more than half an interval: not early for the next");
	IS_I64(record->fate[3], TARE_NOT_SENT, "whose slot was passed over");
	IS_I64(record->value_ns[TARE_SPAN_LATE][4], -100, "a timer that woke early");
	IS_I64(record->fate[5], TARE_LOST, "lost");
	free(log);
	begin();
	add_trip(0, 1000, 9000);
	add_trip(1, 11000, 30000);
	add_trip(2, 21000, 22000);
	add_trip(3, 31000, 32000);
	log = finish(false);
	IS_I64(log->record[0].beside.reordered, 1, "an answer that came behind a later one");
	free(log);
}

static void test_bad(void)
{
	static const struct {
		const char *trip, *sentence;
	} bad[] = {{"5", "'log': round_trips[1] is no object"}, {"{\"seqno\":1,\"lost\":\"false\"}", "'log': round_trips[1] has no time of sending"},
		{"{\"seqno\":7,\"timestamps\":{\"client\":{\"send\":{\"monotonic\":5}}}}", "'log': round_trips[1] has another number"},
		{"{\"seqno\":1,\"timestamps\":{\"client\":{\"send\":{\"monotonic\":5},\"receive\":{\"monotonic\":4}}}}",
			"'log': round_trips[1] has its answer before its request"},
		{"{\"seqno\":1,\"timestamps\":{\"client\":{\"send\":{\"monotonic\":1e400},\"receive\":{\"monotonic\":4}}}}", "'log':1:"}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin();
		add_trip(0, 1000, 1500);
		add(",%s", bad[i].trip);
		add_trip(2, 21000, 21500);
		struct log_read *log = finish(false);
		IS_I64(log->result, -1, bad[i].trip);
		SAYS(log->err.text, bad[i].sentence);
		free(log);
		if (i == 4)
			continue;
		used -= 2;
		log = finish(true);
		IS_I64(log->record[0].fates.count[TARE_ANSWERED], 2, "lenient: the others are kept");
		SAYS(log->notes, "1 round trip passed over, the first: round_trips[1]");
		free(log);
	}
}

static void test_raw(void)
{
	struct log_read *log = log_text("[Connecting] connecting to h\n[10.0.0.2:2112] [Connected] connection established\n"
					"0 0.210000 0.100000 0.110000 NaN 0 0\n1 NaN NaN NaN NaN 1 NaN\n2 0.200000 NaN NaN -0.010000 0 1\n",
		(struct import_rules){0});
	IS_STR(log->record[0].format, "irtt-raw", "-r with its events in front");
	IS_I64(log->record[0].count, 3, "three requests");
	IS_I64(log->record[0].beside.duplicate, 1, "dup stands before late");
	IS_I64(log->record[0].beside.reordered, 1, "late");
	free(log);
	static const struct {
		const char *line, *sentence;
	} bad[] = {{"1 -0.2 NaN NaN NaN 0 0\n", "'log':2: a negative round trip"}, {"1 NaN NaN NaN NaN 0 0\n", "'log':2: is not a number"},
		{"1 1e400 NaN NaN NaN 0 0\n", "'log':2: is too large"}, {"99999999 0.1 NaN NaN NaN 0 0\n", "'log':2: a number far ahead"}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		used = 0;
		add("0 0.210000 NaN NaN NaN 0 0\n%s1 0.200000 NaN NaN NaN 0 0\n", bad[i].line);
		log = log_text(text, (struct import_rules){0});
		SAYS(log->err.text, bad[i].sentence);
		free(log);
	}
	log = log_text("0 0.210000 NaN NaN NaN 0 0\r\n1 0.2000", (struct import_rules){0});
	IS_I64(log->record[0].count, 1, "cut off in mid-line");
	SAYS(log->notes, "the last line is cut off");
	free(log);
}

int main(void)
{
	test_slots();
	test_bad();
	test_raw();
	return tap_done();
}
