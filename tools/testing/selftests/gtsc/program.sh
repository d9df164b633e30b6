#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the gtsc command does when something is wrong: with the directory of the trace, the
# disk, the limits of the process, or the bytes of a trace. Without a kernel that has
# channels: with plain files in directories like those of channels. Needs root, python3 and
# babeltrace2.

HERE=$(dirname "$(readlink -f "$0")")
GTSC=${GTSC:-gtsc}
export LC_ALL=C
TMP=$(mktemp -d)
# The trace belongs to root in a directory of others
chmod 755 "$TMP"
NOBODY=65534

# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$HERE/lib.sh"

if (( EUID )) || ! command -v babeltrace2 > /dev/null || ! command -v python3 > /dev/null; then
	echo "1..0 # SKIP not root, or no babeltrace2 or python3"
	exit "$KSFT_SKIP"
fi

# The channels of all tests
channels()
{
	python3 "$HERE/fake_channel.py" "$TMP" <<-'END'
	one
	state
	many -n 40
	group -c 70
	wide -n 1100
	small -n 3 -r 10
	big -r 20000 0123456789012345678901234567890123456789012345678901234567890123456789
	lost -r 100 -l 30 -s written=100 -s unread=100 -s dropped_full=70 -s dropped_nested=10
	none -r 0 -s dropped_too_big=9
	before -r 10 -s written=60 -s read=50 -s unread=10 -s dropped_full=70
	text -f text 'a\x1b]0;title\x07\tb\n[    2.000000000]   3 other: forged\x9b31m\r\n'
	comm -f 'char comm[8]' 'a\x9b31m\n\xff\x00'
	'evil\x1b[31m\nname' -f text x
	calls -f 'x64 ip; x64 parent_ip' '\x10\0\0\x81\xff\xff\xff\xff\x20\0\0\x81\xff\xff\xff\xff'
	END
}

# record OUTPUT TRACE...: the message is in $TMP/err
record() { "$GTSC" record -q -d 0.1 -o "$TMP/$1" "${@:2}" 2> "$TMP/err"; }

# refused NAME MESSAGE OUTPUT [TRACE]
refused()
{
	record "$3" "${4:-$TMP/one}"
	is "$1: status" 1 $?
	is "$1: message" 1 "$(grep -c "$2" "$TMP/err")"
}

# recorded DIR: the number of records in a trace
recorded() { "$GTSC" print -f count "$TMP/$1" 2> "$TMP/print.err" | grep -vc ': lost '; }

# events DIR: the events in a trace, and how many were discarded
events()
{
	babeltrace2 "$TMP/$1" > "$TMP/bt" 2> "$TMP/bt.err" || echo "babeltrace2 fails"
	echo "$(wc -l < "$TMP/bt")" "$(sed -nE 's/.*[Dd]iscarded ([0-9]+) event.*/\1/p' \
		"$TMP/bt.err" | awk '{ n += $1 } END { print n + 0 }')"
}

as_nobody() { setpriv --reuid $NOBODY --regid $NOBODY --clear-groups "$@"; }

