#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The responder between two hosts: what it says, whom it answers and from where, and what is
# left of its privileges. Datagrams are sent by a few lines of Python where there is one.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# ask FAMILY SOURCE-PORT ADDRESS PORT HEX: from A; prints "address hex" of the reply, or "none" after 0.5 s.
ask() {
	in_a python3 -c '
import socket, sys
family, source, address, port, request = sys.argv[1:]
s = socket.socket(socket.AF_INET6 if family == "6" else socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", int(source)))
s.settimeout(0.5)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
s.sendto(bytes.fromhex(request), socket.getaddrinfo(address, int(port), s.family)[0][4])
try:
    reply, sender = s.recvfrom(65536)
    print(sender[0].split("%")[0], reply.hex())
except OSError:
    print("none")
' "$@"
}

# count LISTENER NAME: from the JSON the responder left.
count() {
	grep -F "\"$1\"" echo.out | sed "s/.*\"$2\":\\([0-9]*\\).*/\\1/"
}

net_setup
net_commands echo
in_b ip addr add 10.77.0.3/24 dev b0

background first in_b "$TARE" echo "udp://$B4:7000"
wait_udp in_b 7000
in_b timeout 10 "$TARE" echo "udp://$B4:7000" >second.out 2>&1
is "$?" 5 "a port in use: exit status"
is "$(head -n 1 second.out)" "tare: cannot listen on udp://$B4:7000: Address already in use" "a port in use: sentence"
stop first
is "$stopped" 0 "SIGTERM: exit status"
is "$(sed -n 1p first.out)" "listening on udp://$B4:7000, any CPU, blocking" "banner"
is "$(awk 'NR == 3 { print $1, $2, $3 }' first.out)" "udp://$B4:7000 0 0" "counts at the end"

# What steers a stack beside the kernel's is told by the responder and in the sender's recording.
background steered in_b env EF_POLL_USEC=100 VMA_SPEC=latency "$TARE" echo "udp://$B4:7000"
wait_udp in_b 7000
if command -v sqlite3 >/dev/null 2>&1; then
	in_a env VMA_SPEC=multi "$TARE" run "udp://$B4:7000" --count 20 -q -o steered.tare >steered.txt 2>&1
	is "$(sqlite3 steered.tare "SELECT value FROM fact WHERE key = 'process.environment' AND moment = 'start' AND round IS NULL")" \
		VMA_SPEC=multi "the sender's environment is in its recording" "$(cat steered.txt)"
else
	skip "the sender's environment is in its recording" "no sqlite3"
fi
stop steered
is "$(sed -n 's/^note: .* at work: //p' steered.out | tr ' ' '\n' | sort | tr '\n' ' ')" "EF_POLL_USEC=100 VMA_SPEC=latency " \
	"the responder tells its own"

listeners='udp://0.0.0.0:7000 stamp://0.0.0.0:8620'
if net_has_ipv6; then listeners="$listeners udp://[::]:7000"; fi
# shellcheck disable=SC2086
background echo in_b "$TARE" echo $listeners --cpu 0 --spin --json
wait_udp in_b 8620
sleep 0.3
is "$(grep -c '^listening on .*, CPU 0, spinning$' echo.out)" "$(echo "$listeners" | wc -w)" "a line a listener"
# shellcheck disable=SC2154
is "$(cat "/proc/$echo_pid"/task/*/comm | grep -cx tare-spin)" 1 "the spinning thread has its name"
if [ "${SANITIZE:-none}" = thread ]; then
	skip "no thread keeps a capability" "the thread sanitizer has a thread of its own"
else
	clean "$(grep -h '^Cap\(Eff\|Prm\)' "/proc/$echo_pid"/task/*/status | grep -v '0000000000000000$')" \
		"no thread keeps a capability"
fi

if command -v python3 >/dev/null 2>&1; then
	is "$(ask 4 0 "$B4" 7000 00ff10)" "$B4 00ff10" "IPv4, wildcard: answered from the address asked"
	is "$(ask 4 0 10.77.0.3 7000 616263)" "10.77.0.3 616263" "IPv4, wildcard: also from the second one"
	is "$(ask 4 7 "$B4" 7000 616263)" none "from the echo port: no answer"
	is "$(ask 4 8620 "$B4" 7000 616263)" none "from a port of our own: no answer"
	is "$(ask 4 0 10.77.0.255 7000 616263)" none "to the broadcast address: no answer"
	is "$(ask 4 0 "$B4" 8620 00112233445566)" none "stamp: seven octets: no answer"
	base=0000002a1111111122222222$(printf '%064d' 0)
	is "$(ask 4 0 "$B4" 8620 "$base" | cut -c "1-$((${#B4} + 9))")" "$B4 0000002a" "stamp: answered, sequence copied"
	is "$(ask 4 0 "$B4" 8620 "$base" | wc -c)" "$((${#B4} + 1 + 88 + 1))" "stamp: with as many octets"
	if net_has_ipv6; then
		is "$(ask 6 0 "$B6" 7000 616263)" "$B6 616263" "IPv6, wildcard: answered from the address asked"
		link_local=$(in_b ip -6 addr show dev b0 scope link |
			awk '$1 == "inet6" { sub(/\/.*/, "", $2); print $2 }')
		is "$(ask 6 0 "$link_local%a0" 7000 616263)" "$link_local 616263" "IPv6: link-local with its scope"
	else
		skip "IPv6" "this kernel has no IPv6"
	fi
	stop echo
	is "$(count udp://0.0.0.0:7000 requests) $(count udp://0.0.0.0:7000 replies) $(count udp://0.0.0.0:7000 refused)" \
		"5 2 3" "udp: requests, replies and refused"
	is "$(count stamp://0.0.0.0:8620 too_short) $(count stamp://0.0.0.0:8620 foreign)" "1 2" "stamp: too short and foreign"
else
	skip "datagrams of all kinds" "no python3"
	stop echo
fi
is "$stopped" 0 "the spinning responder ends on SIGTERM"
is "$(grep -c '"schema":"tare.echo/1"' echo.out)" 1 "JSON with its schema"
tap_done
