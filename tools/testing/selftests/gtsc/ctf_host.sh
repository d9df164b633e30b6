#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The gtsc command without a kernel that has channels: plain files of records in directories
# like those of channels. What gtsc records of them is compared with what babeltrace2 and
# gtsc print show. Needs python3 and babeltrace2.

HERE=$(dirname "$(readlink -f "$0")")
GTSC=${GTSC:-gtsc}
TMP=$(mktemp -d)
ROOT=$TMP/root

# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$HERE/lib.sh"

if ! command -v babeltrace2 > /dev/null || ! command -v python3 > /dev/null; then
	echo "1..0 # SKIP no babeltrace2 or python3"
	exit "$KSFT_SKIP"
fi

tool() { python3 "$HERE/ctf_host.py" "$@"; }

# record DIR OPTION... TRACE...
record() { "$GTSC" record -q -d 0.3 -o "$@" 2> "$TMP/err"; }

# stats CHANNEL KEY NUMBER: changes a counter of a channel
stats() { sed -i "s/^$2 .*/$2 $3/" "$ROOT/$1/stats"; }

babeltrace()
{
	babeltrace2 --clock-cycles --no-delta --names payload,context "$1" > "$TMP/bt" \
		2> "$TMP/discarded"
}

# lost: numbers of records that babeltrace2 reports as discarded
lost()
{
	sed -nE 's/^WARNING: Tracer discarded ([0-9]+) event.*/\1/p' "$TMP/discarded" |
		sort -n | xargs
}

# printed_lost FILE: numbers of records that gtsc has printed as lost
printed_lost() { sed -nE 's/.*: lost ([0-9]+) records$/\1/p' "$1" | sort -n | xargs; }

# saved: records that are printed of the damaged trace
saved() { "$GTSC" print -f count "$TMP/bad" 2> "$TMP/damage" | grep -vc ' lost '; }

whole()
{
	local lost='123 1000 5006 10006 15006 20006'
	record "$TMP/out" "$ROOT" "$ROOT/group"
	is 'record: succeeds' 0 $?
	is 'record: says how many records' 1 "$(grep -c " $all records" "$TMP/err")"
	is 'record: modes' '700 600' \
		"$(stat -c %a "$TMP/out") $(stat -c %a "$TMP"/out/* | sort -u | xargs)"
	check 'babeltrace2 reads it' babeltrace "$TMP/out"
	is 'babeltrace2: no error' '' \
		"$(grep -vE '^WARNING: Tracer disc|^$' "$TMP/discarded")"
	tool records "$TMP/bt" > "$TMP/got"
	check 'babeltrace2: all records, in order' cmp "$TMP/expected" "$TMP/got"
	is 'babeltrace2: lost records' "$lost" "$(lost)"
	"$GTSC" print "$TMP/out" > "$TMP/print" 2> "$TMP/err"
	is 'print: the trace is whole' 0 $?
	tool gtsc "$TMP/print" > "$TMP/got"
	check 'print: all records, in order' cmp "$TMP/expected" "$TMP/got"
	is 'print: lost records' "$lost" "$(printed_lost "$TMP/print")"
	is 'print: lost records stand where they were lost' 1 \
		"$(grep -B 1 'root/group_text: n=5' "$TMP/print" | grep -c 'lost 123 records')"
	is 'print -f raw: nothing but the records' \
		"$("$GTSC" print -f count "$TMP/out" | grep -v ' lost ' |
			awk '{ n += $NF } END { print n }')" \
		"$("$GTSC" print -f raw "$TMP/out" | wc -c)"
	is 'print -w: the time of the clock on the wall' "$(date +%Y)" \
		"$("$GTSC" print -w -f count "$TMP/out" |
			sed -nE '1s/^\[([0-9]+)-[0-9:. -]*\].*/\1/p')"
}

