/* SPDX-License-Identifier: GPL-2.0 */
/* ktrace: what the KUnit tests look at, and the functions that they trace */
#ifndef _KERNEL_TRACE_KTRACE_KUNIT_H
#define _KERNEL_TRACE_KTRACE_KUNIT_H

/* What ftrace has on record of a function */
struct ktrace_record {
	unsigned long	flags;
	unsigned long	callee;		/* 0 if the function is not traced */
};

int ktrace_get_record(unsigned long func, struct ktrace_record *record);
unsigned long ktrace_get_init_text(void);

/* In the test module. Functions that are not static have an ENDBR. */
unsigned long ktrace_test_traced(void);
unsigned long ktrace_test_other(void);
unsigned long ktrace_test_untraced(void);
/* In assembly */
unsigned long ktrace_test_assembly(void);
/* A direct call: counts, and goes on with the function */
void ktrace_test_direct(void);
extern unsigned int ktrace_test_direct_calls;
/* One that sleeps, as a program of BPF may, and what it calls */
void ktrace_test_direct_sleep(void);
void ktrace_test_sleep(void);

#endif /* _KERNEL_TRACE_KTRACE_KUNIT_H */
