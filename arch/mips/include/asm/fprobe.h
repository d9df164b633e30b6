/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __ASM_MIPS_FPROBE_H
#define __ASM_MIPS_FPROBE_H

/*
 * The generic header stores the size of the data of an fprobe in the upper bits of its address.
 * That needs upper bits that are the same for each struct fprobe.  On 64-bit MIPS, a struct fprobe
 * may be in any of several segments, which differ in these bits.  So do not include the generic
 * header: the address and the size take a word each.
 */
#undef ARCH_DEFINE_ENCODE_FPROBE_HEADER

#endif /* __ASM_MIPS_FPROBE_H */
