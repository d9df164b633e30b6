// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic ftrace with call sites by -fpatchable-function-entry
 *
 * The idea of the stub is that of Huang Pei's RFC series of 2021, the rest
 * follows arch/loongarch/kernel/ftrace_dyn.c and arch/x86/kernel/ftrace.c.
 */

/*
 * The compiler starts a function with three NOPs, which become a stub:
 *
 *	      compiled	  off		  on		  on, all registers
 *	ip+0  nop	  lui  $1, %hi	  lui  $1, %hi	  lui  $1, %hi
 *	ip+4  nop	  nop		  jalr $12, $1	  jalr $12, $1
 *	ip+8  nop	  li   $13, any	  li   $13, n	  li   $13, 0x8000|n
 *
 * %hi is that of ftrace_caller(), whose address has a lower half of zero: any
 * function can be reached from anywhere, and a module needs no PLT.  ra isn't
 * touched.  $1, $12 and $13 carry no argument in either ABI and needn't be
 * preserved by a function, so "off" is three instructions without effect.
 *
 * What is called from ftrace_caller() is the element of ftrace_targets[] at the
 * offset n.  The first one is the function that walks over all ops.  Each ops
 * has one of its own, which takes the place of the trampoline that other
 * architectures generate for it, and which functions use that no other ops
 * traces.
 *
 * Once the stub is there, each change is to one aligned word, and none needs
 * another CPU to stop:
 *
 * - The words are independent of each other.  An instruction fetch sees an
 *   aligned word either as it was or as it is, the first word never changes,
 *   and each of the four combinations of the second and the third is one of the
 *   states above.  Whichever of them a CPU meets, and be it one that never was
 *   in memory due to stale cache lines, it either doesn't call the trampoline
 *   or calls it properly.
 *
 * - What may be wrong for a while is who is called, and which registers are
 *   saved.  A function that is off may have been traced last by an ops that is
 *   no more.  Then the third word is written, and flushed from the icaches,
 *   before the second word becomes the call.  If it was the list, both words
 *   are written at once, for the list calls nobody who doesn't want to be.
 *   A function that was on may go on for a while as it did: an ops that is being
 *   replaced by the list is on the list, too, and one that goes is only freed
 *   after all CPUs and all tasks have been somewhere else.  While all registers
 *   are being asked for, ftrace_get_regs() may be NULL; then it's the list
 *   function that is called, which leaves those out who insist.
 *
 * - No thread is at the second word without having executed the first, for it
 *   isn't possible to put a probe on the second or the third word.  A thread
 *   that is interrupted before the second word has the upper half in its saved
 *   $1, and it may execute the second word as it is by then.
 *
 * - A thread that is interrupted in the delay slot of the call, by whatever it
 *   is, has the call's address in EPC and restarts there.  The call may
 *   be executed once more as it doesn't change $1, the register that it jumps
 *   to - with "jalr $1, $1", it would jump somewhere else.  If it's a NOP by
 *   then, the thread just goes on.  A thread that is interrupted at the third
 *   word without a call before it restarts at the third word.
 *
 * The very first change, from the NOPs to the stub, is another matter: a thread
 * that had executed the first NOP and then met the call would jump to wherever
 * $1 points.  It's done before anyone can execute the function while it could
 * be turned on: for the kernel while booting with interrupts disabled, and for
 * modules before they go live.  This needs the icache to be flushed then, not
 * only when the stub is turned on.
 */

#include <linux/cacheflush.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <asm/asm.h>
#include <asm/inst.h>

#if defined(CONFIG_64BIT) && VMLINUX_LOAD_ADDRESS < 0xffffffff80000000
#error "The stub can't reach a kernel outside of the sign-extended 32 bits"
#endif

/* Offsets of the words that change */
#define STUB_CALL	4
#define STUB_MODE	8

