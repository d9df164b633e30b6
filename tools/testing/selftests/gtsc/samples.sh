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
CALLS=$DEBUG/gtsc/functions
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
	is 'kprobe: files with records' 'buffer0 trace0' \
		"$(names $ROOT/kernel_clone | grep -oE '[a-z]+[0-9]+' | xargs)"
	is 'kprobe: other files' \
		'dropped flags format nr_sub rewind size state stats sub_size watermark' \
		"$(names $ROOT/kernel_clone | sed -E 's/[a-z]+[0-9]+ ?//g; s/ $//')"
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
	local medium=gtsc_example/hybrid/medium
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
		"use -d to discard, or gtsc print $medium to read them" \
		"$GTSC" size gtsc_example/hybrid/medium 8192 16
	holds 'hybrid: the flight recorder has overwritten nothing or the oldest' \
		"$(sed -n 's/^written //p' $ROOT/hybrid/high/stats) > 100"
	"$GTSC" print -f hex $ROOT/hybrid > "$TMP/out"
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
	"$GTSC" size gtsc_example/hybrid/medium 4096 32
	is 'gtsc size' '4096 32' \
		"$(cat $ROOT/hybrid/medium/sub_size $ROOT/hybrid/medium/nr_sub | xargs)"
	"$GTSC" start gtsc_example/hybrid/low
	(exit 0)
	"$GTSC" stop gtsc_example/hybrid/low
	"$GTSC" size -d gtsc_example/hybrid/low 8192 16
	is 'gtsc size -d: discards what is unread' '8192 16 0' \
		"$(cat $ROOT/hybrid/low/size) $(sed -n 's/^unread //p' $ROOT/hybrid/low/stats)"
	"$GTSC" size gtsc_example/hybrid/medium 8192 16
	is 'gtsc size: back again' '8192 16' \
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
in_state() { [ "$(cat "$DEBUG/$1/state" 2> /dev/null)" = "$2" ]; }

# Two patterns, and without an option but how long
defaults()
{
	modprobe gtsc_functions functions='vfs_*,ksys_read' || return
	is 'functions: flags' 'percpu normal header' "$(cat $CALLS/flags)"
	if [ -f /sys/kernel/tracing/function_tracers ]; then
		is 'functions: a tracer with a name' ' gtsc_functions' \
			"$(grep gtsc_functions /sys/kernel/tracing/function_tracers)"
	fi
	(cd "$TMP" && "$GTSC" record -d 1 gtsc/functions) 2> "$TMP/err"
	is 'gtsc record -d: ends after that time' 0 $?
	is 'gtsc record: a channel that ran before goes on' running "$(cat $CALLS/state)"
	fails 'gtsc record: a directory with other files' \
		'is not empty, and not a trace that gtsc has written' \
		"$GTSC" record -o "$TMP" gtsc/functions
	(cd "$TMP" && "$GTSC" record -q -d 0.1 -o calls $CALLS) 2> "$TMP/quiet"
	is 'gtsc record -q: only the last line' 1 "$(wc -l < "$TMP/quiet")"
	"$GTSC" print -f function "$TMP/gtsc.ctf" > "$TMP/out"
	is 'gtsc record: into gtsc.ctf' 0 $?
	holds 'functions: vfs_*' "$(grep -c ' vfs_[a-z0-9_]* <- ' "$TMP/out") > 0"
	holds 'functions: ksys_read' "$(grep -c ' ksys_read <- ' "$TMP/out") > 0"
	is 'functions: nothing else' '' \
		"$(grep -vE ' (vfs_[a-z0-9_]*|ksys_read) <- |: lost ' "$TMP/out" | head -n 1)"
	check 'gtsc print: by time' by_time "$TMP/out"
	"$GTSC" print -f function "$TMP/calls" > "$TMP/out"
	is 'gtsc record -o' 0 $?
	rmmod gtsc_functions
	is 'functions: nothing is left' '' "$(ls -d $DEBUG/gtsc 2> /dev/null)"
}

# forks_show_in FILE: forks once, and looks for any fork
forks_show_in() { (exit 0); grep -qE ": \[[0-9]+\] $$\$" "$1"; }

