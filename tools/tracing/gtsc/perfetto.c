// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: calls in the Trace Event Format, JSON that ui.perfetto.dev and chrome://tracing show.
 * Each is written as its record comes, so the memory that is used grows with the number of
 * tasks, not with that of calls: a caller comes behind its callees.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Idle tasks all have the PID 0: each gets a number of its own, which is no PID */
#define IDLE_TID	MAX_PID
/* So does each CPU, for calls of tasks that are not known */
#define CPU_TID		(2 * MAX_PID)

/* A string; bytes that are no characters are written as \xNN */
static void put_json(const char *s, FILE *out)
{
	size_t len = strlen(s), size;

	fputc('"', out);
	for (; len; s += size, len -= size) {
		size = utf8_size(s, len);
		if (!size) {
			size = 1;
			fprintf(out, "\\\\x%02x", (uint8_t)*s);
		} else if ((uint8_t)*s < ' ' || *s == 0x7f) {
			fprintf(out, "\\u%04x", *s);
		} else {
			if (*s == '"' || *s == '\\')
				fputc('\\', out);
			fwrite(s, 1, size, out);
		}
	}
	fputc('"', out);
}

/* The name of the function that begins at @address or contains it; else the address */
static void put_function(uint64_t address, FILE *out)
{
	const struct symbol *symbol = find_symbol(address);

	if (symbol) {
		put_json(symbol->name, out);
		return;
	}
	fprintf(out, "\"0x%" PRIx64 "\"", address);
}

/* Microseconds with three decimals */
static void put_us(const char *name, uint64_t ns, FILE *out)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned int)(ns % 1000));
}

static void start_event(struct perfetto *perfetto, const char *phase, uint32_t tid)
{
	fprintf(perfetto->out, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
		perfetto->any ? "," : "", phase, tid, tid);
	perfetto->any = true;
}

static void put_meta(struct perfetto *perfetto, const char *what, uint32_t tid, const char *name)
{
	start_event(perfetto, "M", tid);
	fprintf(perfetto->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	put_json(name, perfetto->out);
	fputs("}}", perfetto->out);
}

static uint32_t get_tid(const struct call *call)
{
	if (call->pid < 0)
		return CPU_TID + call->cpu;

	return call->pid ? (uint32_t)call->pid : IDLE_TID + (uint32_t)call->cpu;
}

static uint32_t add_comm(struct perfetto *perfetto, uint32_t tid)
{
	if (perfetto->nr == perfetto->room) {
		perfetto->room = perfetto->room ? perfetto->room * 2 : 64;
		perfetto->comms = must(realloc(perfetto->comms, perfetto->room *
					       sizeof(*perfetto->comms)));
	}
	map_add(&perfetto->by_task, tid, perfetto->nr);

	return perfetto->nr++;
}

/* The names of a task, before the first call with them */
static void put_names(struct perfetto *perfetto, uint32_t tid, const struct call *call)
{
	uint32_t number = map_find(&perfetto->by_task, tid);
	char name[TASK_NAME_SIZE];

	if (number == MAP_FREE)
		number = add_comm(perfetto, tid);
	else if (!strcmp(perfetto->comms[number], call->comm))
		return;
	memcpy(perfetto->comms[number], call->comm, sizeof(call->comm));

	put_meta(perfetto, "process_name", tid, call->comm);
	task_name(call->pid, call->comm, name);
	put_meta(perfetto, "thread_name", tid, name);
}

static void put_return(struct perfetto *perfetto, uint32_t tid, const struct call *call)
{
	FILE *out = perfetto->out;

	start_event(perfetto, "X", tid);
	put_us("ts", call->start, out);
	put_us("dur", call->duration, out);
	fputs(",\"name\":", out);
	put_function(call->ip, out);
	fprintf(out, ",\"args\":{\"cpu\":%d,\"depth\":%" PRIu32, call->cpu, call->depth);
	/* A number of JSON has only 53 bits */
	if (call->has_retval)
		fprintf(out, ",\"retval\":\"0x%" PRIx64 "\"", call->retval);
	fputs("}}", out);
}

static void put_entry(struct perfetto *perfetto, uint32_t tid, const struct call *call)
{
	FILE *out = perfetto->out;

	start_event(perfetto, "i", tid);
	put_us("ts", call->time, out);
	fputs(",\"s\":\"t\",\"name\":", out);
	put_function(call->ip, out);
	fprintf(out, ",\"args\":{\"cpu\":%d,\"caller\":", call->cpu);
	put_function(call->parent_ip, out);
	fputs("}}", out);
}

/* At the place where they were lost, over all tasks */
static void put_lost(struct perfetto *perfetto, const struct item *item)
{
	start_event(perfetto, "i", 0);
	put_us("ts", item->time, perfetto->out);
	fprintf(perfetto->out,
		",\"s\":\"g\",\"name\":\"lost\",\"args\":{\"cpu\":%d,\"records\":%" PRIu64 "}}",
		item->cpu, item->lost);
}

/* @out: where to, for all that follows */
void perfetto_start(struct perfetto *perfetto, FILE *out)
{
	*perfetto = (struct perfetto){ .out = out };
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
}

bool perfetto_take(const struct item *item, void *data)
{
	struct perfetto *perfetto = data;
	struct call call;
	uint32_t tid;

	if (item->lost) {
		add_saturated(&perfetto->lost, item->lost);
		put_lost(perfetto, item);
	} else if (!get_call(&perfetto->layout, item, &call)) {
		perfetto->unusable++;
	} else {
		perfetto->reported++;
		tid = get_tid(&call);
		put_names(perfetto, tid, &call);
		if (call.returned)
			put_return(perfetto, tid, &call);
		else
			put_entry(perfetto, tid, &call);
	}

	return !ferror(perfetto->out);
}

void perfetto_end(struct perfetto *perfetto)
{
	fputs("\n]}\n", perfetto->out);
	free(perfetto->comms);
	map_free(&perfetto->by_task);
}
