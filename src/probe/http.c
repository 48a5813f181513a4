/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kinds http and https: whole requests through libcurl, from the call to its word that
 * the answer is complete. libcurl owns the sockets; they, and a timer for its own
 * needs, stand in one epoll that the loop waits on. It allocates as it goes: that is why
 * these kinds have a thread and a loop of their own.
 */
#include "probe/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock/cpu.h"

static int on_socket(CURL *curl, curl_socket_t fd, int what, void *user, void *known)
{
	struct probe_target *target = user;
	struct http *http = http_of(target);
	struct epoll_event event = {.data.fd = fd};
	(void)curl;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(target->fd, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
	epoll_ctl(target->fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
	curl_multi_assign(http->multi, fd, target);
	return 0;
}

static int on_timer(CURLM *multi, long wait_ms, void *user)
{
	struct http *http = http_of(user);
	struct itimerspec when = {.it_value = clock_timespec(wait_ms > 0 ? (int64_t)wait_ms * 1000000 : 0)};
	(void)multi;
	if (wait_ms == 0)
		when.it_value.tv_nsec = 1; /* 0 would switch it off */
	timerfd_settime(http->timer, 0, &when, NULL);
	return 0;
}

static void take_finished(struct probe_target *target)
{
	struct http *http = http_of(target);
	clock_mono now = source_mono(target->clock);
	int left;
	for (CURLMsg *message; (message = curl_multi_info_read(http->multi, &left));) {
		struct http_request *request = NULL;
		CURL *curl = message->easy_handle;
		CURLcode result = message->data.result;
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(curl, CURLINFO_PRIVATE, (char **)&request);
		http_request_done(target, request, result, now);
		curl_multi_remove_handle(http->multi, curl);
		request->under_way = false;
		http->free[http->free_count++] = (unsigned)(request - http->request);
	}
}

static int http_drain(struct probe_target *target)
{
	struct http *http = http_of(target);
	struct epoll_event event[PROBE_BATCH_MAX];
	int running, got = epoll_wait(target->fd, event, PROBE_BATCH_MAX, 0);
	for (int i = 0; i < got; i++) {
		uint64_t expired;
		int fd = event[i].data.fd, mask = 0;
		if (fd == http->timer) {
			if (read(http->timer, &expired, sizeof expired) < 0)
				continue;
			curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
			continue;
		}
		mask |= event[i].events & EPOLLIN ? CURL_CSELECT_IN : 0;
		mask |= event[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0;
		mask |= event[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0;
		curl_multi_socket_action(http->multi, fd, mask, &running);
	}
	if (got > 0)
		take_finished(target);
	return got > 0 ? got : 0;
}

static struct http_request *take_request(struct http *http, int *ret_error)
{
	*ret_error = -ENOBUFS;
	if (http->free_count == 0)
		return NULL;
	struct http_request *request = &http->request[http->free[http->free_count - 1]];
	*ret_error = http_request_prepare(http, request);
	if (*ret_error < 0)
		return NULL;
	http->free_count--;
	request->under_way = true;
	request->body_bytes = 0;
	return request;
}

static int send_one(struct probe_target *target, struct http_request *request, uint64_t number, clock_mono now)
{
	struct http *http = http_of(target);
	int running;
	request->number = number;
	target->samples[number].user_tx_ns = now.ns;
	target->samples[number].cpu_tx = (uint16_t)(cpu_current() + 1);
	curl_multi_add_handle(http->multi, request->curl);
	curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	return 1;
}

static int http_send(struct probe_target *target, uint64_t first, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int error;
		struct http_request *request = take_request(http_of(target), &error);
		if (!request)
			return i ? (int)i : error;
		send_one(target, request, first + i, source_mono(target->clock));
	}
	return (int)count;
}

static int http_send_at(struct probe_target *target, uint64_t number, clock_mono due)
{
	clock_mono now;
	int error;
	struct http_request *request = take_request(http_of(target), &error);
	do {
		now = source_mono(target->clock);
	} while (clock_between(now, due) > 0);
	return request ? send_one(target, request, number, now) : error;
}

/* Transfers of an earlier round end here: their answers have nowhere to go. */
static void http_begin(struct probe_target *target)
{
	struct http *http = http_of(target);
	for (unsigned i = 0; i < HTTP_UNDER_WAY; i++) {
		struct http_request *request = &http->request[i];
		if (!request->under_way)
			continue;
		curl_multi_remove_handle(http->multi, request->curl);
		request->under_way = false;
		http->free[http->free_count++] = i;
	}
}

static int check_supported(const struct probe_target *target, struct tare_err *err)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return tare_fail(err, TARE_E_SYSTEM, "libcurl cannot be used");
	const curl_version_info_data *version = curl_version_info(CURLVERSION_NOW);
	for (const char *const *protocol = version->protocols; *protocol; protocol++)
		if (strcmp(*protocol, target->kind->scheme) == 0)
			return 0;
	return tare_fail(err, TARE_E_USAGE, "this libcurl has no %s://", target->kind->scheme);
}

static int watch(struct probe_target *target, struct http *http, struct tare_err *err)
{
	target->fd = epoll_create1(EPOLL_CLOEXEC);
	http->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	http->multi = curl_multi_init();
	if (target->fd < 0 || http->timer < 0 || !http->multi)
		return tare_fail_errno(err, errno, "cannot watch the transfers of %s", target->request.text);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = http->timer};
	epoll_ctl(target->fd, EPOLL_CTL_ADD, http->timer, &event);
	curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, target);
	curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, target);
	curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)HTTP_UNDER_WAY);
	return 0;
}

