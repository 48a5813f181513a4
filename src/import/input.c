/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw bytes come from a stream or from memory, go through at most one unpacker,
 * and end in a block whose unread part moves to its front before each refill.
 * The block grows only when a reader needs more at once than fits, and only as
 * far as bytes really came.
 */
#include "import/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cleanup.h"

enum { BLOCK_BYTES = 256 << 10, ZSTD_WINDOW_LOG_MAX = 27 };
static const uint64_t FREE_BYTES = UINT64_C(1) << 26;
enum { RATIO_MAX = 500 };

enum coding { PLAIN, GZIP, ZSTD };

struct input {
	struct input_window window;
	const char *name;
	/* raw side: one of stream and memory */
	FILE *stream;
	off_t start; /* where a seekable stream began; -1: a pipe */
	FILE *spool; /* copy of what a pipe gave; read from once `replaying` */
	bool replaying, spool_complete;
	const uint8_t *memory;
	size_t memory_bytes, memory_at;
	uint8_t *raw; /* packed bytes not yet unpacked */
	size_t raw_at, raw_end;
	uint64_t raw_read;
	bool raw_over;
	/* unpacked side */
	uint8_t *block;
	size_t room;
	uint64_t block_offset; /* of block[0] */
	uint64_t made;
	bool over;
	enum coding coding;
	z_stream gzip;
	bool gzip_open, member_done;
	ZSTD_DStream *zstd;
	size_t zstd_hint; /* 0 between frames */
	uint64_t free_bytes, ratio;
	struct tare_err failure;
};

static int read_stream(struct input *input, uint8_t *to, size_t room, size_t *ret_bytes, struct tare_err *err)
{
	FILE *from = input->replaying ? input->spool : input->stream;
	size_t got = fread(to, 1, room, from);
	if (got < room && ferror(from))
		return tare_fail_errno(err, errno ? errno : EIO, "cannot read '%s'", input->name);
	if (got && input->spool && !input->replaying && fwrite(to, 1, got, input->spool) != got)
		return tare_fail_errno(
			err, errno ? errno : EIO, "cannot keep what '%s' brings in a temporary file", input->name);
	if (!got && input->replaying && !input->spool_complete) {
		/* the pipe was read only in part before the rewind: go on with it, still keeping */
		input->replaying = false;
		return read_stream(input, to, room, ret_bytes, err);
	}
	*ret_bytes = got;
	return 0;
}

static int read_raw(struct input *input, uint8_t *to, size_t room, size_t *ret_bytes, struct tare_err *err)
{
	size_t got = 0;
	if (input->memory) {
		size_t left = input->memory_bytes - input->memory_at;
		got = left < room ? left : room;
		if (got)
			memcpy(to, input->memory + input->memory_at, got);
		input->memory_at += got;
	} else if (!input->raw_over && read_stream(input, to, room, &got, err)) {
		return -1;
	}
	input->raw_read += got;
	input->raw_over = got == 0;
	*ret_bytes = got;
	return 0;
}

/* At least one packed byte in `raw`, unless the file is over. */
static int more_raw(struct input *input, struct tare_err *err)
{
	if (input->raw_at < input->raw_end || input->raw_over)
		return 0;
	input->raw_at = input->raw_end = 0;
	return read_raw(input, input->raw, BLOCK_BYTES, &input->raw_end, err);
}

static int unpack_gzip(struct input *input, uint8_t *to, size_t room, size_t *ret_bytes, struct tare_err *err)
{
	*ret_bytes = 0;
	while (*ret_bytes == 0) {
		if (more_raw(input, err))
			return -1;
		if (input->raw_at == input->raw_end) {
			if (input->member_done)
				return 0;
			return tare_fail(err, TARE_E_FORMAT, "'%s' is cut off inside its gzip data, at byte %" PRIu64,
				input->name, input->raw_read);
		}
		if (input->member_done) {
			/* what follows a member is another one, or padding that gzip ignores as well */
			if (input->raw[input->raw_at] != 0x1f)
				return input->raw_at = input->raw_end, input->raw_over = true, 0;
			inflateReset(&input->gzip);
			input->member_done = false;
		}
		input->gzip.next_in = input->raw + input->raw_at;
		input->gzip.avail_in = (uInt)(input->raw_end - input->raw_at);
		input->gzip.next_out = to;
		input->gzip.avail_out = (uInt)room;
		int status = inflate(&input->gzip, Z_NO_FLUSH);
		input->raw_at = input->raw_end - input->gzip.avail_in;
		*ret_bytes = room - input->gzip.avail_out;
		if (status == Z_STREAM_END)
			input->member_done = true;
		else if (status != Z_OK && status != Z_BUF_ERROR)
			return tare_fail(err, TARE_E_FORMAT, "'%s': damaged gzip data near byte %" PRIu64 " (%s)",
				input->name, input->raw_read, input->gzip.msg ? input->gzip.msg : "no reason given");
	}
	return 0;
}

