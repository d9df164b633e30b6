// SPDX-License-Identifier: GPL-2.0
/*
 * Damages traces at random, and lets gtsc print and report them, in one process: all of the
 * program but its main.c and the files that run other programs. It is built with
 * AddressSanitizer and UndefinedBehaviorSanitizer, which end it with a message.
 *
 * usage: fuzz_trace [CASES [SEED]]
 *
 * A case depends on nothing but its number and the seed: `fuzz_trace 1 SEED` with the seed that
 * is shown repeats the last one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../tracing/gtsc/ctf.h"
#include "../../tracing/gtsc/report.h"

#define MAX_SIZE	(64 * 1024)
#define NR_RECORDS	24
#define KALLSYMS	"ffffffff81000000 t f0\nffffffff81000100 T f<1>\nffffffff81000200 t f;2\n" \
			"ffffffff81000300 t f0\nffffffff81000380 W tracer_name\n"

/* Of main.c, for report.c */
int bad_usage(const char *name)
{
	return 2;
}

struct text {
	uint8_t		data[MAX_SIZE];
	size_t		len;
};

static const char *const formats[] = {
	"ksym ip; u64 duration; s32 pid; u32 depth; char comm[16]; u64 retval",
	"ksym ip; ksym parent_ip; s32 pid; char comm[16]",
	"u8 a; s16 b; x64 c[3]; char name[5]",
	"text",
};

#define NR_CHANNELS	ARRAY_SIZE(formats)

static struct metadata meta;
/*
 * As they are before the damage: metadata of CTF 1.8 and 2, without and with names of functions;
 * and the packets of each channel
 */
static struct text good_metadata[2], named_metadata[2], good[NR_CHANNELS];
/* What /proc/kallsyms has */
static struct text kallsyms;
static char dir_name[64];
static int dir, stream_fd;
static uint64_t state;

/* Random numbers: xorshift64*, after a step that spreads the seed */
static uint64_t rnd(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;

	return state * 0x2545f4914f6cdd1dULL;
}

