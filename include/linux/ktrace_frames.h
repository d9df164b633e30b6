/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included by all files that ktrace traces, if there is no padding and CONFIG_DEBUG_INFO is set:
 * objtool needs .eh_frame, which gcc makes in place of .debug_frame. Have the assembler make
 * .debug_frame for debuggers, too.
 */
#ifndef _LINUX_KTRACE_FRAMES_H
#define _LINUX_KTRACE_FRAMES_H

asm(".cfi_sections .eh_frame, .debug_frame");

#endif /* _LINUX_KTRACE_FRAMES_H */
