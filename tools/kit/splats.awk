# SPDX-License-Identifier: GPL-2.0
#
# Prints the error reports of the kernel in a console log. With short=1, only the first lines
# of the first ten reports.

# Ignore messages of the boot about the processor model.
/Spectre V2 *:|RETBleed: *WARNING|Spectre v2 mitigation leaves|Return Stack Overflow: WARNING/ { next }
function complaint(line) {
	return line ~ /\[ cut here \]/ ||
	line ~ /(^|[] ])WARNING: / ||
	line ~ /(^|[] ])(kernel )?BUG[: ]/ ||
	line ~ /(Oops|Kernel bug detected|kernel code|[Uu]naligned .*access|kernel context!|overflow)\[#[0-9]+\]:/ ||
	line ~ /Oops: |Internal error: |general protection fault|double fault|Missing ENDBR/ ||
	line ~ /Kernel panic|PANIC:|Unable to handle kernel|unable to handle (page|kernel)/ ||
	line ~ /INFO: (possible|inconsistent|suspicious|trying to register|task .* blocked for more)/ ||
	line ~ /INFO: .*(stall|detected expedited)|detected stalls|soft lockup|[Hh]ard LOCKUP/ ||
	line ~ /KASAN: |UBSAN: |ODEBUG: |refcount_t: / ||
	line ~ /kmemleak: .* new suspected memory leaks|^unreferenced object 0x/ ||
	line ~ /Failed on adding breakpoints|ftrace bug|ftrace (faulted|failed to modify)/ ||
	line ~ /Testing .*FAILED!|\.\. ?FAILED!/ ||
	line ~ /DEBUG_LOCKS_WARN_ON|BUG_ON/
}
# The line after "cut here" says what it is
short {
	if (complaint($0) && !/cut here/ && reports++ < 10) print
	next
}
{
	if (complaint($0)) {
		if (!left) {
			if (printed++ && lines < 300) print "    ..."
			if (previous != "" && lines < 300) print previous
		}
		left = 60
		# What follows is printed, whatever was reported before
		if (/Kernel panic/ && !panic) { panic = 1; lines = 0 }
	}
	# panic_print=0x41: what all processors, and all tasks that do not sleep, do
	if (panic && /NMI backtrace for cpu|task:.* state:[DR]/) left = 60
	if (left) {
		if (++lines < 300) print
		else if (lines == 300) print "    ... (more in the log)"
		left--
	}
	if ($0 ~ /end trace|<\/TASK>/ && left > 8) left = panic ? 1 : 8
	previous = $0
}
