// SPDX-License-Identifier: GPL-2.0
/*
 * Executes displaced instructions where they were and where they are, and compares.
 *
 * They are executed by a process that shares our address space, and that we trace. All of
 * the text is breakpoints but these instructions: it stops where it leaves them. If one of
 * them faults, because it is privileged or has a wild pointer, we go on with the next.
 */
#include <elf.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define FLAGS_FIXED	0x202UL
#define FLAGS_ARITH	0x8d5UL
#define FLAG_DIRECTION	0x400UL
#define FLAGS_DEBUG	0x10100UL	/* RF and TF: faults change them */

/* The state in which the program stopped */
struct stop {
	int			sig, code;
	unsigned long		addr;
	struct user_regs_struct	regs;
	unsigned int		faults;		/* a bit for each instruction that faulted */
	unsigned long		signals;	/* a sum of their signals */
};

static pid_t child;
static struct user_regs_struct first_regs;

const char *difference;

static int program(void *unused)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	kill(getpid(), SIGSTOP);
	_exit(1);
}

/* Wait for the next stop. Returns its signal. */
static int wait_stop(void)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		die("the program is gone");

	return WSTOPSIG(status);
}

void start_program(void)
{
	static char stack[65536] __aligned(16);

	child = clone(program, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	if (child < 0 || wait_stop() != SIGSTOP)
		die("cannot start the program");

	if (ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_GETREGS, child, 0, &first_regs))
		die("cannot trace the program");
}

static void random_regs(struct user_regs_struct *regs, unsigned long seed, bool wild)
{
	unsigned long flags, *const all[] = {
		(void *)&regs->rax, (void *)&regs->rbx, (void *)&regs->rcx, (void *)&regs->rdx,
		(void *)&regs->rsi, (void *)&regs->rdi, (void *)&regs->rbp, (void *)&regs->r8,
		(void *)&regs->r9, (void *)&regs->r10, (void *)&regs->r11, (void *)&regs->r12,
		(void *)&regs->r13, (void *)&regs->r14, (void *)&regs->r15,
	};

	*regs = first_regs;
	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
		do {
			*all[i] = random_word(&seed);
		} while (!wild && *all[i] - SCRATCH_START >= SCRATCH_SIZE);
	}
	regs->rsp = STACK_START + STACK_SIZE / 2 + (random_word(&seed) & 0x78);

	fill_random(&flags, sizeof(flags), seed);
	regs->eflags = FLAGS_FIXED | (flags & FLAGS_ARITH);
	/* Functions may rely on it to be clear */
	if (wild && !(flags >> 61))
		regs->eflags |= FLAG_DIRECTION;

	/* No system call is to be restarted */
	regs->orig_rax = -1UL;
	regs->fs_base = 0;
	regs->gs_base = gs_base;
}

/* The number of the instruction of @code that is at @offset, or -1. Sets its length. */
static int insn_at(const u8 *code, unsigned int len, unsigned long offset, unsigned int *length)
{
	struct insn insn;
	int nr = 0;

	for (unsigned int pos = 0; pos < len; pos += insn.length, nr++) {
		if (insn_decode(&insn, code + pos, MAX_INSN_SIZE, INSN_MODE_64))
			break;
		*length = insn.length;
		if (pos == offset)
			return nr;
	}

	return -1;
}

/*
 * Two runs do not read the same time: RDTSC and RDTSCP become UD2, which faults. PR_SET_TSC has
 * no effect on some virtual machines.
 */
static void replace_rdtsc(u8 *code, unsigned int len)
{
	struct insn insn;
	u8 *opcode;

	for (unsigned int pos = 0; pos < len; pos += insn.length) {
		if (insn_decode(&insn, code + pos, len - pos, INSN_MODE_64))
			return;
		opcode = code + pos + insn.prefixes.nbytes + insn.rex_prefix.nbytes;
		if (opcode[0] == 0x0f && (opcode[1] == 0x31 ||
					  (opcode[1] == 0x01 && opcode[2] == 0xf9)))
			opcode[1] = 0x0b;
	}
}

