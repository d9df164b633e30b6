// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of functions that ktrace can trace.
 *
 * The compiler lists each C function with padding in __patchable_function_entries. Without
 * padding, it lists them, and their parts in .text.unlikely, in .eh_frame. Kbuild removes
 * this list from objects that are compiled without CC_FLAGS_FTRACE, and
 * notrace puts one NOP at the entry of a function. What remains has no such NOP: these
 * are the functions that -pg would instrument.
 *
 * An entry of .ktrace_sites is the distance from itself to the function. Functions are
 * aligned to 16 bytes: the low bits of the result tell what may be done with the code at the
 * entry, and whether the function is traced on request only. Kbuild has renamed the list of
 * objects with such functions, and assembly has a list of its own.
 */
#include <string.h>

#include <linux/bitops.h>

#include <objtool/builtin.h>
#include <objtool/check.h>
#include <objtool/elf.h>
#include <objtool/ktrace.h>
#include <objtool/objtool.h>
#include <objtool/warn.h>

#define NOP1		0x90
#define FUNC_ALIGN	16
/* A jump with a displacement of 32 bits */
#define JUMP_LEN	5

/* The low bits of the address that an entry leads to, see include/linux/ktrace.h */
enum site_class {
	SITE_ANY,		/* the first five bytes may be moved elsewhere */
	SITE_FIXED,		/* no instruction may be moved */
	SITE_ONE_INSN,		/* only the first instruction may be moved */
	SITE_ALTERNATIVE,	/* ... when alternatives were applied */
};

#define SITE_OPTIN	8	/* traced on request only */

/* insn_func() may be another alias of the function */
static bool is_in_func(struct instruction *insn, struct symbol *func)
{
	return insn && insn->offset < func->offset + func->len;
}

/* The first instruction that does something: the one after ENDBR */
static struct instruction *first_insn(struct objtool_file *file, struct symbol *func)
{
	struct instruction *insn = find_insn(file, func->sec, func->offset);

	if (insn && insn->type == INSN_ENDBR)
		insn = find_insn(file, func->sec, func->offset + insn->len);

	return is_in_func(insn, func) ? insn : NULL;
}

static bool is_notrace(struct instruction *first)
{
	const u8 *code = first->sec->data->d_buf;

	return first->len == 1 && !first->alt_group && code[first->offset] == NOP1;
}

/* Can the instruction be executed at another address? */
static bool is_movable(struct instruction *insn)
{
	/* The kernel changes these in place, or looks them up by their address */
	if (insn->alt_group || insn->alts || insn->type == INSN_BUG)
		return false;

	if (insn->type == INSN_CALL_DYNAMIC || insn->type == INSN_JUMP_DYNAMIC ||
	    insn->type == INSN_JUMP_DYNAMIC_CONDITIONAL)
		return false;

	return !(insn_call_dest(insn) && insn_call_dest(insn)->static_call_tramp);
}

/* Is it replaced by an alternative, and looked up for no other reason? */
static bool is_alternative(struct instruction *insn)
{
	struct alternative *alt;

	for (alt = insn->alts; alt; alt = alt->next) {
		if (!alt->insn->alt_group ||
		    alt->insn->alt_group->orig_group != insn->alt_group)
			return false;
	}

	return insn->alt_group;
}

/* A bit for the byte of the code at @first to which there is a branch */
static unsigned long target_bit(struct instruction *first, struct instruction *dest)
{
	if (!dest || dest->sec != first->sec || dest->offset < first->offset ||
	    dest->offset - first->offset >= JUMP_LEN)
		return 0;

	return BIT(dest->offset - first->offset);
}

/* The bytes of the code at @first to which the symbol @sym of the function branches */
static unsigned long inner_targets(struct objtool_file *file, struct symbol *sym,
				   struct instruction *first)
{
	struct instruction *insn = find_insn(file, sym->sec, sym->offset);
	unsigned long targets = 0;
	struct alternative *alt;

	for (; insn && insn->offset < sym->offset + sym->len;
	     insn = next_insn_same_sec(file, insn)) {
		targets |= target_bit(first, insn->jump_dest);
		for (alt = insn->alts; alt; alt = alt->next)
			targets |= target_bit(first, alt->insn);
	}

	return targets;
}

