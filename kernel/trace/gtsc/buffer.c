// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: the buffer of one CPU.
 *
 * Sub-buffers lie in a ring of slots. Writers of the CPU, which interrupt each other,
 * reserve space and write their records in place. One reader, on any CPU, takes the
 * oldest sub-buffer out of its slot and leaves its spare one there, so that what it reads
 * is its own. It may take the one that is being written to, too: then writers go on in
 * it until it is full, and the reader follows them.
 *
 * What is shared, and who publishes what to whom:
 *
 * @pos, between writers of the CPU. A writer reserves the space from the old to the new
 * position with a compare-and-exchange, and nobody else writes there. Interrupting
 * writers nest, so that a plain local operation is enough. @pos cannot come back to the value
 * that an interrupted writer has read (ABA): until that writer commits, others can fill less
 * than two laps, and @pos has the number of the lap. It can be more than one lap if the reader
 * takes the sub-buffer that @commit is in: then its slot can be used once more.
 *
 * @commit, from writers to the reader: the records before it are there. Only the
 * outermost writer moves it, when @nest is 1: no writer that it has interrupted has an
 * incomplete record, and all that have interrupted it have returned. The store is a
 * release, the reader's load an acquire; between them are the bytes of the records, and
 * for sub-buffers that are finished, @used, @nr and @dropped of their memory. A
 * writer that comes after the outermost one has read @pos and before @nest is 0 leaves its
 * record to the outermost one, which finds that @pos has moved.
 *
 * @slots, between writers and the reader. A sub-buffer changes hands with a fully ordered
 * compare-and-exchange of the slot: the reader puts its spare memory there and marks the
 * slot as taken; a writer that moves on to the next sub-buffer increments the laps in
 * its slot. If the writer finds an older sub-buffer there that the reader has not taken, a
 * normal channel is full; a flight recorder overwrites that sub-buffer, and the reader's
 * exchange fails. The reader has read its
 * spare memory before it gives it away, and a writer writes to it after it has got it.
 * Laps are counted in 47 bits: a reader that is interrupted while a flight recorder goes
 * around does not find the same word again, although the position may be the same again.
 *
 * Each step of a writer that moves on can be done by one that has interrupted it: the
 * slot has the new lap already, or @pos has moved, and its own exchange fails.
 *
 * A flight recorder never overwrites the sub-buffer that @commit is in, or a later one:
 * an interrupted writer may have a record there. A position never is at the end of a
 * sub-buffer, so that it is in the one that has the last record before it.
 *
 * The position in the ring, the slots and their exchange are those of LTTng's ring
 * buffer; @nest and @commit are those of perf's.
 */

#include <linux/align.h>
#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>

#include "buffer.h"

#define SEQ_MASK	(~0ULL >> GTSC_SEQ_SHIFT)
#define LAP_MASK	(~0ULL >> GTSC_LAP_SHIFT)

/* [ laps | memory | taken ] */
#define TAKEN		BIT_ULL(0)
#define SLOT_MEM_SHIFT	1
#define SLOT_MEM_MASK	(GTSC_MEM_MASK << SLOT_MEM_SHIFT)
#define SLOT_LAP_SHIFT	(SLOT_MEM_SHIFT + GTSC_MEM_BITS)
#define SLOT_LAP	BIT_ULL(SLOT_LAP_SHIFT)

static u64 slot_word(u64 seq, unsigned int mem)
{
	return seq >> GTSC_SLOT_BITS << SLOT_LAP_SHIFT | (u64)mem << SLOT_MEM_SHIFT;
}

/* The sub-buffer one lap after that of @word, in the memory that @word has */
static u64 next_lap_of(u64 word)
{
	return (word & ~TAKEN) + SLOT_LAP;
}

/* The slot word of @word's sub-buffer once the reader has taken it and left @spare */
static u64 taken_of(u64 word, unsigned int spare)
{
	return (word & ~SLOT_MEM_MASK) | (u64)spare << SLOT_MEM_SHIFT | TAKEN;
}

static unsigned int mem_in(u64 word)
{
	return word >> SLOT_MEM_SHIFT & GTSC_MEM_MASK;
}

