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
	"$TARE" help "$1" | sed -n 's/^  \(-[a-zA-Z0-9], \|    \)--\(\[no-\]\)\{0,1\}\([a-z0-9-]*\).*/\3/p' | sort -u
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
# The columns that a command can print are paragraphs of its page as well: ".It Li sent , lost".
columns_agree() {
	page=man/tare-$1.1
	if [ ! -e "$page" ] || ! "$TARE" help "$1" >/dev/null 2>&1; then
		skip "tare $1: columns are documented" "tare $1 or its page is not there yet"
		return
	fi
	documented=$(grep '^\.It Li' "$page" | tr ' ,' '\n\n')
	printed=$(printf '%s\n' \
		'PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.' \
		'[1700000000.000100] 64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.041 ms' \
		'[1700000000.005100] 64 bytes from 127.0.0.1: icmp_seq=2 ttl=64 time=0.032 ms' \
		'[1700000000.010100] 64 bytes from 127.0.0.1: icmp_seq=3 ttl=64 time=0.033 ms' |
		"$TARE" "$1" --csv - | sed 1q | tr ',' '\n' | sed 's/\(behind\|grade\|least\)[._].*/\1/' | sort -u)
	ok "$([ -n "$printed" ]; echo $?)" "tare $1 prints a line of column names"
	clean "$(for name in $printed; do
		printf '%s\n' "$documented" | grep -qx "$name" || echo "$name is not in $page"
	done)" "tare $1: columns are documented"
}
columns_agree stat
columns_agree export

if [ "$tap_count" -eq 0 ]; then skip "options and manual pages agree" "tare has no commands yet"; fi
tap_done
