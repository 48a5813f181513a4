#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Two settings in alternation: an effect that is there, settings that do not take or move
# behind the scenes, commands and responders that fail, Ctrl-C, kill -9 and going on after
# each. Effects are of milliseconds, so that no machine is too noisy for them.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# abba_a NAME ARGUMENT...: a short comparison from A; output in NAME.txt, status in $status.
abba_a() {
	name=$1
	shift
	in_a timeout 120 "$TARE" abba "stamp://$B4:8620" --rounds 4 --settle 20ms --every 1ms --count 200 --timeout 100ms \
		--primary p50 --also '' -q "$@" >"$name.txt" 2>&1 </dev/null
	status=$?
}

told() { grep -q -e "$2" "$1.txt"; ok $? "$3" "$(cat "$1.txt")"; }
setting() { cat setting; }
# rows FILE QUERY: only where sqlite3 is there.
have_sqlite() { command -v sqlite3 >/dev/null 2>&1; }

net_setup
net_commands abba calibrate verify compare
background echo in_b "$TARE" echo "stamp://$B4:8620"
wait_udp in_b 8620
ok $? "the responder listens" "$(cat echo.out)"

# 1. The same setting twice, by --null: whatever it finds, A is what is left, and the tally is kept.
XDG_STATE_HOME=$net_scratch/state
export XDG_STATE_HOME
abba_a null --null --a 'echo A >setting' -o null.tare
ok "$([ "$status" -ne 2 ] && [ "$status" -ne 5 ]; echo $?)" "null: ends with $status" "$(cat null.txt)"
told null 'null verdicts of this bench so far: ' "null: the tally is told"
is "$(wc -l <"$XDG_STATE_HOME/tare/null-verdicts")" 1 "null: and kept"

# 2. A responder with a delay of 5 ms in B: worse, in any order that was drawn.
cat >serve.sh <<END
enter="nsenter --net=/proc/$net_b/ns/net"
if [ -n "\$DELAY" ]; then exec \$enter "$TARE" echo "stamp://$B4:8621" --inject "delay \$DELAY every 1"; fi
exec \$enter "$TARE" echo "stamp://$B4:8621"
END
in_a timeout 120 "$TARE" abba "stamp://$B4:8621" --rounds 4 --settle 300ms --every 10ms --count 60 --timeout 200ms -q \
	--primary p50 --also '' --serve "exec sh $net_scratch/serve.sh" --a-env DELAY= --b-env DELAY=5ms \
	-o delay.tare --json >delay.txt 2>delay.err
status=$?
ok "$([ "$status" -eq 1 ] || [ "$status" -ge 3 ]; echo $?)" "a responder 5 ms slower in B is never as good ($status)" "$(cat delay.txt delay.err)"
value_b=$(sed -n 's/.*"value_b": \([0-9]*\).*/\1/p' delay.txt)
ok "$([ "${value_b:-0}" -ge 5000000 ]; echo $?)" "and its median has the delay in it (${value_b:-none} ns)"

# Settings of A's network namespace alone, which mean nothing to these packets.
corking=/proc/sys/net/ipv4/tcp_autocorking ecn=/proc/sys/net/ipv4/tcp_ecn
if in_a sh -c "echo 1 >$corking" 2>/dev/null; then
	# 3. A setting that was declared and changes, and nothing else: told as such.
	abba_a declared --a "echo 1 >$corking" --b "echo 0 >$corking" --declare net.ipv4.tcp_autocorking -o declared.tare
	told declared '1 changed as declared' "a declared setting: changed as declared"
	is "$(in_a cat $corking)" 1 "a declared setting: A is put back"

	# 4. One that does not take.
	abba_a notake --a true --b true --declare net.ipv4.tcp_autocorking -o notake.tare
	is "$status" 4 "a declared setting that does not take: invalid" "$(cat notake.txt)"
	told notake 'net.ipv4.tcp_autocorking without effect: 1 with A, 1 with B' "a declared setting that does not take: named"

	# 5. One that is moved behind the scenes, in one round of B only.
	abba_a behind --a "echo 1 >$corking; echo 2 >$ecn" \
		--b "echo 0 >$corking; echo >>n; if [ \$(wc -l <n) -eq 2 ]; then echo 0 >$ecn; fi" \
		--declare net.ipv4.tcp_autocorking -o behind.tare
	is "$status" 4 "another setting moved: invalid" "$(cat behind.txt)"
	told behind 'net.ipv4.tcp_ecn' "another setting moved: it is named"
