#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gtsc report: calls that are known, and what it has to say of them. Without a kernel that has
# channels: plain files in directories like those of channels are recorded. Needs python3.

HERE=$(dirname "$(readlink -f "$0")")
GTSC=${GTSC:-gtsc}
export LC_ALL=C
TMP=$(mktemp -d)
CHECK=$HERE/report_check.py

# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$HERE/lib.sh"

if ! command -v python3 > /dev/null; then
	echo "1..0 # SKIP no python3"
	exit "$KSFT_SKIP"
fi

# trace NAME KIND < LINES: see fake_calls.py
trace()
{
	python3 "$HERE/fake_calls.py" "$TMP/$1" "$2"
	"$GTSC" record -q -d 0.1 -o "$TMP/$1.ctf" "$TMP/$1" 2> /dev/null
	cat "$TMP/$1/names" >> "$TMP/$1.ctf/metadata"
}

# report OPTION...: its last message is in $TMP/err
report() { "$GTSC" report "$@" 2> "$TMP/err"; }

# shows NAME OPTION... < EXPECTED
shows()
{
	local name=$1 expected
	shift
	expected=$(cat)
	is "$name" "$expected" "$(report "$@")"
}

# counts NAME CALLS LOST UNUSABLE: what the last report has said
counts()
{
	is "$1" "gtsc: $2 calls are reported, $3 records were lost, $4 could not be used" \
		"$(tail -n 1 "$TMP/err")"
}

traces()
{
	# A task moves to another CPU in a call; one calls itself; both CPUs are idle; callees
	# are not one level below their caller; a callee has begun before the call that follows
	trace calls retval <<-'END'
	0 one-11 leaf 2000 3000 2 7
	0 one-11 leaf 4000 4500 2 0
	1 one-11 middle 1500 6000 1
	1 one-11 root 1000 10000 0 0xffffffffffffffff
	0 two-22 leaf 23000 24000 3
	0 two-22 again 22000 25000 2
	0 two-22 again 21000 29000 1
	0 two-22 again 20000 30000 0
	0 swapper-0 leaf 40100 40200 1
	1 swapper-0 leaf 40300 40400 1
	0 swapper-0 idle 40000 41000 0
	1 swapper-0 idle 40050 41050 0
	0 lost 7 50000
	0 bytes 24 51000
	0 one-11 leaf 52000 52010 4294967295
	0 one-11 leaf -2000 53000 0
	0 one-5000000 leaf 54000 54010 0
	0 three-33 deep 61000 62000 5
	1 three-33 shallow 60000 63000 2
	0 four-44 leaf 70000 71000 1
	0 four-44 late 70500 72000 0
	END
	# All of these nest
	trace nested retval <<-'END'
	0 one-11 leaf 2000 3000 2 7
	0 one-11 leaf 4000 6000 2 0
	1 one-11 middle 1500 6001 1
	1 one-11 root 1000 10000 0 0xffffffffffffffff
	0 swapper-0 leaf 40100 40200 1
	1 swapper-0 leaf 40300 40400 1
	0 swapper-0 idle 40000 41000 0
	1 swapper-0 idle 40050 41050 0
	0 lost 7 50000
	0 bytes 24 51000
	END
	trace entries functions <<-'END'
	0 one-11 leaf middle 1000
	0 one-11 leaf middle 1100
	1 two-22 leaf root 1050
	1 two-22 middle root 1200
	1 two-22 0x10 root 1300
	0 lost 3 1400
	1 bytes 16 1500
	END
	trace escapes graph <<-'END'
	0 'a;b c\x1b\xff"<&-66' f 1000 2000 0
	0 '\xc3\xa9t\xc3\xa9\\\t\x7f-67' f 1000 2000 0
	0 '\xc2\x9b\xef\xbf\xbe\xed\xa0\x80\xc0\x80-68' f 1000 2000 0
	0 new-70 f 3000 4000 1
	0 newer-70 f 2500 5000 0
	END
	sed -i 's/^"f" = /"f;<\\"\\\\" = /' "$TMP/escapes.ctf/metadata"
}