static void set_seed(uint64_t seed)
{
	seed = (seed + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
	state = (seed ^ seed >> 31) ?: 1;
}

static uint64_t below(uint64_t n)
{
	return rnd() % n;
}

/* A file with nothing else in it */
static void write_stream(const struct text *text)
{
	if (ftruncate(stream_fd, 0) ||
	    pwrite(stream_fd, text->data, text->len, 0) != (ssize_t)text->len)
		abort();
}

/* The good trace */

static void add_bytes(struct text *text, const void *p, size_t len)
{
	if (text->len + len > sizeof(text->data))
		len = sizeof(text->data) - text->len;
	memcpy(text->data + text->len, p, len);
	text->len += len;
}

/* For symbols.c alone: the names of this machine are many, and not those of another one */
FILE *fopen(const char *name, const char *mode)
{
	return kallsyms.len ? fmemopen(kallsyms.data, kallsyms.len, "r") : NULL;
}

static size_t make_record(unsigned int channel, unsigned int i, uint8_t *data)
{
	uint64_t ip = 0xffffffff81000000ULL + i % 5 * 0x100, parent_ip = ip + 0x108;
	uint64_t duration = i % 4 * 20 + 5;
	int32_t pid = i % 3;
	uint32_t depth = 3 - i % 4;

	memset(data, 'x', 64);
	memcpy(data, &ip, 8);
	if (channel == 0) {
		memcpy(data + 8, &duration, 8);
		memcpy(data + 16, &pid, 4);
		memcpy(data + 20, &depth, 4);
		memcpy(data + 24, "comm \xc3\xa9\0", 8);
		return 48;
	}
	if (channel == 1) {
		memcpy(data + 8, &parent_ip, 8);
		memcpy(data + 16, &pid, 4);
		return 36;
	}

	return channel == 2 ? 32 : 1 + i;
}

static void add_record(struct text *text, unsigned int channel, unsigned int i, size_t *content)
{
	static const uint8_t padding[8];
	struct gtsc_record_header h = { .time = 1000 + 10 * i, .cpu = i % 2 };
	uint8_t data[64];

	h.len = make_record(channel, i, data);
	add_bytes(text, &h, sizeof(h));
	add_bytes(text, data, h.len);
	*content = text->len;
	add_bytes(text, padding, record_size(h.len) - sizeof(h) - h.len);
}

/* Records from @first on; none: the packet ends the stream */
static void add_packet(struct text *text, unsigned int channel, unsigned int first,
		       unsigned int nr)
{
	size_t start = text->len, content = start + sizeof(struct ctf_packet);
	struct ctf_packet packet = {
		.magic = CTF_MAGIC, .stream_id = channel,
		.timestamp_begin = 1000 + 10 * first,
		.timestamp_end = 1000 + 10 * (first + (nr ? nr - 1 : 0)),
		.events_discarded = first / 4, .packet_seq_num = first / 8,
	};

	memcpy(packet.uuid, meta.uuid, sizeof(packet.uuid));
	add_bytes(text, &packet, sizeof(packet));
	for (unsigned int i = first; i < first + nr; i++)
		add_record(text, channel, i, &content);
	packet.content_size = (content - start) * 8;
	packet.packet_size = (text->len - start) * 8;
	memcpy(text->data + start, &packet, sizeof(packet));
}

static void put_metadata(struct text *text, const struct metadata *m, bool ctf2)
{
	char *p = NULL;
	size_t size;
	FILE *f;

	f = must(open_memstream(&p, &size));
	write_metadata(f, m, ctf2);
	fclose(f);
	text->len = 0;
	add_bytes(text, p, size);
	free(p);
}

/* The functions of the records in @meta, as at the end of a recording */
static void add_names(const struct text *packets, unsigned int channel)
{
	struct map addresses = { };

	write_stream(packets);
	add_addresses_of_file(&addresses, &meta.channels[channel].fields, stream_fd);
	find_names(&meta, &addresses);
	map_free(&addresses);
}

static void forget_names(void)
{
	free(meta.symbols);
	meta.symbols = NULL;
	meta.nr_symbols = 0;
}

static void make_metadata(void)
{
	memset(meta.uuid, 0x5a, sizeof(meta.uuid));
	meta.clock = (struct wall_clock){ 900, 1100, 1700000000000000000, 1700000000000000005 };
	for (unsigned int i = 0; i < NR_CHANNELS; i++) {
		struct channel *ch = add_channel(&meta.channels, &meta.nr);

		snprintf(ch->name, sizeof(ch->name), "fuzz/trace/%u", i);
		snprintf(ch->format, sizeof(ch->format), "%s", formats[i]);
		parse_fields(ch->format, &ch->fields);
	}
	for (int i = 0; i < 2; i++)
		put_metadata(&good_metadata[i], &meta, i);
}

static void make_trace(void)
{
	for (unsigned int i = 0; i < NR_CHANNELS; i++) {
		for (unsigned int first = 0; first < NR_RECORDS; first += 8)
			add_packet(&good[i], i, first, 8);
		add_packet(&good[i], i, NR_RECORDS, 0);
	}
	add_names(&good[1], 1);
	for (int i = 0; i < 2; i++)
		put_metadata(&named_metadata[i], &meta, i);
	forget_names();
}

/* Damage */

static uint64_t extreme(void)
{
	static const uint64_t numbers[] = {
		0, 1, 7, 8, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, UINT32_MAX,
		INT64_MAX, 1ULL << 63, UINT64_MAX, UINT64_MAX - 15,
	};

	return numbers[below(ARRAY_SIZE(numbers))];
}

static void put_extreme(struct text *text, size_t at)
{
	uint64_t number = extreme();
	size_t size = 1U << below(4);

	if (size <= text->len - at)
		memcpy(text->data + at, &number, size);
}

/* Fields are at multiples of their size */
static void damage_once(struct text *text)
{
	size_t at = below(text->len), from = below(text->len), len = below(64);

	switch (below(8)) {
	case 0:
		text->data[at] ^= 1 << below(8);
		break;
	case 1:
		text->data[at] = rnd();
		break;
	case 2:
		put_extreme(text, at);
		break;
	case 3:
	case 4:
		put_extreme(text, at & ~7UL);
		break;
	case 5:
		if (len <= text->len - at && len <= text->len - from)
			memmove(text->data + at, text->data + from, len);
		break;
	case 6:
		if (len < text->len - at) {
			memmove(text->data + at, text->data + at + len, text->len - at - len);
			text->len -= len;
		}
		break;
	default:
		text->data[at] += rnd() % 2 ? 1 : -1;
	}
}

static void damage(struct text *text)
{
	for (uint64_t nr = 1 + below(1 + below(12)); nr && text->len; nr--)
		damage_once(text);
	if (!below(20) && text->len)
		text->len = below(text->len);
}

/* What gtsc does with it */

static bool add_call(const struct item *item, void *calls)
{
	calls_add(calls, item);
	if (!below(100))
		calls_reset(calls);

	return true;
}

static void report_table(struct calls *calls)
{
	struct table table = {
		.by = below(BY_CPU + 1), .sort = below(SORT_NAME + 1), .lines = below(3),
		.width = below(2) * 80,
	};

	show_table(calls, &table, stdout);
}

static void report_one(int (*read)(const struct sink *sink))
{
	struct flame flame = { .by = BY_TASK + below(2), .title = "<title>", .minimum = below(2) };
	struct calls *calls = calls_new();

	read(&(struct sink){ .take = add_call, .data = calls });
	if (below(2))
		calls_end(calls);
	switch (below(4)) {
	case 0:
		show_folded(calls, flame.by, stdout);
		break;
	case 1:
		show_flame(calls, &flame, stdout);
		break;
	default:
		report_table(calls);
	}
	calls_free(calls);
}

static void write_events(int (*read)(const struct sink *sink))
{
	struct perfetto perfetto;

	perfetto_start(&perfetto, stdout);
	read(&(struct sink){ .take = perfetto_take, .data = &perfetto });
	perfetto_end(&perfetto);
}

static void show_top(int (*read)(const struct sink *sink))
{
	struct top top = { .out = stdout, .keep = below(2), .table.by = BY_FUNCTION };

	top_start(&top);
	read(&(struct sink){ .take = top_take, .pause = top_pause, .data = &top });
	top_end(&top);
}

static void print_one(int (*read)(const struct sink *sink))
{
	static const char *const names[] = {
		"count", "fields", "function", "graph", "hex", "raw", "text",
	};

	print_wall_clock = below(2);
	print_format = find_format(names[below(ARRAY_SIZE(names))]);
	read(&print_sink);
}

static void use(int (*read)(const struct sink *sink))
{
	void (*const uses[])(int (*read)(const struct sink *sink)) = {
		report_one, report_one, report_one, write_events, show_top, print_one,
	};

	uses[below(ARRAY_SIZE(uses))](read);
	forget_trace();
}

/* Cases */

static struct text any_metadata(void)
{
	const struct text *texts = below(3) ? named_metadata : good_metadata;

	return texts[below(2)];
}

static void write_file(const char *name, const struct text *text)
{
	int fd = openat(dir, name, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text->data, text->len) != (ssize_t)text->len)
		abort();
	close(fd);
}

