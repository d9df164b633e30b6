// SPDX-License-Identifier: GPL-2.0
/*
 * For guests of QEMU with a thread for each processor: drops QEMU's translations of an int3 that
 * is no longer in memory.
 *
 * Before QEMU stores to a page, it drops its translations of that page. A processor that
 * translates the page after this, but before the store, keeps a translation of the old byte.
 * Nothing drops that translation later. When the kernel patches an instruction, its last store
 * replaces an int3. A processor with a stale translation of this int3 traps when it comes to
 * the instruction, no handler knows the int3, and the kernel oopses.
 *
 * This module makes asm_exc_int3() call handle_int3() instead of exc_int3(). If the kernel is
 * not patching the instruction, and the byte in memory is no int3, handle_int3() stores the
 * byte again, which makes QEMU drop the translation, and returns to the instruction. The store
 * is an atomic OR with zero: it cannot undo the store of another processor. handle_int3()
 * passes every other trap to exc_int3(): an int3 in memory, and one of user space.
 *
 * A die notifier does not suffice: traced functions run before it, and may execute a stale int3
 * themselves.
 *
 * The module hides one error of the kernel: that it ends the patching of an instruction before
 * every processor has stopped executing the int3. A guest with one thread shows that error.
 * The module does not help before it is loaded. Nor does it help if a processor has a stale
 * translation of the original instruction, and executes it instead of the int3 of a kprobe: the
 * kprobe misses that call.
 */

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/stop_machine.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>
#include <asm/text-patching.h>

/* Addresses in System.map. If the kernel was moved (KASLR), those in memory differ. */
static unsigned long asm_exc_int3_address;
module_param_named(asm_exc_int3, asm_exc_int3_address, ulong, 0444);
static unsigned long exc_int3_address;
module_param_named(exc_int3, exc_int3_address, ulong, 0444);
static unsigned long poke_int3_handler_address;
module_param_named(poke_int3_handler, poke_int3_handler_address, ulong, 0444);
static unsigned long nr_cpu_ids_address;
module_param_named(nr_cpu_ids, nr_cpu_ids_address, ulong, 0444);

/* Processors write it at the same time: a lost count is no harm */
static unsigned long count;
module_param(count, ulong, 0444);
MODULE_PARM_DESC(count, "How often an int3 was executed that was not in memory afterwards");

static void (*call_exc_int3)(struct pt_regs *regs);
/* Handles an int3 of an instruction that the kernel is patching */
static int (*call_poke_handler)(struct pt_regs *regs);

static __always_inline unsigned long read_cr0_raw(void)
{
	unsigned long cr0;

	asm volatile("mov %%cr0, %0" : "=r" (cr0));
	return cr0;
}

static __always_inline void write_cr0_raw(unsigned long cr0)
{
	asm volatile("mov %0, %%cr0" : : "r" (cr0) : "memory");
}

/* Kernel text is read-only. Interrupts are off. */
static __always_inline unsigned long allow_write(void)
{
	unsigned long cr0 = read_cr0_raw();

	write_cr0_raw(cr0 & ~X86_CR0_WP);
	return cr0;
}

static noinstr void handle_int3(struct pt_regs *regs)
{
	unsigned char *byte = (unsigned char *)regs->ip - 1;
	unsigned long cr0;

	if ((regs->cs & 3) || *(volatile unsigned char *)byte == INT3_INSN_OPCODE) {
		call_exc_int3(regs);
		return;
	}
	if (call_poke_handler(regs))
		return;

	cr0 = allow_write();
	asm volatile("lock orb $0, %0" : "+m" (*byte));
	write_cr0_raw(cr0);
	regs->ip--;
	count++;
}

/* Writes the displacement of the call. All other processors wait meanwhile. */
static int redirect(void *displacement)
{
	unsigned long cr0 = allow_write();

	*(s32 *)displacement = (long)handle_int3 - (long)displacement - 4;
	write_cr0_raw(cr0);
	return 0;
}

static int __init stale_int3_init(void)
{
	long offset = (unsigned long)&nr_cpu_ids - nr_cpu_ids_address;
	unsigned char *code = (unsigned char *)asm_exc_int3_address + offset;
	int at;

	call_exc_int3 = (void *)(exc_int3_address + offset);
	call_poke_handler = (void *)(poke_int3_handler_address + offset);
	for (at = 0; at < 128; at++) {
		s32 *displacement = (s32 *)(code + at + 1);

		if (code[at] != CALL_INSN_OPCODE)
			continue;
		if ((long)displacement + 4 + *displacement != (long)call_exc_int3)
			continue;
		return stop_machine(redirect, displacement, NULL);
	}
	pr_err("stale_int3: asm_exc_int3() does not call exc_int3()\n");
	return -ENOENT;
}
module_init(stale_int3_init);

MODULE_DESCRIPTION("Drops stale translations of int3 in QEMU");
MODULE_LICENSE("GPL");
