#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# STAMP between two hosts: the authenticated mode, keys that do not fit, and what each end says of it.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# count LISTENER NAME: from the JSON the responder left.
count() {
	grep -F "\"$1\"" echo.out | sed "s/.*\"$2\":\\([0-9]*\\).*/\\1/"
}

# fates FILE: "answered 50" of a recording.
fates() {
	"$TARE" export --csv "$1" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { n[$at["fate"]]++ }
		END { for (fate in n) print fate, n[fate] }' | sort | tr '\n' ' '
}

# told FILE: what its events say of the reflector.
told() {
	sqlite3 "$1" "SELECT text FROM event WHERE kind = 'peer'" 2>/dev/null
}

# measure NAME TARGET OPTION...: 50 requests from A, and none that asks for facts: requests are counted.
measure() {
	name=$1
	target=$2
	shift 2
	facts=--no-facts
	case " $* " in *" --peer-facts "*) facts= ;; esac
	# shellcheck disable=SC2086
	in_a timeout 30 "$TARE" run "$target" --every 1ms --count 48 --timeout 200ms $facts "$@" -o "$name.tare" >"$name.txt" 2>&1
}

net_setup
net_commands echo run export
umask 077
echo 000102030405060708090a0b0c0d0e0f >key
echo 'another key, this one of plain octets' >other
families=4
if net_has_ipv6; then families='4 6'; fi
command -v sqlite3 >/dev/null 2>&1 || skip "what is told of reflectors" "no sqlite3 (package sqlite3)"

for family in $families; do
	if [ "$family" = 4 ]; then host=$B4; else host="[$B6]"; fi
	background echo in_b "$TARE" echo "stamp://$host:8620" --key-file key --json
	wait_udp in_b 8620
	measure "right$family" "stamp://$host:8620" --key-file key --timeout 20s
	status=$?
	ended "right$family" "IPv$family, the same key"
	is "$(fates "right$family.tare")" "answered 50 " "every request answered"
	measure "wrong$family" "stamp://$host:8620" --key-file other
	is "$? $(fates "wrong$family.tare")" "4 lost 50 " "another key: none"
	measure "plain$family" "stamp://$host:8620"
	is "$? $(fates "plain$family.tare")" "4 lost 50 " "no key: none"
	stop echo
	is "$(count "stamp://$host:8620" replies) $(count "stamp://$host:8620" wrong_hmac) $(count "stamp://$host:8620" unauthenticated)" \
		"50 50 50" "the responder counted each"
	background echo in_b "$TARE" echo "stamp://$host:8620"
	wait_udp in_b 8620
	measure "open$family" "stamp://$host:8620" --key-file key
	is "$? $(fates "open$family.tare")" "4 lost 50 " "a reflector without the key is not believed"
	ok "$(grep -q '50 replies without the right HMAC were dropped' "open$family.txt"; echo $?)" "and it is said" "$(cat "open$family.txt")"
	stop echo
	if command -v sqlite3 >/dev/null 2>&1; then
		ok "$(told "right$family.tare" | grep -q 'the reflector is tare, authenticated'; echo $?)" "authenticated, it is told"
	fi
done

# A reflector that counts tells with each reply when the one before left, and answers with the DSCP asked for.
background counting in_b "$TARE" echo "stamp://$B4:8621" --stateful
wait_udp in_b 8621
in_b "$TARE" inspect -o peer.jsonl >/dev/null 2>&1
measure followed "stamp://$B4:8621" --reply-dscp 46 --clock-bound 1s --peer-facts peer.jsonl --timeout 20s
status=$?
ended followed "a reflector that counts"
is "$(fates followed.tare)" "answered 50 " "every request answered"
if command -v sqlite3 >/dev/null 2>&1; then
	ok "$(told followed.tare | grep -q 'replies here with DSCP 46 and ECN 0'; echo $?)" "replies come with the DSCP asked for" "$(told followed.tare)"
	ok "$(told followed.tare | grep -q 'it told afterwards when they really left, used for [1-9]'; echo $?)" "and with the send time of the one before"
	is "$(sqlite3 followed.tare "SELECT count(*) FROM fact WHERE side = '$B4' AND key = 'snapshot.taken_ns'")" 1 "the peer's facts are kept"
fi
# Both hosts have one clock here: the directions and the residence make up the round trip, and neither is negative by more than our reading of it is wrong.
"$TARE" stat --span forward,backward --csv followed.tare >followed.csv 2>followed.note
is "$(cut -d, -f1-20 followed.csv | grep -c -e ',forward,' -e ',backward,')" 2 "forward and backward, with the bound of the run"
ok "$("$TARE" export --csv followed.tare | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ n++; if ($at["forward_ns"] < -1000 || $at["backward_ns"] < -1000) bad++
	  if ($at["forward_ns"] + $at["backward_ns"] != $at["rtt_ns"] - $at["residence_ns"]) bad++ }
	END { exit n == 50 && !bad ? 0 : 1 }'; echo $?)" "together with the residence they are the round trip"
stop counting
tap_done
