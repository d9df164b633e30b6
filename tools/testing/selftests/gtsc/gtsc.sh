#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# shellcheck disable=SC2317 # functions are called by wait_for
#
# GTSC: gtsc_check reads what gtsc_load.ko has written, and all other records are
# counted.
#
# usage: gtsc.sh [SECONDS]: how long each case with a load takes at least (default:
# until $ENOUGH records have been read)

SECS=${1:-0}
ENOUGH=3000
HERE=$(dirname "$(readlink -f "$0")")
CHECK=${CHECK:-$HERE/gtsc_check}
LOAD=/sys/module/gtsc_load/parameters
ROOT=/sys/kernel/debug/gtsc_selftest
MEMORY=/sys/kernel/debug/gtsc_load_memory
TMP=$(mktemp -d)
GLOBAL=1 FLIGHT=2 HEADER=4
TASK=1 ALL=7
# Those that check_files and follow read; buffer: always with headers
FILES=trace
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$HERE/lib.sh"

load() { echo "$*" > $LOAD/do; }

# setup N NAME SUB_SIZE NR_SUB FLAGS: in the root directory of this test
setup() { load setup "$1" gtsc_selftest "$2" "$3" "$4" "$5"; }

# stat NAME KEY; counts N: sets attempts, written
stat() { sed -n "s/^$2 //p" "$ROOT/$1/stats"; }
counts() { read -r _ attempts written < <(grep "^$1 " $LOAD/counts); }

# at_least NAME KEY NUMBER
at_least() { [ "$(stat "$1" "$2")" -ge "$3" ]; }

# more NAME KEY NUMBER: waits until the statistic has grown by so much
more() { wait_for "$3 more $2" at_least "$1" "$2" $(($(stat "$1" "$2") + $3)); }

# in_poll PID: does it sleep in poll()? The number of the system call is that of x86_64.
in_poll() { grep -q poll "/proc/$1/wchan" || grep -q '^7 ' "/proc/$1/syscall"; }

# check_files NAME [OPTION...]: sets records, errors
check_files()
{
	local name=$1
	shift
	"$CHECK" "$@" "$ROOT/$name/$FILES"* > "$TMP/out"
	result
}

result()
{
	read -r _ records _ bytes _ _ _ wakeups _ errors _ last _ lost < "$TMP/out"
	# What is used of it depends on the case
	: "$bytes" "$wakeups" "$last" "$lost"
}

# follow NAME [OPTION...]: check_files in the background; followed ends it, when it
# has read all that was there before
follow()
{
	local name=$1
	shift
	"$CHECK" -f "$@" "$ROOT/$name/$FILES"* > "$TMP/out" &
	follower=$!
}

followed()
{
	kill "$follower"
	wait "$follower"
	result
}

# closes CASE NAME N: the accounts of a channel that has been read to its end,
# whose reader has got $records
closes()
{
	local w o r u f b n
	counts "$3"
	w=$(stat "$2" written) o=$(stat "$2" overwritten) r=$(stat "$2" read)
	u=$(stat "$2" unread) f=$(stat "$2" dropped_full) b=$(stat "$2" dropped_too_big)
	n=$(stat "$2" dropped_nested)
	echo "# $1: attempts $attempts, written $w, read $r," \
		"overwritten $o, full $f, too big $b, nested $n"
	is "$1: what was written is what the writers say" "$written" "$w"
	is "$1: written = read + overwritten, and nothing is unread" "$w 0" "$((r + o)) $u"
	is "$1: the reader has got what was read" "$r" "$records"
	is "$1: no record is wrong" 0 "$errors"
	is "$1: dropped" "$((f + b + n))" "$(cat "$ROOT/$2/dropped")"
}

# all_counted CASE: nothing was attempted while the channel was stopped
all_counted()
{
	is "$1: attempts = written + dropped" "$attempts" "$((written + $2))"
}

ended() { is "$1: nothing is left" "" "$(ls $ROOT 2> /dev/null)"; }

