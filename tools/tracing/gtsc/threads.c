// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: threads that read buffer files and write what they read into a trace. A thread waits for
 * records in all of its files at once, and reads those files in turns. When it has to end, it
 * reads all records that were committed before.
 *
 * The caller adds files, also while the threads read. Each file is read by one thread only.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "threads.h"

#define POLL_MS		200
#define NR_EVENTS	64

struct thread {
	struct threads		*all;
	pthread_t		id;
	bool			started;
	int			epoll;
	struct reader		*readers;	/* the newest one first; see first_reader() */
	/* A buffer that no file uses now: see take_buffer(). NULL: none. */
	uint8_t			*buf;
	size_t			room;
};

struct threads {
	struct thread		*list;
	unsigned int		nr;
	atomic_uint		nr_files, nr_ended;
	atomic_bool		ending, failed;
	/* Held until threads_begin(): before that, nothing is read */
	pthread_mutex_t		gate;
	bool			begun;
};

/* threads_add() may put a newer one in front at any time: pairs with its release */
static struct reader *first_reader(const struct thread *t)
{
	return __atomic_load_n(&t->readers, __ATOMIC_ACQUIRE);
}

/* Most files have no part of a record left when they were read: they share one buffer */
static void take_buffer(struct thread *t, struct input *in)
{
	if (in->buf || !t->buf)
		return;
	in->buf = t->buf;
	in->room = t->room;
	t->buf = NULL;
}

static void give_buffer(struct thread *t, struct input *in)
{
	if (in->used < in->have)
		return;
	free(t->buf);
	t->buf = in->buf;
	t->room = in->room;
	in->buf = NULL;
	in->have = 0;
	in->used = 0;
}

/* Returns the bytes that were read, 0 if there was nothing, or a negative errno */
static ssize_t copy(struct thread *t, struct reader *r)
{
	ssize_t n, written;

	take_buffer(t, &r->in);
	n = input_read(&r->in);
	if (n > 0) {
		atomic_fetch_add_explicit(&r->bytes, n, memory_order_relaxed);
		written = ctf_write(&r->out, r->in.buf, r->in.have);
		if (written < 0)
			return written;
		r->in.used = written;
	}
	give_buffer(t, &r->in);

	return n;
}

/* @n: what the last copy() has returned */
static void end_reader(struct thread *t, struct reader *r, ssize_t n)
{
	/* A plain file, or a file of a defective kernel, can end with a part of a record */
	if (!n && r->in.have > r->in.used)
		n = -EBADMSG;
	r->error = n < 0 ? n : 0;
	r->ended = true;
	epoll_ctl(t->epoll, EPOLL_CTL_DEL, r->in.fd, NULL);
	if (r->error)
		atomic_store(&t->all->failed, true);
	atomic_fetch_add(&t->all->nr_ended, 1);
}

/* @gone: the channel has gone, and writes no more. Returns whether there were records. */
static bool read_once(struct thread *t, struct reader *r, bool gone)
{
	ssize_t n = copy(t, r);

	if (n < 0 || (!n && gone))
		end_reader(t, r, n);

	return n > 0;
}

/*
 * For what epoll does not tell: a watermark may hold records back, and a plain file cannot be
 * waited for. Returns whether any had records.
 */
static bool read_all(struct thread *t)
{
	bool any = false;

	for (struct reader *r = first_reader(t); r; r = r->next) {
		if (!r->ended)
			any |= read_once(t, r, false);
	}

	return any;
}

static void read_until_ending(struct thread *t)
{
	struct epoll_event events[NR_EVENTS];
	uint64_t read = 0, now;
	bool busy = false;
	int nr;

	while (!atomic_load(&t->all->ending)) {
		now = now_ns();
		if (now - read >= POLL_MS * MS) {
			busy = read_all(t);
			read = now;
		}
		nr = epoll_wait(t->epoll, events, NR_EVENTS, busy ? 0 : POLL_MS);
		/* After the first record, more will come: they go into one packet */
		if (nr > 0 && !busy)
			usleep(1000);
		busy = false;
		for (int i = 0; i < nr; i++) {
			bool gone = (events[i].events & (EPOLLHUP | EPOLLIN)) == EPOLLHUP;

			busy |= read_once(t, events[i].data.ptr, gone);
		}
	}
}

