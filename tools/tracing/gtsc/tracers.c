// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc functions, gtsc graph and gtsc top: load a module that writes calls of functions into a
 * channel, record or show the channel, and remove the module.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "command.h"
#include "report.h"

/* Of the buffer of each CPU: enough for a burst of calls, until the reader has its turn */
#define DEFAULT_MIB	4
/* The providers have sub-buffers of 64 KiB */
#define SUBS_IN_MIB	16
/* Of a string parameter of a module */
#define MAX_PARAMETER	1024

enum {
	OPT_FLIGHT = 256, OPT_BY, OPT_SORT, OPT_KEEP,
};

struct provider {
	const char	*module;
	const char	*channel;
	const char	*option;	/* of the kernel's configuration */
	const char	*format;	/* to print its records */
};

static const struct provider functions = {
	"gtsc_functions", "gtsc/functions", "CONFIG_GTSC_FUNCTIONS", "function",
};

/* For gtsc graph and gtsc top */
static const struct provider graph = {
	"gtsc_graph", "gtsc/graph", "CONFIG_GTSC_GRAPH", "graph",
};

struct options {
	const struct provider	*provider;
	const char		**patterns;	/* NULL behind the last one */
	const char		*output;	/* NULL: show the calls */
	double			seconds;	/* 0: until a signal, or the task ends */
	unsigned long		mib;		/* of the buffer of each CPU */
	bool			quiet, flight, retval;
	pid_t			pid;		/* 0: all tasks */
	char			**command;	/* NULL: none */
	struct top		*top;		/* NULL: not gtsc top */
};

static struct channel *channel;

/* Whether a function that can be traced matches; also if that cannot be known */
static bool has_function(const char *pattern)
{
	FILE *f = fopen("/sys/kernel/tracing/available_filter_functions", "re");
	char line[512];
	bool found = false;

	if (!f || strpbrk(pattern, ":!")) {
		if (f)
			fclose(f);
		return true;
	}
	while (!found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, " \t\n")] = '\0';
		found = !fnmatch(pattern, line, 0);
	}
	fclose(f);

	return found;
}

static int complain_of_module(const struct options *o, const char *said)
{
	bool told = false;

	for (const char **p = o->patterns; *p; p++) {
		if (has_function(*p))
			continue;
		complain("%s: no such function, or none that can be traced", *p);
		told = true;
	}
	if (told)
		return -ENOENT;

	if (strstr(said, "not found"))
		complain("this kernel has no module %s (%s)", o->provider->module,
			 o->provider->option);
	else
		complain("the module %s cannot be loaded: %s", o->provider->module, said);

	return -ENODEV;
}

/* The patterns in one parameter, with commas between them; none: all functions */
static char *make_parameter(const char **patterns)
{
	char *text = NULL, *longer;

	for (; *patterns; patterns++) {
		longer = must_printf("%s%s%s", text ?: "functions=", text ? "," : "", *patterns);
		free(text);
		text = longer;
	}

	return text;
}

static bool is_loaded(const struct provider *provider)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/%s", provider->module);

	return !access(path, F_OK);
}

/*
 * The PID of the gtsc that has loaded the module, by the parameter "except"; 0 if it was loaded
 * without this parameter; -1 if the module is not loaded, or if the parameter cannot be read
 */
static pid_t loaded_by(const struct provider *provider)
{
	char path[80];
	pid_t pid;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/except", provider->module);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%d", &pid) != 1)
		pid = -1;
	fclose(f);

	return pid;
}

static int complain_of_loaded(const struct provider *provider)
{
	complain("the module %s is loaded: rmmod it, or gtsc print --follow %s",
		 provider->module, provider->channel);

	return -EEXIST;
}

/* The provider whose module has to be removed */
static const struct provider *to_remove;

/* At every exit, also by must() in any thread */
static void remove_module(void)
{
	const char *module;

	if (!to_remove)
		return;
	module = to_remove->module;
	to_remove = NULL;
	/* If the module cannot be removed, it traces nothing at least */
	if (channel)
		set_state(channel, "stopped");
	if (syscall(SYS_delete_module, module, O_NONBLOCK))
		complain("the module %s cannot be removed: %s", module, strerror(errno));
}

static int load_module(const struct options *o)
{
	char *argv[10] = { "modprobe", (char *)o->provider->module }, said[1024];
	int nr = 2, status;
	char *patterns;
	pid_t pid;

	if (is_loaded(o->provider))
		return complain_of_loaded(o->provider);
	patterns = make_parameter(o->patterns);
	if (patterns && strlen(strchr(patterns, '=') + 1) > MAX_PARAMETER) {
		complain("-f: all patterns together are longer than %u bytes", MAX_PARAMETER);
		free(patterns);
		return -E2BIG;
	}

	argv[nr++] = must_printf("nr_sub=%lu", o->mib * SUBS_IN_MIB);
	argv[nr++] = must_printf("flight=%d", o->flight);
	argv[nr++] = must_printf("pid=%d", o->pid);
	argv[nr++] = must_printf("except=%d", getpid());
	if (o->retval)
		argv[nr++] = must_printf("retval=1");
	if (patterns)
		argv[nr++] = patterns;
	status = run_modprobe(argv, said, sizeof(said));
	while (nr > 2)
		free(argv[--nr]);
	/*
	 * A signal that is not of the terminal can have ended modprobe after it had loaded the
	 * module. And if another gtsc was faster, modprobe succeeds, but the module is not ours to
	 * be removed.
	 */
	pid = loaded_by(o->provider);
	if (pid == getpid() || (!status && pid < 0))
		to_remove = o->provider;
	atexit(remove_module);
	if (interrupted) {
		complain("interrupted before the functions were traced");
		return -EINTR;
	}

	if (status)
		return complain_of_module(o, said);

	return to_remove ? 0 : complain_of_loaded(o->provider);
}

