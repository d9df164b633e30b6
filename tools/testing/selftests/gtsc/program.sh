#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the gtsc command does when something is wrong: with the directory of the trace, the
# disk, the limits of the process, or the bytes of a trace. Without a kernel that has
# channels: with plain files in directories like those of channels, and with a modprobe that
# loads nothing. Needs root, python3 and babeltrace2.

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

# What each command says of itself is what gtsc --help says of it
usage()
{
	local command
	local commands='list start stop rewind stat size record print functions graph top report'
	local wrong=''
	is 'usage: all commands' "$commands" \
		"$("$GTSC" --help | sed -nE 's/^(usage:|      ) gtsc ([a-z]+).*/\2/p' |
			uniq | xargs)"
	for command in $commands; do
		"$GTSC" "$command" -h > "$TMP/out" 2> "$TMP/err" || wrong+="$command -h: status $?;"
		[[ -s $TMP/err ]] && wrong+="$command -h: message;"
		[[ $(head -n 1 "$TMP/out") == "usage: gtsc $command"* ]] || wrong+="$command: -h;"
		"$GTSC" --help | grep -qF "$(sed -n '1s/^usage: //p' "$TMP/out")" ||
			wrong+="$command: not in --help;"
		if [[ $command =~ ^(size|record|print|functions|graph|top|report)$ ]]; then
			"$GTSC" "$command" --nothing 2> "$TMP/err"
			(( $? == 2 )) || wrong+="$command --nothing: status;"
			[[ $(tail -n +2 "$TMP/err") == "$(cat "$TMP/out")" ]] ||
				wrong+="$command --nothing;"
		fi
	done
	is 'usage: of each command' '' "$wrong"
	fails 'usage: no such command' 'no such command; gtsc --help shows all of them' \
		"$GTSC" nothing
}

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
	back -n 2 -r 10 -b 500000000
	lost -r 100 -l 30 -s written=100 -s unread=100 -s dropped_full=70 -s dropped_nested=10
	none -r 0 -s dropped_too_big=9
	before -r 10 -s written=60 -s read=50 -s unread=10 -s dropped_full=70
	text -f text 'a\x1b]0;title\x07\tb\n[    2.000000000]   3 other: forged\x9b31m\r\n'
	comm -f 'char comm[8]' 'a\x9b31m\n\xff\x00'
	'evil\x1b[31m\nname' -f text x
	calls -f 'x64 ip; x64 parent_ip' '\x10\0\0\x81\xff\xff\xff\xff\x20\0\0\x81\xff\xff\xff\xff'
	ksyms -f 'ksym ip;ksym parent_ip' '\x10\0\0\x81\xff\xff\xff\xff\x20\0\0\x81\xff\xff\xff\xff'
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
	# A file whose data were not written before a power cut
	truncate -s 0 "$TMP"/mine/*_0
	truncate -s 4096 "$TMP"/mine/*_0
	record mine "$TMP/one"
	is 'an old file of zeros gives way' '0 1' "$? $(find "$TMP/mine" -name '*_0' | wc -l)"
	is 'an old file of zeros: the trace' 1 "$(recorded mine)"
	is 'an old file of zeros: the trace is whole' '' "$(cat "$TMP/print.err")"
	is 'a channel that is named twice' 1 "$("$GTSC" stat "$TMP/one" "$TMP/one" | wc -l)"
	echo victim > "$TMP/victim"
	rm "$TMP/mine"/*_one_0
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

# A trace by a pipe breaks off behind the magic of a packet, or behind its header
cut_pipe()
{
	local offset cut
	"$GTSC" record -q -d 0.1 -o - "$TMP/group" > "$TMP/whole" 2> /dev/null
	offset=$(python3 -c 'import sys
data = open(sys.argv[1], "rb").read()
print(data.find(bytes([0xc1, 0x1f, 0xfc, 0xc1])))' "$TMP/whole")
	is 'a trace by a pipe has a packet of records' 1 "$(( offset > 0 ))"
	for cut in 4 80; do
		head -c "$(( offset + cut ))" "$TMP/whole" > "$TMP/cut"
		fails "print -: a packet has $cut bytes" 'breaks off within a packet' \
			"$GTSC" print - < "$TMP/cut"
	done
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
			"$(grep -c 'big/buffer0: No space left' "$TMP/err")"
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
	is 'disk full at the start: message' 1 "$(grep -c 'No space left' "$TMP/err")"
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
	printf 'ffffffff81000010 T vfs\033[1m\nffffffff81000018 T ksys_write\n' > "$TMP/symbols"
	is 'print -f function' 'vfs\x1b[1m <- ksys_write+0x8' \
		"$("$GTSC" print -f function -k "$TMP/symbols" "$TMP/calls.ctf" | sed 's/.*: //')"
	is 'print: numbers by default' 'ip=0xffffffff81000010 parent_ip=0xffffffff81000020' \
		"$("$GTSC" print "$TMP/calls.ctf" | sed 's/.*: //')"
	fails 'print -k: no such file' 'No such file or directory' \
		"$GTSC" print -k "$TMP/nothing" "$TMP/calls.ctf"
}

# shown OPTION...: how the record of names.ctf is printed
shown() { "$GTSC" print "$@" "$TMP/names.ctf" 2> "$TMP/print.err" | sed 's/.*: //'; }

# with_names LINE...: the metadata of names.ctf gets these names of functions, and no others
with_names()
{
	sed -E '/^ *\t?".*( = -|: \[\[)/d' "$TMP/names.metadata" > "$TMP/names.ctf/metadata"
	printf '%s\n' "$@" >> "$TMP/names.ctf/metadata"
}

# A function of the running kernel, and the bytes of its address as escapes
running_symbol()
{
	python3 - <<-'END'
	import struct
	for line in open("/proc/kallsyms"):
	    address, kind, name = line.split()[:3]
	    if kind == "T" and name == "vfs_read" and int(address, 16):
	        print(name, "".join("\\x%02x" % b for b in struct.pack("=Q", int(address, 16))))
	        break
	END
}

# The names of functions in metadata, of this program and of any other. The two addresses:
#   0xffffffff81000010 = -2130706416, 0xffffffff81000020 = -2130706400
function_names()
{
	local line wrong='' symbol address
	local nothing='ip=0xffffffff81000010 parent_ip=0xffffffff81000020'
	record names.ctf "$TMP/ksyms"
	is 'names: record' 0 $?
	cp "$TMP/names.ctf/metadata" "$TMP/names.metadata"
	with_names $'\t"vfs_read" = -2130706416 ... -2130706401,' \
		$'\t"ksys_read.part.0" = -2130706408 ... -2130706389'
	is 'names: CTF 1.8' 'ip=vfs_read parent_ip=ksys_read.part.0+0x8' "$(shown)"
	is 'names: -f function' 'vfs_read <- ksys_read.part.0+0x8' "$(shown -f function)"
	with_names '   "a": [[-2130706416, -2130706415], [-2130706401, -2130706390]],' \
		'   "b": [[5, 6]]'
	is 'names: CTF 2, one name of two functions' 'ip=a parent_ip=a+0x1' "$(shown)"
	# Of both languages, and of a machine with numbers that are not negative
	with_names '"a" = 18446744071578845200 ... 18446744071578845210'
	is 'names: numbers without a sign' "ip=a parent_ip=${nothing##*=}" "$(shown)"
	# Names that are lines of the environment, or would break a terminal
	with_names '"tracer_name" = -2130706416 ... -2130706416,' \
		'"clock_offset": [[-2130706400, -2130706399]],' '"channel_0" = 16 ... 17'
	is 'names: like those of the environment' 'ip=tracer_name parent_ip=clock_offset' "$(shown)"
	with_names $'"a\\"b\\\\c\033[1m" = -2130706416 ... -2130706400'
	is 'names: with escapes' 'ip=a"b\c\x1b[1m parent_ip=a"b\c\x1b[1m+0x10' "$(shown)"
	# In what order names are taken
	printf 'ffffffff81000010 T other\n' > "$TMP/symbols"
	is 'names: -k' 'ip=other parent_ip=other+0x10' "$(shown -k "$TMP/symbols")"
	# The last name, up to 64 KiB behind its start
	printf '%s\n' 'ffffffff80fe0000 T other' 'ffffffff80ff0020 T last' > "$TMP/symbols"
	is 'names: the last one' 'ip=last+0xfff0 parent_ip=0xffffffff81000020' \
		"$(shown -k "$TMP/symbols")"
	printf '%s\n' 'ffffffff80fe0000 T other' 'ffffffffffffff00 T last' > "$TMP/symbols"
	is 'names: the last one, at the end' 'ip=other+0x20010 parent_ip=other+0x20020' \
		"$(shown -k "$TMP/symbols")"
	# Without names: those of the running kernel, if the trace is of the same boot
	with_names
	shown > "$TMP/out"
	is 'names: none, of this boot: nothing is said' '' "$(cat "$TMP/print.err")"
	if read -r symbol address < <(running_symbol); then
		python3 "$HERE/fake_channel.py" "$TMP" <<-END
		running -f 'ksym ip' '$address'
		END
		"$GTSC" record -q -d 0.1 -o - "$TMP/running" > "$TMP/running.pipe" 2> /dev/null
		is 'names: none, of this boot' "ip=$symbol" \
			"$("$GTSC" print - < "$TMP/running.pipe" | sed 's/.*: //')"
		sed -i 's/boot_id = "......../boot_id = "00000000/' "$TMP/running.pipe"
		is 'names: none, of another boot: the pipe' 0 \
			"$("$GTSC" print - < "$TMP/running.pipe" 2> /dev/null | grep -c "=$symbol")"
	else
		echo '# /proc/kallsyms shows no addresses'
	fi
	sed -i 's/boot_id = "......../boot_id = "00000000/' "$TMP/names.ctf/metadata"
	is 'names: none, of another boot' "$nothing" "$(shown)"
	is 'names: none, of another boot: it is said' \
		'gtsc: the trace has no names of functions, and is not of this boot: see -k' \
		"$(cat "$TMP/print.err")"
	sed -i '/boot_id = /d' "$TMP/names.ctf/metadata"
	is 'names: none, of a boot that is not known' "$nothing" "$(shown)"

	# One name that is right, so that those of this machine are not taken
	for line in '"a' '"a"' '"a" =' '"a" = ' '"a" = -2130706416' '"a" = -2130706416 ...' \
		'"a" = x ... y' '"a" = -2130706400 ... -2130706416' $'"a\\' '"' '""' \
		'"a" = 1 ... -1' \
		'"a" = 99999999999999999999 ... 99999999999999999999' '"a": [[' '"a": [[]]' \
		'"a": [[-2130706416]]' '"a": [[1, 2], [' '"a": [[-2130706416, x]]' \
		'"a": [[-2130706400, -2130706416]]'; do
		with_names "$line" '"right" = 1 ... 2' "$line"
		[[ $(shown) == "$nothing" ]] || wrong+="$line;"
	done
	is 'names: lines that are damaged' '' "$wrong"
	with_names '"a" = -2130706416 ... -2130706400' '"b" = -2130706420 ... -2130706390' \
		'"c" = -2130706416 ... -2130706416' "\"$(printf '%05000d' 0)\" = 1 ... 2"
	shown > "$TMP/out"
	is 'names: ranges that overlap, a long name' 1 "$(wc -l < "$TMP/out")"
}

# clock LINE...: the wall clock of names.ctf, whose record is of the first second
clock()
{
	sed '/clock_[a-z_]* =/d' "$TMP/names.metadata" > "$TMP/names.ctf/metadata"
	printf '%s;\n' "$@" >> "$TMP/names.ctf/metadata"
	TZ=UTC "$GTSC" print -w -f count "$TMP/names.ctf" 2> "$TMP/print.err" | sed 's/ *0 .*//'
}

