"""The demonstration: copies a file of the host into a PIO file on eight volumes and back, checks the images on the host
by e2fsprogs, and measures the rates of parallel and plain file I/O, in virtual time.

For node 3 and then node 2 of sandia.conf, each on fresh images:

  copied     piocopy: front end -> PIO file on that node, PIO file against front end on the other
  checked    e2fsck -fn on the eight images
  restored   the eight subfiles, taken out by debugfs, put together by the striping rule: the SHA-256 is the file's
  measured   piobench, writing and reading in two runs, so that no nsdisk remembers what it wrote

Then one table. MB is 2^20 bytes, as in [P0]; "paper" is what the queuing model of [P0 section 3] predicts for PIO WRITE
with so many routings (its Tables 2, 3 and 4), "-" where it says nothing.
"""
import hashlib
import itertools
import os
import subprocess
import tempfile

from page import plural
from transfers import paper_rates
from runs import Failure, Images, each

MACHINE = "images/sandia.conf"
VOLUMES = ["df0%d" % i for i in range(8)]
DIM = 5
BEST = 'paper: [P0]\'s predictions for PIO WRITE (Tables 2 to 4). The best speed-ups of its experiments: write ' \
       '11.84, read 4.53.'


def step(what, *argv):
    """Runs a program of e2fsprogs."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"  # where users do not have them
    done = subprocess.run(argv, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise Failure("%s failed with status %d: %s" % (what, done.returncode, " ".join(done.stdout.split("\n"))))
    return done.stdout


class Images8:
    """The images that a run has left, in a folder of their own."""

    def __init__(self, lab, run, work):
        run.provide(lab, work)
        self.folder = work

    def path(self, volume):
        return "%s/images/%s.img" % (self.folder, volume)

    def check(self):
        for volume in VOLUMES:
            step("e2fsck of %s.img" % volume, "e2fsck", "-fn", self.path(volume))

    def take_out(self, volume, path):
        """debugfs itself ends with status 0 even if the path does not exist."""
        to = self.folder + "/taken"
        said = step("debugfs on %s.img" % volume, "debugfs", "-R", "dump %s %s" % (path, to), self.path(volume))
        if not os.path.exists(to):
            raise Failure("no %s on %s: %s" % (path, volume, said.strip().split("\n")[-1]))
        with open(to, "rb") as file:
            data = file.read()
        os.remove(to)
        return data


def restore(images):
    """The file, its block size and the number of its subfiles: block b of it is block b / D of volume b mod D."""
    text = images.take_out("df00", "/demo.pio").decode()
    described = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
    block, volumes = int(described["block"]), described["volumes"].split()
    subfiles = [images.take_out(volume, "/demo") for volume in volumes]
    rows = itertools.zip_longest(*([data[i:i + block] for i in range(0, len(data), block)] for data in subfiles),
                                 fillvalue=b"")
    return b"".join(part for row in rows for part in row), block, described["disks"]


def demonstrate(lab, path, node, other):
    """The lines about one node, and those that piobench has printed."""
    with open(MACHINE, encoding="utf-8") as file:
        conf = file.read()
    with open(path, "rb") as file:
        wanted = hashlib.sha256(file.read()).hexdigest()
    blank = Images("--block=4K", "%dM" % (32 + os.path.getsize(path) // 8 // 1048576))
    places = dict(line.split()[:2] for line in lab.ask("place", MACHINE).splitlines()[1:])

    def run(program, *words, images=blank):
        return lab.run("-d", DIM, "--serve", os.path.dirname(path), lab.example(program), *words, machine=conf,
                       images=images, reads=[path], keep_images=True)

    def copied():
        copy = run("piocopy", os.path.basename(path), "/demo", node, other)
        with tempfile.TemporaryDirectory() as work:
            images = Images8(lab, copy, work)
            images.check()
            data, block, disks = restore(images)
        found = hashlib.sha256(data).hexdigest()
        if found != wanted:
            raise Failure("the subfiles put together are not %s: SHA-256 %s instead of %s" % (path, found, wanted))
        return ("copied     %schecked    e2fsck -fn: 8 images without a fault\nrestored   %s subfiles, blocks of %d "
                "bytes: SHA-256 %s, as on the host\n" % (copy.text, disks, block, found))

    def measured():
        write = run("piobench", "write", node)
        read = run("piobench", "read", node, images=write)
        with tempfile.TemporaryDirectory() as work:
            Images8(lab, read, work).check()
        return [line + " routings=" + places[str(node)] for line in (write.text + read.text).splitlines()]

    text, lines = each(lambda function: function(), [copied, measured])
    return ("node %d of %s, channel-disjoint routings to its I/O nodes: %s\n%smeasured   PIO WRITE and READ of 2 MB, "
            "plain write and read; 8 images without a fault\n\n" % (node, MACHINE, places[str(node)], text), lines)


def rates_table(lines, paper):
    """Of piobench's lines, each ending in the number of channel-disjoint routings: a row for each operation, B and C, a
    group of columns for each node, in the order of their first lines."""
    rate, routings, rows = {}, {}, []
    for line in lines:
        word = dict(part.split("=", 1) for part in line.split()[1:])
        missing = [name for name in ("node", "op", "B", "C", "bytes", "us", "routings") if name not in word]
        if missing:
            raise Failure("no %s in: %s" % (missing[0], line))
        row = (word["op"], "plain", "") if line.startswith("plain") else (word["op"], word["B"], word["C"])
        routings[word["node"]] = int(word["routings"])
        rows += [row] if row not in rows else []
        rate[word["node"], row] = int(word["bytes"]) / 1048576 / (float(word["us"]) / 1e6)
    text = "%18s" % ""
    for node, n in routings.items():
        text += "   %-28s" % ("node %s, %d disjoint routing%s" % (node, n, plural(n)))
    text = text.rstrip() + "\n%-5s  %6s  %3s" % ("", "B", "C") + "   %8s %9s %9s" % (
        "MB/s", "speed-up", "paper") * len(routings) + "\n"
    for op, block, buffers in rows:
        text += "%-5s  %6s  %3s" % (op, block, buffers)
        for node, n in routings.items():
            predicted = paper.get((int(block), int(buffers), n)) if op == "write" and block != "plain" else None
            text += "   %8.5f %9.2f %9s" % (rate[node, (op, block, buffers)],
                                            rate[node, (op, block, buffers)] / rate[node, (op, "plain", "")],
                                            "%.5f" % predicted if predicted else "-")
        text += "\n"
    return text + BEST + "\n"


def output(lab, path=None):
    """What `make demo` prints. path: the file to copy, default newlib's libc.a."""
    missing = [part for part in ("examples/piocopy", "examples/piobench", "newlib.path")
               if not os.path.exists(os.path.join(lab.build, part))]
    if missing:
        raise Failure("%s/%s is missing; run \"make\"" % (lab.build, missing[0]))
    if not path:
        with open(lab.build + "/newlib.path", encoding="utf-8") as file:
            path = file.read().strip() + "/lib/libc.a"
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        raise Failure("%s: no such file, or not readable" % path)
    path = os.path.realpath(path)
    parts = each(lambda node, other: demonstrate(lab, path, node, other), [(3, 2), (2, 3)])
    return "".join(text for text, _ in parts) + rates_table(sum((lines for _, lines in parts), []), paper_rates(lab))
