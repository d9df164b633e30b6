// SPDX-License-Identifier: GPL-2.0
/*
 * The actions on tracefs, and the table of all actions.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stress.h"

#define NR_INSTANCES	4

struct path {
	char s[128];
};

static const char *instance_dir(struct rng *rng)
{
	static const char * const dirs[] = {
		"", "", "", "instances/s0/", "instances/s1/", "instances/s2/", "instances/s3/",
	};

	return PICK(rng, dirs);
}

static struct path in(const char *dir, const char *file)
{
	struct path path;

	snprintf(path.s, sizeof(path.s), TRACING "/%s%s", dir, file);

	return path;
}

/* Functions of the kernel, of modules, and one that does not exist */
static const char * const functions[] = {
	"mux_load_f0", "mux_load_f1", "mux_load_f2", "mux_load_f3", "mux_load_f5", "mux_load_s03",
	"vfs_read", "vfs_write", "vfs_open", "cmdline_proc_show", "update_process_times",
	"wake_up_process", "no_such_function",
};

static const char * const patterns[] = {
	"mux_load_f*", "mux_load_f[0-3]", "mux_load_f[2-6]", "mux_load_f1 mux_load_f4",
	"mux_load_f[1357]", "mux_load_s0?", "!mux_load_f2", "!mux_load_f[0-1]", "vfs_read",
	"vfs_*", "vfs_read vfs_write", "!vfs_write", "sys_read", "sys_w*", "cmdline_proc_show",
	"schedule wake_up_process", "*:mod:ftrace_mux_load", "mux_load_f[12]:mod:ftrace_mux_load",
	"!mux_load_f1:mod:ftrace_mux_load", "*:mod:ftrace_direct", "mux_load_f1:mod:no_such_module",
	"*:mod:fprobe_example", "update_process_times", "no_such_function", "tick_*",
};

/*
 * The kernel finds a function by name with a search through all functions, which takes
 * half a second in an emulator. It finds a function by number at once.
 */
static struct {
	const char *name;
	unsigned int number;
} numbers[] = {
	{ "mux_load_f0", 0 }, { "mux_load_f1", 0 }, { "mux_load_f2", 0 }, { "mux_load_f3", 0 },
	{ "vfs_read", 0 }, { "vfs_write", 0 }, { "vfs_open", 0 }, { "cmdline_proc_show", 0 },
	{ "schedule", 0 }, { "wake_up_process", 0 }, { "update_process_times", 0 },
};

void actions_setup(void)
{
	char line[256];
	unsigned int n = 0;
	FILE *f;

	f = fopen(TRACING "/available_filter_functions", "re");
	while (f && fgets(line, sizeof(line), f)) {
		n++;
		for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
			size_t len = strlen(numbers[i].name);

			if (!strncmp(line, numbers[i].name, len) && strchr(" \n", line[len]))
				numbers[i].number = n;
		}
	}
	if (f)
		fclose(f);
}

/* A few functions, by number. With CAREFUL, function 1 is in it: it is never empty. */
static struct path some_numbers(struct rng *rng)
{
	unsigned int nr = 1 + pick(rng, 4), i;
	struct path words = { "" };
	size_t len = 0;

	if (careful)
		len = sprintf(words.s, "1 ");
	while (nr--) {
		i = pick(rng, ARRAY_SIZE(numbers));
		if (numbers[i].number)
			len += snprintf(words.s + len, sizeof(words.s) - len, "%u ", numbers[i].number);
	}

	return words;
}

static int act_tracer(struct worker *w, struct rng *rng)
{
	static const char * const tracers[] = {
		"function", "function", "function", "function", "function_graph", "function_graph",
		"nop", "nop", "nop", "irqsoff", "preemptoff", "preemptirqsoff", "wakeup", "wakeup_rt",
		"wakeup_dl",
	};
	const char *dir = instance_dir(rng), *tracer = PICK(rng, tracers);
	bool inject = one_in(rng, 8);
	int ret;

	say(w, "tracer %s%s%s", dir, tracer, inject ? ", failing" : "");
	if (inject)
		fail_allocations(rng);
	ret = put(in(dir, "current_tracer").s, "%s\n", tracer);
	stop_failing();

	return ret;
}

