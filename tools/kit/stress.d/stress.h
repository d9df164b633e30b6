/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the stress program share: random numbers, writes to the
 * kernel's files, and the numbers that are printed at the end.
 */
#ifndef STRESS_H
#define STRESS_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define TRACING		"/sys/kernel/tracing"
#define MAX_KINDS	64
#define MAX_WORKERS	16
#define NR_ERRNO	256
#define NR_SLOTS	4

/* random.c: each action has a sequence of its own, whatever the others do */

struct rng {
	uint64_t state;
};

void rng_seed(struct rng *rng, uint64_t seed, uint64_t worker, uint64_t n);
uint64_t rng_next(struct rng *rng);
unsigned int pick(struct rng *rng, unsigned int n);	/* 0 to n - 1 */
bool one_in(struct rng *rng, unsigned int n);

#define PICK(rng, array)	((array)[pick(rng, ARRAY_SIZE(array))])

/* Numbers, in memory that all workers share */

struct tally {
	_Atomic unsigned long done, refused, nomem, unexpected;
	_Atomic unsigned long errors[NR_ERRNO];
};

struct worker {
	unsigned int	number;
	unsigned int	role;		/* whose kinds of actions it does */
	pid_t		pid;
	_Atomic unsigned long n;	/* actions so far */
	_Atomic bool	idle;
	char		doing[160];	/* for the report if it hangs */
	/* What a worker holds open from one action to another */
	int		perf[NR_SLOTS];
	int		bpf[NR_SLOTS];
};

struct shared {
	struct tally	kind[MAX_KINDS];
	struct worker	worker[MAX_WORKERS];
	_Atomic unsigned long calls, strays, compared, miscounted, injected;
	_Atomic unsigned long fuzz_writes, fuzz_bytes, fuzz_reads;
	_Atomic bool	stop;
};

extern struct shared *shared;
extern uint64_t seed;

/*
 * CAREFUL=1: nothing traces all functions. In a kernel with all debug options that
 * an emulator runs, a tick can then take longer than until the next one, and nobody
 * gets any further, not even the one who would end it.
 */
extern bool careful;

/* The actions */

enum role { ACTOR, LOADER, READER, FUZZER, NR_ROLES };

struct kind {
	const char	*name;
	enum role	role;
	unsigned int	weight;
	int		(*act)(struct worker *w, struct rng *rng);
	const int	*expected;	/* errors it may meet, up to a 0 */
};

extern const struct kind kinds[];
extern const unsigned int nr_kinds;

/* What it is about to do goes to the kernel's log, to be found before a complaint */
void say(struct worker *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* io.c: all return 0 or more, or a negative error */
int put(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
int append(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
int get(const char *file, char *buf, size_t size);
void nap(unsigned int milliseconds);

/*
 * What must not happen at a time is told apart by locks.
 *
 * For as long as COUNTING is held shared, ftrace_enabled is 1 and the machine
 * does not sleep: the calls made are the calls seen.
 *
 * For as long as CPUS is held exclusively, there is no latency tracer. One that
 * finds its maximum on a CPU that is about to go queues an irq_work there, which
 * never runs, and keeps all others of that CPU from running when it is back: no
 * synchronize_rcu_tasks_rude() returns any more. The stock kernel does that.
 */
enum lock { COUNTING, CPUS, NR_LOCKS };

void hold(enum lock lock, bool exclusive);
void release(enum lock lock);

/* Let allocations of this process fail, where the kernel can do that */
void fail_allocations(struct rng *rng);
void stop_failing(void);
void not_failing(void);			/* without asking whether it has come to that */

/* actions.c */
void actions_setup(void);

/* attach.c */
int act_perf(struct worker *w, struct rng *rng);
int act_bpf_multi(struct worker *w, struct rng *rng);
int act_bpf_fentry(struct worker *w, struct rng *rng);
void attach_setup(void);

/* fuzz.c */
int act_fuzz(struct worker *w, struct rng *rng);

/* load.c */
int act_tracers(struct worker *w, struct rng *rng);
int act_compare(struct worker *w, struct rng *rng);
int act_hammer(struct worker *w, struct rng *rng);
int act_reload(struct worker *w, struct rng *rng);

/* modules.c */
void modules_setup(void);
int load_module(const char *name, const char *arguments);
int unload_module(const char *name);
int act_module(struct worker *w, struct rng *rng);

#endif
