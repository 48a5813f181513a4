#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tare export writes: read back it gives the same figures where the format can carry them and is refused
where it cannot, JSON is JSON, a page of OpenMetrics keeps its rules, and nothing that was anonymized is left."""
import csv
import json
import os
import re
import sqlite3
import subprocess
import tempfile

TARE = os.environ["TARE"]
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
FIGURES = ("round,label,target,kind,span,quantity,sent,n,lost,overdue,pending,error,not_sent,first_ns,second_ns,min_ns,"
           "p50_ns,p90_ns,p99_ns,p999_ns,p9999_ns,max_ns,pdv_ns,stalls,least.p50,least.p99,least.min,least.max")
SAMPLES = ["rounds.tare", "abba.tare", "ping/iputils_net_unreachable_midrun.txt", "ping/gcp_100.txt",
           "captures/zeek/icmp_request_mirrored_twice.pcap", "all-fates.csv"]
BINS = ["logs/netperf_udp_rr_hist.txt", "logs/wrk2_spectrum.txt"]
HDR = ["logs/jhiccup_v2.hlog", "logs/hlog_tagged_v2.hlog"]
SUMMARY = ["summary.txt"]
DISTRIBUTIONS = ["hlog", "hgrm", "openmetrics", "benchstat", "hyperfine"]
count = failures = 0


def ok(passed, what, detail=""):
    global count, failures
    count += 1
    failures += not passed
    print(("ok" if passed else "not ok"), count, "-", what)
    if not passed:
        for line in str(detail)[:2000].splitlines():
            print("#", line)


def tare(*arguments):
    return subprocess.run([TARE, *arguments], capture_output=True, text=True, timeout=120)


def rows(path, *more):
    ran = tare("stat", "--csv", "--columns", FIGURES, *more, path)
    return list(csv.DictReader(ran.stdout.splitlines())), ran


def put(name, text):
    with open(name, "w", encoding="utf-8") as out:
        out.write(text)
    return name


def exported(path, form, *more):
    """The name of a file with it; None, and why, where it was refused."""
    ran = tare("export", "--" + form, *more, path)
    if ran.returncode:
        return None, ran.stderr
    return put("out." + form, ran.stdout), ran.stderr


def strict(text):
    """JSON without NaN, infinities and keys that stand twice."""
    def pairs(items):
        keys = [key for key, _ in items]
        if len(keys) != len(set(keys)):
            raise ValueError("a key twice")
        return dict(items)

    def constant(word):
        raise ValueError(word)
    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)


def is_json(text):
    try:
        strict(text)
        return True
    except ValueError:
        return False


def all_fates():
    lines = ["run,round,label,target,seq,fate,due_ns,late_ns,rtt_ns,response_ns,path_ns,cpu_tx,flags,reason"]
    fates = ["answered", "overdue", "lost", "error", "not-sent", "pending"]
    for at_round in (1, 2):
        for target in ("udp://a:7", "udp://b:7"):
            for i in range(300):
                fate = fates[i % 97] if i % 97 < len(fates) and i > 5 else "answered"
                answered = fate in ("answered", "overdue")
                late, rtt = (i * 7 % 50), 4000 + i * 13 % 700 + (2000000 if fate == "overdue" else 0)
                flags = " ".join((["warmup"] if i < 2 else []) + (["duplicated"] if i == 50 else []) +
                                 (["reordered"] if i == 60 else []))
                reason = {"error": "ECONNREFUSED", "not-sent": "EMSGSIZE"}.get(fate, "")
                lines.append(",".join(map(str, [
                    1, at_round, "lab", target, i, fate, i * 1000000, "" if fate == "not-sent" else late,
                    rtt if answered else "", rtt + late if answered else "", rtt - 100 if answered else "", i % 4,
                    flags, reason])))
    return put("all-fates.csv", "\n".join(lines) + "\n")


def within(truth, got):
    """The true figures lie in the ranges read back; what has too few values behind it is missing in both."""
    for p in ("p50", "p99"):
        if bool(truth[p + "_ns"]) != bool(got[p + "_ns"]):
            return False
        if truth[p + "_ns"] and not int(got["least." + p] or got[p + "_ns"]) <= int(truth[p + "_ns"]) <= int(got[p + "_ns"]):
            return False
    return truth["n"] == got["n"]


def base_rows(table):
    """The row of each series that its distribution is of."""
    seen = {}
    for row in table:
        seen.setdefault((row["round"], row["target"]), row)
    return [row for key, row in seen.items() if key[0]]


def test_samples():
    for name in SAMPLES:
        path = name if os.path.exists(name) else os.path.join(DATA, name)
        truth, _ = rows(path, "--all-spans")
        for form in ("csv", "jsonl"):
            out, why = exported(path, form)
            back, ran = rows(out, "--all-spans") if out else ([], None)
            ok(truth and back == truth, f"{name}: --{form} reads back to the same {len(truth)} rows", why or ran.stderr)
        out, _ = exported("all-fates.csv", "csv")
    with open(out, encoding="utf-8") as got, open("all-fates.csv", encoding="utf-8") as wanted:
        ok(got.read() == wanted.read(), "a table of samples goes through unchanged")
    for name in SAMPLES:
        path = name if os.path.exists(name) else os.path.join(DATA, name)
        truth = base_rows(rows(path)[0])
        back = base_rows(rows(exported(path, "hlog")[0])[0])
        ok(len(back) == len(truth) and sorted(r["n"] for r in back) == sorted(r["n"] for r in truth),
           f"{name}: --hlog keeps every round and its values")
        single = len({row["target"] for row in truth}) == 1
        if single:
            ok(all(within(one, other) for one, other in zip(truth, back)), f"{name}: and the true figures lie in its buckets")
        out, why = exported(path, "hgrm")
        ok(bool(out) == single, f"{name}: --hgrm holds one target and no more", why)
        if single:
            merged = [row for row in rows(path, "--group-by", "target", "--span", "rtt")[0] if not row["round"]][0]
            read = rows(out)[0][0]
            ok(within(merged, read), f"{name}: the true figures lie between its rows", (merged, read))


def by_series(table):
    return {(row["target"], row["label"]): row for row in table}


def test_openmetrics():
    for name in SAMPLES + BINS + HDR:
        path = name if os.path.exists(name) else os.path.join(DATA, name)
        out, why = exported(path, "openmetrics")
        with open(out, encoding="utf-8") as page:
            fault = page_fault(page.read())
        ok(not fault, f"{name}: a page that keeps the rules", fault)
        back = by_series(base_rows(rows(out)[0]))
        truth = by_series([row for row in rows(path, "--group-by", "label", "--span", "rtt")[0] if not row["round"]][::-1])
        fine = all(key in back and within(row, back[key]) and (not row["lost"] or row["lost"] == back[key]["lost"])
                   for key, row in truth.items())
        ok(back and fine, f"{name}: --openmetrics keeps targets, labels, n, losses, and the true figures in its buckets",
           (truth, back))
    for name in ("logs/netperf_udp_rr_hist.txt",):
        path = os.path.join(DATA, name)
        back, truth = rows(exported(path, "openmetrics")[0])[0], rows(path)[0]
        ok(back == truth, f"{name}: bins come back as they were", (truth, back))


def page_fault(page):
    """promtool's rules that matter: one # EOF at the end, TYPE before samples, cumulative buckets, +Inf = count."""
    lines = page.split("\n")
    if lines[-2:] != ["# EOF", ""] or page.count("# EOF") != 1:
        return "no single # EOF at the end"
    types, buckets, counts = {}, {}, {}
    for line in lines[:-2]:
        kind = re.match(r"# TYPE (\S+) (counter|histogram|gauge)$", line)
        if kind:
            if kind[1] in types:
                return "TYPE twice: " + line
            types[kind[1]] = kind[2]
            continue
        if line.startswith("# "):
            continue
        sample = re.match(r'([a-z_]+)\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\} (-?[0-9.]+)$', line)
        if not sample:
            return "no sample: " + line
        name, labels, value = sample[1], sample[2], float(sample[3])
        family = re.sub(r"_(bucket|count|sum|total)$", "", name)
        if family not in types or (types[family] == "counter" and not name.endswith("_total")):
            return "before its TYPE, or a counter without _total: " + line
        bound = re.search(r',le="([^"]+)"', labels)
        key = re.sub(r',le="[^"]+"', "", labels)
        if name.endswith("_bucket"):
            le = float(bound[1])
            before = buckets.get(key, (float("-inf"), 0))
            if le <= before[0] or value < before[1]:
                return "a bucket out of order: " + line
            buckets[key] = (le, value)
        if name.endswith("_count"):
            counts[key] = value
    for key, (le, value) in buckets.items():
        if le != float("inf") or counts.get(key) != value:
            return f"+Inf and count of {key}: {le} {value} {counts.get(key)}"
    return "" if buckets else "no bucket"