static bool ends_here(struct instruction *insn)
{
	return insn->type == INSN_RETURN || insn->type == INSN_JUMP_UNCONDITIONAL ||
	       insn->dead_end;
}

static enum site_class classify(struct objtool_file *file, struct symbol *func,
				struct instruction *first)
{
	unsigned long targets = inner_targets(file, func, first);
	struct instruction *insn = first;
	unsigned int len = 0;

	/* The part in .text.unlikely */
	if (func->cfunc)
		targets |= inner_targets(file, func->cfunc, first);

	if (targets & BIT(0))
		return SITE_FIXED;
	if (is_alternative(first))
		return SITE_ALTERNATIVE;
	if (!is_movable(first))
		return SITE_FIXED;

	for (;;) {
		len += insn->len;
		if (len >= JUMP_LEN)
			return SITE_ANY;
		if (ends_here(insn))
			return SITE_ONE_INSN;

		insn = find_insn(file, insn->sec, insn->offset + insn->len);
		if (!is_in_func(insn, func) || !is_movable(insn) ||
		    targets & BIT(len))
			return SITE_ONE_INSN;
	}
}

/* The sections that list the functions */
#define OPTIN_LIST	".discard.ktrace_optin"

static const char *list_name(void)
{
	return opts.prefix ? "__patchable_function_entries" : ".eh_frame";
}

/* Does it list functions that are traced on request only? */
bool is_ktrace_optin_list(struct section *sec)
{
	return !strncmp(sec->name, OPTIN_LIST, strlen(OPTIN_LIST));
}

/* The function that @reloc of the list is about, if it is a candidate */
static struct symbol *candidate(struct objtool_file *file, struct reloc *reloc)
{
	unsigned long offset = reloc->sym->offset + reloc_addend(reloc) + opts.prefix;
	struct section *sec = reloc->sym->sec;
	struct instruction *first;
	struct symbol *func;

	/*
	 * Another definition has replaced a weak function: it has no symbol. Parts of functions
	 * are in .eh_frame, too.
	 */
	func = find_func_by_offset(sec, offset);
	if (!func || func->pfunc != func || sec->noinstr)
		return NULL;

	/* Some compilers do not align functions that they take for cold */
	if (func->offset % FUNC_ALIGN) {
		WARN("%s() is not aligned to %d bytes", func->name, FUNC_ALIGN);
		return NULL;
	}

	first = first_insn(file, func);

	return first && !is_notrace(first) ? func : NULL;
}

static int add_site(struct objtool_file *file, struct symbol *func, unsigned int optin,
		    struct section *sites, int idx)
{
	struct instruction *first = first_insn(file, func);
	struct reloc *reloc;

	reloc = elf_init_reloc_text_sym(file->elf, sites, idx * sizeof(int), idx,
					func->sec, func->offset);
	if (!reloc)
		return -1;

	set_reloc_addend(file->elf, reloc,
			 reloc_addend(reloc) + classify(file, func, first) + optin);

	return 0;
}

/* Count the candidates, and add them to @sites unless it is NULL */
static int walk_candidates(struct objtool_file *file, struct section *sites)
{
	struct section *sec;
	struct symbol *func;
	struct reloc *reloc;
	unsigned int optin;
	int nr = 0;

	list_for_each_entry(sec, &file->elf->sections, list) {
		if ((strcmp(sec->name, list_name()) && !is_ktrace_optin_list(sec)) ||
		    !sec->rsec)
			continue;

		optin = is_ktrace_optin_list(sec) ? SITE_OPTIN : 0;
		for_each_reloc(sec->rsec, reloc) {
			func = candidate(file, reloc);
			if (!func)
				continue;
			if (sites && add_site(file, func, optin, sites, nr))
				return -1;
			nr++;
		}
	}

	return nr;
}

int create_ktrace_sites_section(struct objtool_file *file)
{
	struct section *sites;
	int nr;

	/* Live patches may have it from the object that they were extracted from */
	if (find_section_by_name(file->elf, ".ktrace_sites"))
		return 0;

	nr = walk_candidates(file, NULL);
	if (!nr)
		return 0;

	sites = elf_create_section_pair(file->elf, ".ktrace_sites", sizeof(int), nr, nr);
	if (!sites)
		return -1;

	sites->sh.sh_addralign = sizeof(int);

	return walk_candidates(file, sites) < 0 ? -1 : 0;
}
