# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For scripts in the guest whose kernel has fault injection: makes each allocation of a
# command fail, one after the other.

# The script defines try and tried, and may define begin and undo.
begin() { :; }
undo() { :; }

# allow_failures: lets fault injection make allocations that may sleep fail, too, without a
# message. Nothing fails yet: fail-nth or probability selects what does.
allow_failures()
{
	local attr
	for attr in failslab fail_page_alloc; do
		echo N > "/sys/kernel/debug/$attr/ignore-gfp-wait"
		echo 0 > "/sys/kernel/debug/$attr/verbose"
		echo -1 > "/sys/kernel/debug/$attr/times"
	done
}

# without_memory WHAT: calls begin, try, "tried STATUS" and undo in turn. The first allocation
# of try fails, next time the second, and so on, until try makes no more allocations. tried gets
# 0 or 1, the status of try, and returns whether all is as it should be. The script exits if it is
# not, if begin or undo fails, or if try fails although no allocation does. None of the four may
# use file descriptor 5. All see n, the number of the allocation. Prints "WHAT: REFUSED of
# FAILED": how often try failed, and how often an allocation did.
without_memory()
{
	local n=0 refused=0 unused=0 status
	until (( unused )); do
		n=$(( n + 1 ))
		begin || die "$1: begin fails before allocation $n"
		status=0
		# Opened before: the allocations of an open would count, too
		exec 5<> /proc/self/fail-nth
		echo $n >&5
		try || status=1
		read -r unused <&5
		echo 0 >&5
		exec 5>&-
		refused=$(( refused + status ))
		tried "$status" || die "$1: wrong after allocation $n"
		undo || die "$1: cannot be undone after allocation $n"
	done 2> /dev/null
	(( ! status )) || die "$1: fails although no allocation did"
	echo "$1: $refused of $(( n - 1 ))"
}

die() { echo "$*"; exit 1; }
