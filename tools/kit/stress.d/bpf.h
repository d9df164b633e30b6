/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BPF programs that trace functions, by the system calls: bpftrace takes seconds to
 * compile a program.
 */
#ifndef BPF_H
#define BPF_H

#include <linux/bpf.h>
#include <stdint.h>

/* Not in the headers of Debian 12 */
#define FENTRY_MULTI	((enum bpf_attach_type)59)
#define FEXIT_MULTI	((enum bpf_attach_type)60)

/* All return a value >= 0, or a negative error */
int bpf(int cmd, union bpf_attr *attr);
int bpf_load(enum bpf_prog_type type, enum bpf_attach_type attach, int btf_id);
int bpf_load_insns(enum bpf_prog_type type, enum bpf_attach_type attach, int btf_id,
		   const struct bpf_insn *insns, unsigned int nr);
int bpf_attach_multi(int program, enum bpf_attach_type attach, const uint32_t *ids,
		     unsigned int nr);

/* From now on, the kernel counts the calls of programs */
int bpf_count_calls(void);
long long bpf_calls(int program);

/* Calls @found for each function that the kernel's BTF has */
int bpf_functions(void (*found)(const char *name, uint32_t id));

#endif
