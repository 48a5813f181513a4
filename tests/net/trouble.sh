#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What goes wrong on real networks in mid-run: nobody there, a closed port, the interface
# taken down, the responder restarted, forged replies. A run ends by itself, in time, with a
# sentence, and every request has a fate.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

column() {
	"$TARE" stat --csv "$1" | awk -F, -v column="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["span"] == "rtt" { print $at[column]; exit }'
}

# fates FILE: "fate count" a line.
fates() {
	"$TARE" export --csv "$1" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ count[$at["fate"]]++ }
		END { for (fate in count) print fate, count[fate] }' | sort
}

# run_a NAME ARGUMENT...: a run from A that must end within 30 s; $status is its exit status.
run_a() {
	name=$1
	shift
	in_a timeout -k 5 30 "$TARE" run "$@" -o "$name.tare" >"$name.txt" 2>&1
	status=$?
}

net_setup
net_commands echo run stat export
in_a ip route add unreachable 10.78.0.0/24

# 1. Nobody answers: exit 4, and it is said.
run_a silent "udp://$B4:7999" --every 2ms --count 100 --timeout 100ms
is "$status" 4 "a closed port: exit status"
ok "$([ -s silent.txt ]; echo $?)" "a closed port: not silent"
is "$(fates silent.tare | grep -c answered)" 0 "a closed port: nothing is answered"

# 2. No route at all: refused or run, but ended, with a sentence and never a crash.
run_a noroute "udp://10.78.0.1:7999" --every 2ms --count 50 --timeout 100ms
ok "$([ "$status" -eq 4 ] || [ "$status" -eq 5 ]; echo $?)" "no route: ends with $status" "$(cat noroute.txt)"

# 3. One silent target among others: the others are measured, it is a sentence.
background echo in_b "$TARE" echo "udp://$B4:7000"
wait_udp in_b 7000
run_a mixed "udp://$B4:7000" "udp://$B4:7999" --every 2ms --count 100 --timeout 100ms
ended mixed "one silent target among others"

# 4. The interface goes down in mid-run and comes back: the run goes on.
(sleep 1; in_a ip link set a0 down; sleep 1; in_a ip link set a0 up) &
toggler=$!
run_a down "udp://$B4:7000" --every 5ms --count 600 --timeout 200ms
wait "$toggler"
ok "$([ "$status" -eq 0 ] || [ "$status" -eq 4 ]; echo $?)" "interface down in mid-run: the run ends with $status" "$(cat down.txt)"
all=$(fates down.tare | awk '{ n += $2 } END { print n + 0 }')
ok "$([ "$all" -ge 600 ]; echo $?)" "interface down in mid-run: each of $all requests has a fate" "$(fates down.tare)"
after=$("$TARE" export --csv down.tare | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ fate = $at["fate"] } END { print fate }')
is "$after" answered "interface down in mid-run: the last request is answered again"
other=$(fates down.tare | grep -cv '^answered')
ok "$([ "$other" -gt 0 ]; echo $?)" "interface down in mid-run: and some were not"
net_address in_a a0 "$A4" "$A6" 2>/dev/null

# 5. The responder is restarted in mid-run.
(
	sleep 1
	# shellcheck disable=SC2154
	kill "$echo_pid"
	sleep 0.5
	nsenter --net="/proc/$net_b/ns/net" "$TARE" echo "udp://$B4:7000" >again.out 2>&1 &
	echo $! >again.pid
) &
restarter=$!
run_a restart "udp://$B4:7000" --every 5ms --count 600 --timeout 200ms
wait "$restarter"
ended restart "responder restarted"
ok "$([ "$(column restart.tare lost)" -gt 0 ] || fates restart.tare | grep -q error; echo $?)" \
	"responder restarted: some requests had no answer" "$(fates restart.tare)"
kill "$(cat again.pid)"

tap_done
