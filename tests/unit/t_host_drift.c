/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files, approval, policies and drift. */
#include <sys/stat.h>
#include <unistd.h>

#include "host/store.h"
#include "host_facts.h"

static char folder[] = "/tmp/tare-drift.XXXXXX";

static enum host_change change_of(const struct host_differences *all, const char *key)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->row[i].key, key) == 0)
			return all->row[i].change;
	return HOST_SAME;
}

static void drift(void)
{
	struct host_snapshot *was = MADE(10, "b", {"vm.swappiness", "60", HOST_OK}, {"cpu.isolated", "2-3", HOST_OK},
		{"cpu.boost", NULL, HOST_ABSENT}, {"cpu.governor", "performance", HOST_OK},
		{"vm.thp", "never", HOST_OK}, {"vm.ksm", NULL, HOST_DENIED}, {"load.average", "0.1", HOST_OK},
		{"kernel.tainted", NULL, HOST_DENIED}, {"clock.source", "tsc", HOST_OK},
		{"cpu.present", "0-3", HOST_OK});
	struct host_snapshot *is = MADE(20, "b", {"vm.swappiness", "10", HOST_OK}, {"cpu.isolated", "2-3", HOST_OK},
		{"cpu.boost", "1", HOST_OK}, {"cpu.governor", NULL, HOST_ABSENT}, {"vm.thp", NULL, HOST_DENIED},
		{"vm.ksm", "0", HOST_OK}, {"load.average", "9.0", HOST_OK}, {"kernel.tainted", NULL, HOST_DENIED},
		{"clock.source", NULL, HOST_BUSY}, {"net.core.busy_read", "0", HOST_OK});
	struct host_differences all;
	struct tare_err err;
	OK(host_difference_of(was, is, NULL, &all, &err) == 0, "compared");
	IS_STR(host_change_name(change_of(&all, "vm.swappiness")), "changed", "another value");
	IS_STR(host_change_name(change_of(&all, "cpu.isolated")), "same", "the same value");
	IS_STR(host_change_name(change_of(&all, "cpu.boost")), "appeared", "absent, then there");
	IS_STR(host_change_name(change_of(&all, "cpu.governor")), "vanished", "there, then absent");
	IS_STR(host_change_name(change_of(&all, "cpu.present")), "vanished", "there, then not listed");
	IS_STR(host_change_name(change_of(&all, "vm.thp")), "unreadable", "readable, then denied is never the same");
	IS_STR(host_change_name(change_of(&all, "vm.ksm")), "unreadable", "denied, then readable is no drift either");
	IS_STR(host_change_name(change_of(&all, "kernel.tainted")), "unreadable", "denied both times");
	IS_STR(host_change_name(change_of(&all, "clock.source")), "unreadable", "busy now");
	IS_STR(host_change_name(change_of(&all, "load.average")), "same", "a state is not compared");
	IS_STR(host_change_name(change_of(&all, "net.core.busy_read")), "appeared",
		"listed only now, by a table that knew it then");
	IS_I64(all.unreadable, 4, "unreadable ones counted");
	host_differences_free(&all);
	was->header.revision = 0;
	OK(host_difference_of(was, is, NULL, &all, &err) == 0, "compared with a snapshot of an older table");
	IS_STR(host_change_name(change_of(&all, "net.core.busy_read")), "new capability",
		"what the older tool could not know");
	host_differences_free(&all);
	host_snapshot_free(was);
	host_snapshot_free(is);
}

static void ways(void)
{
	struct host_snapshot *was = MADE(1, "b", {"nic[x].coalesce.rx_usecs", "0", HOST_OK});
	struct host_snapshot *is = MADE(2, "b", {"nic[x].coalesce.rx_usecs", "0", HOST_OK});
	struct host_differences all;
	struct tare_err err;
	was->facts[0].via = HOST_VIA_NETLINK;
	is->facts[0].via = HOST_VIA_IOCTL;
	OK(host_difference_of(was, is, NULL, &all, &err) == 0 && all.unreadable == 1,
		"zero by netlink and zero by ioctl are not the same");
	host_differences_free(&all);
	host_snapshot_free(was);
	host_snapshot_free(is);
}

