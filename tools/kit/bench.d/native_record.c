// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs on this processor, in nanoseconds, to reserve and to commit an event of the
 * ring buffer of the tracers: with the code of the stock kernel, and with that of the
 * patched kernel. tools/kit/bench links it with these objects of both kernels:
 *
 *   ring_buffer.o  ring_buffer_lock_reserve() and ring_buffer_unlock_commit()
 *   trace_clock.o  trace_clock_local(), the default clock
 *   tsc.o          sched_clock(), which this clock calls, and what that calls
 *
 * The objects of a kernel are one object then, of which only the symbols in struct kernel
 * are global. They begin with stock_ or patched_. All else that the objects refer to is
 * either defined here, or never called: its address is 0.
 *
 * Both kernels are in one program, which records with them in turn: what disturbs one of
 * them, such as a change of the clock rate or another guest of the host, disturbs the other,
 * too. Two programs would be measured tenths of a second apart.
 *
 * The code runs as the kernel runs it, with these exceptions:
 * - Returns are plain ones, as on a processor that needs no mitigation.
 * - The sub-buffers are in a range of memory, as those of a buffer that outlives a reboot.
 *   Then no struct page is needed, which depends on the configuration. It makes a difference
 *   only when a sub-buffer is full.
 * - Other code of the kernel does not compete for the branch predictors and TLBs.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <emmintrin.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <linux/kernel.h>

#include "native_common.h"
#include "native_record.h"

#define ROUNDS		31
/* Events that are timed at a time: few enough to take less than a timer tick */
#define EVENTS		4000
/* Events of a round that are timed alone */
#define COLD_EVENTS	5

#define CACHE_LINE	64
#define SUBBUF_SIZE	4096UL
/* Sub-buffers and what describes them: they fit into a cache of the second level */
#define RANGE_SIZE	(17 * SUBBUF_SIZE)
#define RB_FL_OVERWRITE	1

/* Code that warns has an ud2, and what the program does not have is at the address 0 */
static void __noreturn crashed(int sig)
{
	static const char warned[] = "the ring buffer warns\n";
	static const char missing[] = "the ring buffer needs what this program does not have\n";

	if (sig == SIGILL)
		sig = write(STDERR_FILENO, warned, sizeof(warned) - 1);
	else
		sig = write(STDERR_FILENO, missing, sizeof(missing) - 1);
	_exit(1);
}

/* What the objects refer to: data */

unsigned int nr_cpu_ids = 1;
unsigned long __cpu_online_mask[128] = { 1 }, __cpu_possible_mask[128] = { 1 };
/* kmalloc() selects one of them */
void *kmalloc_caches[1024];
/* struct task_struct */
char task[65536];
int system_state;
unsigned long jiffies_64;
/* struct cpuinfo_x86: one of its integers is the size of a cache line */
int boot_cpu_data[1024];

/* What the objects refer to: functions */

/* What is allocated here is evicted from the caches, too */
static char memory[65536] __aligned(4096);
static size_t allocated;

static void *allocate(size_t size)
{
	void *p = memory + allocated;

	allocated += (size + CACHE_LINE - 1) & -CACHE_LINE;
	if (allocated > sizeof(memory))
		die("the ring buffer allocates more than %zu bytes", sizeof(memory));

	return p;
}

void *__kmalloc_noprof(size_t size) { return allocate(size); }
void *__kmalloc_node_noprof(size_t size) { return allocate(size); }

void *__kmalloc_cache_noprof(void *cache, unsigned int flags, size_t size)
{
	(void)cache;
	(void)flags;

	return allocate(size);
}

void *bitmap_alloc(unsigned int bits, unsigned int flags)
{
	(void)flags;

	return allocate((bits + 63) / 64 * sizeof(long));
}

long si_mem_available(void) { return 1L << 30; }

enum { WARM, COLD_DATA, COLD, CONDITIONS };
static const char *const conditions[] = { "warm", "data", "cold" };

