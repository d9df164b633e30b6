# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # some variables are for those who source it
#
# What the kit's scripts share: where things are, which kernel is meant, and
# how steps report. Source it first; it sets the shell's error handling.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
KIT=$TOP/tools/kit
BUILD=$TOP/build
LOGS=$BUILD/log
export LC_ALL=C TZ=UTC
# The variables of our own make are not for the kernel's.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

say() { printf '%s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# on NAME: is the switch NAME (an environment variable) on?
on() { [[ -n ${!1:-} && ${!1} != 0 ]]; }

# on_tree: is it the kernel of KERNEL_TREE=? (STOCK=1 goes before it, so that a
# test can compare the two)
on_tree() { [[ -n ${KERNEL_TREE:-} ]] && ! on STOCK; }

# What ARCH and BITS (and R6) name: this machine's kind, or MIPS
#   MACHINE      its name in file names, empty for x86_64
#   KERNEL_ARCH  what the kernel's make calls it
#   CROSS        prefix of its compiler
#   QEMU_SYSTEM  its emulator
#   DEBIAN_ARCH  what Debian calls its programs, empty for those of this machine
#   ROOTFS       the guest's root file system
case ${ARCH:-x86_64} in
x86|x86_64)
	MACHINE='' KERNEL_ARCH=x86_64 CROSS='' QEMU_SYSTEM=qemu-system-x86_64 DEBIAN_ARCH=''
	;;
mips)
	MACHINE=mips${BITS:-32}
	KERNEL_ARCH=mips
	case ${BITS:-32} in
	32) DEBIAN_ARCH=mipsel CROSS=mipsel-linux-gnu- ;;
	64) DEBIAN_ARCH=mips64el CROSS=mips64el-linux-gnuabi64- ;;
	*) die "BITS=$BITS is neither 32 nor 64" ;;
	esac
	QEMU_SYSTEM=qemu-system-$DEBIAN_ARCH
	if on R6; then MACHINE+=r6; fi
	;;
*)
	die "ARCH=$ARCH is neither x86_64 nor mips"
	;;
esac
ROOTFS=$BUILD/rootfs${DEBIAN_ARCH:+-$DEBIAN_ARCH}

# select_kernel: which kernel do STOCK, DEBUG and KERNEL_TREE name?
#   FLAVOUR  its name in messages and file names
#   SRC OBJ  source tree and object directory
select_kernel()
{
	local tree=patched
	if on STOCK; then tree=stock; fi
	SRC=$BUILD/$tree/src
	if on_tree; then
		tree=dev
		SRC=$(realpath -e "$KERNEL_TREE") || die "KERNEL_TREE=$KERNEL_TREE: no such directory"
		[[ -f $SRC/Kbuild ]] || die "KERNEL_TREE=$KERNEL_TREE is no kernel tree"
	fi
	FLAVOUR=$tree${MACHINE:+-$MACHINE}
	OBJ=$BUILD/$tree/kernel${MACHINE:+-$MACHINE}
	if on DEBUG; then
		FLAVOUR=$tree-debug
		OBJ=$OBJ-debug
	fi
	mkdir -p "$OBJ" "$LOGS"
}

# base_version TREE: the version of a kernel tree, as 6.12.117
base_version()
{
	sed -nE 's/^(VERSION|PATCHLEVEL|SUBLEVEL) *= *//p' "$1/Makefile" |
		head -n 3 | paste -sd .
}

# lock NAME: one process at a time until this script ends
lock()
{
	exec 9>"$BUILD/.lock-$1"
	if flock -n 9; then return; fi
	say "waiting for another run to finish with build/$1"
	flock 9
}

# logged WHAT LOG COMMAND...: runs a long step with its output in LOG, shows
# that it is alive, and on failure the cause and the log's path. The file KIT_STEPS, if
# it is set, gets its seconds.
logged()
{
	local what=$1 log=$2 ticker rc=0 start=$SECONDS
	shift 2
	mkdir -p "${log%/*}"
	say "$what ..."
	: > "$log"
	ticker "$what" "$log" &
	ticker=$!
	set +e
	(set -e; "$@") > "$log" 2>&1 9>&- < /dev/null
	rc=$?
	set -e
	kill "$ticker" 2> /dev/null || :
	wait "$ticker" 2> /dev/null || :
	if (( rc )); then
		cause "$log"
		die "$what failed (status $rc); full log: $log"
	fi
	say "$what: done in $(( SECONDS - start )) s"
	if [[ -n ${KIT_STEPS:-} ]] && (( SECONDS - start >= 5 )); then
		echo "$what $(( SECONDS - start ))" >> "$KIT_STEPS"
	fi
}

ticker()
{
	local start=$SECONDS
	exec 9>&- > /dev/null < /dev/null
	# It must not outlive a script that is killed
	while sleep 20 2> /dev/null && kill -0 $$ 2> /dev/null; do
		say "$1: $(( SECONDS - start )) s, $(wc -l < "$2") lines of log;" \
			"at $(tail -n 1 "$2" | tr -s '[:space:]' ' ' | cut -c 1-60)"
	done
}

# cause LOG: the lines that say why, or the last ones
cause()
{
	grep -nE -B 2 -A 6 '(\berror:|\*\*\* |undefined reference|No rule to make|multiple definition)' \
		"$1" | head -n 30 >&2 || tail -n 15 "$1" >&2
}

# patchable_option: what gcc needs for MIPS to put the NOPs of patchable functions
# where they are executed. It has a name of its own for each version of the script
# behind it, so that ccache does not take one for the other.
patchable_option()
{
	local tools=$SRC/arch/mips/tools dir
	# The stock kernel has no use for it, and a gcc without the fault neither
	[[ $KERNEL_ARCH == mips && -f $tools/patchable-as.sh ]] || return 0
	if "$tools/gcc-check-fpatchable-function-entry.sh" "${CROSS}objdump" "${CROSS}gcc"; then
		return
	fi
	dir=$BUILD/as/$DEBIAN_ARCH-$(sha256sum < "$tools/patchable-as.sh" | cut -c 1-12)
	[[ -x $dir/as ]] || "$tools/patchable-as.sh" setup "$dir" "${CROSS}gcc"
	echo " -B$dir"
}

# kernel_make ARGUMENT...: make in the selected kernel's object directory. The
# build must not depend on where the checkout is, nor on our own make's
# variables. With ccache, a file that is the same in two trees is compiled once:
# paths are relative, and relative to equal places (build/*/kernel*, ../src).
kernel_make()
{
	local cc=${CC:-${CROSS}gcc$(patchable_option)} args=()
	if command -v ccache > /dev/null; then
		cc="ccache $cc"
		args+=(HOSTCC="ccache gcc" KCPPFLAGS="-fmacro-prefix-map=../src/=")
	fi
	env -i PATH="$PATH" HOME="${HOME:-/root}" TERM="${TERM:-dumb}" LC_ALL=C TZ=UTC \
		${CCACHE_DIR:+CCACHE_DIR="$CCACHE_DIR"} \
		CCACHE_BASEDIR="$BUILD" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 \
		KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' \
		KBUILD_BUILD_USER=kit KBUILD_BUILD_HOST=kit \
		make -j"$(nproc)" -C "$SRC" O="$OBJ" ARCH=$KERNEL_ARCH \
		${CROSS:+CROSS_COMPILE=$CROSS} CC="$cc" "${args[@]}" "$@"
}
