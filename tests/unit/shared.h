/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of others that may not be copied into the tree: looked for, and skipped where they are not. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

/* In the folder that $TARE_SHARED names, or in "shared" one or two levels above the source tree; NULL: not there. */
static inline const char *shared_file(const char *name)
{
	static char path[4096];
	const char *folder = getenv("TARE_SHARED"), *data = getenv("TARE_TEST_DATA");
	static const char *const above[] = {"../../../shared", "../../../../shared"};
	for (size_t i = 0; i < 2; i++) {
		if (folder)
			snprintf(path, sizeof(path), "%s/%s", folder, name);
		else
			snprintf(path, sizeof(path), "%s/%s/%s", data ? data : ".", above[i], name);
		FILE *file = fopen(path, "rb");
		if (file) {
			fclose(file);
			return path;
		}
	}
	return NULL;
}
