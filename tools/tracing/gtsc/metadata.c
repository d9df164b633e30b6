// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: the metadata of a recorded trace, in the language of CTF 1.8 or as the JSON text
 * sequence of CTF 2. Each name of the environment and each name of a function begins a line:
 * see metadata_read.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ctf.h"

/* A UUID as text, with a line feed */
#define BOOT_ID_SIZE	(CTF_UUID_TEXT + 1)

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ORDER_1	"be"
#define ORDER_2	"big-endian"
#else
#define ORDER_1	"le"
#define ORDER_2	"little-endian"
#endif

/* A random one, of version 4 */
void make_uuid(uint8_t *uuid)
{
	if (getrandom(uuid, 16, 0) != 16) {
		struct wall_clock clock;

		begin_wall_clock(&clock);
		memcpy(uuid, &clock.begin, 8);
		memcpy(uuid + 8, &clock.offset, 8);
	}
	uuid[6] = (uuid[6] & 0x0f) | 0x40;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

/* Fills in BOOT_ID_SIZE bytes; an empty string if the boot of the running kernel has no ID */
static void get_boot_id(char *id)
{
	int fd = open_regular(AT_FDCWD, "/proc/sys/kernel/random/boot_id");
	ssize_t n;

	n = fd < 0 ? 0 : read(fd, id, BOOT_ID_SIZE - 1);
	id[n < 0 ? 0 : n] = '\0';
	id[strcspn(id, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

bool is_this_boot(const char *id)
{
	char this[BOOT_ID_SIZE];

	get_boot_id(this);

	return *this && !strcmp(id, this);
}

static void format_uuid(const uint8_t *uuid, char *text)
{
	for (int i = 0; i < 16; i++)
		text += sprintf(text, "%02x%s", uuid[i],
				i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
}

/* A string of either language; what would end the line or the string is escaped or '?' */
static void put_string(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', out);
		fputc((unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s, out);
	}
	fputc('"', out);
}

/* The environment, whose lines have a start, a separator and an end of their own */

struct env {
	FILE		*out;
	bool		json;
	bool		first;
};

static void env_name(struct env *env, const char *name)
{
	if (env->json)
		fprintf(env->out, "%s\n  \"%s\": ", env->first ? "" : ",", name);
	else
		fprintf(env->out, "\t%s = ", name);
	env->first = false;
}

static void env_string(struct env *env, const char *name, const char *value)
{
	env_name(env, name);
	put_string(env->out, value);
	fputs(env->json ? "" : ";\n", env->out);
}

static void env_number(struct env *env, const char *name, long long value)
{
	env_name(env, name);
	fprintf(env->out, env->json ? "%lld" : "%lld;\n", value);
}

static void env_clock(struct env *env, const struct wall_clock *clock)
{
	env_number(env, "clock_begin", clock->begin);
	env_number(env, "clock_offset", clock->offset);
	if (!clock->end)
		return;
	env_number(env, "clock_end", clock->end);
	env_number(env, "clock_offset_end", clock->end_offset);
}

/*
 * There is no `domain`: Trace Compass takes each trace whose domain is "kernel" for one of
 * LTTng's kernel tracer, whatever tracer_name says, and runs LTTng's analyses on it.
 */
static void put_env(FILE *out, const struct metadata *m, bool json)
{
	struct env env = { .out = out, .json = json, .first = true };
	char uuid[CTF_UUID_TEXT], boot_id[BOOT_ID_SIZE], name[32];
	struct utsname uts = { 0 };

	uname(&uts);
	format_uuid(m->uuid, uuid);
	env_string(&env, "hostname", uts.nodename);
	env_string(&env, "sysname", uts.sysname);
	env_string(&env, "kernel_release", uts.release);
	env_string(&env, "kernel_version", uts.version);
	get_boot_id(boot_id);
	env_string(&env, "boot_id", boot_id);
	env_string(&env, "architecture", uts.machine);
	env_string(&env, "tracer_name", "gtsc");
	env_number(&env, "tracer_major", 1);
	env_string(&env, "trace_name", m->channels[0].name);
	env_string(&env, "trace_uuid", uuid);
	env_clock(&env, &m->clock);
	for (unsigned int i = 0; i < m->nr; i++) {
		snprintf(name, sizeof(name), "channel_%u", i);
		env_string(&env, name, m->channels[i].name);
		snprintf(name, sizeof(name), "format_%u", i);
		env_string(&env, name, m->channels[i].format);
		snprintf(name, sizeof(name), "global_%u", i);
		env_number(&env, name, m->channels[i].global);
	}
}

/*
 * A clock of CTF has its offset in seconds and nanoseconds. The nanoseconds are not negative,
 * the seconds can be.
 */
static void split_offset(int64_t offset, long long *seconds, long long *rest)
{
	const int64_t second = SECOND;

	*seconds = offset / second;
	*rest = offset % second;
	if (*rest < 0) {
		*rest += second;
		--*seconds;
	}
}

/*
 * Functions
 *
 * A field with an address in the kernel is an enumeration of the functions that occur in the
 * trace. Its numbers are signed: Trace Compass reads the limits of a range as signed numbers
 * of 64 bits, and refuses those that the type does not have.
 */

static bool any_symbols(const struct metadata *m)
{
	for (unsigned int i = 0; i < m->nr; i++) {
		if (has_symbols(&m->channels[i].fields))
			return true;
	}

	return false;
}

/*
 * The last address in the range of a function. If the range crosses the sign, it ends with the
 * largest number.
 */
static int64_t last_address(const struct symbol *symbol)
{
	int64_t start = symbol->start, last = symbol->end - 1;

	return last < start ? INT64_MAX : last;
}

/* CTF 1.8 */

static const char tsdl_types[] =
	"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
	"typealias integer { size = 8; align = 8; signed = true; } := s8;\n"
	"typealias integer { size = 16; align = 8; signed = true; } := s16;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := s32;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := s64;\n"
	"typealias integer { size = 8; align = 8; signed = false; base = 16; } := x8;\n"
	"typealias integer { size = 16; align = 8; signed = false; base = 16; } := x16;\n"
	"typealias integer { size = 32; align = 8; signed = false; base = 16; } := x32;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := x64;\n"
	"typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text8;\n"
	"\n";

/* One label may have several ranges. An enumeration without any is not allowed. */
static void tsdl_symbols(FILE *out, const struct metadata *m)
{
	const struct symbol *symbol;

	fputs("typealias integer { size = 64; align = 8; signed = true; base = 16; } := ", out);
	fputs(m->nr_symbols ? "address;\n" : "ksym;\n\n", out);
	if (!m->nr_symbols)
		return;
	fputs("typealias enum : address {", out);
	for (size_t i = 0; i < m->nr_symbols; i++) {
		symbol = m->symbols[i];
		fputs(i ? ",\n\t" : "\n\t", out);
		put_string(out, symbol->name);
		fprintf(out, " = %" PRId64 " ... %" PRId64, (int64_t)symbol->start,
			last_address(symbol));
	}
	fputs("\n} := ksym;\n\n", out);
}

/* Readers take the underscore away; it keeps names apart from words of the language */
static void tsdl_field(FILE *out, const struct field *f)
{
	unsigned int count = f->count;

	if (f->type == 'c') {
		fputs("\t\ttext8", out);
		count = count ?: 1;
	} else if (f->type == 'k') {
		fputs("\t\tksym", out);
	} else {
		fprintf(out, "\t\t%c%u", f->type, f->bytes * 8);
	}
	fprintf(out, " _%s", f->name);
	if (count)
		fprintf(out, "[%u]", count);
	fputs(";\n", out);
}

static void tsdl_event(FILE *out, const struct channel *ch, unsigned int index,
		       unsigned int id)
{
	const struct fields *fields = &ch->fields;
	char name[NAME_SIZE + 8];

	snprintf(name, sizeof(name), "%s%s", ch->name, id == CTF_EVENT_BYTES ? ":bytes" : "");
	fputs("event {\n\tname = ", out);
	put_string(out, name);
	fprintf(out, ";\n\tid = %u;\n\tstream_id = %u;\n\tfields := struct {\n", id, index);
	if (fields->text)
		fputs("\t\ttext8 _text[stream.event.context.len];\n", out);
	else if (!fields->nr || id == CTF_EVENT_BYTES)
		fputs("\t\tx8 _data[stream.event.context.len];\n", out);
	else
		for (unsigned int i = 0; i < fields->nr; i++)
			tsdl_field(out, &fields->list[i]);
	fputs("\t};\n};\n\n", out);
}

/*
 * A packet of a global channel has records of several CPUs, and no cpu_id: these four bytes
 * are padding before a structure that begins at a multiple of 8 bytes.
 */
static void tsdl_packet_context(FILE *out, bool global)
{
	fputs("\tpacket.context := struct {\n", out);
	if (!global)
		fputs("\t\tu32 cpu_id;\n", out);
	fputs("\t\tclock64 timestamp_begin;\n"
	      "\t\tclock64 timestamp_end;\n"
	      "\t\tu64 content_size;\n"
	      "\t\tu64 packet_size;\n"
	      "\t\tu64 events_discarded;\n"
	      "\t\tu64 packet_seq_num;\n", out);
	fputs(global ? "\t} align(64);\n" : "\t};\n", out);
}

static void tsdl_channel(FILE *out, const struct channel *ch, unsigned int index)
{
	fprintf(out, "stream {\n\tid = %u;\n", index);
	tsdl_packet_context(out, ch->global);
	fputs("\tevent.header := struct {\n"
	      "\t\tclock64 timestamp;\n"
	      "\t\tu16 id;\n"
	      "\t} align(64);\n"
	      "\tevent.context := struct {\n"
	      "\t\tu16 cpu;\n"
	      "\t\tu32 len;\n"
	      "\t};\n"
	      "};\n\n", out);
	tsdl_event(out, ch, index, CTF_EVENT_RECORD);
	if (ch->fields.nr)
		tsdl_event(out, ch, index, CTF_EVENT_BYTES);
}

static void write_tsdl(FILE *out, const struct metadata *m)
{
	long long seconds, rest;
	char uuid[CTF_UUID_TEXT];

	format_uuid(m->uuid, uuid);
	split_offset(m->clock.offset, &seconds, &rest);
	fprintf(out, "/* CTF 1.8 */\n\n%s", tsdl_types);
	fprintf(out,
		"trace {\n"
		"\tmajor = 1;\n"
		"\tminor = 8;\n"
		"\tuuid = \"%s\";\n"
		"\tbyte_order = " ORDER_1 ";\n"
		"\tpacket.header := struct {\n"
		"\t\tu32 magic;\n"
		"\t\tu8 uuid[16];\n"
		"\t\tu32 stream_id;\n"
		"\t\tu32 stream_instance_id;\n"
		"\t};\n"
		"};\n\n"
		"env {\n", uuid);
	put_env(out, m, false);
	fprintf(out,
		"};\n\n"
		"clock {\n"
		"\tname = \"monotonic_raw\";\n"
		"\tdescription = \"CLOCK_MONOTONIC_RAW\";\n"
		"\tfreq = 1000000000;\n"
		"\toffset_s = %lld;\n"
		"\toffset = %lld;\n"
		"\tabsolute = true;\n"
		"};\n\n"
		"typealias integer {\n"
		"\tsize = 64; align = 8; signed = false;\n"
		"\tmap = clock.monotonic_raw.value;\n"
		"} := clock64;\n\n", seconds, rest);
	if (any_symbols(m))
		tsdl_symbols(out, m);
	for (unsigned int i = 0; i < m->nr; i++)
		tsdl_channel(out, &m->channels[i], i);
}

/* CTF 2: each fragment follows a record separator */

#define FRAGMENT	"\x1e"

static void json_integer(FILE *out, char sign, unsigned int bits, const char *more)
{
	fprintf(out, "{\"type\": \"fixed-length-%ssigned-integer\", \"length\": %u, ",
		sign == 's' ? "" : "un", bits);
	fprintf(out, "\"byte-order\": \"" ORDER_2 "\", \"alignment\": 8%s}", more);
}

/* The next member of a structure; the first one has no comma before it */
static void json_member(FILE *out, bool first, const char *name)
{
	fprintf(out, "%s\n   {\"name\": \"%s\", \"field-class\": ", first ? "" : ",", name);
}

static void json_number(FILE *out, bool first, const char *name, unsigned int bits,
			const char *role)
{
	char roles[80] = "";

	if (role)
		snprintf(roles, sizeof(roles), ", \"roles\": [\"%s\"]", role);
	json_member(out, first, name);
	json_integer(out, 'u', bits, roles);
	fputc('}', out);
}

/* The name of a mapping is unique: all ranges of functions of the same name are one mapping */
static void json_mappings(FILE *out, const struct metadata *m)
{
	const struct symbol *symbol, *before = NULL;

	for (size_t i = 0; i < m->nr_symbols; i++, before = symbol) {
		symbol = m->symbols[i];
		if (before && !strcmp(before->name, symbol->name)) {
			fputs(", ", out);
		} else {
			fputs(before ? "],\n   " : "\n   ", out);
			put_string(out, symbol->name);
			fputs(": [", out);
		}
		fprintf(out, "[%" PRId64 ", %" PRId64 "]", (int64_t)symbol->start,
			last_address(symbol));
	}
	fputs("]\n", out);
}

static void json_symbols(FILE *out, const struct metadata *m)
{
	fputs(FRAGMENT "{\"type\": \"field-class-alias\", \"name\": \"ksym\", ", out);
	fputs("\"field-class\":\n {\"type\": \"fixed-length-signed-integer\", ", out);
	fputs("\"length\": 64, \"byte-order\": \"" ORDER_2 "\", \"alignment\": 8,\n", out);
	fputs("  \"preferred-display-base\": 16", out);
	if (m->nr_symbols) {
		fputs(", \"mappings\": {", out);
		json_mappings(out, m);
		fputs("  }", out);
	}
	fputs("}}\n", out);
}

static void json_field(FILE *out, bool first, const struct field *f)
{
	json_member(out, first, f->name);
	if (f->type == 'c') {
		fprintf(out, "{\"type\": \"static-length-string\", \"length\": %u}}",
			f->count ?: 1);
		return;
	}

	if (f->count) {
		fprintf(out, "{\"type\": \"static-length-array\", \"length\": %u, ", f->count);
		fputs("\"element-field-class\": ", out);
	}
	if (f->type == 'k')
		fputs("\"ksym\"", out);
	else
		json_integer(out, f->type, f->bytes * 8,
			     f->type == 'x' ? ", \"preferred-display-base\": 16" : "");
	fputs(f->count ? "}}" : "}", out);
}

static void json_event(FILE *out, const struct channel *ch, unsigned int index,
		       unsigned int id)
{
	const struct fields *fields = &ch->fields;
	char name[NAME_SIZE + 8];

	snprintf(name, sizeof(name), "%s%s", ch->name, id == CTF_EVENT_BYTES ? ":bytes" : "");
	fprintf(out, FRAGMENT "{\"type\": \"event-record-class\", \"id\": %u, ", id);
	fprintf(out, "\"data-stream-class-id\": %u,\n \"name\": ", index);
	put_string(out, name);
	fputs(",\n \"payload-field-class\": {\"type\": \"structure\", \"member-classes\": [", out);
	if (fields->text || !fields->nr || id == CTF_EVENT_BYTES) {
		json_member(out, true, fields->text ? "text" : "data");
		fprintf(out, "{\"type\": \"dynamic-length-%s\", \"length-field-location\": ",
			fields->text ? "string" : "blob");
		fputs("{\"origin\": \"event-record-common-context\", \"path\": [\"len\"]}}}", out);
	} else {
		for (unsigned int i = 0; i < fields->nr; i++)
			json_field(out, !i, &fields->list[i]);
	}
	fputs("\n  ]}}\n", out);
}

static void json_channel(FILE *out, const struct channel *ch, unsigned int index)
{
	fprintf(out, FRAGMENT "{\"type\": \"data-stream-class\", \"id\": %u,\n \"name\": ",
		index);
	put_string(out, ch->name);
	fputs(",\n \"default-clock-class-id\": \"monotonic_raw\",\n"
	      " \"packet-context-field-class\": {\"type\": \"structure\", ", out);
	/* See tsdl_packet_context() */
	if (ch->global)
		fputs("\"minimum-alignment\": 64, ", out);
	fputs("\"member-classes\": [", out);
	if (!ch->global)
		json_number(out, true, "cpu_id", 32, NULL);
	json_number(out, ch->global, "timestamp_begin", 64, "default-clock-timestamp");
	json_number(out, false, "timestamp_end", 64, "packet-end-default-clock-timestamp");
	json_number(out, false, "content_size", 64, "packet-content-length");
	json_number(out, false, "packet_size", 64, "packet-total-length");
	json_number(out, false, "events_discarded", 64,
		    "discarded-event-record-counter-snapshot");
	json_number(out, false, "packet_seq_num", 64, "packet-sequence-number");
	fputs("\n  ]},\n \"event-record-header-field-class\": {\"type\": \"structure\", ", out);
	fputs("\"minimum-alignment\": 64, \"member-classes\": [", out);
	json_number(out, true, "timestamp", 64, "default-clock-timestamp");
	json_number(out, false, "id", 16, "event-record-class-id");
	fputs("\n  ]},\n \"event-record-common-context-field-class\": ", out);
	fputs("{\"type\": \"structure\", \"member-classes\": [", out);
	json_number(out, true, "cpu", 16, NULL);
	json_number(out, false, "len", 32, NULL);
	fputs("\n  ]}}\n", out);
	json_event(out, ch, index, CTF_EVENT_RECORD);
	if (ch->fields.nr)
		json_event(out, ch, index, CTF_EVENT_BYTES);
}

static void write_json(FILE *out, const struct metadata *m)
{
	long long seconds, rest;
	char uuid[CTF_UUID_TEXT];

	format_uuid(m->uuid, uuid);
	split_offset(m->clock.offset, &seconds, &rest);
	fputs(FRAGMENT "{\"type\": \"preamble\", \"version\": 2, \"uuid\": [", out);
	for (int i = 0; i < 16; i++)
		fprintf(out, "%s%u", i ? ", " : "", m->uuid[i]);
	fputs("]}\n" FRAGMENT "{\"type\": \"trace-class\", \"name\": ", out);
	put_string(out, m->channels[0].name);
	fprintf(out, ", \"uid\": \"%s\",\n \"environment\": {", uuid);
	put_env(out, m, true);
	fputs("\n },\n \"packet-header-field-class\": ", out);
	fputs("{\"type\": \"structure\", \"member-classes\": [", out);
	json_number(out, true, "magic", 32, "packet-magic-number");
	json_member(out, false, "uuid");
	fputs("{\"type\": \"static-length-blob\", \"length\": 16, ", out);
	fputs("\"roles\": [\"metadata-stream-uuid\"]}}", out);
	json_number(out, false, "stream_id", 32, "data-stream-class-id");
	json_number(out, false, "stream_instance_id", 32, "data-stream-id");
	fputs("\n  ]}}\n" FRAGMENT "{\"type\": \"clock-class\", \"id\": \"monotonic_raw\", ", out);
	fputs("\"name\": \"monotonic_raw\",\n \"description\": \"CLOCK_MONOTONIC_RAW\", ", out);
	fputs("\"frequency\": 1000000000, \"origin\": \"unix-epoch\",\n", out);
	fprintf(out, " \"offset-from-origin\": {\"seconds\": %lld, \"cycles\": %lld}}\n",
		seconds, rest);
	if (any_symbols(m))
		json_symbols(out, m);
	for (unsigned int i = 0; i < m->nr; i++)
		json_channel(out, &m->channels[i], i);
}

/* Returns 0, or a negative errno */
int write_metadata(FILE *out, const struct metadata *m, bool ctf2)
{
	errno = 0;
	if (ctf2)
		write_json(out, m);
	else
		write_tsdl(out, m);

	return fflush(out) || ferror(out) ? -(errno ?: EIO) : 0;
}
