/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Logs with stamps of both ends: the EC2 tool's CSV files joined, twamp-light, owping and twping packet by packet, and
 * owamp's buckets with the edges that its source gives them.
 */
#include <unistd.h>

#include "log_read.h"

/* A file of these bytes; its path lives until the next call with the same place. */
static char paths[4][128];

static const char *made(int place, const char *text)
{
	const char *folder = getenv("TMPDIR");
	snprintf(paths[place], sizeof(paths[place]), "%.90s/tare-stamps-XXXXXX", folder ? folder : "/tmp");
	int fd = mkstemp(paths[place]);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	OK(file && fputs(text, file) >= 0 && fclose(file) == 0, "a file is written");
	return paths[place];
}

#define CLIENT                                                                                                         \
	"clt_src_ip,clt_src_port,seq_num,clt_app_tx_tsc_ts,clt_app_tx_ts,clt_hw_rx_ts,clt_ker_rx_ts,clt_app_rx_tsc_ts,"   \
	"clt_app_rx_ts\n"
#define CLIENT_TX "clt_src_ip,clt_src_port,seq_num,clt_ker_tx_ts\n"
#define SERVER    "clt_src_ip,clt_src_port,seq_num,svr_hw_rx_ts,svr_ker_rx_ts,svr_app_rx_ts,svr_app_tx_ts\n"
#define SERVER_TX "clt_src_ip,clt_src_port,seq_num,svr_ker_tx_ts\n"
#define ROW(seq)  "10.0.0.1,5000," seq ","

static const char client[] = CLIENT ROW("3") "9.000020000,1700000000.003000000,1700000000.003030000,1700000000.003031000,"
					     "9.000060000,1700000000.003032000\n"
	ROW("1") "9.0,1700000000.001000000,1700000000.001040000,1700000000.001041000,9.1,1700000000.001042000\n"
	ROW("1") "9.0,1700000000.001000000,1700000000.001040000,1700000000.001041000,9.1,1700000000.001042000\n";

static void test_aws_joined(void)
{
	char with[400];
	snprintf(with, sizeof(with), "%s,%s,%s",
		made(0, CLIENT_TX ROW("1") "1700000000.001002000\n" ROW("2") "1700000000.002002000\n" ROW("3") "0.000000000\n"
			ROW("4") "1700000000.004002000\n"),
		made(1, SERVER ROW("1") "1600000000.000000100,1600000000.000001000,1600000000.000003000,1600000000.000004000\n"
			ROW("3") "1600000000.000000100,1600000000.000001000,1600000000.000003000,1600000000.000004000\n"
			ROW("4") "NULL,1600000000.000001000,1600000000.000003000,1600000000.000004000\n"
			"10.0.0.9,77,1,1600000000.0,1600000000.0,1600000000.0,1600000000.0\n"),
		made(2, SERVER_TX ROW("1") "1600000000.000005000\n" ROW("3") "1600000000.000006000\n" ROW("4") "1600000000.000006000\n"));
	struct log_read *log = log_text(client, (struct import_rules){.with = with});
	struct log_record *record = &log->record[0];
	OK(log->result == 0, "four files are joined: %s", log->err.text);
	IS_I64(log->records, 1, "one client");
	IS_STR(record->target, "aws:10.0.0.1:5000", "by address and port");
	IS_I64(record->count, 4, "every packet that some file has");
	IS_I64(record->value_ns[TARE_SPAN_RTT][0], 42000, "in the order of their numbers: rtt");
	IS_I64(record->value_ns[TARE_SPAN_TX][0], 2000, "the client's kernel");
	IS_I64(record->value_ns[TARE_SPAN_RX_NIC][0], 1000, "and card");
	IS_I64(record->value_ns[TARE_SPAN_RESIDENCE][0], 4000, "the server's kernel to its kernel's transmit stamp");
	IS_I64(record->value_ns[TARE_SPAN_PATH][0], 35000, "the way: kernel to kernel less the residence");
	IS_I64(record->value_ns[TARE_SPAN_TX][2], TARE_NO_TIME, "a stamp of 0 did not arrive");
	IS_I64(record->value_ns[TARE_SPAN_FORWARD][0], TARE_NO_TIME, "no way there of two clocks without a bound");
	IS_I64(record->fate[1], TARE_LOST, "2 never came");
	IS_I64(record->fate[3], TARE_LOST, "4 neither");
	IS_I64(record->beside.duplicate, 1, "a repeated row");
	SAYS(log->notes, "2 lost: 1 did not reach the server, 1 did and have no answer, 0 stand in no file");
	SAYS(log->notes, "4 rows (1 of other clients)");
	free(log);
	log = log_text(client, (struct import_rules){.with = with, .capture = {.clock = "1us"}});
	IS_I64(log->record[0].value_ns[TARE_SPAN_FORWARD][0], INT64_C(-100000000) * 1000000000 + 1000 - 1000000,
		"with a bound, whatever the stamps say");
	SAYS(log->notes, "the two clocks are within 1 µs of each other, by your word");
	free(log);
	log = log_text(client, (struct import_rules){.with = made(3, CLIENT_TX ROW("x") "1.0\n")});
	OK(log->result == -1 && strstr(log->err.text, "tare-stamps-") && strstr(log->err.text, ":2: not an address, a port and a number"),
		"a damaged file is named: %s", log->err.text);
	free(log);
	log = log_text(client, (struct import_rules){.with = "/nowhere/server.csv"});
	SAYS(log->err.text, "cannot open '/nowhere/server.csv'");
	free(log);
	log = log_text("1\n2\n", (struct import_rules){.with = "x"});
	SAYS(log->err.text, "--with goes with the CSV files of the EC2 packet timestamping tool");
	free(log);
	for (int i = 0; i < 4; i++)
		unlink(paths[i]);
}

