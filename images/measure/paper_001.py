"""What paper 001 claims, measured in the machine: docs/papers/001.md.

A claim is a function, named in CLAIMS, and one guest program. It gives its section: a heading, what is claimed and how
that is tested, and a table with each number beside its bound. Times are virtual; 1 MB/s = 10^6 B/s. Columns of lines
that programs print are counted from 0.
"""
import os
import re
import subprocess

from page import passes, table
from runs import Failure, Images, each

PAGE = "docs/papers/001.md"
HEAD = """# What paper 001 claims, measured

`make paper-001` writes this page in a few minutes ([papers](../papers.md), P1). The paper has no figures of its own;
the bounds follow from the machine: a channel moves 2.22 MB/s, a drive writes 16 KB in 29 ms when it misses a
revolution.
"""


def machine(dim, drives, more=""):
    """A machine file with an I/O node for each drive."""
    nodes = ",\n".join('{ index = %d; si = [%d]; drives = ( { volume = "df%02d"; image = "df%02d.img"; } ); }'
                       % (i, (4 * i + 3) % (1 << dim), i, i) for i in range(drives))
    return "dim = %d; ram_mb = 16; %s\nboards = ( { number = 3; io_nodes = (%s); } );\n" % (dim, more, nodes)


def images(megabytes, block="4K"):
    return Images("--block=" + block, "%dM" % megabytes)


def volumes(drives):
    """As the key `over` has them."""
    return ", ".join('"df%02d"' % i for i in range(drives))


def striped(name, drives, block=16384):
    return '{ volume = "%s"; over = [%s]; map = "cyclic %d %d"; }' % (name, volumes(drives), block, drives)


# ---- Pipes


class Pipe:
    """n nodes write to m nodes: rates in MB/s, in the digits that the page has."""

    def __init__(self, lab, n, from_map, size, m, to_map, call, may_fail=False):
        rate = lab.guest("pipe_rate")
        self.run = lab.run("-n", n, rate, "write", from_map, size, call, "|", "-n", m, rate, "read", to_map, call,
                           may_fail=may_fail)
        ends = [] if self.run.failed else [line.split() for line in (self.run.text + self.run.said).splitlines()]
        self.rows = [[row[0]] + [float(word) for word in row[1:]] for row in ends]

    def last_set(self):
        return max(row[2] for row in self.rows)

    def read(self, column):
        return [row[column] for row in self.rows if row[0] == "read"]

    def rate(self):
        """Of all nodes together, from the last mapping set to the last byte read."""
        return round(sum(self.read(5)) / (max(self.read(4)) - self.last_set()), 3)

    def set_up_ms(self):
        """The longest N_SETMAP."""
        return max(row[6] for row in self.rows if len(row) > 6) / 1000

    def first_bytes_ms(self):
        return round((max(self.read(3)) - self.last_set()) / 1000, 2)


def channels(lab, n, a, m, b, size):
    """MB/s that the busiest channel allows."""
    text = lab.ask("map", "--bytes=%d" % size, a, b, machine="dim = %d;" % (5 if n + m <= 32 else 7))
    return float(re.search(r"^at most ([0-9.]*) MB", text, re.MULTILINE).group(1))


def pairs(lab, k):
    n = 1 << k
    return Pipe(lab, n, "cyclic 16384 %d" % n, n << 20, n, "cyclic 16384 %d" % n, 16384).rate()


def c1(lab):
    one = pairs(lab, 0)

    def row(k):
        rate, n = pairs(lab, k), 1 << k
        share = round(rate / n, 3)
        return [str(n), "%.3f" % rate, "%.3f" % share, passes(share, ">=", 2.0), "%.1f %%" % (100 * share / one)]

    return """## C1: equal mappings at both ends give pairs without a bottleneck (2.2)

2^k nodes write 1 MB each, in calls of 16 KB, to 2^k nodes with the same mapping, without I/O nodes. The rate counts
from the last mapping set, so it contains the set-up. Bound: 2.0 MB/s a pair, 90 % of a channel, for all k, and equal
to 3 %.

""" + table("pairs | MB/s | MB/s a pair | >= 2.0 | of one pair's rate", row, range(7))


