/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What tare is measured against: the least that a program can do between two
 * clock readings. `bare floor` sends one datagram at a time on a grid and spins on
 * the receive call; `bare rate` keeps batches of sendmmsg and recvmmsg going as
 * fast as an echo server answers. Nothing is stored but what the figure needs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PAYLOAD_BYTES = 64, BATCH = 32, WINDOW = 256 };

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int die(const char *what)
{
	fprintf(stderr, "bare: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_to(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), bytes = 8 << 20;
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
		die("cannot connect");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
	return fd;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void print_figures(int64_t *values, size_t n, const char *name)
{
	qsort(values, n, sizeof *values, by_value);
	printf("%s_p50_ns=%lld %s_p99_ns=%lld ", name, (long long)values[(n + 1) / 2 - 1], name,
		(long long)values[(n * 99 + 99) / 100 - 1]);
}

/*
 * Two warm-up requests, then `count` on the grid. A lost one is given up after 10 ms. Those that left late, back
 * to back after a hold-up, meet warm caches and would flatter the loop: only requests within 50 µs of the grid count.
 */
static int floor_loop(int fd, size_t count, int64_t interval_ns)
{
	char out[PAYLOAD_BYTES] = {0}, in[2048];
	int64_t *rtt_ns = calloc(count, sizeof *rtt_ns), *late_ns = calloc(count, sizeof *late_ns);
	if (!rtt_ns || !late_ns)
		die("no memory");
	int64_t first_ns = now_ns() + 20000000;
	size_t kept = 0;
	for (size_t i = 0; i < count + 2; i++) {
		int64_t due_ns = first_ns + (int64_t)i * interval_ns, sent_ns, back_ns = 0;
		while ((sent_ns = now_ns()) < due_ns)
			continue;
		if (send(fd, out, sizeof out, MSG_DONTWAIT) < 0)
			die("cannot send");
		while (recv(fd, in, sizeof in, MSG_DONTWAIT) < 0)
			if ((back_ns = now_ns()) - sent_ns > 10000000)
				break;
		back_ns = now_ns();
		if (i >= 2 && back_ns - sent_ns < 10000000 && sent_ns - due_ns < 50000) {
			rtt_ns[kept] = back_ns - sent_ns;
			late_ns[kept++] = sent_ns - due_ns;
		}
	}
	if (kept == 0)
		die("nothing answered");
	print_figures(rtt_ns, kept, "rtt");
	print_figures(late_ns, kept, "late");
	printf("n=%zu\n", kept);
	free(rtt_ns);
	free(late_ns);
	return 0;
}

/* Batches out and in for `seconds`, never more than WINDOW under way; prints round trips a second. */
static int rate_loop(int fd, double seconds)
{
	static char out[BATCH][PAYLOAD_BYTES], in[BATCH][2048];
	struct mmsghdr send_batch[BATCH] = {0}, receive_batch[BATCH] = {0};
	struct iovec send_part[BATCH], receive_part[BATCH];
	for (size_t i = 0; i < BATCH; i++) {
		send_part[i] = (struct iovec){out[i], PAYLOAD_BYTES};
		receive_part[i] = (struct iovec){in[i], sizeof in[i]};
		send_batch[i].msg_hdr.msg_iov = &send_part[i];
		receive_batch[i].msg_hdr.msg_iov = &receive_part[i];
		send_batch[i].msg_hdr.msg_iovlen = receive_batch[i].msg_hdr.msg_iovlen = 1;
	}
	int64_t start_ns = now_ns(), end_ns = start_ns + (int64_t)(seconds * 1e9), quiet_ns = start_ns;
	uint64_t sent = 0, received = 0, lost = 0, under_way = 0;
	int64_t at_ns = start_ns;
	while ((at_ns = now_ns()) < end_ns) {
		if (under_way + BATCH <= WINDOW) {
			int got = sendmmsg(fd, send_batch, BATCH, MSG_DONTWAIT);
			sent += got > 0 ? (uint64_t)got : 0;
			under_way += got > 0 ? (uint64_t)got : 0;
		}
		int got = recvmmsg(fd, receive_batch, BATCH, MSG_DONTWAIT, NULL);
		if (got > 0) {
			received += (uint64_t)got;
			under_way -= (uint64_t)got < under_way ? (uint64_t)got : under_way;
			quiet_ns = at_ns;
		} else if (at_ns - quiet_ns > 20000000) {
			lost += under_way;
			under_way = 0;
			quiet_ns = at_ns;
		}
	}
	printf("per_second=%.0f sent=%llu received=%llu lost=%llu\n",
		(double)received * 1e9 / (double)(at_ns - start_ns), (unsigned long long)sent, (unsigned long long)received,
		(unsigned long long)lost);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 5 || (strcmp(argv[1], "floor") == 0 && argc < 6)) {
		fprintf(stderr, "usage: bare floor PORT CPU COUNT INTERVAL_NS | bare rate PORT CPU SECONDS\n");
		return 2;
	}
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)strtoul(argv[3], NULL, 10), &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		die("cannot pin");
	int fd = open_to((int)strtol(argv[2], NULL, 10));
	if (strcmp(argv[1], "floor") == 0)
		return floor_loop(fd, strtoul(argv[4], NULL, 10), strtoll(argv[5], NULL, 10));
	return rate_loop(fd, strtod(argv[4], NULL));
}