static const unsigned int sizes[] = { 16, 24 };

struct figures {
	double		warm[ROUNDS], cold[2][ROUNDS * COLD_EVENTS];
	unsigned int	nr[CONDITIONS];
};

struct kernel {
	const char	*name;
	struct trace_buffer *(*alloc)(unsigned long size, unsigned int flags, int order,
				      unsigned long start, unsigned long range_size,
				      unsigned long scratch_size, void *key);
	unsigned long	(*entries)(struct trace_buffer *buffer);
	unsigned long	(*overruns)(struct trace_buffer *buffer);
	u64		(*clock)(void);
	/* Record events, and return the last one */
	struct ring_buffer_event *(*record)(struct kernel *k, unsigned int n, unsigned int size);
	/* Record one event, and return how long it took, in cycles of the TSC */
	u64		(*record_timed)(struct kernel *k, unsigned int size);
	void		*cyc2ns;
	int		*use_tsc;
	u8		*text, *text_end;

	struct trace_buffer *buffer;
	char		*range;
	unsigned long	recorded;	/* events, which are numbered from 0 */
	struct figures	figures[ARRAY_SIZE(sizes)];
};

/* Events are at a multiple of 4 bytes */
static __always_inline void fill(struct ring_buffer_event *event, u64 number, unsigned int size)
{
	u64 *p = (u64 *)event->array;

	p[0] = number;
	p[1] = ~number;
	if (size > 16)
		p[2] = number;
}

static __always_inline u64 tsc(void)
{
	u64 t;

	_mm_lfence();
	t = __rdtsc();
	_mm_lfence();

	return t;
}

/* Each kernel has a copy that calls its functions directly, as a tracer does */
#define DEFINE_KERNEL(name_)								\
static noinline struct ring_buffer_event *						\
name_##_record(struct kernel *k, unsigned int n, unsigned int size)			\
{											\
	struct trace_buffer *buffer = k->buffer;					\
	struct ring_buffer_event *event = NULL;						\
	u64 number = k->recorded;							\
											\
	for (unsigned int i = 0; i < n; i++) {						\
		event = name_##_reserve(buffer, size);					\
		if (unlikely(!event))							\
			die("%s: no event can be reserved", k->name);			\
		fill(event, number++, size);						\
		name_##_commit(buffer);							\
	}										\
	k->recorded = number;								\
											\
	return event;									\
}											\
											\
static noinline u64 name_##_record_timed(struct kernel *k, unsigned int size)		\
{											\
	struct trace_buffer *buffer = k->buffer;					\
	u64 number = k->recorded, start = tsc();					\
	struct ring_buffer_event *event = name_##_reserve(buffer, size);		\
											\
	if (unlikely(!event))								\
		die("%s: no event can be reserved", k->name);				\
	fill(event, number, size);							\
	name_##_commit(buffer);								\
	start = tsc() - start;								\
	k->recorded = number + 1;							\
											\
	return start;									\
}

DEFINE_KERNEL(stock)
DEFINE_KERNEL(patched)

#define KERNEL(name_) {									\
	.name = #name_, .alloc = name_##_alloc, .entries = name_##_entries,		\
	.overruns = name_##_overruns, .clock = name_##_clock,				\
	.record = name_##_record, .record_timed = name_##_record_timed,			\
	.cyc2ns = name_##_cyc2ns, .use_tsc = &name_##_use_tsc,				\
	.text = __start_##name_##_text, .text_end = __stop_##name_##_text,		\
}

static struct kernel kernels[] = { KERNEL(stock), KERNEL(patched) };

#define for_each_kernel(k)	\
	for (struct kernel *k = kernels; k < kernels + ARRAY_SIZE(kernels); k++)

/* The nanoseconds of a cycle of the TSC */
static double measure_tsc(void)
{
	u64 start = tsc();
	double from = now();

	while (now() - from < 10e6)
		;

	return (now() - from) / (tsc() - start);
}

