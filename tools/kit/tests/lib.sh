# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # tests use some variables
#
# Functions of the tests. A test sources this file, and reports with ok, not_ok, skip, check
# and equal. It ends with done_testing, which exits with 1 after a not_ok.

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

# script_output COMMAND...: sets OUT to the output and RC to the exit status of COMMAND
script_output()
{
	RC=0
	OUT=$("$@") || RC=$?
}

# left_out NAME [WHAT]: says that make test leaves out the test NAME, or WHAT of it, and the
# command that runs it
left_out()
{
	local command="make test T=$1"
	if [[ $BASE != "${BASES[0]}" ]]; then command+=" BASE=$BASE"; fi
	echo "skip left out: $command${2:+   # $2}"
}

# takes_long NAME: leaves the test out, unless it is named or all tests run
takes_long()
{
	if on TEST_ALL; then return; fi
	left_out "$1"
	exit 4
}

# check_options NAME: sets CHECK to the options of tools/kit/check. make test leaves ktrace,
# and other architectures out, for which kernels of more configurations are prepared. If the
# test is to run whole, this installs the compilers.
check_options()
{
	local compiler
	CHECK=()
	if ! on TEST_ALL; then
		CHECK=(--no-others)
		left_out "$1" 'W=1 and sparse on ktrace and on other architectures'
		return
	fi
	"$KIT/deps" --all >&2 || :
	for compiler in mipsel-linux-gnu-gcc mips64el-linux-gnuabi64-gcc aarch64-linux-gnu-gcc \
		riscv64-linux-gnu-gcc; do
		if ! command -v $compiler > /dev/null; then
			left_out "$1" "W=1 and sparse on an architecture: there was no $compiler"
			return
		fi
	done
}

# parallel_guests: if QEMU emulates the guests of this test, it has a thread for each processor,
# unless PARALLEL=0, or no such QEMU can be had. This takes little more than half the time of
# the host's processors.
parallel_guests()
{
	if [[ -n ${PARALLEL:-} || ${ACCEL:-$("$KIT/probe-kvm")} == kvm ]]; then return; fi
	if "$KIT/parallel" >&2; then export PARALLEL=1; fi
}

# as_stock COMMAND...: runs COMMAND with the stock kernel selected
as_stock()
{
	local -x STOCK=1 KERNEL_TREE=
	"$@"
}

# stock_id: identifies the stock kernel of a result by its version and its .config (which
# contains the version of the compiler)
stock_id()
{
	"$KIT/prepare"
	"$KIT/configure"
	select_kernel
	echo "Linux $(base_version "$SRC"), .config $(sha256sum < "$OBJ/.config" | cut -c 1-12)"
}

# stock_results NAME COMMAND...: sets STOCK_FILE to a file with the output of COMMAND on the
# stock kernel. If tools/kit/tests/stock/BASE/NAME (with ARCH=arm64: NAME-arm64, and so on) is of the stock
# kernel of this checkout (see stock_id), this uses it, and neither builds the kernel nor runs
# COMMAND. Otherwise, this runs COMMAND with STOCK=1 set, if the test is named, if all tests
# run, or with STOCK=fresh, and else leaves the rest of the test out. The output goes to
# build/BASE/stock-results. If the kernels are the same, the two outputs must be equal. COMMAND
# must return the status of the guest. With VARIANT=, this uses the results of the default
# configuration: a test has the same result in each.
stock_results()
{
	local name=$1${MACHINE:+-$MACHINE} id status=0
	local kept=$KIT/tests/stock/$BASE/$name
	STOCK_FILE=$BUILD/stock-results/$name
	mkdir -p "${STOCK_FILE%/*}"
	if [[ -n $VARIANT && ${STOCK_RESULTS:-} != fresh && -f $kept ]]; then
		sed 1d "$kept" > "$STOCK_FILE"
		return
	fi
	id=$(as_stock stock_id)
	if [[ ${STOCK_RESULTS:-} != fresh && -f $kept && $(head -n 1 "$kept") == "# $id" ]]; then
		echo "stock kernel: its results are those in tools/kit/tests/stock/$BASE/$name ($id)"
		sed 1d "$kept" > "$STOCK_FILE"
		return
	fi
	if [[ ${STOCK_RESULTS:-} != fresh ]] && ! on TEST_ALL; then
		left_out "${KIT_TEST:-${0##*/}}" "no kept results are of this stock kernel, $id"
		if (( FAILED )); then done_testing; fi
		exit 4
	fi
	as_stock "$KIT/build"
	as_stock "${@:2}" > "$STOCK_FILE.new" || status=$?
	equal "stock kernel: $1" 0 "$status"
	if (( status )); then return "$status"; fi
	{ echo "# $id"; cat "$STOCK_FILE.new"; } > "$STOCK_FILE.kept"
	mv "$STOCK_FILE.new" "$STOCK_FILE"
	if [[ -f $kept && $(head -n 1 "$kept") == "# $id" ]]; then
		diff -u "$kept" "$STOCK_FILE.kept" >&2 ||
			not_ok "stock kernel: tools/kit/tests/stock/$BASE/$name has these results"
	else
		echo "stock kernel: to keep its results:" \
			"cp build/$BASE/stock-results/$name.kept tools/kit/tests/stock/$BASE/$name"
	fi
}

# other_test TEST [PREFIX]: runs another test, and reports its results
other_test()
{
	local status=0
	"$KIT/tests/$1" > "$WORK/other" || status=$?
	sed -E "s/^(ok|not ok|skip) /&${2:-}$1: /" "$WORK/other"
	# It exits with 4 if something was left out
	if (( status && status != 4 )); then not_ok "${2:-}$1: status $status"; fi
}

done_testing() { exit "$FAILED"; }