normal()
{
	local traces buffers
	traces=$(seq -s ' ' -f trace%g 0 $((CPUS - 1)))
	buffers=$(seq -s ' ' -f buffer%g 0 $((CPUS - 1)))
	setup 0 a 4096 8 0
	is 'normal: state' setup "$(cat $ROOT/a/state)"
	is 'normal: sizes' '4096 8' "$(cat $ROOT/a/sub_size $ROOT/a/nr_sub | xargs)"
	is 'normal: flags' 'percpu normal' "$(cat $ROOT/a/flags)"
	is 'normal: files' \
		"$buffers dropped flags format nr_sub size state stats sub_size $traces watermark" \
		"$(names $ROOT/a)"
	check_files a
	is 'normal: nothing yet' '0 0' "$records $errors"
	put running $ROOT/a/state
	is 'normal: state' running "$(cat $ROOT/a/state)"
	load write 0 1000 $TASK 300
	counts 0
	all_counted normal "$(cat $ROOT/a/dropped)"
	holds 'normal: the buffer was full' "$(stat a dropped_full) > 0"
	is 'normal: all is unread' "$written" "$(stat a unread)"
	check_files a
	closes normal a 0
	load cleanup 0
	ended normal
}

flight()
{
	local before
	setup 0 a 4096 8 $((FLIGHT | HEADER))
	is 'flight: flags' 'percpu flight header' "$(cat $ROOT/a/flags)"
	load start 0
	load write 0 2000 $TASK 200
	load stop 0
	check_files a -H
	closes flight a 0
	all_counted flight 0
	holds 'flight: some were overwritten' "$(stat a overwritten) > 0"
	is 'flight: the newest are kept' 2000 "$last"
	before=$records
	put 1 $ROOT/a/rewind
	is 'flight: after a rewind all that is held is unread' "$before" "$(stat a unread)"
	cat $ROOT/a/trace* > "$TMP/all"
	is 'flight: they are read again' "0 $before" "$(stat a unread) $(stat a read)"
	put 1 $ROOT/a/rewind
	dd if=$ROOT/a/trace0 bs=7 2> /dev/null > "$TMP/small"
	for i in $(seq 1 $((CPUS - 1))); do
		dd if="$ROOT/a/trace$i" bs=1 2> /dev/null >> "$TMP/small"
	done
	cmp "$TMP/all" "$TMP/small"
	is 'flight: the same in small pieces' 0 $?
	put 1 $ROOT/a/rewind
	check_files a -H -S
	is 'flight: the same by splice' "$before 0" "$records $errors"

	# Who has a part of a record gets the rest, and then the oldest one
	put 1 $ROOT/a/rewind
	exec 3< $ROOT/a/trace0
	dd bs=10 count=1 <&3 > "$TMP/part" 2> /dev/null
	put 1 $ROOT/a/rewind
	cat <&3 >> "$TMP/part"
	exec 3<&-
	"$CHECK" -H -R "$TMP/part" > "$TMP/out"
	result
	is 'flight: a rewind within a record leaves it whole' 0 "$errors"
	put 1 $ROOT/a/rewind
	cat $ROOT/a/trace0 > "$TMP/all"
	holds 'flight: and all is read again' "$(wc -c < "$TMP/part") > $(wc -c < "$TMP/all")"

	# The newest is kept, whatever is rewound to
	load start 0
	load write 0 3000 $TASK 200
	load stop 0
	put 1 $ROOT/a/rewind
	check_files a -H
	is 'flight: no record is wrong' 0 "$errors"
	is 'flight: the newest are kept' 5000 "$last"
	is 'flight: the accounts close' "$(stat a written)" \
		"$(( $(stat a read) + $(stat a overwritten) ))"
	load cleanup 0
	ended flight
}