def c2(lab):
    base = Pipe(lab, 16, "cyclic 16384 16", 1 << 23, 16, "cyclic 16384 16", 16384).rate()
    head = ("from | to | busiest channel, MB/s | one call, MB/s | of the bound for 100 % | >= 60 % | calls of 16 KB, "
            "MB/s | longest N_SETMAP, ms")

    def row(size, a, b):
        size = eval(size.replace("x", "*"))  # pylint: disable=eval-used
        bound = channels(lab, 16, a, 16, b, size)
        words = [re.sub("^array [0-9x]+ ", "", pattern) for pattern in (a, b)] + ["%.2f" % bound]
        whole = Pipe(lab, 16, a, size, 16, b, 1048576, may_fail=True)
        if whole.run.failed:
            return words + ["fails", "-", "no", "-", "-"]
        share = round(100 * whole.rate() / min(bound, base), 1)
        return words + ["%.3f" % whole.rate(), "%.1f %%" % share, passes(share, ">=", 60),
                        "%.3f" % Pipe(lab, 16, a, size, 16, b, 16384).rate(), "%.1f" % whole.set_up_ms()]

    even, odd = "1024x1024x8", "1000x1000x8"
    froms = ["array 1024x1024x8 " + layout for layout in
             ("block,* on 16x1", "*,block on 1x16", "block,block on 4x4", "*,cyclic(8) on 1x16", "*,cyclic on 1x16")]
    tos = ["array 1024x1024x8 " + layout for layout in ("block,* on 16x1", "block,block on 4x4", "*,cyclic on 1x16")]
    rows = [(even, a, b) for a in froms + ["bits p3-0 o16-0"] for b in tos + ["bits o12-3 p3-0 o16-13 o2-0"] if a != b]
    odd_rows = [(odd, "array 1000x1000x8 " + a, b) for a in ("block,* on 16x1", "*,block on 1x16")
                for b in ("array 1000x1000x8 block,block on 4x4", "array 1000x1000x8 *,cyclic on 1x16",
                          "cyclic 16384 16")]
    odd_rows.append(("999x1001x8", "array 999x1001x8 block,* on 16x1", "cyclic 4096 16"))
    return """## C2: the mapping picks the way (1.2)

16 nodes send a matrix of 1024 x 1024 doubles to 16 nodes that have it in another layout, each node its 512 KB in one
call, and in calls of 16 KB. Bound: 60 %% of the rate of 16 pairs with equal mappings and as many bytes, %.3f MB/s, or
of what the busiest channel allows (`ncube map A B -m FILE`), if that is less.

%s

The time begins when the last node has its mapping and ends with the last byte of all nodes. So it contains the exchange
of the mappings and the plans, and not N_SETMAP itself. Calls of 16 KB are slower for two reasons: what has something
for 16 readers makes 16 messages of 1 KB; and in the stream's order columns go to one reader of rows after the other, so
that all writers wait for the same one. The rows below the bound have no busier channel than the others: messages hold
up each other on their paths.

A matrix of 1000 x 1000 doubles, whose rows divide neither into 16 equal parts nor into blocks of 16 KB, and one of
999 x 1001, whose bytes do not divide by the other end's period:

%s""" % (base, table(head, row, rows), table(head, row, odd_rows))


def c3(lab):
    def row(n, m):
        maps = ["-" if k == 1 else "cyclic 16384 %d" % k for k in (n, m)]
        rate = Pipe(lab, n, maps[0], 2097152, m, maps[1], 16384).rate()
        bound = channels(lab, n, "cyclic 16384 %d" % n, m, "cyclic 16384 %d" % m, 2097152)
        share = round(100 * rate / bound, 1)
        return ["%d to %d" % (n, m), "%.3f" % rate, "%.2f" % bound, "%.1f %%" % share, passes(share, ">=", 90)]

    return """## C3: any numbers of nodes, one among them (2.2)

2 MB, blocks of 16 KB in turn, between different numbers of nodes; tests/machine/test_pipes.c checks that the readers
get the same bytes as from a file. The bound is 90 % of what the busiest channel allows (`ncube map A B -m FILE`).

""" + table("nodes | MB/s | busiest channel, MB/s | reached | >= 90 %", row,
            [(1, 1), (1, 8), (8, 1), (4, 16), (16, 4), (3, 5)])


# ---- Drives


