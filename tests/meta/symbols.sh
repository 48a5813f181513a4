#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# symbols.sh LIBRARY: what libtare.so shows to the world are names that begin with tare_.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

command -v nm >/dev/null 2>&1 || skip_all "no nm here (binutils)"
symbols=$(nm -D --defined-only "$1" | awk '{ print $NF }')
clean "$(printf '%s\n' "$symbols" | grep -v -e '^tare_' -e '^$' -e '^_init$' -e '^_fini$')" \
	"every symbol of libtare begins with tare_"
ok "$([ -n "$symbols" ]; echo $?)" "libtare has symbols at all"

# A prototype in a public header without a definition is a promise the linker breaks at the user's.
promised=$(for path in include/tare/*.h; do
	tr '\n' ' ' <"$path" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' | tr ';' '\n' |
		sed -n 's/.*TARE_API[^(]*[ *]\(tare_[a-z0-9_]*\)(.*/\1/p'
done | sort -u)
broken=$(for symbol in $promised; do
	printf '%s\n' "$symbols" | grep -qx "$symbol" || echo "$symbol"
done)
clean "$broken" "every TARE_API prototype has its definition in libtare"
tap_done
