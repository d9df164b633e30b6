// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a vmlinux or a module. Data is mapped as it is in the file; bss and the variables of
 * CPUs get random bytes. Text consists of breakpoints: only the instructions that are
 * executed are put there.
 *
 * Sections of modules follow the kernel and the modules before. Their symbols are those of
 * the kernel, or else a page of breakpoints.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

#define PERCPU_SECTION	".data..percpu"
#define SITES_SECTION	".ktrace_sites"

struct elf {
	const char	*path;
	u8		*file;
	Elf64_Ehdr	*header;
	Elf64_Shdr	*sections;
	const char	*names;
	Elf64_Sym	*symbols;
	unsigned int	nr_symbols;
	const char	*strings;
	unsigned long	*addrs;		/* of sections, shifted */
	u8		**bytes;	/* of sections, relocated */
};

struct text {
	unsigned long	addr, size;
	const u8	*bytes;
};

struct symbol {
	unsigned long	value;
	const char	*name;
	bool		percpu;
};

static struct text *texts;
static unsigned int nr_texts;

/* Of the kernel, not shifted, sorted by their names */
static struct symbol *exported;
static unsigned int nr_exported;

static unsigned long next_module, first_percpu, next_percpu;

static void *allocate(unsigned long nr, unsigned long size)
{
	void *p = calloc(nr + 1, size);

	if (!p)
		die("no memory");

	return p;
}

static void *read_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *file;

	if (fd < 0 || fstat(fd, &st))
		die("cannot open %s", path);

	file = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		die("cannot read %s", path);
	close(fd);

	if (st.st_size < sizeof(Elf64_Ehdr) || memcmp(file, ELFMAG, SELFMAG) ||
	    ((Elf64_Ehdr *)file)->e_machine != EM_X86_64)
		die("%s is not for x86_64", path);

	return file;
}

static const char *section_name(struct elf *e, unsigned int i)
{
	return e->names + e->sections[i].sh_name;
}

static bool is_percpu(struct elf *e, unsigned int i)
{
	return i < e->header->e_shnum && !strcmp(section_name(e, i), PERCPU_SECTION);
}

static void open_elf(struct elf *e, const char *path)
{
	memset(e, 0, sizeof(*e));
	e->path = path;
	e->file = read_file(path);
	e->header = (void *)e->file;
	e->sections = (void *)(e->file + e->header->e_shoff);
	e->names = (char *)e->file + e->sections[e->header->e_shstrndx].sh_offset;
	e->addrs = allocate(e->header->e_shnum, sizeof(*e->addrs));
	e->bytes = allocate(e->header->e_shnum, sizeof(*e->bytes));

	for (unsigned int i = 0; i < e->header->e_shnum; i++) {
		Elf64_Shdr *s = &e->sections[i];

		if (s->sh_type != SHT_NOBITS)
			e->bytes[i] = e->file + s->sh_offset;
		if (s->sh_type != SHT_SYMTAB)
			continue;
		e->symbols = (void *)(e->file + s->sh_offset);
		e->nr_symbols = s->sh_size / sizeof(Elf64_Sym);
		e->strings = (char *)e->file + e->sections[s->sh_link].sh_offset;
	}
	if (!e->symbols)
		die("%s has no symbols", path);
}

/* Addresses */

static void place_kernel(struct elf *e)
{
	for (unsigned int i = 0; i < e->header->e_shnum; i++) {
		Elf64_Shdr *s = &e->sections[i];

		if (!(s->sh_flags & SHF_ALLOC) || !s->sh_size)
			continue;
		e->addrs[i] = s->sh_addr + USER_SHIFT;
		if (is_percpu(e, i)) {
			first_percpu = s->sh_addr;
			next_percpu = s->sh_addr + s->sh_size;
		} else if (e->addrs[i] + s->sh_size > next_module) {
			next_module = e->addrs[i] + s->sh_size;
		}
	}
	place_percpu(first_percpu);
}

static unsigned long align(unsigned long addr, unsigned long to)
{
	return to ? (addr + to - 1) & -to : addr;
}

static void place_section(struct elf *e, unsigned int i)
{
	Elf64_Shdr *s = &e->sections[i];

	if (is_percpu(e, i)) {
		next_percpu = align(next_percpu, s->sh_addralign);
		e->addrs[i] = next_percpu + USER_SHIFT;
		next_percpu += s->sh_size;
		return;
	}

	next_module = align(next_module, s->sh_addralign);
	e->addrs[i] = next_module;
	next_module += s->sh_size;
}