def c4(lab):
    def row(dim, n, block):
        token, mapped = each(lambda way: lab.run(
            "-d", dim, lab.guest("token"), way, "//df00/f", n, 2097152, machine=machine(dim, 1),
            images=images(32, block), stats=True, get="//df00/f"), ["token", "mapped"])
        us, writes = zip(*((float(run.text), run.drive_commands("writes")) for run in (token, mapped)))
        return [str(n), block, "%.2f" % (us[0] / 1e6), str(writes[0]), "%.2f" % (us[1] / 1e6), str(writes[1]),
                "%.1f" % (us[0] / us[1]), passes(us[0], ">=", 5 * us[1]), passes(8 * writes[1], "<=", writes[0]),
                "yes" if token.read("got") == mapped.read("got") else "no"]

    rows = [(dim, n, block) for block in ("1K", "4K") for dim, n in ((2, 3), (2, 4), (3, 8), (4, 16))]
    return """## C4: mapped writes instead of a token (2.6, Figure 9)

2 MB to one file on df00, in blocks of 1 KB that belong to the nodes in turn: one node at a time writes its block and
sends a message to the next, or all write at once by `cyclic 1024 N`. Bounds: at least 5 times as fast, at most 1/8 of
the drive's commands to write, the same file.

%s

A block of 4 KB has bytes of several nodes: where their writes do not wait together, the server reads it first.
""".rstrip() % table("nodes | volume's block | in turn, s | commands | mapped, s | commands | times as fast | >= 5 | "
                     "commands <= 1/8 | same file", row, rows)


def c5(lab):
    blocks = (4096, 8192, 16384)
    conf = machine(5, 8, "striped = (%s);" % ", ".join(striped("b%d" % block, 8, block) for block in blocks))

    def move(way, op):
        before = images(32) if op == "write" else move(way, "write")
        return lab.run("-d", 5, lab.guest("striped_rates"), "table", way, op, machine=conf, images=before,
                       keep_images=op == "write")

    def row(op, block):
        pio, plain = each(lambda way: move(way, op).value("B=%d us=" % block), ["pio", "open"])
        part = 100 * (pio / plain - 1)
        return [str(block), op, "%.3f" % (2097152 / pio), "%.3f" % (2097152 / plain), "%+.2f %%" % part,
                "yes" if -1 <= part <= 1 else "no"]

    return """## C5: a plain write to a striped disk (Figure 10)

2 MB by one node to and from 8 drives, by libpio's calls and by plain `write` and `read` on a striped volume, in blocks
of B bytes. Bound: as fast, to 1 %.

""" + table("B | | libpio, MB/s | plain calls, MB/s | difference | within 1 %", row,
            [(op, block) for op in ("write", "read") for block in blocks])


