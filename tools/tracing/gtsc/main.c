// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: the command.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gtsc.h"

static struct channel *channels;

/* A channel may have been named twice: keeps one of each path. Returns how many are left. */
static unsigned int drop_repeated(unsigned int nr)
{
	unsigned int kept = 0;

	for (unsigned int i = 0, known; i < nr; i++) {
		for (known = 0; known < kept; known++) {
			if (!strcmp(channels[known].path, channels[i].path))
				break;
		}
		if (known < kept)
			continue;
		if (kept < i)
			channels[kept] = channels[i];
		kept++;
	}

	return kept;
}

/* Finds the channels of all traces in @argv. Returns their number, or a negative errno. */
static int find(char **argv)
{
	unsigned int nr = 0;
	int ret;

	for (; *argv; argv++) {
		ret = find_channels(*argv, &channels, &nr);
		if (ret == -ENOENT)
			complain("%s: no such trace", *argv);
		else
			complain_of(*argv, ret);
		if (ret)
			return ret;
	}

	return drop_repeated(nr);
}

static void list_channel(const struct channel *ch)
{
	char state[32], unread[24] = "?", dropped[24] = "?";
	unsigned long long sub_size, nr_sub;
	struct stats stats;

	/* A kernel that is locked down may refuse to have the files read */
	if (get_state(ch, state, sizeof(state)))
		snprintf(state, sizeof(state), "?");
	if (get_number(ch, "sub_size", &sub_size))
		sub_size = 0;
	if (get_number(ch, "nr_sub", &nr_sub))
		nr_sub = 0;
	if (!get_stats(ch, &stats)) {
		snprintf(unread, sizeof(unread), "%llu", stats.unread);
		snprintf(dropped, sizeof(dropped), "%llu", all_dropped(&stats));
	}
	printf("%-40s %-8s %10llu %6llu %12s %12s%s\n", ch->name, state, sub_size, nr_sub,
	       unread, dropped, ch->flight ? " flight" : "");
}

static int cmd_list(int argc, char **argv)
{
	unsigned int nr = 0;

	if (argc > 1)
		return bad_usage(argv[0]);
	if (find_all(&channels, &nr))
		return 1;

	printf("%-40s %-8s %10s %6s %12s %12s\n", "channel", "state", "sub_size", "nr_sub",
	       "unread", "dropped");
	for (unsigned int i = 0; i < nr; i++)
		list_channel(&channels[i]);

	return 0;
}

/*
 * The size of a channel cannot be changed while it is running, nor while it has unread records,
 * unless they are discarded. The kernel has one error for both: say which it was.
 */
static int complain_of_size(const struct channel *ch, int ret)
{
	char state[32];

	if (ret != -EBUSY || get_state(ch, state, sizeof(state)))
		return complain_of_channel(ch->name, ret);

	if (!strcmp(state, "running"))
		complain("%s: is running: stop it first, with gtsc stop %s", ch->name, ch->name);
	else
		complain("%s: has unread records: use -d to discard, or gtsc print %s to read them",
			 ch->name, ch->name);

	return ret;
}

/* @now: the state that @ch was in; @state: the one that it did not get */
static int complain_of_state(const struct channel *ch, const char *now, const char *state, int ret)
{
	if (ret != -EINVAL || strcmp(now, "setup") || strcmp(state, "stopped"))
		return complain_of_channel(ch->name, ret);
	complain("%s: was never started", ch->name);

	return ret;
}

/* Channels that are in that state already are skipped */
static int change_state(char **argv, const char *state)
{
	int nr = find(argv + 1), ret = 0;

	if (nr <= 0)
		return nr ? 1 : bad_usage(argv[0]);

	for (int i = 0; i < nr; i++) {
		char now[32] = "";
		int error = get_state(&channels[i], now, sizeof(now));

		if (!error && strcmp(now, state))
			error = set_state(&channels[i], state);
		ret |= complain_of_state(&channels[i], now, state, error);
	}

	return !!ret;
}

static int cmd_start(int argc, char **argv)
{
	return change_state(argv, "running");
}

static int cmd_stop(int argc, char **argv)
{
	return change_state(argv, "stopped");
}

static int cmd_rewind(int argc, char **argv)
{
	int nr = find(argv + 1), ret = 0;
	bool any = false;

	if (nr <= 0)
		return nr ? 1 : bad_usage(argv[0]);

	for (int i = 0; i < nr; i++) {
		if (!channels[i].flight)
			continue;
		any = true;
		ret |= complain_of_channel(channels[i].name,
					   put_number(&channels[i], "rewind", 1));
	}
	for (int i = 0; i < nr && !any; i++)
		complain("%s: is no flight recorder", channels[i].name);

	return ret || !any;
}

