// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit test of the instructions at which kprobes are refused, since a copy of them at
 * another address would not do the same
 */

#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/stringify.h>

#include <asm/asm.h>

#include "kprobes_refused_test.h"

asm ("	.text\n"
"	.set		push\n"
"	.set		noreorder\n"
"	.type		kprobes_test_load, @function\n"
"kprobes_test_load:\n"
"	nop\n"
"kprobes_test_load_insn:\n"
"	lw		$2, 0($4)\n"
"	jr		$31\n"
"	nop\n"
"	.size		kprobes_test_load, . - kprobes_test_load\n"
"	.type		kprobes_test_load_in_delay_slot, @function\n"
"kprobes_test_load_in_delay_slot:\n"
"	nop\n"
"kprobes_test_load_branch:\n"
"	jr		$31\n"
"1:	lw		$2, 0($4)\n"
"2:	jr		$31\n"
"	li		$2, -" __stringify(EFAULT) "\n"
"	.size		kprobes_test_load_in_delay_slot, . - kprobes_test_load_in_delay_slot\n"
"	.section	__ex_table, \"a\"\n"
"	" STR(PTR_WD) "	kprobes_test_load_insn, 2b\n"
"	" STR(PTR_WD) "	1b, 2b\n"
"	.previous\n"
"	.type		kprobes_test_inc, @function\n"
"kprobes_test_inc:\n"
"	nop\n"
"kprobes_test_ll_insn:\n"
"	ll		$2, 0($4)\n"
"	addiu		$2, $2, 1\n"
"	move		$3, $2\n"
"kprobes_test_sc_insn:\n"
"	sc		$3, 0($4)\n"
"	beqz		$3, kprobes_test_ll_insn\n"
"	nop\n"
"	jr		$31\n"
"	nop\n"
"	.size		kprobes_test_inc, . - kprobes_test_inc\n"
"	.set		pop\n"
);

static void expect_refused(struct kunit *test, kprobe_opcode_t *addr)
{
	struct kprobe probe = { .addr = addr };
	int ret = register_kprobe(&probe);

	KUNIT_EXPECT_EQ_MSG(test, ret, -EINVAL, "%pS", addr);
	if (!ret)
		unregister_kprobe(&probe);
}

/* An access that may fault is known by its address. */
static void test_fixup(struct kunit *test)
{
	int word = 5;

	expect_refused(test, kprobes_test_load_insn);
	expect_refused(test, kprobes_test_load_branch);
	KUNIT_EXPECT_EQ(test, kprobes_test_load((unsigned long)&word), 5);
	KUNIT_EXPECT_EQ(test, kprobes_test_load(0), -EFAULT);
	KUNIT_EXPECT_EQ(test, kprobes_test_load_in_delay_slot((unsigned long)&word), 5);
	KUNIT_EXPECT_EQ(test, kprobes_test_load_in_delay_slot(0), -EFAULT);
}

/* After an exception between the two, sc fails. */
static void test_ll_sc(struct kunit *test)
{
	int word = 5;

	expect_refused(test, kprobes_test_ll_insn);
	expect_refused(test, kprobes_test_sc_insn);
	KUNIT_EXPECT_EQ(test, kprobes_test_inc(&word), 6);
	KUNIT_EXPECT_EQ(test, word, 6);
}

static struct kunit_case kprobes_refused_test_cases[] = {
	KUNIT_CASE(test_fixup),
	KUNIT_CASE(test_ll_sc),
	{}
};

static struct kunit_suite kprobes_refused_test_suite = {
	.name		= "mips_kprobes_refused",
	.test_cases	= kprobes_refused_test_cases,
};

kunit_test_suite(kprobes_refused_test_suite);

MODULE_DESCRIPTION("KUnit test of the instructions that can't be probed");
MODULE_LICENSE("GPL");
