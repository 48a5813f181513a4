#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Folder = layer: every include of src/ and include/ against layers.txt.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

# Prints "file: includes x, which FOLDER may not use" per offence.
offences() {
	c_files | grep -e '^src/' -e '^include/' | xargs awk '
	FILENAME == table {
		if (!/^#/ && match($0, /^[a-z]+:/)) {
			folder = substr($0, 1, RLENGTH - 1)
			known[folder] = 1
			for (i = 2; i <= NF; i++)
				may[folder, $i] = 1
		}
		next
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split(FILENAME, path, "/")
		own = path[2]
		header = $0
		sub(/^[^"]*"/, "", header)
		sub(/".*/, "", header)
		other = header
		if (header !~ /\//)
			next
		sub(/\/.*/, "", other)
		if (other == "tare" || (path[1] == "src" && (other == own || (own, other) in may)))
			next
		print FILENAME ": includes " header ", which " (path[1] == "src" ? own : "include") " may not use"
	}' table="$meta_here/layers.txt" "$meta_here/layers.txt"
}

clean "$(offences)" "no folder includes what its layer may not use"

unknown=
for folder in src/*/; do
	name=$(basename "$folder")
	grep -q "^$name:" "$meta_here/layers.txt" || unknown="$unknown $name"
done
clean "$unknown" "every folder of src/ has its line in layers.txt"

# The table itself has no circle: each folder may use only folders listed before it.
circle=$(awk '!/^#/ && NF { sub(/:/, "", $1); for (i = 2; i <= NF; i++) if (!($i in seen)) print $1 " uses " $i; seen[$1] = 1 }' \
	"$meta_here/layers.txt")
clean "$circle" "layers.txt lists no folder before those it uses"
tap_done
