// SPDX-License-Identifier: GPL-2.0
/*
 * All interleavings of writers and a reader of a trace channel's buffer.
 *
 * This is compiled with kernel/trace/gtsc/buffer.c and source.c themselves. gtsc_step()
 * stands between the instructions that publish something. At each of these steps, one of
 * these may come next: the writer; a second writer, which interrupts it and runs to its
 * end before it goes on; or the reader, on another CPU. Each order is tried, but for those
 * with more changes between writers and reader than the limit. After each, all that was
 * written has been read or overwritten, once, whole and in order.
 *
 * usage: interleave [CHANGES]: between writers and the reader (default 4)
 */
#include <stdio.h>
#include <ucontext.h>

#include "kernel.h"

static void step(void);
#define gtsc_step()	step()

#include "../../../kernel/trace/gtsc/buffer.c"
#include "../../../kernel/trace/gtsc/source.c"

/* Two records fill a sub-buffer */
#define RECORD_SIZE	(PAGE_SIZE / 2 - 64)
#define MAX_RECORDS	64
#define MAX_CHOICES	256
#define STACK_SIZE	(256 * 1024)

static struct gtsc_buffer *buffer;
static struct gtsc_counts counts;
static struct gtsc_channel channel;
static struct gtsc_source source;
static u64 now;
static unsigned int attempts, written, nr_read;
static u64 last_time;
static bool seen[MAX_RECORDS];
static const char *wrong;

u64 ktime_get_raw_fast_ns(void)
{
	return ++now;
}

#define expect(condition)					\
	do {							\
		if (!(condition) && !wrong)			\
			wrong = #condition;			\
	} while (0)

/* The order: a path through a tree of choices, each of which is tried in turn */

static struct { unsigned char nr, taken; } path[MAX_CHOICES];
static unsigned int path_len, path_pos;

static unsigned int choose(unsigned int nr)
{
	if (nr < 2)
		return 0;
	if (path_pos == path_len) {
		if (path_len == MAX_CHOICES) {
			fprintf(stderr, "too many choices\n");
			exit(2);
		}
		path[path_len].nr = nr;
		path[path_len++].taken = 0;
	}

	return path[path_pos++].taken;
}

/* Returns false when all have been tried */
static bool next_path(void)
{
	while (path_len && path[path_len - 1].taken + 1 == path[path_len - 1].nr)
		path_len--;
	if (!path_len)
		return false;
	path[path_len - 1].taken++;

	return true;
}

/* Two threads of control */

enum { WRITER, READER, NR_THREADS };

static ucontext_t threads[NR_THREADS], scheduler;
static char stacks[NR_THREADS][STACK_SIZE];
static bool ended[NR_THREADS];
static int running = -1;
static unsigned int max_changes = 4, changes;
static bool has_interrupt, interrupted;

static void put(void);

static void step(void)
{
	bool may_change, may_interrupt;
	unsigned int choice;

	if (running < 0)
		return;

	may_change = !ended[!running] && changes < max_changes;
	may_interrupt = running == WRITER && has_interrupt && !interrupted;
	choice = choose(1 + may_change + may_interrupt);
	if (choice && may_change && choice-- == 1) {
		changes++;
		running = !running;
		swapcontext(&threads[!running], &threads[running]);
		return;
	}
	if (choice) {
		interrupted = true;
		put();
	}
}

static void put(void)
{
	struct gtsc_record_header *header;
	u64 *number;

	attempts++;
	gtsc_begin(buffer);
	if (gtsc_reserve_space(buffer, gtsc_units(RECORD_SIZE), &header)) {
		header->len = RECORD_SIZE;
		header->type = GTSC_TYPE_RECORD;
		number = (u64 *)(header + 1);
		*number = 0;
		gtsc_step();
		*number = ++written;
		gtsc_step();
	}
	gtsc_end(buffer);
}

