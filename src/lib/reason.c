/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reasons of errors in words: errno, and what a service said instead of the answer expected. */
#include <stdio.h>
#include <string.h>

#include "tare/sample.h"

enum { DNS_RCODES = 24, HTTP_STATUSES = 1000, CURL_CODES = 1000 };

/* RFC 1035, 2136, 2845 and 6891; NULL where none is assigned. */
static const char *const rcodes[DNS_RCODES] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED",
	"YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH", "NOTZONE", [16] = "BADVERS", [17] = "BADKEY", [18] = "BADTIME",
	[19] = "BADMODE", [20] = "BADNAME", [21] = "BADALG", [22] = "BADTRUNC", [23] = "BADCOOKIE"};

/* What libcurl's codes mean where they are no errno of ours (its numbers are fixed for ever). */
static const char *curl_text(unsigned code)
{
	switch (code) {
	case 6:
		return "name not resolved";
	case 7:
		return "not connected";
	case 35:
		return "no agreement on TLS";
	case 52:
		return "empty answer";
	case 56:
		return "connection broken while receiving";
	case 60:
		return "certificate not trusted";
	default:
		return NULL;
	}
}

static bool is_dns(uint16_t reason)
{
	return reason >= TARE_REASON_DNS && reason < TARE_REASON_HTTP;
}

static bool is_http(uint16_t reason)
{
	return reason >= TARE_REASON_HTTP && reason < TARE_REASON_HTTP + HTTP_STATUSES;
}

static bool is_curl(uint16_t reason)
{
	return reason >= TARE_REASON_CURL && reason < TARE_REASON_CURL + CURL_CODES;
}

static void rcode_name(unsigned rcode, char *buffer, size_t room)
{
	if (rcode < DNS_RCODES && rcodes[rcode])
		snprintf(buffer, room, "%s", rcodes[rcode]);
	else
		snprintf(buffer, room, "RCODE %u", rcode);
}

bool tare_reason_answered(uint16_t reason)
{
	return reason >= TARE_REASON_UNEXPECTED && reason < TARE_REASON_CURL;
}

void tare_reason_text(uint16_t reason, char *buffer, size_t room)
{
	if (reason == 0)
		snprintf(buffer, room, "for a reason not told");
	else if (reason == TARE_REASON_UNEXPECTED)
		snprintf(buffer, room, "not the reply expected");
	else if (reason == TARE_REASON_BODY)
		snprintf(buffer, room, "not the content expected");
	else if (is_dns(reason))
		rcode_name(reason - (unsigned)TARE_REASON_DNS, buffer, room);
	else if (is_http(reason))
		snprintf(buffer, room, "HTTP status %u", reason - (unsigned)TARE_REASON_HTTP);
	else if (is_curl(reason) && curl_text(reason - (unsigned)TARE_REASON_CURL))
		snprintf(buffer, room, "%s", curl_text(reason - (unsigned)TARE_REASON_CURL));
	else if (is_curl(reason))
		snprintf(buffer, room, "transfer failed (curl error %u)", reason - (unsigned)TARE_REASON_CURL);
	else
		snprintf(buffer, room, "%s", strerrordesc_np(reason) ? strerrordesc_np(reason) : "unknown error");
}

void tare_reason_name(uint16_t reason, char *buffer, size_t room)
{
	if (reason == TARE_REASON_UNEXPECTED)
		snprintf(buffer, room, "UNEXPECTED");
	else if (reason == TARE_REASON_BODY)
		snprintf(buffer, room, "BODY");
	else if (is_dns(reason))
		rcode_name(reason - (unsigned)TARE_REASON_DNS, buffer, room);
	else if (is_http(reason))
		snprintf(buffer, room, "HTTP %u", reason - (unsigned)TARE_REASON_HTTP);
	else if (is_curl(reason))
		snprintf(buffer, room, "CURL %u", reason - (unsigned)TARE_REASON_CURL);
	else
		snprintf(buffer, room, "%s", reason && strerrorname_np(reason) ? strerrorname_np(reason) : "");
}
