/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots to JSON lines and back. Files from others are hostile: sizes and types are checked, the hash is recomputed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/store.h"

enum { FILE_BYTES_MAX = 32 << 20, LINE_BYTES_MAX = 1 << 20 };

static void end_json(json_t *const *json)
{
	json_decref(*json);
}
#define AUTO_JSON AUTO_CLEANUP(end_json) json_t *

static void set_text(json_t *object, const char *name, const char *text)
{
	if (text)
		json_object_set_new(object, name, json_stringn_nocheck(text, strlen(text)));
}

static void set_number(json_t *object, const char *name, int64_t number)
{
	json_object_set_new(object, name, json_integer(number));
}

/* Foreign bytes may be no UTF-8, which JSON does not take. */
static void set_foreign(json_t *object, const char *name, const char *text)
{
	json_t *string = json_string(text);
	char line[1024];
	struct text safe = TEXT_IN(line);
	if (!string) {
		text_add_quoted(&safe, text);
		string = json_string(line);
	}
	json_object_set_new(object, name, string ? string : json_string("?"));
}

static json_t *sections_of(const struct host_snapshot *snapshot)
{
	json_t *sections = json_object();
	char last[64] = "";
	for (size_t i = 0; i < snapshot->count; i++) {
		char section[64], hash[HOST_HASH_BYTES];
		snprintf(section, sizeof section, "%.*s", (int)strcspn(snapshot->facts[i].key, ".["),
			snapshot->facts[i].key);
		if (strcmp(section, last) == 0)
			continue;
		snprintf(last, sizeof last, "%s", section);
		if (host_section_hash(snapshot, section, hash, NULL) == 0)
			set_text(sections, section, hash);
	}
	return sections;
}

static json_t *json_of_header(const struct host_snapshot *snapshot)
{
	const struct host_header *header = &snapshot->header;
	json_t *object = json_object();
	set_text(object, "schema", "tare.host/1");
	set_number(object, "table", header->revision);
	set_text(object, "hash", header->hash);
	set_number(object, "keys", (int64_t)snapshot->count);
	set_text(object, "tool", header->tool);
	set_text(object, "host", header->host);
	set_text(object, "machine", header->machine);
	set_text(object, "boot", header->boot);
	set_text(object, "kernel", header->kernel);
	set_number(object, "real_ns", header->real_ns);
	set_number(object, "up_ns", header->up_ns);
	set_number(object, "uid", header->uid);
	set_text(object, "caps", header->caps);
	set_text(object, "netns", header->netns);
	set_text(object, "mountns", header->mountns);
	set_text(object, "cgroup", header->cgroup);
	if (header->foreign)
		json_object_set_new(object, "foreign", json_true());
	if (header->approved) {
		set_text(object, "approved", header->approved);
		set_text(object, "by", header->by);
		set_text(object, "why", header->why);
		set_number(object, "approved_ns", header->approved_ns);
	}
	json_object_set_new(object, "sections", sections_of(snapshot));
	return object;
}

static json_t *json_of_fact(const struct host_fact *fact)
{
	char kind[2] = {host_kind_letter(fact->kind), '\0'};
	json_t *object = json_object();
	set_foreign(object, "key", fact->key);
	if (fact->status == HOST_OK)
		set_foreign(object, "value", fact->value);
	else
		set_text(object, "status", host_status_name(fact->status));
	set_text(object, "kind", kind);
	if (fact->via != HOST_VIA_FILE)
		set_text(object, "via", host_via_name(fact->via));
	if (fact->source)
		set_foreign(object, "source", fact->source);
	if (fact->failure)
		set_number(object, "errno", fact->failure);
	if (fact->unknown)
		json_object_set_new(object, "unknown", json_true());
	return object;
}

static int print_line(json_t *object, FILE *out, struct tare_err *err)
{
	AUTO_JSON owned = object;
	if (!object || json_dumpf(object, out, JSON_COMPACT) < 0 || fputc('\n', out) == EOF)
		return tare_fail_errno(err, errno, "cannot write the snapshot");
	return 0;
}