static void place_module(struct elf *e)
{
	/* Text and data are in different pages */
	for (int exec = 0; exec < 2; exec++) {
		next_module = align(next_module, PAGE_SIZE);
		for (unsigned int i = 0; i < e->header->e_shnum; i++) {
			Elf64_Xword flags = e->sections[i].sh_flags;

			if (flags & SHF_ALLOC && !(flags & SHF_EXECINSTR) == !exec)
				place_section(e, i);
		}
	}
	next_module = align(next_module, PAGE_SIZE);
}

/* Symbols */

static int cmp_names(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void export_symbols(struct elf *e)
{
	exported = allocate(e->nr_symbols, sizeof(*exported));
	for (unsigned int i = 0; i < e->nr_symbols; i++) {
		Elf64_Sym *s = &e->symbols[i];

		if (ELF64_ST_BIND(s->st_info) == STB_LOCAL || s->st_shndx == SHN_UNDEF)
			continue;
		exported[nr_exported++] = (struct symbol){ s->st_value, e->strings + s->st_name,
							   is_percpu(e, s->st_shndx) };
	}
	qsort(exported, nr_exported, sizeof(*exported), cmp_names);
}

static const struct symbol *find_exported(const char *name)
{
	struct symbol key = { .name = name };

	return nr_exported ? bsearch(&key, exported, nr_exported, sizeof(key), cmp_names) : NULL;
}

static bool is_percpu_symbol(struct elf *e, Elf64_Sym *s)
{
	const struct symbol *found;

	if (s->st_shndx != SHN_UNDEF)
		return is_percpu(e, s->st_shndx);

	found = find_exported(e->strings + s->st_name);

	return found && found->percpu;
}

static unsigned long symbol_value(struct elf *e, Elf64_Sym *s)
{
	const struct symbol *found;

	if (s->st_shndx == SHN_UNDEF) {
		found = find_exported(e->strings + s->st_name);
		return found ? found->value + USER_SHIFT : NO_SYMBOL;
	}
	if (s->st_shndx == SHN_ABS)
		return s->st_value;
	if (e->header->e_type == ET_EXEC)
		return s->st_value + USER_SHIFT;
	if (s->st_shndx >= e->header->e_shnum)
		die("%s: symbol of an unknown section", e->path);

	return e->addrs[s->st_shndx] + s->st_value;
}

/* Relocations of modules */

static void relocate(struct elf *e, Elf64_Rela *rela, u8 *at, unsigned long place)
{
	Elf64_Sym *symbol = &e->symbols[ELF64_R_SYM(rela->r_info)];
	unsigned long value = symbol_value(e, symbol);
	unsigned int size = 4;

	/* Only operands relative to RIP have the shift in the address of a CPU's variable */
	if (is_percpu_symbol(e, symbol) && ELF64_R_TYPE(rela->r_info) != R_X86_64_PC32 &&
	    ELF64_R_TYPE(rela->r_info) != R_X86_64_PC64)
		value -= USER_SHIFT;

	value += rela->r_addend;
	switch (ELF64_R_TYPE(rela->r_info)) {
	case R_X86_64_NONE:
		return;
	case R_X86_64_64:
		size = 8;
		break;
	case R_X86_64_PC64:
		size = 8;
		value -= place;
		break;
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		value -= place;
		break;
	case R_X86_64_32:
	case R_X86_64_32S:
		break;
	default:
		die("%s: unknown relocation %lu", e->path, ELF64_R_TYPE(rela->r_info));
	}
	memcpy(at, &value, size);
}

static void relocate_module(struct elf *e)
{
	for (unsigned int i = 0; i < e->header->e_shnum; i++) {
		Elf64_Shdr *s = &e->sections[i];
		Elf64_Rela *rela = (void *)(e->file + s->sh_offset);
		unsigned int of = s->sh_info;

		if (s->sh_type != SHT_RELA || !(e->sections[of].sh_flags & SHF_ALLOC))
			continue;
		for (unsigned long n = s->sh_size / sizeof(*rela); n--; rela++)
			relocate(e, rela, e->bytes[of] + rela->r_offset,
				 e->addrs[of] + rela->r_offset);
	}
}

/* Memory */

static void add_text(unsigned long addr, unsigned long size, const u8 *bytes)
{
	if (!(nr_texts & (nr_texts - 1)))
		texts = realloc(texts, (2 * nr_texts + 1) * sizeof(*texts));
	if (!texts)
		die("no memory");

	texts[nr_texts++] = (struct text){ addr, size, bytes };
	memset(writable(addr), INT3, size);
	map_pages(addr, size, PAGE_TEXT);
}

static void map_section(struct elf *e, unsigned int i)
{
	Elf64_Shdr *s = &e->sections[i];

	if (s->sh_flags & SHF_EXECINSTR) {
		add_text(e->addrs[i], s->sh_size, e->bytes[i]);
		return;
	}

	if (e->bytes[i])
		memcpy(writable(e->addrs[i]), e->bytes[i], s->sh_size);
	else
		fill_random(writable(e->addrs[i]), s->sh_size, e->addrs[i]);
	map_pages(e->addrs[i], s->sh_size, PAGE_DATA);
}

static void map_image(struct elf *e)
{
	for (unsigned int i = 0; i < e->header->e_shnum; i++) {
		Elf64_Shdr *s = &e->sections[i];

		if (s->sh_flags & SHF_ALLOC && s->sh_size && !is_percpu(e, i))
			map_section(e, i);
	}
	if (next_percpu - first_percpu > PERCPU_SIZE)
		die("%s: too many variables of CPUs", e->path);
}

/**
 * copy_code - the bytes of an image from an address, and breakpoints behind its section
 */
void copy_code(unsigned long addr, u8 *buf, unsigned int len)
{
	memset(buf, INT3, len);
	for (unsigned int i = 0; i < nr_texts; i++) {
		unsigned long offset = addr - texts[i].addr;

		if (offset >= texts[i].size)
			continue;
		if (len > texts[i].size - offset)
			len = texts[i].size - offset;
		memcpy(buf, texts[i].bytes + offset, len);
		return;
	}

	die("%lx is not in the text", addr);
}

/* The table */

static int cmp_values(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static struct symbol *functions(struct elf *e, unsigned int *nr)
{
	struct symbol *funcs = allocate(e->nr_symbols, sizeof(*funcs));

	*nr = 0;
	for (unsigned int i = 0; i < e->nr_symbols; i++) {
		Elf64_Sym *s = &e->symbols[i];

		if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF)
			continue;
		funcs[(*nr)++] = (struct symbol){ symbol_value(e, s), e->strings + s->st_name };
	}
	qsort(funcs, *nr, sizeof(*funcs), cmp_values);

	return funcs;
}

/* The section with the table, and the part of it that is the table */
static unsigned int find_table(struct elf *e, unsigned long *start, unsigned long *end)
{
	*start = *end = 0;
	if (e->header->e_type == ET_EXEC) {
		for (unsigned int i = 0; i < e->nr_symbols; i++) {
			const char *name = e->strings + e->symbols[i].st_name;

			if (!strcmp(name, "__start_mcount_loc"))
				*start = symbol_value(e, &e->symbols[i]);
			if (!strcmp(name, "__stop_mcount_loc"))
				*end = symbol_value(e, &e->symbols[i]);
		}
	}

	for (unsigned int i = 0; i < e->header->e_shnum; i++) {
		if (*start && *start - e->addrs[i] < e->sections[i].sh_size)
			return i;
		if (!*start && !strcmp(section_name(e, i), SITES_SECTION)) {
			*start = e->addrs[i];
			*end = *start + e->sections[i].sh_size;
			return i;
		}
	}

	return 0;
}

static void read_sites(struct elf *e, struct image *image)
{
	unsigned long start, end, entry;
	unsigned int i = find_table(e, &start, &end), nr;
	struct symbol *funcs;

	if (!i)
		return;

	funcs = functions(e, &nr);
	image->sites = allocate((end - start) / sizeof(s32), sizeof(*image->sites));
	for (entry = start; entry < end; entry += sizeof(s32)) {
		struct site *site = &image->sites[image->nr_sites++];
		struct symbol key = {}, *found;
		s32 distance;

		memcpy(&distance, e->bytes[i] + (entry - e->addrs[i]), sizeof(distance));
		site->class = (entry + distance) & 3;
		site->func = (entry + distance) & -16UL;
		key.value = site->func;
		found = bsearch(&key, funcs, nr, sizeof(key), cmp_values);
		if (!found)
			die("%s: no function at %lx", e->path, site->func - USER_SHIFT);
		site->name = found->name;
	}
	free(funcs);
}

void load_image(const char *path, struct image *image)
{
	const char *base = strrchr(path, '/');
	struct elf e;

	open_elf(&e, path);
	*image = (struct image){ .name = base ? base + 1 : path };

	if (e.header->e_type == ET_EXEC) {
		if (nr_exported)
			die("%s: there is a kernel already", path);
		place_kernel(&e);
		export_symbols(&e);
	} else {
		if (!next_module)
			next_module = USER_MODULES;
		place_module(&e);
		relocate_module(&e);
	}
	map_image(&e);
	read_sites(&e, image);
}
