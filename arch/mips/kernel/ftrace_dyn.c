// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic ftrace with call sites by -fpatchable-function-entry
 *
 * The call site is that of Huang Pei's RFC series of 2021.  The rest follows
 * arch/loongarch/kernel/ftrace_dyn.c and arch/x86/kernel/ftrace.c.
 */

/*
 * The compiler starts a function with three NOPs, which become a call site:
 *
 *	      compiled	  off		  on		  on, all registers
 *	ip+0  nop	  lui  $1, %hi	  lui  $1, %hi	  lui  $1, %hi
 *	ip+4  nop	  nop		  jalr $12, $1	  jalr $12, $1
 *	ip+8  nop	  li   $13, 0	  li   $13, n	  li   $13, 0x8000|n
 *
 * %hi is the upper half of the address of ftrace_caller(), whose lower half is
 * zero.  Any function can reach it from anywhere, and a module needs no PLT.
 * ra is not touched.  $1, $12 and $13 carry no argument in either ABI, and a
 * function need not preserve them: "off" is three instructions without effect.
 *
 * n is the offset in bytes of a cell: the cells are the pointers in ftrace_cells[].
 * ftrace_caller() calls what the cell points to.  The first cell, n = 0, is for the
 * list function, which walks the list of all ops.  The next cells are for one ops each,
 * in place of the trampolines that other architectures generate.  An ops gets a free one
 * when it is registered while the multiplexer is off, or when the multiplexer is switched
 * off.  A function that is traced by this ops alone uses the cell of the ops.  The last
 * cells are the entries of the multiplexer, see ftrace_mux.c.  While the multiplexer is
 * on, a function that has an entry uses the entry, even if it has only one tracer.
 *
 * Each change of a call site writes aligned words, and none needs another CPU
 * to stop:
 *
 * - An instruction fetch sees an aligned word either as it was or as it is.
 *   The first word never changes.  The second and the third word may each be seen old
 *   or new.  In each case, they are one of the states above, or a NOP followed by
 *   "li $13, n", which has no effect.  Stale cache lines may show a CPU a combination
 *   of words that was never in memory.  The same holds for such a combination.  So
 *   each CPU either does not call ftrace_caller(), or calls it with the offset of a
 *   cell in $13.
 *
 * - For a while, a CPU may call the wrong cell, or save the wrong set of registers.
 *
 *   A call site that is off has n = 0 in its third word, and all CPUs have been told
 *   to flush their caches since that was written.  So a CPU that sees the new second
 *   word with the old third one calls the list function, which calls no ops that does
 *   not want the function.
 *
 *   A call site that was on may use its old cell for a while.  If that is the cell of
 *   an ops, the CPU calls this ops alone, which may have just stopped tracing the
 *   function, or may be about to be freed.  It is freed only after a grace period of
 *   Tasks RCU and of Tasks Rude RCU.  An entry of the multiplexer leads to the tracers
 *   that the function had before: see "Late callers" in kernel/trace/mux/updates.c.
 *
 *   While a call site that saves all registers is turned on or off, a CPU may see its
 *   call with n = 0.  The CPU then calls the list function without all registers, and
 *   the list function skips the ops that need them: see ftrace_ops_test().
 *
 * - On Octeon, flush_icache_range() does not wait for the other CPUs.  A CPU that has
 *   interrupts disabled flushes its cache later.  Until then, it may execute the call
 *   site as it was before it was turned off, with the old n, even if the call site has
 *   been turned on again.  The ops of the old cell has not been freed: it is freed
 *   after a grace period, for which that CPU has to schedule.
 *
 * - A thread reaches the second word only by way of the first, as kprobes
 *   refuse the second and the third word.  A thread that is interrupted
 *   before the second word has the address of ftrace_caller() in its saved $1,
 *   and may execute the second word as it is by then.
 *
 * - A thread that is interrupted in the delay slot of the call, by whatever it
 *   is, has the call's address in EPC and restarts there.  The call may be
 *   executed once more, since it does not change $1, the register that it
 *   jumps to.  ("jalr $1, $1" would jump elsewhere.)  If it is a NOP by then,
 *   the thread goes on.  If the second word was a NOP when the thread executed
 *   it, a thread that is interrupted at the third word restarts at the third word.
 *
 * The first change, from the NOPs to the call site, is different: a thread that
 * had executed the first NOP and then met the call would jump to wherever $1
 * points.  ftrace_init_nop() makes that change before any call site of the
 * function can be turned on: at boot on one CPU with interrupts disabled, or
 * before a module is live.  It flushes the caches itself; for a module,
 * flush_module() does.
 */

