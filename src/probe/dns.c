/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kind dns: one question over and over, dns://server/name?type=AAAA. The 16-bit
 * identifier is the number modulo 65536 behind a random start; the number itself is the
 * newest one sent that has it, so 65536 may be under way. Another rcode than the one
 * expected is an error with its time kept.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/datagram.h"
#include "wire/bytes.h"
#include "wire/dns.h"

struct dns {
	struct dns_query query;
	uint16_t expected; /* rcode */
};

static struct dns *dns_of(struct datagram *d)
{
	return d->own;
}

static void dns_prepare(struct datagram *d, uint8_t *packet, uint64_t number)
{
	put_u16(packet + DNS_ID_AT, (uint16_t)(d->id + number));
}

static bool number_of_id(const struct datagram *d, uint16_t id, uint64_t *ret_number)
{
	uint64_t newest = d->target->next;
	/* `next` itself may be on its way while an answer to it is read */
	uint16_t back = (uint16_t)((uint16_t)newest - (uint16_t)(id - d->id));
	if (back > newest)
		return false;
	*ret_number = newest - back;
	return true;
}

static bool dns_read(struct datagram *d, const uint8_t *message, size_t bytes, struct probe_reply *reply)
{
	struct dns_answer answer;
	const struct dns *dns = dns_of(d);
	if (!dns_answer_read(&dns->query, message, bytes, &answer) || !number_of_id(d, answer.id, &reply->number))
		return false;
	if (answer.rcode != dns->expected)
		reply->wrong = (uint16_t)(TARE_REASON_DNS + answer.rcode);
	return true;
}

static bool dns_read_refused(struct datagram *d, const uint8_t *packet, size_t bytes, uint64_t *ret_number)
{
	return bytes >= sizeof(uint16_t) && number_of_id(d, get_u16(packet), ret_number);
}

static const struct datagram_format dns_format = {
	.prepare = dns_prepare, .read = dns_read, .read_refused = dns_read_refused};

/* "/name?type=AAAA&rcode=NXDOMAIN" */
static int read_question(const struct net_url *url, struct dns *dns, struct tare_err *err)
{
	static const char *const known[] = {"type", "rcode", NULL};
	char name[256], type[32] = "A", rcode[32] = "NOERROR";
	size_t length = strcspn(url->path, "?");
	if (net_url_options(url, known, err) < 0)
		return -1;
	if (length < 2 || url->path[0] != '/')
		return tare_fail(err, TARE_E_USAGE, "dns:// needs a name to ask for: dns://SERVER/NAME[?type=AAAA]");
	if (length > sizeof name)
		return tare_fail(err, TARE_E_USAGE, "a DNS name has at most 255 characters");
	memcpy(name, url->path + 1, length - 1);
	name[length - 1] = '\0';
	if (net_url_option(url, "type", type, sizeof type) < 0 || net_url_option(url, "rcode", rcode, sizeof rcode) < 0)
		return tare_fail(err, TARE_E_USAGE, "dns:// has an option that is too long");
	if (dns_rcode_parse(rcode, &dns->expected, err) < 0)
		return -1;
	return dns_query_make(name, type, &dns->query, err);
}

static int dns_open(struct probe_target *target, struct tare_err *err)
{
	struct dns question = {.expected = 0};
	if (read_question(target->request.url, &question, err) < 0)
		return -1;
	target->request.payload_bytes = question.query.count;
	if (datagram_open(target, SOCK_DGRAM, 0, question.query.count, &dns_format, err) < 0)
		return -1;
	struct datagram *d = datagram_of(target);
	struct dns *dns = d->own = calloc(1, sizeof *dns);
	if (!dns)
		return tare_fail(err, TARE_E_SYSTEM, "no memory for a DNS question");
	*dns = question;
	for (unsigned i = 0; i < PROBE_BATCH_MAX; i++)
		memcpy(datagram_packet(d, i), dns->query.bytes, dns->query.count);
	return 0;
}

const struct probe_kind probe_dns = {
	.scheme = "dns",
	.summary = "one question to a DNS server",
	.default_port = 53,
	.least_bytes = 0,
	.most_bytes = 0,
	.has_path = true,
	.takes_path = true,
	.begin = datagram_begin,
	.open = dns_open,
	.send = datagram_send,
	.send_at = datagram_send_at,
	.drain = datagram_drain,
	.drain_notices = datagram_drain_notices,
	.close = datagram_close,
};