def test_bins_and_summaries():
    for name in HDR:
        path = os.path.join(DATA, name)
        ok(rows(exported(path, "hlog")[0])[0] == rows(path)[0], f"{name}: --hlog reads back to the same rows")
    for name in BINS + HDR:
        path = os.path.join(DATA, name)
        for form in ("csv", "jsonl"):
            out, why = exported(path, form)
            ok(not out and "counted in bins: there are no samples" in why, f"{name}: --{form} is refused", why)
    for name in BINS:
        for form in ("hlog", "hgrm"):
            out, why = exported(os.path.join(DATA, name), form)
            ok(not out and "it would invent digits" in why, f"{name}: --{form} is refused", why)
    for form in ["csv", "jsonl"] + DISTRIBUTIONS:
        out, why = exported("summary.txt", form)
        ok(not out and "summary" in why, f"a summary: --{form} is refused", why)
    ran = tare("compare", "summary.txt", "--", "summary.txt")
    ok(ran.returncode == 6 and "no samples" in ran.stderr, "a summary is not compared", ran.stderr)
    table = strict(tare("stat", "--json", "summary.txt").stdout)["rows"][0]
    ok(table["shape"] == "summary" and not [key for key in table if re.match(r"(p[0-9]+|min|max|mean)_ns", key) and
                                            table[key] is not None], "a summary has no figure in JSON", table)
    ran = tare("report", "--markdown", "summary.txt")
    ok(not re.search(r"2\.118|3\.041", re.sub(r"summary only.*", "", ran.stdout)), "nor in a report", ran.stdout)
    ran = tare("import", "summary.txt", os.path.join(DATA, "rounds.tare"), "-o", "mixed.tare")
    out, why = exported("mixed.tare", "csv")
    ok(out and "1 of 11 series have no samples" in why, "among others it is left out and counted", why)


