#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# run-tests.sh BUILD [TAP-FILE...] [-- MESON-TEST-OPTION...]: runs the suite of one build
# directory and ends with the count of its checks, those of the TAP files included.
# meson says how many test programs passed; what counts here are the checks inside them.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
logs=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	logs="$logs $1"
	shift
done
if [ $# -gt 0 ]; then shift; fi

log=$build/meson-logs/testlog.txt
rm -f "$log"
# The checks print µ; a locale without it would make meson replace the byte.
LC_ALL=C.UTF-8 meson test -C "$build" --no-rebuild "$@"
verdict=$?
if [ ! -f "$log" ]; then
	echo "run-tests: meson left no $log"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
fi
# shellcheck disable=SC2086
VERDICT=$verdict sh "$here/count.sh" $logs "$log"
