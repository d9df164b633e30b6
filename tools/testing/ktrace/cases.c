// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of which we know how they have to be moved, or why they cannot be moved. The
 * kernel's functions do not begin with all of them.
 *
 * They are moved by 4096 bytes: a displacement becomes smaller by 0x1000, but for what the
 * instruction itself becomes longer. Behind them is int3.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define FROM	(KERNEL_START + 0x1000)
#define TO	(KERNEL_START + 0x2000)
/* Operands are there. It is the only page around the two that has data. */
#define DATA	(KERNEL_START + 0x3000)

#define NOP15	" 66 66 66 66 66 66 2e 0f 1f 84 00 00 02 00 00"

/* The jump back, if what it follows has not become longer */
#define BACK	" e9 fb ef ff ff"

struct reloc_case {
	const char		*name, *code;
	unsigned int		min;
	int			err;
	/* If it can be moved: the result */
	struct ktrace_moved	moved;
	const char		*result;
	/* 0 for the usual ones */
	unsigned int		size;
	unsigned long		from, to;
};

static const struct reloc_case cases[] = {
	{ "one byte", "55", 1, 0, { 1, 1, 6 }, "55" BACK },
	{ "until there are enough", "55 48 89 e5 53", 5, 0, { 5, 3, 10 }, "55 48 89 e5 53" BACK },
	{ "more than enough", "53 48 89 fb", 2, 0, { 4, 2, 9 }, "53 48 89 fb" BACK },

	/* Operands relative to RIP: mov, cmp, mov, lock bts, and mov in GS */
	{ "operand", "48 8b 05 f9 1f 00 00", 5, 0, { 7, 1, 12 }, "48 8b 05 f9 0f 00 00" BACK },
	{ "second operand", "55 48 8b 05 f8 1f 00 00", 5, 0, { 8, 2, 13 },
	  "55 48 8b 05 f8 0f 00 00" BACK },
	{ "operand and imm8", "80 3d f9 1f 00 00 07", 5, 0, { 7, 1, 12 },
	  "80 3d f9 0f 00 00 07" BACK },
	{ "operand and imm32", "c7 05 f6 1f 00 00 78 56 34 12", 5, 0, { 10, 1, 15 },
	  "c7 05 f6 0f 00 00 78 56 34 12" BACK },
	{ "lock", "f0 0f ba 2d f7 1f 00 00 03", 5, 0, { 9, 1, 14 },
	  "f0 0f ba 2d f7 0f 00 00 03" BACK },
	{ "operand in GS", "65 48 8b 05 f8 1f 00 00", 5, 0, { 8, 1, 13 },
	  "65 48 8b 05 f8 0f 00 00" BACK },
	{ "operand relative to EIP", "67 48 8d 05 f8 1f 00 00", 5, 0, { 8, 1, 13 },
	  "67 48 8d 05 f8 0f 00 00" BACK },
	{ "absolute operand", "48 8b 04 25 00 30 00 20", 5, 0, { 8, 1, 13 },
	  "48 8b 04 25 00 30 00 20" BACK },
	/* vpalignr, vpternlogd */
	{ "VEX, operand and imm8", "c4 e3 79 0f 05 f6 1f 00 00 04", 5, 0, { 10, 1, 15 },
	  "c4 e3 79 0f 05 f6 0f 00 00 04" BACK },
	{ "EVEX, operand and imm8", "62 f3 7d 48 25 05 f5 1f 00 00 ff", 5, 0, { 11, 1, 16 },
	  "62 f3 7d 48 25 05 f5 0f 00 00 ff" BACK },
	{ "farthest operand", "48 8b 05 ff ef ff 7f", 1, 0, { 7, 1, 12 },
	  "48 8b 05 ff ff ff 7f e9 fb 0f 00 00", .to = FROM - 0x1000 },

	/* Opcodes that are branches or traps without VEX: vzeroupper, vpshufd, vpaddusb, vorps */
	{ "VEX 77", "c5 f8 77", 2, 0, { 3, 1, 8 }, "c5 f8 77" BACK },
	{ "VEX 70", "c5 f9 70 c0 01", 5, 0, { 5, 1, 10 }, "c5 f9 70 c0 01" BACK },
	{ "VEX e8", "c5 f9 e8 c1", 2, 0, { 4, 1, 9 }, "c5 f9 e8 c1" BACK },
	{ "VEX e9", "c5 f9 e9 c1", 2, 0, { 4, 1, 9 }, "c5 f9 e9 c1" BACK },

	/* Others of the groups that have branches */
	{ "mov imm32", "c7 c0 01 00 00 00", 5, 0, { 6, 1, 11 }, "c7 c0 01 00 00 00" BACK },
	{ "push memory", "ff 37", 2, 0, { 2, 1, 7 }, "ff 37" BACK },
	{ "inc memory", "ff 07", 2, 0, { 2, 1, 7 }, "ff 07" BACK },
	{ "mov to DS", "8e d8", 2, 0, { 2, 1, 7 }, "8e d8" BACK },

	/* Branches */
	{ "jmp rel8", "eb 10", 2, 0, { 2, 1, 5 }, "e9 0d f0 ff ff" },
	{ "jmp rel8 backwards", "eb e0", 2, 0, { 2, 1, 5 }, "e9 dd ef ff ff" },
	{ "jmp rel32", "e9 00 01 00 00", 5, 0, { 5, 1, 5 }, "e9 00 f1 ff ff" },
	{ "jmp at the end", "55 eb 10", 2, 0, { 3, 2, 6 }, "55 e9 0d f0 ff ff" },
	{ "bnd jmp", "f2 e9 00 01 00 00", 5, 0, { 6, 1, 5 }, "e9 01 f1 ff ff" },
	{ "cs jmp", "2e e9 00 01 00 00", 5, 0, { 6, 1, 5 }, "e9 01 f1 ff ff" },
	{ "jcc rel8", "74 10", 2, 0, { 2, 1, 11 }, "0f 84 0c f0 ff ff e9 f7 ef ff ff" },
	{ "jo rel8", "70 10", 2, 0, { 2, 1, 11 }, "0f 80 0c f0 ff ff e9 f7 ef ff ff" },
	{ "jo rel32", "0f 80 00 01 00 00", 5, 0, { 6, 1, 11 }, "0f 80 00 f1 ff ff" BACK },
	{ "jg rel32", "0f 8f 00 01 00 00", 5, 0, { 6, 1, 11 }, "0f 8f 00 f1 ff ff" BACK },
	{ "jcc rel32", "0f 85 00 01 00 00", 5, 0, { 6, 1, 11 }, "0f 85 00 f1 ff ff" BACK },
	{ "jcc with a hint", "3e 7f 10", 2, 0, { 3, 1, 11 },
	  "0f 8f 0d f0 ff ff e9 f8 ef ff ff" },
	{ "jcc to what follows", "74 00", 2, 0, { 2, 1, 11 },
	  "0f 84 fc ef ff ff e9 f7 ef ff ff" },
	{ "test and jcc", "85 ff 74 10", 2, 0, { 2, 1, 7 }, "85 ff" BACK },
	{ "test, jcc and more", "85 ff 74 10 55", 5, 0, { 5, 3, 14 },
	  "85 ff 0f 84 0c f0 ff ff 55 e9 f7 ef ff ff" },
	{ "call", "e8 00 01 00 00", 5, 0, { 5, 1, 10, .is_call = true },
	  "68 05 10 00 80 e9 fb f0 ff ff" },
	{ "addr32 call", "67 e8 00 01 00 00", 2, 0, { 6, 1, 10, .is_call = true },
	  "68 06 10 00 80 e9 fc f0 ff ff" },
	{ "call at the end", "50 e8 00 01 00 00", 5, 0, { 6, 2, 11, .is_call = true },
	  "50 68 06 10 00 80 e9 fb f0 ff ff" },
	{ "the longest", "74 20 75 20" NOP15, 5, 0, { 19, 3, 32 },
	  "0f 84 1c f0 ff ff 0f 85 18 f0 ff ff" NOP15 " e9 f3 ef ff ff", .size = 32 },
	{ "ret", "c3", 1, 0, { 1, 1, 1 }, "c3" },
	{ "ret imm16", "c2 08 00", 2, 0, { 3, 1, 3 }, "c2 08 00" },
	{ "rep ret", "f3 c3", 2, 0, { 2, 1, 2 }, "f3 c3" },
	{ "pop and ret", "58 c3", 2, 0, { 2, 2, 2 }, "58 c3" },

	{ "VEX rdtsc", "c5 f8 31", 2, -EILSEQ },
	{ "jmp with operand size", "66 e9 00 01 00 00", 5, -EILSEQ },
	{ "jcc with operand size", "66 74 10", 2, -EILSEQ },
	{ "call with operand size", "66 e8 00 01 00 00", 5, -EILSEQ },
	{ "lock jmp", "f0 eb 10", 2, -EILSEQ },
	{ "prefix behind REX", "48 66 90", 2, -EILSEQ },
	{ "two REX", "48 48 89 c0", 2, -EILSEQ },
	{ "five prefixes", "26 2e 36 3e 65 50", 2, -EILSEQ },
	{ "REX2", "d5 00 89 c0", 2, -EILSEQ },
	{ "JMPABS", "d5 00 a1 00 00 00 00 00 00 00 00", 2, -EILSEQ },

	{ "int3", "cc", 1, -EFAULT },
	{ "int3 as second", "55 cc", 2, -EFAULT },
	{ "int", "cd 80", 2, -EFAULT },
	{ "int1", "f1", 1, -EFAULT },
	{ "ud2", "0f 0b", 2, -EFAULT },
	{ "ud1", "0f b9 c0", 2, -EFAULT },
	{ "ud0", "0f ff c0", 2, -EFAULT },
	{ "emulate prefix", "0f 0b 78 65 6e 0f a2", 5, -EFAULT },

	{ "call register", "ff d0", 2, -EPERM },
	{ "call r11", "41 ff d3", 2, -EPERM },
	{ "call memory", "ff 15 f9 1f 00 00", 2, -EPERM },
	{ "jmp register", "ff e0", 2, -EPERM },
	{ "notrack jmp register", "3e ff e0", 2, -EPERM },
	{ "far call", "ff 1d f9 1f 00 00", 2, -EPERM },
	{ "far jmp", "48 ff 2f", 2, -EPERM },
	{ "far ret", "cb", 1, -EPERM },
	{ "far ret imm16", "ca 08 00", 1, -EPERM },
	{ "iret", "48 cf", 2, -EPERM },
	{ "syscall", "0f 05", 2, -EPERM },
	{ "sysret", "48 0f 07", 2, -EPERM },
	{ "sysenter", "0f 34", 2, -EPERM },
	{ "sysexit", "0f 35", 2, -EPERM },

	{ "loopne", "e0 10", 2, -EOPNOTSUPP },
	{ "loope", "e1 10", 2, -EOPNOTSUPP },
	{ "loop", "e2 10", 2, -EOPNOTSUPP },
	{ "jrcxz", "e3 10", 2, -EOPNOTSUPP },
	{ "jecxz", "67 e3 10", 2, -EOPNOTSUPP },
	{ "xbegin", "c7 f8 00 01 00 00", 5, -EOPNOTSUPP },
	{ "sti", "fb", 1, -EOPNOTSUPP },
	{ "mov to SS", "8e d0", 2, -EOPNOTSUPP },

	{ "call returns into it", "e8 00 01 00 00 90", 6, -EADDRINUSE },

	{ "jmp to itself", "eb fe", 2, -ELOOP },
	{ "jcc to the first", "55 75 fd", 2, -ELOOP },
	{ "jcc to the next", "74 00 48 89 e5", 5, -ELOOP },
	{ "jcc to the last", "74 01 55 48 89 e5", 5, -ELOOP },
	{ "jcc into the last", "74 02 48 89 e5", 5, -ELOOP },
	{ "call of itself", "e8 fb ff ff ff", 5, -ELOOP },

	{ "ret too early", "c3", 2, -ENODATA },
	{ "second ret too early", "58 c3", 5, -ENODATA },
	{ "jmp too early", "eb 10", 5, -ENODATA },

	{ "operand out of reach", "48 8b 05 00 f0 ff 7f", 5, -ERANGE, .to = FROM - 0x1000 },
	{ "operand out of reach below", "48 8b 05 ff 0f 00 80", 5, -ERANGE },
	{ "jmp out of reach", "e9 00 f0 ff 7f", 5, -ERANGE, .to = FROM - 0x1000 },
	{ "jcc out of reach", "0f 84 00 f0 ff 7f", 5, -ERANGE, .to = FROM - 0x1000 },
	{ "call out of reach", "e8 00 f0 ff 7f", 5, -ERANGE, .to = FROM - 0x1005 },
	{ "jump back out of reach", "55", 1, -ERANGE, .to = FROM - 0x80001000 },
	{ "return address above 2 GiB", "e8 00 01 00 00", 5, -ERANGE,
	  .from = 0x80000000, .to = 0x80001000 },
	{ "return address below -2 GiB", "e8 00 01 00 00", 5, -ERANGE,
	  .from = KERNEL_START - 0x1000, .to = KERNEL_START },

	{ "no room", "55", 1, -ENOSPC, .size = 5 },
	{ "no room for an instruction", "48 89 e5", 2, -ENOSPC, .size = 2 },
	{ "no room for jcc", "74 10", 2, -ENOSPC, .size = 5 },
	{ "no room for push", "e8 00 01 00 00", 5, -ENOSPC, .size = 4 },
	{ "no room behind push", "e8 00 01 00 00", 5, -ENOSPC, .size = 9 },
};