/* Is the sub-buffer with the number @seq in its slot, taken or not? */
static bool is_lap_of(u64 word, u64 seq)
{
	return (word >> SLOT_LAP_SHIFT & LAP_MASK) == seq >> GTSC_SLOT_BITS;
}

static atomic64_t *slot_of(const struct gtsc_buffer *b, u64 seq)
{
	return &b->slots[seq & GTSC_SLOT_MASK];
}

static u64 next_seq(const struct gtsc_buffer *b, u64 seq)
{
	if ((seq & GTSC_SLOT_MASK) + 1 < b->nr_sub)
		return seq + 1;

	return ((seq >> GTSC_SLOT_BITS) + 1) << GTSC_SLOT_BITS & SEQ_MASK;
}

/* The number of the sub-buffer one lap before @seq */
static u64 lap_before(u64 seq)
{
	return (seq - (1ULL << GTSC_SLOT_BITS)) & SEQ_MASK;
}

/* The number of the sub-buffer that is @nr after @seq */
u64 gtsc_seq_after(const struct gtsc_buffer *b, u64 seq, unsigned int nr)
{
	unsigned int slot = (seq & GTSC_SLOT_MASK) + nr;
	u64 lap = (seq >> GTSC_SLOT_BITS) + slot / b->nr_sub;

	return (lap << GTSC_SLOT_BITS & SEQ_MASK) | slot % b->nr_sub;
}

/* How many sub-buffers @a is after @b, or before it, if that is less than half of all laps */
static s64 seq_diff(const struct gtsc_buffer *buf, u64 a, u64 b)
{
	s64 laps = sign_extend64((a >> GTSC_SLOT_BITS) - (b >> GTSC_SLOT_BITS),
				 GTSC_LAP_BITS - 1);

	return laps * buf->nr_sub + (s64)(a & GTSC_SLOT_MASK) - (s64)(b & GTSC_SLOT_MASK);
}

static u64 seq_of(u64 pos)
{
	return pos >> GTSC_SEQ_SHIFT;
}

/* Writers */

static u64 count_dropped(struct gtsc_counts *counts)
{
	return local64_read(&counts->full) + local64_read(&counts->too_big) +
	       local64_read(&counts->nested);
}

/* Whether an interrupted writer may have a record in the sub-buffer one lap before @seq */
static bool may_be_incomplete(struct gtsc_buffer *b, u64 seq)
{
	return seq_diff(b, seq, seq_of(atomic64_read(&b->commit))) >= b->nr_sub;
}

/* The reader has taken what was there, or nothing ever was: use its spare memory */
static bool claim_spare(struct gtsc_buffer *b, u64 seq, s64 *word)
{
	unsigned int mem = mem_in(*word);

	gtsc_step();
	if (!atomic64_try_cmpxchg(slot_of(b, seq), word, next_lap_of(*word)))
		return false;
	gtsc_step();
	b->mem[mem].dropped = count_dropped(b->counts);

	return true;
}

static bool claim_unread(struct gtsc_buffer *b, u64 seq, s64 *word)
{
	struct gtsc_mem *mem = &b->mem[mem_in(*word)];
	u64 nr;

	/*
	 * All records in it are committed. If the exchange succeeds, no interrupting writer has
	 * added another one.
	 */
	nr = local64_read(&mem->nr);
	gtsc_step();
	if (!atomic64_try_cmpxchg(slot_of(b, seq), word, next_lap_of(*word)))
		return false;
	gtsc_step();
	/*
	 * Writers that interrupt here may add to @mem->nr, but do not write @nr_before and
	 * @dropped
	 */
	local64_add(nr - mem->nr_before, &b->counts->overwritten);
	mem->nr_before = nr;
	mem->dropped = count_dropped(b->counts);

	return true;
}

/*
 * Begin the sub-buffer @seq, which @pos is to move to. Return the number of its memory, or -1 after
 * the record was counted as dropped. The number may be wrong if an interrupting writer has moved
 * @pos: then the caller's exchange of @pos fails.
 */