# under_load CASE FLAGS WHO KEY OPTION...: with a reader, until that statistic, too,
# has something
under_load()
{
	local name=$1 flags=$2 who=$3 key=$4
	shift 4
	setup 0 a 4096 16 "$flags"
	load start 0
	follow a "$@"
	load hammer 0 "$who" 400
	sleep "$SECS"
	wait_for "$name: records are read" at_least a read $ENOUGH
	wait_for "$name: $key" at_least a "$key" 1
	load rest 0
	load stop 0
	followed
	closes "$name" a 0
	all_counted "$name" "$(cat $ROOT/a/dropped)"
	load cleanup 0
	ended "$name"
}

two_readers()
{
	local one two
	setup 0 a 4096 16 $HEADER
	load start 0
	load hammer 0 $ALL 400
	"$CHECK" -fH $ROOT/a/trace0 > "$TMP/one" &
	one=$!
	"$CHECK" -fH -b 5000 $ROOT/a/trace0 > "$TMP/two" &
	two=$!
	sleep "$SECS"
	wait_for 'two readers of a file: records are read' at_least a read $ENOUGH
	load rest 0
	load stop 0
	kill $one $two
	wait $one
	is 'two readers of a file: no record is wrong' 0 $?
	wait $two
	is 'two readers of a file: no record is wrong' 0 $?
	one=$(cut -d ' ' -f 2 "$TMP/one") two=$(cut -d ' ' -f 2 "$TMP/two")
	echo "# one has $one records, the other $two"
	is 'two readers of a file: each record goes to one' $((one + two)) "$(stat a read)"
	load cleanup 0
}

dying_readers()
{
	local i
	setup 0 a 4096 16 0
	load start 0
	load hammer 0 $ALL 400
	for i in 1 2 3 4 5 6; do
		"$CHECK" -f -b $((i * 1000)) $ROOT/a/trace* > /dev/null &
		more a read 100
		kill -9 $!
		wait $! 2> /dev/null
	done
	# One that stops in the midst, and goes
	"$CHECK" -n 5 -b 9000 $ROOT/a/trace* > "$TMP/out"
	result
	holds 'a reader that stops: has got what it wanted' "$records >= 5"
	# And ones that have got a part of a record when they are killed
	for i in 1 2 3; do
		dd if=$ROOT/a/trace0 bs=$((i * 3)) count=$((i * 2)) > /dev/null 2>&1
	done
	load rest 0
	load stop 0
	check_files a
	is 'killed readers: the next one gets whole records' 0 "$errors"
	is 'killed readers: nothing is left unread' 0 "$(stat a unread)"
	counts 0
	is 'killed readers: what was written' "$written" "$(stat a read)"
	load cleanup 0
}

# What a reader with headers is told of lost records is what was lost
lost_records()
{
	local before first
	setup 0 a 4096 8 $HEADER
	load start 0
	load write 0 1000 $TASK 300
	check_files a -H
	is 'lost: the reader does not know yet' 0 "$lost"
	holds 'lost: some were dropped' "$(stat a dropped_full) > 100"
	load write 0 2 $TASK 24
	check_files a -H
	is 'lost: told with the next records' "$(cat $ROOT/a/dropped)" "$lost"
	# The number of the first byte, and more records are lost before the second
	before=$(cat $ROOT/a/dropped)
	exec 3< $ROOT/a/dropped
	first=$(dd bs=1 count=1 status=none <&3)
	load write 0 10000 $TASK 300
	is 'lost: a number that is read byte by byte' "$before" "$first$(dd bs=1 status=none <&3)"
	holds 'lost: more since' "$(cat $ROOT/a/dropped) > $before"
	exec 3<&-
	load cleanup 0

	setup 0 a 4096 8 $((FLIGHT | HEADER))
	load start 0
	load write 0 2000 $TASK 300
	check_files a -H
	is 'lost: a flight recorder has overwritten' "$(stat a overwritten)" "$lost"
	put 1 $ROOT/a/rewind
	check_files a -H
	is 'lost: the same after a rewind' "$(stat a overwritten)" "$lost"
	load cleanup 0
	ended lost
}