output_directory()
{
	mkdir -m 1777 "$TMP/open"
	# Of somebody else, who changes a file into a link at any time
	as_nobody mkdir "$TMP/open/theirs"
	refused 'a directory of another user' 'belongs to another user' open/theirs
	is 'a directory of another user: nothing was written' '' "$(ls -A "$TMP/open/theirs")"
	as_nobody sh -c "echo '	tracer_name = \"gtsc\";' > $TMP/open/theirs/metadata"
	refused 'a trace of another user' 'belongs to another user' open/theirs
	mkdir -m 777 "$TMP/writable"
	refused 'a directory that others can write to' 'others can write to it' writable
	is 'a directory that others can write to: its mode' 777 "$(stat -c %a "$TMP/writable")"
	mkdir "$TMP/mine"
	ln -s "$TMP/mine" "$TMP/open/link"
	refused 'a symbolic link' 'is a symbolic link' open/link
	refused 'a symbolic link with a slash' 'is a symbolic link' open/link/
	is 'a symbolic link: nothing was written' '' "$(ls -A "$TMP/mine")"

	record mine "$TMP/one"
	is 'an empty directory' 0 $?
	is 'an empty directory: the trace' 1 "$(recorded mine)"
	echo victim > "$TMP/victim"
	rm "$TMP/mine"/*_one_0
	ln -s "$TMP/victim" "$TMP/mine/.kallsyms"
	mkdir "$TMP/mine/.gtsc.new"
	ln -s "$TMP/victim" "$TMP/mine/.gtsc.new/metadata"
	ln -s "$TMP/victim" "$TMP/mine/${TMP//\//_}_one_0"
	record mine "$TMP/one"
	is 'links in an old trace' 0 $?
	is 'links in an old trace: are not followed' victim "$(cat "$TMP/victim")"
	is 'links in an old trace: the new trace' "1 2 1" "$(recorded mine) $(
		find "$TMP/mine" -type f -perm 600 | wc -l) $(find "$TMP/mine" -type l | wc -l)"
	is 'the other files of a new trace' '' "$(find "$TMP/mine" -name '.*' ! -path "$TMP/mine")"
	rm "$TMP/mine/metadata"
	ln -s "$TMP/victim" "$TMP/mine/metadata"
	refused 'metadata that is a link' 'is not empty, and not a trace' mine
	fails 'print: metadata that is a link' 'Too many levels of symbolic links' \
		"$GTSC" print "$TMP/mine"
	mkfifo "$TMP/open/metadata"
	fails 'print: metadata that is a pipe' 'Invalid argument' \
		timeout 60 "$GTSC" print "$TMP/open"
	# The state of a channel
	echo stopped > "$TMP/stopped"
	ln -sf "$TMP/stopped" "$TMP/state/state"
	refused 'state that is a link' 'Too many levels of symbolic links' mine2 "$TMP/state"
	is 'state that is a link: is not followed' stopped "$(cat "$TMP/stopped")"
}

# An old trace is replaced when the new one can be written
old_trace()
{
	local first
	record old "$TMP/one"
	( ulimit -n 30; "$GTSC" record -q -d 0.1 -o "$TMP/old" "$TMP/many" ) 2> "$TMP/err"
	is 'no more files: status' 1 $?
	is 'no more files: message' 1 "$(grep -c 'Too many open files' "$TMP/err")"
	is 'no more files: the old trace is still there' '1 metadata' \
		"$(recorded old) $(find "$TMP/old" -mindepth 1 ! -name '*_0' -printf '%f')"
	( ulimit -Sn 30; "$GTSC" record -q -d 0.1 -o "$TMP/old" "$TMP/many" ) 2> "$TMP/err"
	is 'the soft limit of files is raised' '0 40' "$? $(recorded old)"
	"$GTSC" record -q -o "$TMP/old" "$TMP/one" 2> /dev/null &
	first=$!
	wait_for 'a recording begins' test "$TMP/old/metadata" -nt "$TMP/err"
	refused 'two recordings into one directory' 'another gtsc records into it' old
	kill "$first"
	ends 'two recordings: the first one' "$first"
}

numbers()
{
	record group.ctf "$TMP/group"
	is '70 channels' '0 70' "$? $(recorded group.ctf)"
	is '70 channels: babeltrace2' '70 0' "$(events group.ctf)"
	"$GTSC" record -q -d 0.1 -o - "$TMP/group" 2> /dev/null | "$GTSC" print -f count - |
		wc -l > "$TMP/n"
	is '70 channels: by a pipe' 70 "$(cat "$TMP/n")"
	is '70 channels: print TRACE' 70 "$("$GTSC" print -f count "$TMP/group" | wc -l)"
	# Some machines do not allow so many files: the limit cannot be raised then
	if [[ $(ulimit -Hn) == unlimited ]] || (( $(ulimit -Hn) > 1200 )); then
		record wide.ctf "$TMP/wide"
		is '1,100 files' '0 1100' "$? $(recorded wide.ctf)"
	fi
}

# Readers see whole packets, and each record that was read is an event or discarded
disk_full()
{
	local mount=$TMP/mount events lost status size
	mkdir "$mount"
	for size in 24 1000; do
		if ! mount -t tmpfs -o size=${size}k none "$mount"; then
			echo '# no tmpfs: the disk cannot be full'
			return
		fi
		"$GTSC" record -q -d 0.3 -o "$mount/out" "$TMP/small" "$TMP/big" 2> "$TMP/err"
		is "disk full ($size): status" 1 $?
		is "disk full ($size): message" 1 \
			"$(grep -c 'big/trace0: No space left' "$TMP/err")"
		status=$(sed -nE 's/.* ([0-9]+) records were read, and could not.*/\1/p' "$TMP/err")
		holds "disk full ($size): it says what is lost" "${status:-0} > 0"
		"$GTSC" print "$mount/out" > /dev/null 2> "$TMP/damage"
		is "disk full ($size): print finds no damage" '0 ' "$? $(cat "$TMP/damage")"
		read -r events lost <<< "$(events mount/out)"
		is "disk full ($size): the records that were written" \
			"$(sed -nE 's/.* ([0-9]+) records .*\/s .*/\1/p' "$TMP/err")" "$events"
		# Of a stream without any packet, only the message tells
		(( size < 1000 )) || is "disk full ($size): discarded" "$status" "$lost"
		umount "$mount"
	done
	mount -t tmpfs -o size=64k none "$mount"
	"$GTSC" record -q -d 0.1 -o "$mount/out" "$TMP/small" 2> /dev/null
	head -c 1M /dev/zero > "$mount/filler" 2> /dev/null
	"$GTSC" record -q -d 0.1 -o "$mount/out" "$TMP/small" 2> "$TMP/err"
	is 'disk full at the start: the old trace is still there' '1 30' "$? $(recorded mount/out)"
	rm "$mount/filler"
	"$GTSC" record -q -d 0.3 -o - "$TMP/big" > "$mount/stream" 2> "$TMP/err"
	is 'disk full: standard output: status' 1 $?
	"$GTSC" print -f count - < "$mount/stream" > /dev/null
	is 'disk full: standard output: whole packets' 0 $?
	"$GTSC" print "$TMP/big" > /dev/full 2> "$TMP/err"
	is 'print: disk full' '1 gtsc: standard output: not all could be written' \
		"$? $(cat "$TMP/err")"
	umount "$mount"
	( ulimit -f 300; "$GTSC" record -q -d 0.3 -o "$TMP/limited" "$TMP/big" 2> "$TMP/err" )
	is 'a limit of the file size: status' 1 $?
	is 'a limit of the file size: all is told' "$((events = $(recorded limited))) $(
		sed -nE 's/.* ([0-9]+) records were read, and could not.*/\1/p' "$TMP/err")" \
		"$(events limited)"
}

