"""Paper 003, the thesis on Clusterfile: the sections of the report of `ncube experiments --paper 3`.

A run is one `clfbench` (images/examples/clfbench.c) on a machine of its own: a write, repeated, and a read of a matrix
of n x n bytes by 16 nodes. Times are virtual, a MB has 2^20 bytes.
"""
import statistics

from page import Plot, difference
from runs import Images, each
from transfers import Machine

TITLE, MACHINE = "Clusterfile, measured", "clusterfile"
NODES = 16
BLANK = Images("--block=4K", "16M")
VIEWS = {"bb": "(BLOCK, BLOCK)", "sb": "(*, BLOCK)", "cc": "(CYCLIC(n/p), CYCLIC(n/p))"}
WAYS = {"view": "view I/O", "list": "list I/O", "sieve": "data sieving", "two-phase": "extended two-phase"}
CACHED_VIEWS = {"cc": "(CYCLIC(k), CYCLIC(k))", "sc": "(*, CYCLIC(k))"}
CACHED_K = 128
BYTE_CYCLES = 9  # on a channel [P0]
CACHE_KB = 24576  # of one manager: all of the largest matrix
PAPER_CALLS = {1024: 1504, 2048: 2992, 3072: 4480, 4096: 5968}  # Table 8.1, list I/O; 16 of the others
PAPER_OFFSETS = {1024: 196608, 2048: 393216, 3072: 589824, 4096: 786432}  # Table 8.2
PAPER_SIEVED = {1024: 13628416, 2048: 54519808, 3072: 114285568, 4096: 150982656}  # Table 8.3


class Study:
    def __init__(self, lab, path, _size, full):
        self.lab, self.machine, self.full = lab, Machine(lab, path), full
        self.tables = [1024, 2048, 3072, 4096] if full else [1024]
        self.sizes = [128, 256, 512, 1024, 2048, 4096] if full else [256, 1024]
        self.grains = [8, 16, 32, 64, 128, 256] if full else [8, 64]
        self.servers = [4, 8, 16] if full else [4, 16]
        self.collective_n = 2048 if full else 1024
        self.managers = [1, 2, 4, 8, 16] if full else [1, 4, 16]
        self.cached_n = [2048, 4096] if full else [2048]
        self.squares = [1024, 2048, 4096] if full else [512, 1024]  # of Figures 8.14 to 8.17
        self.cubes = [64, 128] if full else [32, 64]
        self.results = {}

    def run(self, way, n, settings=(), dim=4, **words):
        """The lines of both directions, of 2 ^ dim nodes."""
        if way == "two-phase" and "block" not in words:
            words["block"] = n * n // NODES  # one range of the file for each node
        if words.get("layout") == "stripe":
            del words["layout"]
        named = ["n=%d" % n] + ["%s=%s" % pair for pair in sorted(words.items())]
        options = [word for setting in settings for word in ("--set", setting)]
        managers = words.get("managers", 0)
        nodes = ["-d", 5, "-n", NODES] if managers else ["-d", dim]
        more = [":", "-n", managers, self.lab.example("pio_cache"), CACHE_KB] if managers else []
        run = self.lab.run(*nodes, *options, self.lab.example("clfbench"), way, *named, *more,
                           machine=self.machine.text, images=BLANK)
        lines = {line["op"]: line for line in run.lines if "mb_s" in line}
        self.results[(way, *named, *settings, *(["dim=%d" % dim] if dim != 4 else []))] = list(lines.values())
        return lines

    def count(self, way, n, op, name, **words):
        return int(self.run(way, n, **words)[op][name])

    def mb_s(self, way, n, op, **words):
        return float(self.run(way, n, **words)[op]["mb_s"])

    def us(self, way, n, op, **words):
        return float(self.run(way, n, **words)[op]["us"])

    def json(self):
        return [{"run": list(map(str, key)), "lines": lines} for key, lines in self.results.items()]


def percent(part):
    return "%.2f %%" % (100 * part)


def against(value, paper):
    return "the same" if value == paper else difference(value, paper)


# ---- Figure 2.9 and Table 6.1