int host_snapshot_print(const struct host_snapshot *snapshot, FILE *out, struct tare_err *err)
{
	if (print_line(json_of_header(snapshot), out, err) < 0)
		return -1;
	for (size_t i = 0; i < snapshot->count; i++)
		if (print_line(json_of_fact(&snapshot->facts[i]), out, err) < 0)
			return -1;
	return 0;
}

int host_snapshot_save(const struct host_snapshot *snapshot, const char *path, unsigned mode, struct tare_err *err)
{
	char beside[HOST_STORE_PATH_BYTES + 32];
	struct text text = TEXT_IN(beside);
	text_add(&text, "%s.%ld.new", path, (long)getpid());
	if (text.cut)
		return tare_fail(err, TARE_E_USAGE, "the name '%s' is too long", path);
	int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	AUTO_FILE out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		int failure = errno;
		if (fd >= 0)
			close(fd);
		return tare_fail_errno(err, failure, "cannot write '%s'", beside);
	}
	int status = host_snapshot_print(snapshot, out, err);
	if (status == 0 &&
		(fflush(out) != 0 || fchmod(fd, (mode_t)mode) < 0 || fsync(fd) < 0 || rename(beside, path) < 0))
		status = tare_fail_errno(err, errno, "cannot write '%s'", path);
	if (status < 0)
		unlink(beside);
	return status;
}

/* ---- reading ---- */

static const char *text_of(struct host_snapshot *snapshot, const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? arena_text(snapshot->arena, text) : NULL;
}

static int64_t number_of(const json_t *object, const char *name)
{
	return (int64_t)json_integer_value(json_object_get(object, name));
}

static int take_header(struct host_snapshot *snapshot, const json_t *object, const char *where, char *hash,
	int64_t *ret_keys, struct tare_err *err)
{
	struct host_header *header = &snapshot->header;
	const char *schema = json_string_value(json_object_get(object, "schema"));
	const char *written = json_string_value(json_object_get(object, "hash"));
	if (!schema || strncmp(schema, "tare.host/", 10) != 0)
		return tare_fail(err, TARE_E_FORMAT,
			"%s: is no snapshot of a host (its first line names no schema tare.host)", where);
	if (strcmp(schema, "tare.host/1") != 0)
		return tare_fail(err, TARE_E_FORMAT, "%s: written by a newer tare (schema '%.40s')", where, schema);
	if (!written || strlen(written) != HOST_HASH_BYTES - 1)
		return tare_fail(err, TARE_E_FORMAT, "%s: the header has no hash", where);
	snprintf(hash, HOST_HASH_BYTES, "%s", written);
	int64_t revision = number_of(object, "table"), uid = number_of(object, "uid");
	header->revision = revision < 0 || revision > 1000000 ? 0 : (unsigned)revision;
	header->uid = uid < 0 || uid > UINT32_MAX ? 0 : (unsigned)uid;
	header->tool = text_of(snapshot, object, "tool");
	header->host = text_of(snapshot, object, "host");
	header->machine = text_of(snapshot, object, "machine");
	header->boot = text_of(snapshot, object, "boot");
	header->kernel = text_of(snapshot, object, "kernel");
	header->caps = text_of(snapshot, object, "caps");
	header->netns = text_of(snapshot, object, "netns");
	header->mountns = text_of(snapshot, object, "mountns");
	header->cgroup = text_of(snapshot, object, "cgroup");
	header->approved = text_of(snapshot, object, "approved");
	header->by = text_of(snapshot, object, "by");
	header->why = text_of(snapshot, object, "why");
	header->real_ns = number_of(object, "real_ns");
	header->up_ns = number_of(object, "up_ns");
	header->approved_ns = number_of(object, "approved_ns");
	header->foreign = json_is_true(json_object_get(object, "foreign"));
	*ret_keys = number_of(object, "keys");
	return 0;
}