static int unpack_zstd(struct input *input, uint8_t *to, size_t room, size_t *ret_bytes, struct tare_err *err)
{
	ZSTD_outBuffer out = {.dst = to, .size = room};
	while (out.pos == 0) {
		if (more_raw(input, err))
			return -1;
		ZSTD_inBuffer in = {.src = input->raw, .size = input->raw_end, .pos = input->raw_at};
		bool starved = in.pos == in.size;
		if (starved && input->zstd_hint == 0)
			break;
		size_t hint = ZSTD_decompressStream(input->zstd, &out, &in);
		if (ZSTD_isError(hint))
			return tare_fail(err, TARE_E_FORMAT, "'%s': damaged zstd data near byte %" PRIu64 " (%s)",
				input->name, input->raw_read, ZSTD_getErrorName(hint));
		if (starved && out.pos == 0)
			return tare_fail(err, TARE_E_FORMAT, "'%s' is cut off inside its zstd data, at byte %" PRIu64,
				input->name, input->raw_read);
		input->raw_at = in.pos;
		input->zstd_hint = hint;
	}
	*ret_bytes = out.pos;
	return 0;
}

static int unpack(struct input *input, uint8_t *to, size_t room, size_t *ret_bytes, struct tare_err *err)
{
	if (input->coding == PLAIN && input->raw_at == input->raw_end)
		return read_raw(input, to, room, ret_bytes, err);
	if (input->coding == PLAIN) {
		size_t left = input->raw_end - input->raw_at;
		*ret_bytes = left < room ? left : room;
		memcpy(to, input->raw + input->raw_at, *ret_bytes);
		input->raw_at += *ret_bytes;
		return 0;
	}
	int failed = input->coding == GZIP ? unpack_gzip(input, to, room, ret_bytes, err)
					   : unpack_zstd(input, to, room, ret_bytes, err);
	if (failed)
		return -1;
	input->made += *ret_bytes;
	if (input->made > input->free_bytes && input->made / input->ratio > input->raw_read)
		return tare_fail(err, TARE_E_FORMAT,
			"'%s' grows to more than %" PRIu64 " times its size (%" PRIu64 " bytes from %" PRIu64
			"): refused as a decompression bomb",
			input->name, input->ratio, input->made, input->raw_read);
	return 0;
}

static int fail_memory(const struct input *input, struct tare_err *err)
{
	return tare_fail_errno(err, ENOMEM, "cannot read '%s'", input->name);
}

int64_t input_need(struct input *input, size_t bytes, struct tare_err *err)
{
	size_t have = (size_t)(input->window.end - input->window.at);
	while (have < bytes && !input->over) {
		size_t at = (size_t)(input->window.at - input->block);
		if (at) {
			memmove(input->block, input->window.at, have);
			input->block_offset += at;
		}
		if (have == input->room) {
			uint8_t *larger = realloc(input->block, input->room * 2);
			if (!larger)
				return fail_memory(input, err);
			input->block = larger;
			input->room *= 2;
		}
		input->window = (struct input_window){input->block, input->block + have};
		size_t got = 0;
		if (unpack(input, input->block + have, input->room - have, &got, err)) {
			if (err)
				input->failure = *err;
			return -1;
		}
		input->over = got == 0;
		have += got;
		input->window.end = input->block + have;
	}
	return (int64_t)have;
}

struct input_window *input_window(struct input *input)
{
	return &input->window;
}

uint64_t input_offset(const struct input *input)
{
	return input->block_offset + (uint64_t)(input->window.at - input->block);
}

const char *input_coding(const struct input *input)
{
	return input->coding == GZIP ? "gzip" : input->coding == ZSTD ? "zstd" : NULL;
}

void input_limit(struct input *input, uint64_t free_bytes, uint64_t ratio)
{
	input->free_bytes = free_bytes;
	input->ratio = ratio ? ratio : 1;
}

