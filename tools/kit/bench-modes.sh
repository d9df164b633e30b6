# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # bench.sh sets V
#
# Shared by bench and bench-virt, which compare the stock kernel with the patched one with the
# switch of the multiplexer off and on: the tables of these. They source bench.sh and limits.sh
# before.

# figures PART KEY: sets stock, off and on to the figures of the three modes
figures()
{
	have_figures "$@"
	stock=${V[$1 stock $2]} off=${V[$1 off $2]} on=${V[$1 on $2]}
}

# verdict ON ON_LIMIT [OFF OFF_LIMIT]: sets status, and counts limits met and missed
verdict()
{
	local bad=''
	meets "$1" "$2" || bad=on
	if (( $# > 2 )); then meets "$3" "$4" || bad+="${bad:+ and }off"; fi
	status=met
	if [[ -n $bad ]]; then status="MISSED ($bad)"; fi
}

# begin NAME TITLE LABEL...: starts a table that compares the modes
begin()
{
	plain_table "$@" stock off on on/stock 'at most' target
}

# row ON_LIMIT OFF_LIMIT LABEL...: adds a line with stock, off and on, and checks the limits
row()
{
	local limit=$1 off_limit=$2 status
	shift 2
	verdict "$on" "$limit" "$off" "$off_limit"
	line "$@" "$stock" "$off" "$on" "$(ratio "$on" "$stock")" "$limit" "$status"
}

# graph_figures NAME: sets stock, off and on to the instructions that tracing adds to a call
graph_figures()
{
	local calls=${V[graph stock calls]} base
	figures graph none
	base=("$stock" "$off" "$on")
	figures graph "$1"
	stock=$(( (stock - base[0]) / calls ))
	off=$(( (off - base[1]) / calls ))
	on=$(( (on - base[2]) / calls ))
}

# graph_rows PER-MILLE: adds the lines of the graph tracers, which may cost more by this much
graph_rows()
{
	local name users
	while read -r name users; do
		graph_figures "$name"
		row "$(same_as "$stock" "$1")" "$(same_as "$stock" "$1")" "$users"
	done <<-'END_NAMES'
		one function_graph
		bystander function_graph (and one of another function)
		two function_graph twice
		four function_graph four times
		profiler function_graph and the profiler
		function function_graph and the function tracer
	END_NAMES
}
