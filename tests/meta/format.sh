#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# clang-format's opinion, as a remark: versions differ too much to let it decide.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

command -v clang-format >/dev/null 2>&1 || skip_all "no clang-format here"
files=0
others=0
for file in $(c_files); do
	files=$((files + 1))
	if ! clang-format "$file" | cmp -s - "$file"; then
		others=$((others + 1))
		echo "# $file: clang-format would change it"
	fi
done
ok "$([ "$files" -gt 0 ]; echo $?)" "clang-format was asked about $files files and would change $others"
tap_done