clocks()
{
	is 'clock: of the beginning and of the end' \
		'clock_begin clock_end clock_offset clock_offset_end' \
		"$(sed -nE 's/^\t(clock_[a-z_]+) = [0-9]+;$/\1/p' "$TMP/names.metadata" |
			sort | xargs)"
	is 'clock: the end is not known' '[1970-01-01 00:00:01.500000000]' \
		"$(clock 'clock_begin = 7' 'clock_offset = 500000000')"
	is 'clock: of an old trace' '[1970-01-01 00:00:01.500000000]' \
		"$(clock 'clock_offset = 500000000')"
	is 'clock: is slewed' '[1970-01-01 00:00:01.000100000]' "$(clock 'clock_begin = 500000000' \
		'clock_end = 1500000000' 'clock_offset = 0' 'clock_offset_end = 200000')"
	is 'clock: is slewed: nothing is said' '' "$(cat "$TMP/print.err")"
	is 'clock: a record before the beginning' '[1970-01-01 00:00:01.000000000]' \
		"$(clock 'clock_begin = 1500000000' 'clock_end = 2500000000' 'clock_offset = 0' \
			'clock_offset_end = 200000')"
	is 'clock: a record after the end' '[1970-01-01 00:00:01.000200000]' \
		"$(clock 'clock_begin = 5' 'clock_end = 900000000' 'clock_offset = 0' \
			'clock_offset_end = 200000')"
	is 'clock: is set' '[1970-01-01 00:00:06.000000000]' "$(clock 'clock_begin = 0' \
		'clock_end = 2000000000' 'clock_offset = 0' 'clock_offset_end = 10000000000')"
	is 'clock: is set: it is said' \
		'gtsc: the wall clock was set, or the machine slept: -w may be off by 10.000 s' \
		"$(cat "$TMP/print.err")"
	"$GTSC" print "$TMP/names.ctf" > /dev/null 2> "$TMP/print.err"
	is 'clock: is set: without -w, it is not said' '' "$(cat "$TMP/print.err")"
	is 'clock: damaged numbers' 1 "$(clock 'clock_begin = 1' \
		'clock_end = 99999999999999999999' 'clock_offset = -9223372036854775808' \
		'clock_offset_end = 9223372036854775807' | wc -l)"
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

