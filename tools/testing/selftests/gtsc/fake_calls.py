#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Makes a directory that looks like the trace channel of gtsc/graph or gtsc/functions.

usage: fake_calls.py DIR [graph|retval|functions] < LINES
       fake_calls.py DIR case NAME RECORDS

A line of LINES is CPU COMM-PID FUNCTION START END DEPTH [RETVAL] for graph and retval, and
CPU COMM-PID FUNCTION CALLER TIME for functions; numbers are nanoseconds. A FUNCTION is a name or
an address; names get addresses in the order in which they come, and DIR/kallsyms has them, as
DIR/names has them for the metadata of a trace. COMM
may contain the escapes of C. `CPU lost N TIME` tells of N lost records, and `CPU bytes N TIME` is
a record of N bytes. The lines need no order.

The cases are traces of that many records that are hard to add up.
"""
import collections
import os
import random
import shlex
import struct
import sys

import fake_channel

BASE, STEP = 0x0000000081000000, 0x100
RETURN = "ksym ip; u64 duration; s32 pid; u32 depth; char comm[16]"
FORMATS = {
    "graph": RETURN,
    "retval": RETURN + "; u64 retval",
    "functions": "ksym ip; ksym parent_ip; s32 pid; char comm[16]",
}


class Channel:
    """Records of all CPUs, before they are sorted by time"""

    def __init__(self, kind):
        self.kind = kind
        self.cpus = collections.defaultdict(list)
        self.addresses = {}

    def address(self, name):
        if name.startswith("0x"):
            return int(name, 16)
        return self.addresses.setdefault(name, BASE + STEP * len(self.addresses))

    def add(self, cpu, time, payload, kind=fake_channel.RECORD):
        self.cpus[cpu].append((time, fake_channel.record(time, kind, cpu, payload)))

    def add_return(self, cpu, comm, pid, ip, start, end, depth, retval=0):
        payload = struct.pack("=QQiI16s", ip, end - start, pid, depth, comm)
        if self.kind == "retval":
            payload += struct.pack("=Q", retval)
        self.add(cpu, end, payload)

    def add_line(self, cpu, task, *words):
        cpu = int(cpu)
        if task == "lost":
            self.add(cpu, int(words[1]), struct.pack("=Q", int(words[0])), fake_channel.LOST)
            return
        if task == "bytes":
            self.add(cpu, int(words[1]), bytes(int(words[0])))
            return
        comm, pid = task.rsplit("-", 1)
        comm = fake_channel.unescape(comm)
        if self.kind == "functions":
            ip, parent_ip = self.address(words[0]), self.address(words[1]) + 8
            self.add(cpu, int(words[2]), struct.pack("=QQi16s", ip, parent_ip, int(pid), comm))
            return
        numbers = [int(word, 0) for word in words[1:]]
        self.add_return(cpu, comm, int(pid), self.address(words[0]), *numbers)

    def write(self, top):
        fake_channel.make_directory(top, FORMATS[self.kind])
        for cpu, records in self.cpus.items():
            # A caller that ends with its callee comes behind it
            records.sort(key=lambda record: record[0])
            with open(os.path.join(top, b"buffer%d" % cpu), "wb") as f:
                f.write(b"".join(record for _, record in records))
        with open(os.path.join(top, b"kallsyms"), "w", encoding="ascii") as f:
            for name, address in self.addresses.items():
                f.write("%x t %s\n" % (address, name))
            f.write("%x t end\n" % (BASE + STEP * max(len(self.addresses), 1 << 16)))
        with open(os.path.join(top, b"names"), "w", encoding="ascii") as f:
            for name, address in self.addresses.items():
                f.write('"%s" = %d ... %d\n' % (name, address, address + STEP - 1))


def callees(channel, nr):
    """One caller has all others as callees"""
    for i in range(nr - 1):
        channel.add_return(0, b"task", 1, BASE + i % 1000 * STEP, 1000 * i + 10,
                           1000 * i + 500, 1)
    channel.add_return(0, b"task", 1, BASE, 1, 1000 * nr, 0)


def tasks(channel, nr):
    """A thousand tasks on four CPUs, with calls of ten levels"""
    for i in range(nr // 10):
        end = 20000 * i + 10000
        pid = i % 1000 + 1
        for depth in range(9, -1, -1):
            function = (i * 7 + depth * 13) % 500
            channel.add_return(i % 4, b"task%d" % pid, pid, BASE + function * STEP,
                               end - 900 * (depth + 1) - 500 * (10 - depth), end - 500 * depth,
                               depth)


def recursion(channel, nr):
    """A function that calls itself, 50 levels deep"""
    for i in range(nr // 50):
        for depth in range(49, -1, -1):
            channel.add_return(0, b"task", 1, BASE, 100000 * i + 1000 * depth,
                               100000 * i + 99999 - 1000 * depth, depth)


def functions(channel, nr):
    """60,000 functions, each called by any other"""
    rand = random.Random(1)
    for i in range(nr // 4):
        end = 10000 * i + 9000
        for depth in range(3, -1, -1):
            channel.add_return(i % 2, b"task", i % 2 + 1, BASE + rand.randrange(60000) * STEP,
                               10000 * i + 1000 * depth, end - 1000 * depth, depth)


def loop(channel, nr):
    """A caller that does not return"""
    for i in range(nr):
        channel.add_return(0, b"task", 1, BASE + i % 2 * STEP, 1000 * i, 1000 * i + 999 - i % 2,
                           2 - i % 2)


def junk(channel, nr):
    """Calls that do not nest"""
    rand = random.Random(1)
    for i in range(nr):
        end = 1 << 40 | i
        start = end - rand.randrange(1 << rand.randrange(1, 40))
        channel.add_return(0, b"task", rand.randrange(50), BASE + rand.randrange(1 << 24), start,
                           end, rand.randrange(1 << rand.randrange(1, 10)))


def main():
    top, kind = os.fsencode(sys.argv[1]), sys.argv[2]
    if kind == "case":
        channel = Channel("graph")
        {f.__name__: f for f in (callees, tasks, recursion, functions, loop, junk)}[sys.argv[3]](
            channel, int(sys.argv[4]))
    else:
        channel = Channel(kind)
        for line in sys.stdin:
            if line.strip():
                channel.add_line(*shlex.split(line))
    channel.write(top)


main()
