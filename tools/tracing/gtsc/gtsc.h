/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gtsc: the consumer of the kernel's trace channels.
 *
 *	main.c		the command, and those of channels; options.c checks values
 *	process.c	signals, limits and the standard output of the process
 *	control.c	the files that start, stop and size a channel
 *	input.c		an open buffer file: whole records, with headers
 *	record.c	records buffer files; threads.c has the threads that read them
 *	ctf.c		writes the packets of a recorded trace; metadata.c writes its metadata,
 *			and metadata_read.c reads it; names.c finds the functions that occur in
 *			the records
 *	output.c	the directory of a recorded trace
 *	source.c	records of a buffer file, of a stream file, or from a pipe
 *	data.c		all of them merged by time, for formats.c to print or for others
 *	tracers.c	the tracers of functions; command.c runs the command that they trace
 *	report.c	the command report: report.h has what shows calls, calltree.h what adds
 *			them up; map.c finds numbers by a key
 *
 * A buffer file, bufferN, is one of the kernel, in the directory of a channel. A stream file is one
 * of a recorded trace: it has the records of one buffer file.
 *
 * fields.c knows how the provider of a channel describes its records, symbols.c the names of
 * functions, clock.c the time on the wall, and text.c what a terminal can show.
 *
 * Memory that is needed until the end of the program is not freed. forget_trace() and
 * forget_symbols() are for tools/testing/gtsc/fuzz_trace.c.
 */
#ifndef GTSC_H
#define GTSC_H

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define MAX_PATH	4096
#define NAME_SIZE	200	/* ROOT/NAME/CHANNEL, 64 characters each at most */
#define FORMAT_SIZE	1024

/* include/uapi/linux/gtsc.h */
#define GTSC_TYPE_RECORD	0
#define GTSC_TYPE_LOST		1

struct gtsc_record_header {
	uint64_t time;
	uint16_t type;
	uint16_t cpu;
	uint32_t len;
};

/* No record is longer: a header that says so is damaged */
#define MAX_RECORD	(64U << 20)

/* The bytes of a record with its header, up to the next one */
static inline uint64_t record_size(uint32_t len)
{
	return (sizeof(struct gtsc_record_header) + (uint64_t)len + 7) & ~7ULL;
}

/* Fields */

#define MAX_FIELDS	64
/* TASK_COMM_LEN of the kernel */
#define COMM_SIZE	16

struct field {
	char		name[64];
	char		type;		/* u, s, x, c for char or k for ksym */
	unsigned int	bytes;		/* of one element */
	unsigned int	count;		/* of elements; 0: not an array */
};

/* If it has neither text nor fields, the provider has not described its records */
struct fields {
	bool		text;
	unsigned int	nr;
	uint32_t	size;
	struct field	list[MAX_FIELDS];
};

struct item;

int parse_fields(const char *text, struct fields *fields);
bool has_symbols(const struct fields *fields);
void show_fields(const struct fields *fields, const struct item *item, FILE *out);
int field_offset(const struct fields *fields, const char *name, unsigned int bytes);
uint64_t get_number_at(const struct item *item, unsigned int offset, unsigned int bytes);

/* Control */

struct stats {
	unsigned long long	written, read, unread, overwritten;
	unsigned long long	full, too_big, nested;
};

struct channel {
	char		path[MAX_PATH];
	char		name[NAME_SIZE];
	char		format[FORMAT_SIZE];
	struct fields	fields;
	bool		flight;
	bool		global;
	bool		started;	/* by us */
	struct stats	stats;		/* as they were read last, while recording */
	struct stats	before;		/* when the recording began */
	bool		gone;		/* @stats can no longer be read: the channel has gone */
};

struct channel *add_channel(struct channel **channels, unsigned int *nr);
int find_channels(const char *what, struct channel **channels, unsigned int *nr);
int find_all(struct channel **channels, unsigned int *nr);
int get_state(const struct channel *ch, char *state, size_t size);
int set_state(const struct channel *ch, const char *state);
int get_number(const struct channel *ch, const char *file, unsigned long long *number);
int put_number(const struct channel *ch, const char *file, unsigned long long number);
int put_size(const struct channel *ch, unsigned long long sub_size, unsigned long long nr_sub,
	     bool discard);
int get_stats(const struct channel *ch, struct stats *stats);
unsigned long long all_dropped(const struct stats *stats);
int complain_of_channel(const char *name, int error);

/* Process */

/* Set by a signal: loops that wait for records end */
extern atomic_bool interrupted;
/* Set while a module has to be removed: a second signal does not end the program at once */
extern atomic_bool must_end_in_order;
void catch_signals(void);
void raise_file_limit(void);
void restore_process(void);
int check_output(void);

/* Time */