# Both sizes at a time, with and without records that are unread
sizes()
{
	local before
	setup 0 a 4096 8 0
	load start 0
	load write 0 10 $TASK 100
	load stop 0
	is 'size: shows both' '4096 8' "$(cat $ROOT/a/size)"
	fails 'size: not while something is unread' 'Device or resource busy' \
		put '8192 4' $ROOT/a/size
	fails 'size: a bad word' 'Invalid argument' put '8192 4 keep' $ROOT/a/size
	fails 'size: one number' 'Invalid argument' put 8192 $ROOT/a/size
	fails 'size: a zero' 'Invalid argument' put '0 4 discard' $ROOT/a/size
	counts 0
	is 'size: nothing has changed' "4096 8 $written" "$(cat $ROOT/a/size) $(stat a unread)"
	put '8192 4 discard' $ROOT/a/size
	is 'size: what was unread is thrown away' "8192 4 0 $written" \
		"$(cat $ROOT/a/size) $(stat a unread) $(stat a overwritten)"
	load start 0
	load write 0 10 $TASK 100
	load stop 0
	FILES=buffer check_files a -H
	is 'size: a reader is told of those' "$written 0" "$lost $errors"
	counts 0
	is 'size: and gets the others' "$written" "$((records + lost))"
	# A part of a record that was read is thrown away with the rest
	load start 0
	load write 0 10 $TASK 100
	load stop 0
	exec 3< $ROOT/a/trace0
	dd bs=1 count=1 <&3 > /dev/null 2>&1
	put '4096 8 discard' $ROOT/a/size
	fails 'size: the rest of a record is thrown away' 'Input/output error' cat <&3
	is 'size: nothing else is left' 0 "$(cat <&3 | wc -c)"
	counts 0
	before=$written
	load start 0
	load write 0 10 $TASK 100
	load stop 0
	check_files a
	counts 0
	is 'size: another reader gets the records' "$((written - before)) 0" "$records $errors"
	is 'size: the accounts close' "$(stat a written)" \
		"$(( $(stat a read) + $(stat a overwritten) + $(stat a unread) ))"
	exec 3<&-
	load cleanup 0
	ended size
}

watermark()
{
	setup 0 a 4096 8 0
	is 'watermark: at the first record' 0 "$(cat $ROOT/a/watermark)"
	fails 'watermark: as many as there are' 'Invalid argument' put 8 $ROOT/a/watermark
	fails 'watermark: a bad word' 'Invalid argument' put x $ROOT/a/watermark
	put 4 $ROOT/a/watermark
	load start 0
	"$CHECK" -f -w -1 -n 30 $ROOT/a/trace0 > "$TMP/out" &
	follower=$!
	wait_for 'watermark: sleeps' in_poll "$follower"
	load write 0 300 $TASK 300
	ends 'watermark: ends when sub-buffers are full' "$follower"
	result
	is 'watermark: with the first wake-up' 1 "$wakeups"
	check_files a
	"$CHECK" -f -w -1 -n 1 $ROOT/a/trace0 > "$TMP/out" &
	follower=$!
	wait_for 'watermark: sleeps again' in_poll "$follower"
	load write 0 1 $TASK 100
	is 'watermark: not woken by the first record' 1 "$(in_poll $follower && echo 1)"
	load stop 0
	ends 'watermark: a stop wakes, too' "$follower"
	load cleanup 0
	ended watermark
}

# Stopped, resized and started again, and rewound, while it is written to
changes()
{
	local i sizes=0
	setup 0 a 4096 8 $((FLIGHT | HEADER))
	load start 0
	load hammer 0 $ALL 400
	fails 'changes: not while it runs' 'Device or resource busy' put 16 $ROOT/a/nr_sub
	fails 'changes: not while it runs' 'Device or resource busy' put 8192 $ROOT/a/sub_size
	for i in 2 4 8 3 16 5; do
		put stopped $ROOT/a/state
		fails 'changes: not while something is unread' 'Device or resource busy' \
			put $i $ROOT/a/nr_sub
		"$CHECK" -H $ROOT/a/trace* > "$TMP/out" || break
		put $i $ROOT/a/nr_sub && put $((i * 1000)) $ROOT/a/sub_size && sizes=$((sizes + 1))
		put running $ROOT/a/state
		more a written 500
		put 1 $ROOT/a/rewind
	done
	is 'changes: sizes changed' 6 $sizes
	is 'changes: sizes are rounded up' '8192 5' "$(cat $ROOT/a/sub_size $ROOT/a/nr_sub | xargs)"
	load rest 0
	load stop 0
	put 1 $ROOT/a/rewind
	check_files a -H
	is 'changes: no record is wrong' 0 "$errors"
	counts 0
	is 'changes: written' "$written" "$(stat a written)"
	is 'changes: the accounts close' "$written 0" \
		"$(( $(stat a read) + $(stat a overwritten) )) $(stat a unread)"
	load cleanup 0
	ended changes
}

