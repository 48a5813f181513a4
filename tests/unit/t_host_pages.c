/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of devices: PCI configuration space, memories of transceivers, nftables' rules. */
#include <arpa/inet.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

#include "host/filters.h"
#include "host/module_page.h"
#include "host/pci_config.h"
#include "tap.h"

static void put_word(unsigned char *bytes, size_t at, unsigned value)
{
	bytes[at] = (unsigned char)(value >> 8);
	bytes[at + 1] = (unsigned char)value;
}

static void pci(void)
{
	unsigned char config[256] = {[6] = 0x10, [0x34] = 0x40};
	struct pci_control control = {.payload_bytes = 7};
	IS_I64(pci_config_control(config, 40, &control), PCI_CONFIG_CUT, "less than a header");
	config[0x40] = 0x01; /* power management, then PCI Express at 0xa0 */
	config[0x41] = 0xa0;
	config[0xa0] = 0x10;
	config[0xa8] = 0x30; /* relaxed ordering, payload 256 */
	config[0xa9] = 0x51; /* extended tags, reads of 4096 */
	config[0xb0] = 0x02; /* L1 */
	IS_I64(pci_config_control(config, 64, &control), PCI_CONFIG_CUT, "64 bytes end before the capability");
	IS_I64(control.payload_bytes, 7, "and nothing is written then");
	IS_I64(pci_config_control(config, sizeof config, &control), PCI_CONFIG_OK, "all of it");
	IS_I64(control.payload_bytes, 256, "largest payload");
	IS_I64(control.read_request_bytes, 4096, "largest read");
	OK(control.relaxed_ordering && control.extended_tags && control.l1 && !control.l0s, "bits");
	config[0xa0] = 0x11;
	config[0xa1] = 0x40;
	IS_I64(pci_config_control(config, sizeof config, &control), PCI_CONFIG_NONE, "a list that loops ends");
	config[0xa1] = 0xfc;
	IS_I64(pci_config_control(config, sizeof config, &control), PCI_CONFIG_NONE,
		"and one that runs out of the space");
	config[6] = 0;
	IS_I64(pci_config_control(config, sizeof config, &control), PCI_CONFIG_NONE, "no list");
}

static void sfp(void)
{
	unsigned char page[512] = {[0] = 3, [92] = 0x60};
	struct module_reading module = {.form = NULL};
	memcpy(page + 20, "ACME OPTICS     ", 16);
	memcpy(page + 40, "SFP-10G-SR\0\0\0\0\0\0", 16);
	memcpy(page + 68, "S\001N42           ", 16);
	put_word(page, 256 + 96, 0x2980);  /* 41.5 °C */
	put_word(page, 256 + 98, 33000);   /* 3.3 V */
	put_word(page, 256 + 100, 3000);   /* 6 mA */
	put_word(page, 256 + 102, 5000);   /* 500 µW */
	put_word(page, 256 + 104, 123);    /* 12.3 µW */
	put_word(page, 256 + 112, 0x0040); /* rx power low */
	put_word(page, 256 + 116, 0x8040); /* temperature high, and rx power low again */
	OK(module_page_read(MODULE_SFP, page, sizeof page, &module), "an SFP+");
	IS_STR(module.vendor, "ACME OPTICS", "maker without padding");
	IS_STR(module.part, "SFP-10G-SR", "part with NUL padding");
	IS_STR(module.serial, "S?N42", "no control characters");
	OK(module.measures && module.lanes == 1, "it measures");
	IS_I64((int64_t)(module.temperature_c * 10), 415, "temperature");
	IS_I64((int64_t)(module.rx_power_uw[0] * 10 + 0.5), 123, "light");
	IS_I64((int64_t)module.bias_ma[0], 6, "bias");
	IS_STR(module.alarms, "temperature high (warning), rx power low", "an alarm's own warning is not said twice");
	put_word(page, 256 + 96, 0xff00);
	OK(module_page_read(MODULE_SFP, page, sizeof page, &module) && module.temperature_c < 0,
		"one degree below zero");
	page[92] = 0x50;
	OK(module_page_read(MODULE_SFP, page, sizeof page, &module) && !module.measures,
		"calibrated by the host: no figures");
	page[92] = 0x60;
	OK(module_page_read(MODULE_SFP, page, 256, &module) && !module.measures, "without its second page: no figures");
	OK(!module_page_read(MODULE_SFP, page, 95, &module), "too short");
	page[0] = 0x0d;
	OK(!module_page_read(MODULE_SFP, page, sizeof page, &module), "another form");
}

