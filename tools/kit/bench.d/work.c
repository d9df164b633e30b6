// SPDX-License-Identifier: GPL-2.0
/*
 * The loads of `make bench`, in the guest. With icount, a nanosecond of the guest's clocks
 * is an instruction.
 *
 *   work getpgid N		N short system calls
 *   work mapped FILE N	the same, while FILE, the buffer of a tracer, is mapped
 *   work pipe N		N round trips between two processes
 *   work fork N		N times fork, exec and wait
 *		These print the nanoseconds by the clock, the nanoseconds of processor
 *		time, and those in which the processor was idle (in clock ticks).
 *   work write FILE TEXT	one write() to a file of tracefs or procfs
 *		This prints the processor time of this process, and of all processes. It
 *		calls getpgid() just before and after the write(), as marks.
 *   work run COMMAND...	a command
 *		This prints its processor time, and that of all processes.
 *   work perf ID N	N perf events of the tracepoint ID on processor 0
 *		This prints the processor time to open and to close them.
 *
 * A write that attaches a tracer also waits (for tasks-RCU, for example), and the clock
 * advances while no instruction is executed: so this measures processor time. Kworkers and
 * kthreads may do part of the work later.
 */

#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Long enough for tasks-RCU and the work that waits for it */
#define SETTLE_SECONDS	5

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;	/* the process has ended */
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long rusage_time(int who)
{
	struct rusage r;

	if (getrusage(who, &r))
		die("getrusage");
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000LL +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000LL;
}

static void do_getpgid(long n)
{
	while (n--)
		syscall(SYS_getpgid, 0);
}

static void pass_on(int from, int to)
{
	char c;

	if (read(from, &c, 1) != 1 || write(to, &c, 1) != 1)
		die("pipe");
}

static void do_pipe(long n)
{
	int there[2], back[2];
	pid_t child;
	char c = 0;
	long i;

	if (pipe(there) || pipe(back))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		for (i = 0; i < n; i++)
			pass_on(there[0], back[1]);
		_exit(0);
	}
	for (i = 0; i < n; i++) {
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			die("pipe");
	}
	if (waitpid(child, NULL, 0) != child)
		die("waitpid");
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
}

static char *self;

static void do_fork(long n)
{
	pid_t child;
	int status;

	while (n--) {
		child = fork();
		if (child < 0)
			die("fork");
		if (!child) {
			execl(self, self, "nothing", NULL);
			_exit(127);
		}
		if (waitpid(child, &status, 0) != child || status)
			die("child");
	}
}

/* Nanoseconds in which the processor was idle: the clock advances, no instruction runs */
static long long idle_time(void)
{
	long long idle, iowait;
	char line[256];
	ssize_t n;
	int fd;

	fd = open("/proc/stat", O_RDONLY);
	if (fd < 0)
		die("/proc/stat");
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n < 0)
		die("/proc/stat");
	line[n] = 0;
	if (sscanf(line, "cpu %*d %*d %*d %lld %lld", &idle, &iowait) != 2)
		die("/proc/stat");
	return (idle + iowait) * (1000000000LL / sysconf(_SC_CLK_TCK));
}

static void measure(void (*f)(long), long n)
{
	long long clock, cpu, idle;

	f(n / 20 + 1);		/* warm up caches and the buffers of the tracers */
	idle = idle_time();
	cpu = rusage_time(RUSAGE_SELF) + rusage_time(RUSAGE_CHILDREN);
	clock = now(CLOCK_MONOTONIC);
	f(n);
	clock = now(CLOCK_MONOTONIC) - clock;
	cpu = rusage_time(RUSAGE_SELF) + rusage_time(RUSAGE_CHILDREN) - cpu;
	idle = idle_time() - idle;
	printf("%lld %lld %lld\n", clock, cpu, idle);
}

/* Processor time of all processes and kernel threads except this process */
static long long others_time(void)
{
	long long sum = 0;
	struct dirent *e;
	clockid_t clock;
	pid_t pid;
	DIR *d;

	d = opendir("/proc");
	if (!d)
		die("/proc");
	while ((e = readdir(d))) {
		pid = atoi(e->d_name);
		if (pid > 0 && pid != getpid() && !clock_getcpuclockid(pid, &clock))
			sum += now(clock);
	}
	closedir(d);
	return sum;
}

static void do_mapped(const char *file, long n)
{
	int fd = open(file, O_RDONLY);

	if (fd < 0 || mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		die(file);
	measure(do_getpgid, n);
}

static void do_write(const char *file, const char *text)
{
	long long mine, others;
	int fd;

	fd = open(file, O_WRONLY);
	if (fd < 0)
		die(file);
	others = others_time();
	mine = now(CLOCK_PROCESS_CPUTIME_ID);
	syscall(SYS_getpgid, 0);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(file);
	syscall(SYS_getpgid, 0);
	mine = now(CLOCK_PROCESS_CPUTIME_ID) - mine;
	close(fd);
	sleep(SETTLE_SECONDS);
	others = others_time() - others;
	printf("%lld %lld\n", mine, mine + others);
}

static void do_run(char **argv)
{
	long long mine, others;
	pid_t child;
	int status;

	others = others_time();
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child || status)
		die(argv[0]);
	mine = rusage_time(RUSAGE_CHILDREN);
	sleep(SETTLE_SECONDS);
	others = others_time() - others;
	printf("%lld %lld\n", mine, mine + others);
}

static void do_perf(long id, long n)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.disabled = 1,
	};
	long long opened, closed;
	int *fds = calloc(n, sizeof(*fds));
	long i;

	if (!fds)
		die("calloc");
	opened = now(CLOCK_PROCESS_CPUTIME_ID);
	for (i = 0; i < n; i++) {
		fds[i] = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
		if (fds[i] < 0)
			die("perf_event_open");
	}
	closed = now(CLOCK_PROCESS_CPUTIME_ID);
	opened = closed - opened;
	for (i = 0; i < n; i++)
		close(fds[i]);
	closed = now(CLOCK_PROCESS_CPUTIME_ID) - closed;
	free(fds);
	printf("%lld %lld\n", opened, closed);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;

	self = argv[0];
	if (!strcmp(what, "nothing")) {
		return 0;
	} else if (!strcmp(what, "write") && argc == 4) {
		do_write(argv[2], argv[3]);
	} else if (!strcmp(what, "mapped") && argc == 4) {
		do_mapped(argv[2], atol(argv[3]));
	} else if (!strcmp(what, "run") && argc > 2) {
		do_run(argv + 2);
	} else if (!strcmp(what, "perf") && argc == 4 && n > 0) {
		do_perf(n, atol(argv[3]));
	} else if (!strcmp(what, "getpgid") && n > 0) {
		measure(do_getpgid, n);
	} else if (!strcmp(what, "pipe") && n > 0) {
		measure(do_pipe, n);
	} else if (!strcmp(what, "fork") && n > 0) {
		measure(do_fork, n);
	} else {
		fprintf(stderr, "usage: %s getpgid|pipe|fork N\n"
			"       %s mapped FILE N\n"
			"       %s write FILE TEXT\n"
			"       %s run COMMAND...\n"
			"       %s perf ID N\n", self, self, self, self, self);
		return 2;
	}
	return 0;
}
