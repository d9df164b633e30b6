# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # the tests use some variables
#
# Functions of the tests that compare the results of the kernel's ftrace self-tests on two
# kernels, test by test. A test sources lib.sh and this file, and defines
#
#   suite RESULTS TEST-OR-DIRECTORY...
#	runs tests on the kernel to be tested, and writes their results to RESULTS.txt. Fails
#	only if the guest fails.
#   CHANGED
#	array: the tests that have another result there. The key is the name of the test, the
#	value is its result and the reason.

# run_suite RESULTS TEST-OR-DIRECTORY...: runs tests on the selected kernel, see suite
run_suite()
{
	local results=$1 start=$SECONDS status=0
	shift
	RESULTS=$results TIMEOUT=${TIMEOUT:-7200} "$KIT/kselftest" "$@" >&2 || status=$?
	cat "$results.log" >&2
	if (( status > 1 )); then
		echo "the suite: status $status"
		return 1
	fi
	echo "$(wc -l < "$results.txt") results in $(( SECONDS - start )) s"
}

# The parts about function tracing
FUNCTION_TRACING=(direct ftrace instances kprobe tracer preemptirq)
OTHERS=(00basic dynevent event filter selftest trigger)
# Crashes Linux 6.12: trace_fprobe.c unregisters the fprobe of a tracepoint twice if the
# module of the tracepoint is unloaded in between. The next test hangs then.
FATAL=dynevent/add_remove_tprobe_module.tc

# other_tests: the other tests of the selected kernel's tree, without mux and FATAL
other_tests()
{
	select_kernel
	(cd "$SRC/tools/testing/selftests/ftrace/test.d" &&
		find "${OTHERS[@]}" -name '*.tc' | grep -vxF "$FATAL" | sort)
}

# stock_suite TEST-OR-DIRECTORY...: prints the results of the stock tree's tests, for
# stock_results
stock_suite()
{
	local -x SUITE_OF=stock
	if [[ $ARCH == riscv ]]; then
		stock_riscv_suite "$@"
	else
		run_suite "$WORK/stock" "$@" >&2
	fi && cat "$WORK/stock.txt"
}

# stock_riscv_suite TEST-OR-DIRECTORY...: for a tracer of all functions, stock riscv interrupts all
# other processors some 15,000 times, which takes a minute. So there are none, but for tests that
# need two.
stock_riscv_suite()
{
	local test unresolved
	SMP=1 run_suite "$WORK/stock" "$@" >&2 || return
	mapfile -t unresolved < <(sed -n 's/^UNRESOLVED //p' "$WORK/stock.txt")
	for test in "${unresolved[@]}"; do
		run_suite "$WORK/two" "$test" >&2 || return
		sed -i "s|^UNRESOLVED $test\$|$(< "$WORK/two.txt")|" "$WORK/stock.txt"
	done
}

# suite_ends RESULTS TEST-OR-DIRECTORY...: the same, and ends the test if the guest fails
suite_ends()
{
	if ! suite "$@"; then
		not_ok 'the suite ends'
		done_testing
	fi
}

# compare RESULTS RESULTS: prints "NAME RESULT RESULT" for each test
compare()
{
	LC_ALL=C join -j 2 -a 1 -a 2 -e MISSING -o 0,1.1,2.1 -t $'\t' \
		<(sed 's/ /\t/' "$1" | LC_ALL=C sort -t $'\t' -k 2) \
		<(sed 's/ /\t/' "$2" | LC_ALL=C sort -t $'\t' -k 2)
}

# the_same NAME EXPECTED GOT [AGAIN]: ok if the results are equal, or differ as CHANGED says
the_same()
{
	local change=${CHANGED[$1]:-}
	if [[ -n $change && $2 != "$3" && $3 == "${change%% *}" ]]; then
		ok "$1: $3, expected: ${change#* }"
	elif [[ -n $change ]]; then
		not_ok "$1: $3, and $2 on the stock kernel; expected ${change%% *}: ${change#* }"
	elif [[ $2 == "$3" ]]; then
		ok "$1: $2${4:-}"
	else
		not_ok "$1: $3, and $2 on the stock kernel${4:-}"
	fi
}

# compare_suites EXPECTED RESULTS: compares the results, and reports each test. Some tests
# depend on timing on all kernels. If a result differs, this runs the test three more times:
# then these three results must be the expected one.
compare_suites()
{
	local name expected got again=() n
	compare "$1" "$2" > "$WORK/compared"
	while IFS=$'\t' read -r name expected got; do
		if [[ $expected != "$got" && -z ${CHANGED[$name]:-} ]]; then
			again+=("${name% (instance)}")
		fi
	done < "$WORK/compared"
	: > "$WORK/repeated"
	if (( ${#again[@]} )); then
		mapfile -t again < <(printf '%s\n' "${again[@]}" | sort -u)
		echo "run again, since the results differ: ${again[*]}"
		for n in 1 2 3; do
			suite_ends "$WORK/again.$n" "${again[@]}"
			compare <(grep -F "${again[@]/#/-e}" "$1") "$WORK/again.$n.txt" >> "$WORK/repeated"
		done
	fi

	while IFS=$'\t' read -r name expected got; do
		if grep -q "^$name"$'\t' "$WORK/repeated"; then
			while IFS=$'\t' read -r expected got; do
				the_same "$name" "$expected" "$got" ' (run again)'
			done < <(awk -F '\t' -v n="$name" '$1 == n { print $2 "\t" $3 }' "$WORK/repeated")
		else
			the_same "$name" "$expected" "$got"
		fi
	done < "$WORK/compared"

	# A test that is not there has no result that differs
	for name in "${!CHANGED[@]}"; do
		grep -q "^$name"$'\t' "$WORK/compared" || not_ok "$name: listed, but there is no such test"
	done
}
