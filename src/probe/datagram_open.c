/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening and closing of datagram targets: everything the hot loop will touch is allocated here. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/stamps.h"
#include "probe/datagram.h"

enum { RECEIVE_ROOM_LEAST = 2048, BUFFER_LEAST = 8 << 20, BUFFER_MOST = 64 << 20 };
/* What a held-up reader may leave lying: the answers of this long. A small datagram occupies 768 octets of a buffer. */
#define BUFFER_SECONDS 0.1
enum { DATAGRAM_OVERHEAD = 768 };

static int allocate(struct datagram *d)
{
	size_t cache_line = 64;
	d->packet_stride = (d->packet_bytes + cache_line - 1) / cache_line * cache_line;
	d->room = d->packet_bytes + 128 > RECEIVE_ROOM_LEAST ? d->packet_bytes + 128 : RECEIVE_ROOM_LEAST;
	d->packets = calloc(PROBE_BATCH_MAX, d->packet_stride);
	d->buffers = calloc(PROBE_BATCH_MAX, d->room);
	d->out = calloc(PROBE_BATCH_MAX, sizeof *d->out);
	d->in = calloc(PROBE_BATCH_MAX, sizeof *d->in);
	d->out_part = calloc(PROBE_BATCH_MAX, sizeof *d->out_part);
	d->in_part = calloc(PROBE_BATCH_MAX, sizeof *d->in_part);
	d->control = calloc(PROBE_BATCH_MAX, NET_CONTROL_BYTES);
	d->key_number = calloc(DATAGRAM_KEYS, sizeof *d->key_number);
	return d->packets && d->buffers && d->out && d->in && d->out_part && d->in_part && d->control && d->key_number
		? 0
		: -1;
}

static void wire_up(struct datagram *d)
{
	for (unsigned i = 0; i < PROBE_BATCH_MAX; i++) {
		d->out_part[i] = (struct iovec){.iov_base = datagram_packet(d, i), .iov_len = d->packet_bytes};
		d->out[i].msg_hdr.msg_iov = &d->out_part[i];
		d->out[i].msg_hdr.msg_iovlen = 1;
		d->in_part[i] = (struct iovec){.iov_base = d->buffers + i * d->room, .iov_len = d->room};
		d->in[i].msg_hdr.msg_iov = &d->in_part[i];
		d->in[i].msg_hdr.msg_iovlen = 1;
		d->in[i].msg_hdr.msg_control = d->control + i * NET_CONTROL_BYTES;
	}
	/* touch every page now: the first batch of a round must not meet page faults */
	memset(d->buffers, 0, PROBE_BATCH_MAX * d->room);
	memset(d->key_number, 0, DATAGRAM_KEYS * sizeof *d->key_number);
}

static int buffer_bytes(const struct probe_request *request)
{
	double bytes = request->rate * BUFFER_SECONDS * (double)(request->payload_bytes + DATAGRAM_OVERHEAD);
	return bytes < BUFFER_LEAST ? BUFFER_LEAST : bytes > BUFFER_MOST ? BUFFER_MOST : (int)bytes;
}

void datagram_aim(struct datagram *d, const struct sockaddr *to, socklen_t length)
{
	d->to = to;
	d->to_length = length;
	for (unsigned i = 0; i < PROBE_BATCH_MAX; i++) {
		/* sendmmsg reads it only */
		d->out[i].msg_hdr.msg_name = (void *)(uintptr_t)to;
		d->out[i].msg_hdr.msg_namelen = length;
	}
}

static int connect_socket(struct probe_target *target, struct tare_err *err)
{
	if (connect(target->fd, (const struct sockaddr *)&target->request.address.storage, target->request.address.length) != 0)
		return tare_fail_errno(err, errno, "cannot reach %s", target->request.address.text);
	return 0;
}

static int prepare_socket(struct probe_target *target, datagram_aim_function *aim, struct tare_err *err)
{
	int on = 1, fd = target->fd;
	bool v6 = target->request.address.storage.ss_family == AF_INET6;
	unsigned want = probe_stamps_wanted(&target->request);
	if (setsockopt(fd, v6 ? SOL_IPV6 : SOL_IP, v6 ? IPV6_RECVERR : IP_RECVERR, &on, sizeof on) != 0)
		return tare_fail_errno(err, errno, "cannot ask for network errors of %s", target->request.address.text);
	if (target->request.path && net_path_apply(fd, target->request.path, &target->request.address, err) < 0)
		return -1;
	if (target->request.busy_poll &&
		net_busy_poll_on(fd, target->request.busy_poll, &target->busy_poll, err) < 0)
		return -1;
	net_path_watch(fd, v6, true);
	net_buffers(fd, buffer_bytes(&target->request));
	if (want && net_stamps_on(fd, want, &target->stamps, err) < 0)
		return -1;
	return aim(target, err);
}

int datagram_open(struct probe_target *target, int type, int protocol, size_t packet_bytes,
	const struct datagram_format *format, struct tare_err *err)
{
	return datagram_open_with(target, type, protocol, packet_bytes, format, connect_socket, NULL, err);
}

int datagram_open_with(struct probe_target *target, int type, int protocol, size_t packet_bytes,
	const struct datagram_format *format, datagram_aim_function *aim, void *own, struct tare_err *err)
{
	struct datagram *d = calloc(1, sizeof *d);
	target->state = d;
	if (!d)
		free(own);
	if (!d)
		return tare_fail_errno(err, ENOMEM, "cannot hold the packets of %s", target->request.address.text);
	d->target = target;
	d->format = format;
	d->own = own;
	d->packet_bytes = packet_bytes;
	d->v6 = target->request.address.storage.ss_family == AF_INET6;
	d->cookie = pacer_mix(target->request.seed, 0);
	d->id = (uint16_t)pacer_mix(target->request.seed, 1);
	if (allocate(d) < 0)
		return tare_fail_errno(err, ENOMEM, "cannot hold the packets of %s", target->request.address.text);
	wire_up(d);
	if (target->fd < 0)
		target->fd = socket(d->v6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC, protocol);
	if (target->fd < 0)
		return tare_fail_errno(err, errno, "cannot open a socket to %s", target->request.address.text);
	return prepare_socket(target, aim, err);
}

void datagram_close(struct probe_target *target)
{
	struct datagram *d = datagram_of(target);
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
	target->state = NULL;
	if (!d)
		return;
	free(d->own);
	free(d->packets);
	free(d->buffers);
	free(d->out);
	free(d->in);
	free(d->out_part);
	free(d->in_part);
	free(d->control);
	free(d->key_number);
	free(d);
}