else
	for what in changed back notake named moved named; do skip "a declared setting: $what" "sysctls cannot be written here"; done
fi

# 6. A command that fails in the middle.
abba_a fails --a 'echo A >setting' --b 'echo B >setting; echo >>m; if [ $(wc -l <m) -eq 2 ]; then echo no such device; exit 3; fi' -o fails.tare
is "$status" 4 "a command that fails: exit status"
told fails "exit status 3: 'no such device'" "a command that fails: what it said"
is "$(setting)" A "a command that fails: A is put back"
if have_sqlite; then
	is "$(sqlite3 fails.tare "SELECT count(*) FROM command WHERE exit = 3")" 1 "a command that fails: is in the recording"
	is "$(sqlite3 fails.tare "SELECT status FROM run")" failed "a command that fails: the run is marked"
else
	skip "a command that fails: is in the recording" "no sqlite3"
	skip "a command that fails: the run is marked" "no sqlite3"
fi
abba_a resumed --a 'echo A >setting' --b 'echo B >setting; echo >>m; if [ $(wc -l <m) -eq 2 ]; then echo no such device; exit 3; fi' \
	-o fails.tare --resume
told resumed '2 + 2 rounds' "a command that failed: --resume completes the comparison"

abba_a fails --a true --b true -o fails.tare
is "$status" 2 "a recording that is there: refused"
told fails "'fails.tare' exists: --resume goes on" "a recording that is there: how to go on"
abba_a hangs --a true --b 'sleep 30' --command-limit 300ms
is "$status" 4 "a command that hangs: exit status"
told hangs 'was ended since it took longer than 300 ms' "a command that hangs: said"
abba_a span --a true --b true --primary wire:p50
is "$status" 2 "a span without stamps: refused after the leading round" "$(cat span.txt)"
told span 'ended after 0 of 4 rounds' "a span without stamps: before the first that is scored"

# 7. A responder that ends by itself, and one that goes silent.
abba_a ends --null --serve 'sleep 0.5; exit 1' -o ends.tare
is "$status" 4 "a responder that ends: exit status" "$(cat ends.txt)"
told ends 'ended by itself' "a responder that ends: said"
(sleep 2; kill "$echo_pid") &
killer=$!
abba_a silent --null -o silent.tare --count 500
wait "$killer"
is "$status" 4 "a responder that dies: invalid" "$(cat silent.txt)"
told silent 'nothing answered\|loss differs\|p50 is not visible' "a responder that dies: said"
abba_a nobody --null
is "$status" 4 "nobody there: exit status"
told nobody 'nothing answered at stamp://.* in 2 rounds in a row' "nobody there: said after two rounds"
background echo in_b "$TARE" echo "stamp://$B4:8620"
wait_udp in_b 8620
abba_a silent --null -o silent.tare --count 500 --resume
told silent '2 + 2 rounds' "a responder that died: --resume completes the comparison"
! grep -q 'nothing answered' silent.txt
ok $? "a responder that died: silent rounds are measured again" "$(cat silent.txt)"

# interrupted SIGNAL NAME: a comparison that is sent SIGNAL in its third round.
interrupted() {
	nsenter --net="/proc/$net_a/ns/net" "$TARE" abba "stamp://$B4:8620" --rounds 4 --settle 20ms --every 1ms --count 500 \
		--timeout 100ms --primary p50 --also '' -q --a 'echo A >setting' --b 'echo B >setting' -o "$2.tare" >"$2.txt" 2>&1 &
	victim=$!
	tries=0
	while [ "$tries" -lt 200 ] && ! { have_sqlite && [ -s "$2.tare" ] && [ "$(sqlite3 "$2.tare" 'SELECT count(*) FROM step' 2>/dev/null || echo 0)" -ge 2 ]; }; do
		sleep 0.05
		tries=$((tries + 1))
		if ! have_sqlite && [ "$tries" -ge 40 ]; then break; fi
	done
	kill "-$1" "$victim"
	wait "$victim"
	status=$?
}
resume_it() {
	in_a timeout 60 "$TARE" abba "stamp://$B4:8620" --rounds 4 --settle 20ms --every 1ms --count 500 --timeout 100ms \
		--primary p50 --also '' --a 'echo A >setting' --b 'echo B >setting' -o "$1.tare" --resume >"$1-again.txt" 2>&1
}

