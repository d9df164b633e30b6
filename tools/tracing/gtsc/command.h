/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gtsc: programs that it runs, and the task that is traced: the command that gtsc runs, or a
 * process that runs already.
 */
#ifndef GTSC_COMMAND_H
#define GTSC_COMMAND_H

#include <sys/types.h>

#include "gtsc.h"

int run_modprobe(char **argv, char *said, size_t size);

int prepare_command(char **argv, pid_t *pid);
int start_command(void);
int end_command(void);
int trace_process(pid_t pid);
bool traced_task_ended(void);

#endif /* GTSC_COMMAND_H */
