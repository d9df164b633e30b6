// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading of modules by system calls: modprobe takes longer than they do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/module.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stress.h"

static const struct sample {
	const char *name, *arguments;
} samples[] = {
	{ "ftrace-direct", "" },
	{ "ftrace-direct-too", "" },
	{ "ftrace-direct-modify", "" },
	{ "ftrace-direct-multi", "" },
	{ "ftrace-direct-multi-modify", "" },
	{ "livepatch-sample", "" },
	{ "livepatch-sample", "" },
	{ "fprobe_example", "symbol=cmdline_proc_show stackdump=0 use_trace=1" },
	{ "fprobe_example", "symbol=vfs_* stackdump=0 use_trace=1" },
	/* Not the function that other samples probe */
	{ "kprobe_example", "symbol=version_proc_show" },
	{ "kretprobe_example", "func=cmdline_proc_show" },
	{ "ftrace-ops", "nr_function_calls=100 nr_ops_relevant=2 check_count=1" },
	{ "ftrace-ops", "nr_function_calls=100 nr_ops_relevant=5 nr_ops_irrelevant=1 check_count=1" },
	{ "ftrace-ops", "nr_function_calls=100 nr_ops_relevant=3 save_regs=1 check_count=1" },
	{ "ftrace-ops", "nr_function_calls=100 nr_ops_relevant=3 assist_recursion=1 assist_rcu=1" },
	{ "ftrace-ops", "nr_function_calls=100 nr_ops_relevant=4 persist=1" },
	{ "sample-trace-array", "" },
};

static struct {
	char name[64], path[256];
	bool compressed;
} found[32];
static unsigned int nr_found;

static bool wanted(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(samples); i++) {
		if (!strcmp(samples[i].name, name))
			return true;
	}

	return !strcmp(name, "ftrace_mux_load");
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const char *suffix;
	char name[64];
	size_t len;

	(void)st;
	len = strcspn(path + at->base, ".");
	suffix = path + at->base + len;
	if (type != FTW_F || len >= sizeof(name) || strncmp(suffix, ".ko", 3) ||
	    (suffix[3] && suffix[3] != '.'))
		return 0;
	memcpy(name, path + at->base, len);
	name[len] = '\0';
	if (!wanted(name) || nr_found == ARRAY_SIZE(found))
		return 0;

	strcpy(found[nr_found].name, name);
	snprintf(found[nr_found].path, sizeof(found[nr_found].path), "%s", path);
	found[nr_found].compressed = suffix[3];
	nr_found++;

	return 0;
}

void modules_setup(void)
{
	nftw("/lib/modules", visit, 16, FTW_PHYS);
}

int load_module(const char *name, const char *arguments)
{
	int fd, ret = 0;

	for (unsigned int i = 0; i < nr_found; i++) {
		if (strcmp(found[i].name, name))
			continue;
		fd = open(found[i].path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (syscall(SYS_finit_module, fd, arguments,
			    found[i].compressed ? MODULE_INIT_COMPRESSED_FILE : 0))
			ret = -errno;
		close(fd);
		return ret;
	}

	return -ENOENT;
}

int unload_module(const char *name)
{
	char buf[64];

	snprintf(buf, sizeof(buf), "%s", name);
	for (char *p = buf; *p; p++) {
		if (*p == '-')
			*p = '_';
	}

	return syscall(SYS_delete_module, buf, O_NONBLOCK) ? -errno : 0;
}

/* A live patch can be unloaded after it is disabled and no task uses it any more */
static int disable_livepatch(void)
{
	return put("/sys/kernel/livepatch/livepatch_sample/enabled", "0");
}

int act_module(struct worker *w, struct rng *rng)
{
	const struct sample *sample = &PICK(rng, samples);
	bool load = one_in(rng, 2);
	int ret;

	say(w, "module %s %s %s", load ? "load" : "unload", sample->name,
	    load ? sample->arguments : "");
	if (load) {
		ret = load_module(sample->name, sample->arguments);
		/* ftrace-ops measures when it is loaded, and then returns -EINVAL on purpose */
		if (ret == -EINVAL && !strcmp(sample->name, "ftrace-ops"))
			ret = 0;
		return ret;
	}

	if (!strcmp(sample->name, "livepatch-sample")) {
		ret = disable_livepatch();
		/* Disabled already (EINVAL), not loaded (ENOENT), or in a transition (EBUSY) */
		if (ret && ret != -EINVAL && ret != -ENOENT && ret != -EBUSY)
			return ret;
	}

	return unload_module(sample->name);
}