static int claim(struct gtsc_buffer *b, u64 seq)
{
	s64 word = atomic64_read(slot_of(b, seq));

	for (;;) {
		/* A writer that has interrupted this one, or was interrupted by it, has begun it */
		if (!is_lap_of(word, lap_before(seq)))
			break;

		if (word & TAKEN) {
			if (claim_spare(b, seq, &word))
				break;
		} else if (!b->flight) {
			local64_inc(&b->counts->full);
			return -1;
		} else if (may_be_incomplete(b, seq)) {
			local64_inc(&b->counts->nested);
			return -1;
		} else if (claim_unread(b, seq, &word)) {
			break;
		}
	}

	return mem_in(word);
}

/* No record is added to the sub-buffer that @pos is in; a reader may wait for it to be full */
static void finish_sub(struct gtsc_buffer *b, u64 pos)
{
	gtsc_mem_at(b, pos)->used = gtsc_offset(pos);

	/* Pairs with the release in gtsc_wake_when_full() */
	if (likely(!smp_load_acquire(&b->wake_when_passed)))
		return;
	if (seq_diff(b, seq_of(pos), READ_ONCE(b->wake_seq)) >= 0)
		WRITE_ONCE(b->wake, true);
}

/**
 * gtsc_reserve_next - reserve space in the next sub-buffer
 * @b: the buffer of this CPU
 * @units: of the record with its header; at most what is left in an empty sub-buffer
 *
 * Called between gtsc_begin() and gtsc_end() when there is no room in the present one.
 * If writers that have interrupted this one have moved on, it uses their sub-buffer.
 *
 * Context: any, with preemption disabled.
 *
 * Return: the position of the record, whose header has the time; 0 after it has counted
 * the record as dropped: all sub-buffers have unread records; in a flight recorder, the next
 * sub-buffer to overwrite may have a record that is not complete.
 */
noinline u64 gtsc_reserve_next(struct gtsc_buffer *b, unsigned int units)
{
	s64 pos = local64_read(&b->pos), start;
	bool moves;
	u64 time;
	int mem;

	do {
		start = pos;
		moves = (pos & GTSC_OFFSET_MASK) + units >= b->units;
		if (moves) {
			u64 seq = next_seq(b, seq_of(pos));

			mem = claim(b, seq);
			if (mem < 0)
				return 0;
			start = seq << GTSC_SEQ_SHIFT | (u64)mem << GTSC_OFFSET_BITS |
				GTSC_FIRST_UNIT;
		}
		gtsc_step();
		time = gtsc_timestamp();
	} while (!local64_try_cmpxchg(&b->pos, &pos, start + units));
	gtsc_step();

	/* This writer has moved @pos. After its commit, the reader may look at what this sets. */
	if (moves)
		finish_sub(b, pos);
	gtsc_header_at(gtsc_mem_at(b, start), start)->time = time;

	return start;
}

/* The reader */

/* The oldest sub-buffer that may be there: flight recorders overwrite older ones */
static u64 oldest_seq(const struct gtsc_buffer *b, u64 commit)
{
	return next_seq(b, lap_before(seq_of(commit)));
}

u64 gtsc_oldest_seq(struct gtsc_buffer *b)
{
	return oldest_seq(b, atomic64_read_acquire(&b->commit));
}

/* Is the sub-buffer before @seq there, and was not taken? */
static bool is_prev_unread(struct gtsc_buffer *b, u64 seq)
{
	u64 prev = gtsc_seq_after(b, lap_before(seq), b->nr_sub - 1);
	u64 word = atomic64_read(slot_of(b, prev));

	return is_lap_of(word, prev) && !(word & TAKEN);
}

/*
 * If the reader is a lap or more behind, go on with the oldest sub-buffer. Positions have few bits
 * of laps. If the reader is so many laps behind that these bits wrap, @tail may look later than
 * @commit, or less than a lap before it. In the second case, unless @tail is the oldest sub-buffer,
 * the one before @tail is in its slot and not taken. @commit is @b->commit.
 */
static void catch_up(struct gtsc_buffer *b, u64 commit)
{
	s64 nr = seq_diff(b, seq_of(commit), b->tail);

	if (nr < 0 || nr >= b->nr_sub || is_prev_unread(b, b->tail))
		b->tail = oldest_seq(b, commit);
}

/*
 * How many sub-buffers are full and not taken. Not to be called while the reader has the
 * sub-buffer that is being written to.
 */
static unsigned int count_full(struct gtsc_buffer *b, u64 commit)
{
	catch_up(b, commit);

	return seq_diff(b, seq_of(commit), b->tail);
}

