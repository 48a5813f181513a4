#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Real services from Debian packages, between two hosts in a box: redis behind tcp://, a plain
# echo of RFC 862 by socat, connections to both. Right and wrong expectations, a service that
# is stopped while its kernel goes on answering, a restart in mid-run.
set -u
# shellcheck source=tests/net/lib.sh
. "$(dirname "$0")/lib.sh"

# column FILE NAME [KIND]: of the rtt row of the first target, or of the target of this kind.
column() {
	"$TARE" stat --csv "$1" | awk -F, -v column="$2" -v kind="${3:-}" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["span"] == "rtt" && index($at["target"], kind) == 1 { print $at[column]; exit }'
}

# reasons FILE: "reason count" a line, of what went wrong.
reasons() {
	"$TARE" export --csv "$1" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		("reason" in at) && $at["reason"] != "" { count[$at["reason"]]++ }
		END { for (reason in count) print reason, count[reason] }' | sort
}

# Every answer gave this reason. How many came in time is the machine's affair; that none did is not.
only_reason() {
	is "$(reasons "$1.tare" | sed 's/ [0-9]*$//')" "$2" "$3"
}

run_a() {
	name=$1
	shift
	in_a timeout -k 5 60 "$TARE" run "$@" -o "$name.tare" >"$name.txt" 2>&1
	status=$?
}

# wait_tcp SPACE-FUNCTION PORT: until someone listens there (5 s at most).
wait_tcp() {
	hex=$(printf ':%04X' "$2")
	tries=0
	while [ "$tries" -lt 50 ]; do
		if "$1" cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v hex="$hex" \
			'index($2, hex) && $4 == "0A" { found = 1 } END { exit !found }'; then return 0; fi
		sleep 0.1
		tries=$((tries + 1))
	done
	return 1
}

# whole NAME COUNT: checks of a run in which every request was answered.
whole() {
	ended "$1"
	is "$(column "$1.tare" n)" "$2" "$1: every request counted has an answer" "$(reasons "$1.tare")"
	is "$(column "$1.tare" foreign)" 0 "$1: no reply is foreign"
}

net_setup
net_commands echo run stat export

# 1. tare's own echo: framing of our own, connections, both families.
listeners="tcp://$B4:7000"
if net_has_ipv6; then listeners="$listeners tcp://[$B6]:7000"; fi
# shellcheck disable=SC2086
background echo in_b "$TARE" echo $listeners
wait_tcp in_b 7000
run_a own "tcp://$B4:7000" --every 1ms --count 300
whole own 300
run_a large "tcp://$B4:7000" --every 1ms --count 300 --size 4000
whole large 300
run_a established "connect://$B4:7000" --every 1ms --count 300
whole established 300
if net_has_ipv6; then
	run_a own6 "tcp://[$B6]:7000" --every 1ms --count 300
	whole own6 300
	run_a established6 "connect://[$B6]:7000" --every 1ms --count 300
	whole established6 300
else
	skip "tcp and connect over IPv6" "this kernel has no IPv6"
fi
run_a closed "connect://$B4:7001" "tcp://$B4:7001" --every 1ms --count 100 --timeout 100ms
is "$status" 4 "a closed port: exit status"
only_reason closed "ECONNREFUSED" "a closed port: each request says so"

