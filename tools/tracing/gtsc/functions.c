// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc functions: loads the module gtsc_functions, which writes each call of a function
 * into the channel gtsc/functions, records or prints the channel, and removes the module.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtsc.h"

#define MODULE		"gtsc_functions"
#define CHANNEL		"gtsc/functions"
/* Sub-buffers for each CPU: enough for a burst of calls, until the reader has its turn */
#define NR_SUB		64
/* Of a string parameter of a module */
#define MAX_PARAMETER	1024

static struct channel *channel;

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}

	return status;
}

/*
 * Runs modprobe; @said gets what it says. Returns its status. Signals of the terminal do not
 * reach it: they would end it when it has loaded the module.
 */
static int run_modprobe(char **argv, char *said, size_t size)
{
	int pipes[2];
	size_t have = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC)) {
		snprintf(said, size, "%s", strerror(errno));
		return -1;
	}
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		dup2(pipes[1], STDERR_FILENO);
		execvp(argv[0], argv);
		dprintf(STDERR_FILENO, "%s: %s", argv[0], strerror(errno));
		_exit(127);
	}
	close(pipes[1]);
	while (have < size - 1) {
		n = read(pipes[0], said + have, size - 1 - have);
		if (!n || (n < 0 && errno != EINTR))
			break;
		have += n > 0 ? n : 0;
	}
	said[have] = '\0';
	said[strcspn(said, "\n")] = '\0';
	close(pipes[0]);

	return pid < 0 ? -1 : wait_for(pid);
}

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

static int complain_of_module(char **patterns, const char *said)
{
	bool told = false;

	for (; *patterns; patterns++) {
		if (has_function(*patterns))
			continue;
		complain("%s: no such function, or none that can be traced", *patterns);
		told = true;
	}
	if (told)
		return -ENOENT;

	if (strstr(said, "not found"))
		complain("this kernel has no module " MODULE " (CONFIG_GTSC_FUNCTIONS)");
	else
		complain("the module " MODULE " cannot be loaded: %s", said);

	return -ENODEV;
}

/* The patterns in one parameter, with commas between them; none: all functions */
static char *make_parameter(char **patterns)
{
	char *text = NULL, *longer;

	for (; *patterns; patterns++) {
		if (asprintf(&longer, "%s%s%s", text ?: "functions=", text ? "," : "",
			     *patterns) < 0)
			exit(1);
		free(text);
		text = longer;
	}

	return text;
}

static bool is_loaded(void)
{
	return !access("/sys/module/" MODULE, F_OK);
}

static bool loading;

/* At every exit. An open file of the channel would keep the module. */
static void remove_module(void)
{
	if (!loading)
		return;
	loading = false;
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	if (syscall(SYS_delete_module, MODULE, O_NONBLOCK))
		complain("the module " MODULE " cannot be removed: %s", strerror(errno));
}

static int load_module(char **patterns, bool flight)
{
	char nr_sub[32], flight_parameter[16], said[1024];
	char *argv[6] = { "modprobe", MODULE, nr_sub, flight_parameter };
	int status;

	if (is_loaded()) {
		complain("the module " MODULE " is loaded: rmmod it, or gtsc print --follow "
			 CHANNEL);
		return -EEXIST;
	}

	snprintf(nr_sub, sizeof(nr_sub), "nr_sub=%u", NR_SUB);
	snprintf(flight_parameter, sizeof(flight_parameter), "flight=%d", flight);
	argv[4] = make_parameter(patterns);
	if (argv[4] && strlen(strchr(argv[4], '=') + 1) > MAX_PARAMETER) {
		complain("-f: all patterns together are longer than %u bytes", MAX_PARAMETER);
		free(argv[4]);
		return -E2BIG;
	}
	status = run_modprobe(argv, said, sizeof(said));
	free(argv[4]);
	/* A signal can have ended modprobe when it had loaded the module */
	loading = !status || is_loaded();
	atexit(remove_module);
	if (interrupted) {
		complain("interrupted before the functions were traced");
		return -EINTR;
	}

	return status ? complain_of_module(patterns, said) : 0;
}

/* A flight recorder is read at the end: it has the newest calls then */
static void wait_for_end(double seconds)
{
	uint64_t start = now_ns();

	while (!interrupted && (!seconds || (now_ns() - start) / 1e9 < seconds))
		usleep(50000);
	set_state(channel, "stopped");
}

static int record_calls(const char *output, double seconds, bool quiet, bool flight)
{
	struct record_options options = {
		.output = output, .seconds = seconds, .quiet = quiet, .held = flight,
		.kallsyms = true,
	};

	return record(channel, 1, &options);
}

static int print_calls(double seconds, bool flight)
{
	struct print_options options = {
		.format = find_format("function"), .follow = !flight, .seconds = seconds,
		.out = stdout,
	};

	return print_channels(channel, 1, &options);
}

/**
 * trace_functions - trace functions until a signal
 * @patterns: as for set_ftrace_filter, NULL behind the last one; none: all functions
 * @output: where to record them; NULL: print them
 * @seconds: how long; 0: until a signal
 * @quiet: only the last line about a recording
 * @flight: record or print at the end what was called last
 *
 * Return: 0, or a negative errno after a message.
 */
int trace_functions(char **patterns, const char *output, double seconds, bool quiet,
		    bool flight)
{
	unsigned int nr = 0;
	int ret;

	must_end_in_order = true;
	catch_signals();
	ret = load_module(patterns, flight);
	if (!ret && find_channels(CHANNEL, &channel, &nr) != 1) {
		complain(CHANNEL ": the module has set up no such channel");
		ret = -ENOENT;
	}
	if (!ret && flight)
		wait_for_end(seconds);
	if (!ret)
		ret = output ? record_calls(output, seconds, quiet, flight) :
			       print_calls(seconds, flight);
	remove_module();

	return ret;
}
