// SPDX-License-Identifier: GPL-2.0
/*
 * Each CPU sends NMIs to the other ones in turn, at irregular times. Their handler calls functions
 * that may be traced. An NMI interrupts whatever the CPU does at this moment, tracers included.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/random.h>
#include <asm/apic.h>
#include <asm/nmi.h>

/*
 * The longest time between two NMIs of a CPU, in ns. When all functions are traced by several
 * tracers, an NMI takes long on an emulated CPU: shorter times leave nothing for the others.
 */
#define MAX_DELAY	5000000

/* How long an NMI may be on its way, in ms */
#define PATIENCE	1000

/* Of the CPU that sends. A timer is pinned to its CPU. */
static DEFINE_PER_CPU(struct hrtimer, timer);
static DEFINE_PER_CPU(unsigned int, target);

/* Of the CPU that gets the NMIs. An NMI that is pending has been sent and not been handled. */
static DEFINE_PER_CPU(atomic_t, pending);
static DEFINE_PER_CPU(unsigned long, handled);

/* The CPUs that get NMIs, and the state of CPU hotplug whose callbacks maintain this mask */
static struct cpumask targets;
static int hotplug_state;

/* How many NMIs have not come in time */
static atomic_t lost;

/* The NMIs that each CPU has handled */
static int get_handled(char *buf, const struct kernel_param *kp)
{
	unsigned int cpu;
	int len = 0;

	for_each_possible_cpu(cpu)
		len += sysfs_emit_at(buf, len, "%lu ", per_cpu(handled, cpu));
	return len + sysfs_emit_at(buf, len, "\n");
}

static const struct kernel_param_ops handled_ops = { .get = get_handled };
module_param_cb(handled, &handled_ops, NULL, 0444);

noinline void nmi_load_inner(void);
noinline void nmi_load_outer(void);

noinline void nmi_load_inner(void)
{
	__this_cpu_inc(handled);
}

noinline void nmi_load_outer(void)
{
	nmi_load_inner();
	/* No tail call: both are to be on the stack */
	barrier();
}

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!atomic_xchg(this_cpu_ptr(&pending), 0))
		return NMI_DONE;

	nmi_load_outer();
	return NMI_HANDLED;
}

static enum hrtimer_restart send_nmi(struct hrtimer *t)
{
	unsigned int cpu = cpumask_next(__this_cpu_read(target), &targets);

	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(&targets);
	__this_cpu_write(target, cpu);

	if (cpu < nr_cpu_ids && cpu != smp_processor_id() &&
	    !atomic_xchg(per_cpu_ptr(&pending, cpu), 1))
		apic->send_IPI(cpu, NMI_VECTOR);

	hrtimer_forward_now(t, ns_to_ktime(get_random_u32_inclusive(MAX_DELAY / 16, MAX_DELAY)));
	return HRTIMER_RESTART;
}

/* Called on @cpu */
static int start_cpu(unsigned int cpu)
{
	struct hrtimer *t = per_cpu_ptr(&timer, cpu);

	atomic_set(per_cpu_ptr(&pending, cpu), 0);
	cpumask_set_cpu(cpu, &targets);
	hrtimer_setup(t, send_nmi, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(t, ns_to_ktime(MAX_DELAY), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

/* Called on @cpu. Waits for the NMI that is on its way. */
static int stop_cpu(unsigned int cpu)
{
	unsigned int ms;

	hrtimer_cancel(per_cpu_ptr(&timer, cpu));
	cpumask_clear_cpu(cpu, &targets);
	/* Another CPU may just send one */
	msleep(20);
	for (ms = 0; atomic_read(per_cpu_ptr(&pending, cpu)) && ms < PATIENCE; ms += 20)
		msleep(20);
	if (atomic_read(per_cpu_ptr(&pending, cpu)))
		atomic_inc(&lost);
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

	return 0;
}

static void __exit nmi_load_exit(void)
{
	cpuhp_remove_state(hotplug_state);
	WARN(atomic_read(&lost), "%d NMIs have been lost\n", atomic_read(&lost));
	unregister_nmi_handler(NMI_LOCAL, "nmi_load");
}

module_init(nmi_load_init);
module_exit(nmi_load_exit);

MODULE_DESCRIPTION("Sends non-maskable interrupts to each CPU");
MODULE_LICENSE("GPL");
