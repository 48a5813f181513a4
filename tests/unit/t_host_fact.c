/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU lists and masks in all their spellings, canonical values, keys, statuses: pure functions. */
#include <errno.h>
#include <stdlib.h>

#include "host/cpus.h"
#include "host/fact.h"
#include "host/keys.h"
#include "tap.h"

static void lists(void)
{
	static const struct {
		const char *text, *want; /* NULL: refused */
		int last;
	} cases[] = {
		{"0-3,8\n", "0-3,8", -1},
		{"", "", -1},
		{"\n", "", -1},
		{"(null)\n", "", -1},
		{"0", "0", -1},
		{"0-31:2", "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30", -1},
		{"0-15:2/8", "0-1,8-9", -1},
		{"4-N", "4-7", 7},
		{"N", "127", 127},
		{"all", "0-7", 7},
		{"4-N", NULL, -1},
		{"all", NULL, -1},
		{"0,1,8,9,16", "0-1,8-9,16", -1},
		{"3,1,2,2", "1-3", -1},
		{"5-2", NULL, -1},
		{"1,", NULL, -1},
		{",1", NULL, -1},
		{"1,,2", NULL, -1},
		{"x", NULL, -1},
		{"0-", NULL, -1},
		{"0-3:0", NULL, -1},
		{"8192", NULL, -1},
		{"99999999999999999999", NULL, -1},
		{"0-3 5", NULL, -1},
		{"(nul", NULL, -1},
		{"8191", "8191", -1},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct host_cpus cpus = {{77}};
		char text[256] = "untouched";
		bool good = host_cpus_of_list(cases[i].text, cases[i].last, &cpus);
		OK(good == (cases[i].want != NULL), "list '%.20s' is %s", cases[i].text,
			cases[i].want ? "taken" : "refused");
		if (good && host_cpus_text(&cpus, text, sizeof text))
			IS_STR(text, cases[i].want, "and means the same CPUs");
		else
			IS_I64(cpus.bits[0], 77, "and leaves the result alone");
	}
}

static void masks(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"3\n", "0-1"},
		{"000c00,f000c00f", "0-3,14-15,28-31,42-43"},
		{"00000c00,f000c00f", "0-3,14-15,28-31,42-43"},
		{"c00,f000c00f\n", "0-3,14-15,28-31,42-43"},
		{"0000,00000000", ""},
		{"0", ""},
		{"00000000,00000000", ""},
		{"ffffffff,ffffffff,ffffffff,ffffffff", "0-127"},
		{"0xff", "0-7"},
		{"1,00000000", "32"},
		{"80000000", "31"},
		{"", NULL},
		{"g", NULL},
		{",1", NULL},
		{"1,", NULL},
		{"1,,1", NULL},
		{"123456789,00000000", NULL},
		{"1 1", NULL},
		{"1,123456789", NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct host_cpus cpus = {{77}};
		char text[256] = "";
		bool good = host_cpus_of_mask(cases[i].text, &cpus);
		OK(good == (cases[i].want != NULL), "mask '%.30s' is %s", cases[i].text,
			cases[i].want ? "taken" : "refused");
		if (good && host_cpus_text(&cpus, text, sizeof text))
			IS_STR(text, cases[i].want, "and means the same CPUs");
		else
			IS_I64(cpus.bits[0], 77, "and leaves the result alone");
	}
}

static void sets(void)
{
	struct host_cpus a, b;
	char text[4];
	OK(host_cpus_of_list("2-5,130", -1, &a) && host_cpus_of_list("2-9,130-131", -1, &b), "two sets");
	OK(host_cpus_subset(&a, &b) && !host_cpus_subset(&b, &a), "subset one way only");
	OK(host_cpus_meet(&a, &b), "they meet");
	IS_I64(host_cpus_count(&b), 10, "count");
	IS_I64(host_cpus_next(&a, 5), 130, "next across words");
	IS_I64(host_cpus_next(&a, 130), -1, "none behind the last");
	OK(!host_cpus_has(&a, -1) && !host_cpus_has(&a, 9000), "CPUs that cannot be are not there");
	OK(!host_cpus_text(&b, text, sizeof text), "a list that does not fit is told");
}

