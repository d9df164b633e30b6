// SPDX-License-Identifier: GPL-2.0
/*
 * Tracers that a file descriptor holds: the perf event ftrace:function, and BPF programs
 * on many functions (kprobe_multi, fentry_multi) or at the entry or exit of one function
 * (fentry, fexit).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "stress.h"

static unsigned int function_event;

/* perf */

static int perf_open(int cpu, const char *filter, bool sample)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = function_event,
		.sample_period = sample,
		.sample_type = sample ? PERF_SAMPLE_IP | PERF_SAMPLE_RAW : 0,
		.disabled = 1,
		.exclude_callchain_user = 1,
	};
	int fd, ret = 0;

	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;

	if (*filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		ret = -errno;
	else if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		ret = -errno;
	if (ret) {
		close(fd);
		return ret;
	}

	return fd;
}

/*
 * On the emulated boards virt and malta, an event of nearly all functions leaves no time for
 * anything else
 */
#if defined(__aarch64__) || defined(__riscv) || defined(__mips__)
#define FEW_FUNCTIONS	true
#else
#define FEW_FUNCTIONS	careful
#endif

int act_perf(struct worker *w, struct rng *rng)
{
	static const char * const filters[] = {
		"ip == vfs_read", "ip == vfs_read || ip == vfs_write", "ip == vfs_*",
		"ip == mux_load_f1", "ip == mux_load_f*", "ip != vfs_*",
		"ip == no_such_function",
	};
	unsigned int slot = pick(rng, NR_SLOTS);
	const char *filter = PICK(rng, filters);
	bool sample = one_in(rng, 2);
	int cpu = pick(rng, 2), fd;

	if (w->perf[slot] > 0) {
		say(w, "perf %u close", slot);
		close(w->perf[slot]);
		w->perf[slot] = 0;
		return 0;
	}

	if (FEW_FUNCTIONS && strstr(filter, "!="))
		filter = filters[0];
	say(w, "perf %u open cpu %d %s", slot, cpu, filter);
	fd = perf_open(cpu, filter, sample);
	if (fd < 0)
		return fd;
	w->perf[slot] = fd;

	return 0;
}

/* BPF */

static int detach(struct worker *w, unsigned int slot)
{
	say(w, "bpf %u detach", slot);
	close(w->bpf[slot]);
	w->bpf[slot] = 0;

	return 0;
}

/* Keep the link: it holds a reference to the program */
static int keep(struct worker *w, unsigned int slot, int program, int link)
{
	close(program);
	if (link < 0)
		return link;
	w->bpf[slot] = link;

	return 0;
}

int act_bpf_multi(struct worker *w, struct rng *rng)
{
	static const char *loads[] = { "mux_load_f0", "mux_load_f1", "mux_load_f5" };
	static const char *files[] = { "vfs_read", "vfs_write", "vfs_open", "vfs_statx" };
	static const char *mixed[] = { "cmdline_proc_show", "schedule", "wake_up_process" };
	static const struct {
		const char **names;
		unsigned int nr;
	} sets[] = {
		/* The first holds a reference to the module ftrace_mux_load */
		{ loads, ARRAY_SIZE(loads) }, { files, ARRAY_SIZE(files) },
		{ files, ARRAY_SIZE(files) }, { mixed, ARRAY_SIZE(mixed) },
		{ mixed, ARRAY_SIZE(mixed) },
	};
	unsigned int slot = pick(rng, NR_SLOTS), set = pick(rng, ARRAY_SIZE(sets));
	bool returns = one_in(rng, 2), inject = one_in(rng, 6);
	union bpf_attr attr = {};
	int program;

	if (w->bpf[slot] > 0)
		return detach(w, slot);

	say(w, "bpf %u kprobe_multi %s... %s", slot, sets[set].names[0], returns ? "return" : "");
	program = bpf_load(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, 0);
	if (program < 0)
		return program;

	attr.link_create.prog_fd = program;
	attr.link_create.attach_type = BPF_TRACE_KPROBE_MULTI;
	attr.link_create.kprobe_multi.flags = returns ? BPF_F_KPROBE_MULTI_RETURN : 0;
	attr.link_create.kprobe_multi.cnt = sets[set].nr;
	attr.link_create.kprobe_multi.syms = (uintptr_t)sets[set].names;
	if (inject)
		fail_allocations(rng);
	slot = keep(w, slot, program, bpf(BPF_LINK_CREATE, &attr));
	stop_failing();

	return slot;
}

/*
 * Functions with BTF; attach_setup() finds the IDs. Not schedule(): a task that sleeps in
 * it below a fexit has no reliable stack, so that no live patch can be enabled or disabled.
 */
static struct {
	const char *name;
	int id;
} fentries[] = {
	{ "vfs_read", 0 }, { "vfs_write", 0 }, { "vfs_open", 0 }, { "cmdline_proc_show", 0 },
	{ "wake_up_process", 0 }, { "vfs_unlink", 0 },
};

int act_bpf_fentry(struct worker *w, struct rng *rng)
{
	unsigned int slot = pick(rng, NR_SLOTS), i = pick(rng, ARRAY_SIZE(fentries));
	bool exit = one_in(rng, 2);
	union bpf_attr attr = {};
	int program;

	if (w->bpf[slot] > 0)
		return detach(w, slot);
	if (!fentries[i].id)
		return -ENOENT;

	say(w, "bpf %u %s %s", slot, exit ? "fexit" : "fentry", fentries[i].name);
	program = bpf_load(BPF_PROG_TYPE_TRACING, exit ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY,
			   fentries[i].id);
	if (program < 0)
		return program;

	attr.raw_tracepoint.prog_fd = program;

	return keep(w, slot, program, bpf(BPF_RAW_TRACEPOINT_OPEN, &attr));
}

/* All of them, by one link. Linux before 7.2 does not have it. */
int act_bpf_fentry_multi(struct worker *w, struct rng *rng)
{
	unsigned int slot = pick(rng, NR_SLOTS), nr = 0;
	bool exit = one_in(rng, 2), inject = one_in(rng, 6);
	enum bpf_attach_type attach = exit ? FEXIT_MULTI : FENTRY_MULTI;
	uint32_t ids[ARRAY_SIZE(fentries)];
	int program;

	if (w->bpf[slot] > 0)
		return detach(w, slot);
	for (unsigned int i = 0; i < ARRAY_SIZE(fentries); i++) {
		if (fentries[i].id)
			ids[nr++] = fentries[i].id;
	}

	say(w, "bpf %u %s of %u functions", slot, exit ? "fexit_multi" : "fentry_multi", nr);
	program = bpf_load(BPF_PROG_TYPE_TRACING, attach, 0);
	if (program < 0)
		return program;

	if (inject)
		fail_allocations(rng);
	slot = keep(w, slot, program, bpf_attach_multi(program, attach, ids, nr));
	stop_failing();

	return slot;
}

static void note_fentry(const char *name, uint32_t id)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(fentries); i++) {
		if (!strcmp(name, fentries[i].name))
			fentries[i].id = id;
	}
}

void attach_setup(void)
{
	char buf[16];

	if (get(TRACING "/events/ftrace/function/id", buf, sizeof(buf)) > 0)
		function_event = atoi(buf);
	bpf_functions(note_fentry);
}
