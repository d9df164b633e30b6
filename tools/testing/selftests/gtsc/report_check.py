#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Checks what gtsc report has written for other programs.

usage: report_check.py json FILE: events of the Trace Event Format; prints their number
       report_check.py svg FILE: a flame graph; prints a line for each box
       report_check.py columns N COMMAND...: prints the longest line on a terminal of N columns
"""
import collections
import fcntl
import json
import os
import pty
import struct
import sys
import termios
import xml.etree.ElementTree as ElementTree
from decimal import Decimal

SVG = "{http://www.w3.org/2000/svg}"


def check_nesting(tid, slices):
    """Each slice is within another one, or apart from it"""
    ends = []
    for start, end in sorted(slices, key=lambda s: (s[0], -s[1])):
        while ends and ends[-1] <= start:
            ends.pop()
        assert not ends or end <= ends[-1], "tid %d: %s-%s overlaps" % (tid, start, end)
        ends.append(end)


def check_event(event, named):
    assert event["ph"] in "XiM", event
    assert isinstance(event["pid"], int) and isinstance(event["tid"], int), event
    assert isinstance(event["name"], str), event
    if event["ph"] == "M":
        assert event["name"] in ("process_name", "thread_name"), event
        assert isinstance(event["args"]["name"], str), event
        if event["name"] == "thread_name":
            named.add(event["tid"])
        return
    assert event["ts"] >= 0, event
    if event["ph"] == "X":
        assert event["dur"] >= 0, event
    else:
        assert event["s"] in ("t", "g"), event
    assert event.get("s") == "g" or event["tid"] in named, event


def check_json(name):
    with open(name, "rb") as f:
        trace = json.loads(f.read().decode("utf-8"), parse_float=Decimal)
    assert trace["displayTimeUnit"] == "ns"
    slices, named = collections.defaultdict(list), set()
    for event in trace["traceEvents"]:
        check_event(event, named)
        if event["ph"] == "X":
            slices[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for tid, of_tid in slices.items():
        check_nesting(tid, of_tid)
    kinds = collections.Counter(event["ph"] for event in trace["traceEvents"])
    print(*("%s %d" % kind for kind in sorted(kinds.items())))


def check_svg(name):
    root = ElementTree.parse(name).getroot()
    assert root.tag == SVG + "svg", root.tag
    rows = collections.defaultdict(list)
    for group in root.findall(SVG + "g"):
        x, width, level = (float(group.get("data-" + key)) for key in "xwl")
        assert width > 0 and x >= 10 and x + width <= 1190.001, (x, width)
        rows[level].append((x, x + width))
        title, text = group.find(SVG + "title").text, group.find(SVG + "text").text or ""
        label = title.split("\n", maxsplit=1)[0]
        assert text in ("", label) or text[-2:] == ".." and label.startswith(text[:-2]), text
        assert len(text) * 7.2 <= width, (text, width)
        print("%d %s" % (level, title.replace("\n", ": ")))
    for level, boxes in rows.items():
        boxes.sort()
        for (_, end), (start, _) in zip(boxes, boxes[1:]):
            assert start >= end - 0.001, (level, end, start)
        if level:
            for start, end in boxes:
                assert any(s <= start + 0.001 and end <= e + 0.001
                           for s, e in rows[level - 1]), (level, start, end)


def longest_line(columns, command):
    pid, fd = pty.fork()
    if not pid:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(columns), 0, 0))
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        os.execvp(command[0], command)
    output = b""
    while True:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        output += data
    os.waitpid(pid, 0)
    print(max(len(line) for line in output.split(b"\r\n")))


{
    "json": check_json, "svg": check_svg,
    "columns": lambda columns, *command: longest_line(columns, command),
}[sys.argv[1]](*sys.argv[2:])
