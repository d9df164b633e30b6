#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# shellcheck disable=SC2317 # functions are called by wait_for
#
# The samples of GTSC and the gtsc command, used as they are documented: the
# defaults of each first, then its parameters and options.

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
	modprobe gtsc_kprobe symbol=vfs_open
	: < /dev/null
	cat $ROOT/vfs_open/trace0 > "$TMP/open"
	holds 'kprobe: another function' "$(grep -cE "^\[[0-9]+\] $$\$" "$TMP/open") >= 1"
	rmmod gtsc_kprobe
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
	files 100
	put stopped $ROOT/hybrid/state
	is 'gtsc stat: a line for each channel' 'high low medium' \
		"$("$GTSC" stat gtsc_example/hybrid |
			sed -nE 's,^gtsc_example/hybrid/([a-z]+): written [1-9].*,\1,p' | xargs)"
	fails 'gtsc size: unread records' \
		'read them first, for example with gtsc print gtsc_example/hybrid/medium' \
		"$GTSC" size gtsc_example/hybrid/medium 8192 16
	holds 'hybrid: the flight recorder has overwritten nothing or the oldest' \
		"$(sed -n 's/^written //p' $ROOT/hybrid/high/stats) > 100"
	"$GTSC" print $ROOT/hybrid > "$TMP/out"
	holds 'hybrid: processes' "$(grep -c '/low: 20 bytes' "$TMP/out") >= 100"
	holds 'hybrid: files opened' "$(grep -c '/medium: 20 bytes' "$TMP/out") >= 100"
	holds 'hybrid: reads' "$(grep -c '/high: 20 bytes' "$TMP/out") >= 100"
	check 'gtsc print: by time' by_time "$TMP/out"
	"$GTSC" rewind gtsc_example/hybrid
	is 'gtsc rewind: only the flight recorder' \
		"$(grep -c '/high: ' "$TMP/out")" \
		"$("$GTSC" print -f count gtsc_example/hybrid | grep -c high:)"
	"$GTSC" start gtsc_example/hybrid/medium
	fails 'gtsc size: a channel that runs' \
		'stop it first, with gtsc stop gtsc_example/hybrid/medium' \
		"$GTSC" size gtsc_example/hybrid/medium 8192 16
	"$GTSC" stop gtsc_example/hybrid
	is 'gtsc start, gtsc stop' 'stopped stopped stopped' "$(cat $ROOT/hybrid/*/state | xargs)"
	"$GTSC" print gtsc_example/hybrid/medium > /dev/null
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

# by_time FILE: are its lines in the order of the times in them?
by_time()
{
	grep -o '^\[[^]]*\]' "$1" > "$TMP/times"
	sort -c "$TMP/times"
}

# in_state CHANNEL STATE
in_state() { [ "$(cat "$ROOT/$1/state" 2> /dev/null)" = "$2" ]; }

# Without a parameter, and without an option but how long
defaults()
{
	modprobe gtsc_ftrace || return
	is 'ftrace: flags' 'percpu normal header' "$(cat $ROOT/ftrace/flags)"
	if [ -f /sys/kernel/tracing/function_tracers ]; then
		is 'ftrace: a tracer with a name' ' gtsc_sample' \
			"$(grep gtsc_sample /sys/kernel/tracing/function_tracers)"
	fi
	(cd "$TMP" && "$GTSC" record -d 1 gtsc_example/ftrace) 2> "$TMP/err"
	is 'gtsc record -d: ends after that time' 0 $?
	is 'gtsc record: a channel that ran before goes on' running "$(cat $ROOT/ftrace/state)"
	(cd "$TMP" && "$GTSC" record -q -d 0.1 -o calls $ROOT/ftrace) 2> "$TMP/quiet"
	is 'gtsc record -q: only the last line' 1 "$(wc -l < "$TMP/quiet")"
	"$GTSC" print -f function "$TMP/gtsc.data" > "$TMP/out"
	is 'gtsc record: into gtsc.data' 0 $?
	holds 'ftrace: vfs_*' "$(grep -c ': vfs_[a-z0-9_]* <- ' "$TMP/out") > 0"
	is 'ftrace: nothing else' '' "$(grep -v ': vfs_[a-z0-9_]* <- ' "$TMP/out" | head -n 1)"
	check 'gtsc print: by time' by_time "$TMP/out"
	"$GTSC" print -f function "$TMP/calls" > "$TMP/out"
	is 'gtsc record -o' 0 $?
	rmmod gtsc_ftrace
	is 'ftrace: nothing is left' '' "$(ls -d $ROOT 2> /dev/null)"
}

