#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# This host as it is: shapes and statuses, never values; changes only within network namespaces made
# here. Global knobs are left alone, others measure beside.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/net/lib.sh
. "$here/../net/lib.sh"
command -v python3 >/dev/null 2>&1 || skip_all "no python3 here"
net_need
net_commands inspect
net_setup
state=$net_scratch/state
HOME=$net_scratch
export HOME
unset XDG_CONFIG_HOME STATE_DIRECTORY

# question EXPRESSION: of the JSON `d` on stdin.
question() {
	python3 -c "import json,sys; d=json.load(sys.stdin); print($1)"
}

facts=$("$TARE" inspect --facts --json)
rows='{r["key"]: r for r in d["rows"]}'
is "$(echo "$facts" | question "all(r['status'] in ('ok','unknown','absent','unsupported','denied','busy','malformed','skipped') for r in d['rows'])")" \
	True "every fact has one of the statuses"
is "$(echo "$facts" | question "[r['key'] for r in d['rows'] if r['status']=='malformed']")" "[]" "nothing on this host is malformed"
is "$(echo "$facts" | question "[r['key'] for r in d['rows'] if (r['value'] is None) != (r['status'] != 'ok')]")" "[]" \
	"a value where the status is ok, and nowhere else"
is "$(echo "$facts" | question "[r['key'] for r in d['rows']] == sorted(r['key'] for r in d['rows'])")" True "sorted by key"
is "$(echo "$facts" | question "($rows)['nic[lo].speed_mbps']['status']")" unsupported "loopback has no speed (EINVAL)"
is "$(echo "$facts" | question "($rows)['kernel.release']['value']")" "$(uname -r)" "the kernel's release"
is "$(echo "$facts" | question "($rows)['cpu.online']['value']")" "$(cat /sys/devices/system/cpu/online)" "CPUs online"
is "$(echo "$facts" | question "($rows)['cpu.dma_latency_holders']['status']")" skipped "what is slow is left alone, and told"
is "$(echo "$facts" | question "($rows)['nic[lo].rx_packets']['via']")" netlink "counters of devices come by netlink"

"$TARE" inspect --state "$state" --save --approve base --why test >"$net_scratch/first" 2>"$net_scratch/note"
first=$?
ok "$([ "$first" -le 1 ]; echo $?)" "a first inspection is no failure" "exit $first"
ok "$(grep -q 'no baseline' "$net_scratch/first"; echo $?)" "and no pass either: it says that there is no baseline"
ok "$(grep -q '^approved as base' "$net_scratch/note"; echo $?)" "approved"
sleep 1
second=$("$TARE" inspect --state "$state" --json)
is "$(echo "$second" | question "[f['key'] for f in d['findings'] if f['rule']=='drift']")" "[]" "a second later nothing has drifted"
is "$(echo "$second" | question "d['elapsed_ns'] >= 1000000000 and d['compared'] > 100")" True "counters cover the second, settings were compared"

# ---- changes in a namespace ----
inside() {
	"$TARE" inspect --netns "$net_a" --state "$net_scratch/inside" --json "$@"
}
moved="sorted((f['key'], f['what']) for f in d['findings'] if f['rule']=='drift')"
if inside --save --approve ns >"$net_scratch/ns.json" 2>"$net_scratch/ns.err"; [ $? -eq 3 ]; then
	skip "changes in a network namespace" "$(head -n 1 "$net_scratch/ns.err")"
