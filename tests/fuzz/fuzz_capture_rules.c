/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What users write about captures, in any form: understood or refused with a sentence. The first byte says where it
 * stands. */
#include <stdlib.h>
#include <string.h>

#include "import/capture/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes < 1 || bytes > 4096)
		return 0;
	char *text = malloc(bytes);
	if (!text)
		return 0;
	memcpy(text, data + 1, bytes - 1);
	text[bytes - 1] = '\0';
	struct capture_rules rules = {0};
	const char **places[] = {&rules.key, &rules.service, &rules.stamps, &rules.seen_at, &rules.from, &rules.to,
		&rules.clock, &rules.marks, &rules.line_rate};
	*places[data[0] % 9] = text;
	if (data[0] & 0x80)
		rules.to = "interface:1";
	struct capture_plan plan;
	struct tare_err err = {0};
	/* expressions of others' making may take forever to compile: users only slow themselves down */
	if ((rules.key != text || strncmp(text, "re:", 3) != 0) && capture_plan_of(&rules, &plan, &err) == 0)
		capture_plan_end(&plan);
	else if (rules.key != text && !err.text[0])
		abort();
	free(text);
	return 0;
}