static int act_instance(struct worker *w, struct rng *rng)
{
	unsigned int i = pick(rng, NR_INSTANCES);
	bool make = !one_in(rng, 3);
	char dir[32];
	int ret;

	snprintf(dir, sizeof(dir), "instances/s%u/", i);
	say(w, "instance %s s%u", make ? "mkdir" : "rmdir", i);
	if (!make)
		return rmdir(in(dir, "").s) ? -errno : 0;

	ret = mkdir(in(dir, "").s, 0700) ? -errno : 0;
	/* A tracer of the new instance must not trace all functions */
	put(in(dir, "set_ftrace_filter").s, "%s\n", some_numbers(rng).s);
	put(in(dir, "buffer_size_kb").s, "64\n");

	return ret;
}

static int act_filter(struct worker *w, struct rng *rng)
{
	struct path by_number = some_numbers(rng);
	const char *dir = instance_dir(rng);
	const char *pattern = one_in(rng, 3) ? PICK(rng, patterns) : by_number.s;
	bool notrace = one_in(rng, 4), more = one_in(rng, 2), inject = one_in(rng, 5);
	/* These select no function, and an empty filter means all functions: append them */
	bool none = *pattern == '!' || strstr(pattern, "no_such");
	struct path path = in(dir, notrace ? "set_ftrace_notrace" : "set_ftrace_filter");
	int ret;

	more |= none;
	say(w, "filter %s %s '%s'%s", path.s + sizeof(TRACING), more ? ">>" : ">", pattern,
	    inject ? ", failing" : "");
	if (inject)
		fail_allocations(rng);
	ret = more ? append(path.s, "%s\n", pattern) :
		     put(path.s, "%s%s\n", careful && !notrace ? "1 " : "", pattern);
	stop_failing();

	/* A write that failed leaves the filter empty, which means all functions */
	if ((ret || (careful && inject)) && !more && !notrace)
		put(path.s, "1\n");

	return ret;
}

/* Trace all functions, only for a moment: this is slow in an emulator */
static int act_whole(struct worker *w, struct rng *rng)
{
	const char *dir = instance_dir(rng);
	struct path path = in(dir, "set_ftrace_filter");
	unsigned int ms = pick(rng, 50);
	int ret;

	if (careful)
		return 0;

	say(w, "whole %s for %u ms", path.s + sizeof(TRACING), ms);
	ret = put(path.s, "\n");
	nap(ms);
	put(path.s, "%s\n", some_numbers(rng).s);

	return ret;
}

static int act_default(struct worker *w, struct rng *rng)
{
	static const char * const names[] = {
		"trace", "trace", "trace_graph", "trace_profile", "trace_profile", "trace_stack",
		"trace_irqsoff", "trace_wakeup", "kprobes", "fprobe", "perf", "bpf", "count_func",
		"livepatch", "trace_trigger", "no_such",
	};
	const char *dir = instance_dir(rng), *name = PICK(rng, names);
	bool inject = one_in(rng, 8);
	int ret;

	say(w, "default %s%s", dir, name);
	if (inject)
		fail_allocations(rng);
	ret = put(in(dir, "function_tracers").s, "%s\n", name);
	stop_failing();

	return ret;
}

/* Write @value to @file */
static int put_number(struct worker *w, struct rng *rng, const char *what, const char *file,
		      unsigned int value, unsigned int inject_one_in)
{
	bool inject = one_in(rng, inject_one_in);
	int ret;

	say(w, "%s %u%s", what, value, inject ? ", failing" : "");
	if (inject)
		fail_allocations(rng);
	ret = put(file, "%u\n", value);
	stop_failing();

	return ret;
}

static int act_profiler(struct worker *w, struct rng *rng)
{
	return put_number(w, rng, "profiler", TRACING "/function_profile_enabled", pick(rng, 2), 8);
}

