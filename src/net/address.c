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
	return tare_fail(
		err, TARE_E_USAGE, "'%.200s' %s; a target is SCHEME://HOST[:PORT], as udp://10.0.0.2:7000", text, why);
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
static int split_host(
	const char *text, const char *rest, struct net_url *url, const char **ret_port, struct tare_err *err)
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
	const char *rest = separator + 3;
	size_t length = strcspn(rest, "/?");
	char authority[300];
	if (strpbrk(rest, " \t\r\n"))
		return fail_url(err, text, "has a blank in it");
	if (copy_part(authority, sizeof authority, rest, length) < 0)
		return fail_url(err, text, "has a host name longer than 255 characters");
	if (copy_part(url.path, sizeof url.path, rest + length, strlen(rest + length)) < 0)
		return fail_url(err, text, "has more than 511 characters behind host and port");
	if (split_host(text, authority, &url, &port, err) < 0)
		return -1;
	if (port && parse_port(text, port, &url.port, err) < 0)
		return -1;
	*ret_url = url;
	return 0;
}

/* The next "name=value" from *at on, which moves behind it; false at the end. */
static bool next_option(const char **at, const char **ret_name, size_t *ret_name_length, const char **ret_value,
	size_t *ret_value_length)
{
	if (!**at)
		return false;
	size_t length = strcspn(*at, "&");
	const char *equals = memchr(*at, '=', length);
	*ret_name = *at;
	*ret_name_length = equals ? (size_t)(equals - *at) : length;
	*ret_value = equals ? equals + 1 : *at + length;
	*ret_value_length = (size_t)(*at + length - *ret_value);
	*at += length + ((*at)[length] == '&');
	return true;
}

static const char *options_of(const struct net_url *url)
{
	const char *question = strchr(url->path, '?');
	return question ? question + 1 : "";
}

int net_url_option(const struct net_url *url, const char *name, char *ret_value, size_t room)
{
	const char *found, *value, *at = options_of(url);
	size_t length, value_length;
	while (next_option(&at, &found, &length, &value, &value_length))
		if (strlen(name) == length && memcmp(found, name, length) == 0)
			return copy_part(ret_value, room, value, value_length) < 0 ? -1 : 1;
	return 0;
}

int net_url_options(const struct net_url *url, const char *const *known, struct tare_err *err)
{
	const char *found, *value, *at = options_of(url);
	size_t length, value_length;
	while (next_option(&at, &found, &length, &value, &value_length)) {
		bool is_known = false;
		for (size_t i = 0; known[i]; i++)
			is_known |= strlen(known[i]) == length && memcmp(found, known[i], length) == 0;
		if (!is_known)
			return tare_fail(err, TARE_E_USAGE, "%s:// has no option '%.*s'", url->scheme,
				(int)(length < 40 ? length : 40), found);
	}
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
