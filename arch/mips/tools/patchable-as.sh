#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Assembler wrapper for MIPS compilers that misplace patchable function entries
#
# With -fpatchable-function-entry=3, GCC before the fix of its PR 99217 writes
# the NOPs, and the label that __patchable_function_entries refers to, in front
# of the function's symbol, where no call ever executes them:
#
#	$LPFE1:
#		.set	noreorder
#		nop			three times, each within .set
#		.set	reorder
#		.set	nomips16
#		.set	nomicromips
#		.ent	func
#		.type	func, @function
#	func:
#		.frame	$sp,24,$31
#
# The wrapper moves the block from the label to the last NOP behind the line
# that defines the function's symbol, which is where a fixed compiler puts it.
# Only this sequence is altered, and only if nothing between the NOPs and the
# symbol emits code or data; every other line is passed on as it came.  With a
# fixed compiler the sequence doesn't occur and the wrapper changes nothing.
#
# It is not used by the build on its own.  Create a directory for -B once, and
# hand it to the build as part of CC, so that Kconfig's check sees it as well:
#
#	$ arch/mips/tools/patchable-as.sh setup DIR mipsel-linux-gnu-gcc
#	$ make ARCH=mips CROSS_COMPILE=mipsel-linux-gnu- \
#		CC="mipsel-linux-gnu-gcc -B/absolute/path/to/DIR" ...
#
# "setup DIR CC..." writes DIR/as, which calls this script with the compiler's
# own assembler; "as AS ARGS..." is that call.

set -e

usage() {
	echo "usage: $0 setup DIR CC [FLAGS...]" >&2
	exit 1
}

# Write DIR/as for the compiler CC
setup() {
	[ $# -ge 2 ] || usage
	dir=$1
	shift
	self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
	real=$(command -v "$("$@" -print-prog-name=as)") || {
		echo "$0: no assembler found for $*" >&2
		exit 1
	}
	mkdir -p "$dir"
	if [ -e "$dir/as" ] && [ "$(realpath "$real")" = "$(realpath "$dir/as")" ]; then
		echo "$0: $dir/as would call itself" >&2
		exit 1
	fi
	cat > "$dir/as" <<-EOF
		#!/bin/sh
		exec '$self' as '$real' "\$@"
	EOF
	chmod +x "$dir/as"
}

# Filter the assembly source on the standard input
move_nops() {
	LC_ALL=C awk '
	# The held lines turned out not to be the sequence: pass them on as is.
	function flush_held(	i) {
		for (i = 1; i <= held; i++)
			print line[i]
		held = block = 0
		name = ""
	}

	# Label, the NOPs, then whatever stands before the symbol.
	held && !block {
		if ((held % 3 == 1 && $0 == "\t.set\tnoreorder") ||
		    (held % 3 == 2 && $0 == "\tnop") ||
		    (held % 3 == 0 && $0 == "\t.set\treorder")) {
			line[++held] = $0
			next
		}
		if (held > 1 && held % 3 == 1)
			block = held
		else
			flush_held()
	}

	block && name != "" && $0 == name ":" {
		for (i = block + 1; i <= held; i++)
			print line[i]
		print
		held = block
		flush_held()
		next
	}

	block {
		if ($0 ~ /^\t\.ent\t/)
			name = substr($0, 7)
		if ($0 ~ /^\t\.(ent|type|loc|cfi_[a-z_]+)([ \t]|$)/ ||
		    $0 ~ /^\t\.set\t(no)?(mips16|micromips)$/ ||
		    $0 ~ /^[$.]L[A-Z]+[0-9]+( = \.|:)$/) {
			line[++held] = $0
			next
		}
		flush_held()
	}

	/^[$.]LPFE[0-9]+:$/ {
		line[held = 1] = $0
		next
	}

	{ print }

	END { flush_held() }
	'
}

# Run the assembler $1, which reads the last argument or the standard input
assemble() {
	real=$1
	shift

	prev=
	last=
	for arg; do
		case $arg in
		--version | --help)
			exec "$real" "$@"
			;;
		esac
		prev=$last
		last=$arg
	done

	src=-
	if [ "$prev" != "-o" ] && [ "$last" != "-" ] && [ -f "$last" ]; then
		src=$last
		# Nothing to do, or not ours: leave the command line alone.
		grep -q '^[$.]LPFE[0-9]*:$' "$src" || exec "$real" "$@"
	fi

	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM

	if [ "$src" = "-" ]; then
		move_nops > "$tmp/s"
		"$real" "$@" < "$tmp/s"
		return
	fi

	# The file is the last argument: drop it, and feed the copy instead.
	move_nops < "$src" > "$tmp/s"
	n=$#
	while [ "$n" -gt 1 ]; do
		set -- "$@" "$1"
		shift
		n=$((n - 1))
	done
	shift
	"$real" "$@" < "$tmp/s"
}

case ${1-} in
setup)
	shift
	setup "$@"
	;;
as)
	shift
	assemble "$@"
	;;
*)
	usage
	;;
esac
