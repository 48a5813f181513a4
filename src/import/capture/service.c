/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses as users write them, and on which end of a packet they stand. */
#include "import/capture/service.h"

#include <arpa/inet.h>
#include <string.h>

static int parse_port(const char *text, uint16_t *ret_port)
{
	unsigned port = 0;
	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		port = port * 10 + (unsigned)(*text - '0');
		if (port > 65535)
			return -1;
	}
	*ret_port = (uint16_t)port;
	return port ? 0 : -1;
}

static bool parse_address(const char *text, size_t bytes, struct service *service)
{
	char copy[INET6_ADDRSTRLEN];
	if (bytes >= sizeof(copy))
		return false;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	service->version = inet_pton(AF_INET, copy, service->address) == 1    ? 4
			   : inet_pton(AF_INET6, copy, service->address) == 1 ? 6
									      : 0;
	return service->version != 0;
}

int service_parse(const char *text, struct service *ret_service, struct tare_err *err)
{
	struct service service = {0};
	const char *bracket = *text == '[' ? strchr(text, ']') : NULL;
	const char *colon = strrchr(text, ':');
	bool fine;
	if (bracket)
		fine = parse_address(text + 1, (size_t)(bracket - text - 1), &service) &&
		       (!bracket[1] || (bracket[1] == ':' && !parse_port(bracket + 2, &service.port)));
	else if (!parse_port(text, &service.port))
		fine = true;
	else if (parse_address(text, strlen(text), &service))
		fine = true;
	else
		fine = colon && parse_address(text, (size_t)(colon - text), &service) && service.version == 4 &&
		       !parse_port(colon + 1, &service.port);
	if (!fine)
		return tare_fail(err, TARE_E_USAGE,
			"service '%s': expected a port, a numeric address or both, like 10.0.0.2:7000 or [fe80::1]:53",
			text);
	*ret_service = service;
	return 0;
}

static bool is_at(const struct service *service, const struct layers *layers, const uint8_t *address, uint16_t port)
{
	if (service->port && (!(layers->has & LAYERS_PORTS) || service->port != port))
		return false;
	return !service->version ||
	       (service->version == layers->version &&
		       memcmp(service->address, address, service_address_bytes(service->version)) == 0);
}

enum service_direction service_direction(const struct service *service, const struct layers *layers)
{
	if (!(layers->has & LAYERS_IP) || layers->has & LAYERS_FRAGMENT || !layers->source ||
		(service->protocol && service->protocol != layers->protocol))
		return SERVICE_NEITHER;
	bool to = is_at(service, layers, layers->target, layers->target_port);
	bool from = is_at(service, layers, layers->source, layers->source_port);
	if (layers->has & LAYERS_ECHO_REQUEST)
		return to ? SERVICE_REQUEST : SERVICE_NEITHER;
	if (layers->has & LAYERS_ECHO_REPLY)
		return from ? SERVICE_REPLY : SERVICE_NEITHER;
	return to ? SERVICE_REQUEST : from ? SERVICE_REPLY : SERVICE_NEITHER;
}

bool service_covers(const struct service *wanted, const struct service *other)
{
	if ((wanted->port && wanted->port != other->port) || (wanted->protocol && wanted->protocol != other->protocol))
		return false;
	return !wanted->version ||
	       (wanted->version == other->version &&
		       memcmp(wanted->address, other->address, service_address_bytes(wanted->version)) == 0);
}
