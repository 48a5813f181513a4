#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Hosts made out of a few lines (trees/), read by tare inspect --root: facts and findings must be as
# in expected/. UPDATE=1 rewrites those.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$here/../tap.sh"
if [ ! -x "$TARE" ]; then skip_all "this build has no tare program"; fi
command -v python3 >/dev/null 2>&1 || skip_all "no python3 here to make the folders"
top=$(mktemp -d "${TMPDIR:-/tmp}/tare-host.XXXXXX")
trap 'rm -rf "$top"' EXIT
LC_ALL=C
export LC_ALL HOME="$top"
unset XDG_CONFIG_HOME STATE_DIRECTORY

for tree in "$here"/trees/*.tree; do
	name=$(basename "$tree" .tree)
	[ "$name" = base ] && continue
	python3 "$here/expand.py" "$tree" "$top/$name" || continue
	options=$(sed -n 's/^# options: //p' "$tree")
	expected=$here/expected/$name
	# shellcheck disable=SC2086
	{
		echo "# facts, but for those this host does not have"
		"$TARE" inspect --root "$top/$name" --facts --json $(echo "$options" | sed 's/--against [^ ]*//') 2>&1 |
			python3 "$here/list.py"
		echo "# findings"
		"$TARE" inspect --root "$top/$name" --csv $options 2>&1
		echo "# exit $?"
	} | sed "s|$top|TOP|g" >"$top/got"
	if [ "${UPDATE:-0}" = 1 ]; then cp "$top/got" "$expected"; fi
	clean "$(diff -u "$expected" "$top/got" 2>&1)" "$name: facts and findings"
	# the same twice is no drift, whatever the host is
	"$TARE" inspect --root "$top/$name" --state "$top/state-$name" --approve it --nagios >/dev/null 2>&1
	is "$("$TARE" inspect --root "$top/$name" --state "$top/state-$name" --json 2>/dev/null |
		python3 -c 'import json,sys; print(sum(f["rule"] in ("drift", "X20") for f in json.load(sys.stdin)["findings"]))')" \
		0 "$name: read twice, nothing differs"
done
tap_done