static void test_aws(void)
{
	struct log_read *log = log_as(client, "aws", 1);
	IS_I64(log->record[0].count, 3, "the client's file alone: a number between two is lost");
	SAYS(log->notes, "--with adds the tool's other files");
	IS_I64(log->record[0].row.ranked[P50].value_ns, 32000, "nearest rank: the smaller of two");
	free(log);
	log = log_as(SERVER ROW("1") "1600000000.0,1600000000.000001000,1600000000.000003000,1600000000.000004000\n", "aws", 1);
	IS_I64(log->record[0].origin.quantity, TARE_QUANTITY_RESIDENCE, "the server's file alone: residence");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RESIDENCE][0], 3000, "up to its send");
	free(log);
	log = log_as(CLIENT ROW("1") "9.0,1.0,1.1,1.2,9.1,1.3\n" ROW("2") "9.0,2.0,2.1,2.2,9.1,2", "aws", 1);
	IS_I64(log->record[0].count, 1, "a row that the file ends in is passed over");
	SAYS(log->notes, "the last line is cut off and passed over");
	free(log);
	REFUSES(CLIENT_TX ROW("1") "1.0\n", "holds the kernel's transmit stamps alone");
	REFUSES("clt_src_ip,clt_src_port,seq_num,clt_app_tx_ts\n" ROW("1") "1.0\n", "--with server.csv adds the server's file");
	REFUSES(CLIENT ROW("1") "9.0,1e400,0,0,0,0\n", "'log':2: is too large");
	REFUSES(CLIENT ROW("1") "9.0,nan,0,0,0,0\n", "'log':2: is not a number (NaN)");
	REFUSES(CLIENT ROW("1") "9.0\n", "'log':2: fewer columns than the header");
	REFUSES(CLIENT ROW("4294967296") "9,1,1,1,1,1\n", "'log':2: not an address, a port and a number");
	REFUSES(CLIENT ROW("1") "9,1,1,1,1,1\n" ROW("4294967295") "9,1,1,1,1,1\n", "too many to be losses");
	log = log_text("\xEF\xBB\xBF" CLIENT "x,1\r\n" ROW("1") "9,1.0,1.1,1.2,9,1.3\r\n", (struct import_rules){.lenient = true});
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 300000000, "BOM, CRLF and --lenient");
	SAYS(log->notes, "1 damaged line passed over, the first is line 2");
	free(log);
}