static void values(void)
{
	static const struct {
		enum host_form form;
		const char *raw, *want;
		bool unknown;
	} cases[] = {
		{HOST_TEXT, "  4096\t131072   33554432\n", "4096 131072 33554432", false},
		{HOST_TEXT, "", "", false},
		{HOST_CHOICE, "always [madvise] never\n", "madvise", false},
		{HOST_CHOICE, "[default] performance ", "default", false},
		{HOST_CHOICE, "broken [value", NULL, false},
		{HOST_CHOICE, "madvise", "madvise", false},
		{HOST_NUMBER, "-1\n", "-1", false},
		{HOST_NUMBER, "0x10", "16", false},
		{HOST_NUMBER, "65535", "65535", false},
		{HOST_NUMBER, "12x", NULL, false},
		{HOST_NUMBER, "", NULL, false},
		{HOST_NUMBER, "<unknown>", "unknown", true},
		{HOST_NUMBER, "<unsupported>\n", "unknown", true},
		{HOST_NUMBER, "99999999999999999999999", NULL, false},
		{HOST_SPEED, "-1\n", "unknown", true},
		{HOST_SPEED, "65535", "unknown", true},
		{HOST_SPEED, "4294967295", "unknown", true},
		{HOST_SPEED, "0", "unknown", true},
		{HOST_SPEED, "25000\n", "25000", false},
		{HOST_NODE, "-1", "unknown", true},
		{HOST_NODE, "0", "0", false},
		{HOST_COUNT, "18446744073709551615", "18446744073709551615", false},
		{HOST_COUNT, "-3", NULL, false},
		{HOST_COUNT_U32, "4294967296", NULL, false},
		{HOST_CPU_LIST, "0-1\n", "0-1", false},
		{HOST_CPU_MASK, "0000,00000003", "0-1", false},
		{HOST_TEXT, "a\001b", "a?b", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[64] = "";
		bool unknown, good = host_canonical(cases[i].form, cases[i].raw, text, sizeof text, &unknown);
		OK(good == (cases[i].want != NULL), "'%.24s' is %s", cases[i].raw,
			cases[i].want ? "of its form" : "malformed");
		if (good) {
			IS_STR(text, cases[i].want, "canonical value");
			IS_I64(unknown, cases[i].unknown, "typed unknown or not");
		}
	}
	char narrow[4];
	bool unknown;
	OK(!host_canonical(HOST_TEXT, "12345", narrow, sizeof narrow, &unknown), "what does not fit is malformed");
}

static void statuses(void)
{
	static const struct {
		int failure;
		enum host_status want;
	} cases[] = {{0, HOST_OK}, {ENOENT, HOST_ABSENT}, {EOPNOTSUPP, HOST_UNSUPPORTED}, {EINVAL, HOST_UNSUPPORTED},
		{EACCES, HOST_DENIED}, {EPERM, HOST_DENIED}, {EBUSY, HOST_BUSY}, {EAGAIN, HOST_BUSY},
		{EFBIG, HOST_MALFORMED}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		enum host_status back;
		IS_STR(host_status_name(host_status_of_errno(cases[i].failure)), host_status_name(cases[i].want),
			"errno to status");
		OK(host_status_of(host_status_name(cases[i].want), &back) && back == cases[i].want,
			"and its name back");
	}
}

static void keys(void)
{
	char key[64], instance[64];
	OK(host_key_text("nic[].mtu", "a]b[c", key, sizeof key), "key of an instance with brackets");
	IS_STR(key, "nic[a)b(c].mtu", "brackets within become parentheses");
	host_key_instance("irq[0000:00:03.0#1 x.0].affinity", instance, sizeof instance);
	IS_STR(instance, "0000:00:03.0#1 x.0", "instance out of a key");
	const struct host_key *row = host_key_of("nic[0000:3b:00.0].coalesce.rx_usecs");
	IS_STR(row ? row->name : NULL, "nic[].coalesce.rx_usecs", "a row of its own goes before an open-ended one");
	row = host_key_of("nic[0000:3b:00.0].coalesce.tx_usecs");
	IS_STR(row ? row->name : NULL, "nic[].coalesce.*", "open-ended row");
	OK(host_key_of("no.such.key") == NULL && host_key_of("nic[x") == NULL, "what is no key has no row");
	OK(host_glob("nic[*].rx_*", "nic[0000:3b:00.0].rx_dropped") && !host_glob("nic[*].rx_*", "nic[a].tx"), "globs");
	OK(host_glob("*", "") && host_glob("a?c", "abc") && !host_glob("a?c", "ac") && host_glob("**b", "aab"),
		"more globs");
	size_t bare = 0, twice = 0;
	for (size_t i = 0; i < host_key_count(); i++) {
		bare += !host_key_at(i)->meaning[0];
		for (size_t j = 0; j < i; j++)
			twice += strcmp(host_key_at(i)->name, host_key_at(j)->name) == 0;
	}
	IS_I64(bare, 0, "every row says what it means");
	IS_I64(twice, 0, "no row stands twice");
	OK(host_key_count() > 250, "the table has %zu rows", host_key_count());
}

int main(void)
{
	lists();
	masks();
	sets();
	values();
	statuses();
	keys();
	return tap_done();
}