formats()
{
	local i
	modprobe gtsc_kprobe || return
	"$GTSC" stop gtsc_example/kernel_clone
	cat $ROOT/kernel_clone/trace0 > /dev/null
	"$GTSC" record -q -o "$TMP/forks" gtsc_example/kernel_clone 2> /dev/null &
	i=$!
	wait_for 'formats: is recorded' in_state gtsc_example/kernel_clone running
	(exit 0)
	kill -TERM $i
	ends 'gtsc record: ends on SIGTERM' $i
	put 1 $ROOT/kernel_clone/rewind
	# What was read before is held, too
	"$GTSC" print -f raw "$TMP/forks" > "$TMP/raw"
	cat $ROOT/kernel_clone/trace0 | tail -c "$(wc -c < "$TMP/raw")" > "$TMP/text"
	holds 'formats: a fork was recorded' "$(grep -cE "^\[[0-9]+\] $$\$" "$TMP/raw") >= 1"
	check 'gtsc print -f raw: as it was written' cmp "$TMP/text" "$TMP/raw"
	check 'gtsc print -f text: the same, behind time, CPU and channel' \
		cmp "$TMP/text" <("$GTSC" print -f text "$TMP/forks" |
			sed -E 's,^\[[^]]*\] +[0-9]+ gtsc_example/kernel_clone: ,,')
	is 'gtsc print -f count' "$(wc -c < "$TMP/text")" \
		"$("$GTSC" print -f count "$TMP/forks" | awk '{ n += $NF } END { print n }')"
	is 'gtsc print -f hex' \
		"$(head -c 16 "$TMP/text" | od -A n -t x1 | xargs)" \
		"$("$GTSC" print -f hex "$TMP/forks" | sed -n 2p | cut -c 9-57 | xargs)"
	check 'gtsc print: -f fields by default' \
		cmp <("$GTSC" print "$TMP/forks") <("$GTSC" print -f fields "$TMP/forks")
	is 'gtsc print -w: the year' "$(date +%Y)" \
		"$("$GTSC" print -w "$TMP/forks" | sed -nE '1s/^\[([0-9]{4})-.*/\1/p')"
	"$GTSC" start gtsc_example/kernel_clone
	"$GTSC" print --follow -f text gtsc_example/kernel_clone > "$TMP/follow" &
	i=$!
	wait_for 'gtsc print --follow: prints what is written' forks_show_in "$TMP/follow"
	kill -INT $i
	ends 'gtsc print --follow: ends on SIGINT' $i
	"$GTSC" record -q -d 60 -o - gtsc_example/kernel_clone 2> /dev/null > >(
		"$GTSC" print -f text - > "$TMP/live") &
	i=$!
	wait_for 'gtsc record -o -: prints what is written' forks_show_in "$TMP/live"
	kill -TERM $i
	ends 'gtsc record -o -: ends on SIGTERM' $i
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
	is 'gtsc --help: the formats' 'count fields function graph hex raw text' \
		"$("$GTSC" --help | sed -n '/^Formats/,$s/^  \([a-z]*\) .*/\1/p' | sort | xargs)"
	"$GTSC" 2> /dev/null
	is 'gtsc: wrong usage' 2 $?
}

# The provider goes while its channel is recorded
provider_ends()
{
	local pid
	modprobe gtsc_functions functions='vfs_open*' nr_sub=4 flight=1 || return
	is 'functions: nr_sub' 4 "$(cat $CALLS/nr_sub)"
	is 'functions: flight' 'percpu flight header' "$(cat $CALLS/flags)"
	put stopped $CALLS/state
	"$GTSC" record -o "$TMP/calls" gtsc/functions 2> "$TMP/err" &
	pid=$!
	wait_for 'provider ends: is recorded' in_state gtsc/functions running
	files 100
	rmmod gtsc_functions
	ends 'provider ends: and gtsc record with it' $pid
	is 'provider ends: what was dropped is not known' 1 \
		"$(last_line | grep -cE ' at least +[0-9]+ dropped at least +[0-9]+ overwritten$')"
	is 'provider ends: that is said' 1 "$(grep -c 'functions: has gone' "$TMP/err")"
	printed "$TMP/calls"
	is 'provider ends: the trace is whole' 0 $?
	is 'provider ends: all records are in it' "$(recorded records)" "$(wc -l < "$TMP/out")"
	holds 'provider ends: of all calls' "$(grep -c ' vfs_open <- ' "$TMP/out") >= 100"
}

