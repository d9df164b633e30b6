// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: what a record of gtsc/functions or gtsc/graph says of a call: its entry, or its
 * return. A channel of another provider with these fields is as good.
 */
#include <string.h>

#include "calltree.h"

/*
 * An entry has the fields ip and parent_ip, a return has ip, duration, pid and depth. An
 * entry may have a pid, and both a comm.
 */
static void find_layout(struct call_layout *layout, const struct channel *ch)
{
	const struct fields *fields = &ch->fields;
	*layout = (struct call_layout){
		.ch = ch,
		.ip = field_offset(fields, "ip", 8),
		.parent_ip = field_offset(fields, "parent_ip", 8),
		.duration = field_offset(fields, "duration", 8),
		.retval = field_offset(fields, "retval", 8),
		.pid = field_offset(fields, "pid", 4),
		.depth = field_offset(fields, "depth", 4),
		.comm = field_offset(fields, "comm", COMM_SIZE),
	};
	layout->returns = layout->duration >= 0 && layout->depth >= 0 && layout->pid >= 0;
	layout->usable = layout->ip >= 0 && (layout->returns || layout->parent_ip >= 0);
}

static bool get_return(const struct call_layout *layout, const struct item *item,
		       struct call *call)
{
	call->returned = true;
	call->duration = get_number_at(item, layout->duration, 8);
	call->depth = get_number_at(item, layout->depth, 4);
	call->has_retval = layout->retval >= 0;
	if (call->has_retval)
		call->retval = get_number_at(item, layout->retval, 8);
	if (call->duration > call->time || call->depth >= MAX_DEPTH)
		return false;
	call->start = call->time - call->duration;

	return true;
}

/**
 * get_call - understand a record
 * @layout: of the channel of the record before; all zero before the first one
 * @item: the record
 * @call: filled in
 *
 * Return: false if it is not a call, or cannot be one.
 */
bool get_call(struct call_layout *layout, const struct item *item, struct call *call)
{
	if (layout->ch != item->ch)
		find_layout(layout, item->ch);
	if (!layout->usable || item->len != item->ch->fields.size)
		return false;

	*call = (struct call){ .time = item->time, .cpu = item->cpu, .pid = -1 };
	call->ip = get_number_at(item, layout->ip, 8);
	if (layout->pid >= 0) {
		call->pid = (int32_t)get_number_at(item, layout->pid, 4);
		if (call->pid < 0 || call->pid >= MAX_PID)
			return false;
	}
	if (layout->comm >= 0)
		memcpy(call->comm, (const char *)item->data + layout->comm, COMM_SIZE);
	if (layout->returns)
		return get_return(layout, item, call);
	call->parent_ip = get_number_at(item, layout->parent_ip, 8);

	return true;
}

/* COMM-PID to @name, which has TASK_NAME_SIZE bytes */
void task_name(int32_t pid, const char *comm, char *name)
{
	if (pid < 0)
		snprintf(name, TASK_NAME_SIZE, "%s", *comm ? comm : "unknown");
	else
		snprintf(name, TASK_NAME_SIZE, "%s-%d", comm, pid);
}