# A directory that stands for debugfs, with the channel of gtsc graph; one that stands for
# /sys/module; and a modprobe that loads nothing
fake_system()
{
	mkdir -p "$TMP/debugfs" "$TMP/modules" "$TMP/system"
	python3 "$HERE/fake_channel.py" "$TMP/debugfs" <<-'END'
	gtsc/graph -r 20000 -f text x
	END
	cat > "$TMP/system/modprobe" <<-END
	#!/bin/sh
	[ -e "$TMP/faster" ] || exit 0
	# Another gtsc was faster. Without --first-time, that is no error.
	mkdir -p "$TMP/modules/gtsc_graph/parameters"
	echo 1 > "$TMP/modules/gtsc_graph/parameters/except"
	END
	chmod +x "$TMP/system/modprobe"
	cp "$(command -v "$GTSC")" "$TMP/system/gtsc"
}

# faked COMMAND...: runs it in a mount namespace that has these directories
# shellcheck disable=SC2016 # the inner shell expands
faked()
{
	unshare -m sh -c 'mount --bind "$0/debugfs" /sys/kernel/debug &&
		mount --bind "$0/modules" /sys/module && PATH=$0/system:$PATH && exec "$@"' \
		"$TMP" "$@"
}

loaded_module()
{
	local pid command lines
	fake_system
	if [[ ! -d /sys/kernel/debug || -d /sys/module/gtsc_graph ]] || ! faked true; then
		echo '# no mount namespace or debugfs, or the module is loaded: it cannot be faked'
		return
	fi
	# The pipe is full when the command ends
	lines=$(faked gtsc graph -- sleep 0.5 2> "$TMP/err" | { sleep 2; wc -l; })
	is 'the command ends while the pipe is full: all is printed' 20000 "$lines"
	is 'the command ends: the module is removed' 'gtsc_graph cannot be removed' \
		"$(sed -E 's/^gtsc: (the module )?//; s/(removed):.*/\1/' "$TMP/err")"

	# shellcheck disable=SC2016 # the inner shell expands
	faked gtsc graph -q -o "$TMP/stubborn" -- \
		sh -c 'trap ": > $0" TERM; echo $PPID $$ > $0.new; mv $0.new $0.pids
			while :; do sleep 0.1; done' \
		"$TMP/term" > /dev/null 2> "$TMP/err" &
	wait_for 'a command that ignores SIGTERM starts' test -e "$TMP/term.pids"
	read -r pid command < "$TMP/term.pids"
	kill -INT "$pid"
	wait_for 'a command that ignores SIGTERM gets it' test -e "$TMP/term"
	is 'a command that ignores SIGTERM: gtsc waits for it' waits \
		"$(kill -0 "$pid" 2> /dev/null && echo waits)"
	for _ in {1..100}; do
		kill -INT "$pid" 2> /dev/null || break
		sleep 0.1
	done
	is 'a command that ignores SIGTERM: a second signal ends gtsc' gone \
		"$(kill -0 "$pid" 2> /dev/null || echo gone)"
	kill -KILL "$pid" "$command" 2> /dev/null
	wait $! 2> /dev/null

	: > "$TMP/faster"
	faked gtsc graph -d 0.1 > "$TMP/out" 2> "$TMP/err"
	is 'another gtsc loads the module meanwhile' \
		'1 the module gtsc_graph is loaded: rmmod it, or gtsc print --follow gtsc/graph' \
		"$? $(sed 's/^gtsc: //' "$TMP/err")"

	# Who is not root cannot even see whether there are channels
	chmod 700 "$TMP/debugfs"
	fails 'list: not root' 'Permission denied' faked setpriv --reuid $NOBODY --regid $NOBODY \
		--clear-groups gtsc list
	fails 'stat: not root' 'Permission denied' faked setpriv --reuid $NOBODY --regid $NOBODY \
		--clear-groups gtsc stat gtsc/graph
	is 'list: root' 1 "$(faked gtsc list | grep -c '^gtsc/graph ')"
}