# The provider is set up anew before the recorder looks at the counters again
provider_comes_back()
{
	local pid
	modprobe gtsc_hybrid || return
	modprobe gtsc_kprobe
	put stopped $ROOT/kernel_clone/state
	"$GTSC" record -q -o "$TMP/back" gtsc_example/kernel_clone gtsc_example/hybrid/low \
		2> "$TMP/err" &
	pid=$!
	wait_for 'provider comes back: is recorded' in_state gtsc_example/hybrid/low running
	wait_for 'provider comes back: both are' in_state gtsc_example/kernel_clone running
	rmmod gtsc_kprobe
	modprobe gtsc_kprobe
	kill -INT $pid
	ends 'provider comes back: the recording' $pid
	is 'provider comes back: the recorded channel has gone' 1 \
		"$(grep -c 'kernel_clone: has gone' "$TMP/err")"
	is 'provider comes back: what the new one drops does not count' 1 \
		"$(last_line | grep -c ' at least ')"
	is 'provider comes back: the new channel runs' running "$(cat $ROOT/kernel_clone/state)"
	rmmod gtsc_kprobe
	rmmod gtsc_hybrid
}

# A read with O_NONBLOCK, which dd sets, tells whether there is nothing yet or nothing more
no_wait()
{
	local name='a read with O_NONBLOCK'
	modprobe gtsc_functions functions=vfs_open || return
	exec 5< "$CALLS/trace0"
	put stopped $CALLS/state
	cat <&5 > /dev/null
	is 'a read that need not wait: nothing' '' "$(cat <&5)"
	fails "$name: nothing yet" 'Resource temporarily unavailable' \
		dd iflag=nonblock status=none <&5
	rmmod gtsc_functions
	fails "$name: the end" success dd iflag=nonblock status=none <&5
	exec 5<&-
}

# The module that measures refuses to stay
bench()
{
	dmesg -C
	modprobe gtsc_bench 2> /dev/null
	is 'gtsc_bench: refuses to stay' 1 $?
	is 'gtsc_bench: figures' 123 "$(dmesg | grep -cE 'gtsc_bench: [a-z_-]+:[0-9]+ [0-9]+$')"
	dmesg -C
	modprobe gtsc_bench records=100 2> /dev/null
	is 'gtsc_bench: records' 123 "$(dmesg | grep -cE 'gtsc_bench: [a-z_-]+:[0-9]+ [0-9]+$')"
	dmesg -C
	modprobe gtsc_bench calls=1 2> /dev/null
	is 'gtsc_bench: calls' 2 "$(dmesg | grep -cE 'gtsc_bench: call[a-z_-]*:0 [0-9]+$')"
}

last_line() { tr '\r' '\n' < "$TMP/err" | tail -n 1; }

# recorded KEY: of the last line that gtsc record shows
recorded() { last_line | sed -nE "s/.* ([0-9]+) $1.*/\1/p"; }

# printed DIR: the records of a trace into $TMP/out, without those that were lost
printed()
{
	local status
	"$GTSC" print -f function "$1" > "$TMP/all"
	status=$?
	grep -v ': lost [0-9]* records$' "$TMP/all" > "$TMP/out"
	return $status
}

# saved DIR: records that are printed of a damaged trace, whose error goes to $TMP/damage
saved() { "$GTSC" print -f count "$1" 2> "$TMP/damage" | grep -vc ': lost '; }

