#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# debootstrap.sh FOLDER [COMMAND]: a minimal Debian of the host's own release in FOLDER, a
# clean copy of this tree in it as /usr/src/tare, and there COMMAND, by default "./up && ./up
# check". A FOLDER made by an earlier run is used again, with its packages: that is how the
# second run shows that nothing is downloaded. Package sources are the host's, read now.
#
# Mounts live in a mount namespace of their own and processes in a process namespace of
# their own, so that neither outlives the script, however it ends.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

say() { printf '%s\n' "== $*"; }
die() { printf 'debootstrap.sh: %s\n' "$*" >&2; exit 1; }

[ $# -ge 1 ] || die "usage: debootstrap.sh FOLDER [COMMAND]"
[ "$(id -u)" -eq 0 ] || die "needs root"
command -v debootstrap >/dev/null || die "needs the package debootstrap"

if [ -z "${TARE_FRESH_INNER:-}" ]; then
	TARE_FRESH_INNER=1 exec unshare --mount --propagation private --pid --fork --kill-child sh "$0" "$@"
fi

mkdir -p "$1"
tree=$(cd "$1" && pwd)
command=${2:-./up && ./up check}

unmount_all() {
	status=$?
	trap - EXIT
	for place in run dev/shm dev/pts dev sys proc; do
		umount -R "$tree/$place" 2>/dev/null || umount -l "$tree/$place" 2>/dev/null || :
	done
	exit "$status"
}
trap unmount_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

make_tree() {
	[ -z "$(ls -A "$tree")" ] || die "'$tree' is not empty and not a tree of an earlier run"
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	# shellcheck disable=SC2016
	site=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(SITE)' 'Created-By: Packages' |
		awk -v release="$codename" '$1 == release && $2 == "main" { print $3; exit }')
	[ -n "$site" ] || die "no package source for $codename on this host"
	say "debootstrap --variant=minbase $codename"
	debootstrap --variant=minbase "$codename" "$tree" "$site"
	rm -f "$tree/etc/apt/sources.list"
	for sources in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
		/etc/apt/apt.conf.d/*proxy*; do
		if [ -e "$sources" ]; then cp "$sources" "$tree$sources"; fi
	done
	touch "$tree/.made-by-tests-fresh"
}

copy_tree() {
	rm -rf "$tree/usr/src/tare"
	mkdir -p "$tree/usr/src/tare"
	(
		cd "$root"
		find . \( -name .git -o -path './build*' -o -name measurements -o -name .cache \) -prune -o -type f -print |
			tar -cf - -T - | tar -xf - -C "$tree/usr/src/tare"
	)
}

[ -e "$tree/.made-by-tests-fresh" ] || make_tree
copy_tree
cp -L /etc/resolv.conf /etc/hosts "$tree/etc/"
mount -t proc proc "$tree/proc"
mount -t sysfs sysfs "$tree/sys"
mount --rbind /dev "$tree/dev"
mount -t tmpfs tmpfs "$tree/run"

say "in $tree: $command"
# What a fresh system has: no variable of the caller's but the proxies.
status=0
chroot "$tree" /usr/bin/env -i HOME=/root TERM="${TERM:-dumb}" \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
	sh -c "cd /usr/src/tare && $command" || status=$?
say "ended with status $status"
exit "$status"
