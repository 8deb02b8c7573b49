#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of traces, written from docs/format.md alone and for clarity, not speed.

    reel.py FILE.reel    prints what `fsreel dump --json` prints, without paths

If the two differ, the page or the program is wrong.
"""
import ctypes
import json
import struct
import sys

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
RESULT, FLAGS, THINK, TOOK, CPU, THREAD, OP = 16, 17, 18, 19, 20, 21, 22
HIT = object()

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2


def decompress(data, size):
    out = ctypes.create_string_buffer(max(size, 1))
    if zstd.ZSTD_decompress(out, size, data, len(data)) != size:
        raise ValueError("zstd")
    return out.raw[:size]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class Cursor:
    def __init__(self, data):
        self.data, self.pos = data, 0

    def left(self):
        return len(self.data) - self.pos

    def take(self, size):
        if size > self.left():
            raise ValueError("too short")
        self.pos += size
        return self.data[self.pos - size:self.pos]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


def unzigzag(v):
    return v >> 1 ^ -(v & 1)


def mix(x):
    return x * GOLDEN & MASK


class Arg:
    def __init__(self, c):
        self.slot = c.take(c.number(1)).decode()
        kind = c.number(1)
        self.kind, self.text = kind & 127, kind >= 128
        self.effect = c.number(1)


class Op:
    def __init__(self, c):
        self.name = c.take(c.number(1)).decode()
        c.number(1)
        self.args = [Arg(c) for _ in range(c.number(1))]
        slots = [a.slot for a in self.args]
        first = [slots.index(s) for s in ("handle", "file", "size") if s in slots]
        self.order = first + [i for i in range(len(slots)) if i not in first]


class Column:
    """The residuals of one column, and the places its memories start from."""

    def __init__(self, c, count, op, number, arg=None):
        how = c.number(1)
        self.prediction, self.difference = how & 15, how & 0x10
        self.arg = arg
        slot = 0
        for byte in (arg.slot if arg else "").encode():
            slot = (slot * 131 + byte) & MASK
        self.slot = mix(mix(slot + 256) >> 20)
        base = mix(mix(op * 256 + number + 1) >> 20)
        self.own = (base + mix(self.prediction << 40)) & MASK
        self.past = (base + mix(0x9A57)) & MASK
        self.residuals = iter(self.unpack(c, how, count))

    def unpack(self, c, how, count):
        values, bits_size, shift = None, 0, 0
        if how & 0x20:
            values = [self.fold(c.varint()) for _ in range(c.number(1))]
        else:
            shift, bits_size = c.number(1), c.varint()
        if how & 0x80:
            symbols = decompress(c.take(c.varint()), count)
        else:
            symbols = c.take(1) * count if how & 0x40 else c.take(count)
        bits, at, out = int.from_bytes(c.take(bits_size), "little"), 0, []
        for s in symbols:
            if s == 255:
                out.append(HIT)
            elif values is not None:
                out.append(values[s])
            elif s < 8:
                out.append(self.fold(s) << shift)
            else:
                extra = (s - 8) // 4 + 1
                low = bits >> at & ((1 << extra) - 1)
                at += extra
                out.append(self.fold((4 + (s - 8) % 4 << extra) + low) << shift)
        return out

    def fold(self, v):
        return unzigzag(v) if self.difference else v


class Block:
    def __init__(self, payload, ops):
        c = Cursor(payload)
        self.ops, self.count = ops, c.number(4)
        self.base, self.end = c.number(8), c.number(8)
        counts = [(c.number(1), c.varint()) for _ in range(c.number(1))]
        self.common = [Column(c, self.count, 0, n) for n in (THREAD, OP)]
        self.columns = {}
        for op, count in counts:
            args = ops[op].args
            self.columns[op] = [Column(c, count, op, i, a) for i, a in enumerate(args)] + [
                Column(c, count, op, n) for n in (RESULT, FLAGS, THINK, TOOK, CPU)]
        self.strings = self.read_strings(c)
        used = [x for columns in self.columns.values() for x in columns]
        self.by_handle = {x.slot >> 56 for x in used if x.prediction == 6}
        self.by_newest = {x.arg.kind for x in used if x.prediction == 9}
        self.cells, self.newest = [0] * 4096, {}

    @staticmethod
    def read_strings(c):
        count, raw, stored = c.varint(), c.varint(), c.varint()
        data = c.take(stored)
        blob = Cursor(data if raw == stored else decompress(data, raw))
        sizes = [blob.varint() for _ in range(count)]
        return [blob.take(size) for size in sizes]

    def cell(self, place):
        return (place & MASK) >> 52

    def take(self, col, e):
        """The next value of a column; e has what is known of the event."""
        history = self.cell(col.past + mix(e.get("thread", 0)))
        place, p = None, 0
        if col.prediction == 1:
            place = col.own
        elif col.prediction == 2:
            place = col.own + mix(e.get("thread", 0))
        elif col.prediction in (3, 4, 5):
            mask = (1 << 20 * (col.prediction - 2)) - 1
            place = col.own + mix(self.cells[history] & mask)
        elif col.prediction == 6:
            p = self.cells[self.cell(col.slot + mix(e.get("handle", 0)))]
        elif col.prediction in (7, 8):
            place = col.own + mix(e.get("file", 0))
        elif col.prediction == 9:
            p = self.newest.get(col.arg.kind, 0)
        elif col.prediction == 10:
            p = 2 * e.get("size", 0)
        elif col.prediction == 11:
            p = e.get("think", 0)
        if place is not None:
            p = self.cells[self.cell(place)]
        r = next(col.residuals)
        v = (p if r is HIT else p + r if col.difference else r) & MASK
        if place is not None:
            self.cells[self.cell(place)] = (v + e.get("size", 0)) & MASK if col.prediction == 8 else v
        kind = col.arg.kind if col.arg else None
        if kind in (0, 5, 7) and col.slot >> 56 in self.by_handle and e.get("handle", 0):
            self.cells[self.cell(col.slot + mix(e["handle"]))] = v
        if kind in (0, 1, 2, 9, 11) and kind in self.by_newest:
            self.newest[kind] = max(v, self.newest.get(kind, 0))
        if col.prediction in (3, 4, 5):
            self.cells[history] = (self.cells[history] << 20) + (mix(v ^ v >> 29) >> 44) & MASK
        return v

    def event(self):
        e = {}
        thread = self.take(self.common[0], {})
        e["thread"] = thread
        number = self.take(self.common[1], e)
        op, columns, args = self.ops[number], self.columns[number], {}
        for i in op.order:
            v = self.take(columns[i], e)
            if op.args[i].slot in ("handle", "file", "size"):
                e[op.args[i].slot] = v
            args[op.args[i].slot] = self.strings[v] if op.args[i].text else v
        fixed = columns[len(op.args):]
        result, flags = unzigzag(self.take(fixed[0], e)), self.take(fixed[1], e)
        times = mix(0x74696D6573) + mix(thread)
        ended = self.cells[self.cell(times)]
        e["think"] = self.take(fixed[2], e)
        took, cpu = self.take(fixed[3], e), self.take(fixed[4], e)
        start = ended + e["think"]
        self.cells[self.cell(times)] = start + took & MASK
        return {"start_ns": self.base + start & MASK, "took_ns": took, "cpu_ns": cpu, "thread": thread,
                "op": op.name, "args": args, "result": result, "flags": flags}


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def text(data):
    """As print.c has it: UTF-8, or with every byte that is not printable ASCII escaped."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "".join("\\" + chr(b) if b in b'"\\' else chr(b) if 32 <= b < 127 else f"\\x{b:02x}"
                       for b in data)