def matrix_on(rows, columns, down, across, nodes):
    """A pattern of a matrix of doubles in down x across blocks on these nodes."""
    size, tall, wide = 8 * columns, -(-rows // down), 8 * -(-columns // across)
    parts = []
    for i, node in enumerate(nodes):
        row, first = i // across * tall, i % across * wide
        n, end = min(tall, rows - row), min(first + wide, size)
        parts.append(" (%d,%d,-,1)@%d" % (row * size, (row + n) * size - 1, node) if across == 1 else
                     " (%d,%d,%d,%d)@%d" % (row * size + first, row * size + end - 1, size, n, node))
    return "falls" + "".join(parts)


def busiest(begin, end, us):
    """What was busy between two statistics, in %: the busiest drive, the busiest I/O node by its drive and processor
    together, and the busiest channel; and the channels that are as busy as that one, to 2 %, such as "0→1, 1→3"."""
    drives, used, names = {}, {}, {}
    for kind, into in (("drives", drives), ("channels", used)):
        for before, after in zip(begin[kind], end[kind]):
            what = after["node"] if kind == "drives" else (after["from"], after["to"])
            into[what] = (after["busy_cycles"] - before["busy_cycles"]) / 20 / us
            if kind == "drives":
                names[what] = "//" + after["volume"]
    both = dict(drives)
    for before, after in zip(begin["nodes"], end["nodes"]):
        if after["node"] in both:
            cycles = sum(after[kind] - before[kind] for kind in ("user_cycles", "kernel_cycles"))
            both[after["node"]] += cycles / 20 / us
    most = max(used.values())
    as_busy = sorted(ends for ends, use in used.items() if use >= most - 0.02)
    text = ", ".join("→".join(str(names.get(node, node)) for node in ends) for ends in as_busy[:4])
    if len(as_busy) > 4:
        text += " and %d more" % (len(as_busy) - 4)
    return 100 * max(drives.values()), 100 * max(both.values()), 100 * most, text


def in_runs(numbers):
    """"3, 7, 0-2\""""
    parts = []
    for i, n in enumerate(numbers):
        if i and n == numbers[i - 1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ", ".join(str(a) if a == b else "%d-%d" % (a, b) for a, b in parts)


def c6(lab):
    conf = machine(5, 8, "striped = (%s);" % striped("big", 8))
    ranked = lab.ask("place", "--top=16", machine=machine(5, 8)).splitlines()[1:]
    places = {"first": list(range(16)), "placed": [int(line.split()[0]) for line in ranked]}

    def move(op, pattern, **more):
        before = images(32) if op == "write" else move("write", pattern)
        return lab.run("-d", 5, lab.guest("striped_rates"), "matrix", op, pattern, machine=conf, images=before,
                       keep_images=op == "write" and not more, **more)

    def row(rows, columns, down, across, wanted, place, op):
        nodes = places[place][:down * across]
        pattern = matrix_on(rows, columns, down, across, nodes)
        whole = move(op, pattern)
        begin, end = whole.value(" from"), whole.value(" to")
        cut = each(lambda us: move(op, pattern, limit_us=us, stats=True).stats, [begin, end])
        drive, both, channel, names = busiest(*cut, round(end - begin, 3))
        share = max(float("%.1f" % drive), float("%.1f" % channel))
        return ["%d x %d" % (rows, columns), "%d x %d" % (down, across), in_runs(nodes), op, whole.word("[a-z]:"),
                "%.1f %%" % drive, "%.1f %%" % both, "%.1f %%" % channel, names,
                "%.2f" % (100 * whole.value("[a-z]:") / share),
                "%.1f %%" % share, "-" if op == "read" else "%d %%: %s" % (wanted, passes(share, ">=", wanted)),
                whole.word("set-up")]

    matrices = [(1024, 1024, 4, 1, 90), (1024, 1024, 16, 1, 90), (1024, 1024, 4, 4, 50), (1000, 1000, 4, 1, 90),
                (1000, 1000, 4, 4, 50)]
    return """## C6: a matrix on 8 disks (Figure 5)

A matrix of doubles in the memories of nodes of a 5-cube, to and from a file in blocks of 16 KB over 8 drives, all these
nodes at once: the first ones of the cube, and those that `ncube place` ranks first. Drive and channel: the busiest one,
and for how much of the time, by the statistics; the channels are those that are as busy as that one, to 2 %. The bound
is what the busiest drive or channel would move if it were busy all the time. Wanted: 90 % of the bound for rows, 50 %
for blocks; reads are reported.

What holds up the rows that miss it is in the column I/O node: by its drive and its processor together, the busiest one
is busy nearly all the time. As in the paper, an I/O node serves one request at a time, in order. While its processor
handles a request, takes its bytes out of the message and answers it, the drive stands still, and the other way round.
So neither a channel nor the placement bounds those, and no drive can be busier. On nodes 0-3, it is the channels
0→1 and 1→3 that all messages pass.

""" + table("matrix | blocks | nodes | | MB/s | drive | I/O node | channel | busiest channels | bound, MB/s | "
            "reached | wanted | longest N_SETMAP, ms", row,
            [(*matrix, place, op) for matrix in matrices for place in ("first", "placed") for op in ("write", "read")])


def on_own_drives(lab, k, what="drives"):
    """As many nodes as drives, 2^k."""
    return lab.run("-d", k, lab.guest("striped_rates"), what,
                   machine=machine(6, 1 << k, "striped = (%s);" % striped("big", 1 << k)), images=images(8))


def c7(lab):
    def values(k):
        return [float(word.split("=")[1]) for word in on_own_drives(lab, k).text.splitlines()[0].split()]

    one = values(0)

    def row(k):
        n, all_ = 1 << k, values(k)
        shares = [100 * a / (n * b) for a, b in zip(all_[1:], one[1:])]
        return [str(n), "%.1f" % all_[1], "%.3f" % all_[2], "%.3f" % all_[3], "%.1f" % all_[4],
                "%.1f to %.1f %%" % (min(shares), max(shares)),
                "yes" if min(shares) >= 95 and max(shares) <= 105 else "no"]

    rows = table("drives | capacity, MB | writes, MB/s | reads, MB/s | random reads a second | each, of one drive's | "
                 "within 5 %", row, range(5))
    read_ms = round(1000 / on_own_drives(lab, 0).value("reads="), 1)
    same = 100 * on_own_drives(lab, 4, "drives, same places").value("reads=") * read_ms / 16000
    return """## C7: capacity, bandwidth and seek rate grow with the drives (1.1)

D drives, each with an I/O node of its own, at a 6-cube, and as many compute nodes; 1 MB for each, in blocks of 16 KB,
and 200 reads of 4 KB at random places by each. Bound: in proportion to D, to 5 %%.

%s

What falls behind is the random reads, for two reasons. With one drive, a node has the whole file; from two on, a call
needs the plan of the node's element and a drive: a third of a millisecond of a read's %.1f. That does not grow with
the number of drives, as a call works only for those that have something of it. And each node draws its own places, to
which some have longer ways. With the same places on all nodes, 16 drives reach %.1f %% of 16 times one drive's reads.
""".rstrip() % (rows, read_ms, same)


def c8(lab):
    flops = lab.run("-d", 0, lab.guest("rates")).value("daxpy")

    def row(k):
        n = 1 << k
        all_ = n * flops
        cells = [str(n), "%.1f" % all_]
        for rate, bound in ((pairs(lab, k), 0.74), (on_own_drives(lab, k).value("write=") if k < 5 else None, 0.2)):
            cells += ["-", "-"] if rate is None else ["%.3f" % (rate / all_), passes(rate / all_, ">=", bound)]
        return cells

    rows = table("nodes | MFLOPS | pipes, MB/s per MFLOPS | >= 0.74 | a drive for each, writes | >= 0.2", row, range(7))
    return """## C8: "a megabyte per megaflop" (1)

What n nodes pass on by pipes (C1) and write, with a drive for each (C7), beside what they compute: DAXPY gives
%.2f MFLOPS a node (the published machine 2.7). Bounds: 0.74 MB/s per MFLOPS by pipes, the same
for all n; 0.2 by a drive for each node. So a node needs %.1f drives for one.

%s""" % (flops, flops / on_own_drives(lab, 0).value("write="), rows)


def read_in(lab, conf, mode, dim, *call, blank=images(32)):
    """A run that reads 2 MB in a mode of global_costs, which another one has written."""
    program = lab.guest("global_costs")
    wrote = lab.run("-d", 0, program, "write", machine=conf, images=blank, keep_images=True)
    return lab.run("-d", dim, program, mode, *call, machine=conf, images=wrote, stats=True)


def c9(lab):
    conf = machine(5, 1)
    one = read_in(lab, conf, "local", 0).value("in")

    def row(k):
        n = 1 << k
        step, apart, all_ = each(lambda mode: read_in(lab, conf, mode, k), ["local", "scattered", "global"])
        s, a, g = step.value("in"), apart.value("in"), all_.value("in")
        return [str(n), "%.2f" % (s / 1e6), str(step.drive_commands("reads")), "%.2f" % (a / 1e6), "%.2f" % (g / 1e6),
                str(all_.drive_commands("reads")), "%.1f %%" % (100 * g / one), passes(g, "<=", 1.1 * one),
                "%.1f" % (s / g), "%.1f" % (a / g), passes(a, ">=", n * g)]

    def call_row(call):
        alone, all_ = (read_in(lab, conf, *way, call).value("in") for way in (("local", 0), ("global", 5)))
        return [str(call), "%.2f" % (alone / 1e6), "%.2f" % (all_ / 1e6), "%.1f %%" % (100 * all_ / alone),
                passes(all_, "<=", 1.1 * alone)]

    return """## C9: global mode reads the disk once (2.5)

2 MB of a file on df00, read by n nodes: each by itself, at the same time or one after the other, and in
[global mode](../global.md). Bounds: the drive gets n times as many commands from nodes that read by themselves as in
global mode; a global read takes at most 1.10 times as long as one node's, %.2f s; so it is n times
as fast as scattered reads. In step, the drive's buffer serves the nodes, and the I/O node's channel is the bound.

%s

The same 2 MB in calls of fewer bytes, by 32 nodes:

%s

A short call waits for its broadcast, since node 0 reads nothing ahead that the program has not asked for.""" % (
        one / 1e6,
        table("nodes | in step, s | drive reads | scattered, s | global, s | drive reads | of one node's time | <= 110 "
              "% | speed-up, in step | scattered | >= n", row, range(6)),
        table("bytes of a call | one node, s | global, s | of one node's time | <= 110 %", call_row,
              [8192, 16384, 32768, 65536]))


# ---- The C library


def c10(lab):
    """Not kept: it depends on what the host has."""
    done = subprocess.run(["tests/images/test_unix.sh", lab.build], env={**os.environ, "SHOW_CASES": "1"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    rows = []
    for line in done.stdout.splitlines():
        for pattern, what, answer in (("passed: (.*): (output|files) as on the host$", r"\1: \2", "yes"),
                                      ("failed: ([^:]*): ", r"\1", "no"),
                                      ("skipped: ([^:]*): (.*)", r"\1", r"not tried: \2")):
            found = re.match(pattern, line)
            if found:
                rows.append((found.expand(what), found.expand(answer)))
    return """## C10: Unix programs run unchanged (1.1)

ed, bc, dc, Lua and original-awk from Debian's source packages, built by `ncc` without an edit
([Unix programs](../unix.md)). Bound: output, status and files as those of the same sources on the host.

""" + table("what | as on the host", lambda *cells: list(cells), rows)


def c11(lab):
    def row(k):
        n, bound = 1 << k, 5 if k <= 5 else 100
        ms = Pipe(lab, n, "cyclic 8 %d" % n, n * 64, n, "cyclic 8 %d" % n, 8).first_bytes_ms()
        return ["%d + %d" % (n, n), "%.2f" % ms, str(bound), passes(ms, "<=", bound)]

    return """## C11: the set-up of a parallel pipe (2.6, Figure 11)

From the last N_SETMAP of both programs to the last node's first 8 bytes.

""" + table("nodes | ms | bound, ms | reached", row, [0, 3, 5, 9])


def c12(lab):
    program = lab.guest("transparency")

    def serve(what):
        return lab.run("-d", 0, "--serve", ".", program, what, "/").word(
            {"switch": "switch:", "mapped": "one:"}[what])

    def pipe():
        run = lab.run("-d", 0, program, "writes", "-", "|", "-d", 0, program, "reads", "-")
        found = re.search("from: *([0-9]+)", run.said)
        if not found:
            raise Failure("no number behind 'from:' in what transparency said")
        return "%d" % (run.value("by:") - int(found.group(1)))

    rows = [("the switch", lambda: serve("switch"), 40),
            ("a mapped write, beside a plain one", lambda: serve("mapped"), 300),
            ("8 bytes from `nwrite` to `nread`",
             lambda: "%d" % lab.run("-d", 1, lab.guest("measure"), "eight bytes", "show").value("neighbours"), 1196),
            ("the first 8 bytes of a pipe that is set up", pipe, 2500)]

    def row(what, measure, bound):
        cycles = measure()
        return [what, cycles, str(bound), passes(float(cycles), "<=", bound)]

    return """## C12: what transparency costs (1.1, 2.3)

Cycles of a node, 50 ns each, when the code has run before. The switch is what `pread` of a file takes beside a function
that executes the same trap for a number that is known, and does the same for `nfailed` and errno. The mapping gives all
bytes to one node, as that of a program of one node does; a driver that does nothing takes them.

%s

A pipe's message has a header of 8 bytes, 72 cycles on the channel, and takes the kernel's short way; some 900 cycles
are the C library's and the driver's.""" % table(" | cycles | bound | kept", row, rows)


CLAIMS = [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12]


def page(lab, names):
    """The sections of these claims; all, if none is named."""
    claims = {claim.__name__: claim for claim in CLAIMS}
    for name in names:
        if name not in claims:
            raise Failure("no claim '%s'; there are %s" % (name, " ".join(claims)))
    text = "\n\n".join(each(lambda name: claims[name](lab), names or list(claims)))
    return text + "\n"
