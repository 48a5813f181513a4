/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of captures share: files from mkcap through the reader's layers. */
#pragma once
#include <stdlib.h>

#include "import/capture/feed.h"
#include "import/capture/tick.h"
#include "mkcap.h"
#include "tap.h"

struct opened {
	struct input *input;
	struct capture_file *file;
	struct feed *feed;
	struct tare_err err;
};

static inline void opened_end(struct opened *opened)
{
	feed_free(opened->feed);
	capture_file_free(opened->file);
	input_free(opened->input);
	*opened = (struct opened){0};
}

/* Frames only. */
__attribute__((unused)) static bool open_frames(struct opened *opened, const void *bytes, size_t count, bool lenient)
{
	*opened = (struct opened){0};
	return input_open_bytes(bytes, count, "test", &opened->input, &opened->err) == 0 &&
	       capture_file_open(opened->input, "test", lenient, &opened->file, &opened->err) == 0;
}

/* Frames, layers and stamps. */
__attribute__((unused)) static bool open_feed(
	struct opened *opened, const struct mk_file *file, enum stamp_format stamps)
{
	const struct feed_rules rules = {.stamps = stamps, .seed = 1};
	*opened = (struct opened){0};
	return input_open_bytes(file->bytes, file->count, "test", &opened->input, &opened->err) == 0 &&
	       feed_open(opened->input, "test", &rules, &opened->feed, &opened->err) == 0;
}

static inline bool same_time(struct capture_time got, struct mk_time want)
{
	return got.seconds == want.seconds && got.picoseconds == want.ps;
}
