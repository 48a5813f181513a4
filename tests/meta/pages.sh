#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the pages of docs/ and the README show is what the program prints: the commands of every
# block that begins with ```console are run, in one shell a page and in a folder that holds nothing but
# the tree's tests/, and the
# page is rebuilt from what they print. UPDATE=1 writes the rebuilt page back; read it critically.
# Blocks of another kind (live measurements, whose figures differ each time) are not run.
# A command begins with "$ "; a line that ends with a backslash goes on in the next.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

if [ ! -x "$TARE" ]; then skip_all "this build has no tare program"; fi
top=$(mktemp -d "${TMPDIR:-/tmp}/tare-pages.XXXXXX")
trap 'rm -rf "$top"' EXIT
trap 'exit 130' INT TERM
PATH=$(cd "$(dirname "$TARE")" && pwd):$PATH
export PATH LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1
unset COLUMNS XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_STATE_HOME

# mode=script: the commands of the page as one script, each one's output in a file of its own.
# mode=page: the page with these outputs in place of its own.
# shellcheck disable=SC2016
pages_awk='
	/^```/ {
		shown = !shown && $0 == "```console"
		skipping = 0
		if (mode == "page") print
		next
	}
	!shown { if (mode == "page") print; next }
	/^\$ / || going_on {
		if (!going_on) { command = ""; skipping = 1 }
		command = command (going_on ? $0 : substr($0, 3)) "\n"
		going_on = /\\$/
		if (mode == "page") print
		if (going_on) next
		output = folder "/" ++count
		if (mode == "script") printf "{ %s} >%s 2>&1 </dev/null\n", command, output
		else while ((getline line < output) > 0) print line
		next
	}
	!skipping { if (mode == "page") print }
'

check_page() {
	folder=$top/$(echo "$1" | tr / _)
	mkdir -p "$folder/out" "$folder/empty"
	ln -s "$root/tests" "$folder/empty/tests"
	awk -v mode=script -v folder="$folder/out" "$pages_awk" "$1" >"$folder/script"
	commands=$(grep -c '} >' "$folder/script")
	if [ "$commands" -eq 0 ]; then return; fi
	(cd "$folder/empty" && HOME=$folder/empty exec timeout 100 sh "$folder/script")
	awk -v mode=page -v folder="$folder/out" "$pages_awk" "$1" >"$folder/page"
	if [ "${UPDATE:-0}" = 1 ]; then cat "$folder/page" >"$1"; fi
	clean "$(diff -u "$1" "$folder/page" | sed '1,2d')" "$1: $commands commands print what the page shows"
}

for page in README.md docs/*.md docs/tasks/*.md; do
	if [ -e "$page" ]; then check_page "$page"; fi
done
# Headers that state formulas are those of the library without its records, errors and plans.
clean "$(for header in include/tare/*.h; do
	case ${header##*/} in
	tare.h | err.h | run.h | plan.h | origin.h | recording.h | cause.h) continue ;;
	esac
	grep -qF "$header" docs/method.md || echo "$header has no section in docs/method.md that names it"
done)" "docs/method.md tells the formulas of every header"
clean "$(for page in docs/*.md docs/tasks/*.md; do
	grep -qF "(${page#docs/})" docs/README.md || [ "$page" = docs/README.md ] || echo "$page"
done)" "docs/README.md lists every page"
# Links without a scheme, relative to the page, without their anchors.
clean "$(for page in README.md CONTRIBUTING.md docs/*.md docs/tasks/*.md; do
	grep -o '](\([^)#:]*\)[^):]*)' "$page" | sed 's/^](//; s/[#)].*//' | grep . | while read -r link; do
		[ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
	done
done)" "links between pages lead somewhere"
ok "$([ "$tap_count" -gt 3 ]; echo $?)" "there are pages whose commands are run"
tap_done
