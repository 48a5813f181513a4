#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The counter of checks, tried on logs made here: were it to miss a failure, everything else would be in vain.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/tare-count.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/b/meson-logs"
log=$scratch/b/meson-logs/testlog.txt

# entry NAME RESULT: one test program as meson writes it, its output from stdin.
entry() {
	echo '==================================== 1/9 ====================================='
	printf 'test:         %s\nstart time:   00:00:00\nduration:     0.01s\nresult:       %s\n' "$1" "$2"
	printf 'command:      /b/%s\n' "$1"
	echo '----------------------------------- stdout -----------------------------------'
	cat
	echo '----------------------------------- stderr -----------------------------------'
	echo 'not ok 99 - stderr is not TAP'
	printf '==============================================================================\n\n'
}

# counted DESCRIPTION LAST-LINE: count.sh over the log, and its exit status.
counted() {
	got=$(sh "$root/tests/count.sh" "$log")
	status=$?
	is "$(printf '%s\n' "$got" | tail -n 1)" "$2" "$1"
	case $2 in
	*" 0 failed"*) is "$status" 0 "$1: exit status" ;;
	*) is "$status" 1 "$1: exit status" ;;
	esac
}

printf 'ok 1 - a\nok 2 - b\n1..2\n' | entry t 'exit status 0' >"$log"
counted "two pass" "2 passed, 0 failed, 0 skipped"

printf 'ok 1 - a\nok 2 - b # SKIP no root\nok 3 # SKIP no root\n1..3\n' | entry t 'exit status 0' >"$log"
counted "skips are no passes" "1 passed, 0 failed, 2 skipped"
is "$(sh "$root/tests/count.sh" "$log" | grep ' x ')" "  2 x b: t: no root" "a skip is listed with its reason"

printf '1..0 # SKIP no ip command\n' | entry t 'exit status 0' >"$log"
counted "a program that skips as a whole" "0 passed, 0 failed, 1 skipped"

printf 'ok 1 - a\nnot ok 2 - b\n1..2\n' | entry t 'exit status 1' >"$log"
counted "a failed check counts once" "1 passed, 1 failed, 0 skipped"

printf 'ok 1 - a\n' | entry t 'killed by signal 11 SIGSEGV' >"$log"
counted "a crash after passing checks" "1 passed, 1 failed, 0 skipped"

printf 'ok 1 - a\n1..1\n' | entry t 'exit status 1' >"$log"
counted "a sanitizer's exit status after the plan" "1 passed, 1 failed, 0 skipped"

printf 'ok 1 - a\n1..2\n' | entry t 'exit status 0' >"$log"
counted "fewer checks than planned" "1 passed, 1 failed, 0 skipped"

printf 'ok 1 - a\n' | entry t 'exit status 0' >"$log"
counted "no plan" "1 passed, 1 failed, 0 skipped"

: | entry t '(exit status unknown)' >"$log"
counted "a program that printed nothing" "0 passed, 1 failed, 0 skipped"

printf 'ok 1 - a\nBail out! no memory\n' | entry t 'exit status 1' >"$log"
counted "a bail-out" "1 passed, 1 failed, 0 skipped"

{ printf 'ok 1 - a\n1..1\n' | entry t 'exit status 0'; printf 'not ok 1 - z\n1..1\n' | entry u 'exit status 1'; } >"$log"
counted "two programs" "1 passed, 1 failed, 0 skipped"

printf 'ok 1 - a\n1..1\n' | entry t 'exit status 0' >"$log"
is "$(VERDICT=1 sh "$root/tests/count.sh" "$log" | tail -n 1)" "1 passed, 1 failed, 0 skipped" \
	"meson's own verdict is heard"
printf 'ok 1 - up\n1..1\n' >"$scratch/up.tap"
is "$(sh "$root/tests/count.sh" "$scratch/up.tap" "$log" | tail -n 1)" "2 passed, 0 failed, 0 skipped" \
	"a plain TAP file is added"
tap_done
