/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * STAMP's timestamps and error estimates. NTP fractions are finer than a
 * nanosecond (0.23 ns), so cutting on the way there and rounding on the way back
 * returns the very same nanosecond.
 */
#include "wire/stamp.h"

#define SECOND_NS     1000000000
#define NTP_OF_UNIX_S UINT32_C(2208988800)

uint64_t stamp_ntp_of_real(int64_t real_ns)
{
	uint64_t since_1970 = (uint64_t)real_ns;
	uint32_t seconds = (uint32_t)(since_1970 / SECOND_NS) + NTP_OF_UNIX_S;
	uint64_t fraction = ((since_1970 % SECOND_NS) << 32) / SECOND_NS;
	return (uint64_t)seconds << 32 | fraction;
}

int64_t stamp_real_of_ntp(uint64_t ntp, int64_t near_ns)
{
	uint64_t near_s = (uint64_t)near_ns / SECOND_NS;
	/* the distance in seconds, modulo the era, read as a signed number */
	int32_t distance_s = (int32_t)((uint32_t)(ntp >> 32) - ((uint32_t)near_s + NTP_OF_UNIX_S));
	uint64_t ns = ((ntp & UINT32_MAX) * SECOND_NS + (UINT64_C(1) << 31)) >> 32;
	return (int64_t)((near_s + (uint64_t)(int64_t)distance_s) * SECOND_NS + ns);
}

int64_t stamp_real_of_ptp(uint64_t ptp)
{
	return (int64_t)(ptp >> 32) * SECOND_NS + (int64_t)(ptp & UINT32_MAX);
}

uint16_t stamp_error_estimate(bool synchronised, int64_t error_ns)
{
	const int64_t most_ns = ((int64_t)1 << 31) * SECOND_NS;
	uint64_t error = (uint64_t)(error_ns < 0 ? 0 : error_ns > most_ns ? most_ns : error_ns);
	/* in units of 2^-32 s, rounded up as every step below: the estimate is a bound */
	uint64_t units = (error / SECOND_NS) << 32;
	units += (((error % SECOND_NS) << 32) + SECOND_NS - 1) / SECOND_NS;
	unsigned scale = 0;
	while (units > 255) {
		units = (units >> 1) + (units & 1);
		scale++;
	}
	if (units < 128)
		units = 128;
	return (uint16_t)((synchronised ? STAMP_ERROR_S : 0) | scale << 8 | units);
}