/* A flight recorder is read at the end: it has the newest calls then */
static void wait_for_end(double seconds)
{
	uint64_t start = now_ns();

	while (!interrupted && !traced_task_ended() &&
	       (!seconds || (now_ns() - start) / 1e9 < seconds))
		usleep(50000);
	set_state(channel, "stopped");
}

static int record_calls(const struct options *o)
{
	struct record_options options = {
		.output = o->output, .seconds = o->seconds, .quiet = o->quiet,
		.held = o->flight, .ended = traced_task_ended,
	};

	return record(channel, 1, &options);
}

static int print_calls(const struct options *o)
{
	print_format = find_format(o->provider->format);

	return o->flight ? read_channels(channel, 1, &print_sink) :
			   follow_channels(channel, 1, o->seconds, traced_task_ended, &print_sink);
}

static int show_top(const struct options *o)
{
	struct sink sink = { .take = top_take, .pause = top_pause, .data = o->top };
	int ret;

	top_start(o->top);
	ret = follow_channels(channel, 1, o->seconds, traced_task_ended, &sink);
	top_end(o->top);

	return ret;
}

static int show_calls(const struct options *o)
{
	if (o->top)
		return show_top(o);

	return o->output ? record_calls(o) : print_calls(o);
}

/* Returns 0, or a negative errno after a message */
static int trace_calls(struct options *o)
{
	unsigned int nr = 0;
	int ret = 0;

	must_end_in_order = true;
	catch_signals();
	if (o->command)
		ret = prepare_command(o->command, &o->pid);
	else if (o->pid)
		ret = trace_process(o->pid);
	if (!ret)
		ret = load_module(o);
	if (!ret && (find_channels(o->provider->channel, &channel, &nr) || nr != 1)) {
		complain("%s: the module has set up no such channel", o->provider->channel);
		ret = -ENOENT;
	}
	if (!ret)
		ret = start_command();
	if (!ret && o->flight)
		wait_for_end(o->seconds);
	if (!ret)
		ret = show_calls(o);
	remove_module();
	/* Nothing is left that a signal could leave behind */
	must_end_in_order = false;

	return ret;
}

/* Options that not all of the commands have. Returns 0, or -EINVAL after a message. */
static int parse_own_option(int opt, const char *name, struct options *o)
{
	int by, sort;

	switch (opt) {
	case 'r':
		o->retval = true;
		return 0;
	case 'o':
		return parse_text("-o", optarg, OUTPUT_WANTED, &o->output);
	case 'q':
		o->quiet = true;
		return 0;
	case OPT_FLIGHT:
		o->flight = true;
		return 0;
	case OPT_BY:
		by = find_by(optarg);
		if (by < 0 || by == BY_PATH)
			return bad_value("--by", optarg, "function, caller, task, comm or cpu");
		o->top->table.by = by;
		return 0;
	case OPT_SORT:
		sort = find_sort(optarg);
		if (sort < 0)
			return bad_value("--sort", optarg, SORT_WANTED);
		o->top->table.sort = sort;
		return 0;
	case OPT_KEEP:
		o->top->keep = true;
		return 0;
	default:
		bad_usage(name);
		return -EINVAL;
	}
}

/* Returns 0, or -EINVAL after a message */
static int parse_options(int argc, char **argv, struct options *o, const char *short_options,
			 const struct option *long_options)
{
	int opt, nr = 0, ret = 0;

	o->mib = DEFAULT_MIB;
	o->patterns = must(calloc(argc, sizeof(*o->patterns)));
	while (!ret && (opt = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		switch (opt) {
		case 'f':
			ret = parse_text("-f", optarg, "a pattern of functions",
					 &o->patterns[nr++]);
			break;
		case 'd':
			ret = parse_seconds(optarg, &o->seconds);
			break;
		case 'p':
			ret = parse_pid(optarg, &o->pid);
			break;
		case 'b':
			ret = parse_mib(optarg, &o->mib);
			break;
		default:
			ret = parse_own_option(opt, argv[0], o);
			break;
		}
	}
	if (optind < argc)
		o->command = argv + optind;

	if (!ret && o->command && o->pid) {
		complain("-p %d: a COMMAND cannot be traced as well", o->pid);
		return -EINVAL;
	}

	return ret;
}

static int run(struct options *o)
{
	int ret = trace_calls(o), status = end_command();

	return ret ? 1 : check_output() ?: status;
}

static const struct option flight_option[] = {
	{ "flight", no_argument, NULL, OPT_FLIGHT }, { },
};

int cmd_functions(int argc, char **argv)
{
	struct options options = { .provider = &functions };

	if (parse_options(argc, argv, &options, "+f:d:p:b:qo:", flight_option))
		return 2;

	return run(&options);
}

int cmd_graph(int argc, char **argv)
{
	struct options options = { .provider = &graph };

	if (parse_options(argc, argv, &options, "+f:d:p:b:qo:r", flight_option))
		return 2;

	return run(&options);
}

int cmd_top(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "by", required_argument, NULL, OPT_BY },
		{ "sort", required_argument, NULL, OPT_SORT },
		{ "keep", no_argument, NULL, OPT_KEEP },
		{ },
	};
	struct top top = {
		.out = stdout, .table = { .by = BY_FUNCTION, .sort = SORT_SELF },
	};
	struct options options = { .provider = &graph, .top = &top };

	if (parse_options(argc, argv, &options, "+f:d:p:b:", long_options))
		return 2;

	return run(&options);
}
