// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: the command.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gtsc.h"

static struct channel *channels;

atomic_bool interrupted, must_end_in_order;

/* The second signal ends the program at once, the first one in order */
static void on_signal(int sig)
{
	interrupted = 1;
	if (!must_end_in_order)
		signal(sig, SIG_DFL);
}

/* A write that cannot be done fails; it does not end the program */
void catch_signals(void)
{
	static const struct sigaction sa = { .sa_handler = on_signal };
	struct sigaction hangup;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGQUIT, &sa, NULL);
	/* Not under nohup */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* Each channel has files for each CPU */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void show_usage(FILE *out)
{
	fprintf(out,
		"usage: gtsc list\n"
		"       gtsc start|stop|rewind|stat TRACE...\n"
		"       gtsc size [-d] TRACE SUB_SIZE NR_SUB\n"
		"       gtsc record [-q] [-o DIR|-] [-d SECONDS] [--ctf2] TRACE...\n"
		"       gtsc print [-w] [-f FORMAT] [-k KALLSYMS] DIR|-\n"
		"       gtsc print [-w] [-f FORMAT] [-k KALLSYMS] [--follow] TRACE...\n"
		"       gtsc functions [-f PATTERN]... [-q] [-o DIR] [-d SECONDS] [--flight]\n"
		"\n"
		"A TRACE is ROOT/NAME or ROOT/NAME/CHANNEL in /sys/kernel/debug.\n"
		"\n"
		"Formats:\n");
	list_formats(out);
}

static int bad_usage(void)
{
	show_usage(stderr);

	return 2;
}

/* The channels of all that the arguments name */
static int find(char **argv)
{
	unsigned int nr = 0;

	for (; *argv; argv++) {
		if (!find_channels(*argv, &channels, &nr)) {
			complain("%s: no such trace", *argv);
			return -ENOENT;
		}
	}

	return nr;
}

static int cmd_list(char **argv)
{
	unsigned long long sub_size, nr_sub;
	unsigned int nr = 0;
	struct stats stats;
	char state[32];

	if (*argv)
		return bad_usage();
	find_all(&channels, &nr);

	printf("%-40s %-8s %10s %6s %12s %12s\n", "channel", "state", "sub_size", "nr_sub",
	       "unread", "dropped");
	for (unsigned int i = 0; i < nr; i++) {
		/* A kernel that is locked down does not tell it */
		if (get_state(&channels[i], state, sizeof(state)))
			snprintf(state, sizeof(state), "?");
		if (get_number(&channels[i], "sub_size", &sub_size))
			sub_size = 0;
		if (get_number(&channels[i], "nr_sub", &nr_sub))
			nr_sub = 0;
		if (get_stats(&channels[i], &stats))
			continue;
		printf("%-40s %-8s %10llu %6llu %12llu %12llu%s\n",
		       channels[i].name, state, sub_size, nr_sub, stats.unread,
		       stats.full + stats.too_big + stats.nested,
		       channels[i].flight ? " flight" : "");
	}

	return 0;
}

/* A size can be changed while the channel is not running, and nothing is unread or matters */
static int complain_of_size(const struct channel *ch, int ret)
{
	char state[32];

	if (ret != -EBUSY || get_state(ch, state, sizeof(state)))
		return complain_of(ch->name, ret);

	if (!strcmp(state, "running"))
		complain("%s: is running: stop it first, with gtsc stop %s", ch->name, ch->name);
	else
		complain("%s: has unread records: use -d to discard, or gtsc print %s to read them",
			 ch->name, ch->name);

	return ret;
}

/* Channels that are in that state already are skipped */
static int change_state(char **argv, const char *state)
{
	int nr = find(argv), ret = 0;
	char now[32];

	if (nr <= 0)
		return nr ? 1 : bad_usage();

	for (int i = 0; i < nr; i++) {
		int error = get_state(&channels[i], now, sizeof(now));

		if (!error && strcmp(now, state))
			error = set_state(&channels[i], state);
		ret |= complain_of(channels[i].name, error);
	}

	return !!ret;
}

static int cmd_start(char **argv) { return change_state(argv, "running"); }
static int cmd_stop(char **argv) { return change_state(argv, "stopped"); }

static int cmd_rewind(char **argv)
{
	int nr = find(argv), ret = 0;

	if (nr <= 0)
		return nr ? 1 : bad_usage();

	for (int i = 0; i < nr; i++) {
		if (channels[i].flight)
			ret |= complain_of(channels[i].name, put_number(&channels[i], "rewind", 1));
		else if (nr == 1)
			ret |= complain_of(channels[i].name, -EINVAL);
	}

	return !!ret;
}

static void show_stats(const struct channel *ch, const struct stats *s)
{
	printf("%s: written %llu read %llu unread %llu overwritten %llu ", ch->name,
	       s->written, s->read, s->unread, s->overwritten);
	printf("dropped %llu (full %llu, too big %llu, nested %llu)\n",
	       s->full + s->too_big + s->nested, s->full, s->too_big, s->nested);
}

static int cmd_stat(char **argv)
{
	int nr = find(argv), ret = 0;
	struct stats s;

	if (nr <= 0)
		return nr ? 1 : bad_usage();

	for (int i = 0; i < nr; i++) {
		int error = get_stats(&channels[i], &s);

		ret |= complain_of(channels[i].name, error);
		if (!error)
			show_stats(&channels[i], &s);
	}

	return !!ret;
}

