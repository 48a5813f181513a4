#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The way packets take: a router between two hosts takes one hop off, rewrites a class and
# has a smaller MTU; two hosts of one address behind two paths of equal cost, one of them
# slower. All of it must be seen, said, and be in the recording.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

in_r() { nsenter --net="/proc/$net_r/ns/net" "$@"; }

# joint SPACE-A DEVICE-A SPACE-B DEVICE-B PID-B: a veth pair, up.
joint() {
	"$1" ip link add "$2" type veth peer name "$4" netns "$5"
	"$1" ip link set "$2" up
	"$3" ip link set "$4" up
}

# said NAME WHAT TEXT: whether the run NAME and its recording both say TEXT (a basic expression).
said() {
	ok "$(tr '\n' ' ' <"$1.txt" | sed 's/  */ /g' | grep -q "$3"; echo $?)" "$1: $2" "$(cat "$1.txt")"
	ok "$("$TARE" stat --csv "$1.tare" 2>&1 >/dev/null | tr '\n' ' ' | sed 's/  */ /g' | grep -q "$3"; echo $?)" "$1: so says the recording" \
		"$("$TARE" stat --csv "$1.tare" 2>&1 >/dev/null)"
}

# answers NAME WHAT: all its requests were answered. Not its exit status: a loaded machine may not hold even this rate.
answers() {
	is "$("$TARE" stat --csv "$1.tare" 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["span"] == "rtt" { print $at["n"]; exit }')" 20 "$1: $2"
}

# asks NAME OPTION...: a short run from A.
asks() {
	name=$1
	shift
	in_a "$TARE" run --count 20 --every 2ms --timeout 200ms -o "$name.tare" "$@" >"$name.txt" 2>&1
	status=$?
}

net_setup
net_commands echo run stat
net_hold
net_r=$held
net_jobs="$net_jobs $held"
net_hold
net_c=$held
net_jobs="$net_jobs $held"
in_r ip link set lo up
in_c ip link set lo up
in_r sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
for side in in_r in_c; do $side sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad' 2>/dev/null; done
joint in_a a1 in_r r1 "$net_r"
joint in_r r2 in_b b1 "$net_b"
in_a ip addr add 10.78.1.1/24 dev a1
in_r ip addr add 10.78.1.254/24 dev r1
in_r ip addr add 10.78.2.254/24 dev r2
in_b ip addr add 10.78.2.2/24 dev b1
in_a ip route add 10.78.2.0/24 via 10.78.1.254
in_b ip route add 10.78.1.0/24 via 10.78.2.254
hosts=10.78.2.2
if net_has_ipv6; then
	in_a ip addr add fd78:1::1/64 dev a1 nodad
	in_r ip addr add fd78:1::fe/64 dev r1 nodad
	in_r ip addr add fd78:2::fe/64 dev r2 nodad
	in_b ip addr add fd78:2::2/64 dev b1 nodad
	in_a ip route add fd78:2::/64 via fd78:1::fe
	in_b ip route add fd78:1::/64 via fd78:2::fe
	hosts="$hosts [fd78:2::2]"
fi
sleep 0.3
# shellcheck disable=SC2086
background echo in_b "$TARE" echo $(for host in $hosts; do echo "udp://$host:7000"; done)
wait_udp in_b 7000

for host in $hosts; do
	v=4
	[ "$host" = 10.78.2.2 ] || v=6
	asks "hops$v" "udp://$host:7000"
	answers "hops$v" "the far side answers"
	said "hops$v" "the router took one hop off" 'answers have TTL 63 (1 hop, if sent with 64)'
	asks "user$v" "udp://$host:7000" --stamps user
	said "user$v" "also without kernel stamps" 'answers have TTL 63 (1 hop, if sent with 64)'
	asks "ttl$v" "udp://$host:7000" --ttl 1
	is "$status" 4 "ttl$v: one hop is not enough"
	ok "$(tr '\n' ' ' <"ttl$v.txt" | grep -q 'sent with TTL 1; no answer showed its way'; echo $?)" "ttl$v: says with what it was sent" "$(cat "ttl$v.txt")"
	asks "class$v" "udp://$host:7000" --dscp EF --ecn 1
	said "class$v" "class sent and seen" 'sent with DSCP 46 (EF), ECN 1; answers have TTL 63 ([^)]*), DSCP 0, ECN 0'
	asks "whole$v" "udp://$host:7000" --size 3000
	said "whole$v" "what exceeds the MTU is fragmented" 'the path MTU is 1500: each request of 3000 bytes travels in 3 fragments'
done

if in_r sh -c 'nft add table inet t && nft add chain inet t c "{ type filter hook postrouting priority 0 ; }" &&
	nft add rule inet t c oifname r1 ip dscp set af21 && nft add rule inet t c oifname r1 ip6 dscp set af21' 2>nft.txt; then
	for host in $hosts; do
		v=4
		[ "$host" = 10.78.2.2 ] || v=6
		asks "mark$v" "udp://$host:7000"
		said "mark$v" "the class that the router writes is seen" 'DSCP 18 (AF21), ECN 0'
	done
else
	skip "a class that the router writes" "no nft: $(cat nft.txt)"