static void policies(void)
{
	static const char text[] = "# comment\n"
				   "vm.*                 ignore\n"
				   "vm.swappiness        range 0..10\n"
				   "cpu.isolated         subset 2-7\r\n"
				   "net.core.busy_read   in 0 50\n"
				   "cpu.boost            absent\n"
				   "kernel.tainted       exact 0\n"
				   "irq[0000:00:03.0#1 eth0].affinity  subset 0-1\n"
				   "nic[*].rx_dropped    max-delta 100/day";
	static const struct {
		const char *key, *value, *want;
	} cases[] = {
		{"vm.swappiness", "10", "same"},
		{"vm.swappiness", "11", "changed"},
		{"vm.swappiness", "x", "changed"},
		{"vm.ksm", "7", "same"},
		{"cpu.isolated", "2,5", "same"},
		{"cpu.isolated", "1-2", "changed"},
		{"net.core.busy_read", "50", "same"},
		{"net.core.busy_read", "5", "changed"},
		{"cpu.boost", "1", "changed"},
		{"kernel.tainted", "4096", "changed"},
		{"kernel.tainted", "0", "same"},
		{"irq[0000:00:03.0#1 eth0].affinity", "0-2", "changed"},
		{"irq[0000:00:03.0#1 eth0].affinity", "1", "same"},
	};
	struct host_policy *policy = NULL;
	struct tare_err err;
	OK(host_policy_parse(text, "p", &policy, &err) == 0, "policy read");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct host_snapshot *was = MADE(1, "b", {cases[i].key, "approved", HOST_OK});
		struct host_snapshot *is = MADE(2, "b", {cases[i].key, cases[i].value, HOST_OK});
		struct host_differences all;
		OK(host_difference_of(was, is, policy, &all, &err) == 0, "compared under the policy");
		IS_STR(host_change_name(change_of(&all, cases[i].key)), cases[i].want, cases[i].key);
		host_differences_free(&all);
		host_snapshot_free(was);
		host_snapshot_free(is);
	}
	const struct host_rule *rule = host_policy_rule(policy, "nic[0000:3b:00.0].rx_dropped");
	OK(rule && rule->kind == HOST_RULE_MAX_DELTA && rule->most == 100, "max-delta of a NIC");
	host_policy_free(policy);
	static const struct {
		const char *text, *says;
	} bad[] = {{"a rnage 0..1", "did you mean 'range'"}, {"a range 5..1", "LEAST..MOST"},
		{"a subset x", "list of CPUs"}, {"a", "is no rule"}, {"a in", "needs values"},
		{"a ignore 1", "takes nothing"}, {"\n\na max-delta -1", "p:3"}};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		policy = NULL;
		OK(host_policy_parse(bad[i].text, "p", &policy, &err) < 0 && !policy && strstr(err.text, bad[i].says),
			"refused: %s", err.text);
	}
}

static void files(void)
{
	char path[256];
	struct tare_err err;
	struct host_snapshot *back = NULL,
			     *is = MADE(5, "b", {"vm.swappiness", "60", HOST_OK}, {"cpu.boost", NULL, HOST_ABSENT},
				     {"nic[a].name", "\xff\xfe", HOST_OK}, {"softnet.dropped", "0=1 3=2", HOST_OK});
	snprintf(path, sizeof path, "%s/one.jsonl", folder);
	/* what is no UTF-8 cannot be kept as it is; its hash is that of the printed form */
	is->facts[1].value = "eth0";
	OK(host_snapshot_finish(is, &err) == 0 && host_snapshot_save(is, path, 0644, &err) == 0, "saved");
	OK(host_snapshot_load(path, &back, &err) == 0, "loaded");
	IS_I64(back->count, 4, "all facts");
	IS_STR(back->header.hash, is->header.hash, "the same hash");
	IS_STR(host_value(back, "softnet.dropped"), "0=1 3=2", "a value");
	const struct host_fact *absent = host_find(back, "cpu.boost");
	OK(absent && absent->status == HOST_ABSENT && absent->row, "a status, with its row of the table");
	host_snapshot_free(back);
	char text[8192] = "";
	FILE *file = fopen(path, "r+");
	size_t used = file ? fread(text, 1, sizeof text - 1, file) : 0;
	char *value = strstr(text, "\"60\"");
	OK(used > 0 && value != NULL, "its text");
	value[1] = '7';
	back = NULL;
	OK(host_snapshot_parse(text, "edited", &back, &err) < 0 && strstr(err.text, "changed after it was written"),
		"an edited snapshot is refused: %s", err.text);
	fclose(file);
	static const struct {
		const char *text, *says;
	} bad[] = {{"", "empty"}, {"{}\n", "schema"}, {"x", "no JSON object"},
		{"{\"schema\":\"tare.host/9\"}", "newer tare"}, {"{\"schema\":\"tare.host/1\"}", "no hash"},
		{"[1]", "no JSON object"}};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		snprintf(text, sizeof text, "%s", bad[i].text);
		OK(host_snapshot_parse(text, "bad", &back, &err) < 0 && strstr(err.text, bad[i].says), "refused: %s",
			err.text);
	}
	host_snapshot_free(is);
}

