#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The samples of GTSC, read as a user would: with cat, and with the gtsc command.

HERE=$(dirname "$(readlink -f "$0")")
GTSC=${GTSC:-gtsc}
DEBUG=/sys/kernel/debug
ROOT=$DEBUG/gtsc_example
TMP=$(mktemp -d)

# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$HERE/lib.sh"

# files N: opens and reads a file as often
files()
{
	for _ in $(seq "$1"); do cat /proc/self/stat > /dev/null; done
}

kprobe()
{
	modprobe gtsc_kprobe || return
	is 'kprobe: files' 'dropped flags nr_sub rewind state stats sub_size trace0' \
		"$(names $ROOT/kernel_clone)"
	is 'kprobe: runs' running "$(cat $ROOT/kernel_clone/state)"
	cat $ROOT/kernel_clone/trace0 > /dev/null
	for _ in 1 2 3 4 5 6; do (exit 0); done
	cat $ROOT/kernel_clone/trace0 > "$TMP/clone"
	holds 'kprobe: processes' "$(grep -cE "^\[[0-9]+\] $$\$" "$TMP/clone") >= 6"
	is 'kprobe: in the order of time' "$(sort -t '[' -k 2 -n "$TMP/clone")" \
		"$(cat "$TMP/clone")"
	put 1 $ROOT/kernel_clone/rewind
	cat $ROOT/kernel_clone/trace0 > "$TMP/again"
	is 'kprobe: all of it again after a rewind' "$(cat "$TMP/clone")" \
		"$(grep -Fxf "$TMP/clone" "$TMP/again")"
	rmmod gtsc_kprobe
	is 'kprobe: nothing is left' '' "$(ls -d $ROOT 2> /dev/null)"
	modprobe gtsc_kprobe symbol=no_such_function 2> /dev/null
	is 'kprobe: a function that does not exist' 1 $?
	is 'kprobe: nothing is left of that' '' "$(ls -d $ROOT 2> /dev/null)"
}

hybrid()
{
	modprobe gtsc_hybrid || return
	is 'hybrid: channels' 'high low medium state' "$(names $ROOT/hybrid)"
	is 'hybrid: state' setup "$(cat $ROOT/hybrid/state)"
	"$GTSC" start gtsc_example/hybrid/low
	is 'hybrid: one of three runs' mixed "$(cat $ROOT/hybrid/state)"
	put running $ROOT/hybrid/state
	fails 'hybrid: all run already' 'Invalid argument' put running $ROOT/hybrid/state
	is 'hybrid: all run' 'running running running' "$(cat $ROOT/hybrid/*/state | xargs)"
	"$GTSC" list > "$TMP/list"
	is 'gtsc list' 'high 65536 flight,low 4096,medium 4096' \
		"$(awk '$2 == "running" { sub(/.*\//, "", $1); print $1, $3 ($7 ? " " $7 : "") }' \
			"$TMP/list" | paste -sd ,)"
	files 300
	put stopped $ROOT/hybrid/state
	"$GTSC" stat gtsc_example/hybrid
	holds 'hybrid: the flight recorder has overwritten nothing or the oldest' \
		"$(sed -n 's/^written //p' $ROOT/hybrid/high/stats) > 300"
	"$GTSC" print gtsc_example/hybrid > "$TMP/out"
	holds 'hybrid: processes' "$(grep -c '/low: 20 bytes' "$TMP/out") >= 300"
	holds 'hybrid: files opened' "$(grep -c '/medium: 20 bytes' "$TMP/out") >= 300"
	holds 'hybrid: reads' "$(grep -c '/high: 20 bytes' "$TMP/out") >= 300"
	grep -o '^\[[^]]*\]' "$TMP/out" > "$TMP/times"
	is 'gtsc print: by time' "$(md5sum < "$TMP/times")" "$(sort "$TMP/times" | md5sum)"
	"$GTSC" rewind gtsc_example/hybrid
	is 'gtsc rewind: only the flight recorder' \
		"$(grep -c '/high: ' "$TMP/out")" \
		"$("$GTSC" print -f count gtsc_example/hybrid | grep -c high:)"
	"$GTSC" size gtsc_example/hybrid/medium 8192 16
	is 'gtsc size' '8192 16' \
		"$(cat $ROOT/hybrid/medium/sub_size $ROOT/hybrid/medium/nr_sub | xargs)"
	fails 'gtsc size: a bad one' 'Invalid argument' "$GTSC" size gtsc_example/hybrid/medium 0 16
	fails 'gtsc size: several channels' 'has several channels, name one of them' \
		"$GTSC" size gtsc_example/hybrid 4096 16
	fails 'gtsc: a trace that does not exist' 'no such trace' "$GTSC" stat gtsc_example/no
	rmmod gtsc_hybrid
	is 'hybrid: nothing is left' '' "$(ls -d $ROOT 2> /dev/null)"
}

