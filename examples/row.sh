#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The example's output for 1..1000 in any order, and its refusals. $1: the program.
set -u
row=$1
check() {
	if [ "$2" = "$3" ]; then echo "ok $1"; else printf 'not ok %s\n# got: %s\n# expected: %s\n' "$1" "$2" "$3"; fi
}
wanted='n 1000  min 1  max 1000
p50    500  (500 behind, solid)
p90    900  (100 behind, solid)
p99    990  (10 behind, thin)
p99.9  999  (1 behind, weak)'
check "1 - a thousand numbers" "$(awk 'BEGIN { for (i = 0; i < 1000; i++) print (i * 7) % 1000 + 1 }' | "$row")" "$wanted"
check "2 - a word is refused" "$(printf '1\nx\n' | "$row" 2>&1; echo $?)" "row: line 2 is not a whole number
6"
check "3 - nothing is refused" "$("$row" </dev/null 2>&1; echo $?)" "row: no numbers
6"
echo 1..3