static void show_stats(const struct channel *ch, const struct stats *s)
{
	printf("%s: written %llu read %llu unread %llu overwritten %llu ", ch->name,
	       s->written, s->read, s->unread, s->overwritten);
	printf("dropped %llu (full %llu, too big %llu, nested %llu)\n",
	       all_dropped(s), s->full, s->too_big, s->nested);
}

static int cmd_stat(int argc, char **argv)
{
	int nr = find(argv + 1), ret = 0;
	struct stats s;

	if (nr <= 0)
		return nr ? 1 : bad_usage(argv[0]);

	for (int i = 0; i < nr; i++) {
		int error = get_stats(&channels[i], &s);

		ret |= complain_of_channel(channels[i].name, error);
		if (!error)
			show_stats(&channels[i], &s);
	}

	return !!ret;
}

static int cmd_size(int argc, char **argv)
{
	unsigned long long sub_size, nr_sub;
	bool discard = false;
	char **args;
	int opt, nr;

	while ((opt = getopt(argc, argv, "d")) != -1) {
		if (opt != 'd')
			return bad_usage(argv[0]);
		discard = true;
	}
	args = argv + optind;
	if (argc - optind != 3)
		return bad_usage(argv[0]);
	if (parse_number(args[1], &sub_size) || parse_number(args[2], &nr_sub))
		return 2;

	/* Only the first of them is a trace */
	args[1] = NULL;
	nr = find(args);
	if (nr < 0)
		return 1;
	if (nr > 1) {
		complain("%s: has several channels, name one of them", args[0]);
		return 1;
	}

	return !!complain_of_size(channels, put_size(channels, sub_size, nr_sub, discard));
}

static int cmd_record(int argc, char **argv)
{
	static const struct option long_options[] = { { "ctf2", no_argument, NULL, '2' }, { } };
	struct record_options options = { .output = "gtsc.ctf" };
	int opt, nr;

	while ((opt = getopt_long(argc, argv, "qo:d:", long_options, NULL)) != -1) {
		switch (opt) {
		case 'q':
			options.quiet = true;
			break;
		case 'o':
			if (parse_text("-o", optarg, OUTPUT_WANTED, &options.output))
				return 2;
			break;
		case 'd':
			if (parse_seconds(optarg, &options.seconds))
				return 2;
			break;
		case '2':
			options.ctf2 = true;
			break;
		default:
			return bad_usage(argv[0]);
		}
	}

	nr = find(argv + optind);
	if (nr <= 0)
		return nr ? 1 : bad_usage(argv[0]);

	return !!record(channels, nr, &options);
}

/* A recorded trace has metadata; the directory of a channel has none */
static bool is_recorded(const char *name)
{
	char path[MAX_PATH + 16];

	snprintf(path, sizeof(path), "%s/metadata", name);

	return !access(path, F_OK);
}

static int print_what(char **argv, bool follow)
{
	bool is_stdin = !strcmp(argv[0], "-");
	struct stat st;
	int nr;

	if (is_stdin || is_recorded(argv[0])) {
		if (argv[1]) {
			complain("a recorded trace is printed alone: name one DIR, or -");
			return 2;
		}
		if (follow) {
			complain("--follow is for a TRACE");
			return 2;
		}
		return !!(is_stdin ? read_stdin(&print_sink) :
				     read_directory(argv[0], &print_sink));
	}
	if (!stat(argv[0], &st) && S_ISREG(st.st_mode)) {
		complain("%s: a file, not the directory of a trace that gtsc has written", argv[0]);
		return 1;
	}

	nr = find(argv);
	if (nr <= 0)
		return 1;

	return !!(follow ? follow_channels(channels, nr, 0, NULL, &print_sink) :
			   read_channels(channels, nr, &print_sink));
}

static int cmd_print(int argc, char **argv)
{
	static const struct option long_options[] = { { "follow", no_argument, NULL, 'F' }, { } };
	bool follow = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "f:k:w", long_options, NULL)) != -1) {
		switch (opt) {
		case 'f':
			print_format = find_format(optarg);
			if (print_format)
				break;
			complain("-f %s: no such format", optarg);
			return 2;
		case 'k':
			if (load_kallsyms_file(optarg))
				return 1;
			break;
		case 'w':
			print_wall_clock = true;
			break;
		case 'F':
			follow = true;
			break;
		default:
			return bad_usage(argv[0]);
		}
	}
	if (optind == argc)
		return bad_usage(argv[0]);

	return print_what(argv + optind, follow);
}

