#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every option of every command stands in the command's manual page, and the page invents
# none: both are compared with what `tare help COMMAND` prints from the option table.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

if [ ! -x "$TARE" ]; then skip_all "this build has no tare program"; fi
commands=$("$TARE" help 2>/dev/null | sed -n 's/^  tare \([a-z]*\) .*/\1/p' | sort -u | grep -vx help)
if [ -z "$commands" ]; then skip_all "tare has no commands yet"; fi

# "--name" and "--[no-]name" at the beginning of a line of the help, a letter before it or not.
told_by_help() {
	"$TARE" help "$1" | sed -n 's/^  \(-[a-zA-Z], \|    \)--\(\[no-\]\)\{0,1\}\([a-z0-9-]*\).*/\3/p' | sort -u
}

# Options have a paragraph of their own in the page: ".It Fl o , Fl -output Ar file".
told_by_page() {
	grep '^\.It Fl' "$1" | grep -o 'Fl -[a-z][a-z0-9-]*' | sed 's/^Fl -//' | sort -u
}

for command in $commands; do
	# The summary ends with examples: what is named only there is no command yet.
	"$TARE" help "$command" >/dev/null 2>&1 || continue
	page=man/tare-$command.1
	if [ ! -e "$page" ]; then
		skip "tare $command: options and manual page agree" "$page is not written yet"
		continue
	fi
	help=$(told_by_help "$command" | grep -vx help)
	manual=$(told_by_page "$page" | grep -vx help)
	is "$manual" "$help" "tare $command: options and manual page agree"
	clean "$(grep -c "tare $command" man/tare.1 | grep -x 0)" "tare.1 mentions tare $command"
done
if [ "$tap_count" -eq 0 ]; then skip "options and manual pages agree" "tare has no commands yet"; fi
tap_done
