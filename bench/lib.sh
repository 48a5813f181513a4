# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by the benches: where the programs are, responders, and figures over alternations. Sourced.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../build}
tare=${TARE:-$build/src/cli/tare}
bare=$build/bench/bare
sender_cpu=${SENDER_CPU:-0}
responder_cpu=${RESPONDER_CPU:-1}
port=${PORT:-17400}
work=$(mktemp -d)
responder=

have() { command -v "$1" >/dev/null 2>&1; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }
[ -x "$tare" ] && [ -x "$bare" ] || die "build first: ninja -C $build"

stop_responder() {
	[ -z "$responder" ] || { kill "$responder" 2>/dev/null || :; wait "$responder" 2>/dev/null || :; }
	responder=
}
trap 'stop_responder; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# start_responder COMMAND...: in the background; half a second until it listens.
start_responder() {
	"$@" >"$work/responder.log" 2>&1 &
	responder=$!
	sleep 0.5
	kill -0 "$responder" 2>/dev/null || die "the responder did not start: $(cat "$work/responder.log")"
}

# column NAME: from CSV with a header on stdin, the first row's value.
column() {
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } NR == 2 && c { print $c }'
}
# field NAME: "NAME=VALUE" among words on stdin.
field() { tr ' ' '\n' | sed -n "s/^$1=//p"; }

# ratios of column 2 to column 1 of a file: median and the 95 % interval of the median by order statistics
# (ranks from the binomial distribution with p = 1/2), minimum and maximum.
ratio_line() {
	awk -v what="$1" '$1 > 0 { r[++n] = $2 / $1 } END {
		for (i = 2; i <= n; i++) for (j = i; j > 1 && r[j - 1] > r[j]; j--) { t = r[j]; r[j] = r[j - 1]; r[j - 1] = t }
		p = 0.5 ^ n; sum = p; low = 0
		while (sum <= 0.025 && low < n) { low++; p = p * (n - low + 1) / low; sum += p }
		if (n < 6) { printf "%-44s %d alternations: too few for an interval, median %.4f\n", what, n, r[int((n + 1) / 2)]; exit }
		m = n % 2 ? r[(n + 1) / 2] : (r[n / 2] + r[n / 2 + 1]) / 2
		printf "%-44s median %.4f, 95 %% %.4f to %.4f, range %.4f to %.4f (%d)\n", what, m, r[low], r[n + 1 - low], r[1], r[n], n
	}' "$2"
}
