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

# as_stock COMMAND...: the same of the stock kernel
as_stock()
{
	local -x STOCK=1 KERNEL_TREE=
	"$@"
}

# stock_id: what the results of a stock kernel depend on: its version, its compiler and
# its configuration
stock_id()
{
	"$KIT/prepare"
	"$KIT/configure"
	select_kernel
	echo "Linux $(base_version "$SRC"), .config $(sha256sum < "$OBJ/.config" | cut -c 1-12)"
}

# stock_results NAME COMMAND...: what COMMAND prints on the stock kernel goes to the file
# $STOCK_FILE. tools/kit/tests/stock/NAME has it for one version of the kernel: if that is
# the one we have, neither is the kernel built nor COMMAND run. STOCK=fresh, or another
# version, makes it anew, in build/stock-results; for the same version, the two have to be
# the same. COMMAND finds STOCK=1 set, and is to end with the guest's status.
stock_results()
{
	local kept=$KIT/tests/stock/$1 id status=0
	STOCK_FILE=$BUILD/stock-results/$1
	id=$(as_stock stock_id)
	mkdir -p "${STOCK_FILE%/*}"
	if [[ ${STOCK_RESULTS:-} != fresh && -f $kept && $(head -n 1 "$kept") == "# $id" ]]; then
		echo "stock kernel: its results are those in tools/kit/tests/stock/$1 ($id)"
		sed 1d "$kept" > "$STOCK_FILE"
		return
	fi
	as_stock "$KIT/build"
	as_stock "${@:2}" > "$STOCK_FILE.new" || status=$?
	equal "stock kernel: $1" 0 "$status"
	if (( status )); then return "$status"; fi
	{ echo "# $id"; cat "$STOCK_FILE.new"; } > "$STOCK_FILE.kept"
	mv "$STOCK_FILE.new" "$STOCK_FILE"
	if [[ -f $kept && $(head -n 1 "$kept") == "# $id" ]]; then
		diff -u "$kept" "$STOCK_FILE.kept" >&2 ||
			not_ok "stock kernel: $1 is what tools/kit/tests/stock has"
	else
		echo "stock kernel: to keep its results: cp build/stock-results/$1.kept tools/kit/tests/stock/$1"
	fi
}

done_testing() { exit "$FAILED"; }
