#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Requests to a multicast group with two responders, three namespaces on a bridge: who answered is
# counted, the first answer is the sample; answers to the group, source filters, a member that stands still, and refusals.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

COUNT=200
patience=2s
TOLD=$((COUNT + 2)) # the warm-up is counted too

# column FILE NAME: of the rtt row.
column() {
	"$TARE" stat --csv "$1" | awk -F, -v column="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["span"] == "rtt" { print $at[column]; exit }'
}

run_a() {
	name=$1
	shift
	in_a timeout -k 5 120 "$TARE" run "$@" --every 2ms --count $COUNT --timeout "$patience" -o "$name.tare" >"$name.txt" 2>&1
	status=$?
}

# whole NAME: every request has its answer, and others' are no duplicates.
whole() {
	ended "$1"
	is "$(column "$1.tare" n) $(column "$1.tare" lost) $(column "$1.tare" foreign) $(column "$1.tare" duplicate)" \
		"$COUNT 0 0 0" "$1: every request has its answer, none is foreign or a duplicate" "$(cat "$1.txt")"
}

# told NAME PATTERN WHAT
told() { ok "$(grep -q -- "$2" "$1.txt"; echo $?)" "$1: $3" "$(cat "$1.txt")"; }
# answered NAME ADDRESS: the sentence has it, for all requests.
answered() { told "$1" "$2 answered $TOLD of $TOLD," "$2 answered all of them"; }

# firsts NAME: what the responders were first to, together.
firsts() {
	grep -o 'first to [0-9]*' "$1.txt" | awk '{ sum += $3 } END { print sum + 0 }'
}

# member NAME SPACE URL: a responder, once it listens.
member() {
	rm -f "$1.out"
	background "$1" "$2" "$TARE" echo "$3"
	wait_said "$1" '^listening'
	ok $? "$1 listens on $3" "$(cat "$1.out")"
}

refused() {
	name=$1
	shift
	in_a timeout 20 "$TARE" "$@" >"$name.txt" 2>&1
	is "$?" 2 "$name: exit status" "$(cat "$name.txt")"
}

# both FAMILY GROUP A B C SIXES: with the group as in a URL.
both() {
	group=$2
	member "b$1" in_b "udp://$group:7000?if=b0"
	member "c$1" in_c "udp://$group:7000?if=c0"
	run_a "two$1" "udp://$group:7000?if=br0"
	whole "two$1"
	told "two$1" '2 responders: ' 'there are two'
	answered "two$1" "$4"
	answered "two$1" "$5"
	is "$(firsts "two$1")" "$TOLD" "two$1: the first answers are as many as the requests"
	run_a "batch$1" "udp://$group:7000?if=br0" --schedule burst:8 --stamps user
	whole "batch$1"
	answered "batch$1" "$4"
	answered "batch$1" "$5"

	run_a "source$1" "udp://$group:7000?if=br0&source=$5"
	ended "source$1"
	is "$(column "source$1.tare" n) $(column "source$1.tare" duplicate)" "$COUNT 0" "source$1: one of them is listened to" \
		"$(cat "source$1.txt")"
	told "source$1" '1 responder: ' 'one is told'
	answered "source$1" "$5"
	is "$(column "source$1.tare" foreign)" "$TOLD" "source$1: the other's answers are foreign" "$(cat "source$1.txt")"

	eval "kill -STOP \"\$b$1_pid\""
	run_a "stopped$1" "udp://$group:7000?if=br0"
	whole "stopped$1"
	told "stopped$1" '1 responder: ' 'the other one stands still'
	answered "stopped$1" "$5"
	eval "kill -CONT \"\$b$1_pid\""
	stop "b$1"
	stop "c$1"

	# answers to the group; B hears A only, and C somebody else only
	member "b$1" in_b "udp://$group:7000?if=b0&reply=multicast&source=$3"
	member "c$1" in_c "udp://$group:7000?if=c0&reply=multicast&source=$4"
	run_a "reply$1" "udp://$group:7000?if=br0"
	whole "reply$1"
	told "reply$1" '1 responder: ' 'the source filter of a responder holds'
	answered "reply$1" "$4"
	patience=50ms
	run_a "filter$1" "udp://$group:7000?if=br0&source=$5"
	is "$status $(column "filter$1.tare" lost) $(column "filter$1.tare" foreign)" "4 $TOLD 0" \
		"filter$1: answers of others to the group do not even come" "$(cat "filter$1.txt")"
	patience=2s
	told "filter$1" "others than $5 are not listened to" 'it is said'
	stop "b$1"
	is "$stopped" 0 "the responder ends on SIGTERM" "$(cat "b$1.out")"
	told_out=$(cat "b$1.out")
	ok "$(printf '%s' "$told_out" | grep -q "joined on b0, for requests of $3 only, answers go to the group"; echo $?)" \
		"it says what it joined" "$told_out"
	stop "c$1"
}

net_setup
net_commands echo run stat
net_third
both 4 239.7.7.7 "$A4" "$B4" "$C4"

# Nobody, and this host itself.
patience=50ms
run_a nobody 'udp://239.7.7.7:7000?if=br0'
is "$status" 4 "nobody: exit status" "$(cat nobody.txt)"
told nobody 'nobody answered for the group, sent by br0 with ttl 1; responders on this host do not hear it without loop=1' 'sentence'
member own in_a 'udp://239.7.7.7:7000?if=br0'
run_a deaf 'udp://239.7.7.7:7000?if=br0&loop=0'
is "$status" 4 "loop=0: a responder on this host does not hear it" "$(cat deaf.txt)"
patience=2s
run_a loop 'udp://239.7.7.7:7000?if=br0&loop=1'
whole loop
answered loop "$A4"
stop own

# Refusals that need interfaces.
refused route run udp://239.7.7.7:7000 --count 1
told route 'no route to the group 239.7.7.7 and no interface given; name one behind the port' 'sentence'
refused echo-route echo udp://239.7.7.7:7000
told echo-route 'no route to the group 239.7.7.7 and no interface given' 'sentence'
in_a ip route add 239.0.0.0/8 dev br0
member routed in_b 'udp://239.7.7.7:7000?if=b0'
run_a by-route udp://239.7.7.7:7000
whole by-route
run_a by-option udp://239.7.7.7:7000 --interface br0
whole by-option
stop routed
in_a ip link set br0 multicast off
refused none run 'udp://239.7.7.7:7000?if=br0' --count 1
told none 'if=br0: the interface does no multicast' 'sentence'
in_a ip link set br0 multicast on
in_a ip link add spare0 type veth peer name spare1
refused down run 'udp://239.7.7.7:7000?if=spare0' --count 1
told down 'if=spare0: the interface is down' 'sentence'

if net_has_ipv6; then
	both 6 '[ff15::77]' "$A6" "$B6" "$C6"
	member link6 in_b 'udp://[ff12::77]:7000?if=b0'
	run_a scope6 'udp://[ff12::77]:7000?if=br0'
	whole scope6
	stop link6
else
	skip "IPv6" "this kernel has no IPv6"
fi
tap_done
