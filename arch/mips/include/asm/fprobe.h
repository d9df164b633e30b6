/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __ASM_MIPS_FPROBE_H
#define __ASM_MIPS_FPROBE_H

/*
 * A struct fprobe may be in any of several segments of 64-bit addresses, which differ in
 * their upper bits: there is no room in its address for the size of its data.
 */
#undef ARCH_DEFINE_ENCODE_FPROBE_HEADER

#endif /* __ASM_MIPS_FPROBE_H */
