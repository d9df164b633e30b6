// SPDX-License-Identifier: GPL-2.0
/*
 * reloc_test [-cv] [-r rounds] [vmlinux] [module.ko ...]
 *
 * Moves the first instructions of all functions that ktrace can trace, as the kernel does,
 * executes them in both places, and compares what they have done. Fails if something is
 * different, if nothing was executed, and if more than 2 in 1000 functions are refused of
 * those that a form may be used for. The kernel comes first: modules use its symbols.
 *
 *	-c	make each displacement wrong as well: it fails if the comparison does not see it
 *	-r	compare so often, each time with other registers and memory
 *	-v	also print the functions whose first instructions always fault, in both places
 *
 * Without a file, only the instructions in cases.c are moved and executed.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

/* See include/linux/ktrace.h */
enum { SITE_ANY, SITE_FIXED, SITE_ONE_INSN, SITE_ALTERNATIVE, NR_CLASSES };

static const char *const class_names[] = { "any", "fixed", "one", "alt" };

struct form {
	const char	*name;
	unsigned int	min;
};

static const struct form forms[] = { { "INT3", 1 }, { "J8", 2 }, { "J32", 5 } };

#define NR_FORMS	ARRAY_SIZE(forms)

static const struct {
	int		err;
	const char	*name;
} errnos[] = {
	{ -EILSEQ, "EILSEQ" }, { -EFAULT, "EFAULT" }, { -EPERM, "EPERM" },
	{ -EOPNOTSUPP, "EOPNOTSUPP" }, { -EADDRINUSE, "EADDRINUSE" }, { -ELOOP, "ELOOP" },
	{ -ENODATA, "ENODATA" }, { -ERANGE, "ERANGE" }, { -ENOSPC, "ENOSPC" },
};

#define NR_ERRNOS	ARRAY_SIZE(errnos)

struct counts {
	unsigned int	all, verdicts[NR_VERDICTS], refused[NR_ERRNOS + 1], largest;
};

static struct counts counts[NR_FORMS][NR_CLASSES];

/* Displacements in what was written, and how many of them a comparison found to be wrong */
enum field { OPERAND, JCC, JMP, RETURN, BACK, NR_FIELDS };

/*
 * A wrong operand is not found if the next byte in memory has the same effect, a conditional
 * jump if it is not taken in any round, the jump back if another one is taken in all rounds.
 */
static struct {
	const char	*name;
	unsigned int	percent;	/* that have to be found, at least */
	unsigned int	all, found;
} fields[] = {
	[OPERAND]	= { "operand", 60 },
	[JCC]		= { "jcc", 25 },
	[JMP]		= { "jmp", 99 },
	[RETURN]	= { "return", 99 },
	[BACK]		= { "back", 98 },
};

static unsigned int rounds = 4;	/* with other registers and memory */
static bool verbose, corrupt;

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("ktrace-reloc: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	exit(2);
}

const char *errno_name(int err)
{
	for (unsigned int i = 0; i < NR_ERRNOS; i++) {
		if (errnos[i].err == err)
			return errnos[i].name;
	}

	return err ? "unknown" : "0";
}

/* Where @code would be in the kernel, the displacements are the same, but not addresses */
static void check_kernel_address(const struct moved_code *code, unsigned int min)
{
	u8 bytes[KTRACE_RELOC_SIZE_MAX + 1], size = code->moved.new_len;
	struct ktrace_moved moved;
	int err;

	memset(bytes, 0, sizeof(bytes));
	err = ktrace_relocate(code->old, code->from - USER_SHIFT, min, bytes,
			      code->to - USER_SHIFT, size, &moved);
	if (err || memcmp(&moved, &code->moved, sizeof(moved)) || bytes[size])
		die("%lx: other result in the kernel", code->from);

	for (unsigned int i = 0; i < size; i++) {
		s32 ret = code->from - USER_SHIFT + moved.old_len;

		if (bytes[i] == code->new[i])
			continue;
		/* push in front of jmp */
		if (size < 10 || i <= size - 10 || i > size - 6 || bytes[size - 10] != 0x68 ||
		    memcmp(&bytes[size - 9], &ret, sizeof(ret)))
			die("%lx: other code in the kernel", code->from);
	}

	if (ktrace_relocate(code->old, code->from, min, bytes, code->to, size - 1,
			    &moved) != -ENOSPC)
		die("%lx: writes more than it may", code->from);
}