def section_requests(x, page):
    page.paragraph("Figure 2.9: a matrix of 4 x 4 items on two disks, of which each of four processes has one line. "
                   "Lines and columns are subfiles, of which each disk has every other one.")
    cases = {"(a) the other way round": "bs", "(b) as the processes have them": "sb"}

    def row(name):
        line = x.run("view", 4, dim=2, view="sb", layout=cases[name], servers=2)["write"]
        requests, paper = int(line["requests"]) // 4, 4 if cases[name] == "bs" else 1
        return [name, str(requests), str(paper), against(requests, paper)]

    page.table("striping|requests of a process|paper|difference", row, list(cases))


def section_comparison(x, page):
    n = x.tables[0]
    page.paragraph("Table 6.1 in numbers: reads of a matrix of %d x %d bytes by (CYCLIC(n/p), CYCLIC(n/p)) views on "
                   "stripes. For each byte that the programs want: bytes that servers send, and bytes copied at "
                   "compute nodes between the program's memory and messages. Bytes of access indices that are sent to "
                   "servers: once, before the first of n equal reads, and with each of them." % (n, n))
    each(lambda way: x.run(way, n, view="cc"), [(way,) for way in WAYS])

    def row(way):
        lines = x.run(way, n, view="cc")
        read, whole = lines["read"], n * n
        # clfbench sets the view of an access by oneself anew before it reads
        before = 0 if way == "two-phase" else int(lines["write"]["view_bytes"])
        return [WAYS[way], "%.2f" % (int(read["moved"]) / whole), "%.2f" % (int(read["gathered"]) / whole),
                str(int(read["view_bytes"]) - before), read["lists"], read["requests"], read["calls"]]

    page.table("technique|bytes from servers|copied at nodes|indices, once|with each read|requests|calls", row,
               list(WAYS))
    page.items(["Two-phase I/O sends each byte a second time, from the node that has read it to the one that wants it. "
                "This exchange, its copies, and the views that the nodes tell each other once, where the paper's did "
                "for each access, are not in the table; the views in it are those that servers have of members."])


# ---- Figure 7.1


class Sent:
    """The writes to servers in a trace: `order` has each node's servers, in its order."""
    def __init__(self, trace):
        self.order, self.first, self.last, self.bytes = {}, None, 0, 0
        for line in trace.splitlines():
            words = line.split()
            if "tag=0x8055" in words and words[2] == "send":
                self.order.setdefault(int(words[1]), []).append(words[3].split("=")[1])
                self.first = self.first or int(words[0])
                self.bytes = int(words[5].split("=")[1])
            elif "tag=0x8055" in words and words[2] == "arrival":
                self.last = int(words[0])

    def steps(self):
        """As in the thesis: in a step each node sends its next request, if its server has none in this step."""
        left, steps = {node: list(order) for node, order in sorted(self.order.items())}, 0
        while any(left.values()):
            taken = set()
            for order in left.values():
                if order and order[0] not in taken:
                    taken.add(order.pop(0))
            steps += 1
        return steps

    def requests(self):
        """From the first send to the last arrival, in times of one request."""
        return (self.last - self.first) / (BYTE_CYCLES * self.bytes)


def section_schedule(x, page):
    page.paragraph("Figure 7.1: nodes have a request for each server. Steps are counted as in the figure, from the "
                   "orders in which a trace has the sends: in each step a node sends one request, and a server takes "
                   "one. Time is that from the first send to the last arrival in the machine, over that of one request "
                   "on a channel.")
    cases = {"2 nodes, 2 servers": (1, 2, 512), "4 nodes, 4 servers": (2, 4, 512),
             "16 nodes, 16 servers": (4, 16, 1024)}

    def sent(name, way):
        dim, servers, n = cases[name]
        return Sent(x.lab.run("--trace=trace", "--trace-format=text", "-d", dim, x.lab.example("clfbench"), way,
                              "n=%d" % n, "view=sb", "servers=%d" % servers, "fresh=1", machine=x.machine.text,
                              images=BLANK).read("trace"))

    def row(name):
        one, scheduled = sent(name, "view"), sent(name, "directed")
        paper = ("3", "2") if name == "2 nodes, 2 servers" else ("-", "-")
        return [name, str(one.steps()), paper[0], str(scheduled.steps()), paper[1], "%.1f" % one.requests(),
                "%.1f" % scheduled.requests()]

    page.table("requests|one order for all, steps|paper|the schedule, steps|paper|one order, time|the schedule, time",
               row, list(cases))
    page.items(["One order for all is that of calls by oneself, the schedule that of collective calls. The figure has "
                "a node send one request at a time. A node here sends over several channels at once, so a request for "
                "a busy server does not keep it from sending the next one to another server."])


