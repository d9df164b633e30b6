# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What a call of a traced function may cost, in instructions: for bench, and for the test
# ftrace-ops-cost.

# Two figures are equal if they differ by at most SAME per mille, plus one, or two above 200:
# the number of timer interrupts may differ.
SAME=2

# same_as N [PER-MILLE]: the highest figure that is equal to N
same_as() { echo $(( $1 + $1 * ${2:-$SAME} / 1000 + 1 + ($1 > 200) )); }

# plain_limit TRACERS: the limit for a function with 2, 4, 8, 16 or 100 tracers, with the
# multiplexer on. On Linux 7.3, a call of the sample takes 43 instructions with one tracer,
# 42 on 6.12. On arm64, it takes 50 on both, on riscv 61. Above 8 tracers, these have a loop.
plain_limit()
{
	local more=0
	case $KERNEL_ARCH:$1 in
	arm64:2) echo 90; return ;;
	arm64:4) echo 108; return ;;
	arm64:8) echo 142; return ;;
	arm64:*) echo $(( 55 + 17 * $1 )); return ;;
	riscv:2) echo 97; return ;;
	riscv:4) echo 125; return ;;
	riscv:8) echo 181; return ;;
	riscv:*) echo $(( 75 + 17 * $1 )); return ;;
	esac
	if newer "$BASE" 6.12; then more=1; fi
	case $1 in
	2) echo $(( 52 + more )) ;;
	4) echo $(( 68 + more )) ;;
	8) echo $(( 101 + more )) ;;
	16) echo 168 ;;
	100) echo 840 ;;
	esac
}
