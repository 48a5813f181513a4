# shellcheck shell=sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Two hosts in a box, for scripts that source this file: network namespaces A and B joined
# by a veth pair, with IPv4 and IPv6 addresses that work at once (no duplicate address
# detection). Everything made here, processes included, goes away when the script ends.
#
# `ip netns` is not used: it mounts, which a plain chroot or a strict container refuses. A
# namespace lives as long as a sleeping process in it, and nsenter leads inside. /sys stays
# the host's for that reason: ask `ip` or /proc about interfaces.
#
# Without root the script starts itself again inside a user namespace where it is root;
# where that is not allowed either, it skips with the reason. Set TAP expectations on
# structure and invariants only: the machine under test decides every microsecond.

net_here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$net_here/../tap.sh"

# Read by the scripts.
# shellcheck disable=SC2034
{
A4=10.77.0.1 B4=10.77.0.2 C4=10.77.0.3
A6=fd77::1 B6=fd77::2 C6=fd77::3
}
net_a=
net_b=
net_c=
net_jobs=
net_scratch=

# net_commands NAME...: leaves the script with a skip unless tare has these commands.
net_commands() {
	for net_command in "$@"; do
		"$TARE" help "$net_command" >/dev/null 2>&1 || skip_all "tare has no '$net_command' yet"
	done
}

# Leaves the script with a skip unless namespaces can be made here.
net_need() {
	for tool in ip unshare nsenter; do
		command -v $tool >/dev/null 2>&1 || skip_all "no command $tool (packages iproute2, util-linux)"
	done
	if [ ! -x "$TARE" ]; then skip_all "this build has no tare program"; fi
	if [ "$(id -u)" -ne 0 ]; then
		if [ -n "${TARE_NET_INNER:-}" ] || ! unshare -Urn true 2>/dev/null; then
			skip_all "network namespaces need root, and user namespaces are not allowed here"
		fi
		TARE_NET_INNER=1 exec unshare -Urn sh "$0"
	fi
	if ! why=$(unshare -n true 2>&1); then skip_all "no network namespace: $why"; fi
}

# Makes a network namespace, held by a process whose id is left in $held.
net_hold() {
	unshare -n sleep 100000 </dev/null >/dev/null 2>&1 &
	held=$!
	tries=0
	while [ "$(readlink "/proc/$held/ns/net")" = "$(readlink /proc/self/ns/net)" ] && [ "$tries" -lt 50 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	if ! net_is_ours "$held"; then
		kill "$held" 2>/dev/null
		skip_all "a process in a network namespace of its own cannot be told from the others"
	fi
}

# Whether process $1 lives in another network namespace than this script. Asked before anything
# is killed for living there.
net_is_ours() {
	theirs=$(readlink "/proc/$1/ns/net" 2>/dev/null) && own=$(readlink /proc/self/ns/net) &&
		[ -n "$theirs" ] && [ -n "$own" ] && [ "$theirs" != "$own" ]
}

# Makes the namespaces, the pair a0 (in A) and b0 (in B), addresses and loopbacks.
net_setup() {
	net_scratch=$(mktemp -d "${TMPDIR:-/tmp}/tare-net.XXXXXX")
	trap net_cleanup EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	net_need
	net_hold
	net_a=$held
	net_hold
	net_b=$held
	for side in in_a in_b; do
		$side ip link set lo up
		$side sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad' 2>/dev/null
	done
	if ! why=$(in_a ip link add a0 type veth peer name b0 netns "$net_b" 2>&1); then
		skip_all "no veth pair: $why"
	fi
	net_address in_a a0 "$A4" "$A6"
	net_address in_b b0 "$B4" "$B6"
	in_a ip link set a0 up
	in_b ip link set b0 up
	net_wait_up
	cd "$net_scratch" || exit 1
}

net_address() {
	"$1" ip addr add "$3/24" dev "$2"
	"$1" ip addr add "$4/64" dev "$2" nodad 2>/dev/null
}

# The carrier is announced with a delay, and link-local addresses are tentative for a moment.
net_wait_up() {
	tries=0
	while [ "$tries" -lt 50 ]; do
		if [ "$(net_state in_a a0) $(net_state in_b b0)" = "UP UP" ] &&
			[ -z "$(in_a ip -6 addr show tentative)$(in_b ip -6 addr show tentative)" ]; then
			return
		fi
		sleep 0.1
		tries=$((tries + 1))
	done
}

net_state() { "$1" ip link show "$2" | sed -n 's/.* state \([A-Z]*\) .*/\1/p'; }

# net_third: makes C, and a bridge br0 in A that joins A, B and C; it has A's addresses from then on.
net_third() {
	net_hold
	net_c=$held
	in_c ip link set lo up
	if ! why=$(in_a ip link add br0 type bridge mcast_snooping 0 2>&1); then skip_all "no bridge: $why"; fi
	in_a ip link add a1 type veth peer name c0 netns "$net_c"
	for port in a0 a1; do
		in_a ip addr flush dev $port
		in_a ip link set $port master br0
	done
	net_address in_a br0 "$A4" "$A6"
	net_address in_c c0 "$C4" "$C6"
	in_a ip link set a1 up
	in_a ip link set br0 up
	in_c ip link set c0 up
	tries=0
	while [ "$tries" -lt 100 ]; do
		if [ "$(net_state in_a br0) $(net_state in_c c0)" = "UP UP" ] && [ "$(in_a bridge link 2>/dev/null |
			grep -c 'state forwarding')" = 2 ] && [ -z "$(in_a ip -6 addr show tentative)" ]; then
			return
		fi
		sleep 0.1
		tries=$((tries + 1))
	done
}

# IPv6 may be switched off in this kernel: ask before expecting it.
net_has_ipv6() { in_a ip -6 addr show 2>/dev/null | grep -q "$A6"; }

in_a() { nsenter --net="/proc/$net_a/ns/net" "$@"; }
in_b() { nsenter --net="/proc/$net_b/ns/net" "$@"; }
in_c() { nsenter --net="/proc/$net_c/ns/net" "$@"; }

# background NAME COMMAND...: runs it with its output in NAME.out, its process id in $NAME_pid.
# COMMAND is a program, or in_a, in_b, ... and a program, which then replaces nsenter: the id is its own.
background() {
	background_name=$1
	shift
	case $1 in
	in_?)
		eval "background_space=\$net_${1#in_}"
		shift
		# shellcheck disable=SC2154
		set -- nsenter --net="/proc/$background_space/ns/net" "$@"
		;;
	esac
	"$@" >"$net_scratch/$background_name.out" 2>&1 </dev/null &
	net_jobs="$net_jobs $!"
	eval "${background_name}_pid=$!"
}

