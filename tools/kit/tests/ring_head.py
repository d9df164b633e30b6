#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
ring_head.py [--stock] [--pages N] [--nested N]: a model of the head page of the ring buffer.

Visits all states that nested writers in overwrite mode on one CPU, and a reader on another CPU,
reach. A step is a line of rb_move_tail(), rb_handle_head_page(), rb_set_new_head() and
rb_tail_page_update(), or of __rb_get_reader_page(). An interrupt may come between any two steps of a
writer, and runs to its end. Fails, and prints the steps, if two pointers have the flag HEAD, if the
flags or old_head are not those of a buffer at rest while no writer is active, or if the kernel would
warn. --stock: the code without patches/fixes-ring-buffer/02-moved-head.patch.

Left out: memory that CPUs see in another order, a commit that is interrupted between two pages, a
reader on the CPU of the writer, resizing, resetting and mapping.
"""
import argparse
import sys
from collections import namedtuple

NORMAL, HEAD, UPDATE, MOVED = "normal", "HEAD", "UPDATE", "moved"

# nxt: a pair (page, flag) for each page. reader: cpu_buffer->reader_page. swap: the page before the
# head, the head, and the page behind it, which the reader has found, or None. taken: the page that
# the reader has taken off the ring and not stored in reader yet, or None. writers: a stack.
State = namedtuple("State", "nxt tail commit reader old_head swap taken writers")
Writer = namedtuple("Writer", "step tail next new_head type")


class Bug(Exception):
    """The kernel warns, or the buffer has two heads"""


def set_flag(state, page, expected_page, old, new):
    """cmpxchg of the pointer in page; returns what rb_head_page_set() returns"""
    target, flag = state.nxt[page]
    if target != expected_page:
        return state, MOVED
    if flag != old:
        return state, flag
    nxt = list(state.nxt)
    nxt[page] = (target, new)
    return state._replace(nxt=tuple(nxt)), flag


def put(state, writer):
    # What is not read any more does not tell states apart
    if writer.step == "reset_old":
        writer = writer._replace(new_head=None)
    elif writer.step == "reset_old_head":
        writer = writer._replace(type=None)
    elif writer.step == "update_tail":
        writer = writer._replace(new_head=None, type=None)
    return state._replace(writers=state.writers[:-1] + (writer,))


def done(state):
    """The writer returns; the outermost one commits"""
    writers = state.writers[:-1]
    return state._replace(writers=writers, commit=state.commit if writers else state.tail)


def off_ring(state):
    """The page that is not in the ring: that of the reader"""
    return state.reader if state.taken is None else state.taken


def flag_new_head(state, w, old, new, step):
    """Change the flag in the pointer to the new head, if it is old; the code does not look at it"""
    state, _ = set_flag(state, w.next, w.new_head, old, new)
    return put(state, w._replace(step=step))


class Model:
    def __init__(self, stock):
        self.stock = stock

    def write(self, state):
        """The next step of the innermost writer"""
        return getattr(self, "do_" + state.writers[-1].step)(state, state.writers[-1])

    # rb_move_tail()

    def do_start(self, state, w):
        return put(state, w._replace(step="next", tail=state.tail))

    def do_next(self, state, w):
        page = state.nxt[w.tail][0]
        if page == state.commit:
            return done(state)
        return put(state, w._replace(step="is_head", next=page))

    def do_is_head(self, state, w):
        page, flag = state.nxt[w.tail]
        if page == w.next and flag == NORMAL:
            return put(state, w._replace(step="update_tail"))
        # rb_is_reader_page() looks at the ring, the test for a full buffer at reader_page
        if state.commit != off_ring(state):
            return put(state, w._replace(step="find_new_head" if not self.stock else "old_head"))
        if state.commit != state.tail and state.commit == state.reader:
            return done(state)
        return put(state, w._replace(step="update_tail"))

    # rb_handle_head_page()

    def do_find_new_head(self, state, w):
        return put(state, w._replace(step="old_head", new_head=state.nxt[w.next][0]))

    def do_old_head(self, state, w):
        state, flag = set_flag(state, w.tail, w.next, HEAD, UPDATE)
        if flag in (NORMAL, MOVED):
            return done(state)
        step = "find_new_head_stock" if self.stock else "tail_moved"
        return put(state, w._replace(step=step, type=flag))

    # rb_set_new_head()

    def do_tail_moved(self, state, w):
        if state.tail != w.tail:
            return put(state, w._replace(step="reset_old"))
        if state.old_head == w.next:
            return put(state, w._replace(step="set_head"))
        return put(state, w._replace(step="claim"))

    def do_claim(self, state, w):
        return flag_new_head(state, w, NORMAL, UPDATE, "claimed")

    def do_claimed(self, state, w):
        if state.tail != w.tail:
            return put(state, w._replace(step="give_back"))
        return put(state, w._replace(step="set_old_head"))

    def do_give_back(self, state, w):
        return flag_new_head(state, w, UPDATE, NORMAL, "reset_old")

    def do_set_old_head(self, state, w):
        return put(state._replace(old_head=w.next), w._replace(step="set_head"))

    def do_set_head(self, state, w):
        return flag_new_head(state, w, UPDATE, HEAD, "reset_old")

    # The same in the stock kernel

    def do_find_new_head_stock(self, state, w):
        return put(state, w._replace(step="set_head_stock", new_head=state.nxt[w.next][0]))

    def do_set_head_stock(self, state, w):
        state, flag = set_flag(state, w.next, w.new_head, NORMAL, HEAD)
        if flag not in (HEAD, NORMAL):
            raise Bug(f"rb_handle_head_page() warns: {flag}")
        return put(state, w._replace(step="moved_stock" if flag == NORMAL else "reset_old"))

    def do_moved_stock(self, state, w):
        step = "reset_old" if state.tail in (w.tail, w.next) else "undo_stock"
        return put(state, w._replace(step=step))

    def do_undo_stock(self, state, w):
        return flag_new_head(state, w, HEAD, NORMAL, "reset_old")

    # rb_handle_head_page() again

    def do_reset_old(self, state, w):
        if w.type != HEAD:
            return put(state, w._replace(step="update_tail"))
        state, flag = set_flag(state, w.tail, w.next, UPDATE, NORMAL)
        if flag != UPDATE:
            raise Bug(f"the old head is not UPDATE, but {flag}")
        return put(state, w._replace(step="reset_old_head"))

    def do_reset_old_head(self, state, w):
        return put(state._replace(old_head=None), w._replace(step="update_tail"))

    # rb_tail_page_update()

    def do_update_tail(self, state, w):
        if state.tail == w.tail:
            state = state._replace(tail=w.next)
        return done(state)


def interrupt(state):
    return state._replace(writers=state.writers + (Writer("start", None, None, None, None),))


def find_head(state):
    """rb_set_head_page(): the reader on the other CPU finds a page with the flag"""
    if state.reader == state.commit:
        return
    for prev, (page, flag) in enumerate(state.nxt):
        if prev != state.reader and flag == HEAD:
            yield state._replace(swap=(prev, page, state.nxt[page][0]))


def swap(state):
    """rb_head_page_replace(): the reader takes the head, if it still is the head"""
    prev, page, behind = state.swap
    nxt = list(state.nxt)
    nxt[state.reader] = (behind, HEAD)
    if nxt[prev] != (page, HEAD):
        return state._replace(nxt=tuple(nxt), swap=None)
    nxt[prev] = (state.reader, NORMAL)
    return state._replace(nxt=tuple(nxt), taken=page, swap=None)


def steps(model, state, nested):
    """All states that may come next, with who made the step"""
    if state.writers:
        name = f"writer {len(state.writers)}: {state.writers[-1].step}"
        yield name, model.write(state)
    if len(state.writers) < nested:
        yield "interrupt", interrupt(state)
    if state.taken is not None:
        yield "reader: reader_page", state._replace(reader=state.taken, taken=None)
    elif state.swap:
        yield "reader: swap", swap(state)
    else:
        for found in find_head(state):
            yield "reader: head found", found


def check(state):
    flags = [flag for page, (_, flag) in enumerate(state.nxt) if page != off_ring(state)]
    if flags.count(HEAD) > 1:
        raise Bug("two heads")
    if state.writers:
        return
    if flags.count(HEAD) != 1:
        raise Bug("no head")
    if UPDATE in flags or state.old_head is not None:
        raise Bug("UPDATE or old_head is left")


def trace(came_from, state):
    lines = []
    while came_from[state]:
        name, before = came_from[state]
        lines.append(f"{name:32} {state}")
        state = before
    return "\n".join(reversed(lines))


def explore(model, pages, nested):
    # The reader has page 0. Nothing was written: head, tail and commit page are page 1.
    ring = [(page % pages + 1, NORMAL) for page in range(1, pages + 1)]
    ring[-1] = (1, HEAD)
    start = State(((1, HEAD), *ring), 1, 1, 0, None, None, None, ())
    came_from = {start: None}
    todo = [start]
    for state in todo:
        try:
            check(state)
            for name, new in steps(model, state, nested):
                if new not in came_from:
                    came_from[new] = (name, state)
                    todo.append(new)
        except Bug as bug:
            return len(came_from), f"{bug}\n{trace(came_from, state)}"
    return len(came_from), None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stock", action="store_true")
    parser.add_argument("--pages", type=int, default=3)
    parser.add_argument("--nested", type=int, default=3)
    args = parser.parse_args()
    states, bug = explore(Model(args.stock), args.pages, args.nested)
    if bug:
        sys.exit(f"after {states} states: {bug}")
    print(f"{states} states, {args.pages} pages, {args.nested} nested writers: no bug")


if __name__ == "__main__":
    main()
