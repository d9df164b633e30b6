// SPDX-License-Identifier: GPL-2.0
/*
 * Sends NMIs to each CPU in turn, at irregular times. Their handler calls functions that may be
 * traced. An NMI interrupts whatever the CPU does at this moment, tracers included.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/random.h>
#include <asm/apic.h>
#include <asm/nmi.h>

/* The longest time between two NMIs, in ns */
#define MAX_DELAY	400000

static struct hrtimer timer;
static unsigned int target;
static DEFINE_PER_CPU(bool, pending);

/* The CPUs that get NMIs, and the state of CPU hotplug whose callbacks maintain this mask */
static struct cpumask targets;
static int hotplug_state;

static atomic_long_t sent, handled;

static int get_long(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%ld\n", atomic_long_read((atomic_long_t *)kp->arg));
}

static const struct kernel_param_ops long_ops = { .get = get_long };

module_param_cb(sent, &long_ops, &sent, 0444);
module_param_cb(handled, &long_ops, &handled, 0444);

noinline void nmi_load_inner(void);
noinline void nmi_load_outer(void);

noinline void nmi_load_inner(void)
{
	atomic_long_inc(&handled);
}

noinline void nmi_load_outer(void)
{
	nmi_load_inner();
	/* No tail call: both are to be on the stack */
	barrier();
}

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!__this_cpu_read(pending))
		return NMI_DONE;

	__this_cpu_write(pending, false);
	nmi_load_outer();
	return NMI_HANDLED;
}

/* An NMI to this CPU comes here, in the timer's interrupt, and to another one anywhere. */
static enum hrtimer_restart send_nmi(struct hrtimer *t)
{
	target = cpumask_next(target, &targets);
	if (target >= nr_cpu_ids)
		target = cpumask_first(&targets);

	if (target < nr_cpu_ids && !per_cpu(pending, target)) {
		per_cpu(pending, target) = true;
		atomic_long_inc(&sent);
		apic->send_IPI(target, NMI_VECTOR);
	}

	hrtimer_forward_now(t, ns_to_ktime(get_random_u32_inclusive(MAX_DELAY / 16, MAX_DELAY)));
	return HRTIMER_RESTART;
}

static int start_cpu(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &targets);
	return 0;
}

/* Called on @cpu. Waits for the NMI that is on its way. */
static int stop_cpu(unsigned int cpu)
{
	cpumask_clear_cpu(cpu, &targets);
	while (READ_ONCE(per_cpu(pending, cpu)))
		cpu_relax();
	return 0;
}

static int __init nmi_load_init(void)
{
	int ret;

	ret = register_nmi_handler(NMI_LOCAL, handle_nmi, 0, "nmi_load");
	if (ret)
		return ret;

	hotplug_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "nmi_load", start_cpu, stop_cpu);
	if (hotplug_state < 0) {
		unregister_nmi_handler(NMI_LOCAL, "nmi_load");
		return hotplug_state;
	}

	hrtimer_setup(&timer, send_nmi, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_start(&timer, ns_to_ktime(MAX_DELAY), HRTIMER_MODE_REL);
	return 0;
}

static void __exit nmi_load_exit(void)
{
	hrtimer_cancel(&timer);
	cpuhp_remove_state(hotplug_state);
	unregister_nmi_handler(NMI_LOCAL, "nmi_load");
}

module_init(nmi_load_init);
module_exit(nmi_load_exit);

MODULE_DESCRIPTION("Sends non-maskable interrupts to each CPU in turn");
MODULE_LICENSE("GPL");