/*
 * Can the reader take sub-buffer @seq? It must be in its slot, not taken, and have a committed
 * record. Before the first commit, nothing in it can be read. @word was read
 * from the slot before @commit was read.
 */
static bool can_take(const struct gtsc_buffer *b, u64 seq, u64 word, u64 commit)
{
	if (!is_lap_of(word, seq) || word & TAKEN)
		return false;
	if (seq_of(commit) == seq)
		return (commit & GTSC_OFFSET_MASK) != GTSC_FIRST_UNIT;

	return seq_diff(b, seq_of(commit), seq) > 0;
}

/**
 * gtsc_take - take the oldest sub-buffer that has not been taken
 * @b: the buffer
 * @mem: its memory, which is the reader's from now on; the reader has given @b->spare
 *	for it, and has to make other memory the spare one before it takes the next
 *
 * It may still be written to: then the records before @b->commit can be read.
 *
 * Context: process context; the lock of the trace file is held.
 *
 * Return: whether there was one.
 */
bool gtsc_take(struct gtsc_buffer *b, unsigned int *mem)
{
	struct gtsc_mem *spare = &b->mem[b->spare];
	u64 commit;
	s64 word;

	for (;;) {
		catch_up(b, atomic64_read_acquire(&b->commit));
		gtsc_step();
		/*
		 * Read @commit after the slot: if the exchange finds the slot as it was,
		 * @commit is that of the sub-buffer that is taken, and not of one that had
		 * the same number laps before.
		 */
		word = atomic64_read_acquire(slot_of(b, b->tail));
		gtsc_step();
		/* Pairs with the release in gtsc_end() */
		commit = atomic64_read_acquire(&b->commit);
		gtsc_step();
		if (can_take(b, b->tail, word, commit)) {
			/* Nobody changes it: it is not in a slot */
			spare->nr_before = local64_read(&spare->nr);
			gtsc_step();
			if (atomic64_try_cmpxchg(slot_of(b, b->tail), &word,
						 taken_of(word, b->spare)))
				break;
		} else if (seq_of(commit) == b->tail) {
			return false;
		}
		/* Overwritten, taken before, or never written: look at the next one */
		b->tail = next_seq(b, b->tail);
	}
	gtsc_step();

	*mem = mem_in(word);
	b->tail = next_seq(b, b->tail);

	return true;
}

/* The memory of a sub-buffer that is not taken, for a panic: nobody writes any more */
bool gtsc_peek(struct gtsc_buffer *b, u64 seq, unsigned int *mem)
{
	u64 word = atomic64_read(slot_of(b, seq));

	if (!can_take(b, seq, word, atomic64_read(&b->commit)))
		return false;
	*mem = mem_in(word);

	return true;
}

/**
 * gtsc_wake_when_full - have writers wake the reader when enough sub-buffers are full
 * @b: the buffer
 * @mem: the memory of the sub-buffer that the reader has taken, or -1
 * @nr: how many have to be full, with that one; 1 to @b->nr_sub - 1
 *
 * gtsc_recheck_watermark() has to run on the CPU of the buffer after this.
 *
 * Context: process context; the lock of the trace file is held.
 *
 * Return: false if that many are full already.
 */
bool gtsc_wake_when_full(struct gtsc_buffer *b, int mem, unsigned int nr)
{
	u64 commit = atomic64_read_acquire(&b->commit);
	unsigned int full = 0;

	/* Sub-buffers from the tail on, and the one that was taken */
	if (mem < 0 || !gtsc_is_in(commit, mem))
		full = count_full(b, commit) + (mem >= 0);
	if (full >= nr)
		return false;

	WRITE_ONCE(b->wake_seq, gtsc_seq_after(b, seq_of(commit), nr - full - 1));
	/* Pairs with the acquire in finish_sub() */
	smp_store_release(&b->wake_when_passed, true);

	return true;
}

/*
 * On the CPU of the buffer, after gtsc_wake_when_full(): if finish_sub() has looked at
 * @wake_when_passed before the reader has set it, the next commit wakes the reader.
 */
void gtsc_recheck_watermark(struct gtsc_buffer *b)
{
	if (b->wake_when_passed && seq_diff(b, seq_of(local64_read(&b->pos)), b->wake_seq) > 0)
		WRITE_ONCE(b->wake, true);
}