# 2. The echo service is restarted in mid-run: the connection is opened anew.
(
	sleep 0.7
	# shellcheck disable=SC2154
	kill "$echo_pid"
	sleep 0.5
	# shellcheck disable=SC2086
	nsenter --net="/proc/$net_b/ns/net" "$TARE" echo $listeners >again.out 2>&1 &
	echo $! >again.pid
) &
restarter=$!
run_a restart "tcp://$B4:7000" --every 2ms --count 1000
wait "$restarter"
ended restart restarted
ok "$([ "$(column restart.tare error)" -gt 0 ]; echo $?)" "restarted: requests in between failed" "$(cat restart.txt)"
ok "$(reasons restart.tare | grep -q 'ECONN\|EPIPE'; echo $?)" "restarted: and say why" "$(reasons restart.tare)"
ok "$(grep -q 'opened anew' restart.txt; echo $?)" "restarted: the new connection is told" "$(cat restart.txt)"
last=$("$TARE" export --csv restart.tare | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { fate = $at["fate"] } END { print fate }')
is "$last" answered "restarted: the last request is answered again"
kill "$(cat again.pid)"

# 3. redis.
if command -v redis-server >/dev/null 2>&1; then
	background redis in_b redis-server --port 7003 --bind "$B4" --save '' --appendonly no --protected-mode no
	wait_tcp in_b 7003
	run_a redis "tcp://$B4:7003" --send 'PING\r\n' --expect '+PONG' --every 1ms --count 300
	whole redis 300
	run_a regex "tcp://$B4:7003" --send 'PING\r\n' --expect-regex '^\+PON[G]$' --every 1ms --count 300
	whole regex 300
	run_a bytes "tcp://$B4:7003" --send 'PING\r\n' --expect-bytes 7 --every 1ms --count 300
	whole bytes 300
	run_a merged "tcp://$B4:7003" --send 'PING\r\n' --expect '+PONG\r\n' --rate 20k/s --count 5000
	whole merged 5000
	run_a wrong "tcp://$B4:7003" --send 'PING\r\n' --expect '+PANG' --every 1ms --count 100
	is "$status" 4 "a wrong expectation: exit status"
	only_reason wrong "UNEXPECTED" "a wrong expectation: each request says so"
	run_a extra "tcp://$B4:7003" --send 'PING\r\nPING\r\n' --expect '+PONG' --every 1ms --count 100
	ended extra "two replies to one request"
	ok "$([ "$(column extra.tare foreign)" -gt 0 ]; echo $?)" "two replies to one request: the second is nobody's"

	# The service is stopped, its host is not: in one schedule the table shows both.
	(
		sleep 0.5
		# shellcheck disable=SC2154
		kill -STOP "$redis_pid"
		sleep 0.6
		kill -CONT "$redis_pid"
	) &
	stopper=$!
	run_a stopped "icmp://$B4" "tcp://$B4:7003" --send 'PING\r\n' --expect '+PONG' --every 2ms --count 800 --timeout 100ms
	wait "$stopper"
	ended stopped "a stopped service"
	is "$(column stopped.tare overdue icmp)" 0 "a stopped service: its kernel answers ICMP in time"
	overdue=$(column stopped.tare overdue tcp)
	ok "$([ "${overdue:-0}" -ge 100 ]; echo $?)" "a stopped service: $overdue of its answers were overdue" "$(cat stopped.txt)"
	least=$(column stopped.tare max_ns tcp)
	ok "$([ "${least:-0}" -ge 500000000 ]; echo $?)" "a stopped service: and their time is kept (up to $least ns)"
	stop redis
else
	skip "redis" "no redis-server (package redis-server)"
fi

# 4. A plain echo.
if command -v socat >/dev/null 2>&1; then
	background plain in_b socat "TCP4-LISTEN:7004,bind=$B4,reuseaddr,fork,nodelay" EXEC:cat
	wait_tcp in_b 7004
	run_a plain "tcp://$B4:7004" --every 2ms --count 300
	whole plain 300
else
	skip "a plain echo" "no socat (package socat)"
fi

# 5. A DNS server.
if command -v dnsmasq >/dev/null 2>&1; then
	background dns in_b dnsmasq -k -p 7053 --no-resolv --no-hosts --conf-file=/dev/null --pid-file= --user=root \
		--listen-address="$B4" --bind-interfaces --address=/www.tare.test/10.1.2.3 --local=/tare.test/
	wait_udp in_b 7053
	run_a name "dns://$B4:7053/www.tare.test" --every 1ms --count 300
	whole name 300
	run_a nothing "dns://$B4:7053/none.tare.test" --every 1ms --count 100
	is "$status" 4 "a name that is not there: exit status"
	only_reason nothing "NXDOMAIN" "a name that is not there: each request says so"
	run_a expected "dns://$B4:7053/none.tare.test?type=AAAA&rcode=NXDOMAIN" --every 1ms --count 300
	whole expected 300
	run_a refused "dns://$B4:7053/www.elsewhere.test" --every 1ms --count 100
	only_reason refused "REFUSED" "a server that refuses: each request says so"
	stop dns
	run_a gone "dns://$B4:7053/www.tare.test" --every 1ms --count 100 --timeout 100ms
	is "$status" 4 "no server: exit status"
	# the kernel limits its ICMP errors: the rest is lost
	ok "$(reasons gone.tare | grep -q '^ECONNREFUSED'; echo $?)" "no server: ICMP says so" "$(cat gone.txt)"
else
	skip "a DNS server" "no dnsmasq (package dnsmasq-base)"
fi

# 6. A web server, with and without TLS.
if command -v nginx >/dev/null 2>&1 && command -v openssl >/dev/null 2>&1 &&
	! "$TARE" run http://127.0.0.1:1/ --count 1 --timeout 10ms 2>&1 | grep -q 'build has no http'; then
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 \
		-subj "/CN=$B4" -addext "subjectAltName=IP:$B4" 2>/dev/null
	cat >nginx.conf <<EOF
daemon off;
pid $net_scratch/nginx.pid;
error_log $net_scratch/nginx.log;
events { worker_connections 512; }
http {
	access_log off;
	keepalive_requests 1000000;
	server {
		listen $B4:7080;
		listen $B4:7443 ssl;
		ssl_certificate $net_scratch/cert.pem;
		ssl_certificate_key $net_scratch/key.pem;
		location /fine { return 200 "all is fine here"; }
		location /bad { return 503; }
	}
}
EOF
	background web in_b nginx -p "$net_scratch" -c "$net_scratch/nginx.conf"
	wait_tcp in_b 7443
	run_a http "http://$B4:7080/fine" --expect 'is fine' --every 2ms --count 300
	whole http 300
	run_a https "https://$B4:7443/fine" --ca cert.pem --expect-regex '^all.*here$' --every 10ms --count 100
	whole https 100
	run_a fresh "https://$B4:7443/fine" --ca cert.pem --fresh --every 20ms --count 50
	whole fresh 50
	phases=$("$TARE" export --csv fresh.tare | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ sum = $at["resolve_ns"] + $at["connect_ns"] + $at["tls_ns"] + $at["first_byte_ns"] + $at["body_ns"] }
		$at["tls_ns"] <= 0 { print "request " NR - 2 ": no tls phase" }
		sum <= 0 || sum > $at["rtt_ns"] + 5000 { print "request " NR - 2 ": phases " sum ", rtt " $at["rtt_ns"] }')
	clean "$phases" "fresh: the phases are there and no longer than the whole"
	run_a distrusted "https://$B4:7443/fine" --every 50ms --count 10
	only_reason distrusted "CURL 60" "a certificate nobody vouches for: each request says so"
	run_a status "http://$B4:7080/bad" --every 2ms --count 100
	only_reason status "HTTP 503" "another status: each request says so"
	run_a status503 "http://$B4:7080/bad" --expect-status 503 --every 2ms --count 100
	whole status503 100
	run_a body "http://$B4:7080/fine" --expect 'is bad' --every 2ms --count 100
	only_reason body "BODY" "another body: each request says so"

	# Its workers are stopped: requests to others keep their schedule.
	(
		sleep 0.5
		# shellcheck disable=SC2154
		pkill -STOP -P "$web_pid"
		sleep 0.6
		pkill -CONT -P "$web_pid"
	) &
	stopper=$!
	run_a web_stopped "icmp://$B4" "http://$B4:7080/fine" --every 5ms --count 300 --timeout 100ms
	wait "$stopper"
	is "$(column web_stopped.tare overdue icmp)" 0 "a stopped web server: its kernel answers ICMP in time"
	overdue=$(column web_stopped.tare overdue http)
	ok "$([ "${overdue:-0}" -ge 50 ]; echo $?)" "a stopped web server: $overdue of its answers were overdue" "$(cat web_stopped.txt)"
	stop web
	run_a web_gone "http://$B4:7080/fine" --every 2ms --count 100 --timeout 100ms
	only_reason web_gone "ECONNREFUSED" "no web server: each request says so"
else
	skip "a web server" "no nginx (package nginx-light), no openssl, or a build without libcurl"
fi

tap_done
