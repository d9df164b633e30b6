// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: trace files as memory.
 *
 * All sub-buffers of a CPU can be mapped, one behind the other. GTSC_IOC_NEXT tells where
 * records are that can be read, and at the next call the reader is done with them. While
 * it is mapped, memory is neither given to a pipe nor held for a rewind.
 */

#include <linux/cacheinfo.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/mm.h>

#include "gtsc.h"
#include "read.h"

static struct gtsc_source *source_of(struct gtsc_file *file)
{
	return gtsc_source(file->reader->ch, cpumask_first(file->reader->cpus));
}

/* mremap() has moved it, or a child has got it after MADV_DOFORK */
static void map_again(struct vm_area_struct *vma)
{
	struct gtsc_file *file = vma->vm_private_data;

	guard(mutex)(&file->reader->lock);
	source_of(file)->pinned++;
}

static void unmap(struct vm_area_struct *vma)
{
	struct gtsc_file *file = vma->vm_private_data;

	guard(mutex)(&file->reader->lock);
	source_of(file)->pinned--;
}

/* Only all of it can be unmapped */
static int may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct map_ops = {
	.open		= map_again,
	.close		= unmap,
	.may_split	= may_split,
};

static int insert_mem(struct vm_area_struct *vma, unsigned long addr, void *data,
		      unsigned int size)
{
	int ret = 0;

	for (unsigned int i = 0; i < size && !ret; i += PAGE_SIZE)
		ret = vm_insert_page(vma, addr + i, virt_to_page(data + i));

	return ret;
}

/* On the first mapping: whether no memory that has to stay is elsewhere */
static int may_pin(struct gtsc_source *source)
{
	struct gtsc_buffer *b = source->buffer;

	if (source->at || (source->taken && gtsc_in_pipe(b->mem[source->mem].data)))
		return -EBUSY;

	return b->mem[b->spare].data ? 0 : -ENOMEM;
}

/**
 * gtsc_map - map the sub-buffers of a CPU
 * @file: the file, as it was opened
 * @vma: where to; one sub-buffer more than nr_sub has to fit exactly
 *
 * Return: 0; -EINVAL if the channel is global, or @vma is writable, private or has another
 * size; -ENODEV if the data cache has aliases; -ENXIO if the CPU has no buffer; -EBUSY if
 * records are being read again after a rewind, or are in a pipe; -ENOMEM.
 */
int gtsc_map(struct gtsc_file *file, struct vm_area_struct *vma)
{
	struct gtsc_source *source = source_of(file);
	unsigned long addr = vma->vm_start;
	struct gtsc_buffer *b;
	int ret;

	if (file->reader->ch->flags & GTSC_GLOBAL || vma->vm_pgoff ||
	    vma->vm_flags & (VM_WRITE | VM_EXEC) || !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	/*
	 * Programs would not see what writers write at another address: a sub-buffer is
	 * written to again and again, and its mapping has lines of the last lap in the cache.
	 */
	if (cpu_dcache_is_aliasing())
		return -ENODEV;

	guard(mutex)(&file->reader->lock);

	b = source->buffer;
	if (!b)
		return -ENXIO;
	if (vma_pages(vma) != (b->nr_sub + 1UL) << b->order)
		return -EINVAL;
	ret = source->pinned ? 0 : may_pin(source);
	if (ret)
		return ret;

	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	for (unsigned int i = 0; i <= b->nr_sub && !ret; i++) {
		ret = insert_mem(vma, addr, b->mem[i].data, PAGE_SIZE << b->order);
		addr += PAGE_SIZE << b->order;
	}
	if (ret)
		return ret;

	gtsc_free_held(source);
	source->pinned++;
	vma->vm_private_data = file;
	vma->vm_ops = &map_ops;

	return 0;
}

/* Nobody has been told of the last range: its records are read again */
void gtsc_forget_range(struct gtsc_file *file)
{
	guard(mutex)(&file->reader->lock);
	gtsc_end_range(file, false);
}

/**
 * gtsc_next_range - the records that can be read in the mapped memory
 * @file: the file, as it was opened
 * @range: filled in
 *
 * Those of the last range have been read. Until the next call, there is nothing to read
 * for others that have opened the file; if it is closed, they get the range.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EAGAIN if there are none; -EINVAL if it is not mapped; -ENOMEM.
 */
int gtsc_next_range(struct gtsc_file *file, struct gtsc_range *range)
{
	struct gtsc_reader *reader = file->reader;
	struct gtsc_source *source = source_of(file);
	const struct gtsc_record_header *header;

	guard(mutex)(&reader->lock);

	if (reader->ch->flags & GTSC_GLOBAL || !source->pinned)
		return -EINVAL;
	if (reader->partial && reader->partial_file != file)
		return -EAGAIN;

	gtsc_end_range(file, true);
	header = gtsc_find_next(reader->ch, source);
	if (IS_ERR_OR_NULL(header))
		return header ? PTR_ERR(header) : -EAGAIN;

	/* What a read() has got of the first record is not in the range, but all of it */
	source->sent = 0;
	file->range = gtsc_find_run(source, SIZE_MAX, GTSC_NO_TIME, &file->range_nr);
	reader->partial = source;
	reader->partial_file = file;
	*range = (struct gtsc_range){
		.sub = source->mem, .from = source->pos, .to = source->pos + file->range,
	};

	return 0;
}