# ---- Tables 8.1 to 8.3


def section_tables(x, page):
    page.paragraph("(CYCLIC(k), CYCLIC(k)) views of a matrix of n x n bytes on stripes of 64 KB, with k = n/p: the "
                   "paper writes n/sqrt(p), which would be (BLOCK, BLOCK); with n/p its numbers come out. All are "
                   "counted by the library while it reads.")
    each(lambda n, way: x.run(way, n, view="cc"), [(n, way) for n in x.tables for way in WAYS])

    def calls(n):
        cells = [str(x.count(way, n, "read", "calls", view="cc")) for way in ("view", "list")]
        return ["%d" % (n * n >> 20)] + cells + [str(PAPER_CALLS[n]), against(int(cells[1]), PAPER_CALLS[n])]

    def offsets(n):
        sent = x.count("list", n, "read", "lists", view="cc")
        return ["%d" % (n * n >> 20), str(sent), percent(sent / n / n), str(PAPER_OFFSETS[n]),
                against(sent, PAPER_OFFSETS[n])]

    def sieved(n):
        moved = x.count("sieve", n, "read", "moved", view="cc")
        return ["%d" % (n * n >> 20), str(moved), "%.0f %%" % (100 * (moved / n / n - 1)), str(PAPER_SIEVED[n]),
                against(moved, PAPER_SIEVED[n])]

    page.paragraph("Table 8.1: calls of the file system by all 16 nodes.")
    page.table("MB|view I/O (paper: 16)|list I/O|paper, list I/O|difference", calls, x.tables)
    page.paragraph("Table 8.2: bytes of offsets and lengths that list I/O sends.")
    page.table("MB|bytes|of the data|paper, bytes|difference", offsets, x.tables)
    page.paragraph("Table 8.3: bytes that data sieving reads, by pieces of 4 MB that begin with the next wanted byte; "
                   "the overhead is what nobody wants.")
    page.table("MB|bytes|overhead|paper, bytes|difference", sieved, x.tables)
    page.items(["A call of list I/O names 11 places of the file, of 8 + 4 bytes each.",
                "For 16 MB the rule of Table 8.3's other rows gives 218,091,520 bytes; the paper prints one piece of "
                "4 MB less for each of the 16 processes."])


# ---- Figures 8.1 to 8.6


def rates(x, page, op, ways, views, layout, name, caption):
    cases = [(view, n, way) for view in views for n in x.sizes for way in ways]
    each(lambda view, n, way: x.run(way, n, view=view, layout=layout), cases)
    for view in views:
        page.plot(Plot("%s-%s" % (name, view), "n", "MB/s",
                       [(WAYS[way], [(n, x.mb_s(way, n, op, view=view, layout=layout)) for n in x.sizes])
                        for way in ways], logarithmic=True), "%s, %s." % (caption, VIEWS[view]))

    def row(view, n):
        best = x.mb_s("view", n, op, view=view, layout=layout)
        cells = ["%s, n = %d" % (VIEWS[view], n), "%.3f" % best]
        for way in ways[1:]:
            rate = x.mb_s(way, n, op, view=view, layout=layout)
            cells += ["%.3f" % rate, "%.1f" % (best / rate)]
        return cells

    page.table("view|view I/O, MB/s|" + "|".join("%s|view I/O is faster by" % WAYS[way] for way in ways[1:]), row,
               [(view, n) for view in views for n in x.sizes])