# A CPU, and its file, comes shortly before the end
late_files()
{
	local pid
	python3 "$HERE/fake_channel.py" "$TMP" <<-'END'
	late
	END
	"$GTSC" record -q -o "$TMP/late.ctf" "$TMP/late" 2> "$TMP/err" &
	pid=$!
	wait_for 'a file that comes late: the recording begins' test -e "$TMP/late.ctf/metadata"
	cp "$TMP/late/buffer0" "$TMP/late/buffer7"
	kill -INT "$pid"
	ends 'a file that comes late' "$pid"
	is 'a file that comes late: is recorded' 2 "$(recorded late.ctf)"
	rm "$TMP/late/buffer7"
	"$GTSC" print --follow -f count "$TMP/late" > "$TMP/out" 2> "$TMP/err" &
	pid=$!
	wait_for 'a file that comes late: print --follow' test -s "$TMP/out"
	cp "$TMP/late/buffer0" "$TMP/late/buffer7"
	kill -INT "$pid"
	ends 'a file that comes late: print --follow ends' "$pid"
	is 'a file that comes late: is printed' 2 "$(wc -l < "$TMP/out")"
}

# A task on one CPU after another writes records, while their files are read
in_order()
{
	local pid
	python3 "$HERE/fake_channel.py" "$TMP" <<-'END'
	turns -n 16 -f 'u64 number'
	END
	"$GTSC" print --follow "$TMP/turns" > "$TMP/out" 2> "$TMP/err" &
	pid=$!
	wait_for 'records of several CPUs: the first ones' test -s "$TMP/out"
	PYTHONPATH=$HERE python3 -B - "$TMP/turns" <<-'END'
	import os, struct, sys, time
	from fake_channel import record, RECORD

	paths = [f"{sys.argv[1]}/buffer{cpu}" for cpu in range(16)]
	files = [os.open(path, os.O_WRONLY | os.O_APPEND) for path in paths]
	for i in range(200000):
	    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
	    os.write(files[i % 16], record(now, RECORD, i % 16, struct.pack("=Q", i)))
	END
	kill -INT "$pid"
	ends 'records of several CPUs' "$pid"
	is 'records of several CPUs: all' 200016 "$(wc -l < "$TMP/out")"
	check 'records of several CPUs: are in order' sort -cns <(sed 's/^\[ *//' "$TMP/out")
}

