# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by bench and bench-ktrace: guests that measure, figures, tables. The scripts set
#   OUT    directory of all results
#   MODES  what is compared: a kernel, or a setting of one
# and define guest MODE SCRIPT ARGUMENT..., which runs a script of bench.d. It prints lines
# "result KEY FIRST [SECOND]".

# measure MODE PART SCRIPT ARGUMENT...: runs a script, and writes its results to PART.MODE
measure()
{
	local mode=$1 part=$2 log=$LOGS/bench-$2-$1.log
	shift 2
	logged "measuring: $part, $mode" "$log" guest "$mode" "$@"
	sed -n 's/^result //p' "$log" > "$OUT/raw/$part.$mode"
	[[ -s $OUT/raw/$part.$mode ]] || die "no results for $part, $mode; log: $log"
}

GUESTS=${GUESTS:-2}
[[ $GUESTS =~ ^[1-9][0-9]*$ ]] || die "GUESTS=$GUESTS is not a number of guests"

# start COMMAND...: runs COMMAND in the background, GUESTS at a time
failed=0
start()
{
	while (( $(jobs -rp | wc -l) >= GUESTS )); do wait -n || failed=1; done
	(( ! failed )) || return 0
	"$@" &
}

finish_jobs()
{
	while [[ -n $(jobs -p) ]]; do wait -n || failed=1; done
	(( ! failed )) || die "some measurements failed"
}

# end_jobs: ends the background jobs, which are process groups (set -m)
end_jobs()
{
	local p
	for p in $(jobs -p); do kill -- "-$p" 2> /dev/null || :; done
}

# common_functions MODE MODE: writes the functions that both can trace to OUT/functions, after
# "engine list" has run as part functions of both
common_functions() { comm -12 <(functions_of "$1") <(functions_of "$2") > "$OUT/functions"; }

functions_of() { sed -n 's/^function //p' "$LOGS/bench-functions-$1.log"; }

in_instructions() { ICOUNT=${PROCESSORS:-1} measure "$@"; }
in_nanoseconds() { ICOUNT='' measure "$@"; }

# read_results: reads all results to V: V[PART MODE KEY] is the first figure, and
# V[PART MODE KEY:2] the second
declare -A V=()
read_results()
{
	local f part mode key first second
	for f in "$OUT"/raw/*; do
		[[ -e $f ]] || continue
		part=${f##*/} mode=${f##*.} part=${part%.*}
		while read -r key first second; do
			V[$part $mode $key]=$first
			V[$part $mode $key:2]=$second
		done < "$f"
		check_same "$f"
	done
}

# check_same FILE: fails if the kernels measured different things. A key "same..." is a
# checksum of the functions that were traced.
check_same()
{
	local mode first=${MODES[0]}
	# Only one kernel was measured.
	[[ -e ${1%.*}.$first ]] || return 0
	for mode in "${MODES[@]:1}"; do
		[[ -e ${1%.*}.$mode ]] || continue
		diff -q <(grep '^same' "${1%.*}.$first") <(grep '^same' "${1%.*}.$mode") > /dev/null ||
			die "the kernels measured different functions: ${1%.*}.{$first,$mode}"
	done
}

# have_figures PART KEY: fails if a mode lacks this figure
have_figures()
{
	local m
	for m in "${MODES[@]}"; do
		[[ -n ${V[$1 $m $2]:-} ]] || die "no figure for $2 ($1, $m); log: $LOGS/bench-$1-$m.log"
	done
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b) printf "%.3f", a / b; else print "-" }'; }

# meets FIGURE LIMIT: counts limits met and missed; false if this one is missed
met=0 missed=0
meets()
{
	if (( $1 <= $2 )); then
		met=$(( met + 1 ))
	else
		missed=$(( missed + 1 ))
		return 1
	fi
}

# line FIELD...: adds a line to the current table
line()
{
	local IFS=$'\t'
	echo "$*" >> "$OUT/$TABLE.tsv"
}

# plain_table NAME TITLE LABEL...: starts a table
plain_table()
{
	TABLE=$1 TITLE=$2
	shift 2
	rm -f "$OUT/$TABLE.tsv"
	line "$@"
}

# simple_table: formats tab-separated fields as a simple table of RST
simple_table()
{
	awk -F '\t' '
	function commas(n) {
		if (n !~ /^-?[0-9]+$/) return n
		while (n ~ /[0-9][0-9][0-9][0-9]/) n = gensub(/([0-9])([0-9][0-9][0-9])($|,)/, "\\1,\\2\\3", 1, n)
		return n
	}
	function rule(    i, s) {
		for (i = 1; i <= columns; i++)
			s = s (i > 1 ? "  " : "") gensub(/ /, "=", "g", sprintf("%*s", width[i], ""))
		print s
	}
	{
		if (NF > columns) columns = NF
		for (i = 1; i <= NF; i++) {
			cell[NR, i] = commas($i)
			if (length(cell[NR, i]) > width[i]) width[i] = length(cell[NR, i])
			if (NR > 1 && $i !~ /^[-0-9.]+$/) text[i] = 1
		}
	}
	END {
		rule()
		for (r = 1; r <= NR; r++) {
			s = ""
			for (i = 1; i <= columns; i++)
				s = s (i > 1 ? "  " : "") sprintf(text[i] ? "%-*s" : "%*s", width[i], cell[r, i])
			sub(/ +$/, "", s)
			print s
			if (r == 1) rule()
		}
		rule()
	}'
}

# end [NOTE]: prints the table and writes it to its files
end()
{
	{
		echo
		printf '%s\n' "$TITLE" "${TITLE//?/-}" ''
		simple_table < "$OUT/$TABLE.tsv"
		if [[ -n ${1:-} ]]; then
			echo
			fmt -w 78 <<< "$1"
		fi
	} | tee -a "$OUT/summary.rst"
	tr '\t' , < "$OUT/$TABLE.tsv" > "$OUT/$TABLE.csv"
	rm "$OUT/$TABLE.tsv"
}

# finish WHAT: tells where WHAT is and how many limits are missed, and fails if any is
finish()
{
	echo
	say "$1 are in $OUT."
	echo "bench: $met targets met, $missed missed"
	(( ! missed ))
}
