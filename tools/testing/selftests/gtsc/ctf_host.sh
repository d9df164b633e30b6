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
	is 'the environment has no domain' 0 "$(grep -c domain "$TMP/out/metadata")"
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
	mkfifo "$ROOT/plain/buffer9"
	sleep 5 > "$ROOT/plain/buffer9" &
	pid=$!
	( "$GTSC" record -q -o - -d 3 "$ROOT/plain" 2> /dev/null |
		"$GTSC" print -f count - > "$TMP/live" ) &
	tool one 4242 > "$ROOT/plain/buffer9"
	wait_for 'record -o - | print -: a record is printed as it comes' \
		grep -q '  9 .*/plain: 4242' "$TMP/live"
	kill $pid
	rm "$ROOT/plain/buffer9"
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

# names of functions: a range of addresses for each, in the metadata
functions()
{
	local dir=$TMP/functions one twin absent file
	mkdir "$dir"
	if ! tool functions "$dir"; then
		echo '# /proc/kallsyms shows no addresses'
		return
	fi
	read -r one twin absent < "$dir/functions.names"
	record "$dir/out" "$dir/root/functions"
	is 'functions: record succeeds' 0 $?
	"$GTSC" print "$dir/out" | sed -n 's/.*: \(ip=\)/\1/p' > "$dir/got"
	check 'functions: print shows names' cmp "$dir/functions.gtsc" "$dir/got"
	babeltrace2 "$dir/out" 2>&1 | sed -nE 's/.*\{ (ip = .*) \}$/\1/p' > "$dir/got"
	check 'functions: babeltrace2 shows names' cmp "$dir/functions.babeltrace" "$dir/got"
	is 'functions: the modes of files' 600 "$(stat -c %a "$dir"/out/* | sort -u)"
	is 'functions: no other file' 3 "$(find "$dir/out" -mindepth 1 | wc -l)"
	is 'functions: one that does not occur' 0 "$(grep -c "\"$absent\"" "$dir/out/metadata")"
	record "$dir/ctf2" --ctf2 "$dir/root/functions"
	check 'functions: CTF 2: a JSON text sequence' tool json "$dir/ctf2/metadata"
	is 'functions: CTF 2: as many ranges' "$(grep -c ' \.\.\. ' "$dir/out/metadata")" \
		"$(grep '": \[\[' "$dir/ctf2/metadata" | grep -o '\[-\?[0-9]' | wc -l)"
	# Another machine has other functions
	for file in out ctf2; do
		sed -i "s/\"$one\"/\"other_1\"/; s/\"$twin\"/\"other_2\"/" "$dir/$file/metadata"
		"$GTSC" print "$dir/$file" | sed -n 's/.*: \(ip=\)/\1/p' > "$dir/got"
		sed -E "s/([ =[])$one\>/\1other_1/; s/([ =[])$twin\>/\1other_2/g" \
			"$dir/functions.gtsc" > "$dir/other"
		check "functions: names of another machine ($file)" cmp "$dir/other" "$dir/got"
	done
	# A stream has its metadata at the start
	record - "$dir/root/functions" > "$dir/stream"
	is 'functions: a stream has none' 0 "$(head -c 4000 "$dir/stream" | grep -ac "\"$one\"")"
	is 'functions: print - looks them up' "$(wc -l < "$dir/functions.gtsc")" \
		"$("$GTSC" print - < "$dir/stream" | grep -c ": ip=[^0].* stack=\[$twin ")"
	mkdir "$dir/split"
	tool split "$dir/stream"
	is 'functions: babeltrace2 reads the stream' "$(wc -l < "$dir/functions.gtsc")" \
		"$(babeltrace2 "$dir/split" | grep -c ' ip = 0xF')"
}

# A recording that is killed has metadata without what is known at the end
killed()
{
	"$GTSC" record -q -o "$TMP/killed" "$ROOT/group/calls" 2> /dev/null &
	wait_for 'killed: it has written records' grep -rqsa --include='*_calls_0' . "$TMP/killed"
	kill -KILL $!
	wait $! 2> /dev/null
	is 'killed: the end is not known' 0 "$(grep -c clock_end "$TMP/killed/metadata")"
	"$GTSC" print "$TMP/killed" > "$TMP/got" 2> "$TMP/err"
	is 'killed: print says so' '1 no end: the recording was cut off' \
		"$? $(sed -n 's/.*: \(no end\)/\1/p' "$TMP/err" | sort -u)"
	holds 'killed: its records are printed' "$(wc -l < "$TMP/got") > 0"
	# It was about to replace the metadata
	mkdir "$TMP/killed/.gtsc.new"
	head -c 100 "$TMP/out/metadata" > "$TMP/killed/.gtsc.new/metadata"
	check 'killed: babeltrace2 reads it' babeltrace "$TMP/killed"
	record "$TMP/killed" "$ROOT/group/calls"
	is 'killed: the next recording clears up' '0 0' \
		"$? $(find "$TMP/killed" -name '.gtsc*' | wc -l)"
	is 'its end is known' 1 "$(grep -c clock_end "$TMP/killed/metadata")"
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
	check 'record: a channel whose trace files have no headers' \
		"$GTSC" record -q -d 0.1 -o "$TMP/out" "$ROOT/plain"
}

tool make "$TMP"
all=$(wc -l < "$TMP/expected")
whole
channels
stream
live
ctf2
functions
killed
damage
counters
output
echo "1..$nr"
rm -r "$TMP"
exit "$failed"
