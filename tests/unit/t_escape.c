/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes as users write them. */
#include "base/escape.h"
#include "tap.h"

static void is_bytes(const char *text, const char *want, size_t count, const char *name)
{
	uint8_t bytes[64];
	size_t got = 0;
	struct tare_err err = {0};
	OK(parse_escapes(text, bytes, sizeof bytes, &got, &err) == 0 && got == count && memcmp(bytes, want, count) == 0,
		"%s", name);
}

static void refused(const char *text, size_t room, const char *word)
{
	uint8_t bytes[64] = {0x5a};
	size_t got = 77;
	struct tare_err err = {0};
	OK(parse_escapes(text, bytes, room, &got, &err) < 0 && err.code == TARE_E_USAGE && strstr(err.text, word) &&
			got == 77,
		"'%s' is refused: %s", text, err.text);
}

int main(void)
{
	is_bytes("PING\\r\\n", "PING\r\n", 6, "a line of redis");
	is_bytes("", "", 0, "nothing");
	is_bytes("\\x00\\xfF\\0\\e", "\0\377\0\033", 4, "hexadecimal, either case, and zero bytes");
	is_bytes("a\\\\n", "a\\n", 3, "a backslash of its own");
	is_bytes("grün", "grün", 5, "what is no escape stands for itself");
	refused("\\q", 64, "\\q");
	refused("\\x4", 64, "\\x");
	refused("end\\", 64, "unknown escape");
	refused("abc", 2, "longer than 2");
	return tap_done();
}
