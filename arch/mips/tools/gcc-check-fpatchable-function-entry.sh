#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that the compiler can provide the call sites of MIPS ftrace
#
# usage: gcc-check-fpatchable-function-entry.sh OBJDUMP CC [FLAGS...]
#
# FLAGS select the ABI.  Succeeds if -fpatchable-function-entry=3 places three
# NOPs at the very start of a function, behind its symbol, and records that
# address in __patchable_function_entries.  GCC before the fix of its PR 99217
# places them in front of the symbol, where no caller executes them, see
# patchable-as.sh.
#
# An object file is examined, not assembly, so that an assembler wrapper is
# part of what is tested.  Each function has a section of its own: whatever is
# right has the offset 0 there.

set -e

objdump=$1
shift

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat > "$tmp/t.c" <<-EOF
	int other(int a);
	int global_func(int a) { return other(a) + 1; }
	static __attribute__((noinline, noclone)) int static_func(int a)
	{
		return other(a) * a;
	}
	int last_func(int a) { return static_func(a) + 2; }
EOF

"$@" -O2 -fno-pic -mno-abicalls -ffunction-sections \
	-fpatchable-function-entry=3 -c "$tmp/t.c" -o "$tmp/t.o" 2>/dev/null

for func in global_func static_func last_func; do
	# The symbol is the start of its section and three NOPs follow.
	"$objdump" -dz --no-show-raw-insn -j ".text.$func" "$tmp/t.o" |
	awk -v name="<$func>:" '
		/^0+ </ { seen = ($2 == name) }
		seen && /^ +[048]:[ \t]+nop/ { nops++ }
		END { exit nops != 3 }'

	# One entry refers to that start: "TYPE SYMBOL" without an offset.
	"$objdump" -r -j __patchable_function_entries "$tmp/t.o" |
	awk -v name="$func" '
		$2 ~ /^R_MIPS/ &&
		($3 == ".text." name || $3 == name) { entries++ }
		END { exit entries != 1 }'
done

# Where a relocation's addend lies in the section, it has to be zero as well.
"$objdump" -s -j __patchable_function_entries "$tmp/t.o" |
	awk '/^ [0-9a-f]+ / {
		sub(/  .*/, "")
		for (i = 2; i <= NF; i++)
			if ($i ~ /[^0]/)
				bad = 1
		words += NF - 1
	}
	END { exit bad || !words }'