#include <linux/cacheflush.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/types.h>

#include <asm/asm.h>
#include <asm/cpu-features.h>
#include <asm/inst.h>
#include <asm/r4kcache.h>

#ifdef CONFIG_FTRACE_MUX
#include <linux/ftrace_mux_calls.h>
#endif

#if defined(CONFIG_64BIT) && VMLINUX_LOAD_ADDRESS < 0xffffffff80000000
#error "Call sites can't reach a kernel outside of the sign-extended 32 bits"
#endif

/* Offsets of the words of a call site that change */
#define SITE_CALL_OFFSET	4
#define SITE_CELL_OFFSET	8

#define INSN_NOP		0
#define INSN_LUI(rt, imm)	((u32)lui_op << 26 | (rt) << 16 | (imm))
#define INSN_LI(rt, imm)	((u32)addiu_op << 26 | (rt) << 16 | (imm))
#define INSN_JALR(rd, rs) \
	((u32)spec_op << 26 | (rs) << 21 | (rd) << 11 | jalr_op)

#define INSN_MOVE(rd, rs) \
	((u32)spec_op << 26 | (rs) << 21 | (rd) << 11 | or_op)

#define INSN_CALL		INSN_JALR(FTRACE_SITE_RA_REG, 1)
#define INSN_CELL(operand)	INSN_LI(FTRACE_SITE_CELL_REG, operand)

/*
 * targets[0] is the list function.  Each of the others is given to one ops, which has
 * the cell with the same index.  If an ops finds none free, call sites without an entry of
 * the multiplexer use cell 0 for it.
 */
static struct ftrace_target targets[FTRACE_NR_TARGETS] __read_mostly = {
	{ .func = arch_ftrace_ops_list_func },
};

/*
 * The cells: what call sites may ask for.  Cell i points to targets[i] if an ops has had
 * it, else to targets[0].  The cells behind these are the entries of the multiplexer.
 *
 * Cells, targets and call sites are written under ftrace_lock, which is not declared
 * outside of kernel/trace: so there is no lockdep assertion here.  text_mutex is not
 * needed, since kprobes and jump labels never write a word of a call site.
 */
const struct ftrace_target *ftrace_cells[FTRACE_NR_CELLS] __read_mostly = {
	&targets[0],
};

static_assert(sizeof(ftrace_cells) <= FTRACE_SITE_SAVE_REGS);

/*
 * Refuse kprobes in ftrace_entry.S: the handler of a breakpoint calls traced functions,
 * which come through there and would hit the breakpoint again.
 */
NOKPROBE_SYMBOL(ftrace_caller);
NOKPROBE_SYMBOL(ftrace_stub);
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
NOKPROBE_SYMBOL(ftrace_stub_direct_tramp);
#endif
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
NOKPROBE_SYMBOL(return_to_handler);
#endif

static u32 insn_load_caller(void)
{
	/* At run time, as the kernel may have been relocated */
	return INSN_LUI(1, (FTRACE_ADDR >> 16) & 0xffff);
}

/* These are inlined for ftrace_replace_code(), which patches 20,000 call sites. */
static __always_inline int read_insn(unsigned long addr, u32 *insn)
{
	int faulted;

	safe_load_code(*insn, addr, faulted);

	return faulted ? -EFAULT : 0;
}

/*
 * flush_icache_range() has other CPUs invalidate their instruction caches, and then writes back the
 * data cache of this CPU. An instruction cache that is filled from memory in between gets the old
 * word, and keeps it. So write the word back at once. Preemption is disabled, so that this is done
 * on the CPU whose data cache has the word.
 */
static __always_inline int write_site_insn(unsigned long addr, u32 insn)
{
	int faulted;

	guard(preempt)();

	safe_store_code(insn, addr, faulted);
	if (faulted)
		return -EFAULT;

	if (IS_ENABLED(CONFIG_SMP) && cpu_has_4k_cache && !cpu_has_ic_fills_f_dc)
		flush_dcache_line(addr);

	return 0;
}

