#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# run.sh [CASE-FOLDER...]: golden cases of the command line, as README.md beside this file
# describes; all under cases/ unless some are named. TARE must name the program under test.
# UPDATE=1 rewrites the expectations.
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$here/../tap.sh"

DATA=$(cd "$here/../data" 2>/dev/null && pwd)
case $TARE in
/*) ;;
*) TARE=$(pwd)/$TARE ;;
esac
export TARE DATA
export LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1
unset COLUMNS XDG_CONFIG_DIRS

top=$(mktemp -d "${TMPDIR:-/tmp}/tare-cli.XXXXXX")
trap 'rm -rf "$top"' EXIT
trap 'exit 130' INT TERM

# compare NAME GOT: says on stdout what differs from the case's file NAME, or rewrites that file.
compare() {
	expected=$case_dir/$1
	if [ "${UPDATE:-0}" = 1 ]; then
		# A case without the optional file keeps doing without, unless there is now something to say.
		if [ "$1" != stdout ] && [ ! -e "$expected" ] && [ "$(cat "$2")" = "$(cat "$3")" ]; then return; fi
		cp "$2" "$expected"
		return
	fi
	if [ ! -e "$expected" ]; then expected=$3; fi
	diff -u "$expected" "$2" | sed -e "1s|^--- .*|--- expected $1|" -e "2s|^+++ .*|+++ got|"
}

run_case() {
	case_dir=$(cd "$1" && pwd)
	scratch=$top/scratch
	rm -rf "$scratch"
	mkdir "$scratch"
	HOME=$scratch
	XDG_CONFIG_HOME=$scratch/.config
	XDG_STATE_HOME=$scratch/.state
	export HOME XDG_CONFIG_HOME XDG_STATE_HOME
	(cd "$scratch" && exec timeout 60 sh "$case_dir/cmd") >"$top/stdout" 2>"$top/stderr" </dev/null
	echo $? >"$top/exit"
	if [ -e "$case_dir/filter" ]; then
		for stream in stdout stderr; do
			sed -f "$case_dir/filter" "$top/$stream" >"$top/filtered" && mv "$top/filtered" "$top/$stream"
		done
	fi
	: >"$top/empty"
	echo 0 >"$top/zero"
	differences=$(
		compare stdout "$top/stdout" "$top/empty"
		compare stderr "$top/stderr" "$top/empty"
		compare exit "$top/exit" "$top/zero"
	)
	clean "$differences" "$(basename "$case_dir")"
}

if [ ! -x "$TARE" ]; then skip_all "this build has no tare program"; fi
if [ ! -d "$here/cases" ]; then skip_all "no cases yet"; fi
if [ $# -eq 0 ]; then set -- "$here"/cases/*/; fi
for folder in "$@"; do
	run_case "$folder"
done
tap_done