formats()
{
	local i
	modprobe gtsc_kprobe || return
	"$GTSC" stop gtsc_example/kernel_clone
	cat $ROOT/kernel_clone/trace0 > /dev/null
	"$GTSC" record -q -o "$TMP/forks" gtsc_example/kernel_clone 2> /dev/null &
	i=$!
	wait_for 'formats: is recorded' in_state kernel_clone running
	(exit 0)
	kill -TERM $i
	ends 'gtsc record: ends on SIGTERM' $i
	put 1 $ROOT/kernel_clone/rewind
	# What was read before is held, too
	"$GTSC" print -f raw "$TMP/forks" > "$TMP/raw"
	cat $ROOT/kernel_clone/trace0 | tail -c "$(wc -c < "$TMP/raw")" > "$TMP/text"
	holds 'formats: a fork was recorded' "$(grep -cE "^\[[0-9]+\] $$\$" "$TMP/raw") >= 1"
	check 'gtsc print -f raw: as it was written' cmp "$TMP/text" "$TMP/raw"
	check 'gtsc print -f text: the same, without headers' \
		cmp "$TMP/text" <("$GTSC" print -f text "$TMP/forks")
	is 'gtsc print -f count' "$(wc -c < "$TMP/text")" \
		"$("$GTSC" print -f count "$TMP/forks" | awk '{ n += $NF } END { print n }')"
	is 'gtsc print: hexadecimal by default' \
		"$(head -c 16 "$TMP/text" | od -A n -t x1 | xargs)" \
		"$("$GTSC" print "$TMP/forks" | sed -n 2p | cut -c 9-57 | xargs)"
	check 'gtsc print -f hex: the same' \
		cmp <("$GTSC" print "$TMP/forks") <("$GTSC" print -f hex "$TMP/forks")
	fails 'gtsc print: a format that does not exist' 'no such format' \
		sh -c "$GTSC print -f no $TMP/forks 2>&1 | head -n 1 >&2; exit 1"
	rmmod gtsc_kprobe
}

usage()
{
	local i
	for i in -h --help help; do
		is "gtsc $i" 'usage: gtsc list' "$("$GTSC" $i | head -n 1)"
	done
	is 'gtsc --help: the formats' 'count function hex raw text' \
		"$("$GTSC" --help | sed -n '/^Formats/,$s/^  \([a-z]*\) .*/\1/p' | sort | xargs)"
	"$GTSC" 2> /dev/null
	is 'gtsc: wrong usage' 2 $?
}

# The provider goes while its channel is recorded
provider_ends()
{
	local pid
	modprobe gtsc_ftrace functions='vfs_open*' nr_sub=4 flight=1 || return
	is 'ftrace: nr_sub' 4 "$(cat $ROOT/ftrace/nr_sub)"
	is 'ftrace: flight' 'percpu flight header' "$(cat $ROOT/ftrace/flags)"
	put stopped $ROOT/ftrace/state
	"$GTSC" record -o "$TMP/calls" gtsc_example/ftrace 2> "$TMP/err" &
	pid=$!
	wait_for 'provider ends: is recorded' in_state ftrace running
	files 100
	rmmod gtsc_ftrace
	ends 'provider ends: and gtsc record with it' $pid
	is 'provider ends: what was dropped is not known' 1 \
		"$(last_line | grep -cE ' at least +[0-9]+ dropped at least +[0-9]+ overwritten$')"
	is 'provider ends: that is said' 1 "$(grep -c 'ftrace: has gone' "$TMP/err")"
	"$GTSC" print -f function "$TMP/calls" > "$TMP/out"
	is 'provider ends: the file is whole' 0 $?
	is 'provider ends: all records are in it' "$(recorded records)" "$(wc -l < "$TMP/out")"
	holds 'provider ends: of all calls' "$(grep -c ': vfs_open <- ' "$TMP/out") >= 100"
}

