// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the names of system calls in filters.
 *
 * On some architectures, the function that the kernel calls for a system call is a wrapper. On
 * x86_64, that of read() is __x64_sys_read; users know it as sys_read. On x86_64, the wrapper of a
 * system call without arguments has a second symbol, such as __do_sys_getpid for __x64_sys_getpid,
 * and kallsyms gives this symbol for its address. A filter that a user types finds the wrapper by
 * each of these names.
 */
#include <linux/ftrace_mux_arch.h>
#include <linux/kallsyms.h>
#include <linux/string.h>

#include "mux.h"

#define WRAPPER_PREFIX	ARCH_FTRACE_SYSCALL_PREFIX "sys_"
#define ALIAS_PREFIX	"__do_sys_"

/* No system call has a name as long as this */
#define WRAPPER_LEN	64

/*
 * Whether @sym, the symbol of the function at @ip, is the second symbol of a wrapper. Sets @wrapper
 * to the first one. For a system call with arguments, __do_sys_NAME is no symbol of the wrapper: it
 * is a function that the wrapper calls, if the compiler has not inlined it. This function has a
 * call site of its own, so this returns false.
 */
static bool wrapper_of_alias(unsigned long ip, const char *sym, char *wrapper)
{
	unsigned long addr;
	int len;

	len = snprintf(wrapper, WRAPPER_LEN, WRAPPER_PREFIX "%s",
		       sym + strlen(ALIAS_PREFIX));
	if (len >= WRAPPER_LEN)
		return false;

	addr = kallsyms_lookup_name(wrapper);

	return addr && ftrace_location(addr) == ip;
}

/**
 * ftrace_mux_match_syscall - match a function by the other names of a system call
 * @ip: the call site of the function
 * @sym: the symbol that kallsyms gives for it, which does not match
 * @search: what @match looks for
 * @match: whether a name matches
 * @glob: passed to @match
 *
 * The name without the prefix of the architecture, such as sys_read, is tried only if @search
 * begins with "sys_": "s*" does not select all system calls.
 *
 * Context: process context. ftrace_lock may be held, but need not be: @ip is only compared with the
 * call site of the wrapper.
 *
 * Return: true if @ip is the call site of a system call one of whose names matches.
 */
bool ftrace_mux_match_syscall(unsigned long ip, char *sym, const char *search,
			      bool (*match)(char *name, void *glob), void *glob)
{
	char wrapper[WRAPPER_LEN];

	if (strstarts(sym, ALIAS_PREFIX)) {
		if (!wrapper_of_alias(ip, sym, wrapper))
			return false;
		sym = wrapper;
		if (match(sym, glob))
			return true;
	} else if (!strstarts(sym, WRAPPER_PREFIX)) {
		return false;
	}

	return strstarts(search, "sys_") &&
		match(sym + strlen(ARCH_FTRACE_SYSCALL_PREFIX), glob);
}
