#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# GTSC under random load: channels of random sizes and modes, written to from tasks, timers
# and NMIs on all CPUs, with random readers, while they are rewound, resized, stopped,
# started, and CPUs come and go. At the end of each round the accounts have to close.
#
# usage: stress.sh [SECONDS [SEED]] (default: 20 seconds)

SECS=${1:-20}
SEED=${2:-$RANDOM}
HERE=$(dirname "$(readlink -f "$0")")
CHECK=${CHECK:-$HERE/gtsc_check}
LOAD=/sys/module/gtsc_load/parameters
DIR=/sys/kernel/debug/gtsc_selftest/s
TMP=$(mktemp -d)
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$HERE/lib.sh"

load() { echo "$*" > $LOAD/do; }
stat() { sed -n "s/^$1 //p" $DIR/stats; }

# random FROM TO: sets R
random() { R=$(( $1 + (RANDOM * 32768 + RANDOM) % ($2 - $1 + 1) )); }

# one_of WORD...: sets R
one_of() { local i=$(( RANDOM % $# + 1 )); R=${!i}; }

# start_readers: as many as there are files, or one less, or two for a file
start_readers()
{
	local f n options
	readers=()
	for f in "$DIR/$file"*; do
		one_of 0 1 1 1 2
		for (( n = R; n; n-- )); do
			options=(-f -w 200)
			if (( flags & 2 )); then options+=(-R); fi
			case $file in
			buffer) one_of -H -M; options+=("$R") ;;
			*) if (( flags & 4 )); then options+=(-H); fi ;;
			esac
			one_of '' '' -S
			if [[ $R && ${options[*]} != *-M* ]]; then options+=(-S); fi
			one_of 0 0 2000 20000
			options+=(-p "$R")
			# A discard takes the rest of a record from who has a part of it
			one_of 70000 $((bytes < 4900 ? 5000 : 70000)) 700000
			options+=(-b "$R")
			"$CHECK" "${options[@]}" "$f" > /dev/null 2>> "$TMP/errors" &
			readers+=($!)
		done
	done
}

# Something that a user may do meanwhile. What is refused is refused.
act()
{
	one_of rewind stop start stopstart discard resize watermark stats cpu kill none
	case $R in
	rewind) put 1 $DIR/rewind ;;
	stop) put stopped $DIR/state ;;
	start) put running $DIR/state ;;
	stopstart) put stopped $DIR/state && put running $DIR/state ;;
	discard)
		random 2 20
		put stopped $DIR/state
		put "$((4096 << RANDOM % 5)) $R discard" $DIR/size
		put running $DIR/state
		;;
	resize) random 2 20; put "$R" $DIR/nr_sub ;;
	watermark) random 0 3; put "$R" $DIR/watermark ;;
	stats) cat $DIR/stats $DIR/dropped $DIR/size ;;
	cpu) one_of 0 1; put "$R" /sys/devices/system/cpu/cpu1/online ;;
	kill)
		if (( ${#readers[@]} )); then
			kill -9 "${readers[RANDOM % ${#readers[@]}]}"
		fi
		;;
	esac > /dev/null 2>&1
	actions=$((actions + 1))
}

# Reads what is left, which a killed reader may have had a part of
read_rest()
{
	local options=(-R)
	if (( flags & 4 )); then options+=(-H); fi
	"$CHECK" "${options[@]}" $DIR/trace* > /dev/null 2>> "$TMP/errors"
}

round()
{
	local i size subs who bytes end written w o r u
	flags=0
	for i in 1 2 4; do if (( RANDOM % 2 )); then flags=$((flags | i)); fi; done
	one_of trace buffer && file=$R
	if (( flags & 1 )); then file=trace; fi
	one_of 4096 4096 8192 16384 65536 && size=$R
	random 2 24 && subs=$R
	random 1 7 && who=$R
	random 24 $((size - 48 < 65536 ? size - 48 : 65536)) && bytes=$R
	echo "# round $rounds: $size x $subs, flags $flags, who $who, up to $bytes bytes, ${file}s"
	load setup 0 gtsc_selftest s "$size" "$subs" $flags || return
	load start 0
	start_readers
	load hammer 0 "$who" "$bytes"
	random 5 25
	for (( end = R; end; end-- )); do
		act
		sleep 0.1
	done
	put 1 /sys/devices/system/cpu/cpu1/online 2> /dev/null
	load rest 0
	put stopped $DIR/state 2> /dev/null
	for i in "${readers[@]}"; do kill "$i" 2> /dev/null; done
	for i in "${readers[@]}"; do
		wait "$i"
		# 1: a record was wrong
		if [[ $? == 1 ]]; then wrong=$((wrong + 1)); fi
	done
	read_rest || wrong=$((wrong + 1))
	read -r _ _ written < <(grep '^0 ' $LOAD/counts)
	w=$(stat written) o=$(stat overwritten) r=$(stat read) u=$(stat unread)
	all=$((all + written))
	if [[ "$w $((r + o)) $u" != "$written $w 0" ]]; then
		echo "# written $written, $w; read $r, overwritten $o, unread $u"
		open_accounts=$((open_accounts + 1))
	fi
	load cleanup 0
}

if ! modprobe gtsc_load 2> /dev/null; then
	echo "1..0 # SKIP no gtsc_load.ko"
	exit "$KSFT_SKIP"
fi
RANDOM=$SEED
rounds=0 actions=0 wrong=0 open_accounts=0 all=0
: > "$TMP/errors"
until (( SECONDS > SECS )); do
	rounds=$((rounds + 1))
	round
done
echo "# seed $SEED: $rounds rounds, $actions actions, $all records"
head -n 20 "$TMP/errors" | sed 's/^/# /'
is 'stress: no record is wrong' 0 $wrong
is 'stress: the accounts close' 0 $open_accounts
holds 'stress: records were written' "$all > 0"
rmmod gtsc_load
echo "1..$nr"
rm -r "$TMP"
exit "$failed"
