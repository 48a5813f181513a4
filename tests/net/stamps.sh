#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Kernel stamps at 10 000/s of every kind that has them, IPv4 and IPv6: stages in order within the
# axis error, parts that sum to the response exactly, for every request. How many requests had
# both stamps is printed; it decides nothing, as a loaded machine may drop some.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

COUNT=2000

# complaints FILE ERROR: requests whose stages are out of order by more than ERROR ns, or whose parts do not sum;
# and as a remark how many had both stamps.
complaints() {
	"$TARE" export --csv "$1" | awk -F, -v error="$2" -v remarks="$1.share" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["fate"] != "answered" { next }
		{
			answered++
			tx = $at["tx_ns"]; stack = $at["stack_ns"]; wake = $at["wake_ns"]
			if (tx != "" && tx < -error) print "request " NR - 2 ": tx " tx " ns"
			if (wake != "" && wake < -error) print "request " NR - 2 ": wake " wake " ns"
			if (stack != "" && stack < -error) print "request " NR - 2 ": stack " stack " ns"
			if (tx == "" || stack == "" || wake == "") next
			both++
			if ($at["late_ns"] + tx + stack + wake != $at["response_ns"])
				print "request " NR - 2 ": parts do not sum to " $at["response_ns"]
		}
		END {
			if (answered == 0) print "none answered"
			if (answered > 0 && both == 0) print "no request has both stamps"
			printf "%.2f %% of %d\n", answered ? 100 * both / answered : 0, answered >remarks
		}'
}

# stamped NAME URL
stamped() {
	in_a "$TARE" run "$2" --rate 10k/s --count "$COUNT" -o "$1.tare" >"$1.txt" 2>&1
	status=$?
	# a loaded machine holds no 10 000/s: status 4, with everything recorded all the same
	ok "$([ "$status" -eq 0 ] || [ "$status" -eq 4 ]; echo $?)" "$1: run" "$(cat "$1.txt")"
	error=$(sqlite3 "$1.tare" 'SELECT axis_error_ns FROM round' 2>/dev/null)
	clean "$(complaints "$1.tare" "${error:-0}")" "$1: stages in order within the axis error, parts sum, for every request"
	printf '# %s: both kernel stamps on %s answered requests, axis error %s ns\n' "$1" "$(cat "$1.tare.share")" "$error"
	whole=$("$TARE" stat --budget --csv --columns what,whole_ns,late_ns,tx_ns,tx_nic_ns,path_ns,peer_wake_ns,service_ns,rx_nic_ns,wake_ns "$1.tare" |
		awk -F, 'NR > 1 { sum = 0; for (i = 3; i <= NF; i++) sum += $i; if (sum != $2) print $1 ": " sum " is not " $2 } END { if (NR < 5) print "no lines" }')
	clean "$whole" "$1: every line of the budget adds up"
}

if ! command -v sqlite3 >/dev/null 2>&1; then skip_all "no sqlite3 to read the axis error"; fi
net_setup
net_commands echo run stat export
listeners="stamp://$B4:8620 udp://$B4:7000 tcp://$B4:7001"
if net_has_ipv6; then listeners="$listeners stamp://[$B6]:8620 udp://[$B6]:7000 tcp://[$B6]:7001"; fi
# shellcheck disable=SC2086
background echo in_b "$TARE" echo $listeners
wait_udp in_b 7000
ok $? "the responder listens" "$(cat echo.out)"

stamped icmp4 "icmp://$B4"
stamped udp4 "udp://$B4:7000"
stamped stamp4 "stamp://$B4:8620"
stamped tcp4 "tcp://$B4:7001"
if net_has_ipv6; then
	stamped icmp6 "icmp://[$B6]"
	stamped udp6 "udp://[$B6]:7000"
	stamped stamp6 "stamp://[$B6]:8620"
	stamped tcp6 "tcp://[$B6]:7001"
else
	skip "icmp, udp, stamp and tcp over IPv6" "this kernel has no IPv6"
fi

# A card that no machine here has: said before, none arrived, and the run goes on.
in_a "$TARE" run "udp://$B4:7000" --stamps nic --every 1ms --count 50 >nic.txt 2>&1
status=$?
ended nic "--stamps nic without a card that stamps"
ok "$(grep -q 'a0 has no clock of its own' nic.txt; echo $?)" "what the card lacks is said" "$(cat nic.txt)"
ok "$(grep -q 'stamp nic_tx: asked for, none of' nic.txt; echo $?)" "none arrived" "$(cat nic.txt)"
in_a "$TARE" run --self-test "udp://$B4:7000" >self.txt 2>&1
ok $? "--self-test" "$(cat self.txt)"
ok "$(grep -q '^a0 ' self.txt && ! grep -q '^lo ' self.txt; echo $?)" "tells of the interface towards the target" "$(cat self.txt)"
tap_done