else
	is "$(question "[k for k in d['denied'] if k.startswith('nic[')]" <"$net_scratch/ns.json")" "[]" "devices of the namespace are readable"
	is "$(inside | question "$moved")" "[]" "nothing has changed yet"
	nsenter -t "$net_a" -n sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_autocorking'
	is "$(inside | question "$moved")" "[('net.ipv4.tcp_autocorking', '1 -> 0')]" "a changed sysctl is found and named"
	nsenter -t "$net_a" -n sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_autocorking'
	nsenter -t "$net_a" -n ip link set a0 txqueuelen 77
	is "$(inside | question "$moved")" "[('nic[a0].tx_queue_len', '1000 -> 77')]" "and so is the queue of a device"
	nsenter -t "$net_a" -n ip link set a0 txqueuelen 1000
	nsenter -t "$net_a" -n ip link set a0 mtu 1400
	is "$(inside | question "$moved")" "[('nic[a0].mtu', '1500 -> 1400')]" "and an MTU"
	nsenter -t "$net_a" -n ip link set a0 mtu 1500
	if command -v ethtool >/dev/null 2>&1 && nsenter -t "$net_a" -n ethtool -K a0 gro on 2>/dev/null; then
		ok "$(inside | question "'nic[a0].feature.rx-gro' in [k for k, _ in $moved]" | grep -q True; echo $?)" \
			"and a feature of the driver"
		nsenter -t "$net_a" -n ethtool -K a0 gro off 2>/dev/null
	else
		skip "a feature of the driver" "no ethtool, or veth lets none be changed here"
	fi
	if nsenter -t "$net_a" -n nft add table ip tare_test 2>/dev/null; then
		nft() { nsenter -t "$net_a" -n nft "$@"; }
		nft add chain ip tare_test in '{ type filter hook input priority 0; }'
		nft add rule ip tare_test in counter
		is "$(inside | question "[w.split(',')[0] for k, w in $moved if k=='netfilter.nftables']")" \
			"['none -> 1 rule']" "a rule of nftables"
		inside --save --approve ns >/dev/null
		nsenter -t "$net_a" -n ping -c 3 -i 0.01 -q 127.0.0.1 >/dev/null 2>&1
		is "$(inside | question "$moved")" "[]" "what it counted is no change"
		nft delete table ip tare_test
		inside --save --approve ns >/dev/null
	else
		skip "a rule of nftables" "no nft here, or it may not"
	fi
	inside --save >/dev/null
	nsenter -t "$net_a" -n ip link del a0
	nsenter -t "$net_a" -n ip link add a0 type veth peer name a1
	nsenter -t "$net_a" -n ip link set a0 up
	is "$(inside | question "[f['key'] for f in d['findings'] if f['rule']=='counter' and 're-created' in f['what']]")" \
		"['nic[a0].ifindex']" "a device created anew is told"
fi

# ---- the cable's other end ----
cat >"$net_scratch/lldp.py" <<'PY'
import socket, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("b0", 0))
def tlv(kind, value):
    return bytes([kind << 1, len(value)]) + value
frame = bytes.fromhex("0180c200000e") + b"\2\0\0\0\0\1" + b"\x88\xcc" + tlv(1, b"\4\0\x1c\x73\0\0\1") + \
    tlv(2, b"\5Ethernet7") + tlv(3, b"\0\x78") + tlv(5, b"sw1") + bytes([254, 6]) + bytes.fromhex("0080c2010064") + b"\0\0"
for _ in range(40):
    s.send(frame)
    time.sleep(0.1)
PY
# a0 was made anew above, without its peer in B
in_a ip link del a0 2>/dev/null
in_a ip link add a0 type veth peer name b0 netns "$net_b"
net_address in_a a0 "$A4" "$A6"
net_address in_b b0 "$B4" "$B6"
in_a ip link set a0 up
in_b ip link set b0 up
net_wait_up
background lldp in_b python3 "$net_scratch/lldp.py"
heard=$("$TARE" inspect --netns "$net_a" --lldp a0 --lldp-wait 10s --facts --json 2>"$net_scratch/lldp.err" |
	question "[r['value'] for r in d['rows'] if r['key']=='lldp[a0].neighbour']")
is "$heard" "['sw1 Ethernet7 vlan 100']" "the switch port is learnt by listening"

