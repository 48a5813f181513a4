/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys in files: what is read as what, and which files are not read at all. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/secret.h"
#include "tap.h"

static const char HEX[] = "00112233445566778899AABBCCDDEEFF";

static int parse(const char *text, size_t length, uint8_t *key, size_t *bytes, struct tare_err *err)
{
	return secret_parse((const uint8_t *)text, length, "k", key, bytes, err);
}

static void texts(void)
{
	uint8_t key[SECRET_MOST_BYTES];
	size_t bytes = 0;
	struct tare_err err;
	OK(parse(HEX, 32, key, &bytes, &err) == 0 && bytes == 16 && key[0] == 0 && key[1] == 0x11 && key[15] == 0xff,
		"hexadecimal");
	OK(parse("0011223344556677\n8899 aabb\tccdd eeff \n", 38, key, &bytes, &err) == 0 && bytes == 16 && key[15] == 0xff,
		"in lines and groups, small letters");
	OK(parse("not hexadecimal!", 16, key, &bytes, &err) == 0 && bytes == 16 && memcmp(key, "not hexadecimal!", 16) == 0,
		"anything else is the key itself");
	OK(parse("not hexadecimal!\n", 17, key, &bytes, &err) == 0 && bytes == 16, "without the end of its line");
	OK(parse("not hexadecimal!\n\n", 18, key, &bytes, &err) == 0 && bytes == 17, "but only one");
	OK(parse("\0\1\2\3\4\5\6\7\0\1\2\3\4\5\6\7", 16, key, &bytes, &err) == 0 && bytes == 16 && key[7] == 7, "octets");
	OK(parse(HEX, 31, key, &bytes, &err) == -1 && strstr(err.text, "odd number"), "odd: %s", err.text);
	OK(parse(HEX, 30, key, &bytes, &err) == -1 && strstr(err.text, "15 octets"), "short: %s", err.text);
	OK(parse("", 0, key, &bytes, &err) == -1 && strstr(err.text, "0 octets"), "empty");
	OK(parse(" \n", 2, key, &bytes, &err) == -1 && strstr(err.text, "0 octets"), "blank");
	OK(parse("fifteen octets!", 15, key, &bytes, &err) == -1, "short raw");
	char many[2 * SECRET_MOST_BYTES + 2];
	memset(many, 'a', sizeof many);
	OK(parse(many, sizeof many - 2, key, &bytes, &err) == 0 && bytes == SECRET_MOST_BYTES, "as long as may be");
	OK(parse(many, sizeof many, key, &bytes, &err) == -1 && strstr(err.text, "more than 128"), "longer: %s", err.text);
	memset(many, 'z', sizeof many);
	OK(parse(many, SECRET_MOST_BYTES + 1, key, &bytes, &err) == -1, "longer, raw");
}

/* Whether a file of this mode and content is read; what is said if not, in err. */
static bool read_as(const char *path, unsigned mode, size_t fill, struct tare_err *err)
{
	uint8_t key[SECRET_MOST_BYTES];
	size_t bytes = 0;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return false;
	bool wrote = write(fd, HEX, 32) == 32;
	for (size_t i = 0; i < fill; i++)
		wrote &= write(fd, "\n", 1) == 1;
	wrote &= fchmod(fd, mode) == 0 && close(fd) == 0;
	bool read = wrote && secret_read(path, key, &bytes, err) == 0 && bytes == 16 && key[15] == 0xff;
	unlink(path);
	return read;
}

static void files(void)
{
	char folder[] = "/tmp/t_secret.XXXXXX", path[64];
	uint8_t key[SECRET_MOST_BYTES];
	size_t bytes;
	struct tare_err err = {0};
	if (!OK(mkdtemp(folder) != NULL, "a folder"))
		return;
	snprintf(path, sizeof path, "%s/key", folder);
	OK(read_as(path, 0600, 1, &err), "mode 0600");
	OK(read_as(path, 0400, 0, &err), "mode 0400");
	static const unsigned open_to_others[] = {0644, 0640, 0604, 0660, 0620, 0602, 0700, 04600};
	for (size_t i = 0; i < sizeof open_to_others / sizeof *open_to_others; i++) {
		err = (struct tare_err){0};
		OK(!read_as(path, open_to_others[i], 0, &err) && strstr(err.text, "chmod 600"), "mode %04o is refused",
			open_to_others[i]);
	}
	OK(!read_as(path, 0600, 1000, &err) && strstr(err.text, "more than 512 bytes"), "large: %s", err.text);
	OK(secret_read(path, key, &bytes, &err) == -1 && strstr(err.text, path), "none: %s", err.text);
	OK(secret_read(folder, key, &bytes, &err) == -1 && strstr(err.text, "no regular file"), "folder: %s", err.text);
	OK(mkfifo(path, 0600) == 0 && secret_read(path, key, &bytes, &err) == -1 && strstr(err.text, "no regular file"),
		"a pipe is not waited for");
	unlink(path);
	rmdir(folder);
}

static void wiped(void)
{
	uint8_t key[SECRET_MOST_BYTES];
	memset(key, 0xee, sizeof key);
	secret_wipe(key, sizeof key);
	size_t left = 0;
	for (size_t i = 0; i < sizeof key; i++)
		left += key[i] != 0;
	IS_I64(left, 0, "wiped");
}

int main(void)
{
	texts();
	files();
	wiped();
	return tap_done();
}
