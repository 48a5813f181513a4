/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collecting, sorting, finding and hashing facts. SHA-256 comes from libcrypto. */
#include "host/snapshot.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

/* Reserved, not used: an arena touches only the pages it hands out. */
#define ARENA_BYTES ((size_t)64 << 20)
enum { KEY_BYTES = 512 };

int host_snapshot_open(struct host_snapshot **ret_snapshot, struct tare_err *err)
{
	struct host_snapshot *snapshot = calloc(1, sizeof *snapshot);
	if (!snapshot)
		return tare_fail_errno(err, ENOMEM, "cannot keep the facts of a host");
	if (arena_open(ARENA_BYTES, 0, &snapshot->arena, err) < 0) {
		free(snapshot);
		return -1;
	}
	snapshot->header.schema = 1;
	snapshot->header.revision = HOST_TABLE_REVISION;
	*ret_snapshot = snapshot;
	return 0;
}

void host_snapshot_free(struct host_snapshot *snapshot)
{
	if (!snapshot)
		return;
	arena_free(snapshot->arena);
	free(snapshot->facts);
	free(snapshot);
}

static const char *keep(struct host_snapshot *snapshot, const char *text, const char *like)
{
	if (!text)
		return NULL;
	/* sources repeat from fact to fact */
	if (like && strcmp(text, like) == 0)
		return like;
	const char *copy = arena_text(snapshot->arena, text);
	if (!copy)
		snapshot->cut = true;
	return copy;
}

void host_snapshot_add(struct host_snapshot *snapshot, const struct host_fact *fact)
{
	if (snapshot->count == snapshot->room) {
		size_t room = snapshot->room ? snapshot->room * 2 : 1024;
		struct host_fact *more =
			room <= HOST_FACTS_MAX * (size_t)2 ? realloc(snapshot->facts, room * sizeof *more) : NULL;
		if (!more) {
			snapshot->cut = true;
			return;
		}
		snapshot->facts = more;
		snapshot->room = room;
	}
	if (snapshot->count >= HOST_FACTS_MAX) {
		snapshot->cut = true;
		return;
	}
	const struct host_fact *last = snapshot->count ? &snapshot->facts[snapshot->count - 1] : NULL;
	struct host_fact kept = *fact;
	kept.key = keep(snapshot, fact->key, NULL);
	kept.value = fact->status == HOST_OK ? keep(snapshot, fact->value ? fact->value : "", NULL) : NULL;
	kept.source = keep(snapshot, fact->source, last ? last->source : NULL);
	if (!kept.row)
		kept.row = host_key_of(fact->key);
	if (kept.key && (kept.value || fact->status != HOST_OK))
		snapshot->facts[snapshot->count++] = kept;
}

/* By key; among equals the one added first stands first. */
static int by_key(const void *left, const void *right)
{
	const struct host_fact *a = left, *b = right;
	int order = strcmp(a->key, b->key);
	if (order != 0)
		return order;
	/* keys lie in the arena in the order in which they were added */
	return a->key < b->key ? -1 : a->key > b->key;
}

bool host_is_setting(const struct host_fact *fact)
{
	return fact->kind == HOST_BOOT || fact->kind == HOST_RUNTIME || fact->kind == HOST_IDENTITY;
}

static void end_digest(EVP_MD_CTX *const *digest)
{
	EVP_MD_CTX_free(*digest);
}

static bool in_section(const char *key, const char *section)
{
	size_t length = strlen(section);
	return length == 0 || (strncmp(key, section, length) == 0 && (key[length] == '.' || key[length] == '['));
}

