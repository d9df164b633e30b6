# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # bench.sh sets V
#
# A part of bench: what an event costs, from the tracer to the ring buffer, on the stock kernel
# and on the patched one with the multiplexer. bench sources bench-modes.sh before.

# The most instructions that each may take
declare -A RECORD_LIMIT=(
	[rb-reserve:16]=190 [call-function-1]=330 [call-graph-1]=1000 [call-graph-2]=1850
	[call-profiler]=400 [call-kprobe]=560
)
if newer "$BASE" 6.12; then
	RECORD_LIMIT+=([call-graph-1]=1100 [call-graph-2]=2050 [call-profiler]=450 [call-kprobe]=630)
fi
# The load of system calls with the function tracer, in thousandths of that of the stock kernel
RECORD_LOAD=650

# record_figures KEY: sets stock and on to the figures of the two kernels
record_figures()
{
	# shellcheck disable=SC2034 # for have_figures()
	local MODES=(stock on)
	have_figures record "$1"
	stock=${V[record stock $1]} on=${V[record on $1]}
}

# record_row LIMIT LABEL: adds a line with stock and on, and checks the limit
record_row()
{
	local status
	verdict "$on" "$1"
	line "$2" "$stock" "$on" "$(ratio "$on" "$stock")" "$1" "$status"
}

# neighbour_limit: what an event may cost that is no goal. Two per cent of a short path is less
# than an instruction, so the limit is at least twelve above the stock kernel.
neighbour_limit()
{
	local more=$(( stock / 50 ))
	echo $(( stock + (more > 12 ? more : 12) ))
}

# neighbours: adds a line for each line "KEY LABEL" of standard input
neighbours()
{
	local key label
	while read -r key label; do
		record_figures "$key"
		record_row "$(neighbour_limit)" "$label"
	done
}

# record_table: the goals
record_table()
{
	local key label
	plain_table record 'Instructions for an event: goals' what stock on on/stock 'at most' target
	while read -r key label; do
		record_figures "$key"
		record_row "${RECORD_LIMIT[$key]}" "$label"
	done <<-'END_GOALS'
		rb-reserve:16 ring buffer: reserve and commit of 16 bytes with the local clock
		call-function-1 call: function tracer
		call-graph-1 call: function_graph
		call-graph-2 call: function_graph twice
		call-profiler call: profiler
		call-kprobe call: kprobe event
	END_GOALS
	record_figures load-function:pipe
	record_row $(( stock * RECORD_LOAD / 1000 )) 'load of pipes: function tracer of all functions'
	record_figures load-function:fork
	line 'load of forks: function tracer of all functions' \
		"$stock" "$on" "$(ratio "$on" "$stock")" - -
	end "*call* is what tracing adds to a call of the function of a system call; each tracer \
after the first one belongs to an instance of its own. *load* is ${V[record stock load]} round \
trips through pipes, or ${V[record stock load:2]} times fork, exec and wait."
}

# ring_buffer_rows: the lines of the ring buffer alone
ring_buffer_rows()
{
	local size clock
	for size in 4 8 12 24 32 64 112 113 116 128 256 512 1024 2048 4000 4072; do
		echo "rb-reserve:$size reserve and commit $size bytes"
	done
	for size in 4 8 12 16 24 32 64 112 113 116 128 256 512 1024 2048 4000 4072; do
		echo "rb-write:$size ring_buffer_write() of $size bytes"
	done
	for clock in local global counter uptime perf mono mono_raw boot tai x86-tsc; do
		echo "rb-clock-$clock:16 clock $clock"
	done
	cat <<-'END_ROWS'
		rb-clock-steps:16 clock of this test
		rb-clock-jumps:16 ... and each event needs a time extend
		rb-absolute:16 absolute time stamps
		rb-room:16 nothing to overwrite
		rb-keep:16 not overwriting: with room
		rb-drop:16 not overwriting: dropped
		rb-room-first:16 first event of the buffer
		rb-room-second:16 second event of the buffer
		rb-room-usual:16 later event of the page
		rb-room-crossing:16 event that begins an empty page
		rb-overwrite-usual:16 event within an overwritten page
		rb-overwrite-crossing:16 event that begins an overwritten page
		rb-alone-irq:16 in an interrupt
		rb-alone-nmi:16 in an NMI
		rb-nested-same:16 two with one in the other: same context
		rb-nested-allowed:16 ... ring_buffer_nest_start()
		rb-nested-softirq:16 ... softirq
		rb-nested-irq:16 ... interrupt
		rb-nested-nmi:16 ... NMI
		rb-interrupted:16 ... NMI in the reserve of the other
		rb-discard:16 reserve and discard
		rb-discard-nested:16 ... with an event within it
		rb-disabled:16 ring_buffer_record_disable()
		rb-disabled-cpu:16 ring_buffer_record_disable_cpu()
		rb-off:16 ring_buffer_record_off()
		rb-too-long:4096 longer than a page
		rb-consume:16 read: ring_buffer_consume()
		rb-consume-empty:16 ... from an empty buffer
		rb-iterate:16 ... with an iterator
		rb-read-page:16 ... a page by ring_buffer_read_page()
	END_ROWS
}

# call_rows: the lines of what writes to the ring buffer
call_rows()
{
	local clock
	cat <<-'END_ROWS'
		call-function-2 function tracer twice
		call-function-4 function tracer four times
		call-function-8 function tracer eight times
		call-graph-4 function_graph four times
		call-kretprobe kretprobe event
	END_ROWS
	if [[ -n ${V[record stock call-fprobe]:-} ]]; then echo 'call-fprobe fprobe event'; fi
	cat <<-'END_ROWS'
		call-event trace event of the system call
		call-event-match ... with a filter that matches
		call-event-no-match ... with a filter that does not match
		call-overwrite function tracer: overwrite
		call-nooverwrite ... nooverwrite with room
		call-full ... nooverwrite and dropped
		call-mapped ... with a mapped buffer
	END_ROWS
	for clock in local global counter uptime perf mono mono_raw boot tai x86-tsc; do
		echo "call-clock-$clock function tracer with clock $clock"
	done
	echo 'load-function_graph:pipe load of pipes: function_graph of all functions'
}

# events_table: the neighbours of what the goals are about
events_table()
{
	plain_table events 'Instructions for an event: what may not cost more' what stock on \
		on/stock 'at most' target
	neighbours < <(ring_buffer_rows)
	neighbours < <(call_rows)
	record_figures load-function_graph:fork
	line 'load of forks: function_graph of all functions' \
		"$stock" "$on" "$(ratio "$on" "$stock")" - -
	end "The first lines are of the ring buffer, with events of 16 bytes if no size is given; \
*two* are both events. The ring buffer takes the context from the preemption count, which the \
test sets for interrupts and NMIs. The other lines are what is added to a call, or a load. On \
the patched kernel, at most two per cent or twelve instructions may be added."
}
