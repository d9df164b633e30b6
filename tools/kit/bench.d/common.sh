# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # scripts that source this file use some variables
#
# Shared by the scripts of the benchmark that run in the guest. They print each result as
# "result KEY VALUE...".

set -euo pipefail
tracing=/sys/kernel/tracing

result() { echo "result $*"; }
die() { echo "$*" >&2; exit 1; }

# switch stock|off|on: sets the switch of the multiplexer; the stock kernel has none
switch()
{
	local file=/proc/sys/kernel/ftrace_mux
	if [[ $1 == stock ]]; then
		[[ ! -e $file ]] || die "this is not the stock kernel: it has $file"
		return
	fi
	[[ -e $file ]] || die "$file does not exist"
	case $1 in
	off) echo 0 > $file ;;
	on) echo 1 > $file ;;
	*) die "$1 is neither stock, off nor on" ;;
	esac
}

# steady: gives processes the same addresses in each run
steady()
{
	echo 0 > /proc/sys/kernel/randomize_va_space
	cp /kit/files/work /tmp/work
}

# least N COMMAND...: runs COMMAND N times, and prints the line with the least first figure
# (a timer interrupt may add to the others)
least()
{
	local n=$1 i
	shift
	for (( i = 0; i < n; i++ )); do "$@"; done | sort -n | sed -n 1p
}

# functions REGEX N: the first N functions of the kernel by name, without functions of
# modules and names that several functions have
functions()
{
	local list
	list=$(grep -E "^($1)[a-z0-9_]*$" $tracing/available_filter_functions |
		sort | uniq -u | sed -n "1,$2p")
	[[ $(wc -l <<< "$list") == "$2" ]] || die "less than $2 functions match $1"
	echo "$list"
}