# The clock goes back when the machine resumes: such a trace is not damaged
clock_goes_back()
{
	record back.ctf "$TMP/back"
	is 'the clock goes back: record' 0 $?
	is 'the clock goes back: all records' 20 "$(recorded back.ctf)"
	is 'the clock goes back: no damage' '' "$(cat "$TMP/print.err")"

	# Half of the records are from the future, and are more than what is read at once
	python3 "$HERE/fake_channel.py" "$TMP" <<-'END'
	future -r 40000 -t 4000000000000000000 -b 3999999999000000000
	END
	is 'the clock goes back: print' 40000 "$("$GTSC" print -f count "$TMP/future" | wc -l)"
}

# A record that is longer than any can be: the file cannot be read any more
unreadable_file()
{
	python3 "$HERE/fake_channel.py" "$TMP" <<-'END'
	broken
	END
	printf '\377\377\377\377\0\0\0\0\0\0\0\0\377\377\377\377' >> "$TMP/broken/buffer0"
	timeout 60 "$GTSC" print --follow -f count "$TMP/broken" > "$TMP/out" 2> "$TMP/err"
	is 'a file that cannot be read: is given up' '1 1 1' \
		"$? $(wc -l < "$TMP/out") $(grep -c 'Bad message' "$TMP/err")"
}

