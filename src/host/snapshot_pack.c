/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots for the way over a network: their JSON lines behind zlib, a tenth as long. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "host/store.h"

int host_snapshot_pack(
	const struct host_snapshot *snapshot, size_t plain_most, struct host_packed *ret_packed, struct tare_err *err)
{
	AUTO_FREE char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	int status =
		out ? host_snapshot_print(snapshot, out, err) : tare_fail_errno(err, errno, "cannot pack a snapshot");
	if (out && fclose(out) != 0 && status == 0)
		status = tare_fail_errno(err, errno, "cannot pack a snapshot");
	if (status < 0)
		return -1;
	if (length == 0 || length > plain_most)
		return tare_fail(
			err, TARE_E_FORMAT, "the snapshot has %zu octets where %zu are the most", length, plain_most);
	uLongf packed = compressBound(length);
	AUTO_FREE uint8_t *bytes = malloc(packed);
	if (!bytes || compress2(bytes, &packed, (const Bytef *)text, length, Z_BEST_SPEED) != Z_OK)
		return tare_fail_errno(err, ENOMEM, "cannot pack a snapshot");
	*ret_packed = (struct host_packed){.bytes = bytes, .count = packed, .plain_bytes = length};
	bytes = NULL;
	return 0;
}

int host_snapshot_unpack(
	const struct host_packed *packed, const char *name, struct host_snapshot **ret_snapshot, struct tare_err *err)
{
	AUTO_FREE char *text = malloc(packed->plain_bytes + 1);
	uLongf length = packed->plain_bytes;
	if (!text)
		return tare_fail_errno(err, ENOMEM, "cannot unpack the facts of %s", name);
	if (uncompress((Bytef *)text, &length, packed->bytes, packed->count) != Z_OK || length != packed->plain_bytes)
		return tare_fail(err, TARE_E_FORMAT, "%s: its facts cannot be unpacked", name);
	text[length] = '\0';
	if (memchr(text, '\0', length))
		return tare_fail(err, TARE_E_FORMAT, "%s: its facts hold bytes that are no text", name);
	return host_snapshot_parse(text, name, ret_snapshot, err);
}