static int act_switch(struct worker *w, struct rng *rng)
{
	return put_number(w, rng, "switch", "/proc/sys/kernel/ftrace_mux", pick(rng, 2), 5);
}

static int act_stat(struct worker *w, struct rng *rng)
{
	return put_number(w, rng, "count calls", TRACING "/function_tracers_stat", pick(rng, 3), 5);
}

/* A limit that no tracer reaches: their calls are counted by other workers */
static int act_limit(struct worker *w, struct rng *rng)
{
	unsigned int all = 100 * sysconf(_SC_NPROCESSORS_CONF);

	return put_number(w, rng, "limit", in(instance_dir(rng), "function_tracers_limit").s,
			  pick(rng, 2) * all, 5);
}

static int act_stack(struct worker *w, struct rng *rng)
{
	struct path pattern = some_numbers(rng);
	unsigned int what = pick(rng, 3);
	bool inject = one_in(rng, 8);
	int ret;

	say(w, "stack tracer %u '%s'%s", what, pattern.s, inject ? ", failing" : "");
	if (inject)
		fail_allocations(rng);
	if (what < 2) {
		ret = put("/proc/sys/kernel/stack_tracer_enabled", "%u\n", what);
		stop_failing();
	} else {
		ret = put(TRACING "/stack_trace_filter", "%s\n", pattern.s);
		stop_failing();
		/* close() does not return the error of a failed allocation */
		if (ret || (careful && inject))
			put(TRACING "/stack_trace_filter", "1\n");
	}

	return ret;
}

static int act_pid(struct worker *w, struct rng *rng)
{
	const char *dir = instance_dir(rng);
	const char *file = one_in(rng, 4) ? "set_ftrace_notrace_pid" : "set_ftrace_pid";
	unsigned int what = pick(rng, 4);
	int ret;

	say(w, "pid %s%s %u", dir, file, what);
	switch (what) {
	case 0:
		ret = put(in(dir, file).s, "%d\n", getpid());
		break;
	case 1:
		ret = append(in(dir, file).s, "1 %d\n", getppid());
		break;
	default:
		ret = put(in(dir, file).s, "\n");
	}

	return ret;
}

/*
 * Not func_stack_trace: the kernel has one such option for the function tracers of all
 * instances. It can stay on in one of them when it is off in the file of each, and with
 * stack traces of all functions a guest makes no progress any more.
 */
static int act_option(struct worker *w, struct rng *rng)
{
	static const char * const options[] = {
		"func-no-repeats", "function-fork", "function-trace",
		"display-graph", "funcgraph-irqs", "sleep-time", "graph-time", "overwrite",
	};
	const char *dir = instance_dir(rng), *option = PICK(rng, options);
	bool off = !one_in(rng, 3);

	say(w, "option %s%s%s", dir, off ? "no" : "", option);
	/* With display-graph, latency tracers trace all functions: do this rarely */
	if (!off && !strcmp(option, "display-graph") && (careful || !one_in(rng, 4)))
		off = true;

	return put(in(dir, "trace_options").s, "%s%s\n", off ? "no" : "", option);
}

static int act_graph_filter(struct worker *w, struct rng *rng)
{
	const char *file = one_in(rng, 2) ? "set_graph_function" : "set_graph_notrace";
	const char *function = PICK(rng, functions);
	bool clear = one_in(rng, 2);

	say(w, "graph filter %s '%s'", file, clear ? "" : function);

	return put(in("", file).s, "%s\n", clear ? "" : function);
}

