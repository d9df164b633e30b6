# SPDX-License-Identifier: GPL-2.0
#
# Prints a console log, in which the reports of KCSAN about functions that are not in the file
# FUNCTIONS do not begin with "BUG:". A report is about the innermost two functions of each of
# its stacks, since the innermost one may be memcpy() or the like.
# If kcsan_setup_watchpoint() is on a stack, KCSAN's own delay was interrupted, or was traced and
# the tracer met itself: this is not reported.

BEGIN {
	while ((getline name < functions) > 0)
		ours[name] = 1
}
# finish: prints the lines of a report
function finish(   i) {
	if (!is_ours || nested) sub(/BUG: KCSAN:/, "KCSAN:", line[1])
	for (i = 1; i <= lines; i++) print line[i]
	lines = 0
}
/BUG: KCSAN: / {
	if (lines) finish()
	is_ours = nested = 0
	frames = 2
	lines = 1
	line[1] = $0
	next
}
!lines { print; next }
{
	line[++lines] = $0
	text = $0
	# The time, and the task if CONFIG_PRINTK_CALLER is set
	sub(/^(\[[^]]*\])+ ?/, "", text)
	if (text ~ /^(write|read|read-write|assert).* to 0x|^race at unknown origin/)
		frames = 0
	else if (match(text, /^ [A-Za-z_0-9.]+\+0x/) && frames++ < 2) {
		name = substr(text, 2, RLENGTH - 4)
		sub(/\..*/, "", name)
		if (name in ours) is_ours = 1
	}
	if (text ~ /^ kcsan_setup_watchpoint\+/) nested = 1
	if (text ~ /^={60}/) finish()
}
END { if (lines) finish() }
