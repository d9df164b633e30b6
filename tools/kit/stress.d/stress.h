/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the stress program: random numbers, access to the kernel's
 * files, locks, and the counts that are printed at the end.
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

/* Random numbers: each action has a sequence of its own, independent of other actions */

struct rng {
	uint64_t state;
};

void rng_seed(struct rng *rng, uint64_t seed, uint64_t worker, uint64_t n);
uint64_t rng_next(struct rng *rng);
unsigned int pick(struct rng *rng, unsigned int n);	/* 0 to n - 1 */
bool one_in(struct rng *rng, unsigned int n);

#define PICK(rng, array)	((array)[pick(rng, ARRAY_SIZE(array))])

/* Counts, in memory that all workers share */

struct tally {
	_Atomic unsigned long done, refused, nomem, unexpected;
	_Atomic unsigned long errors[NR_ERRNO];
};

struct worker {
	unsigned int	number;
	unsigned int	role;		/* it does only actions of this role */
	pid_t		pid;
	_Atomic unsigned long n;	/* actions so far */
	_Atomic bool	idle;
	char		doing[160];	/* current action, for the report of a hang */
	/* File descriptors that the worker keeps open between actions */
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
 * CAREFUL=1: no action traces all functions. If an emulator runs a kernel with all debug
 * options and all functions are traced, the timer interrupt can take longer than a tick:
 * then no task makes progress.
 */
extern bool careful;

/* The actions */

enum role { ACTOR, LOADER, READER, FUZZER, NR_ROLES };

struct kind {
	const char	*name;
	enum role	role;
	unsigned int	weight;
	int		(*act)(struct worker *w, struct rng *rng);
	const int	*expected;	/* errors that it may return, terminated by 0 */
};

extern const struct kind kinds[];
extern const unsigned int nr_kinds;

/* Write the next action of @w to the kernel log, so that it precedes an error report */
void say(struct worker *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* io.c: they return a value >= 0, or a negative error */
int put(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
int append(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
int get(const char *file, char *buf, size_t size);
void nap(unsigned int milliseconds);

/*
 * A lock of all workers. While it is held shared, ftrace_enabled is 1 and the guest is not
 * suspended: the tracers see all calls.
 */
void hold_counting(bool exclusive);
void release_counting(void);

/* Let allocations of this process fail, if the kernel has fault injection */
void fail_allocations(struct rng *rng);
void stop_failing(void);
void not_failing(void);			/* does not count whether an allocation failed */

/* actions.c */
void actions_setup(void);

/* attach.c */
int act_perf(struct worker *w, struct rng *rng);
int act_bpf_multi(struct worker *w, struct rng *rng);
int act_bpf_fentry(struct worker *w, struct rng *rng);
int act_bpf_fentry_multi(struct worker *w, struct rng *rng);
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
