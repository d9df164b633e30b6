// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the switch, ftrace_mux= and kernel.ftrace_mux.
 *
 * Protected by ftrace_lock.
 */
#include <kunit/visibility.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/sysctl.h>

#include "mux.h"
#include "stat.h"

/* Whether functions get entries */
int ftrace_mux_enabled = 1;
EXPORT_SYMBOL_IF_KUNIT(ftrace_mux_enabled);

static int __init set_ftrace_mux(char *str)
{
	bool enabled;

	if (kstrtobool(str, &enabled))
		return 0;

	ftrace_mux_enabled = enabled;
	return 1;
}
__setup("ftrace_mux=", set_ftrace_mux);

#ifdef CONFIG_SYSCTL
static int ftrace_mux_sysctl(const struct ctl_table *table, int write,
			     void *buffer, size_t *lenp, loff_t *ppos)
{
	int enabled;
	struct ctl_table tmp = *table;
	int ret;

	guard(mutex)(&ftrace_lock);

	enabled = ftrace_mux_enabled;
	tmp.data = &enabled;
	ret = proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
	if (ret || !write || enabled == ftrace_mux_enabled)
		return ret;

	if (ftrace_is_dead())
		return -ENODEV;

	ftrace_mux_enabled = enabled;
	ftrace_mux_stat_follow_switch();
	ftrace_check_all = true;
	/* Only if the multiplexer is off, a tracer needs a trampoline of its own */
	if (!enabled)
		ftrace_update_trampolines();
	if (ftrace_enabled)
		ftrace_run_update_code(FTRACE_UPDATE_CALLS);

	return 0;
}

static struct ctl_table ftrace_mux_sysctls[] = {
	{
		.procname	= "ftrace_mux",
		.data		= &ftrace_mux_enabled,
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= ftrace_mux_sysctl,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static int __init ftrace_mux_sysctl_init(void)
{
	register_sysctl_init("kernel", ftrace_mux_sysctls);
	return 0;
}
late_initcall(ftrace_mux_sysctl_init);
#endif /* CONFIG_SYSCTL */
