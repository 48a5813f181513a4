#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what the program given as argument prints with SciPy. Speaks TAP; skips without SciPy."""
import subprocess
import sys

try:
    import numpy
    from scipy import stats
    from scipy.stats.contingency import association
except ImportError as missing:
    print(f"1..0 # SKIP no SciPy to compare with ({missing}); package python3-scipy")
    sys.exit(0)


def close(got, want, relative=1e-8, absolute=1e-12):
    return len(got) == len(want) and all(
        abs(g - w) <= absolute + relative * abs(w) for g, w in zip(got, want)
    )


def ranks(args, got):
    num, den, n = args
    law = stats.binom(n, num / den)
    # ppf is the smallest k with cdf >= tail; ranks count from P(B <= r - 1).
    low = int(law.ppf(0.025))
    while low > 0 and law.cdf(low - 1) > 0.025:
        low -= 1
    while law.cdf(low) <= 0.025:
        low += 1
    high = int(law.ppf(0.975)) + 1
    while high > 1 and law.sf(high - 2) <= 0.025:
        high -= 1
    while law.sf(high - 1) > 0.025:
        high += 1
    high = high if high <= n else 0
    cover = (law.cdf(high - 1) if high else 1) - (law.cdf(low - 1) if low else 0)
    return got[:2] == [low, high] and close(got[2:], [cover], 1e-7)


def allowed(args, got):
    num, den, n = args
    law = stats.binom(n, (den - num) / den)
    k = -1
    top = int(law.mean()) + 10
    for step in (10000, 100, 1):
        while k + step <= top and law.cdf(k + step) <= 0.05:
            k += step
    return got == [k]


def share(args, got):
    k, n = args
    return close(got, [stats.beta.ppf(0.005, k, n - k + 1), stats.beta.ppf(0.995, k + 1, n - k)], 1e-7)


def events(args, got):
    (k,) = args
    return close(got, [stats.chi2.ppf(0.025, 2 * k) / 2, stats.chi2.ppf(0.975, 2 * k + 2) / 2], 1e-7)


def limit(args, got):
    return close(got, [stats.t.ppf(0.975, args[0]) * 2**0.5])


def column(args, got):
    values = numpy.array(args)
    want = [values.mean(), values.std(ddof=1)]
    ordered = numpy.sort(values)
    want += [int(ordered[-(-t * len(values) // 1000) - 1]) for t in range(1, 1001)]
    same = numpy.percentile(values, [12.5, 50, 75], method="inverted_cdf")
    return close(got, want, 1e-9) and list(same) == [got[1 + 125], got[1 + 500], got[1 + 750]]


def drift(args, got):
    at, values = args[0::2], args[1::2]
    slope = stats.theilslopes(values, at)[0]
    chance = stats.kendalltau(at, values, method="exact").pvalue
    return close(got, [slope, chance], 1e-6)


def cramer(args, got):
    rows, columns = args[:2]
    table = numpy.array(args[2:]).reshape(rows, columns)
    return close(got, [association(table, method="cramer")])


checks = {
    "ranks": ranks, "allowed": allowed, "share": share, "events": events, "limit": limit,
    "column": column, "drift": drift, "association": cramer,
}


def number(text):
    return int(text) if text.lstrip("-").isdigit() else float(text)


lines = subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout.splitlines()
failed = 0
for place, line in enumerate(lines, 1):
    what, args, got = line.split("\t")
    args, got = [[number(t) for t in part.split()] for part in (args, got)]
    good = checks[what](args, got)
    failed += not good
    shown = " ".join(map(str, args[:4]))
    print(f"{'' if good else 'not '}ok {place} - {what} {shown}")
    if not good:
        print(f"# got {got[:4]}")
print(f"1..{len(lines)}")
sys.exit(failed != 0)
