// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: the names of functions, by address: those that a recorded trace has, or those of the
 * running kernel.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gtsc.h"

/* Few functions are longer: an address farther behind the last one belongs to something else */
#define MAX_LAST	(64 * 1024)

static struct symbol *symbols;
static size_t nr_symbols, room;
/* Whether names can be those of the running kernel */
static bool running_kernel = true;
/* The first load counts: -k goes before the names of the trace, and these before the kernel's */
static bool loaded;

static void add(uint64_t start, uint64_t end, const char *text)
{
	char name[256];

	if (nr_symbols == room) {
		room = room ? room * 2 : 4096;
		symbols = must(realloc(symbols, room * sizeof(*symbols)));
	}
	escape(name, sizeof(name), text);
	symbols[nr_symbols++] = (struct symbol){ start, end, must(strdup(name)) };
}

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void sort(void)
{
	if (nr_symbols)
		qsort(symbols, nr_symbols, sizeof(*symbols), by_start);
	loaded = true;
}

/* A symbol ends where the next one begins. Nothing tells where the last one ends. */
static void set_ends(void)
{
	uint64_t end = UINT64_MAX;

	if (nr_symbols && symbols[nr_symbols - 1].start < UINT64_MAX - MAX_LAST)
		end = symbols[nr_symbols - 1].start + MAX_LAST;
	for (size_t i = nr_symbols; i-- > 0; ) {
		symbols[i].end = end;
		if (i && symbols[i - 1].start != symbols[i].start)
			end = symbols[i].start;
	}
}

/*
 * Takes the names from a file like /proc/kallsyms, and closes it; NULL: there are no names. Names
 * that were loaded before stay.
 */
static void load_kallsyms(FILE *f)
{
	char line[512], text[256], type;
	uint64_t address;

	while (!loaded && f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %c %255s", &address, &type, text) == 3 &&
		    address && strchr("tTwW", type))
			add(address, 0, text);
	}
	if (f)
		fclose(f);
	if (loaded)
		return;
	sort();
	set_ends();
}

/* The same, of the file @name. Returns 0, or a negative errno after a message. */
int load_kallsyms_file(const char *name)
{
	FILE *f = fopen(name, "re");

	if (!f)
		return complain_of(name, -errno);
	load_kallsyms(f);

	return 0;
}

/**
 * load_symbol - take a name from a recorded trace
 * @start: the first address
 * @end: the address behind the last one
 * @name: the name, which may be damaged
 *
 * After the last one comes load_symbols_end().
 */
void load_symbol(uint64_t start, uint64_t end, const char *name)
{
	if (!loaded)
		add(start, end, name);
}

void load_symbols_end(void)
{
	if (!loaded)
		sort();
}

/* Names can be loaded anew then; no symbol of find_symbol() is left. For fuzz_trace.c. */
void forget_symbols(void)
{
	for (size_t i = 0; i < nr_symbols; i++)
		free(symbols[i].name);
	free(symbols);
	symbols = NULL;
	nr_symbols = 0;
	room = 0;
	loaded = false;
	running_kernel = true;
}

/**
 * use_running_kernel - say whether a trace is of the running kernel
 * @use: false: find_symbol() does not take the names of the running kernel
 */
void use_running_kernel(bool use)
{
	running_kernel = use;
}

/**
 * find_symbol - find the function of an address
 * @address: the address
 *
 * Without a load before, the names are those of the running kernel. If the trace is not of that
 * kernel, there are none, and a message says so.
 *
 * Return: the function, or NULL.
 */
const struct symbol *find_symbol(uint64_t address)
{
	size_t low = 0, high;

	if (!loaded && !running_kernel)
		complain("the trace has no names of functions, and is not of this boot: see -k");
	if (!loaded)
		load_kallsyms(running_kernel ? fopen("/proc/kallsyms", "re") : NULL);
	high = nr_symbols;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (symbols[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}

	return low && address < symbols[low - 1].end ? &symbols[low - 1] : NULL;
}

/* NAME, NAME+0xOFFSET or 0xADDRESS */
void print_symbol(uint64_t address, FILE *out)
{
	const struct symbol *symbol = find_symbol(address);

	if (!symbol)
		fprintf(out, "0x%" PRIx64, address);
	else if (address == symbol->start)
		fputs(symbol->name, out);
	else
		fprintf(out, "%s+0x%" PRIx64, symbol->name, address - symbol->start);
}

/* NAME or 0xADDRESS: for the address at which a function is traced, not always its first one */
void print_function_name(uint64_t address, FILE *out)
{
	const struct symbol *symbol = find_symbol(address);

	if (symbol)
		fputs(symbol->name, out);
	else
		fprintf(out, "0x%" PRIx64, address);
}