tables()
{
	shows 'by function' "$TMP/calls.ctf" <<-'END'
	calls  total/us  self/us  average/us  maximum/us  function
	    3    10.000    9.000       7.000      10.000  again
	    1     9.000    4.500       9.000       9.000  root
	    1     4.500    3.000       4.500       4.500  middle
	    6     3.700    3.700       0.616       1.000  leaf
	    1     3.000    2.000       3.000       3.000  shallow
	    2     2.000    1.800       1.000       1.000  idle
	    1     1.500    1.500       1.500       1.500  late
	    1     1.000    1.000       1.000       1.000  deep
	END
	counts 'what could be used' 16 7 4
	shows 'by caller' --by caller --sort name "$TMP/calls.ctf" <<-'END'
	calls  total/us  self/us  average/us  maximum/us  function <- caller
	    1    10.000    2.000      10.000      10.000  again
	    2     8.000    7.000       5.500       8.000  again <- again
	    1     1.000    1.000       1.000       1.000  deep <- shallow
	    2     2.000    1.800       1.000       1.000  idle
	    1     1.500    1.500       1.500       1.500  late
	    1     1.000    1.000       1.000       1.000  leaf
	    1     1.000    1.000       1.000       1.000  leaf <- again
	    2     0.200    0.200       0.100       0.100  leaf <- idle
	    2     1.500    1.500       0.750       1.000  leaf <- middle
	    1     4.500    3.000       4.500       4.500  middle <- root
	    1     9.000    4.500       9.000       9.000  root
	    1     3.000    2.000       3.000       3.000  shallow
	END
	shows 'by path' --by path "$TMP/calls.ctf" <<-'END'
	calls  total/us  self/us  average/us  maximum/us  function
	    1    10.000    2.000      10.000      10.000  again
	    1     8.000    5.000       8.000       8.000    again
	    1     3.000    2.000       3.000       3.000      again
	    1     1.000    1.000       1.000       1.000        leaf
	    1     9.000    4.500       9.000       9.000  root
	    1     4.500    3.000       4.500       4.500    middle
	    2     1.500    1.500       0.750       1.000      leaf
	    1     3.000    2.000       3.000       3.000  shallow
	    1     1.000    1.000       1.000       1.000    deep
	    2     2.000    1.800       1.000       1.000  idle
	    2     0.200    0.200       0.100       0.100    leaf
	    1     1.500    1.500       1.500       1.500  late
	    1     1.000    1.000       1.000       1.000  leaf
	END
	shows 'by task' --by task "$TMP/calls.ctf" <<-'END'
	calls  total/us  maximum/us  task
	    4    10.000      10.000  two-22
	    4     9.000       9.000  one-11
	    2     3.000       3.000  three-33
	    2     2.500       1.500  four-44
	    2     1.000       1.000  swapper-0
	    2     1.000       1.000  swapper-0
	END
	shows 'by comm' --by comm -n 5 --sort calls "$TMP/calls.ctf" <<-'END'
	calls  total/us  maximum/us  comm
	    4     9.000       9.000  one
	    4     2.000       1.000  swapper
	    4    10.000      10.000  two
	    2     2.500       1.500  four
	    2     3.000       3.000  three
	END
	shows 'by CPU' --by cpu "$TMP/calls.ctf" <<-'END'
	calls  total/us  maximum/us  cpu
	   11    16.000      10.000  0
	    5    10.500       9.000  1
	END
	is 'by self' 'again 9.000' "$(report --sort self -n 1 "$TMP/calls.ctf" |
		awk 'NR == 2 { print $6, $3 }')"
	is 'by average' 'root again' \
		"$(report --sort average -n 2 "$TMP/calls.ctf" | awk 'NR > 1 { print $6 }' | xargs)"
	is 'from the standard input' "$(report -k "$TMP/calls/kallsyms" "$TMP/calls.ctf")" \
		"$("$GTSC" record -q -d 0.1 -o - "$TMP/calls" 2> /dev/null |
			report -k "$TMP/calls/kallsyms" -)"
	shows 'entries' "$TMP/entries.ctf" <<-'END'
	calls  function
	    3  leaf
	    1  0x10
	    1  middle
	END
	counts 'entries: what could be used' 5 3 1
	shows 'entries: by caller' --by caller "$TMP/entries.ctf" <<-'END'
	calls  function <- caller
	    2  leaf <- middle
	    1  0x10 <- root
	    1  leaf <- root
	    1  middle <- root
	END
	shows 'entries: by task' --by task "$TMP/entries.ctf" <<-'END'
	calls  task
	    3  two-22
	    2  one-11
	END
	fails 'entries: --flame' 'the calls have no durations, which gtsc graph records' \
		sh -c "$GTSC report --flame $TMP/entries.ctf 2>&1 | head -n 1 >&2; false"
	holds 'a terminal: names are cut' \
		"$(python3 "$CHECK" columns 68 "$GTSC" report --by caller "$TMP/calls.ctf") <= 68"
}

