// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: the command.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gtsc.h"

static struct channel channels[MAX_CHANNELS];

static void show_usage(FILE *out)
{
	fprintf(out,
		"usage: gtsc list\n"
		"       gtsc start|stop|rewind|stat TRACE...\n"
		"       gtsc size TRACE SUB_SIZE NR_SUB\n"
		"       gtsc record [-q] [-o FILE] [-d SECONDS] TRACE...\n"
		"       gtsc print [-f FORMAT] [-k KALLSYMS] FILE|TRACE...\n"
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
	unsigned int nr = 0, found;

	for (; *argv; argv++) {
		found = find_channels(*argv, channels + nr, MAX_CHANNELS - nr);
		if (!found) {
			complain("%s: no such trace", *argv);
			return -ENOENT;
		}
		nr += found;
	}

	return nr;
}

static int cmd_list(char **argv)
{
	int nr = find_all(channels, MAX_CHANNELS);
	unsigned long long sub_size, nr_sub;
	struct stats stats;
	char state[32];

	if (*argv)
		return bad_usage();

	printf("%-40s %-8s %10s %6s %12s %12s\n", "channel", "state", "sub_size", "nr_sub",
	       "unread", "dropped");
	for (int i = 0; i < nr; i++) {
		if (get_state(&channels[i], state, sizeof(state)) ||
		    get_number(&channels[i], "sub_size", &sub_size) ||
		    get_number(&channels[i], "nr_sub", &nr_sub) ||
		    get_stats(&channels[i], &stats))
			continue;
		printf("%-40s %-8s %10llu %6llu %12llu %12llu%s\n",
		       channels[i].name, state, sub_size, nr_sub, stats.unread,
		       stats.full + stats.too_big + stats.nested,
		       channels[i].flight ? " flight" : "");
	}

	return 0;
}

static int complain_of(const struct channel *ch, int ret)
{
	if (ret)
		complain("%s: %s", ch->name, strerror(-ret));

	return ret;
}

/* A size can be changed while the channel is not running, and nothing is unread */
static int complain_of_size(const struct channel *ch, int ret)
{
	char state[32];

	if (ret != -EBUSY || get_state(ch, state, sizeof(state)))
		return complain_of(ch, ret);

	if (!strcmp(state, "running"))
		complain("%s: is running: stop it first, with gtsc stop %s", ch->name, ch->name);
	else
		complain("%s: has unread records: read them first, for example with gtsc print %s",
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
		ret |= complain_of(&channels[i], error);
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
			ret |= complain_of(&channels[i], put_number(&channels[i], "rewind", 1));
		else if (nr == 1)
			ret |= complain_of(&channels[i], -EINVAL);
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

		ret |= complain_of(&channels[i], error);
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

static int cmd_size(char **argv)
{
	unsigned long long sub_size, nr_sub, old;
	struct channel *ch = channels;
	int nr, ret;

	if (!argv[0] || !argv[1] || !argv[2] || argv[3] ||
	    parse_number(argv[1], &sub_size) || parse_number(argv[2], &nr_sub))
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

	ret = get_number(ch, "sub_size", &old) ?: put_number(ch, "sub_size", sub_size);
	if (ret)
		return !!complain_of_size(ch, ret);
	ret = put_number(ch, "nr_sub", nr_sub);
	if (ret)
		put_number(ch, "sub_size", old);

	return !!complain_of_size(ch, ret);
}

static int cmd_record(int argc, char **argv)
{
	struct record_options options = { .output = "gtsc.data" };
	int opt, nr;
	char *end;

	while ((opt = getopt(argc, argv, "qo:d:")) != -1) {
		switch (opt) {
		case 'q':
			options.quiet = true;
			break;
		case 'o':
			options.output = optarg;
			break;
		case 'd':
			options.seconds = strtod(optarg, &end);
			if (*end || end == optarg || options.seconds <= 0)
				return bad_usage();
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

static int cmd_print(int argc, char **argv)
{
	const char *format = "hex";
	struct stat st;
	int opt, nr;

	while ((opt = getopt(argc, argv, "f:k:")) != -1) {
		switch (opt) {
		case 'f':
			format = optarg;
			break;
		case 'k':
			kallsyms_file = optarg;
			break;
		default:
			return bad_usage();
		}
	}
	if (!find_format(format)) {
		complain("%s: no such format", format);
		return bad_usage();
	}
	if (optind == argc)
		return bad_usage();

	if (!stat(argv[optind], &st) && S_ISREG(st.st_mode)) {
		if (argv[optind + 1]) {
			complain("one file at a time");
			return 2;
		}
		return !!print_file(argv[optind], format, stdout);
	}

	nr = find(argv + optind);
	if (nr <= 0)
		return 1;

	return !!print_channels(channels, nr, format, stdout);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **argv);
	} commands[] = {
		{ "list", cmd_list }, { "start", cmd_start }, { "stop", cmd_stop },
		{ "rewind", cmd_rewind }, { "stat", cmd_stat }, { "size", cmd_size },
	};

	if (argc < 2)
		return bad_usage();
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		show_usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "record"))
		return cmd_record(argc - 1, argv + 1);
	if (!strcmp(argv[1], "print"))
		return cmd_print(argc - 1, argv + 1);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argv + 2);
	}

	return bad_usage();
}
