#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Makes directories that look like those of trace channels, with plain files of records.

usage: fake_channel.py TOP < LINES

Each line is DIR [-c CHANNELS] [-n FILES] [-r RECORDS] [-f FORMAT] [-l LOST] [-t TIME]
[-b BACK] [-s KEY=NUMBER]... [PAYLOAD]: CHANNELS channels DIR/0, DIR/1... in TOP, or one in DIR,
with FILES buffer files of RECORDS records each, from TIME nanoseconds on, in whose middle the clock
goes back by BACK; behind them a record that tells of LOST lost ones; counters of the file stats.
DIR and PAYLOAD may contain the escapes of C.
"""
import argparse
import os
import shlex
import struct
import sys

RECORD, LOST = 0, 1
KEYS = ("written", "read", "unread", "overwritten", "dropped_full", "dropped_too_big",
        "dropped_nested")


def record(time, kind, cpu, payload):
    data = struct.pack("=QHHI", time, kind, cpu, len(payload)) + payload
    return data + bytes(-len(data) % 8)


def unescape(text):
    return text.encode().decode("unicode_escape").encode("latin-1")


def make_directory(top, form, stats=()):
    """All but the buffer files"""
    stats = dict.fromkeys(KEYS, 0) | dict(stats)
    os.makedirs(top)
    for file, text in ((b"flags", "percpu normal header"), (b"state", "running"),
                       (b"sub_size", "65536"), (b"nr_sub", "16"), (b"size", "65536 16"),
                       (b"format", form),
                       (b"stats", "\n".join("%s %s" % s for s in stats.items()))):
        with open(os.path.join(top, file), "w", encoding="ascii") as f:
            f.write(text + "\n")


def make(top, args):
    make_directory(top, args.f, (s.split("=") for s in args.s))
    for cpu in range(args.n):
        with open(os.path.join(top, b"buffer%d" % cpu), "wb") as f:
            for i in range(args.r):
                back = args.b if i >= args.r // 2 else 0
                f.write(record(args.t + i - back, RECORD, cpu, unescape(args.payload)))
            if args.l:
                f.write(record(args.t + args.r, LOST, cpu, struct.pack("=Q", args.l)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("-c", type=int)
    parser.add_argument("-n", type=int, default=1)
    parser.add_argument("-r", type=int, default=1)
    parser.add_argument("-f", default="")
    parser.add_argument("-l", type=int, default=0)
    parser.add_argument("-t", type=int, default=10**9)
    parser.add_argument("-b", type=int, default=0)
    parser.add_argument("-s", action="append", default=[])
    parser.add_argument("payload", nargs="?", default="12345678")
    for line in sys.stdin:
        args = parser.parse_intermixed_args(shlex.split(line))
        path = os.path.join(os.fsencode(sys.argv[1]), unescape(args.dir))
        if args.c is None:
            make(path, args)
        for i in range(args.c or 0):
            make(os.path.join(path, b"%d" % i), args)


if __name__ == "__main__":
    main()
