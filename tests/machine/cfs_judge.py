#!/usr/bin/env python3
"""Judges the disks of a Concurrent File System on the host, by debugfs and the layout of docs/cfs.md alone.

    cfs_judge.py check IMAGE...       every pointer leads to a block of the file's part on its disk, and no two to
                                      one; prints "N files, M blocks"
    cfs_judge.py cat PATH IMAGE...    writes the file's bytes

The images are the disks in order. What is wrong is one line on the standard error, and status 1.
"""
import struct
import sys

from image_files import debugfs, dump

BLOCK = 4096
HEAD = struct.Struct("<4s4xIIQII")  # magic, number, age, size, blocks, only


def fail(text):
    sys.exit("cfs_judge: " + text)


def data_blocks(image, path):
    """In the order of the file; without the indirect ones, which debugfs calls (IND), (DIND) and (TIND)."""
    text = debugfs(image, f"stat {path}")
    found = []
    for part in text[text.find("BLOCKS:"):].replace("\n", " ").split():
        at, _, where = part.strip(",").partition(":")
        if not at.startswith("(") or at[1:2] in ("I", "D", "T"):
            continue
        first, _, last = where.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def names(image, folder="/"):
    for line in debugfs(image, f"ls -p {folder}").splitlines():
        field = line.split("/")
        if len(field) < 7 or field[5] in (".", "..", ".cfs", "lost+found", "") or field[1] == "0":
            continue
        path = folder.rstrip("/") + "/" + field[5]
        if field[2].startswith("04"):
            yield from names(image, path)
        else:
            yield path


class File:
    def __init__(self, images, path):
        text = dump(images[0], path)
        words = dict(line.split(" ", 1) for line in (text or b"").decode().splitlines() if " " in line)
        if not text or not text.startswith(b"cfs 1\n"):
            fail(f"{path} is no file of the CFS")
        self.number, self.age = int(words["file"]), int(words["age"])
        if len(words["disks"].split()) != len(images):
            fail(f"{path} has other disks")
        header = dump(images[int(words["home"])], f"/.cfs/{self.number}.h")
        magic, number, age, self.size, count, _ = HEAD.unpack(header[:HEAD.size])
        if (magic, number, age) != (b"cfs1", self.number, self.age):
            fail(f"{path}: its header is another file's")
        words = header[BLOCK:BLOCK + 4 * count].ljust(4 * count, b"\0")
        self.pointers = struct.unpack(f"<{count}I", words)
        self.parts = [data_blocks(image, f"/.cfs/{self.number}") for image in images]
        self.bits = [(dump(image, f"/.cfs/{self.number}.w") or b"")[HEAD.size:] for image in images]

    def check(self, path):
        where = [{block: i for i, block in enumerate(part)} for part in self.parts]
        seen = set()
        for k, pointer in enumerate(self.pointers):
            disk, block = pointer >> 27, pointer & 0x7ffffff
            if disk >= len(where) or block not in where[disk]:
                fail(f"{path}: block {k} points to block {block} of disk {disk}, which is not the file's")
            if pointer in seen:
                fail(f"{path}: block {k} has another one's place")
            seen.add(pointer)
        if self.size > BLOCK * len(self.pointers):
            fail(f"{path}: {self.size} bytes in {len(self.pointers)} blocks")
        return len(self.pointers)

    def content(self, images):
        data = b""
        for pointer in self.pointers:
            disk, block = pointer >> 27, pointer & 0x7ffffff
            i = self.parts[disk].index(block)
            written = i // 8 < len(self.bits[disk]) and self.bits[disk][i // 8] >> i % 8 & 1
            if written:
                with open(images[disk], "rb") as image:
                    image.seek(block * BLOCK)
                    data += image.read(BLOCK)
            else:
                data += bytes(BLOCK)
        return data[:self.size]


def main():
    if len(sys.argv) > 3 and sys.argv[1] == "cat":
        images = sys.argv[3:]
        file = File(images, sys.argv[2])
        file.check(sys.argv[2])
        sys.stdout.buffer.write(file.content(images))
    elif len(sys.argv) > 2 and sys.argv[1] == "check":
        images, files, count = sys.argv[2:], 0, 0
        for path in names(images[0]):
            files += 1
            count += File(images, path).check(path)
        print(f"{files} files, {count} blocks")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