# What channels hold now, without a recording. Each LOST record is printed.
channels()
{
	"$GTSC" print "$ROOT" "$ROOT/group" > "$TMP/now" 2> "$TMP/err"
	is 'print TRACE: succeeds' 0 $?
	tool gtsc "$TMP/now" > "$TMP/got"
	check 'print TRACE: all records, in order' cmp "$TMP/expected" "$TMP/got"
	is 'print TRACE: lost records' '23 100 1000 5006 10006 15006 20006' \
		"$(printed_lost "$TMP/now")"
	"$GTSC" print --follow "$ROOT" "$ROOT/group" > "$TMP/follow" &
	wait_for 'print --follow: prints all of it' grep -q 'root/plain: lost 20006' "$TMP/follow"
	kill -INT $!
	ends 'print --follow: ends on SIGINT' $!
	check 'print --follow: the same' cmp "$TMP/now" "$TMP/follow"
}

stream()
{
	record - "$ROOT" "$ROOT/group" > "$TMP/stream"
	is 'record -o -: succeeds' 0 $?
	"$GTSC" print - < "$TMP/stream" > "$TMP/piped"
	is 'print -: succeeds' 0 $?
	# What was lost at the end has no CPU in a directory
	is 'print -: the same records' \
		"$(sort "$TMP/print" | grep -v ' lost 1000 \| lost 20006 ' | md5sum)" \
		"$(sort "$TMP/piped" | grep -v ' lost 1000 \| lost 20006 ' | md5sum)"
	is 'print -: lost records' "$(printed_lost "$TMP/print")" "$(printed_lost "$TMP/piped")"
	head -c 3000000 "$TMP/stream" | "$GTSC" print -f count - > "$TMP/half" 2> "$TMP/damage"
	is 'print -: a stream that breaks off' 1 "$(grep -c 'breaks off' "$TMP/damage")"
	holds 'print -: its whole packets' "$(wc -l < "$TMP/half") > 0"
	fails 'print -: not a stream' 'not a packet of a trace that gtsc has written' \
		sh -c "head -c 100 /dev/zero | $GTSC print -"
	# The packets are those of the files
	mkdir "$TMP/split"
	tool split "$TMP/stream"
	check 'record -o -: a reader can split it' babeltrace "$TMP/split"
	tool records "$TMP/bt" > "$TMP/got"
	check 'record -o -: all records' cmp "$TMP/expected" "$TMP/got"
}

live()
{
	local pid
	mkfifo "$ROOT/plain/trace9"
	sleep 5 > "$ROOT/plain/trace9" &
	pid=$!
	( "$GTSC" record -q -o - -d 3 "$ROOT/plain" 2> /dev/null |
		"$GTSC" print -f count - > "$TMP/live" ) &
	tool one 4242 > "$ROOT/plain/trace9"
	wait_for 'record -o - | print -: a record is printed as it comes' \
		grep -q '  9 .*/plain: 4242' "$TMP/live"
	kill $pid
	rm "$ROOT/plain/trace9"
}

ctf2()
{
	record "$TMP/ctf2" --ctf2 "$ROOT" "$ROOT/group"
	is 'record --ctf2: succeeds' 0 $?
	check 'record --ctf2: a JSON text sequence' tool json "$TMP/ctf2/metadata"
	"$GTSC" print "$TMP/ctf2" > "$TMP/print2"
	is 'record --ctf2: print reads it' 0 $?
	check 'record --ctf2: the same records' cmp "$TMP/print" "$TMP/print2"
}

