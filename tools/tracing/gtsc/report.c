// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: the command report, which tells where the time of functions went in a recorded trace.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

/* The clock is looked at once for so many records */
#define CLOCK_RECORDS	4096
/* The default of --minimum, in percent of the width: a tenth of a pixel */
#define MINIMUM		(100 * 0.1 / FLAME_WIDTH)

enum form {
	FORM_TABLE, FORM_FOLDED, FORM_FLAME, FORM_PERFETTO,
};

enum {
	OPT_BY = 256, OPT_SORT, OPT_MINIMUM, OPT_FOLDED, OPT_FLAME, OPT_PERFETTO,
};

struct report_options {
	enum form	form;
	int		by;		/* -1: not given */
	int		sort;		/* -1: not given */
	unsigned long	lines;		/* 0: all */
	double		minimum;	/* -1: not given */
	const char	*kallsyms;
	const char	*from;		/* a directory, or "-" */
};

/* Passes records on to @to, which has no @pause */
struct progress {
	struct sink	to;
	bool		is_shown;	/* if it takes long */
	uint64_t	start, shown, records;
};

static void show_progress(struct progress *progress)
{
	uint64_t now = now_ns();

	if (now - progress->shown < SECOND)
		return;
	progress->shown = now;
	fprintf(stderr, "\r%llu records in %llu s ", (unsigned long long)progress->records,
		(unsigned long long)((now - progress->start) / SECOND));
}

static void clear_progress(const struct progress *progress)
{
	if (progress->shown != progress->start)
		fprintf(stderr, "\r%50s\r", "");
}

static bool take_with_progress(const struct item *item, void *data)
{
	struct progress *progress = data;

	progress->records += !item->lost;
	if (progress->is_shown && progress->records % CLOCK_RECORDS == 0)
		show_progress(progress);

	return progress->to.take(item, progress->to.data);
}

/* Returns the exit status */
static int read_trace(const char *from, const struct sink *to)
{
	struct progress progress = { .to = *to, .is_shown = isatty(STDERR_FILENO) };
	struct sink sink = { .take = take_with_progress, .data = &progress };
	int ret;

	progress.start = now_ns();
	progress.shown = progress.start;
	ret = strcmp(from, "-") ? read_directory(from, &sink) : read_stdin(&sink);
	clear_progress(&progress);

	return !!ret;
}

/* If nothing could be read, there was a message */
static void say_counts(int status, uint64_t reported, uint64_t lost, uint64_t unusable)
{
	if (status && !reported && !lost && !unusable)
		return;
	complain("%llu calls are reported, %llu records were lost, %llu could not be used",
		 (unsigned long long)reported, (unsigned long long)lost,
		 (unsigned long long)unusable);
}

static bool take_call(const struct item *item, void *calls)
{
	calls_add(calls, item);

	return true;
}

static void show_calls(struct calls *calls, const struct report_options *options)
{
	struct table table = {
		.by = options->by, .sort = options->sort, .lines = options->lines,
	};
	struct flame flame = { .by = options->by, .minimum = options->minimum };
	unsigned int height;
	char title[256];

	switch (options->form) {
	case FORM_FOLDED:
		show_folded(calls, options->by, stdout);
		break;
	case FORM_FLAME:
		snprintf(title, sizeof(title), "Time of functions%s%s",
			 strcmp(options->from, "-") ? ": " : "",
			 strcmp(options->from, "-") ? options->from : "");
		flame.title = title;
		show_flame(calls, &flame, stdout);
		break;
	default:
		get_window(stdout, &table.width, &height);
		show_table(calls, &table, stdout);
	}
}

static int report_calls(const struct report_options *options)
{
	struct calls *calls = calls_new();
	struct sink sink = { .take = take_call, .data = calls };
	int status;

	status = read_trace(options->from, &sink);
	calls_end(calls);
	if (options->form != FORM_TABLE && calls->reported && !calls->has_durations) {
		complain("%s: the calls have no durations, which gtsc graph records",
			 options->from);
		status = 1;
	} else if (calls->reported || !status) {
		show_calls(calls, options);
	}
	fflush(stdout);
	say_counts(status, calls->reported, calls->lost, calls->unusable);
	calls_free(calls);

	return status;
}

