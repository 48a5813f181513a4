#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sweeps: a round for each step with its label, payload and rate in the recording; what
# ends one, and that a run killed in its middle brings its round in with the right payload.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# cells FILE COLUMN...: of the rows of rtt, a line each.
cells() {
	file=$1
	shift
	"$TARE" stat --csv "$file" 2>/dev/null | awk -F, -v names="$*" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(names, name, " "); next }
		$at["span"] == "rtt" { line = ""; for (i = 1; i <= n; i++) line = line (i > 1 ? " " : "") $at[name[i]]; print line }'
}

net_setup
net_commands echo run stat
background echo in_b "$TARE" echo "udp://$B4:7000" "stamp://$B4:8620"
background lossy in_b "$TARE" echo "stamp://$B4:8621" --inject 'drop 30%'
wait_udp in_b 7000
wait_udp in_b 8621

in_a "$TARE" run "udp://$B4:7000" --sizes 64,512,1472 --rates 500/s,1k/s --stop-loss none --count 50 --rounds 2 \
	--timeout 200ms -o grid.tare >grid.txt 2>&1
status=$?
ended grid "two sizes at two rates, twice"
is "$(cells grid.tare label payload_bytes rate_asked | sed 6q)" "size=64 rate=500/s 64 500
size=64 rate=1k/s 64 1000
size=512 rate=500/s 512 500
size=512 rate=1k/s 512 1000
size=1472 rate=500/s 1472 500
size=1472 rate=1k/s 1472 1000" "every step is a round with its label, payload and rate"
is "$(cells grid.tare round | tr '\n' ' ')" "1 2 3 4 5 6 7 8 9 10 11 12 " "all of them twice over, and nothing merged over loads"
is "$(cells grid.tare n | sort -u)" 50 "every step has its answers"
is "$("$TARE" stat --csv --group-by label --columns round,span grid.tare 2>/dev/null | grep -c '^,rtt$')" 6 \
	"by label the two rounds of each step are one row"
"$TARE" compare grid.tare --by label >/dev/null 2>compare.txt
ok "$([ $? -eq 2 ]; echo $?)" "rounds of a sweep are not compared with each other" "$(cat compare.txt)"

# Nothing leaves a socket every 125 ns.
in_a "$TARE" run "udp://$B4:7000" --rates 8M/s,9M/s,10M/s --count 3000 --timeout 200ms -o fast.tare >fast.txt 2>&1
is $? 4 "a sweep whose first step is not held measured nothing"
ok "$(grep -q 'the sweep ends at rate=8M/s: asked 8M/s, held .*; 2 further steps left out' fast.txt; echo $?)" \
	"it says where it ends and why" "$(cat fast.txt)"
is "$(cells fast.tare label)" "rate=8M/s" "and measures no further step"
ok "$("$TARE" stat fast.tare | tr '\n' ' ' | grep -q 'sweep: the sweep ends at rate=8M/s'; echo $?)" "the recording says so too"

in_a "$TARE" run "stamp://$B4:8621" --rates 500/s,1k/s --count 300 --timeout 200ms --stop-loss 5% >lossy.txt 2>&1
ok "$(grep -q 'the sweep ends at rate=500/s: .*' lossy.txt; echo $?)" "losses end it as well" "$(cat lossy.txt)"
in_a "$TARE" run "stamp://$B4:8621" --rates 500/s,1k/s --count 300 --timeout 200ms --stop-loss none >lossy.txt 2>&1
ok "$(grep -q 'sweep ends' lossy.txt; [ $? -eq 1 ]; echo $?)" "unless nothing is to end it" "$(cat lossy.txt)"

for schedule in poisson burst:7; do
	in_a "$TARE" run "udp://$B4:7000" --schedule "$schedule" --every 1ms --count 200 --seed 5 --rounds 2 --timeout 200ms \
		-o "$schedule.tare" >schedule.txt 2>&1
	status=$?
	ended schedule "schedule $schedule"
	is "$(cells "$schedule.tare" schedule n | sort -u)" "$schedule 200
$schedule 400" "stat tells the schedule $schedule, and every request is answered"
done
"$TARE" compare poisson.tare -- burst:7.tare >/dev/null 2>compare.txt
ok "$(grep -q 'different loads do not compare' compare.txt; echo $?)" "rounds of two schedules are not compared" "$(cat compare.txt)"

# Killed in the second step, whose payload is that of the second target of the recording.
background cut in_a "$TARE" run "udp://$B4:7000" --sizes 64,512 --count 400 --every 5ms --timeout 100ms -o cut.tare
wait_said cut 'round 1 of 2'
sleep 1
stop cut KILL
is "$(cells cut.tare label payload_bytes)" "size=64 64
size=512 512" "the round under way is brought in with its own payload"

tap_done
