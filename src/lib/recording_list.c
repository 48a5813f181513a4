/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Targets and rounds of a run one by one, for those who want to know what there is without reading samples. */
#include "lib/recording_read.h"

const struct tare_target *tare_recording_target(const struct tare_recording *recording, int64_t run_id, size_t i)
{
	for (size_t t = 0; t < recording->target_count; t++)
		if (recording->targets[t].run_id == run_id && i-- == 0)
			return &recording->targets[t].target;
	return NULL;
}

const struct tare_round *tare_recording_round(const struct tare_recording *recording, int64_t run_id, size_t i)
{
	for (size_t r = 0; r < recording->round_count; r++)
		if (recording->rounds[r].run_id == run_id && i-- == 0)
			return &recording->rounds[r].round;
	return NULL;
}
