// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU that counts the instructions of all processors of the guest: -icount
 * works only with one processor. Each time the guest executes the instruction at the
 * address MARK, the plugin writes the number of instructions before it to a line of FILE.
 *
 *	-plugin file=insns.so,mark=MARK,out=FILE
 *
 * Debian's QEMU 7.2 has no package with qemu-plugin.h: the declarations below are from
 * version 1 of that interface.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { QEMU_PLUGIN_CB_NO_REGS };
enum { QEMU_PLUGIN_INLINE_ADD_U64 };

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t qemu_plugin_id_t;
typedef void (*tb_func)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*cpu_func)(unsigned int cpu, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_func func);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, cpu_func func,
					    int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op,
						void *counter, uint64_t add);

EXPORT int qemu_plugin_version = 1;

static uint64_t mark, count;
static FILE *out;

static void marked(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	fprintf(out, "%" PRIu64 "\n", count);
	fflush(out);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	size_t i;

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		/* QEMU may sign-extend addresses of 32 bits */
		if ((uint32_t)qemu_plugin_insn_vaddr(insn) == (uint32_t)mark)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, marked,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &count, 1);
	}
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "mark=", 5))
			mark = strtoull(argv[i] + 5, NULL, 16);
		else if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
	}
	if (!mark || !out) {
		fprintf(stderr, "insns: usage: -plugin file=insns.so,mark=ADDRESS,out=FILE\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