#define INSN_NOP		0
#define INSN_LUI(rt, imm)	((u32)lui_op << 26 | (rt) << 16 | (imm))
#define INSN_LI(rt, imm)	((u32)addiu_op << 26 | (rt) << 16 | (imm))
#define INSN_JALR(rd, rs) \
	((u32)spec_op << 26 | (rs) << 21 | (rd) << 11 | jalr_op)

#define INSN_MOVE(rd, rs) \
	((u32)spec_op << 26 | (rs) << 21 | (rd) << 11 | or_op)

#define INSN_CALL		INSN_JALR(FTRACE_STUB_RA, 1)
#define INSN_MODE(mode)		INSN_LI(FTRACE_STUB_MODE, mode)

/* As many ops have a target, and the others are called by way of the list. */
#define NR_TARGETS		256

/*
 * What stubs may have called.  Written to with ftrace_lock held, which is not
 * declared outside of kernel/trace; read by ftrace_caller.
 */
struct ftrace_target ftrace_targets[NR_TARGETS] __read_mostly = {
	{ .func = arch_ftrace_ops_list_func },
};

static_assert(sizeof(ftrace_targets) <= FTRACE_MODE_FULL);

/* A breakpoint there would be hit once more by what handles it */
NOKPROBE_SYMBOL(ftrace_caller);
NOKPROBE_SYMBOL(ftrace_stub);
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
NOKPROBE_SYMBOL(ftrace_stub_direct_tramp);
#endif
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
NOKPROBE_SYMBOL(return_to_handler);
#endif

static u32 insn_load_trampoline(void)
{
	/* At run time, as the kernel may have been relocated. */
	return INSN_LUI(1, (FTRACE_ADDR >> 16) & 0xffff);
}

static int read_insn(unsigned long addr, u32 *insn)
{
	int faulted;

	safe_load_code(*insn, addr, faulted);

	return faulted ? -EFAULT : 0;
}

static int write_insn(unsigned long addr, u32 insn)
{
	int faulted;

	safe_store_code(insn, addr, faulted);

	return faulted ? -EFAULT : 0;
}

static void flush_stub(unsigned long ip)
{
	flush_icache_range(ip, ip + MCOUNT_INSN_SIZE);
}

static int check_insn(unsigned long addr, u32 expected)
{
	u32 insn;
	int ret;

	ret = read_insn(addr, &insn);
	if (ret)
		return ret;

	return insn == expected ? 0 : -EINVAL;
}

/* Is there a stub at @ip, with @call as its second word? Sets @mode to the third. */
static inline int check_stub(unsigned long ip, u32 call, u32 *mode)
{
	u32 insn_load, insn_call, insn_mode;
	int faulted[3];

	safe_load_code(insn_load, ip, faulted[0]);
	safe_load_code(insn_call, ip + STUB_CALL, faulted[1]);
	safe_load_code(insn_mode, ip + STUB_MODE, faulted[2]);
	if (faulted[0] || faulted[1] || faulted[2])
		return -EFAULT;

	if (insn_load != insn_load_trampoline() || insn_call != call ||
	    (insn_mode & ~0xffff) != INSN_MODE(0))
		return -EINVAL;

	*mode = insn_mode;

	return 0;
}

/*
 * The kernel may have been started at its first instruction.  That's over now,
 * and no function has been traced yet.
 */
int __init ftrace_dyn_arch_init(void)
{
#ifdef FTRACE_ENTRY_BOOTS
	int ret;

	ret = write_insn(FTRACE_ADDR, INSN_MOVE(1, 29));
	if (ret)
		return ret;

	flush_icache_range(FTRACE_ADDR, FTRACE_ADDR + 4);
#endif
	return 0;
}

static struct ftrace_target *addr_to_target(unsigned long addr)
{
	if (addr < (unsigned long)ftrace_targets ||
	    addr >= (unsigned long)(ftrace_targets + NR_TARGETS))
		return NULL;

	return (struct ftrace_target *)addr;
}

/*
 * The third word of a stub that does what ftrace wants to be called. Direct
 * trampolines aren't called from the stub but from ftrace_caller(), by an ops that
 * needs all registers.
 */