/* Records that have been written since the buffer was made, or are just being written */
u64 gtsc_written(struct gtsc_buffer *b)
{
	u64 nr = 0;

	for (unsigned int i = 0; i <= b->nr_sub; i++)
		nr += local64_read(&b->mem[i].nr);

	return nr;
}

/* Memory */

void *gtsc_mem_alloc(unsigned int cpu, unsigned int order)
{
	struct page *page;

	/*
	 * Zeroed: nothing of others can get to user space. __GFP_COMP: gtsc_mem_free() need not
	 * know the order.
	 */
	page = alloc_pages_node(cpu_to_node(cpu), GFP_KERNEL | __GFP_ZERO | __GFP_COMP |
				__GFP_RETRY_MAYFAIL | __GFP_NOWARN, order);

	return page ? page_address(page) : NULL;
}

void gtsc_mem_free(void *data)
{
	if (data)
		put_page(virt_to_page(data));
}

/* Zeroed memory that shares no cache line with another allocation */
static void *alloc_cache_aligned(unsigned int cpu, size_t size)
{
	return kvzalloc_node(ALIGN(size, cache_line_size()), GFP_KERNEL, cpu_to_node(cpu));
}

/*
 * Nothing has been written: all slots but the first have spare memory. @seq: the number of the
 * sub-buffer in slot 0
 */
static void init_slots(struct gtsc_buffer *b, u64 seq)
{
	atomic64_set(&b->slots[0], slot_word(seq, 0));
	for (unsigned int i = 1; i < b->nr_sub; i++)
		atomic64_set(&b->slots[i], slot_word(lap_before(seq), i) | TAKEN);

	local64_set(&b->pos, seq << GTSC_SEQ_SHIFT | GTSC_FIRST_UNIT);
	atomic64_set(&b->commit, local64_read(&b->pos));
	b->mem[0].dropped = count_dropped(b->counts);
	b->tail = seq;
	b->spare = b->nr_sub;
}

/**
 * gtsc_buffer_alloc - make an empty buffer
 * @cpu: the CPU whose records it is for
 * @order: sub-buffers have PAGE_SIZE << @order bytes
 * @nr_sub: their number, 2 to GTSC_MAX_SUBS; there is one more, for the reader
 * @flight: overwrite the oldest records, not drop new ones
 * @counts: what was dropped and overwritten is counted there
 *
 * Context: process context, may sleep.
 *
 * Return: the buffer, NULL if there is no memory, or the task is being killed.
 */
struct gtsc_buffer *gtsc_buffer_alloc(unsigned int cpu, unsigned int order, unsigned int nr_sub,
				      bool flight, struct gtsc_counts *counts)
{
	struct gtsc_buffer *b = alloc_cache_aligned(cpu, sizeof(*b));

	if (!b)
		return NULL;

	b->origin.cpu = cpu;
	b->origin.type = GTSC_TYPE_RECORD;
	b->order = order;
	b->units = (PAGE_SIZE << order) / GTSC_UNIT;
	b->max_len = gtsc_max_len(order);
	b->nr_sub = nr_sub;
	b->flight = flight;
	b->counts = counts;
	b->mem = alloc_cache_aligned(cpu, sizeof(*b->mem) * (nr_sub + 1));
	b->slots = alloc_cache_aligned(cpu, sizeof(*b->slots) * nr_sub);
	if (!b->mem || !b->slots)
		goto err;

	for (unsigned int i = 0; i <= nr_sub; i++) {
		if (fatal_signal_pending(current))
			goto err;
		b->mem[i].data = gtsc_mem_alloc(cpu, order);
		if (!b->mem[i].data)
			goto err;
		cond_resched();
	}
	init_slots(b, 1ULL << GTSC_SLOT_BITS);

	return b;
err:
	gtsc_buffer_free(b);
	return NULL;
}

void gtsc_buffer_free(struct gtsc_buffer *b)
{
	if (!b)
		return;

	for (unsigned int i = 0; b->mem && i <= b->nr_sub; i++)
		gtsc_mem_free(b->mem[i].data);
	kvfree(b->slots);
	kvfree(b->mem);
	kvfree(b);
}