# ---- what moves within a round ----
if command -v sqlite3 >/dev/null 2>&1; then
	background echo in_b "$TARE" echo "udp://$B4:7000"
	sleep 0.5
	background run in_a "$TARE" run "udp://$B4:7000" --every 5ms --count 400 -q -o "$net_scratch/moved.tare"
	sleep 1
	in_a ip link set a0 mtu 1400
	in_a sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_autocorking'
	wait "$run_pid"
	events=$(sqlite3 "$net_scratch/moved.tare" "select text from event where kind='host'")
	ok "$(echo "$events" | grep -q '^a0: mtu 1500 -> 1400$'; echo $?)" "what the kernel announces within a round is an event" "$events"
	ok "$(echo "$events" | grep -q '^net.ipv4.tcp_autocorking changed during the round: 1 -> 0$'; echo $?)" \
		"and so is what two snapshots tell" "$events"
	is "$(sqlite3 "$net_scratch/moved.tare" "select count(*) > 100 from fact where round is null and moment='start'")" 1 \
		"the run holds the facts of its start"
	is "$(sqlite3 "$net_scratch/moved.tare" "select value from fact where key='nic[a0].mtu' order by id")" "1500
1400
1400" "the start of the run, the end of the round and the end of the run tell what changed"
	is "$(sqlite3 "$net_scratch/moved.tare" "select count(distinct value) from fact where key='snapshot.hash'")" 2 "under another hash"
	in_a "$TARE" run "udp://$B4:7000" --every 1ms --count 50 -q --no-facts -o "$net_scratch/bare.tare" >/dev/null
	is "$(sqlite3 "$net_scratch/bare.tare" "select count(*) from fact where key like 'snapshot.%' or key like 'kernel.%'")" 0 "--no-facts leaves all of it out"
else
	skip "events within a round" "no sqlite3"
fi

# ---- without privileges ----
readable="sorted(r['key'] for r in d['rows'] if r['status'] in ('ok','unknown') and not r['key'].startswith(('cgroup[self]','process.')))"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1 &&
	setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all test -x "$TARE" 2>/dev/null; then
	nobody="setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all"
	echo "$facts" | question "$readable" >"$net_scratch/root"
	chmod 755 "$net_scratch"
	$nobody env HOME=/nonexistent "$TARE" inspect --facts --json >"$net_scratch/nobody.json"
	question "$readable" <"$net_scratch/nobody.json" >"$net_scratch/nobody"
	question "sorted(r['key'] for r in d['rows'] if r['status']=='denied')" <"$net_scratch/nobody.json" >"$net_scratch/denied"
	is "$(python3 - "$net_scratch" <<'PY'
import ast, sys
root, nobody, denied = (set(ast.literal_eval(open(f"{sys.argv[1]}/{n}").read())) for n in ("root", "nobody", "denied"))
print(sorted(root - nobody - denied), sorted(denied - root))
PY
	)" "[] []" "without privileges it lists exactly what root would add"
	ok "$([ "$(cat "$net_scratch/denied")" != "[]" ]; echo $?)" "which is something: $(head -c 200 "$net_scratch/denied")"
	$nobody env HOME=/nonexistent "$TARE" inspect >"$net_scratch/plain" 2>&1
	ok "$(grep -q '^root would add ' "$net_scratch/plain"; echo $?)" "and says so on the screen"
else
	skip "what root would add" "needs root and setpriv"
fi

# ---- units ----
units=$here/../../packaging/systemd
if command -v systemd-analyze >/dev/null 2>&1; then
	mkdir "$net_scratch/units"
	for unit in "$units"/*; do
		sed "s|^ExecStart=tare|ExecStart=$TARE|" "$unit" >"$net_scratch/units/$(basename "$unit")"
	done
	complaints=$(cd "$net_scratch/units" && systemd-analyze verify --man=no ./tare-inspect.service ./tare-inspect.timer \
		./tare-notify@x.service 2>&1 | grep -i tare)
	clean "$complaints" "systemd accepts the units"
	exposure=$(systemd-analyze security --offline=yes "$net_scratch/units/tare-inspect.service" 2>/dev/null |
		sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p')
	if [ -n "$exposure" ]; then
		ok "$(awk -v x="$exposure" 'BEGIN { exit !(x <= 3.0) }'; echo $?)" "and rates the inspection at most 3.0" "$exposure"
	else
		skip "rating of the unit" "this systemd-analyze does not rate offline"
	fi
else
	skip "the units" "no systemd-analyze here"
fi
tap_done