ftrace()
{
	local pid all size file rest
	modprobe gtsc_functions functions='vfs_open*' || return
	put stopped $CALLS/state
	"$GTSC" print -f count gtsc/functions > /dev/null

	"$GTSC" record -o "$TMP/calls" gtsc/functions 2> "$TMP/err" &
	pid=$!
	wait_for 'gtsc record: starts the channel' in_state gtsc/functions running
	files 200
	kill -INT $pid
	ends 'gtsc record: ends on SIGINT' $pid
	echo "# $(last_line)"
	is 'gtsc record: stops what it has started' stopped "$(cat $CALLS/state)"
	is 'gtsc record: and has all of it' 0 "$(sed -n 's/^unread //p' $CALLS/stats)"
	is 'gtsc record: dropped' "$(cat $CALLS/dropped)" "$(recorded dropped)"
	rmmod gtsc_functions

	printed "$TMP/calls"
	is 'gtsc print: the trace is whole' 0 $?
	all=$(wc -l < "$TMP/out")
	is 'gtsc print: as many records as were recorded' "$(recorded records)" "$all"
	holds 'functions: vfs_open' "$(grep -c ' vfs_open <- ' "$TMP/out") >= 200"
	is 'functions: nothing else' "$all" "$(grep -c ' vfs_open[a-z0-9_]* <- ' "$TMP/out")"
	check 'gtsc print: by time' by_time "$TMP/out"
	if type babeltrace2 > /dev/null 2>&1; then
		babeltrace2 "$TMP/calls" > "$TMP/ctf" 2> "$TMP/ctf-errors"
		is 'babeltrace2: opens it' 0 $?
		is 'babeltrace2: as many records' "$all" "$(wc -l < "$TMP/ctf")"
		is 'babeltrace2: the same addresses' \
			"$("$GTSC" print -f hex "$TMP/calls" | awk '/^    0000/ {
				for (i = 9; i > 1; i--) printf "%s", $i; print "" }' | md5sum)" \
			"$(sed -nE 's/.*\{ ip = (\( [^:]* : container = )?0x([0-9A-F]+).*/\L\2/p' \
				"$TMP/ctf" | md5sum)"
	else
		echo '# no babeltrace2'
	fi
	awk '{ print $1, $2, $3 }' /proc/kallsyms | sed -E 's/ vfs_open$/ renamed/' > "$TMP/symbols"
	is 'gtsc print -k: names from another file' "$(grep -c ' vfs_open <- ' "$TMP/out")" \
		"$("$GTSC" print -f function -k "$TMP/symbols" "$TMP/calls" |
			grep -c ' renamed <- ')"

	# What can be saved of a trace with a file that is cut off, or damaged, is
	# shellcheck disable=SC2012 # the names are without blanks
	file=$(basename "$(ls -S "$TMP"/calls/*_functions_* | head -n 1)")
	size=$(stat -c %s "$TMP/calls/$file")
	cp -r "$TMP/calls" "$TMP/half"
	truncate -s $((size / 2)) "$TMP/half/$file"
	holds 'a file cut off: records are saved' \
		"$(saved "$TMP/half") > 0 && $(saved "$TMP/half") < $all"
	is 'a file cut off: and it is said' 1 "$(grep -c 'records were saved' "$TMP/damage")"
	cp -r "$TMP/calls" "$TMP/noend"
	truncate -s $((size - 80)) "$TMP/noend/$file"
	is 'a file without its end: nothing is lost' "$all" "$(saved "$TMP/noend")"
	is 'a file without its end: but it is said' 1 "$(grep -c 'no end' "$TMP/damage")"
	cp -r "$TMP/calls" "$TMP/bad"
	head -c 80 /dev/zero |
		dd of="$TMP/bad/$file" bs=1 seek=$((size / 2)) conv=notrunc 2> /dev/null
	rest=$(saved "$TMP/bad")
	holds 'a damaged file: records are saved' "$rest > 0 && $rest < $all"
	# Which of the two depends on whether it has hit the start of a packet
	holds 'a damaged file: and it is said' \
		"$(grep -cE 'not a (record|packet)$' "$TMP/damage") > 0"
	printf 'nonsense' > "$TMP/nonsense"
	fails 'not a trace of gtsc' 'a file, not the directory of a trace that gtsc has written' \
		"$GTSC" print "$TMP/nonsense"
	is 'functions: nothing is left' '' "$(ls -d $DEBUG/gtsc 2> /dev/null)"
}

