#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The two hosts of lib.sh are joined: without this, a failing measurement could be the box's fault.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

net_setup
is "$(net_state in_a a0)" UP "a0 is up"
is "$(net_state in_b b0)" UP "b0 is up"
is "$(in_a ip route get "$B4" | awk '{ print $3; exit }')" a0 "A reaches B over a0"
if net_has_ipv6; then
	is "$(in_a ip -6 route get "$B6" | awk '{ for (i = 1; i < NF; i++) if ($i == "dev") print $(i + 1); exit }')" \
		a0 "A reaches B over a0 with IPv6"
	is "$(in_a ip -6 addr show tentative)" "" "no address is tentative"
else
	skip "IPv6 between A and B" "this kernel has no IPv6"
fi
background listener in_b sh -c 'echo $$; exec sleep 100'
tries=0
while [ ! -s listener.out ] && [ "$tries" -lt 50 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
# shellcheck disable=SC2154
is "$(cat listener.out)" "$listener_pid" "a background job's id is the program's own"
stop listener
is "$stopped" 143 "stop ends it and tells its exit status"
tap_done
