#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Makes directories that look like those of trace channels, with plain files of records, and
says what of them babeltrace2 and gtsc have to show. See ctf_host.sh.

usage: ctf_host.py make DIR         channels in DIR/root/..., their records in DIR/expected
       ctf_host.py records FILE     what babeltrace2 has printed, in the form of expected
       ctf_host.py gtsc FILE        what gtsc print has printed, in the form of expected
       ctf_host.py split FILE       a stream of packets into the files of a trace, in split/
       ctf_host.py one LEN          a record of this length, to the standard output
       ctf_host.py json FILE        checks metadata of CTF 2
       ctf_host.py functions DIR    a channel with addresses of functions, DIR/root/functions;
                                    DIR/functions.gtsc and DIR/functions.babeltrace are what
                                    is shown of it, DIR/functions.names are three functions:
                                    of one range, of two ranges, and one that does not occur.
                                    Status 4: no addresses are known
"""
import json
import os
import random
import re
import struct
import sys

RECORD, LOST = 0, 1


class Channel:
    """One channel; its records go to files, and to what is expected"""

    def __init__(self, top, name, fmt, flags):
        self.path = os.path.join(os.path.abspath(top), "root", name)
        self.name = self.path
        self.format = fmt
        self.files = {}
        os.makedirs(self.path)
        for file, text in (("flags", flags), ("state", "running"), ("sub_size", "65536"),
                           ("nr_sub", "16"), ("format", fmt), ("size", "65536 16"),
                           ("stats", "written 0\nread 0\nunread 0\noverwritten 0\n"
                            "dropped_full 0\ndropped_too_big 0\ndropped_nested 0")):
            with open(os.path.join(self.path, file), "w") as f:
                f.write(text + "\n")

    def write(self, number, cpu, time, payload, kind=RECORD):
        data = struct.pack("=QHHI", time, kind, cpu, len(payload)) + payload
        self.files.setdefault(number, bytearray()).extend(data + bytes(-len(data) % 8))

    def touch(self, number):
        self.files.setdefault(number, bytearray())

    def close(self):
        for number, data in self.files.items():
            with open(os.path.join(self.path, "buffer%d" % number), "wb") as f:
                f.write(data)


def make(top):
    random.seed(1)
    expected = []
    plain = Channel(top, "plain", "", "percpu normal header")
    text = Channel(top, "group/text", "text", "global flight header")
    calls = Channel(top, "group/calls", "x64 ip; x64 parent_ip", "percpu normal header")
    mixed = Channel(top, "mixed", "s32 pid; char comm[16];u8 flags[3]; s64 big; x16 x",
                    "percpu normal header")
    clash = Channel(top, "group_text", "u32 n", "percpu normal header")
    large = Channel(top, "large", "", "percpu normal header")
    time = 1000000000

    def expect(ch, when, kind, value):
        expected.append("%d.%09d %s %s %s" % (when // 10**9, when % 10**9, ch.name, kind, value))

    for i in range(20000):
        time += random.randrange(1, 1000)
        cpu = i % 3
        n = i % 41
        payload = bytes(random.randrange(256) for _ in range(n))
        plain.write(cpu, cpu, time, payload)
        expect(plain, time, "bytes", payload.hex())
        if i % 5000 == 4999:
            plain.write(cpu, cpu, time, struct.pack("=Q", 7 + i), LOST)
        time += 1
        line = "line %d" % i
        text.write(0, i % 4, time, line.encode())
        expect(text, time, "text", line)
        time += 1
        calls.write(cpu, cpu, time, struct.pack("=QQ", 0xffffffff81000000 + i, i))
        expect(calls, time, "fields", "ip=0x%x parent_ip=0x%x" % (0xffffffff81000000 + i, i))
        time += 1
        comm = ("task%d" % i if i % 7 else "0123456789abcdef").encode()
        if i % 100 == 99:
            # Of another length than the format says
            mixed.write(cpu, cpu, time, comm)
            expect(mixed, time, "bytes", comm.hex())
        else:
            mixed.write(cpu, cpu, time,
                        struct.pack("=i16s3Bqh", -i, comm, 1, 2, 255, -i * 10**12, i % 32768))
            expect(mixed, time, "fields", 'pid=%d comm="%s" flags=[1 2 255] big=%d x=0x%x' %
                   (-i, comm.decode(), -i * 10**12, i % 32768))
        if i == 10000:
            time += 1
            # The first record after two LOST ones, at the end of the file of CPU 3
            clash.write(3, 3, time, struct.pack("=Q", 100), LOST)
            clash.write(3, 3, time, struct.pack("=Q", 23), LOST)
            clash.write(3, 3, time, struct.pack("=I", 5))
            expect(clash, time, "fields", "n=5")
            clash.write(3, 3, time, struct.pack("=Q", 1000), LOST)
    plain.touch(3)
    for n in (1 << 20, 1, 300000, (1 << 20) + 13):
        time += 1
        payload = bytes([n % 251]) * n
        large.write(0, 0, time, payload)
        expect(large, time, "bytes", payload.hex())
    for ch in (plain, text, calls, mixed, clash, large):
        ch.close()
    with open(os.path.join(top, "expected"), "w") as f:
        f.writelines(line + "\n" for line in expected)


def value_of(fields):
    """The fields as babeltrace2 prints them, in the form in which gtsc does"""
    fields = re.sub(r"\[ (\[0\] = .*?) \]",
                    lambda m: "[" + re.sub(r"\[\d+\] = ", "", m[1]).replace(",", "") + "]", fields)
    fields = re.sub(r"(\w+) = ", r"\1=", fields).replace(", ", " ")
    return re.sub(r"0x[0-9A-F]+", lambda m: m[0].lower(), fields)


def records(path):
    """[00000001000000001] root/plain: { cpu_id = 0 }, { cpu = 0, len = 1 }, { data = [ [0] = 0x5 ] }"""
    with open(path) as f:
        for line in f:
            m = re.match(r"\[(\d+)\] (?:\w+ )?(/[^ ]*?)(:bytes)?: (?:\{ cpu_id = \d+ \}, )?"
                         r"\{ cpu = \d+, len = \d+ \}, \{ (.*) \}$", line.rstrip("\n"))
            # A packet of a global channel is of several CPUs
            if not m or ("cpu_id" in line[:line.index(" { ") + 12]) == m[2].endswith("/text"):
                sys.exit("not understood: " + line[:200])
            when, name, fields = int(m[1]), m[2], m[4]
            where = "%d.%09d %s" % (when // 10**9, when % 10**9, name)
            data = re.match(r"data = \[(.*)\]$", fields)
            text = re.match(r'text = "(.*)"$', fields)
            if data:
                numbers = re.findall(r"= 0x([0-9A-F]+)", data[1])
                print(where, "bytes", "".join("%02x" % int(n, 16) for n in numbers))
            elif text:
                print(where, "text", text[1])
            else:
                print(where, "fields", value_of(fields))


def gtsc(path):
    """[    1.000000001]   0 root/plain: 5 bytes, and lines in hexadecimal"""
    where, data = None, []

    def show():
        if where:
            print(where, "bytes", "".join(data))
    with open(path, errors="surrogateescape") as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("    ") and where:
                data.append(re.match(r"    [0-9a-f]{4,} (.{48})", line)[1].replace(" ", ""))
                continue
            show()
            where, data = None, []
            m = re.match(r"\[ *(\d+\.\d+)\] +[-0-9]+ (/[^ ]*): (.*)$", line)
            if not m:
                sys.exit("not understood: " + line[:200])
            if re.match(r"lost \d+ records$", m[3]):
                continue
            if re.match(r"\d+ bytes$", m[3]):
                where = m[1] + " " + m[2]
            else:
                print(m[1], m[2], "text" if m[2].endswith("/text") else "fields", m[3])
    show()


def json_text_sequence(path):
    def unique(pairs):
        assert len(dict(pairs)) == len(pairs), "a name occurs twice"
        return dict(pairs)
    with open(path, encoding="utf-8") as f:
        parts = f.read().split("\x1e")
    assert parts[0] == "", "no record separator at the start"
    fragments = [json.loads(part, object_pairs_hook=unique) for part in parts[1:]]
    types = [f["type"] for f in fragments]
    assert types[:3] == ["preamble", "trace-class", "clock-class"], types
    assert "domain" not in fragments[1]["environment"]
    assert fragments[0]["version"] == 2 and len(fragments[0]["uuid"]) == 16
    offset = fragments[2]["offset-from-origin"]
    assert 0 <= offset["cycles"] < fragments[2]["frequency"]
    streams = {f["id"]: f for f in fragments if f["type"] == "data-stream-class"}
    aliases = set()
    for f in fragments:
        if f["type"] == "field-class-alias":
            mappings(f["field-class"])
            aliases.add(f["name"])
        if f["type"] == "event-record-class":
            assert f["data-stream-class-id"] in streams
            assert f["payload-field-class"]["type"] == "structure"
            for member in f["payload-field-class"]["member-classes"]:
                field_class = member["field-class"]
                if isinstance(field_class, dict):
                    field_class = field_class.get("element-field-class", field_class)
                assert isinstance(field_class, dict) or field_class in aliases, field_class
    for f in streams.values():
        assert f["default-clock-class-id"] == fragments[2]["id"]
        packet = f["packet-context-field-class"]
        has_cpu = packet["member-classes"][0]["name"] == "cpu_id"
        # What is not there is padding before a structure that is aligned
        assert has_cpu != f["name"].endswith("/text")
        assert has_cpu == ("minimum-alignment" not in packet)


def mappings(field_class):
    """Each name has ranges of numbers that the integer can have, and no ranges overlap"""
    assert field_class["type"] == "fixed-length-signed-integer" and field_class["length"] == 64
    assert field_class["byte-order"] in ("little-endian", "big-endian")
    assert field_class.get("mappings", {"a": [[0, 0]]}), "no mapping: there must be none at all"
    ranges = sorted(r for value in field_class.get("mappings", {}).values() for r in value)
    for low, high in ranges:
        assert -1 << 63 <= low <= high < 1 << 63
    for before, after in zip(ranges, ranges[1:]):
        assert before[1] < after[0]


def text_symbols():
    """Names of functions by where they begin; only if an address has one name"""
    starts = {}
    with open("/proc/kallsyms") as f:
        for line in f:
            address, kind, name = line.split()[:3]
            if kind in "tTwW" and int(address, 16):
                starts.setdefault(int(address, 16), []).append(name)
    return starts


def functions(top):
    starts = text_symbols()
    ends = dict(zip(sorted(starts), sorted(starts)[1:]))
    by_name = {}
    for start, names in starts.items():
        if len(names) == 1 and start + 16 < ends.get(start, 0):
            by_name.setdefault(names[0], []).append(start)
    if not by_name:
        sys.exit(4)
    one = sorted(n for n in by_name if len(by_name[n]) == 1)
    # Two functions of one name, if there are such
    twin = sorted((n for n in by_name if len(by_name[n]) > 1) or one)[0]
    first, last = by_name[twin][0], by_name[twin][-1]
    calls = Channel(top, "functions", "ksym ip; ksym stack[3]; s32 pid", "percpu normal header")
    shown = {"gtsc": [], "babeltrace": []}

    def show(address, name, start):
        offset = "+0x%x" % (address - start) if address > start else ""
        return (name + offset if name else "0x%x" % address,
                "( %s : container = 0x%X )" % ('"%s"' % name if name else "<unknown>", address))

    for i in range(200):
        name = one[i * 37 % len(one)]
        start = by_name[name][0]
        known = [(start + i % 16, name, start), (first, twin, first), (last + 9, twin, last),
                 (16 + i, None, 0)]
        calls.write(i % 2, i % 2, 10**9 + i,
                    struct.pack("=4Qi", *(address for address, _, _ in known), i))
        printed, read = zip(*(show(*k) for k in known))
        shown["gtsc"].append("ip=%s stack=[%s %s %s] pid=%d" % (*printed, i))
        shown["babeltrace"].append("ip = %s, stack = [ [0] = %s, [1] = %s, [2] = %s ], pid = %d"
                                   % (*read, i))
    # Of another length: these bytes are no address of a record
    absent = one[-1]
    assert absent != name and all(absent not in line for line in shown["gtsc"])
    calls.write(0, 0, 2 * 10**9, struct.pack("=Q", by_name[absent][0]))
    calls.close()
    for program, lines in shown.items():
        with open(os.path.join(top, "functions." + program), "w") as f:
            f.writelines(line + "\n" for line in lines)
    with open(os.path.join(top, "functions.names"), "w") as f:
        f.write("%s %s %s\n" % (one[0], twin, absent))


def split(path):
    """A trace of the packets in a stream, whose sizes are in bits in their headers"""
    top = os.path.join(os.path.dirname(path), "split")
    with open(path, "rb") as f:
        data = f.read()
    size, = struct.unpack_from("=I", data, 28)
    with open(os.path.join(top, "metadata"), "wb") as f:
        f.write(data[37:size // 8])
    pos = size // 8
    while pos < len(data):
        magic, channel, number, size = struct.unpack_from("=I16xII28xQ", data, pos)
        assert magic == 0xc1fc1fc1
        with open(os.path.join(top, "%d_%d" % (channel, number)), "ab") as f:
            f.write(data[pos:pos + size // 8])
        pos += size // 8


def one(length):
    data = struct.pack("=QHHI", 1, RECORD, 9, int(length)) + bytes(int(length))
    sys.stdout.buffer.write(data + bytes(-len(data) % 8))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    {"make": make, "records": records, "gtsc": gtsc, "split": split,
     "one": one, "json": json_text_sequence, "functions": functions}[sys.argv[1]](sys.argv[2])
