# shellcheck shell=sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the checks of the tree itself share: the list of its files, without help from git.

meta_here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$meta_here/../tap.sh"
root=$(cd "$meta_here/../.." && pwd)
cd "$root" || exit 1

# Every file that belongs to the tree: no build directories, recordings or editors' caches.
tree_files() {
	find . \( -name .git -o -path './build*' -o -name measurements -o -name .cache -o -name '*.o' -o -name '*~' \) \
		-prune -o -type f -print | sed 's|^\./||' | LC_ALL=C sort
}

# Sources of ours, of which the habits are asked; case files in tests/data and corpora are others' or hostile.
c_files() { tree_files | grep '\.[ch]$' | grep -v '^tests/data/'; }
own_files() { tree_files | grep -v -e '^tests/data/' -e '^tests/fuzz/corpus/' -e '^LICENSE$'; }
