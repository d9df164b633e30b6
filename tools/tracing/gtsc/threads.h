/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gtsc: threads that copy the records of buffer files into a trace. The files are shared out
 * among at most as many threads as there are CPUs.
 */
#ifndef GTSC_THREADS_H
#define GTSC_THREADS_H

#include "ctf.h"

/* Of one buffer file. Between threads_add() and threads_end() it belongs to its thread. */
struct reader {
	struct reader		*next;		/* of the same thread */
	struct reader		*next_of_channel;
	struct channel		*ch;
	unsigned int		index;		/* of the channel */
	unsigned int		number;		/* of the buffer file */
	struct input		in;
	struct ctf_stream	out;
	atomic_ullong		bytes;		/* that were read; record.c may read it */
	bool			ended;
	int			error;
};

struct threads *threads_new(void);
int threads_add(struct threads *threads, struct reader *r);
void threads_begin(struct threads *threads);
bool threads_done(struct threads *threads);
void threads_end(struct threads *threads);

#endif /* GTSC_THREADS_H */
