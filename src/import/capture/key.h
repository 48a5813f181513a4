/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What makes a reply the reply to a request. Both lie in the same flow (client,
 * service, protocol); within it a key tells one request from the next:
 *
 *   icmp       identifier and sequence of an echo
 *   tare       cookie and number: the first 16 bytes of the payload
 *   stamp      sequence and T1 (RFC 8762, RFC 5357), which the reply echoes
 *   dns        the message's id
 *   tcp        request and reply data in order, checked by acknowledgements
 *   tcp-ack    data and the kernel's acknowledgement of it; never a service's time
 *   tcp-syn    SYN and SYN/ACK
 *   order      the next packet of the same flow in the other direction
 *   payload    all of the payload, which an echo returns as it is
 *   udp.payload[4:8], tcp.payload[4:8], payload[4:8]
 *              these bytes, from the first on and before the second, counted from 0
 *   re:EXPR    what a POSIX extended expression's first group (or all of it) matches in the payload
 */
#pragma once
#include <regex.h>

#include "import/capture/hash.h"
#include "import/capture/layers.h"
#include "tare/err.h"

enum key_kind {
	KEY_AUTO,
	KEY_ICMP,
	KEY_TARE,
	KEY_STAMP,
	KEY_DNS,
	KEY_TCP,
	KEY_TCP_ACK,
	KEY_TCP_SYN,
	KEY_ORDER,
	KEY_PAYLOAD,
	KEY_BYTES,
	KEY_REGEX,
};

struct key_rule {
	enum key_kind kind;
	uint8_t protocol;    /* of KEY_BYTES; 0: any */
	uint32_t from, to;   /* of KEY_BYTES */
	regex_t *expression; /* of KEY_REGEX; owned */
	char text[96];       /* as it was written, for messages */
};

/* NULL or "auto" is KEY_AUTO. */
int key_parse(const char *text, struct key_rule *ret_rule, struct tare_err *err) TARE_MUST_USE;
void key_end(struct key_rule *rule);
const char *key_name(const struct key_rule *rule);
/* Several requests may be open under one key, answered in order. */
bool key_in_order(enum key_kind kind);
/* IP protocol a key belongs to; 0: any. */
uint8_t key_protocol(const struct key_rule *rule);

enum key_result {
	KEY_FOUND,
	KEY_OTHER,        /* not a packet that has such a key */
	KEY_NOT_CAPTURED, /* it has one, beyond what was captured */
};
/* Adds the key of a request (or of a reply) to `hash`, which holds the flow. TCP kinds add nothing. */
enum key_result key_add(const struct key_rule *rule, const struct layers *layers, bool request, struct hash *hash);
