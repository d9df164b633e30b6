# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # scripts that source this file use some variables
#
# Shared by the kit's scripts: paths, the choice of the kernel, locks, and messages.
# Source this file first: it sets the shell's error handling.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
KIT=$TOP/tools/kit
SHARED=$TOP/build
export LC_ALL=C TZ=UTC
# Keep the variables of our make from the kernel's make.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

say() { printf '%s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# on NAME: true if the environment variable NAME is set, and is neither empty nor 0
on() { [[ -n ${!1:-} && ${!1} != 0 ]]; }

# on_tree: true if KERNEL_TREE= selects the kernel. STOCK=1 overrides KERNEL_TREE=, so
# that a test can compare the two kernels.
on_tree() { [[ -n ${KERNEL_TREE:-} ]] && ! on STOCK; }

# newer A B: true if the version A is newer than B, both of numbers such as 6.12.117. Starts
# no process: it is called for each patch.
newer()
{
	local a b n
	IFS=. read -ra a <<< "$1"
	IFS=. read -ra b <<< "$2"
	for (( n = 0; n < ${#a[@]} || n < ${#b[@]}; n++ )); do
		if (( ${a[n]:-0} != ${b[n]:-0} )); then
			(( ${a[n]:-0} > ${b[n]:-0} ))
			return
		fi
	done
	return 1
}

# base_version TREE: the version of a kernel tree, such as 6.12.117
base_version()
{
	sed -nE 's/^(VERSION|PATCHLEVEL|SUBLEVEL) *= *//p' "$1/Makefile" |
		head -n 3 | paste -sd .
}

# base_of SOURCE: the base of a tree, a tarball or a package, such as 6.12. Nothing if
# SOURCE is none of them.
base_of()
{
	if [[ -f $1/Makefile ]]; then
		base_version "$1" | cut -d . -f 1,2
	elif [[ ${1##*/} =~ ^linux(-source)?-([0-9]+\.[0-9]+) && -f $1 ]]; then
		echo "${BASH_REMATCH[2]}"
	elif [[ -f $1 ]]; then
		{ tar -xO -f "$1" --no-wildcards-match-slash --wildcards --occurrence=1 '*/Makefile' || :; } |
			sed -nE 's/^(VERSION|PATCHLEVEL) *= *//p' | head -n 2 | paste -sd .
	fi
}

# The bases that the tests run on, the default first
BASES=(6.12 7.3)

# The base is the kernel version that the patches are applied to: BASE=, or that of the
# tree or tarball that KERNEL_TREE= or KERNEL_SRC= name.
#   SHARED  what all bases use
#   BUILD   what is built for this base
if [[ -z ${BASE:-} ]]; then
	BASE=$(base_of "$(if on_tree; then echo "$KERNEL_TREE"; else echo "${KERNEL_SRC:-}"; fi)")
fi
export BASE=${BASE:-${BASES[0]}}
[[ $BASE =~ ^[0-9]+\.[0-9]+$ ]] || die "BASE=$BASE is no version of the kernel such as 6.12"
if on_tree && [[ -f $KERNEL_TREE/Makefile && $(base_of "$KERNEL_TREE") != "$BASE" ]]; then
	die "BASE=$BASE, but KERNEL_TREE=$KERNEL_TREE is Linux $(base_of "$KERNEL_TREE")"
fi
BUILD=$SHARED/$BASE
LOGS=$BUILD/log

# supports_riscv: true if the series has the patches for riscv, which are for 7.0 and newer
supports_riscv() { ! newer 7.0 "$BASE"; }

# The architecture, from ARCH, BITS, R6 and BIG_ENDIAN:
#   MACHINE      its name in file names, empty for x86_64
#   KERNEL_ARCH  its name in the kernel's make
#   CROSS        prefix of its compiler
#   QEMU_SYSTEM  its emulator; for x86_64, QEMU= names another
#   DEBIAN_ARCH  its name in Debian, empty for x86_64
#   ROOTFS       root file system of the guest
case ${ARCH:-x86_64} in
x86|x86_64)
	MACHINE='' KERNEL_ARCH=x86_64 CROSS='' DEBIAN_ARCH=''
	QEMU_SYSTEM=${QEMU:-qemu-system-x86_64}
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
	# Debian has no programs for it: only 64-mips-big-endian boots this kernel
	if on BIG_ENDIAN; then MACHINE+=be QEMU_SYSTEM=${QEMU_SYSTEM%el}; fi
	;;
arm64)
	MACHINE=arm64 KERNEL_ARCH=arm64 CROSS=aarch64-linux-gnu- DEBIAN_ARCH=arm64
	QEMU_SYSTEM='qemu-system-aarch64'
	;;
riscv)
	supports_riscv || die "ARCH=riscv needs Linux 7.0 or newer, not $BASE"
	MACHINE=riscv KERNEL_ARCH=riscv CROSS=riscv64-linux-gnu- DEBIAN_ARCH=riscv64
	QEMU_SYSTEM='qemu-system-riscv64'
	;;
*)
	die "ARCH=$ARCH is none of x86_64, mips, arm64 and riscv"
	;;
esac
ROOTFS=$SHARED/rootfs${DEBIAN_ARCH:+-$DEBIAN_ARCH}

case ${ENGINE:-mcount} in
mcount) ;;
ktrace) [[ -z $MACHINE ]] || die "ENGINE=ktrace is only for x86_64" ;;
*) die "ENGINE=$ENGINE is neither mcount nor ktrace" ;;
esac

