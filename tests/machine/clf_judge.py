#!/usr/bin/env python3
"""Puts files of Clusterfile together on the host, by debugfs and the definition of HPF's distributions alone.

    clf_judge.py PATH,... NAME=IMAGE...     writes the files' bytes; the first image has the names

What is wrong is one line on the standard error, and status 1.
"""
import re
import sys

from image_files import debugfs, dump


def fail(text):
    sys.exit("clf_judge: " + text)


def owner_of(kind, size, procs):
    """Which process has an index."""
    word, _, k = kind.partition("(")
    k = int(k.rstrip(")")) if k else 0
    if word == "block":
        k = k or -(-size // procs)
        return lambda index: index // k
    if word == "cyclic":
        k = k or 1
        return lambda index: index // k % procs
    return lambda index: 0


def element_of(pattern):
    """Which subfile has a byte, and how many there are. Knows "cyclic" and arrays of two dimensions."""
    words = pattern.split()
    if words[0] == "cyclic":
        block, n = int(words[1]), int(words[2])
        return lambda byte: byte // block % n, n
    sizes = [int(n) for n in words[1].split("x")]
    if len(sizes) == 2:  # one dimension
        procs = int(words[4])
        of = owner_of(words[2], sizes[0], procs)
        return lambda byte: of(byte // sizes[1] % sizes[0]), procs
    kinds, grid = words[2].split(","), [int(n) for n in words[4].split("x")]
    row, column = (owner_of(kinds[i], sizes[i], grid[i]) for i in range(2))
    item = sizes[2]
    return (lambda byte: row(byte // item // sizes[1]) * grid[1] + column(byte // item % sizes[1])), grid[0] * grid[1]


def put_together(path):
    images = dict(word.split("=", 1) for word in sys.argv[2:])
    first = sys.argv[2].split("=", 1)[1]
    text = (dump(first, path) or b"").decode("ascii")
    found = re.fullmatch(r"clf 1\nage (\d+)\npattern (.+)\nstripe (\d+)\nvolumes (.+)\nend\n", text)
    if not found:
        fail(f"{path}: {text!r} is no file of Clusterfile")
    stat = debugfs(first, f"stat {path}")
    inode, generation = (int(re.search(word + r":\s*(\d+)", stat).group(1)) for word in ("Inode", "Generation"))
    folder = f"/.clf/{inode}.{int(found.group(1)) + generation}"
    element, n = element_of(found.group(2))
    stripe, volumes = int(found.group(3)), found.group(4).split()
    q = len(volumes)
    parts = {}
    for i in range(n):
        on = [i % q] if n >= q else range(i * q // n, (i + 1) * q // n)
        for s in on:
            name = f"{folder}/{i}" if len(on) == 1 else f"{folder}/{i}.{s}"
            parts[i, s - on[0]] = dump(images[volumes[s]], name) or b""
    width = {i: sum(1 for key in parts if key[0] == i) for i in range(n)}
    left, at, out, byte = sum(len(part) for part in parts.values()), [0] * n, bytearray(), 0
    while left > 0:  # every byte that is there must be the file's
        i = element(byte)
        place, at[i] = at[i], at[i] + 1
        s = place // stripe % width[i] if width[i] > 1 else 0
        where = place // stripe // width[i] * stripe + place % stripe if width[i] > 1 else place
        part = parts[i, s]
        out.append(part[where] if where < len(part) else 0)
        left -= where < len(part)
        byte += 1
        if byte > 1 << 22:
            fail(f"{path}: a part has bytes that no byte of the file leads to")
    sys.stdout.buffer.write(out)


for each in sys.argv[1].split(","):
    put_together(each)
