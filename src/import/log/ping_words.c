/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The few words that structure cannot replace: texts of errors, by language, as
 * the errno that the kernel gives to the same ICMP error. What is not in the
 * table is an error all the same, only without a reason.
 */
#include "import/log/ping_line.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *words;
	uint16_t reason;
} reasons[] = {
	{"network is unreachable", ENETUNREACH},
	{"net unreachable", ENETUNREACH},
	{"network unreachable", ENETUNREACH},
	{"unreachable: no route", ENETUNREACH},
	{"no route to host", EHOSTUNREACH},
	{"port unreachable", ECONNREFUSED},
	{"connection refused", ECONNREFUSED},
	{"protocol unreachable", ENOPROTOOPT},
	{"administratively prohibited", EACCES},
	{"host unreachable", EHOSTUNREACH},
	{"address unreachable", EHOSTUNREACH},
	{"packet filtered", EHOSTUNREACH},
	{"time to live exceeded", EHOSTUNREACH},
	{"time exceeded", EHOSTUNREACH},
	{"ttl expired", EHOSTUNREACH},
	{"source route failed", EOPNOTSUPP},
	{"frag needed", EMSGSIZE},
	{"packet too big", EMSGSIZE},
	{"message too long", EMSGSIZE},
	{"parameter problem", EPROTO},
	{"host is down", EHOSTDOWN},
	{"network is down", ENETDOWN},
	{"operation not permitted", EPERM},
	{"permission denied", EACCES},
	{"no buffer space", ENOBUFS},
	{"assign requested address", EADDRNOTAVAIL},
	{"no such device", ENODEV},
	{"invalid argument", EINVAL},
	/* de, fr, es, it, pt, ru: iputils, the C library and Windows */
	{"zielhost nicht erreichbar", EHOSTUNREACH},
	{"keine route zum zielrechner", EHOSTUNREACH},
	{"zielnetz nicht erreichbar", ENETUNREACH},
	{"netzwerk ist nicht erreichbar", ENETUNREACH},
	{"seau n'est pas accessible", ENETUNREACH},
	{"seau inaccessible", ENETUNREACH},
	{"de destination injoignable", EHOSTUNREACH},
	{"te de destination", EHOSTUNREACH},
	{"aucun chemin d'acc", EHOSTUNREACH},
	{"host de destino inac", EHOSTUNREACH},
	{"red es inac", ENETUNREACH},
	{"red de destino inac", ENETUNREACH},
	{"host di destinazione non raggiungibile", EHOSTUNREACH},
	{"rete di destinazione non raggiungibile", ENETUNREACH},
	{"Сеть недоступна", ENETUNREACH},
	{"сеть недоступна", ENETUNREACH},
	{"узел недоступен", EHOSTUNREACH},
	{"Нет маршрута до узла", EHOSTUNREACH},
};

bool ping_says(const char *text, const char *words)
{
	return strcasestr(text, words) != NULL;
}

uint16_t ping_reason(const char *text)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		if (ping_says(text, reasons[i].words))
			return reasons[i].reason;
	}
	return 0;
}

static bool is_address(const char *at, size_t bytes)
{
	char text[INET6_ADDRSTRLEN];
	unsigned char binary[sizeof(struct in6_addr)];
	const char *zone = memchr(at, '%', bytes);
	if (zone)
		bytes = (size_t)(zone - at);
	if (bytes < 2 || bytes >= sizeof(text))
		return false;
	memcpy(text, at, bytes);
	text[bytes] = '\0';
	return inet_pton(memchr(text, ':', bytes) ? AF_INET6 : AF_INET, text, binary) == 1;
}

bool ping_address(const char *text, size_t bytes, struct slice *ret_address)
{
	const char *end = text + bytes;
	for (const char *at = text; at < end;) {
		size_t length = strcspn(at, " \t()[],;'\"");
		size_t token = length;
		while (token && (at[token - 1] == '.' || (at[token - 1] == ':' && (token < 2 || at[token - 2] != ':'))))
			token--;
		if (is_address(at, token)) {
			*ret_address = (struct slice){at, token};
			return true;
		}
		at += length + 1;
	}
	return false;
}