static char *percpu;

/*
 * Per-CPU variables are relative to %gs, which must not be 0: some kernels have the canary of
 * the stack at %gs:40. So the variables are copied to an address as far from it as the
 * program has them from 0.
 */
static void set_up_percpu(void)
{
	size_t size = (uintptr_t)__stop_percpu;

	percpu = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (percpu == MAP_FAILED)
		cannot("mmap of per-CPU variables");
	memcpy(percpu + (uintptr_t)__start_percpu, __start_percpu, __stop_percpu - __start_percpu);
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, percpu))
		cannot("arch_prctl(ARCH_SET_GS)");
}

/* The kernel selects the same shift for any TSC of more than 0.5 GHz */
static void set_up_clock(struct kernel *k, double ns_per_cycle)
{
	struct cyc2ns_data *data = (void *)(percpu + (uintptr_t)k->cyc2ns);

	data[0] = (struct cyc2ns_data) { .mul = ns_per_cycle * (1UL << 31), .shift = 31 };
	data[1] = data[0];
	*k->use_tsc = 1;
}

static void set_up(double ns_per_cycle)
{
	signal(SIGILL, crashed);
	signal(SIGSEGV, crashed);
	for (unsigned int i = 0; i < ARRAY_SIZE(boot_cpu_data); i++)
		boot_cpu_data[i] = CACHE_LINE;
	set_up_percpu();

	for_each_kernel(k) {
		patch_returns(k->text, k->text_end);
		set_up_clock(k, ns_per_cycle);
		k->range = mmap(NULL, RANGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (k->range == MAP_FAILED)
			cannot("mmap of sub-buffers");
		k->buffer = k->alloc(0, RB_FL_OVERWRITE, 0, (uintptr_t)k->range, RANGE_SIZE, 0,
				     NULL);
		if (!k->buffer)
			die("%s: no ring buffer can be allocated", k->name);
	}
}

/* The size of an event with its header */
static unsigned int event_size(const struct kernel *k, const struct ring_buffer_event *event)
{
	switch (event->type_len) {
	case RB_TYPE_TIME_EXTEND:
	case RB_TYPE_TIME_STAMP:
		return 8;
	case 0:
	case RB_TYPE_PADDING:
		die("%s: an event of type %u", k->name, event->type_len);
	default:
		return sizeof(*event) + event->type_len * 4;
	}
}

/* The sub-buffer of @last has the last events, without a gap, up to its end */
static void check_subbuf(const struct kernel *k, const struct ring_buffer_event *last,
			 unsigned int size, u64 before, u64 after)
{
	const struct buffer_data_page *page = (void *)((uintptr_t)last & -SUBBUF_SIZE);
	unsigned long at = 0, commit = page->commit & 0xfffff, n = 0;
	const struct ring_buffer_event *event = NULL;
	u64 ts = page->time_stamp, number = 0;

	for (; at < commit; at += event_size(k, event)) {
		event = (void *)(page->data + at);
		ts += event->time_delta;
		if (event->type_len == RB_TYPE_TIME_EXTEND)
			ts += (u64)event->array[0] << 27;
		if (event->type_len >= RB_TYPE_PADDING)
			continue;

		if (n++ && memcmp(event->array, &(u64){ number + 1 }, sizeof(number)))
			die("%s: an event is missing", k->name);
		memcpy(&number, event->array, sizeof(number));
		if (memcmp(event->array + 2, &(u64){ ~number }, sizeof(number)))
			die("%s: an event has other data", k->name);
	}

	if (event != last || at != commit || event->type_len != size / 4)
		die("%s: the last event is not where it was reserved", k->name);
	if (number + 1 != k->recorded)
		die("%s: the last event is %" PRIu64 " of %lu", k->name, number, k->recorded);
	if (ts < before || ts > after)
		die("%s: the time of the last event is %" PRIu64 ", not between %" PRIu64
		    " and %" PRIu64, k->name, ts, before, after);
}

/* All events have been recorded, and the last ones are as they were written */
static void check(void)
{
	for_each_kernel(k) {
		unsigned long got;

		for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
			u64 before = k->clock();
			struct ring_buffer_event *last = k->record(k, 1, sizes[i]);

			check_subbuf(k, last, sizes[i], before, k->clock());
		}

		got = k->entries(k->buffer) + k->overruns(k->buffer);
		if (got != k->recorded)
			die("%s: the ring buffer has had %lu events of %lu", k->name, got,
			    k->recorded);
		if (k->recorded > EVENTS && !k->overruns(k->buffer))
			die("%s: no sub-buffer was used again", k->name);
	}
}

