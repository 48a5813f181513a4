#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Headers are the manual and the only door of a layer: each compiles alone, and in the
# public ones no prototype stands without a word.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

# alone HEADER FLAG...: what the compiler says about a file that includes only this header.
alone() {
	header=$1
	shift
	# shellcheck disable=SC2086
	printf '#include "%s"\n' "$header" | $CC -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$@" - 2>&1
}

for path in include/tare/*.h; do
	header=${path#include/}
	clean "$(alone "$header" -Iinclude)" "$header compiles alone in plain C17"
done

complaints=$(for path in src/*/*.h; do alone "${path#src/}" -Iinclude -Isrc -D_GNU_SOURCE; done)
clean "$complaints" "every header of src/ compiles alone"

# A comment above, in the same block without an empty line between, or behind the prototype.
bare=$(awk '
	FNR == 1 { told = 0 }
	/\/\*/ { told = 1 }
	/^[ \t]*$/ { told = 0 }
	/TARE_API/ && !/^#define/ && !told { print FILENAME ":" FNR ": " $0 }' include/tare/*.h)
clean "$bare" "every TARE_API prototype is documented"

# tare.h is the manual: it leads to all others.
missing=$(for path in include/tare/*.h; do
	header=$(basename "$path")
	[ "$header" = tare.h ] || grep -q "\"tare/$header\"" include/tare/tare.h || echo "$header"
done)
clean "$missing" "tare.h includes every public header"
tap_done