/* Move code->old. Returns 0 or an error. */
int move_code(struct moved_code *code, unsigned int min)
{
	int err;

	err = ktrace_relocate(code->old, code->from, min, code->new, code->to,
			      sizeof(code->new), &code->moved);
	if (!err)
		check_kernel_address(code, min);

	return err;
}

/* Compare in all rounds. One that does not fault is enough to tell that they are equal. */
static enum verdict compare_rounds(const struct moved_code *code)
{
	enum verdict verdict = FAULT_ALIKE;

	for (unsigned int i = 0; i < rounds; i++) {
		switch (compare(code, i)) {
		case DIFFERENT:
			return DIFFERENT;
		case EQUAL:
			verdict = EQUAL;
			break;
		default:
			break;
		}
	}

	return verdict;
}

/* The displacement in an instruction that was written, or -1 */
static int find_field(const struct moved_code *code, unsigned int pos, struct insn *insn,
		      enum field *field)
{
	bool last = pos + insn->length == code->moved.new_len;
	u8 op = insn->opcode.bytes[0];

	if (insn_rip_relative(insn)) {
		*field = OPERAND;
		return pos + insn_offset_displacement(insn);
	}

	if (insn->vex_prefix.value)
		return -1;

	if (op == 0xe9 || (op == 0x0f && (insn->opcode.bytes[1] & 0xf0) == 0x80)) {
		unsigned long target = code->to + pos + insn->length + insn->immediate.value;

		*field = op != 0xe9 ? JCC :
			 last && target == code->from + code->moved.old_len ? BACK : JMP;
		return pos + insn_offset_immediate(insn);
	}

	if (op == 0x68 && insn->immediate.value == code->from + code->moved.old_len) {
		*field = RETURN;
		return pos + insn_offset_immediate(insn);
	}

	return -1;
}

/* Make each displacement wrong in turn */
static void corrupt_fields(struct moved_code *code)
{
	struct insn insn;

	for (unsigned int pos = 0; pos < code->moved.new_len; pos += insn.length) {
		enum field field;
		s32 right, wrong;
		int at;

		if (insn_decode(&insn, code->new + pos, MAX_INSN_SIZE, INSN_MODE_64))
			die("%lx: was written and cannot be decoded", code->from);
		at = find_field(code, pos, &insn, &field);
		if (at < 0)
			continue;

		memcpy(&right, code->new + at, sizeof(right));
		wrong = right + 1;
		memcpy(code->new + at, &wrong, sizeof(wrong));
		fields[field].all++;
		if (compare_rounds(code) == DIFFERENT)
			fields[field].found++;
		memcpy(code->new + at, &right, sizeof(right));
	}
}

static void count_refusal(struct counts *c, int err)
{
	unsigned int i;

	for (i = 0; i < NR_ERRNOS && errnos[i].err != err; i++)
		;
	c->refused[i]++;
}

/* The comparison, unless the form before has moved the same instructions */
static enum verdict verdict_of(const struct moved_code *code)
{
	static struct moved_code last;
	static enum verdict verdict;

	if (memcmp(code, &last, sizeof(last))) {
		verdict = compare_rounds(code);
		last = *code;
	}

	return verdict;
}

static void check_code(struct moved_code *code, const struct form *form, struct counts *c,
		       const struct image *image, const struct site *site)
{
	int err = move_code(code, form->min);
	enum verdict verdict;

	c->all++;
	if (err) {
		printf("refused %s %s:%s %s\n", form->name, image->name, site->name,
		       errno_name(err));
		count_refusal(c, err);
		return;
	}

	if (code->moved.new_len > c->largest)
		c->largest = code->moved.new_len;
	verdict = verdict_of(code);
	c->verdicts[verdict]++;
	if (verdict == DIFFERENT)
		printf("different %s %s:%s %s\n", form->name, image->name, site->name, difference);
	if (verdict == FAULT_ALIKE && verbose)
		printf("faults %s %s:%s\n", form->name, image->name, site->name);
	if (verdict == EQUAL && corrupt)
		corrupt_fields(code);
}

