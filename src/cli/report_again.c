/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How to reproduce: the command lines, the versions, and which files exactly this page was made from. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/report.h"

static void end_digest(EVP_MD_CTX *const *digest)
{
	EVP_MD_CTX_free(*digest);
}

static int hash_file(const char *path, char ret_hex[65], struct tare_err *err)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char buffer[65536], bytes[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	ssize_t got;
	AUTO_CLEANUP(end_digest) EVP_MD_CTX *digest = EVP_MD_CTX_new();
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	bool good = digest && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1;
	while (good && (got = read(fd, buffer, sizeof(buffer))) != 0) {
		if (got < 0)
			return tare_fail_errno(err, errno, "cannot read '%s'", path);
		good = EVP_DigestUpdate(digest, buffer, (size_t)got) == 1;
	}
	if (!good || EVP_DigestFinal_ex(digest, bytes, &length) != 1 || length != 32)
		return tare_fail(err, TARE_E_SYSTEM, "cannot work out the SHA-256 of '%s'", path);
	for (size_t i = 0; i < 32; i++) {
		ret_hex[2 * i] = digits[bytes[i] >> 4];
		ret_hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret_hex[64] = '\0';
	return 0;
}

static void write_runs(const struct page *page, struct tare_recording *recording)
{
	enum { RUNS_MOST = 20 };
	const struct tare_run *runs;
	size_t count = tare_recording_runs(recording, &runs);
	char name[48];
	for (size_t i = 0; i < count && i < RUNS_MOST; i++) {
		struct text text = TEXT_IN(name);
		text_add(&text, "run %" PRId64, runs[i].id);
		page_item(page, name, runs[i].command_line);
	}
}

int report_again_write(struct cli *cli, const struct page *page, struct source *const *sources, char *const *paths,
	int count, struct tare_err *err)
{
	char *line = NULL;
	size_t bytes = 0;
	page_list(page);
	for (int i = 0; i < count; i++) {
		struct tare_recording *recording = source_recording(sources[i]);
		char hex[65];
		page_item(page, "file", paths[i]);
		if (source_is_rereadable(paths[i])) {
			if (hash_file(paths[i], hex, err))
				return -1;
			page_item(page, "sha256", hex);
		}
		if (recording)
			write_runs(page, recording);
	}
	FILE *out = open_memstream(&line, &bytes);
	for (int i = 0; out && i < cli->argc; i++)
		fprintf(out, "%s%s", i ? " " : "", cli->argv[i]);
	if (out)
		fclose(out);
	page_item(page, "this page", line);
	page_item(page, "made by", page->version);
	page_list_end(page);
	free(line);
	return 0;
}