static void qsfp(void)
{
	unsigned char page[256] = {[0] = 0x11, [6] = 0x40, [10] = 0x14};
	struct module_reading module = {.form = NULL};
	put_word(page, 22, 0x1900);
	put_word(page, 26, 32000);
	put_word(page, 36, 9000); /* lane 2 receives 900 µW */
	OK(module_page_read(MODULE_QSFP, page, sizeof page, &module), "a QSFP28");
	IS_STR(module.form, "QSFP28", "is called so");
	IS_I64((int64_t)module.rx_power_uw[1], 900, "lane 2");
	IS_STR(module.alarms, "temperature low, rx power low (warning) 3, rx power low 4", "bits by lane");
	put_word(page, 22, 0);
	put_word(page, 26, 0);
	OK(module_page_read(MODULE_QSFP, page, sizeof page, &module) && !module.measures,
		"a copper cable has no figures");
	OK(!module_page_read(MODULE_QSFP, page, 255, &module), "too short");
}

/* One message NFT_MSG_NEWRULE: a match on `data`, then a counter that stands at `count`. */
static uint64_t hash_of_rule(uint32_t data, uint64_t count)
{
	uint64_t space[64] = {0};
	struct filters filters = {.hash = FILTERS_HASH_START};
	struct nlmsghdr *message = mnl_nlmsg_put_header(space);
	message->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE;
	struct nfgenmsg *family = mnl_nlmsg_put_extra_header(message, sizeof *family);
	family->nfgen_family = 2;
	mnl_attr_put_strz(message, NFTA_RULE_TABLE, "t");
	mnl_attr_put_strz(message, NFTA_RULE_CHAIN, "c");
	mnl_attr_put_u64(message, NFTA_RULE_HANDLE, count); /* handles are drawn anew, too */
	struct nlattr *list = mnl_attr_nest_start(message, NFTA_RULE_EXPRESSIONS);
	struct nlattr *one = mnl_attr_nest_start(message, NFTA_LIST_ELEM);
	mnl_attr_put_strz(message, NFTA_EXPR_NAME, "cmp");
	mnl_attr_put_u32(message, NFTA_EXPR_DATA, data);
	mnl_attr_nest_end(message, one);
	one = mnl_attr_nest_start(message, NFTA_LIST_ELEM);
	mnl_attr_put_strz(message, NFTA_EXPR_NAME, "counter");
	mnl_attr_put_u64(message, NFTA_EXPR_DATA, count);
	mnl_attr_nest_end(message, one);
	mnl_attr_nest_end(message, list);
	filters_take_chain(message, &filters);
	filters_take_rule(message, &filters);
	IS_I64(filters.rules, 1, "one rule, and no chain");
	return filters.hash;
}

static void rules(void)
{
	char line[64];
	OK(hash_of_rule(1, 5) == hash_of_rule(1, 99), "what a rule counts is no change");
	OK(hash_of_rule(1, 5) != hash_of_rule(2, 5), "what it matches is");
	filters_text(0, "rule", 1, line, sizeof line);
	IS_STR(line, "none", "no rule");
	filters_text(2, "rule", 0xab, line, sizeof line);
	IS_STR(line, "2 rules, 00000000000000ab", "two");
}

int main(void)
{
	pci();
	sfp();
	qsfp();
	rules();
	return tap_done();
}