def section_patterns(x, page):
    page.paragraph("Stripes of 64 KB over 16 servers, whose caches have all data. Each rate is that of all nodes, "
                   "from a barrier before the call to one behind it. Of a matrix of 256 x 256 bytes all is one "
                   "stripe, and one server works.")
    rates(x, page, "write", ["view", "list", "two-phase"], VIEWS, "stripe", "figure-8-1", "Figure 8.1: writing")
    rates(x, page, "read", ["view", "list", "sieve", "two-phase"], VIEWS, "stripe", "figure-8-2",
          "Figure 8.2: reading")
    n = x.sizes[0]
    page.items(["The paper has no two-phase writes, since neither of its file systems had locks; ours need none, as "
                "holders write only what members have given.",
                "n = %d, (CYCLIC(n/p), CYCLIC(n/p)): the one server takes %.1f ms for a write of %d places of %d bytes "
                "through a view, and %.1f ms for a read, one request after the other. Two-phase I/O gives it one "
                "range of each node, which is why it wins there."
                % (n, x.us("view", n, "write", view="cc") / NODES / 1e3, n, n // NODES,
                   x.us("view", n, "read", view="cc") / NODES / 1e3)])


def section_match(x, page):
    page.paragraph("(*, BLOCK) views on a layout that is (*, BLOCK), too. The gain is the rate on this layout over "
                   "that on stripes. Paper: view I/O up to 6 (writing) and 4 (reading), the others about 1.")
    ways = ["view", "list", "two-phase"]
    each(lambda n, way, layout: x.run(way, n, view="sb", layout=layout),
         [(n, way, layout) for n in x.sizes for way in ways for layout in ("sb", "stripe")])

    def row(op, n):
        cells = ["%s, n = %d" % (op, n)]
        for way in ways:
            rate, other = (x.mb_s(way, n, op, view="sb", layout=layout) for layout in ("sb", "stripe"))
            cells += ["%.3f" % rate, "%.1f" % (rate / other)]
        return cells

    page.table("what|" + "|".join("%s, MB/s|gain" % WAYS[way] for way in ways), row,
               [(op, n) for op in ("write", "read") for n in x.sizes])
    requests = [x.count("view", x.sizes[-1], "write", "requests", view="sb", layout=layout)
                for layout in ("sb", "stripe")]
    views = [x.count("view", x.sizes[-1], "write", "views", view="sb", layout=layout) for layout in ("sb", "stripe")]
    page.items(["n = %d: where view and layout match, the nodes send %d requests and %d views, on stripes %d and %d."
                % (x.sizes[-1], requests[0], views[0], requests[1], views[1])])


# ---- Figures 8.7 and 8.8


def section_overhead(x, page):
    page.paragraph("What a view costs, the time of setting it and what the first access takes longer than the second, "
                   "over that of one access. Paper: below 12 % of a write and 10 % of a read, about 1 % of large ones, "
                   "least where view and layout match. A node of 7 MIPS needs longer for a plan than a Pentium III "
                   "does, and a server here takes the nodes' views one after the other.")
    cases = [(view, layout, n) for view, layout in
             [(view, "stripe") for view in VIEWS] + [("sb", "sb")] for n in x.sizes]

    def row(view, layout, n):
        line = x.run("view", n, view=view, layout=layout)
        us = float(line["write"]["view_us"])
        return ["%s on %s, n = %d" % (VIEWS[view], "stripes" if layout == "stripe" else "(*, BLOCK)", n),
                "%.1f" % (us / 1e3), line["write"]["views"], line["write"]["view_bytes"],
                "%.0f %%" % (100 * us / float(line["write"]["us"])),
                "%.0f %%" % (100 * us / float(line["read"]["us"]))]

    page.table("view, layout|setting, ms|views sent|their bytes|of a write|of a read", row, cases)
    view, least = (reply_ms(x, reply) for reply in ("0x80d3", "0x80d2"))
    page.items(["%s on stripes, n = 256, is in one stripe: its server takes %d views one after the other, %.2f ms "
                "each, which is %.1f ms. A request that only gives an attachment up takes %.2f ms there, so most of "
                "that is the price of any request; a view is sent once, and an access by it is one." %
                (VIEWS["cc"], NODES, view, NODES * view, least)])


