/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the build put in (embed.py): dygraphs, its style and our own script; 0 bytes where dygraphs was not there. */
#pragma once
#include <stddef.h>

extern const unsigned char page_dygraphs[];
extern const size_t page_dygraphs_bytes;
extern const unsigned char page_dygraphs_style[];
extern const size_t page_dygraphs_style_bytes;
extern const unsigned char page_script[];
extern const size_t page_script_bytes;
