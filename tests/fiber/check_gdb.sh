#!/bin/sh
# gdb in batch mode on a program that hangs in several ways: its tasks, and the backtraces of its fibers, suspended
# and not begun. Skipped where gdb cannot run programs.
#
# usage: check_gdb.sh EDO.PY PROGRAM
set -u
script=$1
program=$2

command -v gdb >/dev/null || { echo 'no gdb here'; exit 77; }
gdb -batch -ex run --args true 2>&1 | grep -q 'exited normally' || { echo 'gdb cannot run programs here'; exit 77; }

said=$(gdb -batch -ex 'break edo_dump' -ex run -ex "source $script" -ex 'edo tasks' \
	-ex 'edo fiber 2 bt' -ex 'edo fiber 5 bt' -ex 'edo fiber 3' -ex bt -ex 'edo thread' -ex 'bt 1' \
	-ex 'edo fiber 0' -ex 'edo fiber 1' -ex 'edo fiber 77' -ex 'edo nonsense' \
	--args "$program" a_line_says 2>&1)

failed=0
expect()
{
	printf '%s\n' "$said" | grep -qE "$1" && return
	echo "check_gdb: nothing like: $1"
	failed=1
}

expect '^runtime "edo" at 0x[0-9a-f]+: 6 tasks$'
expect '^ +0  0x[0-9a-f]+  fiber: running, runs has_neighbours$'
expect '^ +1  0x[0-9a-f]+  struct stackless: waiting for struct gate$'
expect '^ +2  0x[0-9a-f]+  fiber: ready for edo_timer, cancelled, runs sleeps_under_a_deadline$'
expect '^ +3  0x[0-9a-f]+  fiber: waiting for edo_timeout_future of \(struct gate\), runs waits_with_a_limit$'
expect '^#[0-9]+ +edo_shield at .*deadline\.c:[0-9]+$'
expect '^#[0-9]+ +edo_switch_trampoline at .*switch_'
expect '^it has not begun$'
expect '^#[0-9]+ .*edo_timeout \(.*\) at .*timeout\.c'
expect 'that fiber is running'
expect 'that task is no fiber'
expect 'no task 77: there are 6'
expect 'edo tasks \| edo fiber N'
[ $failed -eq 0 ] || printf '%s\n' "$said"
exit $failed
