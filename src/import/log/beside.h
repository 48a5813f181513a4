/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A second file of the same log: while it is open, import->name and import->lines
 * are those of it, so that messages name the right one.
 */
#pragma once
#include "import/import_private.h"

struct beside {
	char *name;
	struct lines *lines;
	FILE *stream, *unpacked;
	struct input *input;
};

/* Packed or not. On failure nothing is left open and the import is as before. */
int beside_open(struct import *import, const char *path, struct beside *ret_beside, struct tare_err *err) TARE_MUST_USE;
/* The import is as before. -1 when unpacking had failed, with its reason in err. */
int beside_close(struct import *import, struct beside *beside, struct tare_err *err) TARE_MUST_USE;
