#!/bin/sh
# The demo: the echo example serves a client that is not ours, then up to 10,000 connections at once, each
# with an idle limit of 30 s, and a table says what was measured. Ends by itself; fails on any
# byte that differs; leaves nothing running.
#
# usage: tools/demo.sh BUILD [CONNECTIONS=10000] [SECONDS=5]      (`make demo`)
#
# The server is examples/echo.c as it stands, with bench/echo/probe.c linked to it, which counts.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=bench/echo/port.sh
. "$here/bench/echo/port.sh"

build=${1:?usage: demo.sh BUILD [CONNECTIONS] [SECONDS]}
connections=${2:-10000}
seconds=${3:-5}

work=$(mktemp -d)
server=''
clean_up()
{
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	[ -z "$server" ] || wait "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

fail()
{
	echo "demo: $*" >&2
	exit 1
}

# A client from Debian; each gets the end of its input across and waits for the rest of the echo.
foreign_client()
{
	if command -v socat >/dev/null; then
		echo socat >"$work/client"
		timeout 30 socat -t 20 - "TCP:127.0.0.1:$1"
	elif command -v ncat >/dev/null; then
		echo ncat >"$work/client"
		timeout 30 ncat 127.0.0.1 "$1"
	else
		fail 'neither socat nor ncat is installed'
	fi
}

# The soft limit of descriptors is raised in both processes: here, and by the load generator itself.
# shellcheck disable=SC3045 # dash and bash both have it
(
	ulimit -n "$(ulimit -Hn)"
	exec "$build/bench/echo/demo-echo" 127.0.0.1:0
) >"$work/probe" 2>"$work/complaints" &
server=$!
port=$(listening_port "$server") || fail "the server did not start: $(cat "$work/complaints")"
echo "edo echo server (examples/echo.c, a fiber a connection) at 127.0.0.1:$port"

head -c 1000000 /dev/urandom >"$work/sent"
foreign_client "$port" <"$work/sent" >"$work/received" || fail 'the foreign client failed'
cmp -s "$work/sent" "$work/received" || fail 'what came back is not what was sent'
echo "$(cat "$work/client"): 1,000,000 bytes there and back, the same"

echo "opening $connections connections from a second process, then $seconds s of traffic ..."
"$build/bench/echo/echoload" "127.0.0.1:$port" connections="$connections" seconds="$seconds" \
	server="$server" probe=1 format=lines >"$work/load" || {
	cat "$work/load" >&2
	fail 'the load generator found an error'
}

# The server answers its second probe before the load generator's connections are gone, or soon after.
tries=0
while [ "$(grep -c '^timers' "$work/probe")" -lt 2 ] && [ "$tries" -lt 200 ]; do
	tries=$((tries + 1))
	sleep 0.02
done
kill -0 "$server" 2>/dev/null || fail "the server ended: $(cat "$work/complaints")"

awk -v asked="$connections" '
function thousands(n,   text, out) {
	text = sprintf("%d", n)
	while (length(text) > 3) {
		out = "," substr(text, length(text) - 2) out
		text = substr(text, 1, length(text) - 3)
	}
	return text out
}
function row(name, value, note) {
	printf "  %-24s %12s%s\n", name, value, note == "" ? "" : "  " note
}
FILENAME ~ /probe$/ && $1 == "timers" {
	probes++
	timers[probes] = $2
	resets[probes] = $4
	next
}
$1 == "fewer" {
	sub(/^fewer /, "")
	fewer = "of " thousands(asked) " asked for: " $0
	next
}
{ load[$1] = $2 }
END {
	if (probes < 2 || !load["requests"]) {
		print "demo: no figures" > "/dev/stderr"
		exit 1
	}
	print ""
	row("connections", thousands(load["connections"]), fewer)
	row("round trips a second", thousands(load["req_per_s"]), "64 bytes each, every byte verified")
	row("timers live", thousands(timers[2]), "30 s idle limits in the wheel")
	row("time-out resets a second", thousands((resets[2] - resets[1]) / load["seconds"]), "")
	row("latency p50", sprintf("%.1f ms", load["p50_us"] / 1000), "with all connections busy")
	row("latency p99", sprintf("%.1f ms", load["p99_us"] / 1000), "")
	row("bytes a connection", thousands(load["server_bytes_per_connection"]), \
		"resident, with its stack")
	row("server CPU a round trip", sprintf("%.1f us", load["server_cpu_ns_per_op"] / 1000), "")
	row("errors", load["errors"] + load["mismatches"], "")
	exit load["errors"] + load["mismatches"] > 0
}' "$work/probe" "$work/load"
