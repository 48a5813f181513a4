/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sentences broken to the width of the terminal, by columns and not by bytes.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/report.h"
#include "report/utf8.h"

/* Words of `line` (which is cut up), broken before `width`. */
static void write_line(FILE *out, int width, char *line)
{
	int used = 0;
	char *rest = line;
	/* Blanks in front are an indentation to keep. */
	size_t lead = strspn(line, " ");
	fprintf(out, "%.*s", (int)lead, line);
	used = (int)lead;
	rest += lead;
	while (*rest) {
		size_t length = strcspn(rest, " ");
		char after = rest[length];
		rest[length] = 0;
		int columns = utf8_columns(rest);
		if (used > (int)lead && width > 0 && used + 1 + columns > width) {
			fprintf(out, "\n%.*s  ", (int)lead, line);
			used = (int)lead + 2;
		} else if (used > (int)lead) {
			fputc(' ', out);
			used++;
		}
		fputs(rest, out);
		used += columns;
		rest += length + (after ? 1 : 0);
	}
	fputc('\n', out);
}

void report_sentence(FILE *out, int width, const char *format, ...)
{
	AUTO_FREE char *text = NULL;
	va_list args;
	va_start(args, format);
	int length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0) {
		text = NULL;
		return;
	}
	/* Not even line feeds: a label must not look like a sentence of ours. */
	AUTO_FREE char *safe = utf8_safe(text, "");
	if (safe)
		write_line(out, width, safe);
}
