/* SPDX-License-Identifier: GPL-2.0 */
/* ktrace: the table from the entry of a function to its slot, see ktrace_entry.c */
#ifndef _ARCH_X86_KERNEL_KTRACE_ENTRY_H
#define _ARCH_X86_KERNEL_KTRACE_ENTRY_H

struct ktrace_slot;

int ktrace_add_entries(const unsigned long *entries, unsigned int nr);
void ktrace_remove_entries(unsigned long start, unsigned long end);
void ktrace_set_entry_slot(unsigned long entry, struct ktrace_slot *slot);
void ktrace_mark_one_insn(unsigned long entry);
bool ktrace_needs_one_insn(unsigned long entry);
struct ktrace_slot *ktrace_entry_slot(unsigned long entry);
struct ktrace_slot *ktrace_next_entry_slot(unsigned int *pos);

#endif /* _ARCH_X86_KERNEL_KTRACE_ENTRY_H */