paths()
{
	shows '--folded' --folded "$TMP/calls.ctf" <<-'END'
	four-44;late 1500
	four-44;leaf 1000
	one-11;root 4500
	one-11;root;middle 3000
	one-11;root;middle;leaf 1500
	swapper-0;idle 900
	swapper-0;idle;leaf 100
	swapper-0;idle 900
	swapper-0;idle;leaf 100
	three-33;shallow 2000
	three-33;shallow;deep 1000
	two-22;again 2000
	two-22;again;again 5000
	two-22;again;again;again 2000
	two-22;again;again;again;leaf 1000
	END
	is '--folded --by comm' 'swapper;idle 1800 swapper;idle;leaf 200' \
		"$(report --folded --by comm "$TMP/calls.ctf" | grep ^swapper | xargs)"
	is '--folded --by function' 'shallow 2000 shallow;deep 1000' \
		"$(report --folded --by function "$TMP/calls.ctf" | grep ^sh | xargs)"
	report --flame "$TMP/calls.ctf" > "$TMP/svg"
	is '--flame' "$(cat <<-'END'
	0 all: 26.50 us (100.00 %), 16 calls
	1 four-44: 2.500 us (9.43 %), 2 calls
	2 late: 1.500 us (5.66 %), 1 calls
	2 leaf: 1.000 us (3.77 %), 1 calls
	1 one-11: 9.000 us (33.96 %), 4 calls
	2 root: 9.000 us (33.96 %), 1 calls, self 4.500 us
	3 middle: 4.500 us (16.98 %), 1 calls, self 3.000 us
	4 leaf: 1.500 us (5.66 %), 2 calls
	1 swapper-0: 1.000 us (3.77 %), 2 calls
	2 idle: 1.000 us (3.77 %), 1 calls, self 900 ns
	3 leaf: 100 ns (0.38 %), 1 calls
	1 swapper-0: 1.000 us (3.77 %), 2 calls
	2 idle: 1.000 us (3.77 %), 1 calls, self 900 ns
	3 leaf: 100 ns (0.38 %), 1 calls
	1 three-33: 3.000 us (11.32 %), 2 calls
	2 shallow: 3.000 us (11.32 %), 1 calls, self 2.000 us
	3 deep: 1.000 us (3.77 %), 1 calls
	1 two-22: 10.00 us (37.74 %), 4 calls
	2 again: 10.00 us (37.74 %), 1 calls, self 2.000 us
	3 again: 8.000 us (30.19 %), 1 calls, self 5.000 us
	4 again: 3.000 us (11.32 %), 1 calls, self 2.000 us
	5 leaf: 1.000 us (3.77 %), 1 calls
	END
	)" "$(python3 "$CHECK" svg "$TMP/svg")"
	report --flame --minimum 10 --by function "$TMP/calls.ctf" > "$TMP/svg"
	is '--flame --minimum' 'all again'' again'' again root middle shallow' \
		"$(python3 "$CHECK" svg "$TMP/svg" | sed -E 's/^. ([a-z]*).*/\1/' | xargs)"
}

events()
{
	report --perfetto "$TMP/nested.ctf" > "$TMP/json"
	is '--perfetto' 'M 6 X 8 i 1' "$(python3 "$CHECK" json "$TMP/json" 2>&1 | tail -n 1)"
	counts '--perfetto: what could be used' 8 7 1
	is '--perfetto: a call' '{"ph":"X","pid":11,"tid":11,"ts":1.000,"dur":9.000,'`
		`'"name":"root","args":{"cpu":1,"depth":0,"retval":"0xffffffffffffffff"}}' \
		"$(grep '"root"' "$TMP/json" | sed 's/,$//')"
	report --perfetto "$TMP/entries.ctf" > "$TMP/json"
	is '--perfetto: entries' 'M 4 i 6' "$(python3 "$CHECK" json "$TMP/json" 2>&1 | tail -n 1)"
}