rewinds()
{
	fails 'rewind: no flight recorder' 'is no flight recorder' "$GTSC" rewind "$TMP/one"
	fails 'rewind: none of several' 'is no flight recorder' \
		"$GTSC" rewind "$TMP/one" "$TMP/many"
}

# wrong COMMAND...: status 2 after one line that says what is wrong; also tells of what it does not
wrong()
{
	local status
	"$GTSC" "$@" > "$TMP/out" 2> "$TMP/err"
	status=$?
	(( status == 2 )) && [[ ! -s $TMP/out && $(cat "$TMP/err") == 'gtsc: '* &&
		$(wc -l < "$TMP/err") == 1 ]] || printf '%s;' "$*: $status"
}

# Options that the command has, with wrong values, or that exclude each other
option_values()
{
	local value command
	is 'options: seconds' '' "$(
		for value in nan -nan inf 1e300 1e10 0 -1 -0 '' x 1x '1 2' 0x; do
			wrong record -d "$value" "$TMP/one"
			for command in functions graph top; do
				wrong "$command" -d "$value"
			done
		done)"
	is 'options: a process' '' "$(
		for value in 0 -1 '' x 1x 4294967297 99999999999999999999; do
			for command in functions graph top; do
				wrong "$command" -p "$value"
			done
		done
		wrong functions -p 1 true)"
	is 'options: a pattern, a directory' '' "$(
		wrong record -o '' "$TMP/one"
		for command in functions graph; do
			wrong "$command" -o ''
			wrong "$command" -f ''
		done
		wrong top -f '')"
	is 'options: gtsc top' '' "$(wrong top --by path; wrong top --by x; wrong top --sort x)"
	is 'options: gtsc report' '' "$(
		for value in 0 -1 '' x 1x 99999999999999999999; do
			wrong report -n "$value" "$TMP/old"
		done
		for value in nan inf -1 101 '' x; do
			wrong report --flame --minimum "$value" "$TMP/old"
		done
		wrong report --by x "$TMP/old"
		wrong report --sort '' "$TMP/old")"
	is 'options: gtsc report: that exclude each other' '' "$(
		wrong report --flame --folded "$TMP/old"
		wrong report --perfetto --by task "$TMP/old"
		wrong report --perfetto -n 5 "$TMP/old"
		wrong report --folded --sort self "$TMP/old"
		wrong report --folded --minimum 1 "$TMP/old"
		wrong report --minimum 1 "$TMP/old"
		wrong report --folded --by path "$TMP/old"
		wrong report --flame --by cpu "$TMP/old")"
	is 'options: others' '' "$(
		wrong print -f x "$TMP/old"
		wrong print --follow "$TMP/old"
		wrong print "$TMP/old" "$TMP/old"
		wrong size "$TMP/one" x 4
		wrong size -- "$TMP/one" 4096 -1
		wrong size "$TMP/one" 99999999999999999999 4)"
	is 'options: the largest values' '0 0' "$("$GTSC" report -n 1 "$TMP/old" > /dev/null 2>&1
		echo $?) $("$GTSC" report --flame --minimum 100 "$TMP/old" > /dev/null 2>&1
		echo $?)"
}