def reply_ms(x, reply):
    """From one reply of that type to the next at the server of the smallest matrix: the median of all."""
    trace = x.lab.run("--trace=trace", "--trace-format=text", "-d", 4, x.lab.example("clfbench"), "view", "n=256",
                      "view=cc", machine=x.machine.text, images=BLANK).read("trace")
    last, between = None, []
    for line in trace.splitlines():
        cycles, node, what, *words = line.split()
        if what == "send" and int(node) >= 16384 and words[1].startswith("tag=0x80d"):
            is_one = words[1] == "tag=" + reply
            if is_one and last is not None:
                between.append(int(cycles) - last)
            last = int(cycles) if is_one else None
    return statistics.median(between) / 20000


# ---- Figures 8.9 to 8.19: collective calls

THROUGH = ("drives.write=through",)
COLLECTIVE = {"directed": "disk-directed", "two-phase": "two-phase", "extended": "extended two-phase"}
PAPER_SPEEDUPS = {"directed": ("3.1", "2.2", "3.3"), "two-phase": ("-", "-", "-"), "extended": ("1.3", "1.3", "1.9")}
KINDS = [("write", ()), ("read", ()), ("write", THROUGH)]  # to caches, from caches, to disks
KIND_NAMES = ["cache write", "cache read", "disk write"]


def collective(x, way, n, settings=(), **words):
    """Extended two-phase I/O has one block for each node, two-phase I/O blocks of 16 KB in turn."""
    words = {"view": "cc", **words, **({"block": 16384} if way == "two-phase" else {})}
    return x.run("directed" if way == "directed" else "two-phase", n, settings, **words)


def rate_of(x, kind, way, n, **words):
    op, settings = KINDS[kind]
    return float(collective(x, way, n, settings, **words)[op]["mb_s"])


def run_all(x, cases):
    """Those of (way, kind, n, words), by as many runs: a run without settings has a write and a read."""
    each(lambda way, settings, n, words: collective(x, way, n, settings, **dict(words)),
         sorted({(way, KINDS[kind][1], n, tuple(sorted(words.items()))) for way, kind, n, words in cases}))


def speedups(x, page, items):
    """items: (n, words). The mean gain from the fewest to the most servers."""
    def row(way):
        cells = [COLLECTIVE[way]]
        for kind, paper in enumerate(PAPER_SPEEDUPS[way]):
            first, last = ([rate_of(x, kind, way, n, servers=servers, **words) for n, words in items]
                           for servers in (x.servers[0], x.servers[-1]))
            cells += ["%.1f" % (sum(b / a for a, b in zip(first, last)) / len(items)), paper]
        return cells

    page.table("method|" + "|".join("%s|paper" % name for name in KIND_NAMES), row, list(COLLECTIVE))


def section_cubes(x, page):
    page.paragraph("ROMIO's benchmark coll_perf: n x n x n items of 16 bytes, (BLOCK, BLOCK, BLOCK) on 16 nodes, on "
                   "stripes of 64 KB over 16 servers, in their caches. Paper: disk-directed I/O is about twice as fast "
                   "as ROMIO, whose way extended two-phase I/O is. For n = 32 the file is half of a round of the "
                   "stripes: servers without any of it get requests of no bytes, as they are in the views.")

    def lines(n, way):
        return collective(x, way, n, view="3d", **({"block": n ** 3} if way == "extended" else {}))

    each(lines, [(n, way) for n in x.cubes for way in COLLECTIVE])

    def row(op, n):
        rates = [float(lines(n, way)[op]["mb_s"]) for way in COLLECTIVE]
        return ["%s, n = %d" % (op, n)] + ["%.3f" % rate for rate in rates] + ["%.1f" % (rates[0] / rates[2])]

    page.table("what|" + "|".join("%s, MB/s" % name for name in COLLECTIVE.values()) + "|first over last", row,
               [(op, n) for op in ("write", "read") for n in x.cubes])