static int begin(struct input *input, struct tare_err *err)
{
	static const uint8_t gzip_magic[] = {0x1f, 0x8b, 8}, zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	input->window = (struct input_window){input->block, input->block};
	input->block_offset = input->made = input->raw_read = 0;
	input->over = input->raw_over = input->member_done = false;
	input->raw_at = input->raw_end = 0;
	while (input->raw_end < sizeof(zstd_magic) && !input->raw_over) {
		size_t got = 0;
		if (read_raw(input, input->raw + input->raw_end, BLOCK_BYTES - input->raw_end, &got, err))
			return -1;
		input->raw_end += got;
	}
	input->coding = PLAIN;
	if (input->raw_end >= sizeof(gzip_magic) && memcmp(input->raw, gzip_magic, sizeof(gzip_magic)) == 0)
		input->coding = GZIP;
	else if (input->raw_end >= sizeof(zstd_magic) && memcmp(input->raw, zstd_magic, sizeof(zstd_magic)) == 0)
		input->coding = ZSTD;
	if (input->coding == GZIP) {
		if (input->gzip_open ? inflateReset(&input->gzip) : inflateInit2(&input->gzip, 15 + 16))
			return fail_memory(input, err);
		input->gzip_open = true;
	} else if (input->coding == ZSTD) {
		if (!input->zstd && !(input->zstd = ZSTD_createDStream()))
			return fail_memory(input, err);
		input->zstd_hint = ZSTD_initDStream(input->zstd);
		ZSTD_DCtx_setParameter(input->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	}
	return 0;
}

static void auto_input_end(struct input *const *input)
{
	input_free(*input);
}

static struct input *make(const char *name, struct tare_err *err)
{
	struct input *input = calloc(1, sizeof(*input));
	if (input) {
		input->name = name;
		input->start = -1;
		input->room = BLOCK_BYTES;
		input->block = malloc(BLOCK_BYTES);
		input->raw = malloc(BLOCK_BYTES);
		input_limit(input, FREE_BYTES, RATIO_MAX);
	}
	if (!input || !input->block || !input->raw) {
		input_free(input);
		tare_fail_errno(err, ENOMEM, "cannot read '%s'", name);
		return NULL;
	}
	return input;
}

/* Disk rather than /tmp, which may be memory. */
static FILE *temporary(void)
{
	const char *folder = getenv("TMPDIR");
	AUTO_FD fd = open(folder && *folder ? folder : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? tmpfile() : fdopen(fd, "w+");
	if (file)
		take_fd(&fd);
	return file;
}

int input_open(FILE *stream, const char *name, struct input **ret_input, struct tare_err *err)
{
	AUTO_CLEANUP(auto_input_end) struct input *input = make(name, err);
	if (!input)
		return -1;
	input->stream = stream;
	input->start = ftello(stream);
	if (input->start < 0 && !(input->spool = temporary()))
		return tare_fail_errno(err, errno, "cannot make a temporary file for '%s'", name);
	if (begin(input, err))
		return -1;
	*ret_input = take_ptr(input);
	return 0;
}

int input_open_bytes(const void *bytes, size_t count, const char *name, struct input **ret_input, struct tare_err *err)
{
	AUTO_CLEANUP(auto_input_end) struct input *input = make(name, err);
	if (!input)
		return -1;
	input->memory = count ? bytes : (const void *)"";
	input->memory_bytes = count;
	if (begin(input, err))
		return -1;
	*ret_input = take_ptr(input);
	return 0;
}

void input_free(struct input *input)
{
	if (!input)
		return;
	if (input->gzip_open)
		inflateEnd(&input->gzip);
	ZSTD_freeDStream(input->zstd);
	if (input->spool)
		fclose(input->spool);
	free(input->raw);
	free(input->block);
	free(input);
}

int input_rewind(struct input *input, struct tare_err *err)
{
	if (input->memory) {
		input->memory_at = 0;
	} else if (input->start >= 0) {
		clearerr(input->stream);
		if (fseeko(input->stream, input->start, SEEK_SET))
			return tare_fail_errno(err, errno, "cannot read '%s' a second time", input->name);
	} else {
		if (!input->spool)
			return tare_fail(err, TARE_E_SYSTEM, "cannot read '%s' a second time", input->name);
		input->spool_complete = input->spool_complete || input->raw_over;
		if (fflush(input->spool) || fseeko(input->spool, 0, SEEK_SET))
			return tare_fail_errno(
				err, errno, "cannot keep what '%s' brings in a temporary file", input->name);
		input->replaying = true;
	}
	return begin(input, err);
}

void input_forget(struct input *input)
{
	if (input->spool && !input->replaying) {
		fclose(input->spool);
		input->spool = NULL;
	}
}

static ssize_t stream_read(void *cookie, char *buffer, size_t room)
{
	struct input *input = cookie;
	int64_t have = input_need(input, 1, &input->failure);
	if (have < 0) {
		errno = EIO;
		return -1;
	}
	size_t bytes = (size_t)have < room ? (size_t)have : room;
	memcpy(buffer, input->window.at, bytes);
	input->window.at += bytes;
	return (ssize_t)bytes;
}

FILE *input_stream(struct input *input, struct tare_err *err)
{
	FILE *stream = fopencookie(input, "r", (cookie_io_functions_t){.read = stream_read});
	if (!stream)
		fail_memory(input, err);
	return stream;
}

const struct tare_err *input_failure(const struct input *input)
{
	return input->failure.code ? &input->failure : NULL;
}