static void get(void)
{
	const struct gtsc_record_header *header;
	u64 number;

	while ((header = gtsc_find_next(&channel, &source))) {
		number = *(const u64 *)(header + 1);
		expect(header->time >= last_time);
		last_time = header->time;
		if (header->type == GTSC_TYPE_RECORD) {
			expect(header->len == RECORD_SIZE);
			expect(number && number <= written && !seen[number % MAX_RECORDS]);
			seen[number % MAX_RECORDS] = true;
			nr_read++;
		}
		gtsc_consume(&source, gtsc_record_size(header->len),
			     header->type == GTSC_TYPE_RECORD);
	}
}

static void run_thread(int thread)
{
	if (thread == WRITER)
		put();
	else
		get();
	ended[thread] = true;
	/* The other one goes on, if there is one */
	if (!ended[!thread]) {
		running = !thread;
		setcontext(&threads[!thread]);
	}
	setcontext(&scheduler);
}

static void start_thread(int thread)
{
	ended[thread] = false;
	getcontext(&threads[thread]);
	threads[thread].uc_stack.ss_sp = stacks[thread];
	threads[thread].uc_stack.ss_size = STACK_SIZE;
	makecontext(&threads[thread], (void (*)(void))run_thread, 1, thread);
}

static void run_threads(void)
{
	static bool started;

	changes = 0;
	started = false;
	interrupted = false;
	start_thread(WRITER);
	start_thread(READER);
	running = choose(2);
	getcontext(&scheduler);
	if (!started) {
		started = true;
		setcontext(&threads[running]);
	}
	running = -1;
}

struct scenario {
	bool		flight;
	unsigned int	nr_sub;
	unsigned int	before;		/* records that are there before */
	unsigned int	reads;		/* how often all is read before: after so many records */
};

static void set_up(const struct scenario *s)
{
	memset(&counts, 0, sizeof(counts));
	memset(&source, 0, sizeof(source));
	memset(seen, 0, sizeof(seen));
	attempts = 0;
	written = 0;
	nr_read = 0;
	last_time = 0;
	now = 0;
	wrong = NULL;
	channel.flags = s->flight ? GTSC_FLIGHT : 0;
	buffer = gtsc_buffer_alloc(0, 0, s->nr_sub, s->flight, &counts);
	INIT_LIST_HEAD(&source.held);
	source.buffer = buffer;
	for (unsigned int i = 0; i < s->before; i++) {
		put();
		if (i + 1 == s->reads)
			get();
	}
}

static void tear_down(void)
{
	/* Memory is used again, and overwritten */
	for (int i = 0; i < 2; i++) {
		get();
		for (int j = 0; j < 9; j++)
			put();
	}
	get();
	expect(attempts == written + count_dropped(&counts));
	expect(gtsc_written(buffer) == written);
	expect(written == nr_read + local64_read(&counts.overwritten));
	expect(channel.flags & GTSC_FLIGHT || !local64_read(&counts.overwritten));
	gtsc_free_held(&source);
	gtsc_buffer_free(buffer);
}

static unsigned long long try_all(const struct scenario *s)
{
	unsigned long long nr = 0;

	path_len = 0;
	do {
		path_pos = 0;
		set_up(s);
		run_threads();
		tear_down();
		nr++;
		if (wrong) {
			printf("flight %d, %u sub-buffers, %u records, read after %u: %s\n",
			       s->flight, s->nr_sub, s->before, s->reads, wrong);
			printf("choices:");
			for (unsigned int i = 0; i < path_len; i++)
				printf(" %u/%u", path[i].taken, path[i].nr);
			printf("\n");
			exit(1);
		}
	} while (next_path());

	return nr;
}

int main(int argc, char **argv)
{
	unsigned long long nr = 0;
	struct scenario s;

	if (argc > 1)
		max_changes = strtoul(argv[1], NULL, 0);

	for (int with = 0; with < 2; with++) {
		has_interrupt = with;
		for (s.flight = false;; s.flight = true) {
			for (s.nr_sub = 2; s.nr_sub < 4; s.nr_sub++) {
				for (s.before = 0; s.before < 9; s.before++) {
					for (s.reads = 0; s.reads <= s.before; s.reads++)
						nr += try_all(&s);
				}
			}
			if (s.flight)
				break;
		}
	}
	printf("%llu interleavings with up to %u changes between writers and the reader\n", nr,
	       max_changes);

	return 0;
}