static void evict(const void *start, size_t size)
{
	uintptr_t end = (uintptr_t)start + size;

	for (uintptr_t p = (uintptr_t)start & -CACHE_LINE; p < end; p += CACHE_LINE)
		_mm_clflush((void *)p);
}

/* Evict from all caches what recording an event uses, either its data or its code, too */
static void evict_all(struct kernel *k, bool code)
{
	evict(memory, allocated);
	evict(k->range, RANGE_SIZE);
	evict(percpu, CACHE_LINE);
	evict(percpu + (uintptr_t)__start_percpu, __stop_percpu - __start_percpu);
	evict(k->use_tsc, sizeof(*k->use_tsc));
	/* What is on the stack below here */
	evict((char *)__builtin_frame_address(0) - 1024, 1024);
	if (code)
		evict(k->text, k->text_end - k->text);
	_mm_mfence();
}

/* The time between two calls of tsc() without anything in between */
static u64 least_cycles(void)
{
	u64 least = UINT64_MAX;

	for (unsigned int i = 0; i < 1000; i++) {
		u64 start = tsc(), t = tsc() - start;

		if (t < least)
			least = t;
	}

	return least;
}

static void measure_warm(struct kernel *k, unsigned int size, struct figures *f)
{
	double start;

	k->record(k, EVENTS / 10, size);
	start = now();
	k->record(k, EVENTS, size);
	f->warm[f->nr[WARM]++] = (now() - start) / EVENTS;
}

/* The kernels and the sizes take turns: what disturbs one disturbs the others, too */
static void measure(double ns_per_cycle)
{
	u64 none = least_cycles();

	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
			for_each_kernel(k)
				measure_warm(k, sizes[i], &k->figures[i]);
		}

		for (unsigned int n = 0; n < COLD_EVENTS * ARRAY_SIZE(sizes) * 2; n++) {
			for_each_kernel(k) {
				unsigned int i = n / 2 % ARRAY_SIZE(sizes), c = n % 2;
				struct figures *f = &k->figures[i];

				evict_all(k, c);
				f->cold[c][f->nr[c + COLD_DATA]++] =
					(k->record_timed(k, sizes[i]) - none) * ns_per_cycle;
			}
		}
	}
}

/* Prints a line for each figure: result CONDITION:SIZE:KERNEL LEAST MEDIAN */
int main(void)
{
	double ns_per_cycle;

	stay();
	ns_per_cycle = measure_tsc();
	set_up(ns_per_cycle);
	check();
	measure(ns_per_cycle);
	check();

	for_each_kernel(k) {
		for (unsigned int i = 0; i < ARRAY_SIZE(sizes) * CONDITIONS; i++) {
			unsigned int c = i % CONDITIONS;
			struct figures *f = &k->figures[i / CONDITIONS];
			double *values = c == WARM ? f->warm : f->cold[c - COLD_DATA];

			qsort(values, f->nr[c], sizeof(*values), compare);
			printf("result %s:%u:%s %.2f %.2f\n", conditions[c], sizes[i / CONDITIONS],
			       k->name, values[0], values[f->nr[c] / 2]);
		}
	}
	printf("result rounds %d %d\n", ROUNDS, EVENTS);

	return 0;
}