static __always_inline int check_insn(unsigned long addr, u32 expected)
{
	u32 insn;
	int ret;

	ret = read_insn(addr, &insn);
	if (ret)
		return ret;

	return insn == expected ? 0 : -EINVAL;
}

/* Check that there is a call site at @ip with @call as its second word. */
static __always_inline int check_site(unsigned long ip, u32 call)
{
	u32 insn;
	int ret;

	ret = check_insn(ip, insn_load_caller());
	if (ret)
		return ret;

	ret = check_insn(ip + SITE_CALL_OFFSET, call);
	if (ret)
		return ret;

	ret = read_insn(ip + SITE_CELL_OFFSET, &insn);
	if (ret)
		return ret;

	if (call == INSN_NOP)
		return insn == INSN_CELL(0) ? 0 : -EINVAL;

	return (insn & ~0xffff) == INSN_CELL(0) ? 0 : -EINVAL;
}

/*
 * If the kernel may have been started at its first instruction, this instruction is
 * a jump to the kernel's entry.  Replace it by what ftrace_caller() starts with.  No
 * function has been traced yet.
 */
int __init ftrace_dyn_arch_init(void)
{
#ifdef FTRACE_ENTRY_BOOTS
	int ret;

	ret = write_site_insn(FTRACE_ADDR, INSN_MOVE(1, 29));
	if (ret)
		return ret;

	flush_icache_range(FTRACE_ADDR, FTRACE_ADDR + 4);
#endif
	/* No call site uses the other cells yet: let them lead to the list function */
	for (unsigned int i = 1; i < FTRACE_NR_CELLS; i++)
		ftrace_cells[i] = &targets[0];

	return 0;
}

/* The index of a cell, FTRACE_NR_CELLS if @addr is none */
static unsigned int cell_index(unsigned long addr)
{
	unsigned long offset = addr - (unsigned long)ftrace_cells;

	return min(offset / sizeof(ftrace_cells[0]), FTRACE_NR_CELLS);
}

#ifdef CONFIG_FTRACE_MUX
static bool mux_cell_needs_regs(unsigned int index)
{
	return ftrace_mux_entry_regs(index - FTRACE_NR_TARGETS);
}
#else
static bool mux_cell_needs_regs(unsigned int index)
{
	return false;
}
#endif

static bool cell_needs_regs(unsigned int index)
{
	if (index >= FTRACE_NR_TARGETS)
		return mux_cell_needs_regs(index);

	return targets[index].ops->flags & FTRACE_OPS_FL_SAVE_REGS;
}

/*
 * The third word of a call site for which ftrace asks for @addr.  If @addr is neither
 * FTRACE_ADDR nor a cell, it is FTRACE_REGS_ADDR or a direct trampoline.  Both get the list
 * function with all registers: it calls the ops of the direct call, which tells ftrace_caller()
 * where to continue.
 */
static u32 cell_insn(unsigned long addr)
{
	unsigned int index;
	u32 operand;

	if (addr == FTRACE_ADDR)
		return INSN_CELL(0);

	index = cell_index(addr);
	if (index == FTRACE_NR_CELLS)
		return INSN_CELL(FTRACE_SITE_SAVE_REGS);

	operand = index * sizeof(ftrace_cells[0]);
	if (cell_needs_regs(index))
		operand |= FTRACE_SITE_SAVE_REGS;

	return INSN_CELL(operand);
}

/*
 * The target of @ops.  NULL if it has no cell: ops->trampoline is 0, or, for a direct call,
 * FTRACE_REGS_ADDR.
 */
static struct ftrace_target *ops_target(struct ftrace_ops *ops)
{
	unsigned int index = cell_index(ops->trampoline);

	return index < FTRACE_NR_TARGETS && targets[index].ops == ops ? &targets[index] : NULL;
}

/* A target that no ops has, or NULL */
static struct ftrace_target *free_target(void)
{
	struct ftrace_target *target;

	for (target = &targets[1]; target < &targets[FTRACE_NR_TARGETS]; target++) {
		if (!target->ops)
			return target;
	}

	return NULL;
}

