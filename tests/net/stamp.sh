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

# measure NAME TARGET OPTION...: 50 requests from A.
measure() {
	name=$1
	target=$2
	shift 2
	in_a timeout 30 "$TARE" run "$target" --every 1ms --count 48 --timeout 200ms "$@" -o "$name.tare" >"$name.txt" 2>&1
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
	is "$? $(fates "right$family.tare")" "0 answered 50 " "IPv$family, the same key: every request answered"
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
tap_done