static unsigned int parse(const char *hex, u8 *bytes)
{
	unsigned int nr = 0;
	char *end;

	for (; *hex; hex = end)
		bytes[nr++] = strtoul(hex, &end, 16);

	return nr;
}

/* The cases do not tell the length of the first instruction, if there are several */
static bool is_expected(const struct ktrace_moved *moved, const struct ktrace_moved *expected)
{
	bool first = moved->nr == 1 ? moved->first_len == moved->old_len :
				      moved->first_len && moved->first_len < moved->old_len;

	return first && moved->old_len == expected->old_len && moved->nr == expected->nr &&
	       moved->new_len == expected->new_len && moved->is_call == expected->is_call;
}

static bool check_result(const struct reloc_case *c, const u8 *code)
{
	u8 expected[KTRACE_RELOC_SIZE_MAX], result[KTRACE_RELOC_SIZE_MAX + 1];
	unsigned int size = c->size ?: KTRACE_RELOC_SIZE_MAX;
	struct ktrace_moved moved = {}, nothing = {};
	int err;

	memset(result, INT3, sizeof(result));
	err = ktrace_relocate(code, c->from ?: FROM, c->min, result, c->to ?: TO, size, &moved);
	if (err != c->err || result[size] != INT3 ||
	    (err && memcmp(&moved, &nothing, sizeof(moved)))) {
		printf("case %s: returns %s\n", c->name, errno_name(err));
		return false;
	}
	if (err)
		return true;

	if (parse(c->result, expected) == moved.new_len && is_expected(&moved, &c->moved) &&
	    !memcmp(result, expected, moved.new_len) && result[moved.new_len] == INT3)
		return true;

	printf("case %s: moves %u bytes, %u instructions, writes", c->name, moved.old_len,
	       moved.nr);
	for (unsigned int i = 0; i < moved.new_len; i++)
		printf(" %02x", result[i]);
	printf("\n");

	return false;
}