static int parse_number(const char *s, unsigned long long *number)
{
	char *end;

	errno = 0;
	*number = strtoull(s, &end, 0);

	return errno || end == s || *end || *s == '-' ? -EINVAL : 0;
}

static int cmd_size(int argc, char **argv)
{
	unsigned long long sub_size, nr_sub;
	bool discard = false;
	int opt, nr;

	while ((opt = getopt(argc, argv, "d")) != -1) {
		if (opt != 'd')
			return bad_usage();
		discard = true;
	}
	argv += optind;
	if (argc - optind != 3 || parse_number(argv[1], &sub_size) ||
	    parse_number(argv[2], &nr_sub))
		return bad_usage();

	/* Only the first of them is a trace */
	argv[1] = NULL;
	nr = find(argv);
	if (nr < 0)
		return 1;
	if (nr > 1) {
		complain("%s: has several channels, name one of them", argv[0]);
		return 1;
	}

	return !!complain_of_size(channels, put_size(channels, sub_size, nr_sub, discard));
}

static int parse_seconds(const char *s, double *seconds)
{
	char *end;

	*seconds = strtod(s, &end);

	return *end || end == s || *seconds <= 0 ? -EINVAL : 0;
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
			options.output = optarg;
			break;
		case 'd':
			if (parse_seconds(optarg, &options.seconds))
				return bad_usage();
			break;
		case '2':
			options.ctf2 = true;
			break;
		default:
			return bad_usage();
		}
	}

	nr = find(argv + optind);
	if (nr <= 0)
		return nr ? 1 : bad_usage();

	return !!record(channels, nr, &options);
}

/* A recorded trace has metadata; the directory of a channel has none */
static bool is_recorded(const char *name)
{
	char path[MAX_PATH + 16];

	snprintf(path, sizeof(path), "%s/metadata", name);

	return !access(path, F_OK);
}

/* A pipe that nobody reads any more has got what it wanted */
static int check_output(FILE *out)
{
	struct stat st;

	if (!fflush(out) && !ferror(out))
		return 0;
	if (!fstat(fileno(out), &st) && S_ISFIFO(st.st_mode))
		return 0;
	complain("standard output: not all could be written");

	return 1;
}

static int print_what(char **argv, const struct print_options *options)
{
	bool is_stdin = !strcmp(argv[0], "-");
	struct stat st;
	int nr;

	if (is_stdin || is_recorded(argv[0])) {
		if (argv[1] || options->follow) {
			complain("%s", argv[1] ? "one at a time" : "--follow is for a TRACE");
			return 2;
		}
		return !!(is_stdin ? print_stdin(options) : print_directory(argv[0], options));
	}
	if (!stat(argv[0], &st) && S_ISREG(st.st_mode)) {
		complain("%s: a file, not the directory of a trace that gtsc has written", argv[0]);
		return 1;
	}

	nr = find(argv);
	if (nr <= 0)
		return 1;

	return !!print_channels(channels, nr, options);
}

static int cmd_print(int argc, char **argv)
{
	static const struct option long_options[] = { { "follow", no_argument, NULL, 'F' }, { } };
	struct print_options options = { .out = stdout };
	int opt;

	while ((opt = getopt_long(argc, argv, "f:k:w", long_options, NULL)) != -1) {
		switch (opt) {
		case 'f':
			options.format = find_format(optarg);
			if (options.format)
				break;
			complain("%s: no such format", optarg);
			return bad_usage();
		case 'k':
			kallsyms_file = fopen(optarg, "re");
			if (kallsyms_file)
				break;
			return !!complain_of(optarg, -errno);
		case 'w':
			options.wall_clock = true;
			break;
		case 'F':
			options.follow = true;
			break;
		default:
			return bad_usage();
		}
	}
	if (optind == argc)
		return bad_usage();

	return print_what(argv + optind, &options) ?: check_output(stdout);
}

static int cmd_functions(int argc, char **argv)
{
	static const struct option long_options[] = { { "flight", no_argument, NULL, 'F' }, { } };
	char **patterns = calloc(argc, sizeof(*patterns));
	bool quiet = false, flight = false;
	const char *output = NULL;
	double seconds = 0;
	int opt, nr = 0;

	while (patterns && (opt = getopt_long(argc, argv, "f:qo:d:", long_options, NULL)) != -1) {
		switch (opt) {
		case 'f':
			patterns[nr++] = optarg;
			break;
		case 'q':
			quiet = true;
			break;
		case 'o':
			output = optarg;
			break;
		case 'd':
			if (parse_seconds(optarg, &seconds))
				return bad_usage();
			break;
		case 'F':
			flight = true;
			break;
		default:
			return bad_usage();
		}
	}
	if (!patterns || optind != argc)
		return bad_usage();

	return trace_functions(patterns, output, seconds, quiet, flight) ? 1 : check_output(stdout);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **argv);
	} commands[] = {
		{ "list", cmd_list }, { "start", cmd_start }, { "stop", cmd_stop },
		{ "rewind", cmd_rewind }, { "stat", cmd_stat },
	};
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} with_options[] = {
		{ "size", cmd_size }, { "record", cmd_record }, { "print", cmd_print },
		{ "functions", cmd_functions },
	};

	if (argc < 2)
		return bad_usage();
	raise_file_limit();
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		show_usage(stdout);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(with_options); i++) {
		if (!strcmp(argv[1], with_options[i].name))
			return with_options[i].run(argc - 1, argv + 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argv + 2);
	}

	return bad_usage();
}