# 8. Ctrl-C.
interrupted INT ctrl
is "$status" 130 "Ctrl-C: exit status" "$(cat ctrl.txt)"
is "$(setting)" A "Ctrl-C: A is put back"
told ctrl 'the setting of A was put back' "Ctrl-C: and that is said"
resume_it ctrl
told ctrl-again '2 + 2 rounds' "Ctrl-C: --resume completes the comparison"

# 9. kill -9: the recording opens, and the comparison goes on.
interrupted KILL killed
is "$status" 137 "kill -9: exit status"
"$TARE" stat killed.tare >killed-stat.txt 2>&1
ok $? "kill -9: the recording opens" "$(cat killed-stat.txt)"
resume_it killed
told killed-again '2 + 2 rounds' "kill -9: --resume completes the comparison"
told killed-again 'are measured' "kill -9: with the rounds that were there"
resume_it killed
told killed-again 'all 4 rounds are in' "kill -9: and then there is nothing left to do"

# 10. By hand: asked for each round, and ended by the end of input.
yes '' | head -n 5 | in_a timeout 60 "$TARE" abba "stamp://$B4:8620" --rounds 4 --settle 0s --every 1ms --count 100 \
	--timeout 50ms --primary p50 -q --manual >manual.txt 2>&1
told manual '2 + 2 rounds' "by hand: five switches are asked for"
in_a timeout 60 "$TARE" abba "stamp://$B4:8620" --rounds 4 --settle 0s --every 1ms --count 100 --timeout 50ms \
	--primary p50 -q --manual >manual.txt 2>&1 </dev/null
is $? 130 "by hand: nobody there ends it" "$(cat manual.txt)"

# 11. Calibration, limits and a standing check.
in_a "$TARE" calibrate "stamp://$B4:8620" --rounds 10 --every 1ms --count 200 --timeout 50ms --also p50 -q -o c.tare >calibrate.txt 2>&1
ok $? "calibrate: ends well" "$(cat calibrate.txt)"
told calibrate 'Twice the largest retest difference instead: 0.2 %' "calibrate: the simple rule stands beside the limit"
! grep -q 'have changed since' calibrate.txt
ok $? "calibrate: settings that nobody touched have not changed" "$(cat calibrate.txt)"
in_a "$TARE" calibrate --calibration c.tare --also p50 --csv >again.txt 2>&1
told again '^p50,10,' "calibrate: limits come from the recording again"
in_a "$TARE" verify "stamp://$B4:8620" --every 1ms --count 200 --timeout 50ms -q --nagios --limit 'p50<1s' >nagios.txt 2>&1
is $? 0 "verify: within its limit" "$(cat nagios.txt)"
in_a "$TARE" verify "stamp://$B4:8620" --every 1ms --count 200 --timeout 50ms -q --nagios --limit 'p50<1ns' >nagios.txt 2>&1
is $? 2 "verify: above its limit is critical"
told nagios '^TARE CRITICAL - p50 .* above its limit .*(again on the confirming run) | p50=' "verify: one line with performance data"
in_a "$TARE" verify "stamp://$B4:9999" --every 1ms --count 200 --timeout 50ms -q --nagios --limit 'p50<1s' >nagios.txt 2>&1
is $? 3 "verify: nothing answers is unknown" "$(cat nagios.txt)"
in_a "$TARE" verify "stamp://$B4:8620" --every 1ms --count 200 --timeout 50ms -q --limit 'p99<1s' --prove >prove.txt 2>&1
is $? 2 "verify: 200 requests can prove no p99, which is said before" "$(cat prove.txt)"
in_a "$TARE" verify "stamp://$B4:8620" --every 1ms --count 400 --timeout 50ms -q --limit 'p95<1s' --prove >prove.txt 2>&1
is $? 0 "verify: 400 requests below it prove a p95" "$(cat prove.txt)"
in_a "$TARE" run "stamp://$B4:8620" --every 1ms --count 200 --timeout 50ms --rounds 4 -q -o base.tare >base.txt 2>&1
in_a "$TARE" verify "stamp://$B4:8620" --every 1ms --count 200 --timeout 50ms --rounds 4 -q --primary p50 --also '' \
	--margin 99% --baseline base.tare >baseline.txt 2>&1
told baseline '"no effect" is not said: this ran at 1k/s' "verify: no effect is not said below the peak"

stop echo
tap_done
