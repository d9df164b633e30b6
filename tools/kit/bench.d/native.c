// SPDX-License-Identifier: GPL-2.0
/*
 * What a call of a traced function costs on this processor, in nanoseconds: through the
 * trampoline that the stock kernel makes for a single tracer, and through those of the
 * multiplexer. tools/kit/bench links it with objects of both kernels:
 *
 *   ftrace_64.o    of the stock kernel; each of its symbols begins with stock_
 *   ftrace_64.o    of the patched kernel: the static trampolines, and the template of
 *                  those on demand
 *   ftrace_mux_code.o
 *                  of the patched kernel: what writes entries, calls and trampolines
 *
 * The list of all tracers, through which several tracers are called on the stock kernel,
 * is not here: it is a part of the tracing core, which no program can contain.
 *
 * The code is patched as the kernel patches it when it boots, on a processor that needs
 * no mitigation: a return is a ret, and the depth of calls is not counted. (Only this
 * counting would use %gs.) The objects expect addresses that fit into 31 bits: those of a
 * program that is static and not position-independent do.
 */
#define _GNU_SOURCE
#include "native_common.h"
#include "native.h"

/* Calls that are timed at a time: few enough to take less than a timer tick */
#define CALLS		10000
#define ROUNDS		201
#define MAX_CALLBACKS	8

static struct ftrace_ops ops[MAX_CALLBACKS];

/* What ftrace_64.o of the stock kernel refers to */
long stock_function_trace_op, stock_pcpu_hot, stock_ftrace_return_to_handler;
long stock___x86_call_depth;

/* What ftrace_64.o and ftrace_mux_code.o of the patched kernel refer to */
long function_trace_op, pcpu_hot, ftrace_return_to_handler;
long __x86_call_depth;

/* No feature is set, and the system boots: then code is not patched with breakpoints */
char boot_cpu_data[4096];
int system_state;
char text_mutex[256];

void mutex_lock(void *lock) { (void)lock; }
void mutex_unlock(void *lock) { (void)lock; }
void *__kmalloc_noprof(size_t size, unsigned int flags) { (void)flags; return calloc(1, size); }
void kfree(const void *p) { free((void *)p); }
int set_memory_rox(unsigned long addr, int pages) { (void)addr; (void)pages; return 0; }

void *text_poke_copy_locked(void *addr, const void *opcode, size_t len, bool core_ok)
{
	(void)core_ok;

	return memcpy(addr, opcode, len);
}

/* Code must be near to the rest, as in the kernel */
void *execmem_alloc(int type, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	(void)type;
	if (p == MAP_FAILED)
		cannot("mmap of code");

	return p;
}

/* On newer kernels */
void *execmem_alloc_rw(int type, size_t size) { return execmem_alloc(type, size); }

/* All memory of trampolines is in one new chunk, which is never freed */
unsigned long bitmap_find_next_zero_area_off(unsigned long *map, unsigned long size,
					     unsigned long start, unsigned int nr,
					     unsigned long align_mask, unsigned long align_offset)
{
	(void)map, (void)align_mask, (void)align_offset;

	return start + nr <= size ? start : size;
}

void __bitmap_set(unsigned long *map, unsigned int start, int len)
{
	(void)map, (void)start, (void)len;
}

#define UNUSED(name)	void name(void) { die(#name "() is called"); }

UNUSED(__bitmap_clear)
UNUSED(_find_first_bit)
UNUSED(callthunks_translate_call_dest)
UNUSED(execmem_free)
UNUSED(smp_text_poke_batch_add)
UNUSED(text_poke_apply_relocation)
UNUSED(text_poke_queue)
UNUSED(text_poke_set)