/**
 * arch_ftrace_update_trampoline - give an ops a cell, or update what its cell calls
 * @ops: the ops
 *
 * Called when @ops is registered, when ftrace_ops_get_func(@ops) may have changed, and when
 * the multiplexer is switched off.  Not called while the multiplexer is on and
 * ops->trampoline is 0: call sites then need no cell of an ops.
 * If @ops has a cell already, call sites may use it: a CPU calls the old function until it
 * sees the store of the new one.  If there is no free cell, ops->trampoline stays 0: ftrace then
 * asks for FTRACE_ADDR, the list function, for a function that has this ops alone and no entry of
 * the multiplexer.
 *
 * Context: ftrace_lock held.
 */
void arch_ftrace_update_trampoline(struct ftrace_ops *ops)
{
	struct ftrace_target *target;

	if (!ops->trampoline) {
		target = free_target();
		if (!target)
			return;
		target->ops = ops;
		target->func = ftrace_ops_get_func(ops);
		/* No barrier: sync_cells() or flush_module() precedes the first use of it */
		WRITE_ONCE(ftrace_cells[target - targets], target);
		ops->trampoline = (unsigned long)&ftrace_cells[target - targets];
		return;
	}

	target = ops_target(ops);
	if (target)
		WRITE_ONCE(target->func, ftrace_ops_get_func(ops));
}

/**
 * arch_ftrace_trampoline_free - take the cell from an ops
 * @ops: the ops, which no CPU and no task can be calling any more
 *
 * Not called for an ops that is never freed: a static ops keeps its cell.
 *
 * Context: ftrace_lock held.
 */
void arch_ftrace_trampoline_free(struct ftrace_ops *ops)
{
	struct ftrace_target *target = ops_target(ops);

	if (!target)
		return;

	target->func = arch_ftrace_ops_list_func;
	target->ops = NULL;
	ops->trampoline = 0;
}

/**
 * ftrace_init_nop - turn the NOPs of a function into a call site that is off
 * @mod: the module of the function, or NULL
 * @rec: the function's record
 *
 * Context: ftrace_lock held; at boot with interrupts disabled, or before @mod is live.
 *
 * Return: 0, -EINVAL if there aren't three NOPs, -EFAULT if the words cannot be accessed
 */
int ftrace_init_nop(struct module *mod, struct dyn_ftrace *rec)
{
	unsigned long ip = rec->ip;
	unsigned long addr;
	int ret;

	for (addr = ip; addr < ip + MCOUNT_INSN_SIZE; addr += 4) {
		ret = check_insn(addr, INSN_NOP);
		if (ret)
			return ret;
	}

	ret = write_site_insn(ip, insn_load_caller());
	if (ret)
		return ret;

	ret = write_site_insn(ip + SITE_CELL_OFFSET, INSN_CELL(0));
	if (ret)
		return ret;

	/* flush_module() flushes those of a module together. */
	if (!mod)
		flush_icache_range(ip, ip + MCOUNT_INSN_SIZE);

	return 0;
}

#ifdef CONFIG_MODULES
static void flush_module_text(const struct module_memory *mem)
{
	if (mem->size)
		flush_icache_range((unsigned long)mem->base,
				   (unsigned long)mem->base + mem->size);
}

/*
 * Before a module is used for the first time: ftrace_init_nop() has written its
 * call sites, and ftrace_make_call() has turned on those that are to be traced.
 * Nothing is to be done when a module goes: ftrace removes its records.
 */
static int flush_module(struct notifier_block *nb, unsigned long state,
			void *data)
{
	struct module *mod = data;

	if (state != MODULE_STATE_COMING)
		return NOTIFY_DONE;

	/*
	 * As in ftrace_replace_code(), see sync_cells().  Without cpus_read_lock(): no CPU, not
	 * even one that is coming up, executes code of the module before its init function runs,
	 * which is after this.
	 */
	kick_all_cpus_sync();
	flush_module_text(&mod->mem[MOD_TEXT]);
	flush_module_text(&mod->mem[MOD_INIT_TEXT]);

	return NOTIFY_OK;
}

static struct notifier_block flush_module_nb = {
	.notifier_call = flush_module,
};

static int __init flush_module_init(void)
{
	return register_module_notifier(&flush_module_nb);
}
early_initcall(flush_module_init);
#endif /* CONFIG_MODULES */

