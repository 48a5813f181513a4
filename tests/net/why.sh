#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What can be seen of a round with all privileges, with none, and where perf is forbidden altogether
# (a container's default): it always runs, and says what is missing and what would allow it.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

net_setup
net_commands echo run stat
in_a ip link set lo up
background echo in_a "$TARE" echo stamp://127.0.0.1:8620 --why
wait_udp in_a 8620
ok $? "the responder listens" "$(cat echo.out)"

# explained NAME COMMAND...: a run of 200 requests, told by a command that runs tare.
explained() {
	name=$1
	shift
	in_a "$@" run stamp://127.0.0.1:8620 --every 1ms --count 200 --why -o "$name.tare" >"$name.out" 2>"$name.err"
	status=$?
	ok "$([ "$status" -eq 0 ] || [ "$status" -eq 4 ]; echo $?)" "$name: it runs" "exit $status: $(cat "$name.err")"
}

# rows NAME: what, whose and CPU of each line.
rows() {
	"$TARE" stat --shared --csv --columns whose,what,name,percent "$1.tare" 2>/dev/null
}

explained all "$TARE"
rows all >all.rows
ok "$(grep -q '^\(sender\|both\),waited,' all.rows; echo $?)" "all: how long the measuring thread waited" "$(cat all.rows)"
ok "$(grep -q '^\(sender\|both\),interrupt,' all.rows; echo $?)" "all: interrupts that landed" "$(cat all.rows)"
ok "$(awk -F, 'NR > 1 && $4 != "" && ($4 < 0 || $4 > 100.5) { bad = 1 } END { exit bad }' all.rows; echo $?)" \
	"all: nothing took more than the whole round" "$(cat all.rows)"

if [ -x "${NOPERF:-}" ] && "$NOPERF" true 2>/dev/null; then
	explained noperf "$NOPERF" "$TARE"
	ok "$(grep -q 'not watched\|not seen' noperf.err; echo $?)" "noperf: it says what is not seen" "$(cat noperf.err)"
	ok "$(grep -Eq 'perf|CAP_PERFMON|seccomp' noperf.err; echo $?)" "noperf: and what would allow it" "$(cat noperf.err)"
	rows noperf >noperf.rows
	ok "$(grep -q ',interrupt,' noperf.rows; echo $?)" "noperf: what needs no perf is there" "$(cat noperf.rows)"
	ok "$(grep -q ',task,' noperf.rows; [ $? -eq 1 ]; echo $?)" "noperf: no task is invented" "$(cat noperf.rows)"
	ok "$("$TARE" stat --stalls --csv --columns side,word noperf.tare 2>/dev/null | grep -q '^own,\(preempted\|run queue\)'; [ $? -eq 1 ]; echo $?)" \
		"noperf: no cause either"
else
	skip "without perf" "no helper, or this kernel filters no calls"
fi

# an account without rights, in a folder of its own, as far as the program can be read by others
chmod 711 .
mkdir theirs && chmod 777 theirs
if command -v setpriv >/dev/null 2>&1 && setpriv --reuid 65534 --regid 65534 --clear-groups "$TARE" --version >/dev/null 2>&1; then
	in_a env HOME="$PWD/theirs" setpriv --reuid 65534 --regid 65534 --clear-groups "$TARE" run stamp://127.0.0.1:8620 --every 1ms --count 200 \
		--why -o theirs/nobody.tare >nobody.out 2>nobody.err
	status=$?
	ok "$([ "$status" -eq 0 ] || [ "$status" -eq 4 ]; echo $?)" "nobody: it runs" "exit $status: $(cat nobody.err)"
	ok "$(grep -q 'not seen\|not watched' nobody.err; echo $?)" "nobody: it says what is not seen" "$(cat nobody.err)"
else
	skip "an account without rights" "no setpriv (package util-linux), or it cannot run the program"
fi
tap_done