static const u8 nops[][12] = {
	[1] = { 0x90 },
	[2] = { 0x66, 0x90 },
	[3] = { 0x0f, 0x1f, 0x00 },
	[4] = { 0x0f, 0x1f, 0x40, 0x00 },
	[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	[6] = { 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	[7] = { 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 },
	[8] = { 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
	[9] = { 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
	[10] = { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
	[11] = { 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
};

/* Write a call or a jump to @target */
static void write_branch(u8 *at, u8 opcode, const void *target)
{
	s32 disp = (intptr_t)target - (intptr_t)(at + INSN_SIZE);

	at[0] = opcode;
	memcpy(at + 1, &disp, sizeof(disp));
}

/* What apply_alternatives() does on a processor without the feature: long nops */
static void patch_alternatives(void)
{
	for (struct alt_instr *a = __start_alternatives; a < __stop_alternatives; a++) {
		u8 *insn = (u8 *)&a->instr_offset + a->instr_offset;
		unsigned int i;

		if (a->flags || a->instrlen >= ARRAY_SIZE(nops))
			die("unknown alternative: feature %u, flags %u, length %u",
			    a->cpuid, a->flags, a->instrlen);
		for (i = 0; i < a->instrlen && insn[i] == 0x90; i++)
			;
		if (i == a->instrlen)
			memcpy(insn, nops[i], i);
	}
}

static void set_call_site(const void *callee)
{
	if (callee)
		write_branch(call_site, CALL_OPCODE, callee);
	else
		memcpy(call_site, nops[INSN_SIZE], INSN_SIZE);
}

/* Callbacks */

/* The one that all trampolines call when they are timed */
static noinline __aligned(64) void
empty_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
	       struct ftrace_regs *fregs)
{
	(void)ip, (void)parent_ip, (void)op, (void)fregs;
}

static struct call {
	unsigned long		ip, parent_ip, stack_parent_ip;
	struct ftrace_ops	*op;
	struct user_regs_struct	regs;
} calls[MAX_CALLBACKS + 1];

static unsigned int nr_calls;

/* Keeps what it gets, and leaves garbage in all registers that a callback may change */
static noinline void
check_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
	       struct ftrace_regs *fregs)
{
	if (nr_calls < ARRAY_SIZE(calls)) {
		calls[nr_calls] = (struct call) {
			.ip = ip, .parent_ip = parent_ip, .op = op, .regs = fregs->regs,
			.stack_parent_ip = *(unsigned long *)fregs->regs.rsp,
		};
	}
	nr_calls++;
	asm volatile("mov $-1, %%rax; mov %%rax, %%rcx; mov %%rax, %%rdx; mov %%rax, %%rsi\n"
		     "mov %%rax, %%rdi; mov %%rax, %%r8; mov %%rax, %%r9; mov %%rax, %%r10\n"
		     "mov %%rax, %%r11"
		     : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
}

/* What is timed */

static struct variant {
	const char	*name;
	unsigned int	nr;	/* of callbacks */
	bool		stock;
	unsigned long	tramp;
	const void	*callee;	/* what the call site calls */
	double		ns[ROUNDS];
} variants[] = {
	{ .name = "none" },
	{ .name = "stock:1", .nr = 1, .stock = true },
	{ .name = "mux:1", .nr = 1 },
	{ .name = "mux:2", .nr = 2 },
	{ .name = "mux:4", .nr = 4 },
	{ .name = "mux:8", .nr = 8 },
};

/* What create_trampoline() of the stock kernel does for a tracer that needs no pt_regs */
static unsigned long create_stock(struct ftrace_ops *op)
{
	size_t size = stock_ftrace_caller_end - stock_ftrace_caller;
	size_t op_ptr = stock_ftrace_caller_op_ptr - stock_ftrace_caller;
	u8 *tramp = execmem_alloc(0, 4096);
	/* movq <offset>(%rip), %rdx */
	static const u8 op_ref[] = { 0x48, 0x8b, 0x15 };
	s32 offset = size + INSN_SIZE - op_ptr - (sizeof(op_ref) + sizeof(offset));

	memset(tramp, INT3_OPCODE, 4096);
	memcpy(tramp, stock_ftrace_caller, size);
	tramp[size] = RET_OPCODE;
	if (memcmp(tramp + op_ptr, op_ref, sizeof(op_ref)))
		die("stock: the third argument is not where the label says");
	memcpy(tramp + size + INSN_SIZE, &op, sizeof(op));
	memcpy(tramp + op_ptr + sizeof(op_ref), &offset, sizeof(offset));

	return (unsigned long)tramp;
}

static unsigned long create_mux(unsigned int nr)
{
	struct ftrace_mux_call callbacks[MAX_CALLBACKS];
	unsigned int size;

	if (nr <= CONFIG_FTRACE_MUX_STATIC_IDS)
		return ftrace_mux_static_tramp((1U << nr) - 1, false);

	for (unsigned int i = 0; i < nr; i++)
		callbacks[i] = (struct ftrace_mux_call){ .func = empty_callback, .arg = &ops[i] };

	return ftrace_mux_make_tramp(callbacks, nr, false, NULL, &size);
}

/* Let a trampoline call @func, as often as it calls anything */
static void set_callbacks(const struct variant *v, ftrace_func_t func)
{
	if (!v->nr)
		return;

	if (v->stock) {
		u8 *call = (u8 *)v->tramp + (stock_ftrace_call - stock_ftrace_caller);

		if (*call != CALL_OPCODE)
			die("stock: the call is not where the label says");
		write_branch(call, CALL_OPCODE, func);
		return;
	}

	for (unsigned int i = 0; i < v->nr; i++)
		ftrace_mux_patch_call(v->tramp, v->nr, i, false,
				      v->nr > CONFIG_FTRACE_MUX_STATIC_IDS, func);
}

/* The stock trampoline is called by the call site, ours by way of an entry */
static void create(void)
{
	unsigned long entry = (unsigned long)ftrace_mux_alloc_code(1);

	for (unsigned int i = 0; i < CONFIG_FTRACE_MUX_STATIC_IDS; i++)
		ftrace_mux_set_static_arg(i, i < MAX_CALLBACKS ? &ops[i] : NULL);

	for (struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++) {
		if (!v->nr)
			continue;
		v->tramp = v->stock ? create_stock(&ops[0]) : create_mux(v->nr);
		v->callee = (void *)v->tramp;
		if (v->stock)
			continue;
		ftrace_mux_patch_entry(entry, v->tramp);
		v->callee = (void *)entry;
		entry += FTRACE_MUX_ENTRY_SIZE;
	}
}

static void same(const struct variant *v, const char *what, unsigned long expected,
		 unsigned long got)
{
	if (got != expected)
		die("%s: %s is %#lx, not %#lx", v->name, what, got, expected);
}

/* One call calls each callback once, in order, with the right arguments */
static void check_variant(const struct variant *v)
{
	const struct regs before = {
		.rax = 0x101, .rcx = 0x102, .rdx = 0x103, .rsi = 0x104, .rdi = 0x105,
		.r8 = 0x106, .r9 = 0x107, .rbx = 0x108, .rbp = 0x109, .r12 = 0x10a,
		.r13 = 0x10b, .r14 = 0x10c, .r15 = 0x10d,
	};
	const unsigned long *expected = (const unsigned long *)&before, *got;
	struct regs after = before;

	nr_calls = 0;
	set_call_site(v->callee);
	call_traced(&after);
	set_call_site(NULL);

	same(v, "the number of calls", v->nr, nr_calls);
	for (unsigned int i = 0; i < nr_calls; i++) {
		const struct call *c = &calls[i];

		same(v, "ip", (unsigned long)call_site, c->ip);
		same(v, "parent ip", (unsigned long)return_site, c->parent_ip);
		same(v, "ops", (unsigned long)&ops[i], (unsigned long)c->op);
		same(v, "regs->ip", (unsigned long)call_site + INSN_SIZE, c->regs.rip);
		same(v, "what regs->sp points to", (unsigned long)return_site, c->stack_parent_ip);
		same(v, "regs->cs", 0, c->regs.cs);
		same(v, "regs->ax", before.rax, c->regs.rax);
		same(v, "regs->cx", before.rcx, c->regs.rcx);
		same(v, "regs->dx", before.rdx, c->regs.rdx);
		same(v, "regs->si", before.rsi, c->regs.rsi);
		same(v, "regs->di", before.rdi, c->regs.rdi);
		same(v, "regs->r8", before.r8, c->regs.r8);
		same(v, "regs->r9", before.r9, c->regs.r9);
		same(v, "regs->bp", before.rbp, c->regs.rbp);
	}

	got = (const unsigned long *)&after;
	for (unsigned int i = 0; i < sizeof(after) / sizeof(*got); i++)
		same(v, "a register of the caller", expected[i], got[i]);
}

static void check(void)
{
	for (struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++) {
		set_callbacks(v, check_callback);
		check_variant(v);
		set_callbacks(v, empty_callback);
	}
}

static noinline void call_often(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		traced();
}

/* The variants take turns: what disturbs one disturbs the others, too */
static void measure(void)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++) {
			double start;

			set_call_site(v->callee);
			call_often(CALLS / 10);
			start = now();
			call_often(CALLS);
			v->ns[round] = (now() - start) / CALLS;
		}
	}
	set_call_site(NULL);
}

/* Prints a line for each variant: result NAME LEAST MEDIAN */
int main(void)
{
	make_writable(traced, call_site + INSN_SIZE);
	patch_returns(__start_stock_text, __stop_stock_text);
	patch_returns(__start_mux_text, __stop_mux_text);
	patch_alternatives();
	create();
	stay();
	check();
	measure();
	check();

	for (struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++) {
		qsort(v->ns, ROUNDS, sizeof(v->ns[0]), compare);
		printf("result %s %.3f %.3f\n", v->name, v->ns[0], v->ns[ROUNDS / 2]);
	}
	printf("result static %d\n", CONFIG_FTRACE_MUX_STATIC_IDS);
	printf("result rounds %d %d\n", ROUNDS, CALLS);

	return 0;
}
