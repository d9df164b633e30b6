# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # some variables are for the tests
#
# What the tests share. A test sources it, and reports with ok, not_ok, skip
# and check; its status follows from that.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

WORK=$(mktemp -d "${TMPDIR:-/tmp}/kit-test.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
FAILED=0

ok() { echo "ok $*"; }
not_ok() { echo "not ok $*"; FAILED=1; }
skip() { echo "skip $*"; }

# check NAME COMMAND...: ok if the command succeeds
check()
{
	local name=$1
	shift
	if "$@"; then ok "$name"; else not_ok "$name"; fi
}

# equal NAME EXPECTED GOT
equal()
{
	if [[ $2 == "$3" ]]; then
		ok "$1"
	else
		not_ok "$1"
		printf 'expected: %q\ngot:      %q\n' "$2" "$3" >&2
	fi
}

# script_output COMMAND...: what it prints goes to OUT, its exit status to RC
script_output()
{
	RC=0
	OUT=$("$@") || RC=$?
}

# not_in_ci NAME: the test ends in CI, which has to end within its time
not_in_ci()
{
	on CI || return 0
	echo "skip in CI: make test T=$1"
	exit 4
}

done_testing() { exit "$FAILED"; }
