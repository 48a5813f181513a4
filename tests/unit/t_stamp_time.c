/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"
#include "wire/stamp.h"

static const int64_t SECOND = 1000000000;
static const int64_t ERA1_S = 2085978496; /* 2036-02-07 06:28:16 UTC */

static void known_values(void)
{
	OK(stamp_ntp_of_real(0) == UINT64_C(2208988800) << 32, "1970");
	OK(stamp_ntp_of_real(500000000) == (UINT64_C(2208988800) << 32 | 0x80000000), "half a second");
	OK(stamp_ntp_of_real(1) == (UINT64_C(2208988800) << 32 | 4), "1 ns is 4.29 units, cut");
	OK(stamp_ntp_of_real(999999999) == (UINT64_C(2208988800) << 32 | 4294967291), "the last ns of a second");
	OK(stamp_ntp_of_real((ERA1_S - 1) * SECOND) == UINT64_C(0xffffffff) << 32, "last second of era 0");
	OK(stamp_ntp_of_real(ERA1_S * SECOND) == 0, "first second of era 1");
	OK(stamp_ntp_of_real((ERA1_S + 5) * SECOND + 250000000) == (UINT64_C(5) << 32 | 0x40000000), "within era 1");
}

static void there_and_back(void)
{
	static const int64_t seconds[] = {0, 1, 1700000000, 2085978495, 2085978496, 4000000000, 6000000000};
	size_t wrong = 0;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		for (int64_t ns = 0; ns < SECOND; ns += ns < 3000 || ns > SECOND - 3000 ? 1 : 99991) {
			int64_t real = seconds[i] * SECOND + ns;
			wrong += stamp_real_of_ntp(stamp_ntp_of_real(real), real) != real;
		}
	}
	IS_I64(wrong, 0, "ns -> NTP -> ns is exact in both eras");

	int64_t before = (ERA1_S - 1) * SECOND, after = (ERA1_S + 1) * SECOND;
	IS_I64(stamp_real_of_ntp(stamp_ntp_of_real(after), before), after, "a stamp of era 1 read in era 0");
	IS_I64(stamp_real_of_ntp(stamp_ntp_of_real(before), after), before, "a stamp of era 0 read in era 1");
	int64_t far = 1700000000 * SECOND, years68 = (int64_t)0x7fffffff * SECOND;
	IS_I64(stamp_real_of_ntp(stamp_ntp_of_real(far + years68), far), far + years68, "68 years ahead");
	IS_I64(stamp_real_of_ntp(stamp_ntp_of_real(far), far + years68), far, "68 years back");
}

static void rounding(void)
{
	uint64_t base = UINT64_C(2208988800) << 32;
	IS_I64(stamp_real_of_ntp(base | 0xffffffff, 0), SECOND, "the last fraction rounds up into the next second");
	IS_I64(stamp_real_of_ntp(base | 2, 0), 0, "0.47 ns rounds down");
	IS_I64(stamp_real_of_ntp(base | 3, 0), 1, "0.70 ns rounds up");
}

static void ptp(void)
{
	IS_I64(stamp_real_of_ptp(UINT64_C(1700000000) << 32 | 123456789), 1700000000 * SECOND + 123456789,
		"PTP seconds and ns");
	IS_I64(stamp_real_of_ptp(UINT64_MAX), 4294967295 * SECOND + 4294967295, "ns out of range stay finite");
}

/* What the estimate stands for, in units of 2^-32 s. */
static double units_of(uint16_t estimate)
{
	double units = estimate & 0xff;
	for (int scale = estimate >> 8 & 63; scale > 0; scale--)
		units *= 2;
	return units;
}

static void estimates(void)
{
	IS_I64(stamp_error_estimate(false, 0), 0x0080, "nothing: the least that can be said");
	IS_I64(stamp_error_estimate(true, 0), 0x8080, "synchronised");
	IS_I64(stamp_error_estimate(false, -5), 0x0080, "a negative bound");
	/* 1 ms is 4294967.296 units: 0x83 << 15 = 4292608 is too little, 0x84 << 15 holds it */
	IS_I64(stamp_error_estimate(false, 1000000), 15 << 8 | 0x84, "1 ms");
	IS_I64(stamp_error_estimate(true, SECOND), 0x8000 | 25 << 8 | 0x80, "1 s is 128 * 2^25 units");
	IS_I64(stamp_error_estimate(false, INT64_MAX), 56 << 8 | 0x80, "capped at 2^31 s");

	size_t bad_multiplier = 0, too_small = 0, too_large = 0, wrong_flags = 0;
	for (int64_t ns = 1; ns < INT64_C(2000000000000000000); ns += ns / 7 + 1) {
		uint16_t estimate = stamp_error_estimate(ns % 2, ns);
		bad_multiplier += (estimate & 0xff) < 128;
		wrong_flags += (estimate & 0xc000) != (ns % 2 ? 0x8000 : 0);
		double said_ns = units_of(estimate) * 1e9 / 4294967296.0;
		too_small += said_ns < (double)ns * (1 - 1e-12);
		too_large += said_ns > (double)ns * 129 / 128 + 30;
	}
	IS_I64(bad_multiplier, 0, "multiplier always 128..255");
	IS_I64(wrong_flags, 0, "S as told, Z never");
	IS_I64(too_small, 0, "the estimate is a bound");
	IS_I64(too_large, 0, "and less than 1/128 above");
}

int main(void)
{
	known_values();
	there_and_back();
	rounding();
	ptp();
	estimates();
	return tap_done();
}