/**
 * ftrace_site_calls - whether a call site is on, and calls a cell
 * @ip: the function
 * @addr: the address of a cell
 *
 * Context: ftrace_lock held.
 *
 * Return: true if it is on, and has the offset of the cell.
 */
bool ftrace_site_calls(unsigned long ip, unsigned long addr)
{
	return !check_site(ip, INSN_CALL) && !check_insn(ip + SITE_CELL_OFFSET, cell_insn(addr));
}

static __always_inline int turn_on(unsigned long ip, unsigned long addr)
{
	int ret;

	ret = check_site(ip, INSN_NOP);
	if (ret)
		return ret;

	ret = write_site_insn(ip + SITE_CELL_OFFSET, cell_insn(addr));
	if (ret)
		return ret;

	return write_site_insn(ip + SITE_CALL_OFFSET, INSN_CALL);
}

static __always_inline int turn_off(unsigned long ip)
{
	int ret;

	ret = check_site(ip, INSN_CALL);
	if (ret)
		return ret;

	ret = write_site_insn(ip + SITE_CALL_OFFSET, INSN_NOP);
	if (ret)
		return ret;

	return write_site_insn(ip + SITE_CELL_OFFSET, INSN_CELL(0));
}

static __always_inline int change_cell(unsigned long ip, unsigned long addr)
{
	int ret;

	ret = check_site(ip, INSN_CALL);
	if (ret)
		return ret;

	return write_site_insn(ip + SITE_CELL_OFFSET, cell_insn(addr));
}

/**
 * ftrace_make_call - turn on a call site of a module that is being loaded
 * @rec: the function's record
 * @addr: what ftrace asks for
 *
 * The module is not live yet, and flush_module() follows.
 *
 * Context: ftrace_lock held.
 *
 * Return: 0, -EINVAL if the call site is not off, -EFAULT if it cannot be accessed
 */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	return turn_on(rec->ip, addr);
}

/* Not called: this file replaces ftrace_replace_code() */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec,
		    unsigned long addr)
{
	WARN_ON_ONCE(1);
	return -EINVAL;
}

/* Not called: this file replaces ftrace_replace_code() */
int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr,
		       unsigned long addr)
{
	WARN_ON_ONCE(1);
	return -EINVAL;
}

/*
 * An update of call sites.  Before the first one is turned on or changed, all CPUs are interrupted
 * once, so that they see the cells.  Each flush starts a new range.
 */
struct site_update {
	unsigned long start;	/* of the call sites that were written and not flushed yet */
	unsigned long end;
	bool cells_synced;	/* sync_cells() was called */
};

static void flush_written(struct site_update *update)
{
	if (update->start != update->end)
		flush_icache_range(update->start, update->end);
	update->start = 0;
	update->end = 0;
}

/*
 * May the call site at @ip be flushed together with those in @update, and with all that is in
 * between?  If they are less than a page apart, they are of one memory area of one module, since
 * vmalloc() leaves an unmapped page behind each area.  In the kernel's text, nothing is unmapped.
 */
static bool fits_written(const struct site_update *update, unsigned long ip)
{
	if (update->start == update->end)
		return false;

	if (ip + PAGE_SIZE > update->start && ip < update->end + PAGE_SIZE)
		return true;

	return core_kernel_text(update->start) && core_kernel_text(ip);
}

static void grow_written(struct site_update *update, unsigned long ip)
{
	if (!fits_written(update, ip)) {
		flush_written(update);
		update->start = ip;
		update->end = ip + MCOUNT_INSN_SIZE;
		return;
	}

	update->start = min(update->start, ip);
	update->end = max(update->end, ip + MCOUNT_INSN_SIZE);
}

static inline void add_written(struct site_update *update, unsigned long ip)
{
	/* Records are in the order of their addresses, as a rule. */
	if (likely(ip - update->end < PAGE_SIZE))
		update->end = ip + MCOUNT_INSN_SIZE;
	else
		grow_written(update, ip);
}

/*
 * A CPU that executes a new call site must see the cells and targets that were stored before. No
 * barrier orders the fetch of an instruction before a load. So interrupt each CPU after the cells
 * and targets are stored, and before the first call site is written.
 */
static void sync_cells(struct site_update *update)
{
	if (update->cells_synced)
		return;

	kick_all_cpus_sync();
	update->cells_synced = true;
}