def section_grain(x, page):
    n = x.collective_n
    page.paragraph("Collective calls: a matrix of %d x %d bytes, (CYCLIC(k), CYCLIC(k)) views, on %d to %d servers. "
                   "Data are in their caches, or are written to the disks (write = through) before a write ends. "
                   "Two-phase I/O has blocks of 16 KB in turn on all 16 nodes; extended two-phase I/O one range on "
                   "each, as ROMIO has." % (n, n, x.servers[0], x.servers[-1]))
    cases = [(servers, k) for servers in x.servers for k in x.grains]
    run_all(x, [(way, kind, n, {"servers": s, "k": k}) for s, k in cases for way in COLLECTIVE for kind in range(3)])

    def row(kind, servers, k):
        return ["%s, %d servers, k = %d" % (KIND_NAMES[kind], servers, k)] + \
               ["%.3f" % rate_of(x, kind, way, n, servers=servers, k=k) for way in COLLECTIVE]

    page.table("what|" + "|".join("%s, MB/s" % name for name in COLLECTIVE.values()), row,
               [(kind, s, k) for kind in range(3) for s, k in cases])
    for kind, figure in enumerate(("8-10", "8-11", "8-12")):
        for servers in (x.servers[0], x.servers[-1]):
            page.plot(Plot("figure-%s-%d" % (figure, servers), "k", "MB/s",
                           [(name, [(k, rate_of(x, kind, way, n, servers=servers, k=k)) for k in x.grains])
                            for way, name in COLLECTIVE.items()], logarithmic=True),
                      "Figure %s: %s, %d servers." % (figure.replace("-", "."), KIND_NAMES[kind], servers))
    page.paragraph("Figure 8.13: the rate with %d servers over that with %d, mean over k. The paper has no two-phase "
                   "I/O of its own in these." % (x.servers[-1], x.servers[0]))
    speedups(x, page, [(n, {"k": k}) for k in x.grains])
    page.items(["A server waits for all members before it begins: with few servers, each takes the messages of all "
                "nodes, and then lays their bytes over each other, on one processor. Two-phase I/O spreads both over "
                "all nodes, and moves all data twice.",
                "A write to disks takes what the drives take: each block of the file is one part of one command, "
                "whatever k is."])


def section_size(x, page):
    page.paragraph("The same for k = 32 and matrices of n x n bytes.")
    cases = [(servers, n) for servers in x.servers for n in x.squares]
    run_all(x, [(way, kind, n, {"servers": s, "k": 32}) for s, n in cases for way in COLLECTIVE for kind in range(3)])

    def row(kind, servers, n):
        return ["%s, %d servers, n = %d" % (KIND_NAMES[kind], servers, n)] + \
               ["%.3f" % rate_of(x, kind, way, n, servers=servers, k=32) for way in COLLECTIVE]

    page.table("what|" + "|".join("%s, MB/s" % name for name in COLLECTIVE.values()), row,
               [(kind, s, n) for kind in range(3) for s, n in cases])
    for kind, figure in enumerate(("8-14", "8-15", "8-16")):
        page.plot(Plot("figure-%s" % figure, "n", "MB/s",
                       [(name, [(n, rate_of(x, kind, way, n, servers=x.servers[-1], k=32)) for n in x.squares])
                        for way, name in COLLECTIVE.items()], logarithmic=True),
                  "Figure %s: %s, %d servers." % (figure.replace("-", "."), KIND_NAMES[kind], x.servers[-1]))
    page.paragraph("Figure 8.17: from %d to %d servers, mean over n." % (x.servers[0], x.servers[-1]))
    speedups(x, page, [(n, {"k": 32}) for n in x.squares])


def section_breakdown(x, page):
    n = x.collective_n
    page.paragraph("Where the time of extended two-phase writes goes: how long the slowest node accesses the file, and "
                   "the rest, in which nodes exchange and lay out their bytes. Paper: from 4 to 16 servers the access "
                   "becomes shorter, the exchange stays, and dominates for small k.")

    def row(servers, k):
        line = collective(x, "extended", n, servers=servers, k=k)["write"]
        whole, access = float(line["us"]), float(line["access_us"])
        return ["%d servers, k = %d" % (servers, k), "%.1f" % (whole / 1e3), "%.1f" % (access / 1e3),
                "%.1f" % ((whole - access) / 1e3), "%.0f %%" % (100 * (1 - access / whole))]

    page.table("what|ms|access|exchange|of the time", row, [(s, k) for s in x.servers for k in x.grains])


# ---- Figures 8.20 and 8.21


