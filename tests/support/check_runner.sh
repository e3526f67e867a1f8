#!/bin/sh
# Runs the tests of runner_probe that must fail, and looks whether the runner caught each. Meson says in
# MESON_EXE_WRAPPER what runs another machine's programs.
set -eu
probe=$1
sanitize=$2
status=0

# expect EXIT TEXT TEST: the test ends with EXIT (0, 124 or "failure") and says TEXT.
expect()
{
	code=0
	# shellcheck disable=SC2086 # the wrapper is words
	said=$(${MESON_EXE_WRAPPER-} "$probe" "$3" 2>&1 </dev/null) || code=$?
	case $1 in
	failure) [ "$code" != 0 ] && [ "$code" != 124 ] || code=wrong ;;
	*) [ "$code" = "$1" ] || code=wrong ;;
	esac
	case $said in
	*"$2"*) ;;
	*) code=wrong ;;
	esac
	[ "$code" = wrong ] || return 0
	printf 'not as expected: %s\n%s\n' "$3" "$said"
	status=1
}

case $sanitize in
none) expect failure 'leaked 24 bytes' leaks_an_allocation ;;
*address*) expect failure LeakSanitizer leaks_an_allocation ;;
esac
expect failure 'leaked descriptor' leaks_a_descriptor
expect failure "closed another's" closes_the_descriptor_of_another
expect failure 'left 1 threads' leaves_a_thread
expect failure '[  FAILED  ]' fails_and_leaks
expect 0 '[  PASSED  ]' is_clean_with_a_setup
expect 0 '[  PASSED  ]' lets_the_chosen_allocation_fail
expect failure 'no test has such a name' nonsense
# ThreadSanitizer holds back the signal, and the kernel has to end the test.
case $sanitize in
*thread*) EDO_TEST_SECONDS=1 EDO_TEST_SLOWDOWN=1 expect 137 '[ RUN      ] hangs' hangs ;;
*) EDO_TEST_SECONDS=1 EDO_TEST_SLOWDOWN=1 expect 124 'hangs: past its time limit' hangs ;;
esac
exit $status
