#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A file that nobody compiles is no code, and a test that nobody registered passes for ever:
# every source is in the build, every fuzz target has a corpus, every network script is run.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

commands=$BUILD/compile_commands.json
if [ ! -f "$commands" ]; then skip_all "no compile_commands.json in the build directory"; fi
compiled=$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$commands" | sort -u)
left_out=$(c_files | grep '\.c$' | grep -e '^src/' -e '^tests/unit/' -e '^tests/fuzz/' | while read -r file; do
	printf '%s\n' "$compiled" | grep -q -e "^$file$" -e "/$file$" || echo "$file"
done)
clean "$left_out" "every source file is compiled"

no_corpus=$(for target in tests/fuzz/fuzz_*.c; do
	name=${target#tests/fuzz/fuzz_}
	[ -n "$(ls "tests/fuzz/corpus/${name%.c}" 2>/dev/null)" ] || echo "$target"
done)
clean "$no_corpus" "every fuzz target has a corpus"

not_run=$(for script in tests/net/*.sh tests/meta/*.sh; do
	name=$(basename "$script" .sh)
	[ "$name" = lib ] || grep -q "'$name'\|'$name\.sh'" "$(dirname "$script")/meson.build" || echo "$script"
done)
clean "$not_run" "every test script is registered"
tap_done
