#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tare import of many files and of hostile ones: a recording that is whole or not there, a
# sentence that names the file, memory that stays bounded, a full disk, a killed import.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$here/../tap.sh"
export LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1
if [ ! -x "$TARE" ]; then skip_all "this build has no tare program"; fi
top=$(mktemp -d "${TMPDIR:-/tmp}/tare-imports.XXXXXX")
trap 'rm -rf "$top"' EXIT
trap 'exit 130' INT TERM
cd "$top" || exit 1

# tare ARGUMENT...: its exit status in $status, what it said in $said.
tare() {
	said=$("$TARE" "$@" 2>&1)
	status=$?
}

# gone FILE WHAT: neither the file nor its journal is left.
gone() {
	is "$(find . -maxdepth 1 -name "$1*")" "" "$2: nothing is left"
}

# says TEXT WHAT
says() {
	case $said in
	*"$1"*) ok 0 "$2: says '$1'" ;;
	*) ok 1 "$2: says '$1'" "$said" ;;
	esac
}

# rows COLUMNS FILE: of every round, without heading and merged rows.
rows() {
	"$TARE" stat --csv --columns "$1,round" "$2" 2>/dev/null | sed -n 's/,[0-9][0-9]*$//p' | tr '\n' ' '
}

# ping_log FILE FIRST: four answers.
ping_log() {
	{
		echo 'PING h (10.0.0.2) 56(84) bytes of data.'
		for i in 1 2 3 4; do echo "64 bytes from 10.0.0.2: icmp_seq=$i ttl=64 time=0.$(($2 + i)) ms"; done
	} >"$1"
}

ping_log one.log 110
ping_log two.log 220
ping_log three.log 330
sed 's/icmp_seq=2.*/icmp_seq=2 ttl=64 time=-3 ms/' two.log >damaged.log
printf 'all work\nand no play\n' >prose.log

# 1. labels, one a file
tare import one.log two.log three.log -o all.tare --label a,b,c
is "$status" 0 "three files"
is "$(rows label,run,first_ns all.tare)" "a,1,111000 b,2,221000 c,3,331000 " "each a run with its label"
tare import one.log -o all.tare
is "$status" 2 "an existing recording is refused"
tare import two.log -o all.tare --append --label b
is "$(rows label,run all.tare)" "a,1 b,2 c,3 b,4 " "and added to when asked"

# 2. one that cannot be read among others
tare import one.log prose.log two.log -o x.tare
is "$status" 6 "one of another kind: the import fails"
says "'prose.log'" "one of another kind"
gone x.tare "one of another kind"
tare import one.log damaged.log -o x.tare
is "$status" 6 "a damaged one: the import fails"
says "'damaged.log':3: " "a damaged one"
gone x.tare "a damaged one"
cp all.tare before.tare
tare import one.log damaged.log -o all.tare --append
is "$status" 6 "added to a recording: the import fails"
ok "$(cmp -s all.tare before.tare; echo $?)" "and leaves it as it was"
tare import --lenient one.log prose.log damaged.log -o x.tare --label a,b,c
is "$status" 0 "leniently what can be read is read"
says "left out: 'prose.log'" "leniently"
is "$(rows label,n x.tare)" "a,2 c,2 " "under the labels of their files"
rm -f x.tare
tare import --lenient prose.log -o x.tare
is "$status" 6 "nothing that can be read is a failure all the same"
tare import --lenient nowhere.log one.log -o x.tare
is "$status" 5 "a file that is not there is no damage"
gone x.tare "a file that is not there"

# 3. twice the same
ln -s one.log again.log
tare import one.log again.log -o x.tare
is "$status" 2 "a file named twice is refused"
says "'again.log' is named twice" "a file named twice"
gone x.tare "a file named twice"

# 4. pipes
tare import - -o x.tare <one.log
is "$status" 0 "standard input"
rm -f x.tare
mkfifo pipe.log
cat damaged.log >pipe.log &
tare import pipe.log -o x.tare
says "'pipe.log':3: " "a pipe is called by its name"
gone x.tare "a pipe"
said=$(head -c 100000000 all.tare | "$TARE" import - -o x.tare 2>&1)
says "cannot be read from a pipe" "a recording in a pipe"
said=$(head -c 100000000 all.tare | "$TARE" stat - 2>&1)
says "cannot be read from a pipe" "a recording in a pipe, for stat"