static int act_trigger(struct worker *w, struct rng *rng)
{
	static const char * const commands[] = {
		"traceon", "traceoff:3", "stacktrace:2", "snapshot:1", "traceoff",
		"enable_event:sched:sched_switch", "disable_event:sched:sched_switch:2",
		"no_such_command",
	};
	static const char * const at[] = {
		"mux_load_f0", "mux_load_f1", "mux_load_f[2-4]", "vfs_open", "cmdline_proc_show",
	};
	const char *dir = instance_dir(rng), *function = PICK(rng, at), *command = PICK(rng, commands);
	bool off = one_in(rng, 2), inject = one_in(rng, 5);
	int ret;

	say(w, "trigger %s%s%s:%s%s", dir, off ? "!" : "", function, command,
	    inject ? ", failing" : "");
	if (inject)
		fail_allocations(rng);
	ret = append(in(dir, "set_ftrace_filter").s, "%s%s:%s\n", off ? "!" : "", function, command);
	stop_failing();

	return ret;
}

/* Create, enable, disable or remove a kprobe, kretprobe or fprobe event */
static int event(struct worker *w, struct rng *rng, const char *name, const char *file,
		 const char *definition)
{
	unsigned int what = pick(rng, 6);
	struct path enable;
	/* To disarm a kprobe without memory makes every kernel warn */
	bool inject = one_in(rng, 8) && (what < 3 || *name != 'k');
	int ret;

	snprintf(enable.s, sizeof(enable.s), TRACING "/events/stress/%s/enable", name);
	say(w, "event %s %s%s", name, what < 3 ? "on" : what == 3 ? "off" : "off and removed",
	    inject ? ", failing" : "");
	if (what < 3)
		append(in("", file).s, "%s\n", definition);
	/* Not while the event is created: that has bugs of its own if allocations fail */
	if (inject)
		fail_allocations(rng);
	ret = put(enable.s, "%d\n", what < 3);
	stop_failing();
	if (what > 3)
		ret = append(in("", file).s, "-:stress/%s\n", name);

	return ret;
}

static int act_kprobe(struct worker *w, struct rng *rng)
{
	unsigned int i = pick(rng, ARRAY_SIZE(functions));
	char name[16], definition[96];
	bool returns = one_in(rng, 3);
	/* Most are not where an instruction is. An event may have several probes. */
	unsigned int offset = !returns && one_in(rng, 2) ? pick(rng, 16) : 0;

	snprintf(name, sizeof(name), "%s%u", returns ? "kr" : "kp", i);
	snprintf(definition, sizeof(definition), "%s:stress/%s %s%s+%u", returns ? "r" : "p",
		 name, strncmp(functions[i], "mux_", 4) ? "" : "ftrace_mux_load:", functions[i],
		 offset);

	return event(w, rng, name, "kprobe_events", definition);
}

static int act_fprobe(struct worker *w, struct rng *rng)
{
	unsigned int i = pick(rng, ARRAY_SIZE(functions));
	char name[16], definition[96];
	bool returns = one_in(rng, 3);

	snprintf(name, sizeof(name), "%s%u", returns ? "fr" : "fp", i);
	snprintf(definition, sizeof(definition), "f:stress/%s %s%s", name, functions[i],
		 returns ? "%return" : "");

	return event(w, rng, name, "dynamic_events", definition);
}

static int act_enabled(struct worker *w, struct rng *rng)
{
	static const char file[] = "/proc/sys/kernel/ftrace_enabled";
	unsigned int ms = pick(rng, 100);
	int ret, on;

	say(w, "ftrace_enabled 0 for %u ms", ms);
	hold_counting(true);
	ret = put(file, "0\n");
	nap(ms);
	on = put(file, "1\n");
	release_counting();

	return ret ?: on;
}

static int act_hotplug(struct worker *w, struct rng *rng)
{
	static const char file[] = "/sys/devices/system/cpu/cpu1/online";
	unsigned int ms = pick(rng, 300);
	int ret, on = 0;

	say(w, "cpu 1 off for %u ms", ms);
	ret = put(file, "0\n");
	nap(ms);
	/* EBUSY while another worker suspends the guest: try again */
	for (int i = 0; i < 100; i++) {
		on = put(file, "1\n");
		if (on != -EBUSY)
			break;
		nap(20);
	}

	return ret ?: on;
}

/*
 * Suspend and resume without the sleep itself (pm_test): nothing in this guest wakes it
 * up (the alarm of its RTC does not).
 */
