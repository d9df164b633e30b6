# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # some variables are for those who source it
#
# What the guest's parts of the benchmark share. What they measure they print as
# "result KEY VALUE...".

set -euo pipefail
tracing=/sys/kernel/tracing

result() { echo "result $*"; }
die() { echo "$*" >&2; exit 1; }

# switch stock|off|on: the multiplexer's switch, or none on the stock kernel
switch()
{
	local file=/proc/sys/kernel/ftrace_mux
	if [[ $1 == stock ]]; then
		[[ ! -e $file ]] || die "this is no stock kernel"
		return
	fi
	[[ -e $file ]] || die "there is no $file"
	case $1 in
	off) echo 0 > $file ;;
	on) echo 1 > $file ;;
	*) die "stock, off or on, not $1" ;;
	esac
}

# steady: a process has the same addresses each time
steady()
{
	echo 0 > /proc/sys/kernel/randomize_va_space
	cp /kit/files/work /tmp/work
}

# least N COMMAND...: the least of N runs by their first figure (the others have
# a timer interrupt more), with the other figures of that run
least()
{
	local n=$1 i
	shift
	for (( i = 0; i < n; i++ )); do "$@"; done | sort -n | sed -n 1p
}

# functions REGEX N: the first N by name of the kernel's functions (modules' and
# names that stand for several functions left out)
functions()
{
	local list
	list=$(grep -E "^($1)[a-z0-9_]*$" $tracing/available_filter_functions |
		sort | uniq -u | sed -n "1,$2p")
	[[ $(wc -l <<< "$list") == "$2" ]] || die "less than $2 functions $1"
	echo "$list"
}