# recorded KEY: of the last line that gtsc record shows
recorded() { tr '\r' '\n' < "$TMP/err" | tail -n 1 | sed -nE "s/.* ([0-9]+) $1.*/\1/p"; }

# saved FILE: records that are printed of a damaged file, whose error goes to $TMP/damage
saved() { "$GTSC" print -f count "$1" 2> "$TMP/damage" | wc -l; }

ftrace()
{
	local pid all size crc
	modprobe gtsc_ftrace functions='vfs_open*' || return
	if [ -f /sys/kernel/tracing/function_tracers ]; then
		is 'ftrace: a tracer with a name' ' gtsc_sample' \
			"$(grep gtsc_sample /sys/kernel/tracing/function_tracers)"
	fi
	put stopped $ROOT/ftrace/state
	"$GTSC" print -f count gtsc_example/ftrace > /dev/null

	"$GTSC" record -o "$TMP/calls" gtsc_example/ftrace 2> "$TMP/err" &
	pid=$!
	sleep 1
	files 500
	kill -INT $pid
	wait $pid
	is 'gtsc record: ends on SIGINT' 0 $?
	echo "# $(tr '\r' '\n' < "$TMP/err" | tail -n 1)"
	is 'gtsc record: stops what it has started' stopped "$(cat $ROOT/ftrace/state)"
	is 'gtsc record: and has all of it' 0 "$(sed -n 's/^unread //p' $ROOT/ftrace/stats)"
	rmmod gtsc_ftrace

	"$GTSC" print -f function "$TMP/calls" > "$TMP/out"
	is 'gtsc print: the file is whole' 0 $?
	all=$(wc -l < "$TMP/out")
	is 'gtsc print: as many records as were recorded' "$(recorded records)" "$all"
	holds 'ftrace: vfs_open' "$(grep -c ': vfs_open <- ' "$TMP/out") >= 500"
	is 'ftrace: nothing else' "$all" "$(grep -c ': vfs_open[a-z0-9_]* <- ' "$TMP/out")"
	grep -o '^\[[^]]*\]' "$TMP/out" > "$TMP/times"
	is 'gtsc print: by time' "$(md5sum < "$TMP/times")" "$(sort "$TMP/times" | md5sum)"

	# What can be saved of a file that is cut off, or damaged, is
	size=$(stat -c %s "$TMP/calls")
	head -c $((size / 2)) "$TMP/calls" > "$TMP/half"
	holds 'a file cut off: records are saved' \
		"$(saved "$TMP/half") > $((all / 3)) && $(saved "$TMP/half") < $all"
	is 'a file cut off: and it is said' 1 "$(grep -c 'records were saved' "$TMP/damage")"
	head -c $((size - 24)) "$TMP/calls" > "$TMP/noend"
	is 'a file without its end: nothing is lost' "$all" "$(saved "$TMP/noend")"
	is 'a file without its end: but it is said' 1 "$(grep -c 'no end' "$TMP/damage")"
	cp "$TMP/calls" "$TMP/bad"
	printf 'damage' | dd of="$TMP/bad" bs=1 seek=$((size / 2)) conv=notrunc 2> /dev/null
	crc=$(saved "$TMP/bad")
	holds 'a damaged file: records are saved' "$crc > 0 && $crc < $all"
	# Which of the two depends on whether it has hit the start of a chunk
	is 'a damaged file: and it is said' 1 \
		"$(grep -cE 'wrong checksum|not what was written there' "$TMP/damage")"
	printf 'nonsense' > "$TMP/nonsense"
	fails 'not a file of gtsc' 'too short for a file of gtsc' "$GTSC" print "$TMP/nonsense"
	head -c 100 /dev/zero > "$TMP/nonsense"
	fails 'not a file of gtsc' 'not a file of gtsc' "$GTSC" print "$TMP/nonsense"
	is 'ftrace: nothing is left' '' "$(ls -d $ROOT 2> /dev/null)"
}

if ! modprobe gtsc 2> /dev/null; then
	echo "1..0 # SKIP no gtsc.ko"
	exit "$KSFT_SKIP"
fi
kprobe
hybrid
ftrace
echo "1..$nr"
rm -r "$TMP"
exit "$failed"