# ended NAME [WHAT]: $status and NAME.txt are of a run that ended as it should. A loaded machine may not hold the
# rate, which is status 4 and says so; that is no matter where the rate is not what is tested.
ended() {
	# shellcheck disable=SC2154
	ok "$([ "$status" = 0 ] || { [ "$status" = 4 ] && grep -q 'not the load that was asked for' "$1.txt"; }; echo $?)" \
		"${2:-$1}: exit status" "$status $(cat "$1.txt")"
}

# stop NAME [SIGNAL]: signals the background program and waits; $stopped is its exit status.
stop() {
	eval "stop_pid=\$${1}_pid"
	# shellcheck disable=SC2154
	kill "-${2:-TERM}" "$stop_pid" 2>/dev/null
	wait "$stop_pid"
	# shellcheck disable=SC2034
	stopped=$?
	net_jobs=$(printf '%s' "$net_jobs" | sed "s/ $stop_pid\\>//")
}

# wait_said NAME PATTERN: until the background program has printed it (10 s at most).
wait_said() {
	tries=0
	until grep -q -e "$2" "$net_scratch/$1.out" 2>/dev/null; do
		if [ "$tries" -ge 100 ]; then return 1; fi
		sleep 0.1
		tries=$((tries + 1))
	done
}

# wait_udp SPACE-FUNCTION PORT: until someone is bound there (5 s at most).
wait_udp() {
	hex=$(printf ':%04X' "$2")
	tries=0
	while [ "$tries" -lt 50 ]; do
		if "$1" cat /proc/net/udp /proc/net/udp6 2>/dev/null | awk -v hex="$hex" \
			'index($2, hex) { found = 1 } END { exit !found }'; then return 0; fi
		sleep 0.1
		tries=$((tries + 1))
	done
	return 1
}

net_cleanup() {
	status=$?
	trap - EXIT
	for job in $net_jobs; do
		kill "$job" 2>/dev/null && wait "$job" 2>/dev/null
	done
	# Whoever is in there was started by this script, past `background` or not; the holders go last.
	for space in $net_a $net_b $net_c; do
		net_is_ours "$space" || continue
		inside=$(readlink "/proc/$space/ns/net")
		for process in /proc/[0-9]*; do
			pid=${process#/proc/}
			if [ "$pid" != "$space" ] && [ "$(readlink "$process/ns/net" 2>/dev/null)" = "$inside" ]; then
				kill "$pid" 2>/dev/null
			fi
		done
	done
	for space in $net_a $net_b $net_c; do
		kill "$space" 2>/dev/null && wait "$space" 2>/dev/null
	done
	if [ -n "$net_scratch" ]; then rm -rf "$net_scratch"; fi
	exit "$status"
}
