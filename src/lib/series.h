/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the folder's own files share about series. */
#pragma once
#include "tare/sample.h"

/* Requests handled at a time: 8 KiB of values stays in the first-level cache between computing and counting. */
enum { SERIES_BLOCK = 1024 };