static void approval(void)
{
	struct host_store store;
	struct tare_err err;
	struct host_snapshot *back = NULL, *is = MADE(5, "b", {"vm.swappiness", "60", HOST_OK});
	char role[80] = "";
	OK(host_store_open(folder, true, &store, &err) == 0, "state folder");
	IS_I64(host_store_last(&store, &back, &err), 0, "no inspection yet");
	OK(host_store_keep(&store, is, &err) == 0 && host_store_last(&store, &back, &err) == 1, "kept and read back");
	host_snapshot_free(back);
	char one[256];
	snprintf(one, sizeof one, "%s/one.jsonl", folder);
	unlink(one);
	IS_I64(host_store_only_role(&store, role, sizeof role, &err), 0, "nothing approved");
	OK(host_store_approved(&store, "md", &back, &err) < 0 && strstr(err.text, "nothing was approved"),
		"says so: %s", err.text);
	OK(host_store_approve(&store, "md", is, "mk", "first set-up", &err) == 0, "approved");
	OK(host_store_approve(&store, "md", is, "mk", "second", &err) == 0, "approved again");
	OK(host_store_approved(&store, "md", &back, &err) == 0, "read back");
	IS_STR(back->header.why, "second", "why");
	IS_STR(back->header.by, "mk", "who");
	OK(back->header.approved_ns > 0, "when");
	host_snapshot_free(back);
	IS_I64(host_store_only_role(&store, role, sizeof role, &err), 1, "one role, the earlier approval is no other");
	IS_STR(role, "md", "its name");
	char path[256];
	snprintf(path, sizeof path, "%s/md.jsonl", folder);
	struct stat about;
	OK(stat(path, &about) == 0 && (about.st_mode & 0777) == 0444, "nobody writes to it");
	OK(host_store_approve(&store, "../x", is, "mk", "", &err) < 0, "a name cannot lead elsewhere: %s", err.text);
	OK(host_store_approve(&store, "last", is, "mk", "", &err) < 0, "nor be that of the last inspection");
	struct host_policy *policy = NULL;
	OK(host_store_policy(&store, "md", &policy, &err) == 0 && !host_policy_rule(policy, "vm.swappiness"),
		"no policy file");
	host_policy_free(policy);
	host_snapshot_free(is);
}

static void since(void)
{
	struct host_store store;
	struct tare_err err;
	struct host_differences all;
	struct host_snapshot *was = MADE(1, "b", {"vm.swappiness", "60", HOST_OK}, {"vm.ksm", "0", HOST_OK});
	struct host_snapshot *is = MADE(2, "b", {"vm.swappiness", "10", HOST_OK}, {"vm.ksm", "0", HOST_OK});
	OK(host_store_open(folder, true, &store, &err) == 0, "state folder");
	for (int i = 1; i <= 3; i++) {
		OK(host_difference_of(was, is, NULL, &all, &err) == 0 && all.count == 1, "one difference");
		OK(host_store_since(&store, "md", &all, i * 1000, true, &err) == 0, "noted");
		IS_I64(all.row[0].matched_ns, 1000, "it matched last before it was first seen");
		host_differences_free(&all);
	}
	OK(host_difference_of(was, was, NULL, &all, &err) == 0 &&
			host_store_since(&store, "md", &all, 9000, true, &err) == 0,
		"it matches again");
	host_differences_free(&all);
	OK(host_difference_of(was, is, NULL, &all, &err) == 0 &&
			host_store_since(&store, "md", &all, 10000, false, &err) == 0,
		"it differs again");
	IS_I64(all.row[0].matched_ns, 10000, "and the memory of the first time is gone");
	host_differences_free(&all);
	host_snapshot_free(was);
	host_snapshot_free(is);
}

static void hashes(void)
{
	struct host_snapshot *a = MADE(1, "b", {"vm.swappiness", "60", HOST_OK}, {"load.average", "1", HOST_OK},
		{"softnet.dropped", "0", HOST_OK});
	struct host_snapshot *b = MADE(9, "c", {"load.average", "5", HOST_OK}, {"vm.swappiness", "60", HOST_OK},
		{"softnet.dropped", "0=4", HOST_OK});
	struct host_snapshot *c = MADE(9, "c", {"vm.swappiness", "61", HOST_OK});
	char vm[HOST_HASH_BYTES], net[HOST_HASH_BYTES], other[HOST_HASH_BYTES];
	struct tare_err err;
	IS_STR(a->header.hash, b->header.hash, "states and counters are not hashed, nor is the order of reading");
	OK(strcmp(a->header.hash, c->header.hash) != 0, "a setting is");
	OK(host_section_hash(a, "vm", vm, &err) == 0 && host_section_hash(c, "vm", other, &err) == 0 &&
			host_section_hash(a, "net", net, &err) == 0 && strcmp(vm, other) != 0 && strcmp(vm, net) != 0,
		"sections have hashes of their own");
	host_snapshot_free(a);
	host_snapshot_free(b);
	host_snapshot_free(c);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	drift();
	ways();
	policies();
	hashes();
	files();
	approval();
	since();
	char command[64];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	OK(system(command) == 0, "tidied up");
	return tap_done();
}