losses()
{
	# Nobody has read it, and nothing was written since: no LOST record tells of the last 50
	record lost.ctf "$TMP/lost"
	is 'lost behind the last packet' '100 80' "$(events lost.ctf)"
	is 'lost behind the last packet: print' 80 \
		"$("$GTSC" print "$TMP/lost.ctf" | sed -nE 's/.*: lost ([0-9]+) .*/\1/p' |
			awk '{ n += $1 } END { print n + 0 }')"
	record none.ctf "$TMP/none"
	is 'lost, and no record' '0 9' "$(events none.ctf)"
	# What another reader was told of is not told again
	record before.ctf "$TMP/before"
	is 'lost before the recording' '10 0' "$(events before.ctf)"
}

# Bytes that a terminal would take for a command, in records and in names
escapes()
{
	local control=$'[\001-\010\013-\037\177-\377]' out=$TMP/print
	local evil=$'evil\033[31m\nname'
	record text.ctf "$TMP/text" "$TMP/comm" "$TMP/$evil"
	"$GTSC" print "$TMP/text.ctf" > "$out"
	is 'escapes: none gets out' 0 "$(grep -ac "$control" "$out")"
	is 'escapes: a line for each record' 3 "$(wc -l < "$out")"
	is 'escapes: text' \
		'a\x1b]0;title\x07'$'\t''b\x0a[    2.000000000]   3 other: forged\x9b31m\x0d' \
		"$(sed -nE 's/.*\/text: //p' "$out")"
	is 'escapes: a string' 'comm="a\x9b31m\x0a\xff"' "$(sed -nE 's/.*\/comm: //p' "$out")"
	is 'escapes: a name' 'evil\x1b[31m\x0aname' "$(sed -nE 's/.*\/(evil.*): x$/\1/p' "$out")"
	"$GTSC" print -f text "$TMP/text.ctf" > "$out"
	is 'escapes: -f text' 0 "$(grep -ac "$control" "$out")"
	"$GTSC" stat "$TMP/$evil" > "$out"
	is 'escapes: gtsc stat' '1 0' "$(wc -l < "$out") $(grep -ac "$control" "$out")"
	# Of another machine: names in the metadata, of files, and of symbols
	sed -i $'s/channel_0 = ".*"/channel_0 = "n\033]0;x\007\x9b"/' "$TMP/text.ctf/metadata"
	echo junk > "$TMP/text.ctf/"$'j\033[31mk\n_0'
	"$GTSC" print "$TMP/text.ctf" > "$out" 2>&1
	is 'escapes: metadata and names of files' 0 "$(grep -ac "$control" "$out")"
	is 'escapes: the name of a channel' 1 "$(grep -c ' n\\x1b\]0;x\\x07\\x9b: ' "$out")"
	record calls.ctf "$TMP/calls"
	printf 'ffffffff81000010 T vfs\033[1m\nffffffff81000018 T ksys_write\n' \
		> "$TMP/calls.ctf/.kallsyms"
	is 'print -f function' 'vfs\x1b[1m <- ksys_write+0x8' \
		"$("$GTSC" print -f function "$TMP/calls.ctf" | sed 's/.*: //')"
	is 'print: numbers by default' 'ip=0xffffffff81000010 parent_ip=0xffffffff81000020' \
		"$("$GTSC" print "$TMP/calls.ctf" | sed 's/.*: //')"
	fails 'print -k: no such file' 'No such file or directory' \
		"$GTSC" print -k "$TMP/nothing" "$TMP/calls.ctf"
}