# Another configuration: VARIANT=NAME adds config/variant-NAME.config
VARIANT=${VARIANT:-}
[[ -z $VARIANT || -f $KIT/config/variant-$VARIANT.config ]] ||
	die "VARIANT=$VARIANT: there is no tools/kit/config/variant-$VARIANT.config"
[[ -z $VARIANT || -z $MACHINE ]] || die 'VARIANT= is only for x86_64'

# ktrace: true if ENGINE= selects the kernel that traces without -pg. The stock kernel
# does not have this choice.
ktrace() { [[ ${ENGINE:-mcount} == ktrace ]] && ! on STOCK; }

# select_kernel: the kernel that STOCK, DEBUG, ENGINE, NOPADDING, VARIANT and KERNEL_TREE select
#   FLAVOUR  its name in messages and file names
#   SRC OBJ  its source tree and object directory
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
	if ktrace; then
		FLAVOUR=$tree-ktrace
		OBJ=$OBJ-ktrace
		if on NOPADDING; then FLAVOUR+=-nopadding OBJ+=-nopadding; fi
	fi
	if on DEBUG; then
		FLAVOUR+=-debug
		OBJ=$OBJ-debug
	fi
	if [[ -n $VARIANT ]]; then FLAVOUR+=-$VARIANT OBJ+=-$VARIANT; fi
	mkdir -p "$OBJ" "$LOGS"
}

# parallel_qemu: prints the QEMU for PARALLEL=1, which is of version 8.1 or newer: QEMU= if it is
# set; else the installed one, or that in build/qemu. Fails if there is none. Older versions
# with several threads crash when a kernel patches its code.
parallel_qemu()
{
	local qemu candidates=("$QEMU_SYSTEM")
	if [[ -z ${QEMU:-} ]]; then candidates+=("$SHARED/qemu/qemu-system-x86_64"); fi
	for qemu in "${candidates[@]}"; do
		if newer "$("$qemu" --version 2> /dev/null | sed -nE '1s/.*version ([0-9.]+).*/\1/p')" 8.0.99; then
			echo "$qemu"
			return
		fi
	done
	return 1
}

# lock NAME [DIR]: takes the lock NAME of the base, or of DIR, and holds it until the
# script ends
lock()
{
	local file=${2:-$BUILD}/.lock-$1
	exec 9>"$file"
	if flock -n 9; then return; fi
	say "waiting for another run to release the lock $file"
	flock 9
}

# logged WHAT LOG COMMAND...: runs COMMAND with its output in LOG, and reports its
# progress. If COMMAND fails, prints the cause and the path of LOG, and ends the script.
# If KIT_STEPS is set, appends the seconds of the step to that file.
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