/* All records that were committed before @end are there now */
static void read_rest(struct thread *t, struct reader *r, uint64_t end)
{
	ssize_t n;

	/* A channel that gtsc has not started may run on and never be empty: @end bounds it */
	do {
		n = copy(t, r);
	} while (n > 0 && (r->ch->started || r->out.last_time <= end));
	end_reader(t, r, n);
}

static void *run(void *data)
{
	struct thread *t = data;
	uint64_t end;
	bool begun;

	pthread_mutex_lock(&t->all->gate);
	begun = t->all->begun;
	pthread_mutex_unlock(&t->all->gate);
	if (!begun)
		return NULL;

	read_until_ending(t);
	end = now_ns();
	for (struct reader *r = first_reader(t); r; r = r->next) {
		if (!r->ended)
			read_rest(t, r, end);
	}

	return NULL;
}

/**
 * threads_new - make threads that do not read yet
 *
 * They start as they get files. The thread that calls this has to call threads_begin() and
 * threads_end(), since it holds the mutex that is the gate.
 *
 * Return: the threads.
 */
struct threads *threads_new(void)
{
	struct threads *threads = must(calloc(1, sizeof(*threads)));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	threads->nr = cpus > 0 ? cpus : 1;
	threads->list = must(calloc(threads->nr, sizeof(*threads->list)));
	pthread_mutex_init(&threads->gate, NULL);
	pthread_mutex_lock(&threads->gate);

	return threads;
}

static int start(struct thread *t, struct threads *threads)
{
	int ret;

	t->all = threads;
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll < 0)
		return -errno;
	ret = -pthread_create(&t->id, NULL, run, t);
	if (ret)
		close(t->epoll);
	t->started = !ret;

	return ret;
}

/**
 * threads_add - hand a file over
 * @threads: the threads
 * @r: the buffer file, and the stream that gets its records; both are open
 *
 * The thread is chosen by the sum of the index of the channel and the number of the file. So the
 * files of one CPU, each of another channel, go to different threads, if there are not fewer
 * threads than channels. So do the files of global channels, which all have the number 0.
 *
 * Return: 0, or a negative errno after a message.
 */
int threads_add(struct threads *threads, struct reader *r)
{
	struct thread *t = &threads->list[(r->index + r->number) % threads->nr];
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = r };
	int ret = t->started ? 0 : start(t, threads);

	if (ret) {
		complain("%s/buffer%u: no thread can be started: %s", r->ch->name, r->number,
			 strerror(-ret));
		return ret;
	}
	/* epoll_wait(), if it returns @r, sees all that was stored in *r before this call */
	if (epoll_ctl(t->epoll, EPOLL_CTL_ADD, r->in.fd, &event) && errno != EPERM)
		return complain_of(r->ch->name, -errno);
	r->next = t->readers;
	__atomic_store_n(&t->readers, r, __ATOMIC_RELEASE);
	/*
	 * The other thread may have counted it in nr_ended already. threads_done() cannot see that:
	 * it is called by this thread only.
	 */
	atomic_fetch_add(&threads->nr_files, 1);

	return 0;
}

/* The threads read from now on */
void threads_begin(struct threads *threads)
{
	threads->begun = true;
	pthread_mutex_unlock(&threads->gate);
}

/*
 * Whether there was an error, or all channels have gone and were read to their ends. Only the
 * thread that calls threads_add() may call this.
 */
bool threads_done(struct threads *threads)
{
	return atomic_load(&threads->failed) ||
	       atomic_load(&threads->nr_ended) == atomic_load(&threads->nr_files);
}

/**
 * threads_end - end the threads, and free them
 * @threads: the threads
 *
 * All records that were committed before are read then, if threads_begin() was called. The
 * files stay open.
 */
void threads_end(struct threads *threads)
{
	if (!threads->begun)
		pthread_mutex_unlock(&threads->gate);
	atomic_store(&threads->ending, true);
	for (unsigned int i = 0; i < threads->nr; i++) {
		struct thread *t = &threads->list[i];

		if (!t->started)
			continue;
		pthread_join(t->id, NULL);
		close(t->epoll);
		free(t->buf);
	}
	pthread_mutex_destroy(&threads->gate);
	free(threads->list);
	free(threads);
}