static int take_fact(struct host_snapshot *snapshot, const json_t *object, const char *where, struct tare_err *err)
{
	struct host_fact fact = {.status = HOST_OK};
	fact.key = json_string_value(json_object_get(object, "key"));
	fact.value = json_string_value(json_object_get(object, "value"));
	fact.source = json_string_value(json_object_get(object, "source"));
	const char *status = json_string_value(json_object_get(object, "status"));
	const char *kind = json_string_value(json_object_get(object, "kind"));
	const char *via = json_string_value(json_object_get(object, "via"));
	int64_t failure = number_of(object, "errno");
	if (!fact.key || !fact.key[0])
		return tare_fail(err, TARE_E_FORMAT, "%s: a fact without a key", where);
	if (!kind || !host_kind_of(kind[0], &fact.kind) || kind[1])
		return tare_fail(err, TARE_E_FORMAT, "%s: '%.80s' has no kind", where, fact.key);
	if (status && !host_status_of(status, &fact.status))
		return tare_fail(err, TARE_E_FORMAT, "%s: '%.40s' is no status", where, status);
	if (via && !host_via_of(via, &fact.via))
		return tare_fail(err, TARE_E_FORMAT, "%s: '%.40s' is no way of reading", where, via);
	if ((fact.status == HOST_OK) != (fact.value != NULL))
		return tare_fail(
			err, TARE_E_FORMAT, "%s: '%.80s' needs a value or a status that says why not", where, fact.key);
	fact.failure = failure < 0 || failure > 4095 ? 0 : (int)failure;
	fact.unknown = json_is_true(json_object_get(object, "unknown"));
	host_snapshot_add(snapshot, &fact);
	return 0;
}

static int take_lines(char *text, const char *name, struct host_snapshot *snapshot, struct tare_err *err)
{
	char hash[HOST_HASH_BYTES] = "";
	int64_t keys = 0;
	unsigned number = 0;
	for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
		char where[300];
		json_error_t error;
		snprintf(where, sizeof where, "%.255s:%u", name, ++number);
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		if (strlen(line) > LINE_BYTES_MAX)
			return tare_fail(err, TARE_E_FORMAT, "%s: the line is too long", where);
		AUTO_JSON object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
		if (!json_is_object(object))
			return tare_fail(err, TARE_E_FORMAT, "%s: is no JSON object: %.100s", where,
				object ? "another kind" : error.text);
		if (number == 1 ? take_header(snapshot, object, where, hash, &keys, err) < 0
				: take_fact(snapshot, object, where, err) < 0)
			return -1;
	}
	if (number == 0)
		return tare_fail(err, TARE_E_FORMAT, "'%s' is empty: no snapshot of a host", name);
	if (snapshot->cut)
		return tare_fail(err, TARE_E_FORMAT, "'%s' holds more than %d facts", name, HOST_FACTS_MAX);
	if (host_snapshot_finish(snapshot, err) < 0)
		return -1;
	if ((int64_t)snapshot->count != keys)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s' should hold %" PRId64 " facts and holds %zu: it is cut short or was edited", name, keys,
			snapshot->count);
	if (strcmp(hash, snapshot->header.hash) != 0)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s' was changed after it was written: its facts do not give its hash", name);
	return 0;
}

int host_snapshot_parse(char *text, const char *name, struct host_snapshot **ret_snapshot, struct tare_err *err)
{
	struct host_snapshot *snapshot = NULL;
	if (host_snapshot_open(&snapshot, err) < 0)
		return -1;
	if (take_lines(text, name, snapshot, err) < 0) {
		host_snapshot_free(snapshot);
		return -1;
	}
	*ret_snapshot = snapshot;
	return 0;
}

int host_snapshot_load(const char *path, struct host_snapshot **ret_snapshot, struct tare_err *err)
{
	struct stat about;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &about) < 0)
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	if (!S_ISREG(about.st_mode) || about.st_size > FILE_BYTES_MAX)
		return tare_fail(
			err, TARE_E_FORMAT, "'%s' is no plain file of at most %d MB", path, FILE_BYTES_MAX >> 20);
	size_t size = (size_t)about.st_size, used = 0;
	AUTO_FREE char *text = malloc(size + 1);
	if (!text)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", path);
	while (used < size) {
		ssize_t got = read(fd, text + used, size - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tare_fail_errno(err, errno, "cannot read '%s'", path);
		if (got == 0)
			break;
		used += (size_t)got;
	}
	text[used] = '\0';
	if (memchr(text, '\0', used))
		return tare_fail(err, TARE_E_FORMAT, "'%s' holds bytes that are no text", path);
	return host_snapshot_parse(text, path, ret_snapshot, err);
}