/* May the form be used for a function of this class with this first instruction? */
static bool is_allowed(const struct form *form, unsigned int class, const u8 *code)
{
	struct insn insn;

	switch (class) {
	case SITE_ANY:
		return true;
	case SITE_ONE_INSN:
		return !insn_decode(&insn, code, MAX_INSN_SIZE, INSN_MODE_64) &&
		       insn.length >= form->min;
	default:
		return false;
	}
}

static void check_site(const struct image *image, unsigned int nr)
{
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const struct site *site = &image->sites[nr];
	struct moved_code code = { .from = site->func };

	copy_code(code.from, code.old, sizeof(code.old));
	if (!memcmp(code.old, endbr, sizeof(endbr))) {
		code.from += sizeof(endbr);
		copy_code(code.from, code.old, sizeof(code.old));
	}

	code.to = nr & 1 ? LOW_SLOT : HIGH_SLOT;
	for (unsigned int i = 0; i < NR_FORMS; i++) {
		if (is_allowed(&forms[i], site->class, code.old))
			check_code(&code, &forms[i], &counts[i][site->class], image, site);
	}
}

static void check_image(const char *path)
{
	unsigned int classes[NR_CLASSES] = {};
	struct image image;

	load_image(path, &image);
	for (unsigned int i = 0; i < image.nr_sites; i++) {
		check_site(&image, i);
		classes[image.sites[i].class]++;
	}
	if (verbose)
		printf("%s: %u functions: any %u, one %u, alternative %u, padding %u\n",
		       image.name, image.nr_sites, classes[SITE_ANY], classes[SITE_ONE_INSN],
		       classes[SITE_ALTERNATIVE], classes[SITE_FIXED]);
}

/* Returns false if something is wrong with the form and class, or nothing was compared */
static bool report_counts(unsigned int form, unsigned int class)
{
	const struct counts *c = &counts[form][class];
	unsigned int refused = 0;

	if (!c->all)
		return class != SITE_ANY;

	printf("%-4s class %-3s functions %5u equal %5u different %u fault-alike %u",
	       forms[form].name, class_names[class], c->all, c->verdicts[EQUAL],
	       c->verdicts[DIFFERENT], c->verdicts[FAULT_ALIKE]);
	for (unsigned int i = 0; i < NR_ERRNOS + 1; i++) {
		if (c->refused[i])
			printf(" %s %u", i < NR_ERRNOS ? errnos[i].name : "unknown", c->refused[i]);
		refused += c->refused[i];
	}
	printf(" refused %u largest %u\n", refused, c->largest);

	return c->verdicts[EQUAL] && !c->verdicts[DIFFERENT] && refused * 500 <= c->all;
}

static bool report_fields(void)
{
	bool good = true;

	for (unsigned int i = 0; i < NR_FIELDS; i++) {
		unsigned long all = fields[i].all, found = fields[i].found;

		printf("corrupted %-7s %5lu found %5lu\n", fields[i].name, all, found);
		good &= found && found * 100 >= all * fields[i].percent;
	}

	return good;
}

int main(int argc, char **argv)
{
	bool good;
	int opt;

	while ((opt = getopt(argc, argv, "cr:v")) != -1) {
		switch (opt) {
		case 'c':
			corrupt = true;
			break;
		case 'r':
			rounds = atoi(optarg);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			die("usage: %s [-cv] [-r rounds] [vmlinux] [module.ko ...]", argv[0]);
		}
	}

	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(600);
	create_memory();
	start_program();

	good = check_cases();
	for (int i = optind; i < argc; i++)
		check_image(argv[i]);
	if (optind == argc)
		return !good;

	for (unsigned int i = 0; i < NR_FORMS; i++) {
		for (unsigned int class = 0; class < NR_CLASSES; class++)
			good &= report_counts(i, class);
	}
	if (corrupt)
		good &= report_fields();

	return !good;
}
