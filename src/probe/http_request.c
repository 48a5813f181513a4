/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One transfer: how it is set up, and what its end means. Phases are libcurl's, in
 * whole microseconds; resolving, connecting and TLS belong only to the request that
 * made the connection.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock/cpu.h"
#include "probe/http.h"

static size_t take_body(char *bytes, size_t size, size_t count, void *user)
{
	struct http_request *request = user;
	size_t got = size * count, room = request->body ? HTTP_BODY_ROOM - request->body_bytes : 0;
	size_t kept = got < room ? got : room;
	if (kept)
		memcpy(request->body + request->body_bytes, bytes, kept);
	request->body_bytes += kept;
	return got;
}

int http_request_prepare(struct http *http, struct http_request *request)
{
	if (request->curl)
		return 0;
	CURL *curl = curl_easy_init();
	if (!curl)
		return -ENOMEM;
	if (http->has_rule && !request->body && !(request->body = malloc(HTTP_BODY_ROOM))) {
		curl_easy_cleanup(curl);
		return -ENOMEM;
	}
	curl_easy_setopt(curl, CURLOPT_URL, http->url);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PRIVATE, request);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, request);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "tare");
	/* of its own variables a proxy would be measured instead of the target */
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, http->timeout_ms);
	/* version 2 would send all requests over one connection; a connection each is what the open loop means */
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
	if (http->settings.fresh) {
		curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
		curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
		curl_easy_setopt(curl, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
		curl_easy_setopt(curl, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	}
	if (http->settings.insecure) {
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (http->settings.ca_path)
		curl_easy_setopt(curl, CURLOPT_CAINFO, http->settings.ca_path);
	request->curl = curl;
	return 0;
}

static curl_off_t micros(CURL *curl, CURLINFO what)
{
	curl_off_t value = 0;
	return curl_easy_getinfo(curl, what, &value) == CURLE_OK && value > 0 ? value : 0;
}

static void put_phase(struct raw_sample *sample, enum probe_phase phase, curl_off_t from_us, curl_off_t to_us)
{
	if (to_us >= from_us && to_us < UINT32_MAX)
		sample->phase_us[phase] = (uint32_t)(to_us - from_us) + 1;
}

static void enter_phases(struct raw_sample *sample, CURL *curl)
{
	long connections = 0;
	curl_off_t resolved_us = micros(curl, CURLINFO_NAMELOOKUP_TIME_T),
		   connected_us = micros(curl, CURLINFO_CONNECT_TIME_T);
	curl_off_t agreed_us = micros(curl, CURLINFO_APPCONNECT_TIME_T);
	curl_off_t asked_us = micros(curl, CURLINFO_PRETRANSFER_TIME_T),
		   first_us = micros(curl, CURLINFO_STARTTRANSFER_TIME_T);
	curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connections);
	if (connections > 0) {
		put_phase(sample, PROBE_RESOLVE, 0, resolved_us);
		put_phase(sample, PROBE_CONNECT, resolved_us, connected_us);
		if (agreed_us)
			put_phase(sample, PROBE_TLS, connected_us, agreed_us);
	}
	put_phase(sample, PROBE_FIRST_BYTE, asked_us, first_us);
	put_phase(sample, PROBE_BODY, first_us, micros(curl, CURLINFO_TOTAL_TIME_T));
}

/* What is wrong with an answer; 0 for nothing. */
static uint16_t judge(const struct http *http, const struct http_request *request)
{
	long status = 0;
	curl_easy_getinfo(request->curl, CURLINFO_RESPONSE_CODE, &status);
	unsigned expected = http->settings.status;
	if (expected ? status != (long)expected : status < 200 || status > 399)
		return (uint16_t)(TARE_REASON_HTTP + (status > 0 && status < 1000 ? status : 0));
	if (http->has_rule && !reply_body_right(&http->rule, request->body, request->body_bytes))
		return TARE_REASON_BODY;
	return 0;
}

static int reason_of(CURL *curl, CURLcode result)
{
	long error = 0;
	curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &error);
	return error > 0 && error < TARE_REASON_UNEXPECTED ? (int)error : TARE_REASON_CURL + (int)result;
}

void http_request_done(struct probe_target *target, struct http_request *request, CURLcode result, clock_mono now)
{
	const struct http *http = http_of(target);
	struct probe_reply reply = {.number = request->number, .user_rx = now, .cpu_rx = (uint16_t)(cpu_current() + 1)};
	if (result == CURLE_OPERATION_TIMEDOUT)
		return;
	if (result != CURLE_OK) {
		probe_fail(target, request->number, reason_of(request->curl, result));
		return;
	}
	reply.wrong = judge(http, request);
	enter_phases(&target->samples[request->number], request->curl);
	probe_answer(target, &reply);
}
