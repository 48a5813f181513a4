#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# count.sh LOG...: counts the TAP checks in meson's testlog.txt files and in plain TAP
# files (named *.tap). Lists what failed and, with their reasons, what was skipped; the
# last line is "N passed, N failed, N skipped". A test program that crashed, ended
# otherwise than its checks say, or printed another number of checks than it planned is one
# failure more. VERDICT, if set, is meson's own exit status: bad without any failure seen
# here is a failure too, so that no misreading of a log can turn red into green.
# Each build directory is a heading of its own: BUILD/meson-logs/testlog.txt is "BUILD".
set -u

awk -v verdict="${VERDICT:-0}" '
function fail(what) { failed++; failures[failed] = name ": " what }

# Closes the test program read so far and judges what its checks cannot say themselves.
function close_test() {
	if (name == "")
		return
	if (bail != "")
		fail("bail out: " bail)
	else if (plan < 0 && seen == 0)
		fail("no check ran (" result ")")
	else if (result != "exit status 0" && bad == 0)
		fail("ended with " result " though no check failed")
	else if (plan >= 0 && plan != seen)
		fail("planned " plan " checks, ran " seen)
	else if (plan < 0)
		fail("ended after " seen " checks without a plan (" result ")")
	name = ""
}

function open_test(as) {
	close_test()
	name = as; result = "exit status 0"; plan = -1; seen = bad = 0; bail = ""
}

function skip(reason, count,   key) {
	skipped += count
	key = name ": " (reason == "" ? "no reason given" : reason)
	if (!(key in skips))
		order[++kinds] = key
	skips[key] += count
}

function check(line,   passed) {
	passed = line ~ /^ok/
	seen++
	if (passed && match(line, /# *[Ss][Kk][Ii][Pp][^ ]*/)) {
		skip(substr(line, RSTART + RLENGTH + 1), 1)
	} else if (passed) {
		ok++
	} else {
		bad++
		sub(/^not ok */, "", line)
		fail(line)
	}
}

FNR == 1 {
	close_test()
	heading = FILENAME
	sub(/\/meson-logs\/testlog.*$/, "", heading)
	sub(/^.*\//, "", heading)
	in_output = FILENAME ~ /\.tap$/
	if (in_output)
		open_test(heading)
}
/^=+ [0-9]+\/[0-9]+ =+$/ { close_test(); in_output = 0; next }
!in_output && /^test: / { sub(/^test: */, ""); open_test(heading ": " $0); next }
!in_output && /^result: / { sub(/^result: */, ""); result = $0; next }
/^-+ (stdout|output) -+$/ { in_output = 1; next }
/^-+ stderr -+$/ { in_output = 0; next }
!in_output { next }
/^(not )?ok( |$)/ { check($0); next }
/^1\.\.[0-9]+/ {
	plan = substr($1, 4) + 0
	if (plan == 0) {
		match($0, /# *[Ss][Kk][Ii][Pp][^ ]*/)
		skip(RLENGTH > 0 ? substr($0, RSTART + RLENGTH + 1) : "", 1)
	}
	next
}
/^Bail out!/ { bail = substr($0, 11) == "" ? "without a reason" : substr($0, 11) }

END {
	close_test()
	if (verdict != 0 && failed == 0) {
		name = "meson test"
		fail("exit status " verdict " though no check failed")
	}
	if (kinds)
		print "\nskipped:"
	for (i = 1; i <= kinds; i++)
		printf "  %d x %s\n", skips[order[i]], order[i]
	if (failed)
		print "\nfailed:"
	for (i = 1; i <= failed; i++)
		print "  " failures[i]
	printf "\n%d passed, %d failed, %d skipped\n", ok, failed, skipped
	exit failed > 0
}' "$@"
