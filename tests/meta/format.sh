#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# clang-format's opinion, as a remark: versions differ too much to let it decide.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

command -v clang-format >/dev/null 2>&1 || skip_all "no clang-format here"
files=$(c_files | wc -l)
# One process for all: a start of clang-format costs more than a file.
others=$(c_files | xargs clang-format --dry-run 2>&1 | sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: warning: .*/\1/p' | sort -u)
if [ -n "$others" ]; then printf '%s\n' "$others" | sed 's/.*/# &: clang-format would change it/'; fi
ok "$([ "$files" -gt 0 ]; echo $?)" \
	"clang-format was asked about $files files and would change $(printf '%s' "$others" | grep -c .)"
tap_done
