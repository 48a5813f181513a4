#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A host that changes from one inspection to the next: drift, counters, reboots, policies, outputs,
# exit statuses, A against B, switches. The host is a folder made from trees/.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$here/../tap.sh"
if [ ! -x "$TARE" ]; then skip_all "this build has no tare program"; fi
command -v python3 >/dev/null 2>&1 || skip_all "no python3 here"
top=$(mktemp -d "${TMPDIR:-/tmp}/tare-daily.XXXXXX")
trap 'rm -rf "$top"' EXIT
LC_ALL=C
export LC_ALL HOME="$top"
unset XDG_CONFIG_HOME STATE_DIRECTORY
root=$top/host
state=$top/state

inspect() {
	"$TARE" inspect --root "$root" --state "$state" "$@"
}
question() {
	python3 -c "import json,sys; d=json.load(sys.stdin); print($1)"
}
found() {
	inspect --json | question "sorted((f['level'], f['key'], f['what']) for f in d['findings'] if f['rule']=='$1')"
}
write() {
	mkdir -p "$(dirname "$root$1")"
	printf '%s\n' "$2" >"$root$1"
}
begin() {
	python3 "$here/expand.py" "$here/trees/$1.tree" "$root"
	rm -rf "$state"
	inspect --save --approve it --why 'for the test' >/dev/null 2>&1
}

begin bare
first=$(inspect --nagios)
is "$(echo "$first" | sed 's/|.*//')" "TARE WARNING - 0 drift, 2 cross-checks, complete 98.9% " "the first line"
ok "$(echo "$first" | grep -q '| drift=0;0;; checks=2;0;; unreadable=[0-9]* keys=[0-9]*$'; echo $?)" "its performance data" "$first"
inspect --exit-zero >/dev/null
is $? 0 "--exit-zero"
for format in --nagios --json --csv --markdown; do
	inspect $format >/dev/null
	is $? 1 "the exit status is the same with $format"
done

write /proc/sys/vm/swappiness 10
is "$(found drift)" "[('WARNING', 'vm.swappiness', '60 -> 10')]" "a changed sysctl is found and named"
begin bare
write /proc/irq/57/smp_affinity_list 0-3
is "$(found drift)" "[('WARNING', 'irq[0000:3b:00.0#524289 eth0-rx-0].affinity', '1 -> 0-3')]" "an interrupt's affinity"
begin bare
write /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor powersave
is "$(found drift)" "[('WARNING', 'cpu.governor', '0-2=performance; 3=(busy) -> 0,2=performance; 1=powersave; 3=(busy)')]" "a governor of one CPU"
begin mellanox
write /sys/class/net/ens1f0np0/queues/rx-0/rps_cpus 2
is "$(found drift)" "[('WARNING', 'queue[0000:5e:00.0 rx-0].rps_cpus', 'none -> 1')]" "a queue's setting"
begin bare
rm "$root/sys/devices/system/cpu/cpu0/cpuidle/state2/disable"
is "$(found drift | grep -c cpuidle)" 1 "a knob of one CPU that vanished"
begin bare
ln -sf '!EACCES' "$root/proc/sys/vm/swappiness"
is "$(found drift)" "[('UNKNOWN', 'vm.swappiness', '60 -> denied')]" "what became unreadable is unknown"
is "$(found X20)" "[('UNKNOWN', 'vm.swappiness', 'could not be read')]" "X20"
begin bare
ln -sf '!EACCES' "$root/sys/devices/system/cpu/online"
inspect --nagios >/dev/null
is $? 3 "without what is required nothing can be said"

begin bare
is "$(inspect --facts --json | question "{r['key']: r['status'] for r in d['rows']}['cpu.freq_khz']")" skipped "no CPU is interrupted while one is isolated"
is "$(inspect --facts --json --intrusive | question "{r['key']: r['value'] for r in d['rows']}['cpu.freq_khz']")" 3400000 "but with --intrusive"

# ---- since when ----
begin bare
write /proc/sys/vm/swappiness 10
inspect --save >/dev/null
sleep 1
one=$(inspect --save --json | question "[f['evidence'] for f in d['findings'] if f['rule']=='drift']")
two=$(inspect --save --json | question "[f['evidence'] for f in d['findings'] if f['rule']=='drift']")
is "$two" "$one" "it matched last before it was first seen, however often it is seen"
ok "$(echo "$one" | grep -q 'after 20[0-9-]* [0-9:]* UTC'; echo $?)" "which is told" "$one"

