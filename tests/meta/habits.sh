#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The habits that can be counted: sizes, licence lines, functions not used here, words that
# do not belong into the tree.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

FILE_LINES_MAX=600
FUNCTION_LINES_MAX=100

long_files=$(own_files | grep -e '\.[ch]$' -e '\.sh$' -e '\.py$' -e '^up$' | xargs awk -v most=$FILE_LINES_MAX '
	FNR == most + 1 { print FILENAME ": more than " most " lines" }')
clean "$long_files" "no source file has more than $FILE_LINES_MAX lines"

# A function's body is what stands between a lone "{" and a lone "}" in the first column.
functions=$(c_files | grep '\.c$' | xargs awk '
	FNR == 1 { from = 0 }
	/^[a-zA-Z_].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
	/^\{$/ { from = FNR }
	/^\}$/ && from { print FNR - from + 1, FILENAME, name; from = 0 }' | sort -n)
clean "$(printf '%s\n' "$functions" | awk -v most=$FUNCTION_LINES_MAX '$1 > most { print $2 ": " $3 " has " $1 " lines" }')" \
	"no function has more than $FUNCTION_LINES_MAX lines"
printf '%s\n' "$functions" | awk '{ lines[NR] = $1 } END {
	print "# " NR " functions, lines: median " lines[int((NR + 1) / 2)] ", p90 " lines[int(NR * 0.9 + 0.999)] ", longest " lines[NR] }'

no_licence=$(own_files | grep -e '\.[ch]$' -e '\.sh$' -e '\.py$' -e 'meson' -e '^up$' -e '^\.ci/run$' | while read -r file; do
	head -n 2 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || echo "$file"
done)
clean "$no_licence" "every source file begins with its SPDX line"

clean "$(c_files | grep '\.h$' | xargs grep -L '^#pragma once$')" "every header has #pragma once"

# Word by word: snprintf and gmtime_r are fine. Comments may name them.
banned=$(c_files | xargs awk '
	{ line = " " $0; sub(/\/[*\/].*/, "", line); sub(/^ [ \t]*\*.*/, "", line) }
	match(line, /[^a-zA-Z0-9_](strcpy|strcat|stpcpy|sprintf|vsprintf|strtok|atoi|atol|atof|gets|alloca|gmtime|localtime|ctime|asctime)[ ]*\(/) ||
	match(line, /[^a-zA-Z0-9_]goto [a-z]/) { print FILENAME ":" FNR ": " substr(line, RSTART + 1, RLENGTH - 1) }')
clean "$banned" "no function that has no place here (strcpy, sprintf, strtok, atoi, gmtime, ...), and no goto"

clean "$(c_files | xargs grep -nE '(/\*|//|^[[:space:]]*\*).*\<(TODO|FIXME|XXX)\>' /dev/null)" "no comment puts work off"

# Cut in two, so that this file passes its own check.
places="/wor""k/|/tmp/bui""ld-|/ho""me/[a-z]|/ro""ot/"
chatter="iss""ues? #?[0-9]|iss""ues? (show|list|close)|(this|a) sess""ion (of|that|filed)|sub-?age""nt|BRI""EF\.md|work""tree w-"
clean "$(own_files | xargs grep -nIE "$places" /dev/null)" "no path of a particular machine"
clean "$(own_files | xargs grep -nIiE "$chatter" /dev/null)" "no talk about how the work was organised"

no_reason=$(awk '/^[^#[]/ && !/ # [^ ]/ && NF { print FILENAME ": " $0 }' packaging/packages/*.txt)
clean "$no_reason" "every package says what it is for"
tap_done
