/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all kinds over datagram sockets share: batches, receive and transmit
 * stamps, network errors. A kind adds only how a packet is written and read.
 */
#pragma once
#include <stdint.h>

#include "net/stamps.h"
#include "probe/probe.h"

struct datagram;

struct datagram_format {
	/* Writes request `number` into a packet that was filled once at open. */
	void (*prepare)(struct datagram *datagram, uint8_t *packet, uint64_t number);
	/* Writes the send time into it; NULL where packets carry none. */
	void (*stamp)(struct datagram *datagram, uint8_t *packet, uint64_t number, clock_mono user_tx);
	/* Number and peer's stamps of an arrived message; false: not ours. */
	bool (*read)(struct datagram *datagram, const uint8_t *message, size_t bytes, struct probe_reply *reply);
	/* Number of a request that came back inside a network error; false: cannot be told. */
	bool (*read_refused)(struct datagram *datagram, const uint8_t *packet, size_t bytes, uint64_t *ret_number);
};

/* The key ring is a power of two, larger than any number of transmit stamps under way. */
enum { DATAGRAM_KEYS = 4096 };
/* Without stamps the path is looked at in the first answers of a round only: control data costs 60 ns. */
enum { DATAGRAM_LOOKS = 2 };

struct datagram {
	struct probe_target *target;
	const struct datagram_format *format;
	size_t packet_bytes, packet_stride, room; /* room: of each receive buffer */
	uint8_t *packets, *buffers;               /* PROBE_BATCH_MAX each */
	struct mmsghdr *out, *in;
	struct iovec *out_part, *in_part;
	uint8_t *control;
	unsigned lone;                            /* batches in a row that brought one message or none */
	bool batching;
	unsigned looks;                           /* left at the path of answers, where no other control data is read */
	uint64_t key_next;                        /* stamped sends since the count began; the kernel has its lower 32 bits */
	bool keys_doubtful;                       /* a send was refused: old kernels counted it */
	uint64_t *key_number;                     /* request of each key, a ring */
	const struct sockaddr *to;                /* borrowed; NULL: the socket is connected, send and sendto are one call */
	socklen_t to_length;

	/* the kind's own */
	uint64_t cookie;
	uint16_t id;
	bool v6, raw;
	void *own;                                /* from malloc, freed by datagram_close */
};

/*
 * Opens target->fd as a connected socket with buffers, error queue and the stamps asked for, and the
 * packets' memory; the caller then fills packets[0 .. PROBE_BATCH_MAX). type and protocol as socket(2).
 */
int datagram_open(struct probe_target *target, int type, int protocol, size_t packet_bytes,
		  const struct datagram_format *format, struct tare_err *err) TARE_MUST_USE;
/*
 * The same for a socket that is not connected: `aim` takes the place of connecting and calls datagram_aim.
 * `own`, from malloc, becomes the datagram's, also after failure.
 */
typedef int datagram_aim_function(struct probe_target *target, struct tare_err *err);
int datagram_open_with(struct probe_target *target, int type, int protocol, size_t packet_bytes,
		       const struct datagram_format *format, datagram_aim_function *aim, void *own,
		       struct tare_err *err) TARE_MUST_USE;
/* All packets go to this address, which is borrowed. */
void datagram_aim(struct datagram *datagram, const struct sockaddr *to, socklen_t length);
static inline struct datagram *datagram_of(struct probe_target *target)
{
	return target->state;
}
static inline uint8_t *datagram_packet(struct datagram *datagram, unsigned i)
{
	return datagram->packets + i * datagram->packet_stride;
}
/* For a kind's begin. */
void datagram_begin(struct probe_target *target);
int datagram_send(struct probe_target *target, uint64_t first, unsigned count);
int datagram_send_at(struct probe_target *target, uint64_t number, clock_mono due);
int datagram_drain(struct probe_target *target);
int datagram_drain_notices(struct probe_target *target);
/* What one message of the error queue means for the requests; tests feed it recorded ones. */
void datagram_take_notice(struct probe_target *target, const struct net_notice *notice);
void datagram_close(struct probe_target *target);