# gtsc functions loads its module, and removes it again
functions()
{
	local pid
	modprobe gtsc_functions nr_sub=4 functions=vfs_open || return
	fails 'gtsc functions: the module is loaded already' \
		'rmmod it, or gtsc print --follow gtsc/functions' \
		"$GTSC" functions -f vfs_open
	rmmod gtsc_functions
	fails 'gtsc functions: no such function' 'no such function, or none that can be traced' \
		"$GTSC" functions -f no_such_function
	"$GTSC" functions -q -f vfs_open -f 'vfs_rea*' -o "$TMP/functions" 2> "$TMP/err" &
	pid=$!
	# Before modprobe has ended, SIGINT is an error
	wait_for 'gtsc functions: records' [ -d "$TMP/functions" ]
	files 100
	kill -INT $pid
	ends 'gtsc functions -o: ends on SIGINT' $pid
	is 'gtsc functions: removes its module' '' "$(lsmod | grep gtsc_functions)"
	is 'gtsc functions -o: no other file' '' "$(find "$TMP/functions" -name '.?*')"
	is 'gtsc functions -o: names' 1 "$(grep -c '"vfs_open" = ' "$TMP/functions/metadata")"
	"$GTSC" print -f function "$TMP/functions" > "$TMP/out"
	is 'gtsc functions -o: the trace is whole' 0 $?
	holds 'gtsc functions -o: calls' "$(grep -c ' vfs_open <- ' "$TMP/out") >= 100"
	is 'gtsc functions -o: nothing else' '' \
		"$(grep -vE ' vfs_(open|rea[a-z0-9_]*) <- |: lost ' "$TMP/out" | head -n 1)"
	"$GTSC" functions -f vfs_open > "$TMP/out" &
	pid=$!
	wait_for 'gtsc functions: prints calls' opens_show
	kill -INT $pid
	ends 'gtsc functions: ends on SIGINT' $pid
	"$GTSC" functions --flight -d 1 -f vfs_open > "$TMP/out" &
	pid=$!
	wait_for 'gtsc functions --flight: loads its module' [ -f "$DEBUG/gtsc/functions/state" ]
	files 100
	ends 'gtsc functions --flight' $pid
	holds 'gtsc functions --flight: calls' "$(grep -c ' vfs_open <- ' "$TMP/out") > 0"
}

# traced NAME STATUS ARGUMENT...: gtsc graph with these arguments records into $TMP/graph
traced()
{
	local name=$1 status=$2
	shift 2
	"$GTSC" graph -q -o "$TMP/graph" "$@" > "$TMP/out" 2> "$TMP/err"
	is "$name: status" "$status" $?
	is "$name: removes its module" '' "$(lsmod | grep gtsc_graph)"
	[ "$status" = 1 ] && return
	"$GTSC" print -f graph "$TMP/graph" > "$TMP/shown"
	is "$name: the trace is whole" 0 $?
}

# calls_of PATTERN: how many calls are of a task, a function, or the like
calls_of() { grep -cE "$1" "$TMP/shown"; }

# Each call is within the last one of less depth that ends after it
nested()
{
	"$GTSC" print "$TMP/graph" | awk -F '[][ =]+' '
		{ end = $2; for (i = 1; i < NF; i++) v[$i] = $(i + 1); d = v["depth"]
		  start = end * 1e9 - v["duration"]
		  for (i in first) if (i > d) { if (first[i] < start) bad++; delete first[i]; n++ }
		  if (!(d in first) || start < first[d]) first[d] = start }
		END { print bad + 0, (n > 0) }'
}