#define RAW                                                                                                            \
	"packet_id,payload_len,client_send_epoch_nanoseconds,server_receive_epoch_nanoseconds,"                          \
	"server_send_epoch_nanoseconds,client_receive_epoch_nanoseconds\n"

static void test_twamp_light(void)
{
	struct log_read *log = log_as(RAW "0,64,1700000000000000000,1700000005000000000,1700000005000000900,1700000000000050000\n"
					  "1,64,1700000000001000000,0,0,0\n",
		"twamp-light", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 50000, "rtt");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RESIDENCE][0], 900, "the server's kernel to its send");
	IS_I64(log->record[0].value_ns[TARE_SPAN_ONE_WAY][0], TARE_NO_TIME, "no one-way of two clocks");
	IS_I64(log->record[0].fate[1], TARE_LOST, "a receive time of 0 is a loss");
	free(log);
	log = log_as("packet_id;payload_len;client_send_epoch_nanoseconds;server_receive_epoch_nanoseconds;"
		     "server_send_epoch_nanoseconds;client_receive_epoch_nanoseconds\n0;64;10;20;30;9007199254740993\n",
		"twamp-light", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], INT64_C(9007199254740983), "another separator, above 2^53");
	free(log);
	log = log_as("Time,IP,Snd#,Rcv#,SndPort,RscPort,Sync,FW_TTL,SW_TTL,SndTOS,FW_TOS,SW_TOS,RTT,IntD,FWD,BWD,PLEN\n"
		     "1700000000000000000,10.0.0.2,0,0,4000,862,N,255,255,0,-,0,0.123456,0.001000,-5.0,5.1,50\n"
		     "1700000000200000000,,1,,,,,,,,-,,,,,,50,\n",
		"twamp-light-legacy", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 123456, "the usual table: ms");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RESIDENCE][0], 1000, "IntD");
	IS_I64(log->record[0].fate[1], TARE_LOST, "a row without RTT");
	free(log);
	REFUSES(RAW "0,64,1700000000000000000,1\n", "'log':2: fewer columns than the header");
}

/* 2024 in NTP seconds is 3913056000 + n; 429497 of a fraction are 100 µs */
static void test_packets(void)
{
	struct log_read *log = log_as("0 16806447547645952000 1 0.001 16806447547646381497 1 0.002 255\n"
				      "0 16806447547645952000 1 0.001 16806447547646381497 1 0.002 255\n"
				      "1 16806447551940919296 1 0.001 00000000000000000000 1 0.000 255\n"
				      "0 16806447547645960000 1 0.001 16806447547646819000 0 0.002 255\n",
		"owping", 2);
	IS_I64(log->record[0].value_ns[TARE_SPAN_ONE_WAY][0], 100000, "owping -R: 32.32 NTP to ns");
	IS_I64(log->record[0].fate[1], TARE_LOST, "RTIME 0 is lost");
	IS_I64(log->record[0].beside.duplicate, 1, "the same send time again is a duplicate");
	IS_I64(log->record[1].value_ns[TARE_SPAN_ONE_WAY][0], 200002, "another one is the way back");
	SAYS(log->notes, "off by up to 3 ms together");
	SAYS(log->notes, "2 sessions one behind the other");
	SAYS(log->notes, "an end of 1 packets said that its clock was not synchronised");
	free(log);
	log = log_as("0 16806447547645952000 1 0.001 16806447547646381497 1 0.001 255 0 16806447547646424447 1 0.001 "
		     "16806447547646853944 1 0.001 255\n",
		"twping", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 210000, "twping -R: rtt");
	IS_I64(log->record[0].value_ns[TARE_SPAN_SERVICE][0], 10000, "the reflector's part");
	free(log);
	REFUSES("0 16806447547645952000 1 0.001 16806447547646381497 1 0.002 255\n"
		"99999999 16806447547645952000 1 0.001 16806447547646381497 1 0.002 255\n",
		"'log':2: a sequence number out of range");
	REFUSES("0 16806447547645952000 1 0.001 16806447547646381497 1 0.002 255\n"
		"1 16806447547645952000 1 0.001 nan 1 0.002 255\n",
		"'log':2: a time that is none");
}

