// SPDX-License-Identifier: GPL-2.0
/*
 * stress SEED SECONDS [PATIENCE]: several processes (workers) do random actions on the
 * function tracers, in the guest. The script "guest" in this directory starts it, and
 * checks that no tracer is left.
 *
 * The n-th action of a worker depends only on the seed, the number of the worker and n.
 * With ONLY="kind kind" in the environment, only actions of these kinds are done; with
 * WORKERS="0 3", only these workers run. The remaining actions are the same as without.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

struct shared *shared;
uint64_t seed;

/* Two fuzzers, so that two processes write random data to the same file */
static const enum role roles[] = { ACTOR, ACTOR, ACTOR, LOADER, READER, FUZZER, FUZZER };

static int kmsg_fd = -1;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return ts.tv_sec + ts.tv_nsec / 1e9;
}

void say(struct worker *w, const char *format, ...)
{
	char line[256];
	va_list args;
	int len;

	va_start(args, format);
	vsnprintf(w->doing, sizeof(w->doing), format, args);
	va_end(args);
	len = snprintf(line, sizeof(line), "stress %u:%lu %s\n", w->number, w->n, w->doing);
	if (kmsg_fd >= 0)
		write(kmsg_fd, line, len);
}

bool careful;

/* Write a message to the kernel log, after the actions that led to it, and to stderr */
void complain(const char *format, ...)
{
	char line[512];
	va_list args;
	int len;

	va_start(args, format);
	len = snprintf(line, sizeof(line), "stress: ");
	len += vsnprintf(line + len, sizeof(line) - len, format, args);
	va_end(args);
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	if (kmsg_fd >= 0)
		write(kmsg_fd, line, len);
	write(STDERR_FILENO, line, len);
}

/* True if the environment variable @name contains @word, or is not set or empty */
static bool selected(const char *name, const char *word)
{
	const char *list = getenv(name);
	char padded[1024], wanted[64];

	if (!list || !*list)
		return true;
	snprintf(padded, sizeof(padded), " %s ", list);
	snprintf(wanted, sizeof(wanted), " %s ", word);

	return strstr(padded, wanted);
}

static unsigned int draw_kind(struct rng *rng, enum role role)
{
	unsigned int total = 0, i, n;

	for (i = 0; i < nr_kinds; i++) {
		if (kinds[i].role == role)
			total += kinds[i].weight;
	}
	n = pick(rng, total);
	for (i = 0; i < nr_kinds; i++) {
		if (kinds[i].role != role)
			continue;
		if (n < kinds[i].weight)
			break;
		n -= kinds[i].weight;
	}

	return i;
}

static void count(struct worker *w, unsigned int k, int ret)
{
	struct tally *tally = &shared->kind[k];

	if (!ret) {
		atomic_fetch_add(&tally->done, 1);
		return;
	}
	if (-ret < NR_ERRNO)
		atomic_fetch_add(&tally->errors[-ret], 1);
	if (ret == -ENOMEM) {
		atomic_fetch_add(&tally->nomem, 1);
		return;
	}
	for (const int *e = kinds[k].expected; *e; e++) {
		if (ret == -*e) {
			atomic_fetch_add(&tally->refused, 1);
			return;
		}
	}
	atomic_fetch_add(&tally->unexpected, 1);
	complain("%u:%lu %s: unexpected error: %s", w->number, w->n, w->doing, strerror(-ret));
}

static void work(struct worker *w)
{
	struct rng rng;
	unsigned int k;

	/* End with the parent, also if it is killed */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (w->n = 0; !shared->stop; w->n++) {
		rng_seed(&rng, seed, w->number, w->n);
		k = draw_kind(&rng, w->role);
		if (!selected("ONLY", kinds[k].name))
			continue;
		count(w, k, kinds[k].act(w, &rng));
		/* All workers share two CPUs: let the others run */
		if (one_in(&rng, 4))
			nap(pick(&rng, 20));
	}
	for (int i = 0; i < NR_SLOTS; i++) {
		if (w->perf[i] > 0)
			close(w->perf[i]);
		if (w->bpf[i] > 0)
			close(w->bpf[i]);
	}
	w->idle = true;
}

static unsigned long all_actions(void)
{
	unsigned long n = 0;

	for (unsigned int i = 0; i < nr_kinds; i++) {
		struct tally *t = &shared->kind[i];

		n += t->done + t->refused + t->nomem + t->unexpected;
	}

	return n;
}

/*
 * True if there are enough results to check. On a slow machine this takes longer than the
 * requested time. With ONLY or WORKERS, some results may never come: do not wait for them.
 */
static bool enough(void)
{
	unsigned long done = 0;

	if (getenv("ONLY") && *getenv("ONLY"))
		return true;
	if (getenv("WORKERS") && *getenv("WORKERS"))
		return true;

	for (unsigned int i = 0; i < nr_kinds; i++)
		done += shared->kind[i].done;

	return done >= 100 && shared->calls > 1000 && shared->compared > 10 &&
	       shared->fuzz_writes > 100;
}

static void show_kind(unsigned int k)
{
	struct tally *t = &shared->kind[k];

	if (!(t->done + t->refused + t->nomem + t->unexpected))
		return;
	printf("%-15s %8lu %8lu %8lu %8lu ", kinds[k].name, t->done, t->refused, t->nomem,
	       t->unexpected);
	for (int e = 1; e < NR_ERRNO; e++) {
		if (t->errors[e])
			printf(" %s %lu", strerrorname_np(e) ?: "?", t->errors[e]);
	}
	putchar('\n');
}