static int act_suspend(struct worker *w, struct rng *rng)
{
	static const struct {
		const char *state, *test;
	} ways[] = {
		{ "freeze", "freezer" }, { "freeze", "devices" }, { "freeze", "platform" },
		{ "freeze", "platform" }, { "mem", "processors" }, { "mem", "core" },
	};
	unsigned int way = pick(rng, ARRAY_SIZE(ways));
	int ret;

	say(w, "suspend %s %s", ways[way].state, ways[way].test);
	hold_counting(true);
	ret = put("/sys/power/pm_test", "%s\n", ways[way].test);
	if (!ret)
		ret = put("/sys/power/state", "%s\n", ways[way].state);
	release_counting();

	return ret;
}

static int act_read(struct worker *w, struct rng *rng)
{
	static const char * const files[] = {
		"enabled_functions", "enabled_functions", "touched_functions", "function_tracers",
		"function_tracers", "function_tracers_info", "function_tracers_info",
		"function_tracers_stat", "function_tracers_stat", "function_tracers_limit",
		"set_ftrace_filter", "set_ftrace_filter", "set_ftrace_notrace", "stack_trace_filter",
		"stack_trace", "trace", "trace_stat/function0", "trace_stat/function1", "error_log",
		"kprobe_profile", "kprobe_events", "dynamic_events", "available_filter_functions",
		"set_ftrace_pid", "set_graph_function", "recursed_functions",
	};
	static const unsigned int sizes[] = { 1, 5, 22, 23, 100, 1000, 4096, 4096, 65536 };
	const char *file = PICK(rng, files), *any = instance_dir(rng);
	const char *dir = access(in(any, file).s, F_OK) ? "" : any;
	unsigned int size = PICK(rng, sizes), times = 1 + pick(rng, 60);
	off_t offset = one_in(rng, 6) ? (off_t)pick(rng, 5000) : -1;
	int flags = O_RDONLY | O_CLOEXEC, fd, ret = 0;
	char buf[65536];
	bool inject;

	/* Opened for writing, the file shows the filter of one tracer, not of all */
	if (!strncmp(file, "set_ftrace_", 11) && one_in(rng, 3))
		flags = O_RDWR | O_CLOEXEC;
	inject = one_in(rng, 4) && strcmp(file, "trace");
	say(w, "read %s%s, %u times %u%s", dir, file, times, size, inject ? ", failing" : "");
	if (inject)
		fail_allocations(rng);
	fd = open(in(dir, file).s, flags);
	if (fd < 0) {
		ret = -errno;
	} else {
		if (offset >= 0)
			lseek(fd, offset, SEEK_SET);
		while (times-- && (ret = read(fd, buf, size)) > 0)
			;
		if (ret < 0)
			ret = -errno;
		close(fd);
	}
	stop_failing();

	return ret < 0 ? ret : 0;
}

/* Call some of the functions above, so that the tracers have something to trace */
static int act_work(struct worker *w, struct rng *rng)
{
	char buf[512];
	int ret = 0;

	say(w, "work");
	for (unsigned int n = 1 + pick(rng, 20); n && ret >= 0; n--)
		ret = get("/proc/cmdline", buf, sizeof(buf));

	return ret < 0 ? ret : 0;
}

#define ERRORS(...) ((const int []){ __VA_ARGS__, 0 })

/* At the end of ERRORS(), from what the kernels and machines of the guests have on x86_64 only */
#ifdef __x86_64__
#define IF_MISSING(error)	0
#else
#define IF_MISSING(error)	(error)
#endif