/* Execute it, if it is where something can be executed */
static bool check_execution(const struct reloc_case *c, const u8 *bytes)
{
	struct moved_code code = { .from = FROM + USER_SHIFT, .to = TO + USER_SHIFT };

	if (c->err || c->to)
		return true;

	memcpy(code.old, bytes, sizeof(code.old));
	if (move_code(&code, c->min))
		return false;

	for (unsigned int round = 0; round < 8; round++) {
		if (compare(&code, round) != DIFFERENT)
			continue;
		printf("case %s: %s\n", c->name, difference);
		return false;
	}

	return true;
}

bool check_cases(void)
{
	unsigned int failed = 0, nr = ARRAY_SIZE(cases);

	map_breakpoints(FROM + USER_SHIFT);
	map_breakpoints(TO + USER_SHIFT);
	fill_random(writable(DATA + USER_SHIFT), PAGE_SIZE, 0);
	map_pages(DATA + USER_SHIFT, PAGE_SIZE, PAGE_DATA);

	for (unsigned int i = 0; i < nr; i++) {
		u8 code[64];

		memset(code, INT3, sizeof(code));
		parse(cases[i].code, code);
		if (!check_result(&cases[i], code) || !check_execution(&cases[i], code))
			failed++;
	}
	printf("cases %u failed %u\n", nr, failed);

	return !failed;
}