# The channel goes while it is written to; an open file can still be read
end_under_load()
{
	local i before=0
	for i in 1 2 3; do
		setup 0 a 4096 64 0
		load start 0
		follow a
		load hammer 0 $ALL 400
		more a read 1000
		load cleanup 0
		wait "$follower"
		is 'end under load: the reader comes to an end' 0 $?
		result
		counts 0
		is 'end under load: and has got all that was written' "$written 0" \
			"$records $errors"
		before=$((before + records))
	done
	echo "# $before records"
	ended 'end under load'
}

bad_input()
{
	local s64 s65 i
	s64=$(printf 'x%.0s' $(seq 64))
	s65=${s64}x
	fails 'sub_size 0' 'Invalid argument' setup 0 a 0 8 0
	fails 'nr_sub 0' 'Invalid argument' setup 0 a 4096 0 0
	fails 'an absurd sub_size' 'Invalid argument' setup 0 a 4000000000 8 0
	fails 'an absurd nr_sub' 'Invalid argument' setup 0 a 524288 4000000000 0
	fails 'more than all memory' 'Cannot allocate memory' setup 0 a 524288 65535 0
	fails 'unknown flags' 'Invalid argument' setup 0 a 4096 8 64
	fails 'a normal channel for panics' 'Invalid argument' setup 0 a 4096 8 8
	fails 'a slash' 'Invalid argument' setup 0 a/b 4096 8 0
	fails '65 characters' 'File name too long' setup 0 "$s65" 4096 8 0
	fails '65 characters of the root' 'File name too long' load setup 0 "$s65" a 4096 8 0
	is 'nothing is left of them' '' "$(ls -d $ROOT "/sys/kernel/debug/$s65" 2> /dev/null)"
	setup 0 "$s64" 4096 8 0
	is '64 characters' "$s64" "$(ls $ROOT)"
	load cleanup 0

	setup 0 a 4096 8 0
	fails 'the same name' 'File exists' setup 1 a 4096 8 0
	fails 'stopped before it runs' 'Invalid argument' put stopped $ROOT/a/state
	fails 'back to setup' 'Invalid argument' put setup $ROOT/a/state
	fails 'a bad word' 'Invalid argument' put go $ROOT/a/state
	fails 'too long a word' 'Invalid argument' put "running $s64" $ROOT/a/state
	fails 'no word' 'Invalid argument' put '' $ROOT/a/state
	is 'the state is what it was' setup "$(cat $ROOT/a/state)"
	put running $ROOT/a/state
	fails 'running twice' 'Invalid argument' put running $ROOT/a/state
	fails 'too big a record' 'Argument list too long' load big 0 $((BIGGEST * 2))
	load big 0 $BIGGEST
	is 'the biggest record' 0 $?
	fails 'one byte more' 'Argument list too long' load big 0 $((BIGGEST + 1))
	is 'they are counted' 2 "$(stat a dropped_too_big)"
	put stopped $ROOT/a/state
	fails 'stopped twice' 'Invalid argument' put stopped $ROOT/a/state
	fails 'a record while it is stopped' 'Cannot send after transport endpoint shutdown' \
		load text 0 10
	is 'which is not counted' 2 "$(cat $ROOT/a/dropped)"
	is 'the biggest record is there' $BIGGEST "$(cat $ROOT/a/trace* | wc -c)"
	for i in 0 x -1 99999999999 '' 4000000000; do
		fails "nr_sub '$i'" 'Invalid argument' put "$i" $ROOT/a/nr_sub
		fails "sub_size '$i'" 'Invalid argument' put "$i" $ROOT/a/sub_size
	done
	is 'the sizes are what they were' '4096 8' "$(cat $ROOT/a/sub_size $ROOT/a/nr_sub | xargs)"
	put running $ROOT/a/state
	load text 0 20
	load text 0 1000
	cat $ROOT/a/trace* > "$TMP/text"
	is 'formatted records' "$(printf "%019d\n%0999d\n" 20 1000 | sort)" "$(sort "$TMP/text")"
	fails 'too long a formatted record' 'Argument list too long' load text 0 $((BIGGEST + 1))
	load cleanup 0
	ended 'bad input'
}