# Signals while modprobe loads the module. This one loads none, so it cannot be removed.
interrupted_load()
{
	local bin=$TMP/bin
	mkdir "$bin"
	cat > "$bin/modprobe" <<-END
	#!/usr/bin/python3
	import signal, time
	open("$TMP/loading", "w").close()
	signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
	signal.signal(signal.SIGINT, signal.SIG_DFL)
	while not __import__("os").path.exists("$TMP/go"):
	    time.sleep(0.01)
	open("$TMP/loaded", "w").close()
	signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
	END
	chmod +x "$bin/modprobe"
	set -m
	PATH=$bin:$PATH "$GTSC" functions > "$TMP/out" 2>&1 &
	set +m
	wait_for 'modprobe runs' test -e "$TMP/loading"
	# The second one does not end it at once
	kill -INT -- -$!
	sleep 0.2
	kill -INT -- -$!
	sleep 0.2
	touch "$TMP/go"
	wait $!
	is 'signals while the module is loaded: status' 1 $?
	check 'signals while the module is loaded: modprobe ends' test -e "$TMP/loaded"
	is 'signals while the module is loaded: it is removed' \
		'interrupted before the functions were traced;gtsc_functions cannot be removed' \
		"$(sed -E 's/^gtsc: (the module )?//; s/(removed):.*/\1/' "$TMP/out" |
			paste -sd ';')"
	fails 'functions: too many patterns' 'all patterns together are longer than 1024 bytes' \
		env PATH="$bin:$PATH" "$GTSC" functions -f "$(printf '%01025d' 0)"
}

channels
output_directory
old_trace
numbers
disk_full
losses
escapes
interrupted_load
echo "1..$nr"
rm -r "$TMP"
exit "$failed"