# 5. killed: whatever is there is a recording, and can be added to
i=0
while [ "$i" -lt 20 ]; do
	i=$((i + 1))
	awk -v seed="$i" 'BEGIN { srand(seed); for (n = 0; n < 20000; n++) printf "%d\n", 1000000 * rand() }' >"many$i.txt"
done
"$TARE" import many*.txt -o killed.tare --format numbers --unit ns >/dev/null 2>&1 &
victim=$!
while kill -0 "$victim" 2>/dev/null && [ ! -s killed.tare ]; do sleep 0.01; done
kill -9 "$victim" 2>/dev/null
wait "$victim" 2>/dev/null
tare import one.log -o killed.tare --append
is "$status" 0 "a killed import can be added to" "$said"
tare stat --csv --columns run,n killed.tare
is "$status" 0 "and read"
says ",2" "a killed import, added to"

# 6. bombs and lies of size
# small WHAT: runs stat on it with little memory
small() {
	if [ "${SANITIZE:-none}" = none ]; then
		said=$(ulimit -v 1000000; "$TARE" stat --unit ns "$1" 2>&1)
	else
		said=$("$TARE" stat --unit ns "$1" 2>&1)
	fi
	status=$?
	is "$status" 6 "$1 is refused"
}
yes 5 | head -c 256000000 | gzip -9 >numbers.gz
small numbers.gz
says "'numbers.gz' grows to more than 500 times its size" "numbers.gz"
gzip -9 <numbers.gz >twice.gz
small twice.gz
says "'twice.gz'" "twice.gz"
{ head -2 one.log; head -c 256000000 /dev/zero | tr '\0' x; } | gzip -9 >line.gz
small line.gz
says "'line.gz' grows to more than 500 times its size" "line.gz"
if command -v zstd >/dev/null; then
	yes 5 | head -c 256000000 | zstd -q >numbers.zst
	small numbers.zst
	says "'numbers.zst' grows to more than 500 times its size" "numbers.zst"
else
	skip "numbers.zst is refused" "there is no zstd command"
fi
header='\324\303\262\241\2\0\4\0\0\0\0\0\0\0\0\0\377\377\0\0\1\0\0\0'
# shellcheck disable=SC2059
printf "$header"'\1\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377abcdefgh' >length.pcap
small length.pcap
says "'length.pcap', byte 24, packet 1: a record of 4294967295 captured bytes" "length.pcap"
printf '\324\303\262\241\125\252\125\252\125\252\125\252\125\252\125\252\125\252\125\252\125\252\125\252' >random.pcap
small random.pcap
says "'random.pcap'" "random.pcap"

# 7. a full disk, told as that whoever fills it
cat >full.sh <<'END'
mkdir -p small && mount -t tmpfs -o "size=$1k" tare-test small || exit 99
cd small || exit 99
shift
for one in import append export report; do
	case $one in
	import) said=$("$TARE" import ../many1.txt ../many2.txt ../many3.txt -o x.tare --format numbers --unit ns 2>&1) ;;
	append) "$TARE" import ../one.log -o y.tare >/dev/null 2>&1 || continue
		said=$("$TARE" import ../many1.txt ../many2.txt ../many3.txt -o y.tare --append --format numbers --unit ns 2>&1)
		"$TARE" stat y.tare >/dev/null 2>&1 || echo "append: what was there cannot be read" ;;
	export) said=$("$TARE" export ../many1.txt -o x.csv --format numbers --unit ns 2>&1) ;;
	report) said=$("$TARE" report ../many1.txt -o x.html --format numbers --unit ns 2>&1) ;;
	esac
	case $said in
	"tare: cannot write 'x."*"': No space left on device" | *"cannot write 'y.tare': No space left on device"*) ;;
	*) echo "$one: $said" ;;
	esac
	left=$(ls -A | grep -v y.tare | tr '\n' ' ')
	[ -z "$left" ] || echo "$one leaves $left"
	rm -f ./*
done
END
how=
unshare -m true 2>/dev/null && how=-m
[ -n "$how" ] || { unshare -rm true 2>/dev/null && how=-rm; }
for size in 40 64 80 100; do
	if [ -z "$how" ]; then
		skip "a disk of $size kB" "no mount namespace can be made here"
		continue
	fi
	said=$(unshare "$how" sh full.sh "$size" 2>&1)
	if [ $? -eq 99 ]; then
		skip "a disk of $size kB" "no tmpfs can be mounted here"
	else
		clean "$said" "a disk of $size kB: No space left on device, the file named, nothing half-written left"
	fi
done
tap_done