/* Bring the call site of @rec to the state that its record asks for. */
static int update_rec(struct site_update *update, struct dyn_ftrace *rec, bool enable)
{
	int type = ftrace_test_record(rec, enable);
	unsigned long addr = 0;

	if (type == FTRACE_UPDATE_IGNORE)
		return 0;

	if (type != FTRACE_UPDATE_MAKE_NOP) {
		/* Before ftrace_update_record(), which changes what the record says */
		addr = ftrace_get_addr_new(rec);
		/* A wrong record: ftrace_get_addr_new() has warned, and has disabled ftrace */
		if (unlikely(rec->flags & FTRACE_FL_TRAMP && addr == FTRACE_ADDR))
			return -EINVAL;
	}

	ftrace_update_record(rec, enable);
	add_written(update, rec->ip);
	if (type == FTRACE_UPDATE_MAKE_NOP)
		return turn_off(rec->ip);

	sync_cells(update);
	if (type == FTRACE_UPDATE_MODIFY_CALL)
		return change_cell(rec->ip, addr);

	return turn_on(rec->ip, addr);
}

/**
 * ftrace_replace_code - bring all call sites to the state that their records ask for
 * @mod_flags: FTRACE_MODIFY_ENABLE_FL: follow the records; without it: turn all call sites off.
 *	FTRACE_MODIFY_MAY_SLEEP_FL: may sleep
 *
 * The generic function would flush the icache for each call site, and a flush
 * interrupts the other CPUs.  This one flushes once for the kernel's text, and
 * once or a few times for each module.
 *
 * If ftrace finds a wrong call site, it disables itself (ftrace_bug()), and the others
 * stay as they are.
 *
 * Context: process context; ftrace_lock held, and the CPU hotplug lock for reading.
 */
void ftrace_replace_code(int mod_flags)
{
	bool enable = mod_flags & FTRACE_MODIFY_ENABLE_FL;
	bool may_sleep = mod_flags & FTRACE_MODIFY_MAY_SLEEP_FL;
	struct site_update update = {};
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;
	int ret;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		ret = update_rec(&update, rec, enable);
		if (ret) {
			ftrace_bug(ret, rec);
			break;
		}
		if (may_sleep)
			cond_resched();
	}
	flush_written(&update);
}

/**
 * arch_ftrace_update_code - update call sites
 * @command: FTRACE_UPDATE_CALLS and so on
 *
 * stop_machine() is not needed.  It could not be used either: interrupts are off in it, and a
 * flush of the caches of other CPUs may have to interrupt them.
 *
 * Nothing is done for FTRACE_UPDATE_TRACE_FUNC: no call site uses ftrace_trace_function, since
 * each says what it calls.
 *
 * A CPU that is coming up fills its cache before it is online, but is told to flush it
 * only when it is online.  So hold the hotplug lock: no CPU comes up during the update.
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void arch_ftrace_update_code(int command)
{
	guard(cpus_read_lock)();

	ftrace_modify_all_code((command & ~FTRACE_UPDATE_TRACE_FUNC) |
			       FTRACE_MAY_SLEEP);
}

/* See arch_ftrace_update_code(). */
int ftrace_update_ftrace_func(ftrace_func_t func)
{
	return 0;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/**
 * ftrace_graph_func - make a function return to return_to_handler()
 * @ip: the function
 * @parent_ip: its return address
 * @op: the ops of the graph tracer
 * @fregs: the function's registers
 *
 * There is no frame pointer, and the function has not saved its return address
 * yet.  The unwinder tells functions apart by the stack pointer at their start.
 *
 * Context: that of the traced function: any, NMI included; preemption may be enabled.
 * function_graph_enter_regs() prevents recursion.
 */
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &arch_ftrace_regs(fregs)->regs;
	unsigned long *start_sp = (unsigned long *)regs->regs[29];

	if (unlikely(ftrace_graph_is_dead() || atomic_read(&current->tracing_graph_pause)))
		return;

	if (!function_graph_enter_regs(regs->regs[31], ip, 0, start_sp, fregs))
		regs->regs[31] = (unsigned long)return_to_handler;
}

NOKPROBE_SYMBOL(ftrace_graph_func);
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */
