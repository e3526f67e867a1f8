#!/bin/sh
# Ranks two echo servers by what a request costs the server: CPU ns a request, median ratio over pairs of
# runs that alternate, so that a drift of the machine hits both. Server on core 0, load on core 1.
#
# usage: bench/echo_pairs.sh BUILD SERVER PEER [PAIRS=10] [CONNECTIONS=64] [IDLE=30] [SECONDS=2]
#        bench/echo_pairs.sh build edo_fiber epoll
#
# Prints a line a pair, and a line of JSON with the medians at the end.
set -eu

here=$(dirname "$0")
# shellcheck source=bench/echo/port.sh
. "$here/echo/port.sh"

build=${1:?usage: echo_pairs.sh BUILD SERVER PEER [PAIRS] [CONNECTIONS] [IDLE] [SECONDS]}
ours=$2
peer=$3
pairs=${4:-10}
connections=${5:-64}
idle=${6:-30}
seconds=${7:-2}
bin=$build/bench/echo

server=''
stop()
{
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	[ -z "$server" ] || wait "$server" 2>/dev/null || true
	server=''
}
results=$(mktemp)
trap 'stop; rm -f "$results"' EXIT
trap 'exit 1' INT TERM

pin()
{
	core=$1
	shift
	if [ "$(nproc)" -gt 1 ]; then
		exec taskset -c "$core" "$@"
	fi
	exec "$@"
}

# cost NAME: sets `cost` to CPU ns a request of one run.
cost()
{
	# shellcheck disable=SC3045 # dash and bash both have it
	(ulimit -n "$(ulimit -Hn)"; pin 0 "$bin/echo-server-$1" 127.0.0.1:0 "$idle") &
	server=$!
	port=$(listening_port "$server")
	line=$(pin 1 "$bin/echoload" "127.0.0.1:$port" connections="$connections" \
		seconds="$seconds" server="$server" impl="$1" format=lines)
	stop
	cost=$(echo "$line" | sed -n 's/^server_cpu_ns_per_op //p')
}

pair=0
while [ "$pair" -lt "$pairs" ]; do
	# The first of a pair changes, so that neither always runs on the warmer machine.
	if [ $((pair % 2)) -eq 0 ]; then
		cost "$ours"
		a=$cost
		cost "$peer"
		b=$cost
	else
		cost "$peer"
		b=$cost
		cost "$ours"
		a=$cost
	fi
	pair=$((pair + 1))
	echo "$a $b" >>"$results"
	awk -v pair="$pair" -v ours="$ours" -v peer="$peer" -v a="$a" -v b="$b" \
		'BEGIN { printf "pair %d: %s %d ns, %s %d ns, ratio %.3f\n", pair, ours, a, peer, b, a / b }'
done

# median FIELD-EXPRESSION
median()
{
	awk "{ print $1 }" "$results" | sort -n |
		awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}
# shellcheck disable=SC2016 # awk's fields
awk -v ours="$ours" -v peer="$peer" -v connections="$connections" -v idle="$idle" -v pairs="$pairs" \
	-v a="$(median '$1')" -v b="$(median '$2')" -v ratio="$(median '$1 / $2')" 'BEGIN {
	printf "{\"workload\":\"echo_pairs\",\"impl\":\"%s\",\"peer\":\"%s\",\"params\":" \
		"{\"connections\":%d,\"idle_s\":%d,\"pairs\":%d},\"cpu_ns_per_op\":%.0f," \
		"\"peer_cpu_ns_per_op\":%.0f,\"median_ratio\":%.3f}\n",
		ours, peer, connections, idle, pairs, a, b, ratio
}'
