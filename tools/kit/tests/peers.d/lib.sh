# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # some variables are for those who source it
#
# What the scripts of peers.d share. They run in the guest, on either kernel, and
# print a line "RESULT GROUP: TEST" for each test on standard output; what the tests
# say goes to standard error. Arguments are the groups to run, none for all.

T=/sys/kernel/tracing
export PATH=$PATH:/kit/files/programs/bin LD_LIBRARY_PATH=/kit/files/programs/lib

result() { echo "$*"; }

# wait_until SECONDS COMMAND...
wait_until()
{
	local end=$(( SECONDS + $1 ))
	shift
	until "$@"; do
		(( SECONDS < end )) || return 1
		sleep 0.1
	done
}

# wanted GROUP: is it one of $ONLY, or are all wanted?
ONLY=("$@")
wanted()
{
	local g
	(( ${#ONLY[@]} )) || return 0
	for g in "${ONLY[@]}"; do
		if [[ $g == "$1" ]]; then return 0; fi
	done
	return 1
}

# quiet: no instance, no tracer, no event, no filter
quiet()
{
	local i
	for i in "$T"/instances/*; do
		[[ -d $i ]] || continue
		echo nop > "$i/current_tracer"
		echo 0 > "$i/events/enable"
		rmdir "$i"
	done
	echo nop > $T/current_tracer
	echo 0 > $T/function_profile_enabled
	echo 0 > $T/events/enable
	echo > $T/set_ftrace_filter
	echo > $T/set_ftrace_notrace
	echo > $T/set_ftrace_pid
	echo > $T/set_ftrace_notrace_pid
	echo > $T/set_event_pid
	echo 0 > $T/options/event-fork
	echo 0 > $T/options/function-fork
	echo > $T/kprobe_events
	echo > $T/dynamic_events
	echo 1 > /proc/sys/kernel/ftrace_enabled
	echo 1 > $T/tracing_on
	echo > $T/trace
} 2> /dev/null

# traces_ten GROUP: a function tracer still sees ten of ten calls, and no others
traces_ten()
{
	local i calls line
	quiet
	mkdir $T/instances/ten
	echo cmdline_proc_show > $T/instances/ten/set_ftrace_filter
	echo function > $T/instances/ten/current_tracer
	for i in {1..10}; do read -r line < /proc/cmdline; done
	calls=$(grep -c ' cmdline_proc_show <-' $T/instances/ten/trace)
	if (( calls == 10 )) && [[ $(grep -c '<-' $T/instances/ten/trace) == 10 ]]; then
		result PASS "$1: ten calls are traced after it"
	else
		echo "$1: $calls of ten calls are traced" >&2
		result FAIL "$1: ten calls are traced after it"
	fi
	quiet
}
