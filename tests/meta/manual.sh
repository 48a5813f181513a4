#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every option of every command stands in the command's manual page, with its default, and the page invents
# none: both are compared with what `tare help COMMAND` prints from the option table. So are the columns that
# `tare help COMMAND --columns` lists, and no table of columns in the source is missing from these lists.
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
# Every column that a command lists is a paragraph of the page that it names: ".It Li sent , lost". Percentiles of a
# group count as the group: "behind.p99" is told by "behind".
columns_of() {
	"$TARE" help "$1" --columns | awk '
		/ described in tare-/ { page = $0; sub(/.* described in tare-/, "", page); sub(/\(1\):$/, "", page); next }
		/^  / { name = $1; sub(/\..*/, "", name); print page, name }' | sort -u
}
for command in $commands; do
	"$TARE" help "$command" >/dev/null 2>&1 || continue
	clean "$(columns_of "$command" | while read -r page name; do
		grep '^\.It Li' "man/tare-$page.1" | tr ' ,' '\n\n' | grep -qx "$name" ||
			echo "$name is not in man/tare-$page.1"
	done)" "tare $command: columns are documented"
done

# What the source calls a column is listed by some command: a table that no command lists is found here. Headings of
# tables that are text only are no names.
listed=$(for command in $commands; do "$TARE" help "$command" --columns 2>/dev/null; done |
	sed -n 's/^  \([a-z0-9_.]*\) .*/\1/p' | sort -u)
ok "$([ "$(printf '%s\n' "$listed" | wc -l)" -gt 100 ]; echo $?)" "the commands list their columns"
clean "$(grep -l 'const struct column [a-z_]*\[\] = {' $(c_files | grep '^src/') | xargs awk '
	/const struct column [a-z_]*\[\] = \{/ { inside = 1; next }
	inside && /^[ \t]*};/ { inside = 0 }
	inside && match($0, /^[ \t]*[A-Z_]*[({]"[a-z0-9_]+"/) {
		name = substr($0, RSTART, RLENGTH); gsub(/.*[({]"|"$/, "", name); print name, FILENAME }' | sort -u |
	while read -r name file; do
		printf '%s\n' "$listed" | grep -qx -e "$name" -e ".*\.$name" || echo "$name of $file"
	done)" "every table of columns is listed by a command"

# A default of the table stands in the paragraph of its option, be it in words: "10 unless given".
defaults_of() {
	"$TARE" help "$1" | tr '\n' ' ' | sed 's/  *\(-[a-zA-Z0-9], \)\{0,1\}--\(\[no-\]\)\{0,1\}\([a-z0-9-]*\)/\
OPTION \3/g' | sed -n 's/^OPTION \([a-z0-9-]*\) .*(default \([^):]*\)).*/\1 \2/p'
}
paragraph() { awk -v option="$2" '
	/^\.(It|El|Sh|Ss)/ { inside = /^\.It/ && ($0 " ") ~ ("-" option "[ ]") }
	inside' "$1"; }
for command in $commands; do
	page=man/tare-$command.1
	[ -e "$page" ] || continue
	clean "$(defaults_of "$command" | while read -r option value; do
		# "1ms" may be "1 ms", a list may have blanks; what is on is called the default.
		paragraph "$page" "${option#no-}" | tr -d ' ,\n' | grep -qF -e "$(echo "$value" | sed 's/^on$/default/' | tr -d ' ,')" ||
			echo "--$option: default $value is not in $page"
	done)" "tare $command: defaults are documented"
	clean "$(sed -n '/^\.Sh EXIT STATUS/,/^\.Sh/p' "$page" | grep -c -e '[0-9]' -e 'Xr tare' | grep -x 0)" \
		"tare $command: exit status is documented"
done

if [ "$tap_count" -eq 0 ]; then skip "options and manual pages agree" "tare has no commands yet"; fi
tap_done
