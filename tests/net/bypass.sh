#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Past the kernel's stack (AF_XDP) between two hosts in a box: both ends, each against the
# kernel's sockets at the other, what the filter leaves alone, losses and who counted them,
# and that nothing is left behind: neither the filter nor busy polling, however it ends.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# column FILE NAME: of the rtt row.
column() {
	"$TARE" stat --csv "$1" | awk -F, -v column="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["span"] == "rtt" { print $at[column]; exit }'
}

run_a() {
	name=$1
	shift
	in_a timeout -k 5 120 "$TARE" run "$@" -o "$name.tare" >"$name.txt" 2>&1
	status=$?
}

# whole NAME COUNT: every request was answered, and nothing else came.
whole() {
	ended "$1"
	is "$(column "$1.tare" n) $(column "$1.tare" lost) $(column "$1.tare" foreign)" "$2 0 0" \
		"$1: every request has its answer" "$(cat "$1.txt")"
}

# count NAME: from the JSON the responder left in echo.out.
count() { sed -n "s/.*\"$1\":\\([0-9]*\\).*/\\1/p" echo.out; }

# listen URL...: the responder in B, once it listens.
listen() {
	rm -f echo.out
	background echo in_b "$TARE" echo --json "$@"
	wait_said echo '^listening'
}

# attached SPACE-FUNCTION DEVICE: a program of XDP stands before it.
attached() { "$1" ip link show dev "$2" | grep -q 'prog/xdp'; }

net_setup
net_commands echo run stat export
listen "xdp://$B4:7000?dev=b0"
if grep -q 'build has no xdp\|operation not permitted\|has no AF_XDP' echo.out; then
	skip_all "$(sed -n '1s/^tare: //p' echo.out)"
fi
ok "$(grep -q '^listening on xdp://' echo.out; echo $?)" "the responder listens" "$(cat echo.out)"
ok "$(grep -q 'note: .*: b0, queue 0, filter in the driver, copied' echo.out; echo $?)" "and says how" "$(cat echo.out)"

# 1. Both ends, and each against the kernel's sockets.
run_a both "xdp://$B4:7000?dev=a0&queue=0" --every 1ms --count 300 --stamps user
whole both 300
ok "$(grep -q "past the kernel's stack by a0, queue 0" both.txt; echo $?)" "both: the sender says what it got" "$(cat both.txt)"
ok "$(attached in_a a0; [ $? -eq 1 ]; echo $?)" "both: the sender's filter is gone"
run_a largest "xdp://$B4:7000?dev=a0" --every 1ms --count 100 --size 1472 --stamps user
whole largest 100
run_a least "xdp://$B4:7000?dev=a0" --every 1ms --count 100 --size 16 --stamps user
whole least 100
run_a stamps "xdp://$B4:7000" --every 1ms --count 100 --stamps kernel
whole stamps 100
ok "$(grep -q 'stamp kernel_rx: asked for, none of 102 arrived' stamps.txt; echo $?)" "kernel stamps: counted as missing" "$(cat stamps.txt)"
run_a socket "udp://$B4:7000" --every 1ms --count 300
whole socket 300

# 2. What the filter leaves alone: everything but its own address and port.
ok "$(in_a ping -c 2 -W 2 "$B4" >ping.txt 2>&1; echo $?)" "ICMP passes" "$(cat ping.txt)"
in_a ip neigh flush dev a0
ok "$(in_a ping -c 1 -W 2 "$B4" >ping.txt 2>&1; echo $?)" "and ARP" "$(cat ping.txt)"
in_b ip addr add 10.77.0.3/24 dev b0
background others in_b "$TARE" echo "udp://$B4:7001" "tcp://$B4:7000" udp://10.77.0.3:7000
wait_udp in_b 7001
run_a port "udp://$B4:7001" --every 1ms --count 100
whole port 100
run_a address udp://10.77.0.3:7000 --every 1ms --count 100
whole address 100
run_a tcp "tcp://$B4:7000" --every 1ms --count 100
whole tcp 100
run_a plain "xdp://$B4:7001?dev=a0" --every 1ms --count 300 --stamps user
whole plain 300
run_a fragments "udp://$B4:7000" --every 1ms --count 20 --size 3000 --timeout 50ms
is "$status $(column fragments.tare lost)" "4 22" "fragments pass to the stack, where nobody answers" "$(cat fragments.txt)"
stop others
stop echo
is "$stopped" 0 "the responder ends on SIGTERM" "$(cat echo.out)"
ok "$(grep -q 'lost or damaged: udp past_the_filter 22$' echo.out; echo $?)" "it has counted what came past its filter" "$(cat echo.out)"
is "$(count requests) $(count replies)" "910 910" "and every request it answered" "$(cat echo.out)"
ok "$(attached in_b b0; [ $? -eq 1 ]; echo $?)" "its filter is gone"