#define HEAD "SUMMARY\t3.00\nFROM_ADDR\t10.0.0.1\nTO_ADDR\t10.0.0.2\nBUCKET_WIDTH\t0.0001\n"

static void test_buckets(void)
{
	struct log_read *log = log_as(HEAD "SENT\t10\nSYNC\t1\nDUPS\t0\nLOST\t1\nMEDIAN\t0.0005\n<BUCKETS>\n\t9\t1\n\t5\t8\n</BUCKETS>\n"
				      "<TTLBUCKETS>\n\t255\t9\n</TTLBUCKETS>\n\n<NREORDERING>\n\t1\t0\n</NREORDERING>\n",
		"owamp-summary", 1);
	IS_STR(log->record[0].target, "owamp:10.0.0.1>10.0.0.2", "whence and where");
	IS_I64(log->record[0].row.n, 9, "what arrived");
	IS_I64(log->record[0].row.lost, 1, "and what was lost");
	IS_RANGE(&log->record[0].row.ranked[P50], 400001, 500000, "bucket 5: above 400 up to 500 µs");
	OK(!strstr(log->notes, "owamp's median"), "no word where it agrees");
	free(log);
	log = log_as(HEAD "SENT\t9\nLOST\t0\nMIN\t-0.00025\nMAX\t0.00012\n<BUCKETS>\n\t-3\t2\n\t-1\t1\n\t0\t2\n\t1\t3\n\t2\t1\n</BUCKETS>\n",
		"owamp-summary", 1);
	IS_RANGE(&log->record[0].row.ranked[P50], 0, 0, "bucket 0 is exactly 0");
	IS_I64(log->record[0].row.min_least_ns, -255001, "the first bucket is narrowed by MIN, as far as its digits go");
	IS_I64(log->record[0].row.max_ns, 125001, "the last by MAX");
	free(log);
	log = log_as(HEAD "SENT\t4\nLOST\t2\nMEDIAN\t0.0009\nMAX\t0.00085\n<BUCKETS>\n\t5\t1\n\t9\t1\n</BUCKETS>\n", "owamp-summary", 1);
	SAYS(log->notes, "owamp's median is 900 µs: the far edge of the bucket of rank ceil(p x sent), here above its own maximum");
	IS_RANGE(&log->record[0].row.ranked[P50], 400001, 500000, "rank 1 of the two that arrived");
	free(log);
	log = log_as(HEAD "SENT\t2\nMAXERR_FWD\t0.1\nLOST\t0\n<BUCKETS>\n\t3\t2\t0\t0\n\t1\t0\t1\t2\n\t2\t0\t1\t0\n</BUCKETS>\n"
		     "SUMMARY\t3.00\nFROM_ADDR\t10.0.0.2\nTO_ADDR\t10.0.0.1\nBUCKET_WIDTH\t0.001\nSENT\t3\nLOST\t3\n",
		"owamp-summary", 4);
	IS_STR(log->record[0].target, "twamp:10.0.0.1>10.0.0.2", "twping: the round trip");
	IS_I64(log->record[0].origin.quantity, TARE_QUANTITY_RTT, "a round trip");
	IS_STR(log->record[1].target, "twamp:10.0.0.1>10.0.0.2:there", "the way there");
	IS_STR(log->record[2].target, "twamp:10.0.0.1>10.0.0.2:back", "the way back");
	IS_RANGE(&log->record[2].row.ranked[P50], 1, 100000, "in the third column");
	IS_I64(log->record[3].row.lost, 3, "where nothing arrived there are no buckets");
	free(log);
	REFUSES("SUMMARY\t3.00\nSENT\t2\n<BUCKETS>\n\t3\t2\n</BUCKETS>\n", "'log':4: a bucket without a width or out of range");
	REFUSES(HEAD "<BUCKETS>\n\t3\tnan\n</BUCKETS>\n", "'log':6: not a bucket and its count");
}

int main(void)
{
	test_aws();
	test_aws_joined();
	test_twamp_light();
	test_packets();
	test_buckets();
	return tap_done();
}