/* Continue until the program stops for another reason than our protection of data */
static void resume(struct stop *stop)
{
	siginfo_t info = {};

	do {
		if (ptrace(PTRACE_CONT, child, 0, 0))
			die("cannot continue");
		stop->sig = wait_stop();
		if (ptrace(PTRACE_GETREGS, child, 0, &stop->regs))
			die("cannot read the registers");
		/* The breakpoint at the end, mostly */
		if (stop->sig != SIGTRAP && ptrace(PTRACE_GETSIGINFO, child, 0, &info))
			die("cannot read the signal");
		stop->code = info.si_code;
		stop->addr = (unsigned long)info.si_addr;
	} while (stop->sig == SIGSEGV && stop->code == SEGV_ACCERR &&
		 stop->addr != stop->regs.rip && open_page(stop->addr));

	if (stop->sig == SIGTRAP)
		stop->regs.rip--;
	/* Some faults have the address of the instruction */
	if (stop->addr == stop->regs.rip)
		stop->addr = 0;
}

static void set_regs(const struct user_regs_struct *regs)
{
	if (ptrace(PTRACE_SETREGS, child, 0, regs))
		die("cannot set the registers");
}

/* Execute @code, which has @nr_insns instructions and perhaps a jump behind them, at @ip */
static void run(struct stop *stop, const u8 *code, unsigned int len, unsigned int nr_insns,
		unsigned long ip, const struct user_regs_struct *start)
{
	u8 padded[KTRACE_RELOC_SIZE_MAX + MAX_INSN_SIZE];
	unsigned int length;
	int nr;

	memset(padded, INT3, sizeof(padded));
	memcpy(padded, code, len);
	memcpy(writable(ip), code, len);
	replace_rdtsc(writable(ip), len);

	*stop = (struct stop){ .regs = *start };
	stop->regs.rip = ip;
	for (;;) {
		set_regs(&stop->regs);
		resume(stop);
		nr = insn_at(padded, len, stop->regs.rip - ip, &length);
		if (nr < 0)
			break;
		stop->faults |= 1U << nr;
		stop->signals = 31 * stop->signals + stop->addr + 256 * stop->code + stop->sig;
		/* The last one may be a return: what is behind it is not executed */
		if (nr + 1 >= nr_insns) {
			stop->regs.rip = 0;
			break;
		}
		stop->regs.rip += length;
	}
	stop->regs.eflags &= ~FLAGS_DEBUG;

	memset(writable(ip), INT3, len);
}

static const char *compare_stops(const struct stop *old, const struct stop *new)
{
	if (old->faults != new->faults)
		return "fault in another instruction";
	if (old->regs.rip != new->regs.rip)
		return "leave for another address";
	if (old->sig != new->sig || old->code != new->code || old->addr != new->addr ||
	    old->signals != new->signals)
		return "signals";
	if (old->regs.eflags != new->regs.eflags)
		return "flags";
	if (memcmp(&old->regs, &new->regs, sizeof(old->regs)))
		return "registers";

	return same_pages() ? NULL : "memory";
}

/**
 * compare - execute the instructions in both places
 *
 * In round 0, all registers are pointers to memory. Sets difference if there is one.
 */
enum verdict compare(const struct moved_code *code, unsigned int round)
{
	struct user_regs_struct start;
	unsigned int nr = code->moved.nr;
	struct stop old, new;

	random_regs(&start, code->from * 64 + round, round);

	fill_hot(round);
	run(&old, code->old, code->moved.old_len, nr, code->from, &start);
	take_pages(0);

	fill_hot(round);
	run(&new, code->new, code->moved.new_len, nr, code->to, &start);
	take_pages(1);

	difference = compare_stops(&old, &new);
	if (difference)
		return DIFFERENT;

	return old.faults ? FAULT_ALIKE : EQUAL;
}
