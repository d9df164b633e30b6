/* SPDX-License-Identifier: GPL-2.0 */
/* For the KUnit tests of ktrace: a function in assembly, which is traced on request */
#include <linux/cfi_types.h>
#include <linux/linkage.h>

	.text

/* Returns its return address */
SYM_TYPED_FUNC_START(ktrace_test_assembly)
	movq	(%rsp), %rax
	RET
SYM_FUNC_END(ktrace_test_assembly)