# 3. IPv6.
if net_has_ipv6; then
	listen "xdp://[$B6]:7000"
	run_a both6 "xdp://[$B6]:7000?dev=a0" --every 1ms --count 300 --stamps user
	whole both6 300
	run_a largest6 "xdp://[$B6]:7000?dev=a0" --every 1ms --count 100 --size 1452 --stamps user
	whole largest6 100
	run_a socket6 "udp://[$B6]:7000" --every 1ms --count 300
	whole socket6 300
	stop echo
	background echo in_b "$TARE" echo --json "udp://[$B6]:7000"
	wait_udp in_b 7000
	run_a plain6 "xdp://[$B6]:7000" --every 1ms --count 300 --stamps user
	whole plain6 300
	stop echo
else
	skip "IPv6" "this kernel has no IPv6"
fi

# 4. The responder stands still and its frames run out: each request is counted as served or, by name, as lost.
listen "xdp://$B4:7000?dev=b0"
# shellcheck disable=SC2154
kill -STOP "$echo_pid"
run_a still "xdp://$B4:7000?dev=a0" --rate 20k/s --count 6000 --timeout 50ms --stamps user
is "$status" 4 "a responder that stands still: nothing is answered"
kill -CONT "$echo_pid"
sleep 0.5
stop echo
overrun=$(count overrun)
is "$(($(count requests) + ${overrun:-0}))" 6002 "it has every request, as served or as lost" "$(cat echo.out)"
ok "$([ "${overrun:-0}" -ge 3000 ]; echo $?)" "more than half of them were lost ($overrun)"
ok "$(grep -q "ring rx_dropped $overrun" echo.out; echo $?)" "and the ring's counter of that name says so" "$(cat echo.out)"

# 5. Killed, nothing stays: the filter goes with its process.
listen "xdp://$B4:7000?dev=b0"
ok "$(attached in_b b0; echo $?)" "a filter stands before b0"
in_b timeout 20 "$TARE" echo "xdp://$B4:7001?dev=b0" >second.txt 2>&1
is "$?" 5 "a second one is refused: exit status"
ok "$(grep -q '^tare: another XDP program is attached to b0 (id [1-9][0-9]*) and stays there' second.txt; echo $?)" \
	"and sentence" "$(cat second.txt)"
stop echo KILL
ok "$(attached in_b b0; [ $? -eq 1 ]; echo $?)" "after SIGKILL it is gone"
listen "xdp://$B4:7000"
stop echo
is "$stopped" 0 "and the port and the queue are free" "$(cat echo.out)"

# 6. Busy polling holds for the interface: it is put back at the end, and after SIGKILL.
settings() {
	in_a unshare -m sh -c 'mount -t sysfs none /sys && cat /sys/class/net/a0/napi_defer_hard_irqs \
		/sys/class/net/a0/gro_flush_timeout' 2>/dev/null | tr '\n' ' '
}
# settled EXPECTED: the settings once they are that, or after 10 s.
settled() {
	tries=0
	until [ "$(settings)" = "$1" ] || [ "$tries" -ge 100 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	settings
}
listen "xdp://$B4:7000?dev=b0"
if [ "$(settings)" = "0 0 " ]; then
	run_a busy "xdp://$B4:7000?dev=a0&busy=20us" --every 1ms --count 300 --stamps user
	whole busy 300
	is "$(settings)" "0 0 " "busy polling: put back at the end"
	background long in_a "$TARE" run "xdp://$B4:7000?dev=a0&busy=20us" --every 1ms --count 100000 --stamps user
	is "$(settled '2 200000 ')" "2 200000 " "busy polling: switched on" "$(cat long.out)"
	stop long KILL
	is "$(settled '0 0 ')" "0 0 " "busy polling: put back after SIGKILL"
else
	skip "busy polling" "no sysfs can be mounted here, or it has no such settings"
fi

# 7. Trouble in mid-run: the interface goes down and comes back; then it goes for good.
(sleep 1; in_a ip link set a0 down; sleep 1; in_a ip link set a0 up) &
toggler=$!
run_a down "xdp://$B4:7000?dev=a0" --every 5ms --count 600 --timeout 200ms --stamps user
wait "$toggler"
ok "$(grep -q 'not accepted by the kernel: .*Network is down' down.txt; echo $?)" "interface down: it is said" "$(cat down.txt)"
last=$("$TARE" export --csv down.tare | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { fate = $at["fate"] } END { print fate }')
is "$last" answered "interface down: the last request is answered again"
in_a ip link set a0 down
run_a before "xdp://$B4:7000?dev=a0" --count 10 --stamps user
is "$status $(sed -n '1p' before.txt)" "5 tare: a0 is down" "an interface that is down: sentence"
in_a ip link set a0 up
net_wait_up
(sleep 1; in_a ip link del a0) &
remover=$!
run_a gone "xdp://$B4:7000?dev=a0" --every 5ms --count 600 --timeout 200ms --stamps user
wait "$remover"
ok "$(grep -q 'not accepted by the kernel: .*No such device' gone.txt; echo $?)" "interface gone: the run ends and says so" "$(cat gone.txt)"
stop echo
is "$stopped" 0 "interface gone: the responder ends as ever" "$(cat echo.out)"
tap_done
