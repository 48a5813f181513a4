# shellcheck shell=sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# TAP for test scripts, sourced by them: a line per check, the plan at the end. A script
# ends with `tap_done`; one that dies before has no plan, which counts as a failure.

tap_count=0
tap_failures=0

# ok STATUS DESCRIPTION [DETAIL]: STATUS 0 passes; DETAIL is shown as comment on failure.
ok() {
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tap_count" "$2"
	else
		tap_failures=$((tap_failures + 1))
		printf 'not ok %d - %s\n' "$tap_count" "$2"
		if [ -n "${3:-}" ]; then printf '%s\n' "$3" | sed 's/^/#   /'; fi
	fi
}

# is GOT WANT DESCRIPTION
is() {
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3" "     got '$1'
expected '$2'"
	fi
}

# clean TEXT DESCRIPTION: passes when TEXT is empty, else shows it; for checks that list offenders.
clean() {
	if [ -z "$1" ]; then ok 0 "$2"; else ok 1 "$2" "$1"; fi
}

# skip DESCRIPTION REASON
skip() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# skip_all REASON: nothing of this script can run here.
skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

tap_done() {
	printf '1..%d\n' "$tap_count"
	[ "$tap_failures" -eq 0 ]
	exit
}
