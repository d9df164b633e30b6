// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: programs that it runs: modprobe, and the command that is traced. The command is a child
 * that waits until the module traces it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

/*
 * The exit status of a child that cannot run its program, as in a shell. It does not become the
 * status of gtsc: that is 1.
 */
#define CANNOT_RUN	127

static struct {
	pid_t	pid;		/* 0: there is none, or it was waited for */
	int	go;		/* a byte starts the command, an end of file ends the child */
	int	error;		/* a pipe: has an errno if the command cannot be run */
	bool	ended;
	int	status;
	const char *name;
} command = { .go = -1, .error = -1 };

/* A pidfd of the process that is traced, if it is no child; readable when it has ended */
static int traced = -1;

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}

	return status;
}

/**
 * run_modprobe - run modprobe, and wait for its end
 * @argv: its arguments
 * @said: gets the first line of what it says
 * @size: room in @said
 *
 * modprobe is in a process group of its own. So signals of the terminal do not reach it: they
 * could end it after it has loaded the module.
 *
 * Return: its status, as wait() has it; -1 if it could not be run.
 */
int run_modprobe(char **argv, char *said, size_t size)
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
	if (pid < 0)
		snprintf(said, size, "%s", strerror(errno));
	if (!pid) {
		setpgid(0, 0);
		dup2(pipes[1], STDERR_FILENO);
		execvp(argv[0], argv);
		dprintf(STDERR_FILENO, "%s: %s", argv[0], strerror(errno));
		_exit(CANNOT_RUN);
	}
	close(pipes[1]);
	if (pid < 0) {
		close(pipes[0]);
		return -1;
	}
	while (have < size - 1) {
		n = read(pipes[0], said + have, size - 1 - have);
		if (!n || (n < 0 && errno != EINTR))
			break;
		have += n > 0 ? n : 0;
	}
	/* If modprobe says more, its writes fail */
	said[have] = '\0';
	said[strcspn(said, "\n")] = '\0';
	close(pipes[0]);

	return wait_for(pid);
}

static ssize_t read_again(int fd, void *p, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, p, size);
	} while (n < 0 && errno == EINTR);

	return n;
}

/* In the child */
static void run_command(char **argv, int go, int error)
{
	char byte;
	int number;

	restore_process();
	if (read_again(go, &byte, 1) != 1)
		_exit(CANNOT_RUN);
	execvp(argv[0], argv);
	number = errno;
	/* If it cannot be written, the parent sees an end of file */
	(void)!write(error, &number, sizeof(number));
	_exit(CANNOT_RUN);
}

/*
 * Ends usleep() and poll() of whoever waits for the command: SA_RESTART does not restart these two,
 * but it does restart write()
 */
static void on_child(int sig)
{
}

/**
 * prepare_command - make a child that waits for start_command() and runs a command then
 * @argv: the command
 * @pid: set to the child's
 *
 * Return: 0, or a negative errno after a message.
 */
int prepare_command(char **argv, pid_t *pid)
{
	static const struct sigaction sa = {
		.sa_handler = on_child, .sa_flags = SA_RESTART,
	};
	int go[2], error[2];

	if (pipe2(go, O_CLOEXEC))
		return complain_of(argv[0], -errno);
	if (pipe2(error, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return complain_of(argv[0], -errno);
	}
	sigaction(SIGCHLD, &sa, NULL);
	command.pid = fork();
	if (!command.pid) {
		close(go[1]);
		run_command(argv, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	command.go = go[1];
	command.error = error[0];
	command.name = argv[0];
	if (command.pid < 0) {
		command.pid = 0;
		return complain_of(argv[0], -errno);
	}
	*pid = command.pid;

	return 0;
}

/*
 * Lets the child of prepare_command() run the command, if there is one. Returns 0, or a negative
 * errno after a message.
 */
int start_command(void)
{
	int error;
	ssize_t n;

	if (!command.pid)
		return 0;
	n = write(command.go, "", 1);
	close(command.go);
	command.go = -1;
	if (n != 1)
		return complain_of(command.name, -EPIPE);
	/* The other end closes when the command runs */
	n = read_again(command.error, &error, sizeof(error));
	close(command.error);
	command.error = -1;

	return n == sizeof(error) ? complain_of(command.name, -error) : 0;
}

/**
 * end_command - wait for the end of the command
 *
 * If the recording has ended before it, because of its time, a signal or an error, SIGTERM ends the
 * command. A child that has not begun it ends, too.
 *
 * Return: its exit status; 128 plus the number of the signal that has ended it; 0 if there is no
 * command, or the SIGTERM has ended it.
 */
int end_command(void)
{
	if (command.go >= 0)
		close(command.go);
	command.go = -1;
	if (!command.pid)
		return 0;
	if (!traced_task_ended()) {
		kill(command.pid, SIGTERM);
		command.status = wait_for(command.pid);
		/* That was meant */
		if (WIFSIGNALED(command.status) && WTERMSIG(command.status) == SIGTERM)
			command.status = 0;
	}
	command.pid = 0;

	return WIFSIGNALED(command.status) ? 128 + WTERMSIG(command.status) :
					     WEXITSTATUS(command.status);
}

/**
 * trace_process - have the recording end with a process that is no child
 * @pid: its PID
 *
 * Return: 0, or a negative errno after a message.
 */
int trace_process(pid_t pid)
{
	traced = syscall(SYS_pidfd_open, pid, 0);
	if (traced >= 0)
		return 0;
	if (errno == ESRCH || errno == EINVAL)
		complain("%d: no such process", pid);
	else
		complain("%d: %s", pid, strerror(errno));

	return -ESRCH;
}

/* Whether there was a task to be traced, and it has ended */
bool traced_task_ended(void)
{
	if (command.pid && !command.ended)
		command.ended = waitpid(command.pid, &command.status, WNOHANG) == command.pid;

	return command.ended || poll(&(struct pollfd){ traced, POLLIN, 0 }, 1, 0) > 0;
}