# gtsc graph records a command, or a process, with all that it creates, and nothing else
graph()
{
	local pid b
	while :; do cat /proc/self/stat > /dev/null; done &
	other=$!
	printf abcde > "$TMP/five"
	traced 'gtsc graph' 0 -f 'vfs_*' -r -- sh -c "cat $TMP/five; cksum $TMP/five > /dev/null"
	is 'gtsc graph: what the command writes' abcde "$(cat "$TMP/out")"
	holds 'gtsc graph: the command is a child' "$(calls_of ': (gtsc|sh)-') > 0"
	holds 'gtsc graph: and its child' "$(calls_of ': cat-') > 0"
	is 'gtsc graph: no other task' 1 "$(sed -nE 's/.*: cat-([0-9]+) .*/\1/p' "$TMP/shown" |
		sort -u | wc -l)"
	is 'gtsc graph: what a function returns' 1 "$(calls_of 'cksum.* vfs_read = 0x5$')"
	is 'gtsc graph: calls nest' '0 1' "$(nested)"
	holds 'gtsc report: its calls' \
		"$("$GTSC" report "$TMP/graph" 2> /dev/null | grep -cE ' vfs_read$') == 1"
	traced 'gtsc graph: the status of the command' 3 -f 'vfs_*' sh -c 'exit 3'
	traced 'gtsc graph: a command that a signal ends' 143 -f 'vfs_*' sh -c 'kill $$'
	traced 'gtsc graph: no such command' 1 -f 'vfs_*' "$TMP/none"
	is 'gtsc graph: which one' 1 "$(grep -c 'none: No such file' "$TMP/err")"
	traced 'gtsc graph -d: ends the command' 0 -d 0.5 -f 'vfs_*' sleep 1000
	traced 'gtsc graph: not these functions' 0 -f 'vfs_*' -f '!vfs_read' cat "$TMP/five"
	holds 'gtsc graph: others' "$(calls_of ' vfs_open$') > 0"
	is 'gtsc graph: not these' 0 "$(calls_of ' vfs_read$')"
	traced 'gtsc graph -b' 0 -b 1 -f 'vfs_*' sh -c "cat /sys/kernel/debug/gtsc/graph/size"
	is 'gtsc graph -b: the buffer' '65536 16' "$(cat "$TMP/out")"
	for b in 0 4096 -1 1m ''; do
		fails "gtsc graph -b '$b'" 'has to be mebibytes for each CPU, 1 to 4095' \
			"$GTSC" graph -b "$b" true
	done
	traced 'gtsc graph --flight' 0 --flight -f 'vfs_*' cat "$TMP/five"
	holds 'gtsc graph --flight: calls' "$(calls_of ' vfs_read$') > 0"

	sh -c "while ! [ -d $TMP/process ]; do sleep 0.1; done; cat $TMP/five" > /dev/null &
	pid=$!
	"$GTSC" graph -q -f 'vfs_*' -p $pid -o "$TMP/process" 2> "$TMP/err"
	is 'gtsc graph -p: ends with the process' 0 $?
	"$GTSC" print -f graph "$TMP/process" > "$TMP/shown"
	holds 'gtsc graph -p: its child' "$(calls_of ': cat-.* vfs_read$') > 0"
	is 'gtsc graph -p: no other task' 1 "$(sed -nE 's/.*: cat-([0-9]+) .*/\1/p' "$TMP/shown" |
		sort -u | wc -l)"
	fails 'gtsc graph -p: no such process' 'no such process' "$GTSC" graph -p 4194304
	kill $other
	wait $other 2> /dev/null

	"$GTSC" functions -q -f vfs_read -d 1 -o "$TMP/idle" 2> "$TMP/err"
	is 'gtsc functions: not of gtsc itself' 0 \
		"$("$GTSC" print -f function "$TMP/idle" | grep -c ': gtsc-')"
	"$GTSC" top -f vfs_open -d 1.2 sh -c 'while :; do cat /proc/self/stat; done' > "$TMP/out"
	is 'gtsc top: status' 0 $?
	holds 'gtsc top: calls' "$(grep -cE ' vfs_open$' "$TMP/out") > 0"
	clocks
	graph_switch
}