def cached(x, view, n, managers, cold=0):
    words = {"cold": 1} if cold else {}
    return x.run("cached", n, view=view, k=CACHED_K, managers=managers, **words)["read"]


def cached_speedup(x, view, n):
    """Of warm reads, from one manager to the most."""
    return float(cached(x, view, n, x.managers[-1])["mb_s"]) / float(cached(x, view, n, x.managers[0])["mb_s"])


def gain_of_cache(x, view, n, servers):
    """Of warm reads from the most managers over disk-directed reads from so many servers' caches."""
    return float(cached(x, view, n, x.managers[-1])["mb_s"]) / served_directly(x, view, n, servers)


def served_directly(x, view, n, servers):
    return x.mb_s("directed", n, "read", view=view, k=CACHED_K, servers=servers)


def section_cache(x, page):
    page.paragraph("Collective reads through cache managers on nodes of their own, in blocks of 16 KB, k = %d, on "
                   "stripes over 16 servers that have all data in their caches. Cold: the managers have nothing, and "
                   "get each byte from the servers once. Warm: they have all, and the servers are not asked. Beside "
                   "it, disk-directed reads from the caches of few servers and of many." % CACHED_K)
    cases = [(view, n, managers) for view in CACHED_VIEWS for n in x.cached_n for managers in x.managers]
    each(lambda view, n, managers, cold: cached(x, view, n, managers, cold),
         [(*case, cold) for case in cases for cold in (0, 1)])

    few_and_many = x.servers[0], x.servers[-1]
    each(lambda view, n, servers: served_directly(x, view, n, servers),
         [(view, n, servers) for view in CACHED_VIEWS for n in x.cached_n for servers in few_and_many])

    def row(view, n, managers):
        cold, warm = cached(x, view, n, managers, 1), cached(x, view, n, managers)
        one = float(cached(x, view, n, x.managers[0])["mb_s"])
        return ["%s, n = %d" % (CACHED_VIEWS[view], n), str(managers), "%.3f" % float(cold["mb_s"]), cold["served"],
                "%.3f" % float(warm["mb_s"]), warm["served"], "%.1f" % (float(warm["mb_s"]) / one)] + \
               ["%.3f" % served_directly(x, view, n, servers) for servers in few_and_many]

    page.table("view|managers|cold, MB/s|bytes from servers|warm, MB/s|bytes from servers|speedup of warm|"
               "disk-directed, %d servers, MB/s|%d servers" % few_and_many, row, cases)
    page.items(["From %d to %d managers, warm: %s (paper: up to 6.8 and 7.3)."
                % (x.managers[0], x.managers[-1],
                   ", ".join("%s of n = %d %.1f times" % (CACHED_VIEWS[view], n, cached_speedup(x, view, n))
                             for view in CACHED_VIEWS for n in x.cached_n))])


# ---- The claims


def claim_of_cache(x):
    n, most = x.cached_n[-1], x.managers[-1]
    gain = [gain_of_cache(x, view, n, servers) for servers in (x.servers[0], x.servers[-1]) for view in CACHED_VIEWS]
    speedup = [cached_speedup(x, view, n) for view in CACHED_VIEWS]
    return ("Claim 7, a cooperative cache improves scalability and performance of reads: scalability %s, %.1f and %.1f "
            "times from %d to %d managers; performance %s with %d servers and %s with %d: warm reads are %.2f and "
            "%.2f, and %.2f and %.2f times as fast as disk-directed ones from the servers' caches, n = %d."
            % ("held" if min(speedup) > 1 else "not held", *speedup, x.managers[0], most,
               "held" if min(gain[:2]) > 1 else "not held", x.servers[0],
               "held" if min(gain[2:]) > 1 else "not held", x.servers[-1], *gain, n))