# ticker WHAT LOG: prints a line about the growth of LOG every 20 seconds
ticker()
{
	local start=$SECONDS
	exec 9>&- > /dev/null < /dev/null
	# End with the script, also if it is killed.
	while sleep 20 2> /dev/null && kill -0 $$ 2> /dev/null; do
		say "$1: $(( SECONDS - start )) s, $(wc -l < "$2") lines of log;" \
			"at $(tail -n 5 "$2" | sed '/^[[:space:]]*$/d' | tail -n 1 |
				tr -s '[:space:]' ' ' | cut -c 1-60)"
	done
}

# cause LOG: the error messages in LOG, or its last lines if there are none
cause()
{
	grep -nE -B 2 -A 6 '(\berror:|\*\*\* |undefined reference|No rule to make|multiple definition)' \
		"$1" | head -n 30 >&2 || tail -n 15 "$1" >&2
}

# patchable_option: the option that makes gcc for MIPS put the NOPs of patchable
# functions where they are executed. The name of the directory contains a checksum of
# the script, so that ccache does not reuse objects of another version of it.
patchable_option()
{
	local tools=$SRC/arch/mips/tools dir
	# The stock kernel and a gcc without the bug do not need the option.
	[[ $KERNEL_ARCH == mips && -f $tools/patchable-as.sh ]] || return 0
	if "$tools/gcc-check-fpatchable-function-entry.sh" "${CROSS}objdump" "${CROSS}gcc"; then
		return
	fi
	dir=$BUILD/as/$DEBIAN_ARCH-$(sha256sum < "$tools/patchable-as.sh" | cut -c 1-12)
	[[ -x $dir/as ]] || "$tools/patchable-as.sh" setup "$dir" "${CROSS}gcc"
	echo " -B$dir"
}

# kcsan_objects: variables of make by which KCSAN instruments our objects and the ring buffer. The
# Makefiles of kernel/trace exclude them from it, like all tracers. A variable is for all objects
# of this name, so not for core.o: KCSAN's own must not be instrumented. The graph tracer must
# not be, either: it traces the delays of KCSAN. Nor are two files of the stock kernel:
# fprobe_example counts hits on all CPUs in a variable that may miss some, and readers of the fast
# clock of timekeeping.c, which channels use, try again if it has changed meanwhile.
kcsan_objects()
{
	local f
	for f in "$TOP"/kernel/trace/{mux,ktrace,gtsc}/*.c "$TOP"/arch/x86/kernel/ftrace_mux*.c \
		ring_buffer.c graph_filter.c; do
		f=${f##*/}
		[[ $f == core.c ]] || echo "KCSAN_SANITIZE_${f%.c}.o=y"
	done
	echo KCSAN_SANITIZE_fprobe_example.o=n
	echo KCSAN_SANITIZE_timekeeping.o=n
}

# kernel_make ARGUMENT...: runs make in the object directory of the selected kernel. The
# result does not depend on the path of the checkout or on the variables of our make.
# With ccache, a file that is the same in two trees is compiled once: all paths are
# relative, and the layout is the same in all trees (build/*/kernel*, ../src).
kernel_make()
{
	local cc=${CC:-${CROSS}gcc$(patchable_option)} args=()
	if command -v ccache > /dev/null; then
		cc="ccache $cc"
		args+=(HOSTCC="ccache gcc" KCPPFLAGS="-fmacro-prefix-map=../src/=")
	fi
	if [[ $VARIANT == kcsan ]]; then mapfile -t -O "${#args[@]}" args < <(kcsan_objects); fi
	env -i PATH="$PATH" HOME="${HOME:-/root}" TERM="${TERM:-dumb}" LC_ALL=C TZ=UTC \
		${CCACHE_DIR:+CCACHE_DIR="$CCACHE_DIR"} \
		CCACHE_BASEDIR="$BUILD" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 \
		KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' \
		KBUILD_BUILD_USER=kit KBUILD_BUILD_HOST=kit \
		make -j"$(nproc)" -C "$SRC" O="$OBJ" ARCH=$KERNEL_ARCH \
		${CROSS:+CROSS_COMPILE=$CROSS} CC="$cc" "${args[@]}" "$@"
}