# Records within others: read in the order in which they were begun, when all are complete
nested()
{
	setup 0 a 4096 8 $GLOBAL
	load start 0
	load nest 0 1
	load nest 0 2
	load nest 0 8
	is 'nested: eight in one context' '11 0' "$(stat a written) $(stat a dropped_nested)"
	is 'nested: in the order of their beginning' '1 2 1 8 7 6 5 4 3 2 1' \
		"$(cat $ROOT/a/trace* | od -A n -t u1 | xargs)"
	load cleanup 0
}

# try_setup N: sets a channel up while its N-th allocation fails. Prints whether it
# was set up or refused, and how many allocations were still to come.
try_setup()
(
	exec 4<> /proc/self/fail-nth
	echo "$1" >&4
	if echo "setup 0 gtsc_selftest a 4096 2 $((FLIGHT | 8))" > $LOAD/do; then
		result=accepted
	else
		result=refused
	fi
	read -r left <&4
	echo 0 >&4
	echo "$result $left"
) 2> /dev/null

# Each allocation of a set-up fails in turn. Needs CONFIG_FAULT_INJECTION.
failing_allocations()
{
	local n f result more remains=0 refused=0
	if [ ! -w /proc/self/fail-nth ]; then
		echo '# no fault injection in this kernel'
		return
	fi
	for f in failslab fail_page_alloc; do
		put N /sys/kernel/debug/$f/ignore-gfp-wait
		put 0 /sys/kernel/debug/$f/verbose
	done
	put 0 /sys/kernel/debug/fail_page_alloc/min-order
	for n in $(seq 1 1000); do
		read -r result more < <(try_setup "$n")
		case $result in
		accepted) load cleanup 0 ;;
		refused) refused=$((refused + 1)) ;;
		esac
		remains=$((remains + $(names $ROOT 2> /dev/null | wc -w)))
		# Not reached: all that there are have failed once
		if [ "$more" != 0 ]; then break; fi
	done
	for f in failslab fail_page_alloc; do put Y /sys/kernel/debug/$f/ignore-gfp-wait; done
	echo "# $n allocations, $refused refusals"
	is 'failing allocations: nothing is left' 0 $remains
	holds 'failing allocations: some were refused' "$refused > 5"
	setup 0 a 4096 8 0
	is 'failing allocations: it can be set up' a "$(names $ROOT)"
	load cleanup 0
	ended 'failing allocations'
}

# The records are there as an open file has them, and no reader can get at it anew
open_file()
{
	local n
	setup 0 a 4096 8 0
	load start 0
	load write 0 10 $TASK 100
	exec 3< $ROOT/a/trace0
	rmmod gtsc_load
	is 'module unloaded with a file open: the directory has gone' '' \
		"$(ls -d $ROOT 2> /dev/null)"
	fails 'module unloaded with a file open: gtsc is in use' 'Module gtsc is in use' rmmod gtsc
	n=$(cat <&3 | wc -c)
	exec 3<&-
	holds 'module unloaded with a file open: it is read to its end' "$n > 200"
	modprobe gtsc_load
}