/* What makes a record's time one of the wall clock, when a recording began and ended */
struct wall_clock {
	uint64_t	begin, end;		/* times of records; @end is 0 if it is not known */
	int64_t		offset, end_offset;	/* nanoseconds to add to them */
};

/* Nanoseconds */
#define SECOND		1000000000ULL
#define MS		(SECOND / 1000)

uint64_t now_ns(void);
void begin_wall_clock(struct wall_clock *clock);
void end_wall_clock(struct wall_clock *clock);
void use_wall_clock(const struct wall_clock *clock);
uint64_t wall_time(uint64_t time);

/* Input */

struct input {
	int		fd;
	uint8_t		*buf;	/* NULL: none; the next read allocates it. See threads.c, too. */
	size_t		room, have;
	size_t		used;	/* of what it has; set by the caller */
};

struct map;
typedef int open_file_func(struct channel *ch, unsigned int index, unsigned int number);

uint64_t file_key(unsigned int index, unsigned int number);
int open_new_files(struct channel *channels, unsigned int nr, const struct map *opened,
		   open_file_func *open_file);
int open_regular(int dir, const char *name);
struct dirent *next_entry(DIR *d, int *error);
int input_open(struct input *in, const struct channel *ch, unsigned int number);
ssize_t input_read(struct input *in);
void input_close(struct input *in);

/* Record */

struct record_options {
	const char	*output;	/* a directory, or "-" */
	double		seconds;	/* 0: no limit */
	bool		(*ended)(void);	/* if not NULL: ends it, too, when it returns true */
	bool		quiet;
	bool		ctf2;
	bool		held;	/* only what the channels hold now; start none */
};

int record(struct channel *channels, unsigned int nr, const struct record_options *options);

/* Data */

/* A record that is to be printed, or some that were lost */
struct item {
	const struct channel	*ch;
	int			cpu;	/* -1: not known */
	uint64_t		time;
	uint64_t		lost;	/* records; 0: this is a record */
	const void		*data;
	uint32_t		len;
	bool			swapped;	/* from a machine of the other byte order */
};

/* Who takes records, in the order of time; a function that returns false gets no more */
struct sink {
	bool	(*take)(const struct item *item, void *data);
	/* If not NULL: is called when all records that are there now have been taken */
	bool	(*pause)(void *data);
	void	*data;
};

int read_directory(const char *name, const struct sink *sink);
int read_stdin(const struct sink *sink);
void forget_trace(void);
int read_channels(struct channel *channels, unsigned int nr, const struct sink *sink);
int follow_channels(struct channel *channels, unsigned int nr, double seconds,
		    bool (*ended)(void), const struct sink *sink);

/* Options */

#define OUTPUT_WANTED	"a directory, or - for the standard output"

int bad_value(const char *option, const char *value, const char *wanted);
int parse_seconds(const char *s, double *seconds);
int parse_pid(const char *s, pid_t *pid);
int parse_mib(const char *s, unsigned long *mib);
int parse_number(const char *s, unsigned long long *number);
int parse_lines(const char *s, unsigned long *lines);
int parse_percent(const char *s, double *percent);
int parse_text(const char *option, const char *s, const char *wanted, const char **text);

/* Commands */

int bad_usage(const char *name);
int cmd_functions(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_report(int argc, char **argv);

/* Formats */

struct format {
	const char	*name;
	const char	*help;
	void		(*print)(const struct item *item, FILE *out);
	struct format	*next;
};

void add_format(struct format *format);
const struct format *find_format(const char *name);
void list_formats(FILE *out);
extern const struct format *print_format;	/* NULL: the format fields */
extern bool print_wall_clock;
extern const struct sink print_sink;

/* GTSC_FORMAT(id, "help") { ... } in any file adds a format: the block prints @item to @out */
#define GTSC_FORMAT(id, text)							\
	static void print_##id(const struct item *item, FILE *out);		\
	static struct format format_##id = {					\
		.name = #id, .help = text, .print = print_##id,			\
	};									\
	__attribute__((constructor)) static void add_##id(void)		\
	{									\
		add_format(&format_##id);					\
	}									\
	static void print_##id(const struct item *item, FILE *out)

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

/* Symbols */

struct symbol {
	uint64_t	start, end;
	char		*name;		/* as escape() writes it: can be printed */
};

int load_kallsyms_file(const char *name);
void load_symbol(uint64_t start, uint64_t end, const char *name);
void load_symbols_end(void);
void forget_symbols(void);
void use_running_kernel(bool use);
const struct symbol *find_symbol(uint64_t address);
void print_symbol(uint64_t address, FILE *out);
void print_function_name(uint64_t address, FILE *out);

/* Text */

void put_escaped(const void *p, size_t len, FILE *out);
void escape(char *to, size_t size, const char *from);
size_t utf8_size(const void *p, size_t len);
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int complain_of(const char *name, int error);
void *must(void *p);
char *must_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* GTSC_H */
