/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading keys. What is judged is the open file, never its name again, so that it
 * cannot be exchanged in between; and it is opened without waiting, since a name
 * may be a pipe's.
 */
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Hexadecimal digits in lines and groups, and something over. */
enum { FILE_MOST_BYTES = 4 * SECRET_MOST_BYTES };

void secret_wipe(void *memory, size_t bytes)
{
	explicit_bzero(memory, bytes);
}

static int digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Number of digits; -1 when there is anything but digits and white space. */
static int digits_of(const uint8_t *text, size_t length)
{
	int digits = 0;
	for (size_t i = 0; i < length; i++) {
		if (is_blank(text[i]))
			continue;
		if (digit_of(text[i]) < 0)
			return -1;
		digits++;
	}
	return digits;
}

static int check_length(size_t bytes, const char *name, struct tare_err *err)
{
	if (bytes < SECRET_LEAST_BYTES)
		return tare_fail(err, TARE_E_FORMAT,
			"the key in '%.200s' has %zu octets, at least %d are needed; one is made by "
			"'openssl rand -hex 32'",
			name, bytes, SECRET_LEAST_BYTES);
	if (bytes > SECRET_MOST_BYTES)
		return tare_fail(err, TARE_E_FORMAT, "the key in '%.200s' has more than %d octets", name, SECRET_MOST_BYTES);
	return 0;
}

int secret_parse(const uint8_t *text, size_t length, const char *name, uint8_t buffer[SECRET_MOST_BYTES],
	size_t *ret_bytes, struct tare_err *err)
{
	int digits = digits_of(text, length);
	if (digits > 0 && digits % 2)
		return tare_fail(err, TARE_E_FORMAT, "the key in '%.200s' has an odd number of hexadecimal digits, %d",
			name, digits);
	if (digits < 0 && text[length - 1] == '\n')
		length--;
	size_t bytes = digits < 0 ? length : (size_t)digits / 2, n = 0;
	if (check_length(bytes, name, err) < 0)
		return -1;
	if (digits < 0) {
		memcpy(buffer, text, bytes);
		*ret_bytes = bytes;
		return 0;
	}
	for (size_t i = 0; i < length; i++) {
		if (is_blank(text[i]))
			continue;
		int digit = digit_of(text[i]);
		buffer[n / 2] = (uint8_t)(n % 2 ? buffer[n / 2] | digit : digit << 4);
		n++;
	}
	*ret_bytes = bytes;
	return 0;
}

static int check_file(int fd, const char *path, struct tare_err *err)
{
	struct stat state;
	if (fstat(fd, &state) < 0)
		return tare_fail_errno(err, errno, "cannot look at '%.200s'", path);
	if (!S_ISREG(state.st_mode))
		return tare_fail(err, TARE_E_SYSTEM, "'%.200s' is no regular file: no key is read from it", path);
	if (state.st_uid != geteuid())
		return tare_fail(err, TARE_E_SYSTEM,
			"the key in '%.200s' belongs to user %u, not to us (%u): it is not used\n"
			"  chown %u it, or take a copy of your own",
			path, (unsigned)state.st_uid, (unsigned)geteuid(), (unsigned)geteuid());
	unsigned mode = state.st_mode & 07777;
	if (mode != 0600 && mode != 0400)
		return tare_fail(err, TARE_E_SYSTEM,
			"the key in '%.200s' has mode %04o where 0600 or 0400 is asked for: it is not used\n"
			"  chmod 600 it, and make a new key if others could read this one",
			path, mode);
	return 0;
}

int secret_read(const char *path, uint8_t buffer[SECRET_MOST_BYTES], size_t *ret_bytes, struct tare_err *err)
{
	uint8_t text[FILE_MOST_BYTES + 1];
	size_t used = 0;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot open the key file '%.200s'", path);
	if (check_file(fd, path, err) < 0)
		return -1;
	for (;;) {
		ssize_t got = read(fd, text + used, sizeof text - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int why = errno;
			secret_wipe(text, sizeof text);
			return tare_fail_errno(err, why, "cannot read the key file '%.200s'", path);
		}
		used += (size_t)got;
		if (got == 0 || used == sizeof text)
			break;
	}
	int status = used > FILE_MOST_BYTES
		? tare_fail(err, TARE_E_FORMAT, "the key file '%.200s' has more than %d bytes", path, FILE_MOST_BYTES)
		: secret_parse(text, used, path, buffer, ret_bytes, err);
	secret_wipe(text, sizeof text);
	if (status < 0)
		secret_wipe(buffer, SECRET_MOST_BYTES);
	return status;
}