# ---- policies ----
begin bare
write /proc/sys/vm/swappiness 10
printf 'vm.* ignore\n' >"$state/it.policy"
is "$(found drift)" "[]" "a policy can ignore"
printf 'vm.swappiness range 0..5\n' >"$state/it.policy"
ok "$(inspect --json | question "[f['evidence'] for f in d['findings'] if f['rule']=='drift']" |
	grep -q 'changed, the policy allows 0..5, after'; echo $?)" "or bound"
printf 'vm.swappiness rnge 0..5\n' >"$state/it.policy"
is "$(inspect --nagios | sed "s|$top|TOP|")" "TARE UNKNOWN - TOP/state/it.policy:1: 'rnge' is no rule; did you mean 'range'?" "a broken one is told"

# ---- counters ----
begin bare
write /proc/net/softnet_stat "00000010 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
00000020 00000005 00000009 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000001"
write /proc/uptime "86460.50 1.0"
is "$(found X15)" "[('WARNING', 'softnet.dropped', '+3, CPU 1: 3')]" "drops since the last inspection"
is "$(found counter)" "[('INFO', 'softnet.squeezed', '+9, CPU 1: 9')]" "squeezes are told, and no alarm"
ok "$(inspect --nagios | grep -q ' softnet_dropped=3c'; echo $?)" "and stand in the performance data"
write /proc/sys/kernel/random/boot_id 99999999-2222-3333-4444-555555555555
write /proc/uptime "60.50 1.0"
is "$(found X15 | grep -c "softnet.dropped', '+5")" 1 "after a reboot counters count from zero"
ok "$(inspect | grep -q 'rebooted since the last inspection'; echo $?)" "which is told"
begin bare
printf 'softnet.dropped max-delta 10/day\n' >"$state/it.policy"
write /proc/net/softnet_stat "00000010 00000000 00000001
00000020 00000005 00000000"
write /proc/uptime "86460.50 1.0"
is "$(found X15)" "[]" "within what the policy allows"
begin bare
write /proc/interrupts "           CPU0       CPU1       CPU2       CPU3
  9:          5          0         40          0   IO-APIC    9-fasteoi   acpi
LOC:       1000       1000       9900        901   Local timer interrupts"
write /proc/uptime "86460.50 1.0"
is "$(found X1)" "[('WARNING', 'irq[IO-APIC#9 acpi].count', 'fired on a CPU that should be left alone')]" "X1: an interrupt on an isolated CPU"
is "$(found X5 | grep -c 'CPU 2 of nohz_full still has timer interrupts')" 1 "X5: a tick on a nohz_full CPU"