/* Only what could be read counts: a snapshot without privileges must not differ by what it lacks. */
static int hash_settings(
	const struct host_snapshot *snapshot, const char *section, char ret_hash[HOST_HASH_BYTES], struct tare_err *err)
{
	AUTO_CLEANUP(end_digest) EVP_MD_CTX *digest = EVP_MD_CTX_new();
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	bool good = digest && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1;
	for (size_t i = 0; good && i < snapshot->count; i++) {
		const struct host_fact *fact = &snapshot->facts[i];
		if (!host_is_setting(fact) || fact->status != HOST_OK || !in_section(fact->key, section))
			continue;
		good = EVP_DigestUpdate(digest, fact->key, strlen(fact->key)) == 1 &&
		       EVP_DigestUpdate(digest, "\t", 1) == 1 &&
		       EVP_DigestUpdate(digest, fact->value, strlen(fact->value)) == 1 &&
		       EVP_DigestUpdate(digest, "\n", 1) == 1;
	}
	if (!good || EVP_DigestFinal_ex(digest, bytes, &length) != 1 || length != 32)
		return tare_fail(err, TARE_E_SYSTEM, "cannot compute SHA-256");
	for (size_t i = 0; i < length; i++)
		snprintf(ret_hash + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

int host_section_hash(
	const struct host_snapshot *snapshot, const char *section, char ret_hash[HOST_HASH_BYTES], struct tare_err *err)
{
	return hash_settings(snapshot, section, ret_hash, err);
}

int host_snapshot_finish(struct host_snapshot *snapshot, struct tare_err *err)
{
	if (snapshot->count > 1)
		qsort(snapshot->facts, snapshot->count, sizeof *snapshot->facts, by_key);
	size_t kept = 0;
	for (size_t i = 0; i < snapshot->count; i++)
		if (kept == 0 || strcmp(snapshot->facts[kept - 1].key, snapshot->facts[i].key) != 0)
			snapshot->facts[kept++] = snapshot->facts[i];
	snapshot->count = kept;
	return hash_settings(snapshot, "", snapshot->header.hash, err);
}

static int against_key(const void *key, const void *fact)
{
	return strcmp(key, ((const struct host_fact *)fact)->key);
}

const struct host_fact *host_find(const struct host_snapshot *snapshot, const char *key)
{
	if (snapshot->count == 0)
		return NULL;
	return bsearch(key, snapshot->facts, snapshot->count, sizeof *snapshot->facts, against_key);
}

const char *host_value(const struct host_snapshot *snapshot, const char *key)
{
	const struct host_fact *fact = host_find(snapshot, key);
	return fact && fact->status == HOST_OK && !fact->unknown ? fact->value : NULL;
}

bool host_number(const struct host_snapshot *snapshot, const char *key, int64_t *ret_number)
{
	const char *value = host_value(snapshot, key);
	char *end;
	if (!value || !*value)
		return false;
	errno = 0;
	long long number = strtoll(value, &end, 10);
	if (errno || *end)
		return false;
	*ret_number = number;
	return true;
}

const struct host_fact *host_find_of(const struct host_snapshot *snapshot, const char *name, const char *instance)
{
	char key[KEY_BYTES];
	return host_key_text(name, instance, key, sizeof key) ? host_find(snapshot, key) : NULL;
}

const struct host_fact *host_next(const struct host_snapshot *snapshot, const char *prefix, size_t *cursor)
{
	size_t length = strlen(prefix);
	if (*cursor == 0) {
		size_t low = 0, high = snapshot->count;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (strcmp(snapshot->facts[middle].key, prefix) < 0)
				low = middle + 1;
			else
				high = middle;
		}
		*cursor = low + 1;
	} else {
		++*cursor;
	}
	size_t at = *cursor - 1;
	if (at >= snapshot->count || strncmp(snapshot->facts[at].key, prefix, length) != 0)
		return NULL;
	return &snapshot->facts[at];
}

struct host_tally host_tally_of(const struct host_snapshot *snapshot)
{
	struct host_tally tally = {.keys = snapshot->count};
	for (size_t i = 0; i < snapshot->count; i++) {
		enum host_status status = snapshot->facts[i].status;
		if (status == HOST_OK)
			tally.readable++;
		else if (status == HOST_ABSENT || status == HOST_UNSUPPORTED)
			tally.not_applicable++;
		else if (status == HOST_SKIPPED)
			tally.skipped++;
		else
			tally.unreadable++;
	}
	return tally;
}

double host_completeness(const struct host_tally *tally)
{
	size_t possible = tally->readable + tally->unreadable;
	return possible ? 100.0 * (double)tally->readable / (double)possible : 100.0;
}