static u32 addr_to_mode(unsigned long addr)
{
	struct ftrace_target *target;
	u32 mode;

	if (addr == FTRACE_ADDR)
		return INSN_MODE(0);

	target = addr_to_target(addr);
	if (!target)
		return INSN_MODE(FTRACE_MODE_FULL);

	mode = (target - ftrace_targets) * sizeof(*target);
	if (target->ops->flags & FTRACE_OPS_FL_SAVE_REGS)
		mode |= FTRACE_MODE_FULL;

	return INSN_MODE(mode);
}

/* May a stub with the third word @old be turned on together with a change of it? */
static bool mode_is_safe(u32 old, u32 mode)
{
	return old == mode || old == INSN_MODE(0) ||
	       old == INSN_MODE(FTRACE_MODE_FULL);
}

/* The target of @ops, or NULL: that of a direct call is somewhere else */
static struct ftrace_target *ops_target(struct ftrace_ops *ops)
{
	struct ftrace_target *target = addr_to_target(ops->trampoline);

	return target && target->ops == ops ? target : NULL;
}

/* The target of @ops, or one that is free, or NULL */
static struct ftrace_target *find_target(struct ftrace_ops *ops)
{
	struct ftrace_target *target, *found = NULL;

	for (target = &ftrace_targets[1]; target < &ftrace_targets[NR_TARGETS];
	     target++) {
		if (target->ops == ops)
			return target;
		if (!target->ops && !found)
			found = target;
	}

	return found;
}

/**
 * arch_ftrace_update_trampoline - set what is called for an ops alone
 * @ops: the ops
 *
 * Gives @ops a target if there is one left, or updates the function that it
 * calls.  A stub that names it is yet to be written, or already calls it.
 *
 * Context: ftrace_lock is held.
 */
void arch_ftrace_update_trampoline(struct ftrace_ops *ops)
{
	struct ftrace_target *target;

	if (!ops->trampoline) {
		target = find_target(ops);
		if (!target)
			return;
		target->ops = ops;
		ops->trampoline = (unsigned long)target;
	}

	target = ops_target(ops);
	if (target)
		WRITE_ONCE(target->func, ftrace_ops_get_func(ops));

	/* Before any stub that names it */
	smp_wmb();
}

/**
 * arch_ftrace_trampoline_free - take the target from an ops
 * @ops: the ops, which no stub has called since all CPUs and tasks were elsewhere
 *
 * Context: ftrace_lock is held.
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
 * ftrace_init_nop - turn the NOPs of a function into a stub that is off
 * @mod: the module of the function, or NULL
 * @rec: the function's record
 *
 * Return: 0, -EINVAL if there aren't three NOPs, -EFAULT
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

	ret = write_insn(ip, insn_load_trampoline());
	if (ret)
		return ret;

	ret = write_insn(ip + STUB_MODE, INSN_MODE(0));
	if (ret)
		return ret;

	/* Those of a module are flushed together, see flush_module(). */
	if (!mod)
		flush_stub(ip);

	return 0;
}

#ifdef CONFIG_MODULES
static void flush_module_text(const struct module_memory *mem)
{
	if (mem->size)
		flush_icache_range((unsigned long)mem->base,
				   (unsigned long)mem->base + mem->size);
}

/* The stubs of a module that is about to be used are new to all CPUs. */
static int flush_module(struct notifier_block *nb, unsigned long state,
			void *data)
{
	struct module *mod = data;

	if (state != MODULE_STATE_COMING)
		return NOTIFY_DONE;

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
 * ftrace_make_call - turn a stub on
 * @rec: the function's record
 * @addr: what ftrace wants to be called
 *
 * Return: 0, -EINVAL if the stub isn't off, -EFAULT
 */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	u32 mode = addr_to_mode(addr), old_mode;
	int ret;

	ret = check_stub(rec->ip, INSN_NOP, &old_mode);
	if (ret)
		return ret;

	ret = write_insn(rec->ip + STUB_MODE, mode);
	if (ret)
		return ret;
	if (!mode_is_safe(old_mode, mode))
		flush_stub(rec->ip);

	ret = write_insn(rec->ip + STUB_CALL, INSN_CALL);
	if (ret)
		return ret;

	flush_stub(rec->ip);

	return 0;
}