static int http_open(struct probe_target *target, struct tare_err *err)
{
	const struct probe_exchange *exchange = target->request.exchange;
	if (check_supported(target, err) < 0)
		return -1;
	struct http *http = calloc(1, sizeof *http);
	target->state = http;
	if (!http)
		return tare_fail_errno(err, ENOMEM, "cannot hold the transfers of %s", target->request.text);
	http->timer = -1;
	target->stamps = PROBE_PHASED;
	http->url = target->request.text;
	http->settings = *target->request.http;
	/* the loop decides what is overdue; here only what would never end is cut off */
	http->timeout_ms = (long)(target->request.timeout_ns / 1000000) * 4 + 1000;
	for (unsigned i = 0; i < HTTP_UNDER_WAY; i++)
		http->free[http->free_count++] = HTTP_UNDER_WAY - 1 - i;
	http->has_rule = exchange && (exchange->expect_bytes || exchange->expect_regex);
	if (http->has_rule && reply_rule_open(exchange, &http->rule, err) < 0) {
		http->has_rule = false;
		return -1;
	}
	return watch(target, http, err);
}

static void http_close(struct probe_target *target)
{
	struct http *http = http_of(target);
	if (!http)
		return;
	for (unsigned i = 0; i < HTTP_UNDER_WAY; i++) {
		if (http->request[i].under_way)
			curl_multi_remove_handle(http->multi, http->request[i].curl);
		curl_easy_cleanup(http->request[i].curl);
		free(http->request[i].body);
	}
	if (http->multi)
		curl_multi_cleanup(http->multi);
	if (http->timer >= 0)
		close(http->timer);
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
	if (http->has_rule)
		reply_rule_close(&http->rule);
	free(http);
	target->state = NULL;
	curl_global_cleanup();
}

#define HTTP_KIND(word, port, text)                                                                                    \
	{                                                                                                              \
		.scheme = (word), .summary = (text), .default_port = (port), .has_path = true, .alone = true,          \
		.exchanges = PROBE_EXCHANGES_BODY, .open = http_open, .send = http_send, .send_at = http_send_at,      \
		.begin = http_begin, .drain = http_drain, .close = http_close                                          \
	}
const struct probe_kind probe_http_kind = HTTP_KIND("http", 80, "HTTP requests, with their phases");
const struct probe_kind probe_https_kind = HTTP_KIND("https", 443, "the same over TLS");
