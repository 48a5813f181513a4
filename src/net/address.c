/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Targets and listeners as URLs, resolved once: a second look-up in mid-run could change what is measured. */
#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "net/net.h"

static int fail_url(struct tare_err *err, const char *text, const char *why)
{
	return tare_fail(err, TARE_E_USAGE, "'%.200s' %s; a target is SCHEME://HOST[:PORT], as udp://10.0.0.2:7000", text,
		why);
}

static int copy_part(char *into, size_t room, const char *from, size_t length)
{
	if (length >= room)
		return -1;
	memcpy(into, from, length);
	into[length] = '\0';
	return 0;
}

static int parse_port(const char *text, const char *digits, int *ret_port, struct tare_err *err)
{
	long port = 0;
	if (!*digits)
		return fail_url(err, text, "has no port after the colon");
	for (const char *c = digits; *c; c++) {
		if (!isdigit((unsigned char)*c))
			return fail_url(err, text, "has a port that is no number");
		port = port * 10 + (*c - '0');
		if (port > 65535)
			return fail_url(err, text, "has a port above 65535");
	}
	if (port == 0)
		return fail_url(err, text, "has port 0");
	*ret_port = (int)port;
	return 0;
}

/* "[v6]:port", "host:port", "host", "v6 without port". Behind the host: NULL or the port's digits. */
static int split_host(const char *text, const char *rest, struct net_url *url, const char **ret_port,
	struct tare_err *err)
{
	const char *end, *colon = strchr(rest, ':');
	*ret_port = NULL;
	if (*rest == '[') {
		end = strchr(++rest, ']');
		if (!end)
			return fail_url(err, text, "has '[' without ']'");
		if (end[1] == ':')
			*ret_port = end + 2;
		else if (end[1])
			return fail_url(err, text, "has something other than a port behind ']'");
	} else if (colon && !strchr(colon + 1, ':')) {
		end = colon;
		*ret_port = colon + 1;
	} else {
		end = rest + strlen(rest);
	}
	if (copy_part(url->host, sizeof url->host, rest, (size_t)(end - rest)) < 0)
		return fail_url(err, text, "has a host name longer than 255 characters");
	return 0;
}

int net_url_parse(const char *text, struct net_url *ret_url, struct tare_err *err)
{
	struct net_url url = {.port = -1};
	const char *port, *separator = strstr(text, "://");
	if (!separator || separator == text)
		return fail_url(err, text, "has no scheme");
	if (copy_part(url.scheme, sizeof url.scheme, text, (size_t)(separator - text)) < 0)
		return fail_url(err, text, "has an unknown scheme");
	if (strpbrk(separator + 3, "/? \t\r\n"))
		return fail_url(err, text, "has something behind host and port");
	if (split_host(text, separator + 3, &url, &port, err) < 0)
		return -1;
	if (port && parse_port(text, port, &url.port, err) < 0)
		return -1;
	*ret_url = url;
	return 0;
}

void net_address_text(struct net_address *address, bool with_port)
{
	char service[8] = "";
	const struct sockaddr *name = (const struct sockaddr *)&address->storage;
	if (getnameinfo(name, address->length, address->host, sizeof address->host, service, sizeof service,
		    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		snprintf(address->host, sizeof address->host, "?");
	if (!with_port)
		snprintf(address->text, sizeof address->text, "%s", address->host);
	else if (name->sa_family == AF_INET6)
		snprintf(address->text, sizeof address->text, "[%s]:%s", address->host, service);
	else
		snprintf(address->text, sizeof address->text, "%s:%s", address->host, service);
}

int net_resolve(const struct net_url *url, int family, struct net_address *ret_address, struct tare_err *err)
{
	char service[16] = "0";
	struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_DGRAM}, *found = NULL;
	if (!url->host[0])
		return tare_fail(err, TARE_E_USAGE, "%s:// needs a host", url->scheme);
	if (url->port >= 0)
		snprintf(service, sizeof service, "%d", url->port);
	int status = getaddrinfo(url->host, service, &hints, &found);
	if (status != 0)
		return tare_fail(err, status == EAI_NONAME || status == EAI_AGAIN ? TARE_E_USAGE : TARE_E_SYSTEM,
			"cannot resolve '%s': %s", url->host, gai_strerror(status));
	struct net_address address = {.length = found->ai_addrlen};
	memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	net_address_text(&address, url->port >= 0);
	*ret_address = address;
	return 0;
}