/* @usage: lines to which show_lines() adds "usage: " or blanks in front */
static const struct command {
	const char	*name;
	int		(*run)(int argc, char **argv);
	const char	*usage;
} commands[] = {
	{ "list", cmd_list, "gtsc list\n" },
	{ "start", cmd_start, "gtsc start TRACE...\n" },
	{ "stop", cmd_stop, "gtsc stop TRACE...\n" },
	{ "rewind", cmd_rewind, "gtsc rewind TRACE...\n" },
	{ "stat", cmd_stat, "gtsc stat TRACE...\n" },
	{ "size", cmd_size, "gtsc size [-d] TRACE SUB_SIZE NR_SUB\n" },
	{ "record", cmd_record,
	  "gtsc record [-q] [-o DIR|-] [-d SECONDS] [--ctf2] TRACE...\n" },
	{ "print", cmd_print,
	  "gtsc print [-w] [-f FORMAT] [-k KALLSYMS] DIR|-\n"
	  "gtsc print [-w] [-f FORMAT] [-k KALLSYMS] [--follow] TRACE...\n" },
	{ "functions", cmd_functions,
	  "gtsc functions [-f PATTERN]... [-q] [-o DIR|-] [-d SECONDS] [--flight]\n"
	  "               [-b MIB] [-p PID | COMMAND...]\n" },
	{ "graph", cmd_graph,
	  "gtsc graph [-f PATTERN]... [-q] [-r] [-o DIR|-] [-d SECONDS] [--flight]\n"
	  "           [-b MIB] [-p PID | COMMAND...]\n" },
	{ "top", cmd_top,
	  "gtsc top [-f PATTERN]... [-d SECONDS] [--by function|caller|task|comm|cpu]\n"
	  "         [--sort total|self|calls|average|maximum|name] [--keep]\n"
	  "         [-b MIB] [-p PID | COMMAND...]\n" },
	{ "report", cmd_report,
	  "gtsc report [--by function|caller|path|task|comm|cpu] [-n LINES]\n"
	  "            [--sort total|self|calls|average|maximum|name] [-k KALLSYMS] DIR|-\n"
	  "gtsc report --folded [--by task|comm|function] [-k KALLSYMS] DIR|-\n"
	  "gtsc report --flame [--by task|comm|function] [--minimum PERCENT]\n"
	  "            [-k KALLSYMS] DIR|-\n"
	  "gtsc report --perfetto [-k KALLSYMS] DIR|-\n" },
};

/* NULL if there is none of this name */
static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	}

	return NULL;
}

static void show_lines(const char *lines, const char *before, FILE *out)
{
	size_t len;

	for (; *lines; lines += len) {
		len = strchr(lines, '\n') + 1 - lines;
		fprintf(out, "%s%.*s", before, (int)len, lines);
		before = "       ";
	}
}

static void explain_trace(FILE *out)
{
	fprintf(out, "\nA TRACE is ROOT/NAME or ROOT/NAME/CHANNEL in /sys/kernel/debug,\n");
	fprintf(out, "or an absolute path.\n");
}

static void explain_format(FILE *out)
{
	fprintf(out, "\nFormats:\n");
	list_formats(out);
}

static void show_usage(const struct command *command, FILE *out)
{
	show_lines(command->usage, "usage: ", out);
	if (strstr(command->usage, "TRACE"))
		explain_trace(out);
	if (strstr(command->usage, "FORMAT"))
		explain_format(out);
}

static void show_all_usage(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		show_lines(commands[i].usage, i ? "       " : "usage: ", out);
	explain_trace(out);
	explain_format(out);
}

/**
 * bad_usage - say how a command is used
 * @name: the command's
 *
 * Return: the exit status.
 */
int bad_usage(const char *name)
{
	show_usage(find_command(name), stderr);

	return 2;
}

static bool is_help(const char *s)
{
	return !strcmp(s, "-h") || !strcmp(s, "--help");
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		show_all_usage(stderr);
		return 2;
	}
	if (is_help(argv[1]) || !strcmp(argv[1], "help")) {
		show_all_usage(stdout);
		return check_output();
	}
	command = find_command(argv[1]);
	if (!command) {
		complain("%s: no such command; gtsc --help shows all of them", argv[1]);
		return 2;
	}
	if (argc > 2 && is_help(argv[2])) {
		show_usage(command, stdout);
		return check_output();
	}
	raise_file_limit();

	return command->run(argc - 1, argv + 1) ?: check_output();
}