/**
 * ftrace_make_nop - turn a stub off
 * @mod: the module of the function, or NULL
 * @rec: the function's record
 * @addr: what is being called
 *
 * Return: 0, -EINVAL if the stub isn't on, -EFAULT
 */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec,
		    unsigned long addr)
{
	u32 mode;
	int ret;

	ret = check_stub(rec->ip, INSN_CALL, &mode);
	if (ret)
		return ret;

	ret = write_insn(rec->ip + STUB_CALL, INSN_NOP);
	if (ret)
		return ret;

	flush_stub(rec->ip);

	return 0;
}

/**
 * ftrace_modify_call - change what a stub that is on asks for
 * @rec: the function's record
 * @old_addr: what is being called
 * @addr: what ftrace wants to be called
 *
 * Return: 0, -EINVAL if the stub isn't on, -EFAULT
 */
int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr,
		       unsigned long addr)
{
	u32 old_mode;
	int ret;

	ret = check_stub(rec->ip, INSN_CALL, &old_mode);
	if (ret)
		return ret;

	ret = write_insn(rec->ip + STUB_MODE, addr_to_mode(addr));
	if (ret)
		return ret;

	flush_stub(rec->ip);

	return 0;
}

/* Stubs that were written to and have to be flushed */
struct flush_range {
	unsigned long start;
	unsigned long end;
};

static void flush_range_now(struct flush_range *range)
{
	if (range->start != range->end)
		flush_icache_range(range->start, range->end);
	range->start = 0;
	range->end = 0;
}

/*
 * Stubs that are less than a page apart are flushed together, as is all of the
 * kernel's text.  Farther apart, there may be unmapped memory between modules.
 */
static bool flush_range_fits(const struct flush_range *range, unsigned long ip)
{
	if (range->start == range->end)
		return false;

	if (ip + PAGE_SIZE > range->start && ip < range->end + PAGE_SIZE)
		return true;

	return core_kernel_text(range->start) && core_kernel_text(ip);
}

static void flush_range_grow(struct flush_range *range, unsigned long ip)
{
	if (!flush_range_fits(range, ip)) {
		flush_range_now(range);
		range->start = ip;
		range->end = ip + MCOUNT_INSN_SIZE;
		return;
	}

	range->start = min(range->start, ip);
	range->end = max(range->end, ip + MCOUNT_INSN_SIZE);
}

static inline void flush_range_add(struct flush_range *range, unsigned long ip)
{
	/* As a rule they come in order. */
	if (likely(ip - range->end < PAGE_SIZE))
		range->end = ip + MCOUNT_INSN_SIZE;
	else
		flush_range_grow(range, ip);
}

/* What ftrace_replace_code() has done and has to do */
struct replace {
	bool enable;
	bool deferred;			/* there are stubs left for turn_on_rest() */
	struct flush_range range;
};

/*
 * Bring the stub of @rec to the state that is asked for. One that is off and
 * that would call an ops that is no more is told who is to be called, and remains
 * off: turn_on_rest().
 */
static int update_rec(struct replace *r, struct dyn_ftrace *rec)
{
	int type = ftrace_update_record(rec, r->enable);
	unsigned long addr;
	u32 mode, old_mode;
	int ret;

	if (type == FTRACE_UPDATE_IGNORE)
		return 0;

	ret = check_stub(rec->ip, type == FTRACE_UPDATE_MAKE_CALL ?
				  INSN_NOP : INSN_CALL, &old_mode);
	if (ret)
		return ret;

	flush_range_add(&r->range, rec->ip);
	if (type == FTRACE_UPDATE_MAKE_NOP)
		return write_insn(rec->ip + STUB_CALL, INSN_NOP);

	addr = ftrace_get_addr_new(rec);
	/* Ftrace has found that its accounts are wrong, and is dead already. */
	if (unlikely(rec->flags & FTRACE_FL_TRAMP && addr == FTRACE_ADDR))
		return -EINVAL;

	mode = addr_to_mode(addr);
	if (mode != old_mode) {
		ret = write_insn(rec->ip + STUB_MODE, mode);
		if (ret)
			return ret;
	}
	if (type == FTRACE_UPDATE_MODIFY_CALL)
		return 0;

	if (!mode_is_safe(old_mode, mode)) {
		r->deferred = true;
		return 0;
	}

	return write_insn(rec->ip + STUB_CALL, INSN_CALL);
}