hotplug()
{
	local cpu=/sys/devices/system/cpu/cpu1/online
	if [ ! -w $cpu ]; then
		echo "# no CPU to take offline"
		return
	fi
	setup 0 a 4096 64 0
	load start 0
	load write 0 100 $TASK 100
	put 0 $cpu
	load write 0 100 $TASK 100
	check_files a
	put 1 $cpu
	is 'hotplug: records of a CPU that went are there' "$((100 * CPUS + 100 * (CPUS - 1)))" \
		"$records"
	load write 0 100 $TASK 100
	load stop 0
	counts 0
	is 'hotplug: and of one that is back' "$((written - records))" "$(stat a unread)"
	# A channel that was set up while it was away
	put 0 $cpu
	setup 1 b 4096 64 0
	is 'hotplug: no file for a CPU that is offline' 0 "$(names $ROOT/b | grep -c trace1)"
	put 1 $cpu
	is 'hotplug: one when it comes' 1 "$(names $ROOT/b | grep -c trace1)"
	load start 1
	load write 1 100 $TASK 100
	check_files b
	counts 1
	is 'hotplug: with its records' "$written 0" "$records $errors"
	load cleanup 1
	load cleanup 0
	ended hotplug
}

# A poll of all CPUs that sleeps is woken by a CPU that comes after it
hotplug_poll()
{
	local cpu=/sys/devices/system/cpu/cpu1/online
	if [ ! -w $cpu ]; then
		echo "# no CPU to take offline"
		return
	fi
	put 0 $cpu
	setup 0 a 4096 8 $GLOBAL
	load start 0
	"$CHECK" -f -w -1 -n 1 $ROOT/a/trace0 > "$TMP/out" &
	follower=$!
	wait_for 'hotplug: a poll sleeps' in_poll "$follower"
	put 1 $cpu
	wait_for 'hotplug: and goes on sleeping when a CPU comes' in_poll "$follower"
	taskset -c 1 bash -c "echo 'one 0 100' > $LOAD/do"
	ends 'hotplug: and ends with its first record' "$follower"
	kill "$follower" 2> /dev/null
	result
	is 'hotplug: which is right' '1 0' "$records $errors"
	load cleanup 0
	ended 'hotplug poll'
}

# A poll that waits is no busy one, and ends with the first record
polled()
{
	local flags
	for flags in 0 $GLOBAL; do
		setup 0 a 4096 8 "$flags"
		load start 0
		"$CHECK" -f -w -1 -n 1 $ROOT/a/trace* > "$TMP/out" &
		follower=$!
		wait_for 'poll: sleeps' in_poll "$follower"
		load write 0 1 $TASK 100
		ends 'poll: ends with the first record' "$follower"
		result
		is 'poll: no record is wrong' 0 "$errors"
		holds 'poll: waits' "$wakeups < 10"
		load cleanup 0
	done
}

# A record that one reader has a part of is for no other, until that one goes
parts()
{
	setup 0 a 4096 8 0
	load start 0
	load write 0 40 $TASK 100
	load stop 0
	exec 3< $ROOT/a/trace0 4< $ROOT/a/trace0
	dd bs=10 count=1 <&3 > "$TMP/one" 2> /dev/null
	dd bs=64k count=1 <&4 > "$TMP/two" 2> /dev/null
	is 'parts: a head for one reader, nothing for the other' '10 0' \
		"$(wc -c < "$TMP/one") $(wc -c < "$TMP/two")"
	dd bs=1000 count=1 <&3 >> "$TMP/one" 2> /dev/null
	dd bs=500 count=1 <&4 > "$TMP/two" 2> /dev/null
	"$CHECK" "$TMP/one" > "$TMP/out"
	result
	holds 'parts: the rest for the first' "$records > 1 && $errors == 0"
	"$CHECK" "$TMP/two" > "$TMP/out"
	result
	holds 'parts: whole records for the other' "$records > 1 && $errors == 0"

	dd bs=10 count=1 <&3 > /dev/null 2>&1
	"$CHECK" -f -w -1 -n 1 $ROOT/a/trace0 > "$TMP/out" 3<&- 4<&- &
	follower=$!
	wait_for 'parts: a poll of another reader sleeps' in_poll "$follower"
	exec 3<&-
	ends 'parts: and ends when the first one goes' "$follower"
	result
	is 'parts: with whole records' 0 "$errors"
	exec 4<&-
	load cleanup 0
	ended parts
}