static int report_events(const struct report_options *options)
{
	struct perfetto perfetto;
	struct sink sink = { .take = perfetto_take, .data = &perfetto };
	int status;

	perfetto_start(&perfetto, stdout);
	status = read_trace(options->from, &sink);
	perfetto_end(&perfetto);
	fflush(stdout);
	say_counts(status, perfetto.reported, perfetto.lost, perfetto.unusable);

	return status;
}

/* Options */

static int set_form(struct report_options *options, enum form form)
{
	if (options->form != FORM_TABLE && options->form != form) {
		complain("only one of --folded, --flame and --perfetto");
		return -EINVAL;
	}
	options->form = form;

	return 0;
}

/* Returns 0, or -EINVAL after a message */
static int parse_option(int opt, struct report_options *options)
{
	switch (opt) {
	case OPT_BY:
		options->by = find_by(optarg);
		return options->by >= 0 ? 0 :
		       bad_value("--by", optarg, "function, caller, path, task, comm or cpu");
	case OPT_SORT:
		options->sort = find_sort(optarg);
		return options->sort >= 0 ? 0 : bad_value("--sort", optarg, SORT_WANTED);
	case 'n':
		return parse_lines(optarg, &options->lines);
	case OPT_MINIMUM:
		return parse_percent(optarg, &options->minimum);
	case 'k':
		options->kallsyms = optarg;
		return 0;
	case OPT_FOLDED:
		return set_form(options, FORM_FOLDED);
	case OPT_FLAME:
		return set_form(options, FORM_FLAME);
	case OPT_PERFETTO:
		return set_form(options, FORM_PERFETTO);
	default:
		bad_usage("report");
		return -EINVAL;
	}
}

/* NULL, or what is wrong with the options together */
static const char *find_conflict(const struct report_options *options)
{
	int by = options->by;

	if (options->form != FORM_TABLE && (options->sort >= 0 || options->lines))
		return "--sort and -n are for tables";
	if (options->form != FORM_FLAME && options->minimum >= 0)
		return "--minimum is for --flame";
	if (options->form == FORM_PERFETTO && by >= 0)
		return "--by is not for --perfetto";
	/* Paths begin with a task, or with a function */
	if (options->form != FORM_TABLE && by >= 0 && by != BY_TASK && by != BY_COMM &&
	    by != BY_FUNCTION)
		return "--folded and --flame are --by task, comm or function";

	return NULL;
}

static void set_defaults(struct report_options *options)
{
	if (options->by < 0)
		options->by = options->form == FORM_TABLE ? BY_FUNCTION : BY_TASK;
	if (options->sort < 0)
		options->sort = SORT_TOTAL;
	if (options->minimum < 0)
		options->minimum = MINIMUM;
}

/* Returns 0, or -EINVAL after a message */
static int parse_options(int argc, char **argv, struct report_options *options)
{
	static const struct option long_options[] = {
		{ "by", required_argument, NULL, OPT_BY },
		{ "sort", required_argument, NULL, OPT_SORT },
		{ "minimum", required_argument, NULL, OPT_MINIMUM },
		{ "folded", no_argument, NULL, OPT_FOLDED },
		{ "flame", no_argument, NULL, OPT_FLAME },
		{ "perfetto", no_argument, NULL, OPT_PERFETTO },
		{ }
	};
	const char *conflict;
	int opt;

	while ((opt = getopt_long(argc, argv, "n:k:", long_options, NULL)) != -1) {
		if (parse_option(opt, options))
			return -EINVAL;
	}
	if (optind + 1 != argc) {
		bad_usage("report");
		return -EINVAL;
	}
	options->from = argv[optind];
	conflict = find_conflict(options);
	if (conflict) {
		complain("%s", conflict);
		return -EINVAL;
	}
	set_defaults(options);

	return 0;
}

/**
 * cmd_report - tell where the time of functions went
 * @argc: the number of arguments
 * @argv: the arguments, as main() gets them
 *
 * Return: the exit status; 2 for wrong usage, after a message.
 */
int cmd_report(int argc, char **argv)
{
	struct report_options options = { .by = -1, .sort = -1, .minimum = -1 };

	if (parse_options(argc, argv, &options))
		return 2;
	if (options.kallsyms && load_kallsyms_file(options.kallsyms))
		return 1;

	return options.form == FORM_PERFETTO ? report_events(&options) : report_calls(&options);
}
