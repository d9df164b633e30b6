// SPDX-License-Identifier: GPL-2.0
/*
 * System calls of BPF, and the type information of the kernel (BTF), by which BPF names
 * functions.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"

int bpf(int cmd, union bpf_attr *attr)
{
	int ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : ret;
}

int bpf_load_insns(enum bpf_prog_type type, enum bpf_attach_type attach, int btf_id,
		   const struct bpf_insn *insns, unsigned int nr)
{
	union bpf_attr attr = {
		.prog_type = type,
		.expected_attach_type = attach,
		.attach_btf_id = btf_id,
		.insns = (uintptr_t)insns,
		.insn_cnt = nr,
		.license = (uintptr_t)"GPL",
	};
	int ret;

	/* The verifier gives up for a signal: suspend sends one that nobody receives */
	do
		ret = bpf(BPF_PROG_LOAD, &attr);
	while (ret == -EAGAIN);

	return ret;
}

/* The program returns 0 */
int bpf_load(enum bpf_prog_type type, enum bpf_attach_type attach, int btf_id)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_load_insns(type, attach, btf_id, insns, sizeof(insns) / sizeof(insns[0]));
}

int bpf_count_calls(void)
{
	union bpf_attr attr = { .enable_stats.type = BPF_STATS_RUN_TIME };

	/* It counts as long as this descriptor is open */
	return bpf(BPF_ENABLE_STATS, &attr);
}

long long bpf_calls(int program)
{
	struct bpf_prog_info info = { };
	union bpf_attr attr = { };
	int ret;

	attr.info.bpf_fd = program;
	attr.info.info = (uintptr_t)&info;
	attr.info.info_len = sizeof(info);
	ret = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);

	return ret < 0 ? ret : (long long)info.run_cnt;
}

/* The arguments of BPF_LINK_CREATE for FENTRY_MULTI and FEXIT_MULTI */
struct tracing_multi {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t ids;
	uint64_t cookies;
	uint32_t cnt;
};

int bpf_attach_multi(int program, enum bpf_attach_type attach, const uint32_t *ids,
		     unsigned int nr)
{
	union {
		struct tracing_multi multi;
		union bpf_attr attr;
	} u = { };

	u.multi.prog_fd = program;
	u.multi.attach_type = attach;
	u.multi.ids = (uintptr_t)ids;
	u.multi.cnt = nr;

	return bpf(BPF_LINK_CREATE, &u.attr);
}

/* The size of the data that follow a type in BTF */
static size_t btf_extra(const struct btf_type *type)
{
	unsigned int nr = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return nr * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return nr * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return nr * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return nr * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return nr * sizeof(struct btf_var_secinfo);
	default:
		return 0;
	}
}

static char *read_btf(void)
{
	enum { SIZE = 32 << 20 };
	size_t len = 0;
	ssize_t n = -1;
	char *btf;
	int fd;

	btf = malloc(SIZE);
	fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	if (btf && fd >= 0)
		while ((n = read(fd, btf + len, SIZE - len)) > 0)
			len += n;
	if (fd >= 0)
		close(fd);
	if (n == 0 && len > sizeof(struct btf_header))
		return btf;

	free(btf);
	return NULL;
}

int bpf_functions(void (*found)(const char *name, uint32_t id))
{
	const struct btf_header *header;
	const struct btf_type *type;
	const char *types, *names;
	uint32_t id = 1;
	char *btf;

	btf = read_btf();
	if (!btf)
		return -ENOENT;

	header = (const void *)btf;
	types = btf + header->hdr_len + header->type_off;
	names = btf + header->hdr_len + header->str_off;
	for (size_t at = 0; at < header->type_len; at += sizeof(*type) + btf_extra(type)) {
		type = (const void *)(types + at);
		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC)
			found(names + type->name_off, id);
		id++;
	}
	free(btf);

	return 0;
}
