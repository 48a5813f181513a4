/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stdio does not keep: why writing failed. */
#pragma once
#include <stdio.h>

/*
 * Flushes; 0, or the errno of why writing to this stream fails or failed. To hear a reason that was lost it may write
 * more to the descriptor, so after a failure what was written is of no use.
 */
int stream_errno(FILE *stream);