# Options that the command does not have, and missing arguments: there is the usage, too
no_such_option()
{
	local line wrong='' words
	while read -r line; do
		read -ra words <<< "$line"
		"$GTSC" "${words[@]}" > "$TMP/out" 2> "$TMP/err"
		[[ $? == 2 && ! -s $TMP/out && $(grep -c '^usage: ' "$TMP/err") == 1 ]] ||
			wrong+="$line;"
	done <<-END
	list -x
	start
	rewind
	size $TMP/one 4096
	size -x $TMP/one 4096 4
	record
	record -p 1 $TMP/one
	record -d
	print
	print -n 1 $TMP/old
	report
	report --folded $TMP/old $TMP/old
	report --keep $TMP/old
	functions -r
	functions --by task
	graph --keep
	graph --sort self
	top -o x
	top -r
	top --flight
	END
	is 'options that a command does not have' '' "$wrong"
}

# quietly NAME COMMAND...: its reader has read enough; a signal may end it
quietly()
{
	local name=$1 status
	shift
	"$@" 2> "$TMP/err" | head -n 1 > /dev/null
	status=${PIPESTATUS[0]}
	(( status == 128 + $(kill -l PIPE) )) && status=0
	is "$name: a pipe that is closed early" '0 ' "$status $(cat "$TMP/err")"
}

closed_pipes()
{
	record big.ctf "$TMP/big"
	quietly 'print' "$GTSC" print "$TMP/big.ctf"
	"$GTSC" record -q -d 0.1 -o - "$TMP/big" > "$TMP/big.stream" 2> /dev/null
	quietly 'print -' "$GTSC" print - < "$TMP/big.stream"
	quietly 'print TRACE' "$GTSC" print "$TMP/big"
	quietly 'print --follow' timeout 100 "$GTSC" print --follow "$TMP/big"
	"$GTSC" stat "$TMP/one" > /dev/full 2> "$TMP/err"
	is 'stat: disk full' '1 gtsc: standard output: not all could be written' \
		"$? $(cat "$TMP/err")"
}

usage
channels
output_directory
old_trace
numbers
cut_pipe
disk_full
losses
escapes
function_names
clocks
option_values
no_such_option
closed_pipes
late_files
in_order
clock_goes_back
unreadable_file
rewinds
interrupted_load
loaded_module
echo "1..$nr"
rm -r "$TMP"
exit "$failed"