def test_json():
    files = [os.path.join(DATA, name) for name in ["rounds.tare", "abba.tare", "hostile.tare", "ping/windows_fr_lt1ms.txt",
                                                   "ping/busybox_alpine.txt"] + BINS + HDR] + ["all-fates.csv", "summary.txt"]
    for path in files:
        for more in ([], ["--all", "--ci"], ["--over", "sent"], ["--group-by", "target"]):
            ran = tare("stat", "--json", *more, path)
            ok(ran.returncode == 0 and is_json(ran.stdout), f"stat --json {' '.join(more)} {os.path.basename(path)}",
               ran.stderr + ran.stdout[:500])
    for path in files[:4]:
        ran = tare("export", "--jsonl", path)
        ok(all(is_json(line) for line in ran.stdout.splitlines()), f"export --jsonl {os.path.basename(path)}", ran.stderr)
        ran = tare("export", "--hyperfine", path)
        ok(is_json(ran.stdout), f"export --hyperfine {os.path.basename(path)}", ran.stdout[:500])
    for more in ([], ["--by", "label"]):
        ran = tare("compare", "--json", *more, os.path.join(DATA, "abba.tare"), *([] if more else ["--", os.path.join(DATA, "abba.tare")]))
        ok(is_json(ran.stdout), "compare --json", ran.stderr + ran.stdout[:500])


def leaks(data, secrets):
    return [secret for secret in secrets if secret.encode() in data]


def test_anonymize():
    secrets = ["10.0.0.2", "8620", "base", "tuned", "rounds.tare", "secret", "wall-step", "192.168", "10.48.249.8", "field",
               "Linux", "tare run", os.path.basename(os.getcwd())]
    names = ["rounds.tare", "abba.tare", "ping/iputils_net_unreachable_midrun.txt",
             "captures/zeek/icmp_request_mirrored_twice.pcap"]
    secrets += [name.split("/")[-1] for name in names]
    for name in names:
        path = os.path.join(DATA, name)
        for form in ["csv", "jsonl"] + DISTRIBUTIONS:
            ran = subprocess.run([TARE, "export", "--anonymize", "--" + form, path], capture_output=True, check=False)
            found = leaks(ran.stdout + ran.stderr, secrets)
            ok(not found, f"export --anonymize --{form} {name}", found)
        ran = tare("import", "--anonymize", path, "-o", "anonymous.tare", "--label", "secret")
        with open("anonymous.tare", "rb") as recording:
            found = leaks(recording.read(), [word for word in secrets if word != "base"])  # a column of a table is called that
        ok(ran.returncode == 0 and not found, f"import --anonymize {name}: no byte of it names anything", found or ran.stderr)
        base = sqlite3.connect("file:anonymous.tare?mode=ro", uri=True)
        tables = [row[0] for row in base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        text = "\n".join(str(row) for table in tables for row in base.execute(f"SELECT * FROM {table}"))
        base.close()
        ok(not leaks(text.encode(), secrets) and "target-1" in text, f"nor does a row of its {len(tables)} tables",
           leaks(text.encode(), secrets))
        left, had = rows("anonymous.tare")[0], rows(path)[0]
        keep = ["n", "p50_ns", "max_ns", "lost"]
        ok([[row[key] for key in keep] for row in left if row["round"]] == [[row[key] for key in keep] for row in had if row["round"]],
           "and the figures are the same")
        os.remove("anonymous.tare")


def main():
    with tempfile.TemporaryDirectory(prefix="tare-exports.") as folder:
        os.chdir(folder)
        all_fates()
        put("summary.txt", "# cmdline: sfnt-pingpong\n# percentile=99\n#\tsize\tmean\tmin\tmedian\tmax\t%ile\tstddev\titer\n"
            "\t1\t2118\t2011\t2102\t9000\t3041\t120\t650000\n")
        test_samples()
        test_openmetrics()
        test_bins_and_summaries()
        test_json()
        test_anonymize()
        os.chdir("/")
    print(f"1..{count}")


main()
raise SystemExit(failures > 0)
