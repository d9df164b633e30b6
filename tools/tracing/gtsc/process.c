// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: signals, limits and the standard output of the process.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "gtsc.h"

atomic_bool interrupted, must_end_in_order;

/*
 * The first signal ends the program in order, the second one of the same number at once, unless
 * must_end_in_order. Without SA_RESTART, a signal makes a write that waits for room in a pipe fail
 * in the thread that it interrupts. write_all() of ctf.c tries again.
 */
static void on_signal(int sig)
{
	interrupted = 1;
	if (!must_end_in_order)
		signal(sig, SIG_DFL);
}

/* Let SIGINT, SIGTERM, SIGQUIT and SIGHUP end the program in order */
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
	/* A write that cannot be done fails; it does not end the program */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static struct rlimit old_file_limit;

/* Each channel has files for each CPU */
void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &old_file_limit))
		return;
	limit.rlim_cur = old_file_limit.rlim_max;
	limit.rlim_max = old_file_limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/*
 * In a child, before exec(): signals that gtsc ignores, and the limit that it has raised, would be
 * handed on. SIGHUP stays: gtsc ignores it only if it has been ignored before.
 */
void restore_process(void)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (old_file_limit.rlim_max)
		setrlimit(RLIMIT_NOFILE, &old_file_limit);
}

/**
 * check_output - flush the standard output, and say if not all could be written
 *
 * A pipe that nobody reads any more is no error: its reader has got what it wanted.
 *
 * Return: the exit status.
 */
int check_output(void)
{
	struct stat st;

	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	if (!fstat(fileno(stdout), &st) && S_ISFIFO(st.st_mode))
		return 0;
	complain("standard output: not all could be written");

	return 1;
}