def section_claims(x, page):
    large, small = x.sizes[-1], x.sizes[0]
    gain = [x.mb_s("view", large, op, view="sb", layout="sb") / x.mb_s("view", large, op, view="sb", layout="stripe")
            for op in ("write", "read")]
    lists = [x.mb_s("view", large, op, view="cc", layout="stripe") /
             x.mb_s("list", large, op, view="cc", layout="stripe") for op in ("write", "read")]
    overhead = [float(x.run("view", n, view="cc", layout="stripe")["read"]["view_us"]) /
                x.us("view", n, "read", view="cc", layout="stripe") for n in (small, large)]
    met = [x.count("view", large, "read", "requests", view="sb", layout=layout) for layout in ("sb", "stripe")]

    def gain_of_directed(op, servers):
        """Over the better of the two ways of two-phase I/O."""
        words = {"view": "cc", "k": x.grains[0], "servers": servers}
        return x.mb_s("directed", x.collective_n, op, **words) / max(
            x.mb_s("two-phase", x.collective_n, op, **words, **block) for block in ({}, {"block": 16384}))

    few, many = ([gain_of_directed(op, servers) for op in ("write", "read")]
                 for servers in (x.servers[0], x.servers[-1]))
    held = {True: "held", False: "not held"}
    page.items([
        "Claim 1, a layout that matches the access is best: %s; %.1f times the rate of stripes in writing and %.1f in "
        "reading, n = %d, as %d requests do what %d do on stripes." % (held[min(gain) > 1], gain[0], gain[1], large,
                                                                        *met),
        "Claim 2, views free programs of indices: clfbench sets a view, and its access is one call; hints from views "
        "are not made.",
        "Claim 3, the representation is compact and flexible: a view of (CYCLIC(k), CYCLIC(k)) is %.0f bytes at a "
        "server, n = %d." % (x.count("view", large, "read", "view_bytes", view="cc", layout="stripe") /
                             max(1, x.count("view", large, "read", "views", view="cc", layout="stripe")), large),
        "Claim 4, mapping is efficient: [performance](../performance.md) has what plans cost.",
        "Claim 5, non-contiguous I/O has a low overhead: against list I/O %s (%.1f times in writing, %.1f in reading, "
        "n = %d); a view costs %.0f %% of a read for n = %d and %.0f %% for n = %d, where the paper has less than "
        "10 %%: %s. A node needs 1 ms for a plan, and a server 0.9 ms to take a view, one after the other."
        % (held[min(lists) > 1], lists[0], lists[1], large, 100 * overhead[0], small, 100 * overhead[1], large,
           held[max(overhead) < 0.1]),
        "Claim 6, collective I/O beats two-phase I/O: %s for k = %d; against the better of both ways disk-directed "
        "I/O is %.2f times as fast in writing and %.2f in reading with %d servers, %.2f and %.2f with %d. It moves "
        "each byte over the network once, two-phase I/O twice; few servers lay the bytes out on few processors."
        % (held[min(few + many) > 1], x.grains[0], *few, x.servers[0], *many, x.servers[-1]),
        claim_of_cache(x)])


SECTIONS = [
    ("requests", "Figure 2.9: requests of a process", section_requests),
    ("comparison", "Table 6.1: four techniques in numbers", section_comparison),
    ("schedule", "Figure 7.1: the parallel I/O schedule", section_schedule),
    ("tables", "Tables 8.1 to 8.3", section_tables),
    ("patterns", "Figures 8.1 and 8.2: three patterns", section_patterns),
    ("match", "Figures 8.3 to 8.6: matching layouts", section_match),
    ("overhead", "Figures 8.7 and 8.8: what a view costs", section_overhead),
    ("cubes", "Figure 8.9: coll_perf", section_cubes),
    ("grain", "Figures 8.10 to 8.13: granularity", section_grain),
    ("size", "Figures 8.14 to 8.17: size", section_size),
    ("breakdown", "Figures 8.18 and 8.19: where the time goes", section_breakdown),
    ("cache", "Figures 8.20 and 8.21: the cooperative cache", section_cache),
    ("claims", "The claims", section_claims)]

study = Study


def introduce(x, page):
    page.paragraph(
        "What chapter 8 of the thesis measures [P3], on the machine %s: 16 compute nodes, 16 drives, data caches with "
        "write-back, in virtual time. %s Each run writes the matrix twice, of which the second time counts, and reads "
        "it; what it reads is checked." % (x.machine.name, "" if x.full else "This is the short study; FULL=1 has the "
                                           "paper's sizes up to 16 MB."))