def show(e, threads):
    tid, comm = threads[e["thread"]]
    out = {"start_ns": e["start_ns"], "took_ns": e["took_ns"], "cpu_ns": e["cpu_ns"], "tid": tid,
           "comm": text(comm), "op": e["op"], "result": e["result"],
           "args": {k: text(v) if isinstance(v, bytes) else signed(v) for k, v in e["args"].items()}}
    if e["flags"] & 1:
        out["derived"] = True
    if e["flags"] & 2:
        out["joined"] = True
    print(json.dumps(out, sort_keys=True))


def frames(data):
    assert data[:8] == b"FSREEL\r\n" and data[8:10] == b"\1\0"
    at = 16
    while at < len(data):
        kind, flags, zero, raw, stored, crc = struct.unpack_from("<BBHIII", data, at)
        payload = data[at + 16:at + 16 + stored]
        assert zero == 0 and crc == crc32c(data[at:at + 12] + payload)
        yield kind, decompress(payload, raw) if flags & 1 else payload
        at += 16 + stored


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    ops, threads, events = {}, [], 0
    for kind, payload in frames(data):
        c = Cursor(payload)
        if kind == 2:
            while c.left():
                number = c.number(1)
                ops[number] = Op(c)
        elif kind == 4:
            while c.left():
                threads.append((c.number(4), c.take(28)[12:].split(b"\0")[0]))
        elif kind == 5:
            block = Block(payload, ops)
            for _ in range(block.count):
                show(block.event(), threads)
            events += block.count
        elif kind == 8:
            for _ in range(c.varint()):
                thread, _, since, cpu, served, _, _, cause, waker = [c.varint() for _ in range(11)][:9]
                assert thread < len(threads) and waker < len(threads) and cause <= 5
                assert cpu + served <= since + 1000000
            assert not c.left()
        elif kind == 7:
            assert c.number(8) == events


main()