static void report(void)
{
	unsigned long done = 0, refused = 0, nomem = 0, unexpected = 0;

	printf("%-15s %8s %8s %8s %8s  errors\n", "kind", "done", "refused", "no mem", "unexp.");
	for (unsigned int i = 0; i < nr_kinds; i++) {
		struct tally *t = &shared->kind[i];

		show_kind(i);
		done += t->done;
		refused += t->refused;
		nomem += t->nomem;
		unexpected += t->unexpected;
	}
	printf("actions %lu: done %lu, refused as expected %lu, out of memory %lu, unexpected %lu\n",
	       all_actions(), done, refused, nomem, unexpected);
	printf("allocations failed by fail-nth: %lu\n", shared->injected);
	printf("fuzzed: %lu writes (%lu bytes taken), %lu reads\n", shared->fuzz_writes,
	       shared->fuzz_bytes, shared->fuzz_reads);
	printf("calls made: %lu; counts compared: %lu, wrong: %lu; strays: %lu\n", shared->calls,
	       shared->compared, shared->miscounted, shared->strays);
}

static void show_stack(pid_t pid)
{
	char path[64], buf[4096];

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	if (get(path, buf, sizeof(buf)) > 0)
		complain("stack:\n%.480s", buf);
}

/* Show the stacks of the kernel threads whose names start with @prefix */
static void show_kthreads(const char *prefix)
{
	char path[PATH_MAX], name[64];
	glob_t tasks;

	if (glob("/proc/[0-9]*", 0, NULL, &tasks))
		return;
	for (size_t i = 0; i < tasks.gl_pathc; i++) {
		snprintf(path, sizeof(path), "%s/comm", tasks.gl_pathv[i]);
		if (get(path, name, sizeof(name)) <= 0 || strncmp(name, prefix, strlen(prefix)))
			continue;
		complain("%.*s:", (int)strcspn(name, "\n"), name);
		show_stack(atoi(tasks.gl_pathv[i] + strlen("/proc/")));
	}
	globfree(&tasks);
}

/*
 * Stop the workers at @end, or later if there are not enough results by then. Wait until
 * all have ended, for at most @patience seconds. Returns the number of workers that have
 * not ended.
 */
static unsigned int wait_for_workers(unsigned int nr, double end, double patience)
{
	unsigned int left = nr;
	double limit = end + 5 * patience;
	double next = now() + 20;
	pid_t pid;
	int status;

	while (left && now() < end + patience) {
		if (!shared->stop && now() >= end) {
			if (enough() || now() > limit)
				shared->stop = true;
			else
				end = now();
		}
		pid = waitpid(-1, &status, WNOHANG);
		if (pid > 0) {
			left--;
			if (status) {
				complain("a worker died, status %#x", status);
				atomic_fetch_add(&shared->kind[0].unexpected, 1);
				/* Its actions would be waited for */
				shared->stop = true;
			}
			continue;
		}
		nap(100);
		if (now() > next) {
			next += 20;
			fprintf(stderr, "stress: %lu actions; %.0f s to go\n", all_actions(),
				end > now() ? end - now() : 0);
		}
	}

	return left;
}

/* Show state and processor time of the workers: are they stuck, or slow? */
static void show_times(void)
{
	char path[64], buf[1024], state, *comm_end;
	unsigned long user, kernel;

	for (unsigned int i = 0; i < ARRAY_SIZE(roles); i++) {
		struct worker *w = &shared->worker[i];

		snprintf(path, sizeof(path), "/proc/%d/stat", w->pid);
		if (!w->pid || get(path, buf, sizeof(buf)) <= 0)
			continue;
		comm_end = strrchr(buf, ')');
		if (!comm_end || sscanf(comm_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
					&state, &user, &kernel) != 3)
			continue;
		complain("worker %u: state %c, %lu ticks user, %lu kernel", i, state, user, kernel);
	}
}

static void show_stuck(void)
{
	show_times();
	for (unsigned int i = 0; i < ARRAY_SIZE(roles); i++) {
		struct worker *w = &shared->worker[i];

		if (!w->pid || w->idle)
			continue;
		complain("worker %u is stuck in action %lu: %s", i, w->n, w->doing);
		show_stack(w->pid);
	}
	show_kthreads("rcu_tasks");
	nap(5000);
	show_times();
	/* Also the stacks of all CPUs, all uninterruptible tasks and, with lockdep, all locks */
	put("/proc/sysrq-trigger", "l");
	put("/proc/sysrq-trigger", "w");
	put("/proc/sysrq-trigger", "d");
}

static void start_worker(unsigned int i)
{
	struct worker *w = &shared->worker[i];
	pid_t pid;

	w->number = i;
	w->role = roles[i];
	pid = fork();
	if (pid) {
		w->pid = pid;
		return;
	}
	work(w);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned int nr = 0, left;
	unsigned long bad = 0;
	double end;

	if (argc < 3) {
		fprintf(stderr, "usage: stress SEED SECONDS [PATIENCE]\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	kmsg_fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	modules_setup();
	attach_setup();
	actions_setup();
	careful = getenv("CAREFUL") && !strcmp(getenv("CAREFUL"), "1");

	end = now() + strtod(argv[2], NULL);
	fflush(stdout);
	for (unsigned int i = 0; i < ARRAY_SIZE(roles); i++) {
		char number[16];

		snprintf(number, sizeof(number), "%u", i);
		if (!selected("WORKERS", number))
			continue;
		start_worker(i);
		nr++;
	}

	left = wait_for_workers(nr, end, argc > 3 ? strtod(argv[3], NULL) : 120);
	if (left)
		show_stuck();
	report();
	for (unsigned int i = 0; i < nr_kinds; i++)
		bad += shared->kind[i].unexpected;
	fflush(stdout);
	/* The checks of the script may need a lock that a stuck worker holds: skip them */
	if (left)
		_exit(3);

	return bad || shared->strays || shared->miscounted;
}