# ---- outputs ----
begin bare
inspect --openmetrics "$top/metrics.prom" >/dev/null
is "$(sed -n 's/^tare_inspect_verdict //p' "$top/metrics.prom")" 1 "OpenMetrics: the verdict"
is "$(tail -n 1 "$top/metrics.prom")" "# EOF" "OpenMetrics: its end"
is "$(grep -vc -e '^#' -e '^tare_inspect_[a-z_]*\({[a-z]*="[^"]*"\(,[a-z]*="[^"]*"\)*}\)\{0,1\} [0-9.]*$' "$top/metrics.prom")" 0 "OpenMetrics: every line"
is "$(inspect --markdown | head -n 1)" "### tare inspect: WARNING" "Markdown"
is "$(inspect --markdown | sed -n 's/^| level.*/table/p')" table "Markdown: a table"

# ---- facts brought by hand, A against B ----
"$TARE" inspect --root "$root" --facts -o "$top/a.jsonl" >/dev/null
is "$("$TARE" inspect --facts-file "$top/a.jsonl" --json | question "(d['host'], d['verdict'])")" "('fixture', 'WARNING')" "facts from a file are judged"
write /proc/sys/vm/swappiness 10
"$TARE" inspect --root "$root" --facts -o "$top/b.jsonl" >/dev/null
"$TARE" inspect --diff "$top/a.jsonl" "$top/b.jsonl" --declare vm.swappiness >"$top/diff"
is $? 0 "--diff: only what was declared"
ok "$(grep -q ' keys compared in 4 snapshots: 1 changed as declared, 0 undeclared, ' "$top/diff"; echo $?)" "its sentence" "$(cat "$top/diff")"
"$TARE" inspect --diff "$top/a.jsonl" "$top/b.jsonl" --declare 'vm.swappiness=60->10' >/dev/null
is $? 0 "--diff: with the values that were declared"
write /proc/sys/net/core/busy_read 50
"$TARE" inspect --root "$root" --facts -o "$top/c.jsonl" >/dev/null
"$TARE" inspect --diff "A=$top/a.jsonl" "A=$top/a.jsonl" "B=$top/c.jsonl" "B=$top/c.jsonl" --declare vm.swappiness >"$top/diff"
is $? 2 "--diff: something else moved"
ok "$(grep -q '^confounded' "$top/diff" && grep -q 'undeclared *net.core.busy_read *0 *50' "$top/diff"; echo $?)" "and is named" "$(cat "$top/diff")"
"$TARE" inspect --diff "$top/a.jsonl" "$top/c.jsonl" --declare vm.swappiness --allow 'net.core.*' >/dev/null
is $? 0 "--diff: it was allowed to"
"$TARE" inspect --diff "$top/a.jsonl" "$top/a.jsonl" --declare vm.swappiness >/dev/null
is $? 1 "--diff: without effect"
sed 's/"60"/"61"/' "$top/a.jsonl" >"$top/edited.jsonl"
"$TARE" inspect --diff "$top/edited.jsonl" "$top/b.jsonl" >/dev/null 2>"$top/err"
is $? 3 "--diff: an edited file is refused"
ok "$(grep -q 'was changed after it was written' "$top/err"; echo $?)" "with a sentence" "$(cat "$top/err")"

# ---- a switch ----
cat >"$top/version.json" <<'JSON'
{"modelName": "DCS-7150S-24-F", "serialNumber": "JPE1", "version": "4.20.1F", "bootupTimestamp": 1700000000.5, "uptime": 1000.0}
JSON
cat >"$top/interfaces.json" <<'JSON'
{"interfaces": {"Ethernet1": {"name": "Ethernet1", "interfaceStatus": "connected", "bandwidth": 10000000000, "duplex": "duplexFull",
 "mtu": 9214, "description": "md", "interfaceCounters": {"inOctets": 100, "inDiscards": 0, "outDiscards": 2, "linkStatusChanges": 4,
 "inputErrorsDetail": {"fcsErrors": 0, "symbolErrors": 1}, "lastClear": 1700000100.0}}}}
{"interfaces": {"Ethernet1": {"mediaType": "10GBASE-SR", "vendorSn": "X1", "rxPower": -2.31, "txPower": -1.5, "temperature": 31.0}}}
{"lldpNeighbors": [{"port": "Ethernet1", "neighborDevice": "trd-07", "neighborPort": "10bd.0000.0042", "ttl": 120}]}
{"entryList": [{"interface": "Ethernet1", "queueLength": 1000}, {"interface": "Ethernet1", "queueLength": 4000}]}
JSON
switch() {
	"$TARE" inspect --switch "$top/version.json" "$top/interfaces.json" --state "$top/switch" "$@"
}
is "$(switch --facts --json | python3 "$here/list.py" | grep -c 'port\[Ethernet1\]')" 19 "facts of a port"
is "$(switch --facts --json | question "{r['key']: r['value'] for r in d['rows']}['port[Ethernet1].queue_max_bytes']")" 4000 "longest queue"
switch --save --approve sw >/dev/null 2>&1
sed -i 's/10000000000/1000000000/; s/"outDiscards": 2/"outDiscards": 12/' "$top/interfaces.json"
sed -i 's/"uptime": 1000.0/"uptime": 1060.0/' "$top/version.json"
is "$(switch --json | question "sorted((f['rule'], f['key'], f['what']) for f in d['findings'])")" \
	"[('X15', 'port[Ethernet1].error.outDiscards', '+10'), ('drift', 'port[Ethernet1].speed_bps', '10000000000 -> 1000000000')]" \
	"a port that got slower, and its discards"
echo '{"something": 1}' >"$top/odd.json"
"$TARE" inspect --switch "$top/odd.json" --nagios >"$top/out"
is $? 3 "what is no output of a switch"
ok "$(grep -q "odd.json': is not the JSON of show version" "$top/out"; echo $?)" "is told by name" "$(cat "$top/out")"

# ---- usage ----
"$TARE" inspect --json --csv >/dev/null 2>&1
is $? 3 "usage errors are UNKNOWN here"
"$TARE" inspect --explain X7 | grep -q rx_usecs
is $? 0 "--explain of a cross-check"
"$TARE" inspect --explain no.such.key >/dev/null 2>&1
is $? 3 "--explain of nothing"
cron=$here/../../packaging/cron/tare-inspect
is "$(grep -c '^[0-9]' "$cron")" 1 "the cron file has one line"
sed -n 's/^[0-9 *]* root //p' "$cron" | sh -n
is $? 0 "which a shell can read"
tap_done