static int read_dir(const struct sink *sink)
{
	return read_directory(dir_name, sink);
}

static void fuzz_directory(void)
{
	struct text text;
	char name[16];

	text = any_metadata();
	if (!below(4))
		damage(&text);
	write_file("metadata", &text);
	for (unsigned int i = 0; i < NR_CHANNELS; i++) {
		text = good[i];
		if (!i || !below(3))
			damage(&text);
		snprintf(name, sizeof(name), "stream_%u", i);
		write_file(name, &text);
	}
	use(read_dir);
}

static void add_metadata_packet(struct text *text)
{
	struct text metadata = any_metadata();
	uint32_t bits = (sizeof(struct ctf_metadata_packet) + metadata.len) * 8;
	struct ctf_metadata_packet packet = {
		.magic = CTF_METADATA_MAGIC, .content_size = bits, .packet_size = bits,
		.major = 1, .minor = 8,
	};

	memcpy(packet.uuid, meta.uuid, sizeof(packet.uuid));
	add_bytes(text, &packet, sizeof(packet));
	add_bytes(text, metadata.data, metadata.len);
}

static void fuzz_stdin(void)
{
	struct text text = { }, packets = { };

	add_metadata_packet(&text);
	if (!below(4))
		damage(&text);
	for (unsigned int i = 0; i < NR_CHANNELS; i++)
		add_bytes(&packets, good[i].data, good[i].len);
	damage(&packets);
	add_bytes(&text, packets.data, packets.len);
	write_stream(&text);
	if (lseek(stream_fd, 0, SEEK_SET) || dup2(stream_fd, STDIN_FILENO) < 0)
		abort();
	use(read_stdin);
}

