#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every kind of request between two hosts, over IPv4 and IPv6: what was recorded is whole,
# its sums hold exactly, and the schedule is a grid.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

COUNT=300

# row FILE SPAN COLUMN: of the statistics of the only target of FILE, by the name of the column.
row() {
	"$TARE" stat --csv --all-spans "$1" | awk -F, -v span="$2" -v column="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["span"] == span { print $at[column]; exit }'
}

# sums FILE: complaints about samples whose spans do not add up exactly, or that left the grid of 1 ms.
sums() {
	"$TARE" export --csv "$1" | awk -F, -v count="$COUNT" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ requests++ }
		NR > 2 && $at["due_ns"] - due != 1000000 { print "request " NR - 1 ": due " $at["due_ns"] - due " ns after the one before" }
		{ due = $at["due_ns"] }
		$at["fate"] == "answered" {
			answered++
			if ($at["late_ns"] + $at["rtt_ns"] != $at["response_ns"])
				print "request " NR - 1 ": late " $at["late_ns"] " + rtt " $at["rtt_ns"] " is not response " $at["response_ns"]
			if ($at["rtt_ns"] <= 0)
				print "request " NR - 1 ": rtt " $at["rtt_ns"]
		}
		END {
			if (requests < count)
				print "only " requests + 0 " requests exported"
			if (answered == 0)
				print "none answered"
		}'
}

# measured NAME URL: one target from A; checks go by NAME, since a link-local address is another one every time.
measured() {
	in_a "$TARE" run "$2" --every 1ms --count "$COUNT" -o "$1.tare" >"$1.txt" 2>&1
	status=$?
	ended "$1"
	if [ ! -s "$1.tare" ]; then return; fi
	is "$(row "$1.tare" rtt n)" "$COUNT" "$1: every request counted after the warm-up has an answer"
	is "$(row "$1.tare" rtt lost)" 0 "$1: none is lost"
	is "$(row "$1.tare" rtt foreign)" 0 "$1: no reply is foreign"
	clean "$(sums "$1.tare")" "$1: late + rtt = response and the grid is kept, exactly"
	least=$(row "$1.tare" rtt min_ns)
	most=$(row "$1.tare" rtt max_ns)
	ok "$([ "${least:-0}" -gt 0 ] && [ "$least" -le "$most" ]; echo $?)" "$1: 0 < min ($least) <= max ($most)"
}

net_setup
net_commands echo run stat export
listeners="stamp://$B4:8620 udp://$B4:7000"
if net_has_ipv6; then listeners="$listeners stamp://[$B6]:8620 udp://[$B6]:7000"; fi
# shellcheck disable=SC2086
background echo in_b "$TARE" echo $listeners
wait_udp in_b 7000
ok $? "the responder listens" "$(cat echo.out)"

measured icmp4 "icmp://$B4"
measured udp4 "udp://$B4:7000"
measured stamp4 "stamp://$B4:8620"
if net_has_ipv6; then
	measured icmp6 "icmp://[$B6]"
	measured udp6 "udp://[$B6]:7000"
	measured stamp6 "stamp://[$B6]:8620"
	# A link-local address means nothing without its scope.
	link_local=$(in_b ip -6 addr show dev b0 scope link | awk '$1 == "inet6" { sub(/\/.*/, "", $2); print $2 }')
	measured icmp6_scope "icmp://[$link_local%a0]"
else
	skip "icmp, udp and stamp over IPv6" "this kernel has no IPv6"
fi

# The peer tells its own times in the reply: a span between two of its stages exists and is no negative time.
residence=$(row stamp4.tare residence min_ns)
ok "$([ "${residence:--1}" -ge 0 ]; echo $?)" "stamp: the peer's residence came back ($residence ns at least)"

# What the reflector turned out to be is part of the recording.
kinds=$(sqlite3 stamp4.tare "SELECT text FROM event WHERE kind = 'peer'" 2>/dev/null)
if command -v sqlite3 >/dev/null 2>&1; then
	ok "$(printf '%s' "$kinds" | grep -q 'the reflector is tare, session id returned'; echo $?)" "stamp: the reflector is told" "$kinds"
else
	skip "stamp: the reflector is told" "no sqlite3 (package sqlite3)"
fi

# A reflector that counts: what is lost behind it is lost on the way back. From the second round on
# its numbers differ from ours.
background counting in_b "$TARE" echo "stamp://$B4:8621" --stateful --inject 'drop 10%'
wait_udp in_b 8621
in_a "$TARE" run "stamp://$B4:8621" --every 1ms --count 300 --rounds 2 --timeout 100ms -o counting.tare >counting.txt 2>&1
lost=$("$TARE" export --csv counting.tare | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["round"] == 2 { fate[++n] = $at["fate"] }
	END { for (i = 1; i <= n; i++) if (fate[i] == "answered") last = i
		for (i = 1; i <= last; i++) { if (fate[i] == "answered") begun = 1; else lost += begun }
		print lost + 0 }')
if command -v sqlite3 >/dev/null 2>&1; then
	told=$(sqlite3 counting.tare "SELECT text FROM event WHERE kind = 'peer' ORDER BY id DESC LIMIT 1")
	ok "$(printf '%s' "$told" | grep -q "0 were lost on the way there, $lost on the way back"; echo $?)" \
		"stamp: $lost lost on the way back, none on the way there" "$told"
else
	skip "stamp: loss by direction" "no sqlite3 (package sqlite3)"
fi
stop counting

stop echo
is "$stopped" 0 "the responder ends well on SIGTERM"
tap_done