fi

in_r ip link set r2 mtu 1300
in_b ip link set b1 mtu 1300
for host in $hosts; do
	v=4 most=1272
	[ "$host" = 10.78.2.2 ] || v=6 most=1252
	asks "df$v" "udp://$host:7000" --df --size 1400
	said "df$v" "the path MTU that a router told is told" "the path MTU is 1300: --size $most at most, 1400 is refused"
	asks "fits$v" "udp://$host:7000" --df --size $most
	answers "fits$v" "that size goes through"
done

# Addresses, ports and interfaces.
background seen in_b sh -c 'exec tcpdump -l -n -i b0 udp port 7001 2>&1'
background near in_b "$TARE" echo "udp://$B4:7001"
wait_udp in_b 7001
in_a ip addr add 10.77.0.77/24 dev a0
asks from "udp://$B4:7001" --source 10.77.0.77 --source-port 4567 --interface a0
answers from "an address, a port and an interface of one's own"
said from "they are said" 'from 10.77.0.77 port 4567; by interface a0;'
if command -v tcpdump >/dev/null 2>&1; then
	wait_said seen '10.77.0.77.4567 > '
	ok $? "from: and are on the wire" "$(head -3 seen.out)"
else
	skip "from: and are on the wire" "no tcpdump"
fi
asks wrongway "udp://$B4:7001" --interface lo
is "$status" 4 "an interface that does not lead there measures nothing"
asks tcpfrom "tcp://$B4:7002" --source 10.77.0.99
is "$status" 2 "an address that is not ours is refused, for TCP too"
ok "$(grep -q 'no interface of this host has that address' tcpfrom.txt; echo $?)" "and said" "$(cat tcpfrom.txt)"

# One address behind two paths: B answers at once, C 20 ms late.
joint in_a a2 in_c c0 "$net_c"
in_a ip addr add 10.79.1.1/24 dev a2
in_c ip addr add 10.79.1.2/24 dev c0
in_b ip addr add 10.79.9.9/32 dev lo
in_c ip addr add 10.79.9.9/32 dev lo
in_a ip addr add 10.79.8.8/32 dev lo
in_b ip route add 10.79.8.8 via "$A4"
in_c ip route add 10.79.8.8 via 10.79.1.1
in_a sh -c 'echo 1 >/proc/sys/net/ipv4/fib_multipath_hash_policy' 2>/dev/null
if in_a ip route add 10.79.9.9 nexthop via "$B4" dev a0 nexthop via 10.79.1.2 dev a2 2>route.txt; then
	background fast in_b "$TARE" echo stamp://10.79.9.9:8620
	background slow in_c "$TARE" echo stamp://10.79.9.9:8620 --inject 'delay 20ms every 1'
	wait_udp in_b 8620
	wait_udp in_c 8620
	in_a "$TARE" run stamp://10.79.9.9:8620 --source 10.79.8.8 --source-ports 12 --rounds 3 --count 5 --every 22ms --timeout 200ms \
		-o ports.tare >ports.txt 2>&1
	"$TARE" stat --csv ports.tare 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["span"] == "rtt" && $at["round"] != "" { sub("port=", "", $at["label"]); print $at["label"], ($at["min_ns"] > 20000000 ? "slow" : "fast") }' | sort -u >ways
	is "$(wc -l <ways | tr -d ' ')" 12 "a round from each source port"
	if grep -q slow ways && grep -q fast ways; then
		told=$(tr '\n' ' ' <ports.txt | sed 's/  */ /g' | sed -n 's/.*more than one path: p50 up to .* from source ports\{0,1\} \(.*\), from .* on with \([0-9, and]*more\|[0-9, ]*\).*/\1|\2/p')
		fast=",$(printf '%s' "${told%|*}" | tr -d ' '),"
		slow=",$(printf '%s' "${told#*|}" | tr -d ' '),"
		# a busy machine may put a fast port among the slow ones, but no slow one among the fast
		clean "$(while read -r port way; do
			case $way$fast in slow*,$port,*) echo "$port is slow and told to be fast" ;; esac
			case $way$slow in slow*,$port,*) ;; slow*) echo "$port is slow and not told" ;; esac
		done <ways)" "the ports of the slow path are told from those of the fast one"
		ok "$([ "$fast" != ,, ]; echo $?)" "and some are told to be fast" "$(cat ports.txt)"
	else
		skip "the ports of the slow path" "all 12 ports were hashed to one path"
	fi
else
	skip "paths of equal cost" "no multipath routes: $(cat route.txt)"
fi

# Ways of waiting.
asks epoll "udp://$B4:7001" --receive epoll --idle-sockets 200
answers epoll "epoll beside idle sockets"
said epoll "it is said" 'waits with epoll, beside 200 idle sockets'
asks busy "udp://$B4:7001" --receive busy-poll --busy-poll 30us --busy-poll-budget 16
if grep -q 'needs CAP_NET_ADMIN' busy.txt; then
	skip "busy polling" "not permitted here"
else
	answers busy "busy polling"
	said busy "what was asked and granted is said" 'busy polling: asked 30 us, granted 30 us'
fi

tap_done