# The clock of the records is read by a function that is traced
clocks()
{
	local clock old function nr_clocks=0 dir=/sys/devices/system/clocksource/clocksource0
	old=$(cat $dir/current_clocksource)
	while read -r clock function; do
		grep -qw "$clock" $dir/available_clocksource || continue
		nr_clocks=$((nr_clocks + 1))
		put "$clock" $dir/current_clocksource
		traced "clock $clock" 0 -d 0.5 -f "$function"
		holds "clock $clock: calls" "$(calls_of " $function$") > 0"
		"$GTSC" functions -q -f "$function" -d 0.5 -o "$TMP/$clock" 2> "$TMP/err"
		holds "clock $clock: gtsc functions" \
			"$("$GTSC" print -f count "$TMP/$clock" | wc -l) > 0"
	done <<-'END'
		hpet read_hpet
		acpi_pm acpi_pm_read
		arch_sys_counter arch_counter_read
	END
	put "$old" $dir/current_clocksource
	holds 'clocks: how many' "$nr_clocks > 0"
}

# traced_functions: whether ftrace has a function whose calls are recorded
traced_functions() { grep -c '^vfs_read ' /sys/kernel/tracing/enabled_functions; }

# The tracer is off its functions while the channel is stopped
graph_switch()
{
	modprobe gtsc_graph functions=vfs_read || return
	is 'graph: traces' 1 "$(traced_functions)"
	"$GTSC" stop gtsc/graph
	is 'graph: stopped' 0 "$(traced_functions)"
	"$GTSC" start gtsc/graph
	is 'graph: started again' 1 "$(traced_functions)"
	modprobe gtsc_functions functions=vfs_read
	files 10
	for channel in graph functions; do
		holds "graph beside functions: $channel" \
			"$("$GTSC" print -f count gtsc/$channel | wc -l) >= 10"
	done
	rmmod gtsc_functions gtsc_graph
	is 'graph: nothing is left' 0 "$(traced_functions)"
	modprobe gtsc_graph functions=no_such_function 2> /dev/null
	is 'graph: no such function' 1 $?
	modprobe gtsc_graph pid=4194304 2> /dev/null
	is 'graph: no such process' 1 $?
	is 'graph: nothing is left of that' '' "$(ls -d $DEBUG/gtsc 2> /dev/null)"
}

# The filter of a recording that runs can be changed in tracefs
filters_by_name()
{
	local tracing=/sys/kernel/tracing channel
	if [ ! -f $tracing/function_tracers ]; then return; fi
	for channel in functions graph; do
		modprobe gtsc_$channel functions=vfs_read || continue
		put "[gtsc_$channel] vfs_open" $tracing/set_ftrace_filter
		is "$channel by name: traces it" 1 \
			"$(grep -c '^vfs_open ' $tracing/enabled_functions)"
		is "$channel by name: and nothing else" 0 "$(traced_functions)"
		"$GTSC" print -f count gtsc/$channel > /dev/null
		files 10
		"$GTSC" print gtsc/$channel > "$TMP/out"
		holds "$channel by name: records" "$(grep -cw vfs_open "$TMP/out") >= 10"
		is "$channel by name: and no other" 0 "$(grep -cw vfs_read "$TMP/out")"
		echo "[gtsc_$channel] vfs_read" >> $tracing/set_ftrace_filter
		is "$channel by name: one more" 1 "$(traced_functions)"
		"$GTSC" stop gtsc/$channel
		fails "$channel by name: not while it is stopped" 'Invalid argument' \
			put "[gtsc_$channel] vfs_write" $tracing/set_ftrace_filter
		"$GTSC" start gtsc/$channel
		is "$channel by name: started again" 1 "$(traced_functions)"
		is "$channel by name: set_ftrace_filter is not about it" '' \
			"$(grep vfs_ $tracing/set_ftrace_filter)"
		exec 6>> $tracing/set_ftrace_filter
		echo "[gtsc_$channel] vfs_write" >&6
		rmmod gtsc_$channel
		exec 6>&-
		is "$channel by name: nothing is left" 0 "$(traced_functions)"
	done
}

# opens_show: opens a file, and looks for any call of vfs_open
opens_show() { files 1; grep -q ' vfs_open <- ' "$TMP/out"; }

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
if modprobe -n gtsc_hybrid 2> /dev/null; then provider_comes_back; fi
no_wait
formats
functions
if modprobe -n gtsc_graph 2> /dev/null; then graph; fi
filters_by_name
bench
echo "1..$nr"
rm -r "$TMP"
exit "$failed"
