/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests of kinds http and https, one libcurl handle each. Private to the files http*.c. */
#pragma once
#include <curl/curl.h>

#include "probe/probe.h"

/* Under way at most; more are not sent (ENOBUFS). Of a body so much is held against what is expected. */
enum { HTTP_UNDER_WAY = 1024, HTTP_BODY_ROOM = 65536 };

struct http_request {
	CURL *curl;
	uint64_t number;
	bool under_way;
	uint8_t *body; /* HTTP_BODY_ROOM; NULL when nothing is expected of it */
	size_t body_bytes;
};

struct http {
	CURLM *multi;
	int timer;                     /* timerfd, when libcurl wants to be called */
	const char *url;
	struct probe_http settings;
	bool has_rule;
	struct reply_rule rule;
	long timeout_ms;
	struct http_request request[HTTP_UNDER_WAY];
	unsigned free[HTTP_UNDER_WAY]; /* a stack of places in request */
	unsigned free_count;
};

static inline struct http *http_of(struct probe_target *target)
{
	return target->state;
}
/* Makes the handle of a request, once: it is used again and again. */
int http_request_prepare(struct http *http, struct http_request *request);
/* Enters a finished transfer into its sample: answer, error with its reason, or nothing (timed out: lost). */
void http_request_done(struct probe_target *target, struct http_request *request, CURLcode result, clock_mono now);