faults() { [ "$(cat "$MEMORY")" = "$1" ]; }

# has_memory PID: lets it have what it waits for, until it has ended
has_memory()
{
	put 1 "$MEMORY"
	! kill -0 "$1" 2> /dev/null
}

# unhindered NAME COMMAND...: the command ends while the reader waits
unhindered()
{
	local name=$1
	shift
	"$@" > /dev/null &
	ends "$name" $!
}

# A reader may wait for its memory as long as user space likes: nobody waits for it
waiting_reader()
{
	local reader
	setup 0 a 4096 8 $((FLIGHT | HEADER))
	load start 0
	load write 0 16 $TASK 100
	load stop 0
	"$CHECK" -H -b 4000 -m $MEMORY $ROOT/a/trace* > "$TMP/first" &
	reader=$!
	wait_for 'waiting reader: waits for its memory' faults 1
	unhindered 'waiting reader: rewind' put 1 $ROOT/a/rewind
	unhindered 'waiting reader: another channel' setup 1 b 4096 8 0
	unhindered 'waiting reader: and its end' load cleanup 1
	unhindered 'waiting reader: start' put running $ROOT/a/state
	"$CHECK" -H $ROOT/a/trace0 > "$TMP/out" &
	ends 'waiting reader: another reader of its file' $!
	result
	holds 'waiting reader: which has got the records' "$records > 10 && $errors == 0"
	counts 0
	written=$((written - records))
	unhindered 'waiting reader: the end of its channel' load cleanup 0
	is 'waiting reader: still waits' 1 "$(cat $MEMORY)"
	wait_for 'waiting reader: ends with its memory' has_memory $reader
	cp "$TMP/first" "$TMP/out"
	result
	is 'waiting reader: has got all the other records' "$written 0" "$records $errors"
	ended 'waiting reader'
}

if ! modprobe gtsc_load 2> /dev/null; then
	echo "1..0 # SKIP no gtsc_load.ko"
	exit "$KSFT_SKIP"
fi
# A page without the record of lost ones, a header, and the unit that is always left
BIGGEST=$(($(getconf PAGESIZE) - 48))
CPUS=$(getconf _NPROCESSORS_CONF)

normal
flight
under_load 'all contexts' 0 $ALL read
under_load 'all contexts, headers' $HEADER $ALL read -H
under_load 'a slow reader' $HEADER $ALL dropped_full -H -p 20000
under_load 'global' $((GLOBAL | HEADER)) $ALL read -H
under_load 'global without headers' $GLOBAL $ALL read
under_load 'flight, all contexts' $((FLIGHT | HEADER)) $ALL read -H
under_load 'flight, a slow reader' $((FLIGHT | HEADER)) $ALL overwritten -H -p 50000
under_load 'global flight, a slow reader' $((GLOBAL | FLIGHT | HEADER)) $ALL overwritten -H \
	-p 50000
under_load 'splice' $HEADER $ALL read -H -S
under_load 'splice, flight' $((FLIGHT | HEADER)) $ALL read -H -S
under_load 'splice, a slow reader' $((FLIGHT | HEADER)) $ALL overwritten -H -S -p 50000
FILES=buffer
under_load 'buffer files' 0 $ALL read -H
under_load 'buffer files, global' $GLOBAL $ALL read -H
FILES=trace
two_readers
dying_readers
changes
end_under_load
bad_input
nested
lost_records
sizes
watermark
failing_allocations
polled
parts
waiting_reader
hotplug
hotplug_poll
open_file
rmmod gtsc_load
echo "1..$nr"
rm -r "$TMP"
exit "$failed"