/* Turn the stub of @rec on if update_rec() left that to be done. */
static int turn_on_rest(struct replace *r, struct dyn_ftrace *rec)
{
	u32 call;
	int ret;

	if (!(rec->flags & FTRACE_FL_ENABLED))
		return 0;

	ret = read_insn(rec->ip + STUB_CALL, &call);
	if (ret || call == INSN_CALL)
		return ret;

	flush_range_add(&r->range, rec->ip);

	return write_insn(rec->ip + STUB_CALL, INSN_CALL);
}

/*
 * Ftrace is about to be dead, and nobody will turn off what is on. Have that call the
 * list, from which an ops can be taken still.
 */
static noinline void update_failed(struct replace *r, struct dyn_ftrace *rec,
				   int error)
{
	struct ftrace_target *target;

	for (target = ftrace_targets; target < &ftrace_targets[NR_TARGETS]; target++)
		WRITE_ONCE(target->func, arch_ftrace_ops_list_func);

	flush_range_now(&r->range);
	ftrace_bug(error, rec);
}

static inline bool update_recs(struct replace *r,
			       int (*func)(struct replace *r,
					   struct dyn_ftrace *rec))
{
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;
	int ret;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		ret = func(r, rec);
		if (ret) {
			update_failed(r, rec, ret);
			return false;
		}
		cond_resched();
	}
	flush_range_now(&r->range);

	return true;
}

/**
 * ftrace_replace_code - bring all stubs to the state that their records ask for
 * @enable: nonzero for that, zero to turn all of them off
 *
 * In place of the generic function, as a flush of the icache interrupts other
 * CPUs: there is one for the kernel's text and one or more for each module, and
 * once more if stubs that are off have to be told first who they are to call,
 * rather than one or two for each function.
 */
void ftrace_replace_code(int enable)
{
	struct replace r = { .enable = enable };

	if (update_recs(&r, update_rec) && r.deferred)
		update_recs(&r, turn_on_rest);
}

/*
 * No need for stop_machine(), which moreover couldn't flush other CPUs, nor for the
 * others to see a new ftrace_trace_function: who is called is for each stub to say.
 */
void arch_ftrace_update_code(int command)
{
	ftrace_modify_all_code(command & ~FTRACE_UPDATE_TRACE_FUNC);
}

/* See arch_ftrace_update_code() */
int ftrace_update_ftrace_func(ftrace_func_t func)
{
	return 0;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/**
 * ftrace_graph_func - have a function return to the graph tracer
 * @ip: the function
 * @parent_ip: its return address
 * @op: the ops of the graph tracer
 * @fregs: the function's registers
 *
 * There is no frame pointer, and the place on the stack where the function will
 * save the return address isn't known yet.  To tell functions apart, the
 * unwinder has the value of the stack pointer at their entry.
 */
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &arch_ftrace_regs(fregs)->regs;
	unsigned long *entry_sp = (unsigned long *)regs->regs[29];
	int bit;

	if (unlikely(ftrace_graph_is_dead()))
		return;

	if (unlikely(atomic_read(&current->tracing_graph_pause)))
		return;

	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;

	if (!function_graph_enter(regs->regs[31], ip, 0, entry_sp))
		regs->regs[31] = (unsigned long)return_to_handler;

	ftrace_test_recursion_unlock(bit);
}
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */
