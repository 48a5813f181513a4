#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The responder's host tells its settings to a sender that has the key, and to nobody else; what moves there moves
# in the recording and in the comparison of two settings.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# measure NAME TARGET OPTION...: a few requests from A.
measure() {
	name=$1
	target=$2
	shift 2
	in_a timeout 60 "$TARE" run "$target" --every 1ms --count 20 --warmup 0 --timeout 200ms "$@" -o "$name.tare" >"$name.txt" 2>&1
}
facts() { sqlite3 "$1.tare" "SELECT count(*) FROM fact WHERE side = '$2' AND $3"; }
noted() { sqlite3 "$1.tare" "SELECT text FROM event WHERE kind = 'note'"; }
told() { grep -q -e "$2" "$1.txt"; ok $? "$3" "$(cat "$1.txt")"; }
# abba_a NAME ARGUMENT...: a short comparison from A.
abba_a() {
	name=$1
	shift
	in_a timeout 120 "$TARE" abba "stamp://$B4:8620" --key-file key --rounds 4 --settle 20ms --every 1ms --count 200 \
		--timeout 100ms --primary p50 --also '' -q "$@" >"$name.txt" 2>&1 </dev/null
}

net_setup
net_commands echo run abba
command -v sqlite3 >/dev/null 2>&1 || skip_all "no sqlite3 (package sqlite3)"
umask 077
echo 000102030405060708090a0b0c0d0e0f >key
echo 'another key, this one of plain octets' >other

# 1. Every fact at the start, and what moved around each round.
background echo in_b "$TARE" echo "stamp://$B4:8620" --key-file key --facts --json
wait_udp in_b 8620
wait_said echo 'authenticated, serving facts'
ok $? "the responder says that it serves them" "$(cat echo.out)"
measure right "stamp://$B4:8620" --key-file key --rounds 2
status=$?
ended right "a run"
ok "$([ "$(facts right "$B4" "round IS NULL AND moment = 'start'")" -gt 200 ]; echo $?)" "all of the peer's facts are kept" "$(noted right)"
is "$(facts right "$B4" "round IS NOT NULL AND key = 'snapshot.hash'")" 4 "and what moved at the start and the end of both rounds"
is "$(noted right)" "" "nothing was missing"
measure without "stamp://$B4:8620" --key-file key --no-facts
is "$(facts without "$B4" 1)" 0 "--no-facts asks for none"

# 2. With another key, and without one, nothing is told.
measure wrong "stamp://$B4:8620" --key-file other
is "$(facts wrong "$B4" 1)" 0 "another key is told nothing"
ok "$(noted wrong | grep -q "could not be asked of it: no answer"; echo $?)" "which is noted" "$(noted wrong)"
measure open "stamp://$B4:8620"
is "$(facts open "$B4" 1)" 0 "without a key nothing is asked"

# 3. Replies are as long as what was asked. The counters of B's end of the wire see nothing else but the requests and replies.
seen() { in_b ip -s -o link show dev b0 | sed 's/.*RX:[^\\]*\\ *\([0-9]*\) *\([0-9]*\).*TX:[^\\]*\\ *\([0-9]*\) *\([0-9]*\).*/\1 \3/'; }
in_a ping -c 1 -W 2 "$B4" >/dev/null 2>&1
# shellcheck disable=SC2046
set -- $(seen)
measure sizes "stamp://$B4:8620" --key-file key
rx=$1 tx=$2
# shellcheck disable=SC2046
set -- $(seen)
rx=$(($1 - rx)) tx=$(($2 - tx))
ok "$([ "$rx" -gt 20000 ] && [ "$tx" -gt 20000 ] && [ "$tx" -le $((rx + 1000)) ]; echo $?)" "no more leaves the responder than came in" "$rx $tx"

# 4. A setting of B that moves with the arms.
corking=/proc/sys/net/ipv4/tcp_autocorking ecn=/proc/sys/net/ipv4/tcp_ecn
on_b="nsenter --net=/proc/$net_b/ns/net sh -c"
if in_b sh -c "echo 1 >$corking" 2>/dev/null; then
	abba_a declared --a "$on_b 'echo 1 >$corking'" --b "$on_b 'echo 0 >$corking'" --declare net.ipv4.tcp_autocorking -o abba.tare
	told declared 'snapshots of the peer: 1 changed as declared' "a declared setting of the peer changed as declared"
	told declared "the peer's net.ipv4.tcp_autocorking 1 -> 0" "and from what to what"
	ok "$(grep -q 'without effect:' declared.txt; echo $((! $?)))" "that this host's stayed is no fault" "$(cat declared.txt)"
	abba_a behind --a "$on_b 'echo 1 >$corking; echo 2 >$ecn'" --b "$on_b 'echo 0 >$corking; echo 1 >$ecn'" \
		--declare net.ipv4.tcp_autocorking
	told behind "the peer's net.ipv4.tcp_ecn undeclared" "an undeclared one of the peer voids the comparison, without a recording too"
else
	skip "settings that move" "/proc/sys cannot be written here"
fi
stop echo

# 5. A responder with the key that serves none is asked once.
background plain in_b "$TARE" echo "stamp://$B4:8620" --key-file key --json
wait_udp in_b 8620
measure none "stamp://$B4:8620" --key-file key --rounds 2
is "$(facts none "$B4" 1)" 0 "a responder without --facts serves none"
is "$(noted none | grep -c 'the responder serves none (tare echo --facts does); it is not asked again')" 1 "and is asked once" "$(noted none)"
stop plain
is "$(sed -n 's/.*"requests": *\([0-9]*\).*/\1/p' plain.out)" 41 "the responder counted one request beside the 40"
tap_done
