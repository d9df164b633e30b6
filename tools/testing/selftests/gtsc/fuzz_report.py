#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Damages recorded traces at random, and lets gtsc, built with AddressSanitizer and
UndefinedBehaviorSanitizer, print and report them: it has to end with the status 0 or 1.
tools/testing/gtsc/fuzz_trace.c does so in one process, for many more cases.

CASES and SEED of the environment are the number of cases (300) and the number of the first one;
GTSC_SANITIZED is the program, which otherwise is built from the kernel's source.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.join(HERE, "../../../tracing/gtsc")
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all"
LINES = {
    "retval": ["%d task-%d f%d %d %d %d 5" % (i % 2, i % 3, i % 7, 1000 * i - i % 4 * 1200 + 9000,
                                              1000 * i + 9000, 3 - i % 4) for i in range(40)] +
              ["0 lost 7 70000", "1 bytes 5 70000"],
    "functions": ["%d task-%d f%d f%d %d" % (i % 2, i % 3, i % 7, i % 5, 1000 * i)
                  for i in range(20)],
}
USES = [["report", "--by", by] for by in ("caller", "path", "task", "comm", "cpu")] + [
    ["report"], ["report", "--sort", "name", "-n", "5"], ["report", "--folded"],
    ["report", "--flame"],
    ["report", "--flame", "--by", "function", "--minimum", "0"], ["report", "--perfetto"],
    ["print"], ["print", "-f", "graph"], ["print", "-f", "function", "-w"],
]
NUMBERS = [0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 2**63 - 1, 2**63,
           2**64 - 1]


def skip(why):
    print("1..0 # SKIP " + why)
    sys.exit(4)


def build(tmp):
    program = os.environ.get("GTSC_SANITIZED")
    if program:
        return program
    if not os.path.exists(os.path.join(SOURCE, "Makefile")):
        skip("no source of gtsc, and no GTSC_SANITIZED")
    done = subprocess.run(["make", "-s", "-C", SOURCE, "OUTPUT=" + tmp, "CFLAGS=-O1 -g " + SANITIZE,
                           "LDFLAGS=" + SANITIZE], capture_output=True, check=False)
    if done.returncode:
        skip("gtsc cannot be built with sanitizers")
    return os.path.join(tmp, "gtsc")


def record(gtsc, tmp, kind):
    channel, trace = os.path.join(tmp, kind), os.path.join(tmp, kind + ".ctf")
    subprocess.run([sys.executable, os.path.join(HERE, "fake_calls.py"), channel, kind], check=True,
                   input="\n".join(LINES[kind]), text=True)
    subprocess.run([gtsc, "record", "-q", "-d", "0.1", "-o", trace, channel], check=True)
    with open(os.path.join(channel, "names"), "rb") as f:
        names = f.read()
    with open(os.path.join(trace, "metadata"), "ab") as f:
        f.write(names)
    files = {}
    for name in os.listdir(trace):
        with open(os.path.join(trace, name), "rb") as f:
            files[name] = bytearray(f.read())
    return files


def damage(rand, data):
    for _ in range(rand.choice((1, 1, 2, 5, 20))):
        if not data:
            return
        at, kind = rand.randrange(len(data)), rand.randrange(5)
        if kind == 0:
            data[at] ^= 1 << rand.randrange(8)
        elif kind == 1:
            data[at] = rand.randrange(256)
        elif kind == 2:
            size = rand.choice((2, 4, 8))
            number = rand.choice(NUMBERS) % 256**size
            data[at & ~7:(at & ~7) + size] = number.to_bytes(size, sys.byteorder)
        elif kind == 3:
            del data[at:at + rand.randrange(64)]
        else:
            start = rand.randrange(len(data))
            data[at:at] = data[start:start + rand.randrange(64)]
    if not rand.randrange(10):
        del data[rand.randrange(len(data) + 1):]


def run_case(gtsc, trace, files, seed):
    """Returns what is wrong"""
    rand = random.Random(seed)
    shutil.rmtree(trace, ignore_errors=True)
    os.mkdir(trace)
    files = {name: bytearray(data) for name, data in files.items()}
    for name in rand.sample(sorted(files), rand.choice((1, 1, 2))):
        damage(rand, files[name])
    for name, data in files.items():
        with open(os.path.join(trace, name), "wb") as f:
            f.write(data)
    command = [gtsc] + rand.choice(USES) + [trace]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300,
                          env=os.environ | {"ASAN_OPTIONS": "exitcode=99",
                                            "UBSAN_OPTIONS": "exitcode=99"}, check=False)
    if done.returncode in (0, 1) and b"runtime error" not in done.stderr:
        return ""
    return "SEED=%d CASES=1: %s: status %d\n%s" % (seed, " ".join(command[1:-1]), done.returncode,
                                                   done.stderr.decode("latin-1"))


def main():
    # make exports variables that are empty
    cases, seed = int(os.environ.get("CASES") or 300), int(os.environ.get("SEED") or 1)
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        gtsc = build(tmp)
        traces = [record(gtsc, tmp, kind) for kind in LINES]
        for i in range(cases):
            wrong = run_case(gtsc, os.path.join(tmp, "damaged"), traces[(seed + i) % 2], seed + i)
            failed += bool(wrong)
            for line in wrong.splitlines():
                print("# " + line)
    print("%s 1 %d damaged traces are printed or reported, or refused" %
          ("not ok" if failed else "ok", cases))
    print("1..1")
    sys.exit(bool(failed))


main()
