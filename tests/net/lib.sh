# shellcheck shell=sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Two hosts in a box, for scripts that source this file: network namespaces A and B joined
# by a veth pair, with IPv4 and IPv6 addresses that work at once (no duplicate address
# detection). Everything made here, processes included, goes away when the script ends.
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
A4=10.77.0.1 B4=10.77.0.2
A6=fd77::1 B6=fd77::2
}
net_a=tare-a-$$
net_b=tare-b-$$
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
	command -v ip >/dev/null 2>&1 || skip_all "no ip command (package iproute2)"
	if [ ! -x "$TARE" ]; then skip_all "this build has no tare program"; fi
	if [ "$(id -u)" -ne 0 ]; then
		if [ -n "${TARE_NET_INNER:-}" ] || ! unshare -Urnm true 2>/dev/null; then
			skip_all "network namespaces need root, and user namespaces are not allowed here"
		fi
		# shellcheck disable=SC2016
		TARE_NET_INNER=1 exec unshare -Urnm sh -c 'mount -t tmpfs tmpfs /run && exec sh "$0"' "$0"
	fi
	if ! why=$(ip netns add "$net_a" 2>&1); then skip_all "ip netns: $why"; fi
}

# Makes the namespaces, the pair a0 (in A) and b0 (in B), addresses and loopbacks.
net_setup() {
	net_scratch=$(mktemp -d "${TMPDIR:-/tmp}/tare-net.XXXXXX")
	trap net_cleanup EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	net_need
	ip netns add "$net_b"
	for space in "$net_a" "$net_b"; do
		ip -n "$space" link set lo up
		ip netns exec "$space" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad' 2>/dev/null
	done
	if ! why=$(ip link add a0 netns "$net_a" type veth peer name b0 netns "$net_b" 2>&1); then
		skip_all "ip link add veth: $why"
	fi
	net_address "$net_a" a0 "$A4" "$A6"
	net_address "$net_b" b0 "$B4" "$B6"
	ip -n "$net_a" link set a0 up
	ip -n "$net_b" link set b0 up
	net_wait_up
	cd "$net_scratch" || exit 1
}

net_address() {
	ip -n "$1" addr add "$3/24" dev "$2"
	ip -n "$1" addr add "$4/64" dev "$2" nodad 2>/dev/null
}

# The carrier is announced with a delay, and link-local addresses are tentative for a moment.
net_wait_up() {
	tries=0
	while [ "$tries" -lt 50 ]; do
		if [ "$(net_state "$net_a" a0) $(net_state "$net_b" b0)" = "UP UP" ] &&
			[ -z "$(ip -n "$net_a" -6 addr show tentative)$(ip -n "$net_b" -6 addr show tentative)" ]; then
			return
		fi
		sleep 0.1
		tries=$((tries + 1))
	done
}

net_state() { ip -n "$1" link show "$2" | sed -n 's/.* state \([A-Z]*\) .*/\1/p'; }

# IPv6 may be switched off in this kernel: ask before expecting it.
net_has_ipv6() { ip -n "$net_a" -6 addr show dev a0 2>/dev/null | grep -q "$A6"; }

in_a() { ip netns exec "$net_a" "$@"; }
in_b() { ip netns exec "$net_b" "$@"; }

# background NAME COMMAND...: runs it with its output in NAME.out, its process id in $NAME_pid.
# COMMAND is a program, or in_a/in_b and a program, which then replaces `ip`: the id is its own.
background() {
	background_name=$1
	shift
	case $1 in
	in_a) shift; set -- ip netns exec "$net_a" "$@" ;;
	in_b) shift; set -- ip netns exec "$net_b" "$@" ;;
	esac
	"$@" >"$net_scratch/$background_name.out" 2>&1 </dev/null &
	net_jobs="$net_jobs $!"
	eval "${background_name}_pid=$!"
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
	for space in "$net_a" "$net_b"; do
		# What a script started past `background`: nobody else's processes are in there.
		for pid in $(ip netns pids "$space" 2>/dev/null); do kill "$pid" 2>/dev/null; done
		ip netns del "$space" 2>/dev/null
	done
	if [ -n "$net_scratch" ]; then rm -rf "$net_scratch"; fi
	exit "$status"
}