damage()
{
	local file size
	cp -r "$TMP/out" "$TMP/bad"
	file=$(echo "$TMP"/bad/*_calls_0)
	size=$(stat -c %s "$file")
	truncate -s $((size / 2)) "$file"
	holds 'a file cut off: records are saved' "$(saved) > $all - 6667 && $(saved) < $all - 3000"
	is 'a file cut off: it is said' 'breaks off:is damaged' \
		"$(grep -oE 'breaks off|is damaged' "$TMP/damage" | paste -sd :)"
	cp "$TMP"/out/*_calls_0 "$file"
	truncate -s $((size - 80)) "$file"
	is 'a file without its end: nothing is lost' "$all" "$(saved)"
	is 'a file without its end: it is said' 1 "$(grep -c 'no end' "$TMP/damage")"
	cp "$TMP"/out/*_plain_0 "$TMP"/bad/*_plain_0
	cp "$TMP"/out/*_calls_0 "$file"
	printf 'a packet header that is none' | dd of="$file" bs=1 conv=notrunc 2> /dev/null
	is 'a packet that is none: the others are printed' $((all - 6667)) "$(saved)"
	is 'a packet that is none: it is said' 1 "$(grep -c 'not a packet' "$TMP/damage")"
	cp "$TMP"/out/*_calls_0 "$file"
	printf '\377\377\377\377\377\377' | dd of="$file" bs=1 seek=$((90 + 32 * 100)) \
		conv=notrunc 2> /dev/null
	is 'a record that is none: those before it are printed' $((all - 6667 + 100)) "$(saved)"
	is 'a record that is none: it is said' 1 "$(grep -c 'not a record' "$TMP/damage")"
	"$GTSC" print "$TMP/bad" > /dev/null 2>&1
	is 'a damaged trace: status' 1 $?
}

# What the counters say, and no LOST record: only at the end
counters()
{
	local pid
	record "$TMP/lost" -d 2 "$ROOT/large" &
	pid=$!
	sleep 0.5
	stats large dropped_full 11
	stats large overwritten 6
	ends 'record: counters' $pid
	is 'record: says what was lost' 1 "$(grep -cE ' 11 dropped +6 overwritten$' "$TMP/err")"
	babeltrace "$TMP/lost"
	is 'babeltrace2: records lost without a place' 17 "$(lost)"
	"$GTSC" print -f count "$TMP/lost" > "$TMP/got"
	is 'print: records lost without a place' '   - large: lost 17 records' \
		"$(tail -n 1 "$TMP/got" | sed "s,^[^]]*\] *,   ,; s,$ROOT/,,")"
	stats large dropped_full 0
	stats large overwritten 0
}

output()
{
	mkdir "$TMP/full"
	touch "$TMP/full/letter" "$TMP/letter"
	fails 'record: a directory with something else' \
		'is not empty, and not a trace that gtsc has written' \
		"$GTSC" record -o "$TMP/full" "$ROOT/plain"
	is 'record: which is left alone' letter "$(names "$TMP/full")"
	fails 'record: a file' 'exists, and is not a directory' \
		"$GTSC" record -o "$TMP/letter" "$ROOT/plain"
	record "$TMP/out" "$ROOT/mixed"
	is 'record: into a trace of its own' 0 $?
	is 'record: of which nothing is left' 4 "$(find "$TMP/out" -type f | wc -l)"
	: > "$TMP/out/.kallsyms"
	check 'babeltrace2: does not mind symbols' babeltrace "$TMP/out"
	(cd "$TMP" && mkdir here && cd here && "$GTSC" record -q -d 0.1 "$ROOT/mixed") 2> /dev/null
	is 'record: into gtsc.ctf' gtsc.ctf "$(names "$TMP/here")"
	fails 'print: a file' 'a file, not the directory of a trace that gtsc has written' \
		"$GTSC" print "$TMP/letter"
	touch "$TMP/full/metadata"
	fails 'print: not a trace of gtsc' 'not a trace that gtsc has written' \
		"$GTSC" print "$TMP/full"
	"$GTSC" size -d "$ROOT/plain" 4096 8
	is 'size -d' '4096 8 discard' "$(cat "$ROOT/plain/size")"
	echo percpu normal > "$ROOT/plain/flags"
	fails 'record: a file without headers' 'No such file or directory' \
		"$GTSC" record -o "$TMP/out" "$ROOT/plain"
}

tool make "$TMP"
all=$(wc -l < "$TMP/expected")
whole
channels
stream
live
ctf2
damage
counters
output
echo "1..$nr"
rm -r "$TMP"
exit "$failed"