# Bytes that would break the format
escapes()
{
	local control=$'[\001-\011\013-\037\177-\377]'
	is '--folded: escapes' 'a:b_c\x1b\xff"<&-66;f:<"\ 1000' \
		"$(report --folded "$TMP/escapes.ctf" | grep ^a:)"
	is '--folded: no control characters' 0 \
		"$(report --folded "$TMP/escapes.ctf" | grep -ac "$control")"
	is 'table: no control characters' 0 \
		"$(report --by task "$TMP/escapes.ctf" | tr -d '\t' | grep -ac "$control")"
	report --flame "$TMP/escapes.ctf" > "$TMP/svg"
	LC_ALL=C.UTF-8 python3 "$CHECK" svg "$TMP/svg" > "$TMP/boxes" 2>&1
	is '--flame: escapes' 1 "$(grep -cF '1 a;b c\x1b\xff"<&-66: ' "$TMP/boxes")"
	is '--flame: UTF-8' 1 "$(grep -cF $'1 \303\251t\303\251\\\\x09\\x7f-67: ' "$TMP/boxes")"
	is '--flame: characters that XML does not have' 1 \
		"$(grep -cF '1 \xc2\x9b\xef\xbf\xbe\xed\xa0\x80\xc0\x80-68: ' "$TMP/boxes")"
	report --perfetto "$TMP/escapes.ctf" > "$TMP/json"
	is '--perfetto: escapes' 'M 10 X 5' "$(python3 "$CHECK" json "$TMP/json" 2>&1 | tail -n 1)"
	is '--perfetto: the names of tasks' \
		'"a;b c\u001b\\xff\"<&-66" '$'"\303\251t\303\251''\\\u0009\u007f-67"' \
		"$(sed -nE '/thread_name/s/.*"args":\{"name":(".*-6[67]")\}\},?/\1/p' \
			"$TMP/json" | paste -sd ' ')"
	is 'the name of a task that changes' 'newer;f:<"\ 1500 newer;f:<"\;f:<"\ 1000' \
		"$(report --folded --by comm "$TMP/escapes.ctf" | grep ^new | paste -sd ' ')"
}

errors()
{
	local file option
	fails 'no such directory' 'No such file or directory' "$GTSC" report "$TMP/nothing"
	"$GTSC" report --by nothing "$TMP/calls.ctf" 2> /dev/null
	is 'wrong usage' 2 $?
	"$GTSC" report --flame --by cpu "$TMP/calls.ctf" 2> /dev/null
	is 'wrong usage: --flame --by cpu' 2 $?
	for option in --by=caller --folded --flame --perfetto; do
		"$GTSC" report "$option" "$TMP/calls.ctf" > /dev/full 2> "$TMP/err"
		is "$option: the disk is full" '1 1' \
			"$? $(grep -c 'not all could be written' "$TMP/err")"
		report "$option" "$TMP/calls.ctf" | head -c 1 > /dev/null
		is "$option: a pipe that is closed early" '' \
			"$(grep -v 'calls are reported' "$TMP/err")"
	done
	trace empty graph < /dev/null
	report "$TMP/empty.ctf" > "$TMP/out"
	is 'no calls' '0 1' "$? $(wc -l < "$TMP/out")"
	report --flame "$TMP/empty.ctf" > "$TMP/svg"
	is 'no calls: --flame' 1 "$(python3 "$CHECK" svg "$TMP/svg" | wc -l)"
	report --perfetto "$TMP/empty.ctf" > "$TMP/json"
	is 'no calls: --perfetto' '' "$(python3 "$CHECK" json "$TMP/json" 2>&1)"
	# A file that breaks off, or has something else in its middle
	cp -r "$TMP/calls.ctf" "$TMP/cut.ctf"
	for file in "$TMP"/cut.ctf/*_0; do
		truncate -s 300 "$file"
	done
	report "$TMP/cut.ctf" > "$TMP/out"
	is 'a trace that breaks off' '1 1' "$? $(grep -c 'breaks off' "$TMP/err")"
	holds 'a trace that breaks off: the rest is shown' "$(wc -l < "$TMP/out") > 1"
	report --perfetto "$TMP/cut.ctf" > "$TMP/json"
	check 'a trace that breaks off: --perfetto' \
		sh -c "python3 '$CHECK' json '$TMP/json' > /dev/null"
}

# sums CASE CALLS: the sums of a trace that is hard to add up; see fake_calls.py
sums()
{
	python3 "$HERE/fake_calls.py" "$TMP/$1" case "$1" 100000
	"$GTSC" record -q -d 0.1 -o "$TMP/$1.ctf" "$TMP/$1" 2> /dev/null
	report -k "$TMP/$1/kallsyms" "$TMP/$1.ctf" > "$TMP/out"
	is "$1: calls and the time in them" "$2" "$(awk 'NR > 1 { calls += $1; self += $3 }
		END { printf "%d %.3f\n", calls, self }' "$TMP/out")"
	report -k "$TMP/$1/kallsyms" --folded "$TMP/$1.ctf" > "$TMP/out"
	is "$1: the time of all paths" "${2#* }" "$(awk '{ self += $NF }
		END { printf "%.3f\n", self / 1000 }' "$TMP/out")"
	rm -r "${TMP:?}/$1" "$TMP/$1.ctf"
}

traces
tables
paths
events
escapes
errors
# One call with 99,999 callees, of which some are joined before it returns
sums callees '100000 99999.999'
sums recursion '100000 199998.000'
echo "1..$nr"
rm -r "$TMP"
exit "$failed"