const struct kind kinds[] = {
	{ "tracer", ACTOR, 20, act_tracer, ERRORS(EBUSY, EINVAL, ENOENT, ENODEV) },
	{ "instance", ACTOR, 12, act_instance, ERRORS(EEXIST, ENOENT, EBUSY, ENODEV) },
	{ "filter", ACTOR, 24, act_filter, ERRORS(EINVAL, ENODEV, ENOENT) },
	{ "whole", ACTOR, 1, act_whole, ERRORS(ENODEV, ENOENT) },
	{ "default", ACTOR, 10, act_default, ERRORS(EINVAL, EPERM, ENOENT, ENODEV) },
	{ "profiler", ACTOR, 8, act_profiler, ERRORS(EBUSY) },
	{ "stack", ACTOR, 4, act_stack, ERRORS(EINVAL) },
	{ "pid", ACTOR, 4, act_pid, ERRORS(ENOENT, ENODEV) },
	{ "option", ACTOR, 4, act_option, ERRORS(EINVAL, ENOENT, EBUSY, ENODEV) },
	{ "graph-filter", ACTOR, 2, act_graph_filter, ERRORS(EINVAL, EBUSY) },
	{ "trigger", ACTOR, 8, act_trigger, ERRORS(EINVAL, ENOENT, ENODEV, EEXIST, EBUSY) },
	{ "kprobe", ACTOR, 8, act_kprobe, ERRORS(ENOENT, EBUSY, EINVAL, ENODEV, EILSEQ) },
	{ "fprobe", ACTOR, 8, act_fprobe, ERRORS(ENOENT, EBUSY, EINVAL, ENODEV) },
	{ "perf", ACTOR, 1, act_perf, ERRORS(EINVAL, ENODEV, EBUSY) },
	/* EOPNOTSUPP: the kernel has no fprobe, as Linux 6.12 on arm64 */
	{ "bpf-multi", ACTOR, 6, act_bpf_multi,
	  ERRORS(ESRCH, EINVAL, ENOENT, IF_MISSING(EOPNOTSUPP), IF_MISSING(ENOSYS)) },
	/* EINVAL: a module has a direct call of the function; EBUSY on Linux 6.12 */
	{ "bpf-fentry", ACTOR, 6, act_bpf_fentry,
	  ERRORS(ENOENT, EBUSY, EINVAL, IF_MISSING(ENOSYS)) },
	/* EOPNOTSUPP: only x86 has such links */
	{ "bpf-fentry-multi", ACTOR, 4, act_bpf_fentry_multi,
	  ERRORS(EINVAL, EBUSY, IF_MISSING(EOPNOTSUPP), IF_MISSING(ENOSYS)) },
	{ "module", ACTOR, 8, act_module, ERRORS(ENOENT, EEXIST, EBUSY, EWOULDBLOCK, ENODEV, EINTR) },
	{ "switch", ACTOR, 8, act_switch, ERRORS(ENOENT) },
	{ "stat", ACTOR, 8, act_stat, ERRORS(ENOENT, EACCES, ENODEV) },
	{ "limit", ACTOR, 4, act_limit, ERRORS(ENOENT, EACCES, ENODEV) },
	{ "ftrace_enabled", ACTOR, 2, act_enabled, ERRORS(EBUSY, EOPNOTSUPP) },
	{ "hotplug", ACTOR, 3, act_hotplug, ERRORS(EBUSY, IF_MISSING(ENOENT)) },
	/* ENOENT: the kernel cannot suspend, as that of the guest for arm64 */
	{ "suspend", ACTOR, 2, act_suspend, ERRORS(EBUSY, IF_MISSING(ENOENT)) },
	{ "work", ACTOR, 4, act_work, ERRORS(ENOENT) },

	{ "tracers", LOADER, 8, act_tracers, ERRORS(ENOENT) },
	{ "compare", LOADER, 12, act_compare, ERRORS(ENOENT) },
	{ "hammer", LOADER, 2, act_hammer, ERRORS(ENOENT) },
	{ "reload", LOADER, 1, act_reload, ERRORS(EEXIST, EWOULDBLOCK, EINTR) },

	/* EBUSY: the profile was reset while it was read */
	{ "read", READER, 1, act_read, ERRORS(ENOENT, ENODEV, EBUSY) },

	{ "fuzz", FUZZER, 1, act_fuzz, ERRORS(ENOENT, ENODEV, EEXIST, EINVAL, EACCES) },
};

const unsigned int nr_kinds = ARRAY_SIZE(kinds);