# The module that measures refuses to stay
bench()
{
	dmesg -C
	modprobe gtsc_bench 2> /dev/null
	is 'gtsc_bench: refuses to stay' 1 $?
	is 'gtsc_bench: seven figures for each of three sizes' 21 \
		"$(dmesg | grep -cE 'gtsc_bench: [a-z_-]+:[0-9]+ [0-9]+$')"
	dmesg -C
	modprobe gtsc_bench records=100 2> /dev/null
	is 'gtsc_bench: records' 21 "$(dmesg | grep -cE 'gtsc_bench: [a-z_-]+:[0-9]+ [0-9]+$')"
}

last_line() { tr '\r' '\n' < "$TMP/err" | tail -n 1; }

# recorded KEY: of the last line that gtsc record shows
recorded() { last_line | sed -nE "s/.* ([0-9]+) $1.*/\1/p"; }

# saved FILE: records that are printed of a damaged file, whose error goes to $TMP/damage
saved() { "$GTSC" print -f count "$1" 2> "$TMP/damage" | wc -l; }

ftrace()
{
	local pid all size crc
	modprobe gtsc_ftrace functions='vfs_open*' || return
	put stopped $ROOT/ftrace/state
	"$GTSC" print -f count gtsc_example/ftrace > /dev/null

	"$GTSC" record -o "$TMP/calls" gtsc_example/ftrace 2> "$TMP/err" &
	pid=$!
	wait_for 'gtsc record: starts the channel' in_state ftrace running
	files 200
	kill -INT $pid
	ends 'gtsc record: ends on SIGINT' $pid
	echo "# $(last_line)"
	is 'gtsc record: stops what it has started' stopped "$(cat $ROOT/ftrace/state)"
	is 'gtsc record: and has all of it' 0 "$(sed -n 's/^unread //p' $ROOT/ftrace/stats)"
	is 'gtsc record: dropped' "$(cat $ROOT/ftrace/dropped)" "$(recorded dropped)"
	rmmod gtsc_ftrace

	"$GTSC" print -f function "$TMP/calls" > "$TMP/out"
	is 'gtsc print: the file is whole' 0 $?
	all=$(wc -l < "$TMP/out")
	is 'gtsc print: as many records as were recorded' "$(recorded records)" "$all"
	holds 'ftrace: vfs_open' "$(grep -c ': vfs_open <- ' "$TMP/out") >= 200"
	is 'ftrace: nothing else' "$all" "$(grep -c ': vfs_open[a-z0-9_]* <- ' "$TMP/out")"
	check 'gtsc print: by time' by_time "$TMP/out"
	awk '{ print $1, $2, $3 }' /proc/kallsyms | sed -E 's/ vfs_open$/ renamed/' > "$TMP/symbols"
	is 'gtsc print -k: names from another file' "$(grep -c ': vfs_open <- ' "$TMP/out")" \
		"$("$GTSC" print -f function -k "$TMP/symbols" "$TMP/calls" |
			grep -c ': renamed <- ')"

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
		"$(grep -cE 'wrong checksum|not a chunk' "$TMP/damage")"
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
usage
kprobe
hybrid
defaults
ftrace
provider_ends
formats
bench
echo "1..$nr"
rm -r "$TMP"
exit "$failed"