/* Also of names alone, which are the smaller part */
static void damage_names(struct text *text)
{
	struct text names = { };
	const char *first = memmem(text->data, text->len, "\"f0\"", 4);
	size_t start = first ? (const uint8_t *)first - text->data : 0;

	add_bytes(&names, text->data + start, text->len - start);
	damage(&names);
	text->len = start;
	add_bytes(text, names.data, names.len);
}

static void look_up_all(void)
{
	for (uint64_t address = 0xffffffff81000000; address < 0xffffffff81000500; address += 0x40)
		print_symbol(address, stdout);
	print_symbol(extreme(), stdout);
}

static void fuzz_metadata(void)
{
	struct text text = any_metadata();
	struct metadata m = { };

	if (below(2))
		damage_names(&text);
	else
		damage(&text);
	text.data[text.len < MAX_SIZE ? text.len : MAX_SIZE - 1] = '\0';
	parse_metadata((char *)text.data, &m);
	free(m.channels);
	look_up_all();
}

/* Names of functions: of a stream, with the description of any channel, into metadata and back */
static void fuzz_names(void)
{
	struct text text = good[below(NR_CHANNELS)];
	struct metadata m = { };

	damage(&text);
	add_names(&text, below(NR_CHANNELS));
	put_metadata(&text, &meta, below(2));
	forget_names();
	forget_symbols();
	text.data[text.len < MAX_SIZE ? text.len : MAX_SIZE - 1] = '\0';
	if (parse_metadata((char *)text.data, &m))
		abort();
	free(m.channels);
	look_up_all();
}

static void fuzz_clock(void)
{
	struct wall_clock clock = { extreme(), extreme(), extreme() - below(2), extreme() };

	if (below(2))
		clock.end = clock.begin + rnd();
	use_wall_clock(&clock);
	for (int i = 0; i < 8; i++)
		wall_time(i % 2 ? extreme() : clock.begin + rnd());
	wall_time(clock.end - 1);
}

static void fuzz_fields(void)
{
	const char *format = formats[below(NR_CHANNELS)];
	struct fields fields;
	struct text text;

	text.len = 0;
	add_bytes(&text, format, strlen(format));
	damage(&text);
	text.data[text.len] = '\0';
	parse_fields((char *)text.data, &fields);
}

static void fuzz(void)
{
	void (*const kinds[])(void) = {
		fuzz_directory, fuzz_directory, fuzz_stdin, fuzz_stdin, fuzz_metadata, fuzz_fields,
		fuzz_names, fuzz_clock,
	};
	struct text good_kallsyms = kallsyms;

	if (!below(8))
		damage(&kallsyms);
	kinds[below(ARRAY_SIZE(kinds))]();
	forget_symbols();
	kallsyms = good_kallsyms;
}

static void setup(void)
{
	snprintf(dir_name, sizeof(dir_name), "/dev/shm/fuzz_trace.XXXXXX");
	must(mkdtemp(dir_name));
	dir = open(dir_name, O_RDONLY | O_DIRECTORY);
	stream_fd = memfd_create("stream", 0);
	if (dir < 0 || stream_fd < 0)
		abort();
	add_bytes(&kallsyms, KALLSYMS, strlen(KALLSYMS));
	make_metadata();
	make_trace();
	forget_symbols();
}

static void clean_up(void)
{
	char name[16];

	unlinkat(dir, "metadata", 0);
	for (unsigned int i = 0; i < NR_CHANNELS; i++) {
		snprintf(name, sizeof(name), "stream_%u", i);
		unlinkat(dir, name, 0);
	}
	rmdir(dir_name);
	free(meta.channels);
}

/* The messages of gtsc, and what it prints, go to /dev/null: the sanitizers use the file 2 */
int main(int argc, char **argv)
{
	uint64_t cases = 100000, seed = 1;

	if (argc > 1)
		cases = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	setup();
	stdout = must(fdopen(open("/dev/null", O_WRONLY), "w"));
	stderr = must(fdopen(open("/dev/null", O_WRONLY), "w"));
	for (uint64_t i = 0; i < cases; i++) {
		set_seed(seed + i);
		if (i % 100000 == 0)
			dprintf(STDOUT_FILENO, "# %" PRIu64 " cases, seed %" PRIu64 "\n", i,
				seed + i);
		fuzz();
	}
	clean_up();
	dprintf(STDOUT_FILENO, "%" PRIu64 " cases\n", cases);

	return 0;
}
