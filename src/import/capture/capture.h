/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures behind the door of import.h; nobody but import.c includes it. */
#pragma once
#include "import/import_private.h"

bool capture_knows(const void *head, size_t head_bytes);
extern const struct import_format capture_format;
