#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Completion against what `tare help` prints: every command and every option of it is offered by bash and fish,
# whoever added it; zsh is held to its own parser, and the words of its specifications to the same list.
set -u
# shellcheck source=tests/meta/lib.sh
. "$(dirname "$0")/lib.sh"

if [ ! -x "$TARE" ]; then skip_all "this build has no tare program"; fi
top=$(mktemp -d "${TMPDIR:-/tmp}/tare-completion.XXXXXX")
trap 'rm -rf "$top"' EXIT
trap 'exit 130' INT TERM
commands=$("$TARE" help | sed -n 's/^  tare \([a-z]*\)  *.*/\1/p' | while read -r command; do
	if "$TARE" help "$command" >/dev/null 2>&1; then echo "$command"; fi
done | LC_ALL=C sort -u)
for shell in bash zsh fish; do "$TARE" completion "$shell" >"$top/$shell"; done
touch "$top/before.tare" "$top/notes.txt"
mkdir "$top/folder"
cd "$top" || exit 1

# As typed: "--[no-]facts" is offered as --no-facts.
options_of() {
	"$TARE" help "$1" | sed -n 's/^  \(-[a-zA-Z0-9], \|    \)\(--\(\[no-\]\)\{0,1\}[a-z0-9-]*\).*/\2/p' |
		tr -d '[]' | LC_ALL=C sort -u
}

# in_bash WORD...: what is offered for the last word, a line each.
in_bash() {
	bash --norc -c '. ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tare
		if ((${#COMPREPLY[@]})); then printf "%s\n" "${COMPREPLY[@]}"; fi' - "$@" | sed 's/ *$//' | LC_ALL=C sort -u
}

# shellcheck disable=SC2016
in_fish() {
	fish --no-config -c 'source fish; complete -C "$argv[1]"' "$1" 2>&1 | cut -f 1 | LC_ALL=C sort -u
}

lines() { printf '%s\n' "$@" | LC_ALL=C sort -u; }

check_bash() {
	if ! command -v bash >/dev/null 2>&1; then
		skip "bash completes" "no bash here"
		return
	fi
	clean "$(bash -n bash 2>&1)" "bash reads its script"
	is "$(in_bash tare '' | grep -v -e - -e '^help$')" "$commands" "bash offers every command"
	for command in $commands; do
		is "$(in_bash tare "$command" -)" "$(options_of "$command")" "bash: tare $command offers its options"
	done
	is "$(in_bash tare run --stamps k)" kernel "bash: words of an option"
	is "$(in_bash tare run --stamps = k)" kernel "bash: the same behind '='"
	is "$(in_bash tare compare --also p50,pd)" p50,pdv "bash: the last element of a list"
	is "$(in_bash tare stat --format tare-c)" tare-csv "bash: formats of logs"
	is "$(in_bash tare run ic)" icmp:// "bash: schemes of targets"
	is "$(in_bash tare stat b)" before.tare "bash: recordings"
	is "$(in_bash tare stat '')" "$(lines before.tare folder)" "bash: recordings and folders before other files"
	is "$(in_bash tare stat no)" notes.txt "bash: other files where no recording begins like that"
	is "$(in_bash tare run --every '')" "" "bash: nothing for a time"
	is "$(in_bash tare help ru)" run "bash: commands behind help"
	is "$(in_bash tare completion z)" zsh "bash: words of an operand"
	is "$(in_bash tare nonsense '')" "" "bash: nothing for an unknown command"
}

check_fish() {
	if ! command -v fish >/dev/null 2>&1; then
		skip "fish completes" "no fish here"
		return
	fi
	HOME=$top
	export HOME
	clean "$(fish --no-config --no-execute fish 2>&1)" "fish reads its script"
	is "$(in_fish 'tare ' | grep -vx help)" "$commands" "fish offers every command"
	for command in $commands; do
		is "$(in_fish "tare $command --")" "$(options_of "$command")" "fish: tare $command offers its options"
	done
	is "$(in_fish 'tare run --stamps k')" kernel "fish: words of an option"
	is "$(in_fish 'tare run ic')" icmp:// "fish: schemes of targets"
	is "$(in_fish 'tare stat be')" before.tare "fish: recordings"
}

check_zsh() {
	for command in $commands; do
		is "$(sed -n "/^	$command)/,/^		;;/s/^			'\(--[a-z0-9-]*\).*/\1/p" zsh | LC_ALL=C sort -u)" \
			"$(options_of "$command")" "zsh: tare $command names its options"
	done
	if ! command -v zsh >/dev/null 2>&1; then
		skip "zsh reads its script" "no zsh here"
		return
	fi
	clean "$(zsh -n zsh 2>&1)" "zsh reads its script"
	clean "$(zsh -f -c 'autoload -Uz compinit; compinit -D; source ./zsh; whence _tare >/dev/null || echo no function' 2>&1)" \
		"zsh: sourcing it makes it known"
}

check_bash
check_fish
check_zsh
tap_done
