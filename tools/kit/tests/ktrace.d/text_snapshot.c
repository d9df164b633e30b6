// SPDX-License-Identifier: GPL-2.0
/*
 * Has the text of the kernel changed?
 *
 *	insmod text_snapshot.ko text=0x...,0x...	addresses of _stext and _etext
 *	echo 1 > /sys/module/text_snapshot/parameters/save
 *	cat /sys/module/text_snapshot/parameters/changed
 *
 * "changed" is the number of bytes that differ from those at the last "save", without the
 * padding in front of functions, and without trampolines of the multiplexer, which keep the
 * call of their last tracer. The first of them are told on the console. Another number is that
 * of bytes in padding and trampolines.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define MAX_TOLD	10

static unsigned long text[2];
module_param_array(text, ulong, NULL, 0400);
MODULE_PARM_DESC(text, "Where the text of the kernel begins and ends");

static u8 *saved;
static bool has_saved;

static bool may_change(unsigned long addr)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol(name, addr);

	/* A label of the linker script hides the name of the padding behind it */
	return str_has_prefix(name, "__pfx_") || str_has_prefix(name, "__split_text_end+") ||
	       str_has_prefix(name, "ftrace_mux_caller_") ||
	       str_has_prefix(name, "ftrace_mux_regs_caller_");
}

static int save_set(const char *val, const struct kernel_param *kp)
{
	memcpy(saved, (void *)text[0], text[1] - text[0]);
	has_saved = true;

	return 0;
}

static int changed_get(char *buf, const struct kernel_param *kp)
{
	unsigned long size = text[1] - text[0], nr = 0, others = 0;
	const u8 *now = (u8 *)text[0];

	if (!has_saved)
		return -ENODATA;

	for (unsigned long i = 0; i < size; i++) {
		if (now[i] == saved[i])
			continue;
		if (may_change(text[0] + i)) {
			others++;
			continue;
		}
		if (nr++ < MAX_TOLD)
			pr_info("%pS: %02x, was %02x\n", now + i, now[i], saved[i]);
	}

	return sysfs_emit(buf, "%lu %lu\n", nr, others);
}

static const struct kernel_param_ops save_ops = { .set = save_set };
static const struct kernel_param_ops changed_ops = { .get = changed_get };

module_param_cb(save, &save_ops, NULL, 0200);
module_param_cb(changed, &changed_ops, NULL, 0400);
MODULE_PARM_DESC(changed, "Bytes that differ, and bytes that differ but may change");

static int __init text_snapshot_init(void)
{
	if (!text[0] || text[1] <= text[0])
		return -EINVAL;

	saved = vmalloc(text[1] - text[0]);

	return saved ? 0 : -ENOMEM;
}
module_init(text_snapshot_init);

static void __exit text_snapshot_exit(void)
{
	vfree(saved);
}
module_exit(text_snapshot_exit);

MODULE_DESCRIPTION("Compare the text of the kernel with what it was");
MODULE_LICENSE("GPL");
