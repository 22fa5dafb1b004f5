"""Paper 004, "Stream*: Fast, Flexible, Data-parallel I/O": the sections of the report of `ncube experiments --paper 4`.

A run is one `starbench` (images/examples/starbench.c) on a machine of its own. Runs with equal words are one run
(runs.py). Times are virtual, a MB has 2^20 bytes, as in the paper.
"""
from page import Plot, difference
from runs import Images, each
from transfers import Machine

TITLE, MACHINE = "Stream*, measured", "sandia"
NODES = 8  # -d 3, as there
DISKS = [1, 2, 3, 4]  # of the paper's figures
MORE_DISKS = DISKS + [8]
BLANK = Images("--block=4K", "64M")
PAPER_IB_WRITE = {1: 1.37, 2: 2.89, 3: 4.14, 4: 4.96}  # Table 2, 64 bytes
PAPER_IB_READ = {1: 1.50, 2: 2.54, 3: 2.93, 4: 4.24}  # Table 3
PAPER_WRITE_BLOCKS = {32: [85, 81, 83, 90], 16: [62, 65, 62, 72]}  # % of 64 bytes, D = 1 to 4
PAPER_READ_BLOCKS = {32: [99, 81, 84, 94], 16: [81, 85, 70, 83]}
CYCLES_S = 20e6
SUPERBLOCK_BYTES = 32768


class Bench:
    """One run: the line that it printed, and what was busy."""

    def __init__(self, run):
        self.line = next(line for line in run.lines if "mb_s" in line)
        self.mb_s, self.us = float(self.line["mb_s"]), float(self.line["us"])
        self.calls_s = float(self.line["call_us"]) / 1e6
        self.closing_s = self.us / 1e6 - self.calls_s
        stats = run.stats
        nodes = stats["nodes"][:NODES]
        self.user_s = max(node["user_cycles"] for node in nodes) / CYCLES_S
        self.messages = sum(node["messages_sent"] for node in nodes)
        self.drive_s = max(drive["busy_cycles"] for drive in stats["drives"]) / CYCLES_S
        self.commands = sum(drive["reads"] + drive["writes"] for drive in stats["drives"])

    def count(self, name):
        return int(self.line[name])


class Study:
    def __init__(self, lab, path, _size, full):
        self.lab, self.machine, self.full = lab, Machine(lab, path), full
        self.phases = 10 if full else 3
        self.doubles = 64 if full else 16  # of a virtual processor; 32 MB as in the paper, or 8
        self.bytes = 65536 * 8 * self.doubles
        self.results = {}

    def run(self, op, mode, images=BLANK, nodes=("-d", 3), settings=(), keep=False, get=None, **words):
        words = {"doubles": self.doubles, **words}
        named = ["%s=%s" % pair for pair in sorted(words.items())]
        options = [word for setting in settings for word in ("--set", setting)]
        run = self.lab.run(*nodes, *options, self.lab.example("starbench"), op, mode, *named, machine=self.machine.text,
                           images=images, stats=True, keep_images=keep, get=get)
        self.results[(op, mode, *nodes, *settings, *named)] = run.lines
        return run

    def write(self, mode, **words):
        """What it writes is kept for those who read it."""
        return Bench(self.run("write", mode, keep=mode != "pio" and not {"phase", "settings", "trust"} & set(words),
                              **words))

    def read(self, mode, buffers=None, order=None, general=None, **words):
        """Of a file that was written so, on another start of the machine."""
        more = {name: value for name, value in
                (("buffers", buffers), ("order", order), ("general", general)) if value is not None}
        return Bench(self.run("read", mode, images=self.run("write", mode, keep=True, **words), **words, **more))

    def over_phases(self, mode, **words):
        """MB/s with the beginning at different places of a revolution."""
        runs = each(lambda i: self.write(mode, phase="%d/%d" % (i, self.phases), **words), range(self.phases))
        return [run.mb_s for run in runs]

    def json(self):
        return [{"run": list(map(str, key)), "lines": lines} for key, lines in self.results.items()]


def mean(values):
    return sum(values) / len(values)


def interval(values):
    """Half of the 95 % interval of the mean, in % of it (Student)."""
    t = {2: 12.7, 3: 4.3, 10: 2.26}.get(len(values), 2.0)
    middle = mean(values)
    deviation = (sum((value - middle) ** 2 for value in values) / (len(values) - 1)) ** 0.5
    return 100 * t * deviation / len(values) ** 0.5 / middle


def percent(part):
    return "%.0f %%" % (100 * part)


def busy(bench):
    """Why it takes as long as it does."""
    total = bench.us / 1e6
    return "drives busy %.1f s, a node computes %.1f s, of %.1f s" % (bench.drive_s, bench.user_s, total)


# ---- Figure 5: writing


def section_write(x, page):
    page.paragraph(
        "65,536 virtual processors on 8 nodes write %d doubles each, one in a call: %d MB to D volumes. pio: each node "
        "writes its parts of the same rows by pio_pwrite, with a barrier after each, and one pio_fsync at the end. The "
        "time is from the first call to the end of cs_fclose, with its sync, the greatest of all nodes."
        % (x.doubles, x.bytes >> 20))
    modes = ["pio", "nb", "cb", "ib"]
    each(lambda d, mode: x.write(mode, disks=d), [(d, mode) for d in MORE_DISKS for mode in modes])
    page.plot(Plot("figure-5", "disks, D", "MB/s",
                   [(mode.upper(), [(d, x.write(mode, disks=d).mb_s) for d in MORE_DISKS]) for mode in modes[1:]] +
                   [("paper, IB", sorted(PAPER_IB_WRITE.items()), 2)]),
              "Figure 5: rate of writing against the number of disks.")

    def row(d):
        pio, nb, cb, ib = (x.write(mode, disks=d) for mode in modes)
        paper = PAPER_IB_WRITE.get(d)
        return [str(d), "%.3f" % pio.mb_s, "%.3f" % nb.mb_s, percent(nb.mb_s / pio.mb_s), "%.3f" % cb.mb_s,
                percent(cb.mb_s / nb.mb_s), "%.3f" % ib.mb_s, percent(ib.mb_s / nb.mb_s),
                "%.2f" % paper if paper else "-", difference(ib.mb_s, paper or 0)]

    page.table("D|pio, MB/s|NB|of pio|CB|of NB|IB, 64 bytes|of NB (paper: about 60 %)|paper, IB|difference", row,
               MORE_DISKS)
    nb, ib = x.write("nb", disks=4), x.write("ib", disks=4)
    parts = [x.write("cb", disks=d).mb_s / x.write("nb", disks=d).mb_s for d in MORE_DISKS]
    page.items([
        "The paper's disks are about three times as fast: a command of 32 KB takes ours %.1f ms (D = 1: %s), since "
        "nsdisk writes through, and each command misses a revolution."
        % (1e3 * x.write("nb", disks=1).drive_s / x.write("nb", disks=1).commands, busy(x.write("nb", disks=1))),
        "NB, D = 4: %s. IB: %s. IB moves the same data and a directory beside them, which is read back and written "
        "again when the file is closed, %d commands of the drives for %d; the computing goes on while superblocks are "
        "written, so it adds where a node waits for its own."
        % (busy(nb), busy(ib), ib.commands, nb.commands),
        "CB is at %s to %s of NB: a full row goes out while the node fills the next, so no node waits for the slowest "
        "one's row, as it does at NB's next reduction. The paper's CB waits, and is as fast as NB."
        % (percent(min(parts)), percent(max(parts)))])


def section_noise(x, page):
    """Differences that the paper found negligible."""
    page.paragraph(
        "D = 4, %d runs each, which begin at different places of a revolution; the interval is that of the mean at "
        "95 %%. Without detection (trust) a call makes no reduction." % x.phases)
    cases = [("NB", "nb", {}), ("NB, no detection", "nb", {"trust": 1}), ("CB, 8 bytes", "cb", {}),
             ("CB, 32 bytes", "cb", {"cb": 32}), ("pio", "pio", {})]
    base = x.over_phases("nb", disks=4)

    def row(name, mode, words):
        rates = x.over_phases(mode, disks=4, **words)
        return [name, "%.3f" % mean(rates), "%.2f %%" % interval(rates), "%.3f" % min(rates), "%.3f" % max(rates),
                difference(mean(rates), mean(base))]

    page.table("what|MB/s|interval, +-|least|greatest|against NB", row, cases)
    page.items(["The paper: CB against NB negligible, no significant difference between b_CB of 8 and of 32, detection "
                "negligible at 40 % confidence.",
                "Where no node waits at the end of a row, as in CB and without detection, it depends on the phase how "
                "often a command misses a revolution; so these intervals are wide.",
                "Without detection nodes do not wait for each other at every call, which is worth more than the "
                "reduction itself, 0.36 ms on 8 nodes: %d calls of NB send %d messages, of which %d without it."
                % (x.write("nb", disks=4).count("calls"), x.write("nb", disks=4).messages,
                   x.write("nb", disks=4, trust=1).messages)])


# ---- Table 2: independent buffers of other sizes


def block_rows(x, side, paper, page):
    bench = x.write if side == "write" else x.read
    each(lambda d, b: bench("ib", disks=d, ib=b), [(d, b) for d in DISKS for b in (64, 32, 16)])

    def row(d):
        whole = bench("ib", disks=d, ib=64)
        cells = [str(d), "%.3f" % whole.mb_s]
        for b in (32, 16):
            part = bench("ib", disks=d, ib=b)
            cells += ["%.3f" % part.mb_s, percent(part.mb_s / whole.mb_s), "%d %%" % paper[b][d - 1]]
        return cells

    page.table("D|64 bytes, MB/s|32 bytes|of 64|paper|16 bytes|of 64|paper", row, DISKS)


def section_table_2(x, page):
    page.paragraph("IB with blocks of other sizes, 2 pointers in an entry of the directory, as in the paper: an entry "
                   "has 16 bytes, so the directory has an eighth, a quarter and half as many bytes as the data.")
    block_rows(x, "write", PAPER_WRITE_BLOCKS, page)
    small = x.write("ib", disks=4, ib=8)
    whole, half = x.write("ib", disks=4, ib=64), x.write("ib", disks=4, ib=16)
    page.items(["8 bytes, D = 4: %.3f MB/s, %s of 64 bytes (%s). The paper calls it prohibitive."
                % (small.mb_s, percent(small.mb_s / whole.mb_s), busy(small)),
                "D = 4, 16 bytes: %s; 64 bytes: %s." % (busy(half), busy(whole)),
                "Of these runs the calls take %.1f and %.1f s: four times as many blocks are copied and numbered, and "
                "entered in the directory. Closing takes %.1f and %.1f s, %s and %s of the time: %d superblocks of the "
                "directory, and %d, are read back and written again, by drives that miss a revolution for each."
                % (half.calls_s, whole.calls_s, half.closing_s, whole.closing_s,
                   percent(half.closing_s / (half.us / 1e6)), percent(whole.closing_s / (whole.us / 1e6)),
                   directory_superblocks(x, 16), directory_superblocks(x, 64))])


def directory_superblocks(x, block):
    """Of entries of two blocks, 16 bytes each."""
    return x.bytes // block // 2 * 16 // SUPERBLOCK_BYTES


def section_pointers(x, page):
    page.paragraph("Blocks of 64 bytes, D = 4, 64 doubles, with 2, 6 and 14 pointers in an entry: 8 blocks of a "
                   "virtual processor take 4, 2 and 1 entries, and the directory 4 MB each time, as entries are "
                   "partly empty.")

    def row(side, doubles, p):
        bench = x.write if side == "write" else x.read
        run, base = (bench("ib", disks=4, doubles=doubles, pointers=k) for k in (p, 2))
        paper = {("write", 64, 6): "+7 %", ("write", 64, 14): "+7 %", ("read", 64, 6): "+6 %", ("read", 64, 14): "+6 %"}
        return ["%s, %d doubles, %d pointers" % (side, doubles, p), "%.3f" % run.mb_s, difference(run.mb_s, base.mb_s),
                paper.get((side, doubles, p), "-"), busy(run)]

    page.table("what|MB/s|against 2 pointers|paper|busy", row,
               [(side, doubles, p) for side, doubles in
                [("write", 64), ("read", 64)] + ([("write", 96)] if x.full else []) for p in (2, 6, 14)])
    counts = [x.read("ib", disks=4, doubles=64, pointers=p).count("superblocks") for p in (2, 6, 14)]
    page.items(["The directory has as many superblocks each time: node 0 reads %d, %d and %d. With more pointers a "
                "node finds, copies and links fewer entries." % tuple(counts)])


# ---- Figure 8 and Table 3: reading


def section_read(x, page):
    page.paragraph("The same files read by another start of the machine, in the same order.")
    modes = ["nb", "cb", "ib"]
    each(lambda d, mode: x.read(mode, disks=d), [(d, mode) for d in MORE_DISKS for mode in modes])
    page.plot(Plot("figure-8", "disks, D", "MB/s",
                   [(mode.upper(), [(d, x.read(mode, disks=d).mb_s) for d in MORE_DISKS]) for mode in modes] +
                   [("paper, IB", sorted(PAPER_IB_READ.items()), 2)]),
              "Figure 8: rate of reading against the number of disks.")

    def row(d):
        nb, cb, ib = (x.read(mode, disks=d) for mode in modes)
        paper = PAPER_IB_READ.get(d)
        return [str(d), "%.3f" % nb.mb_s, "%.3f" % cb.mb_s, percent(cb.mb_s / nb.mb_s), "%.3f" % ib.mb_s,
                percent(ib.mb_s / nb.mb_s), "%.2f" % paper if paper else "-", difference(ib.mb_s, paper or 0)]

    page.table("D|NB, MB/s|CB|of NB|IB, 64 bytes|of NB|paper, IB|difference", row, MORE_DISKS)
    nb, ib = x.read("nb", disks=4), x.read("ib", disks=4)
    page.items(["NB, D = 4: %s. IB: %s." % (busy(nb), busy(ib)),
                "IB reads each superblock once, data and directory: %d on node 0, of %d requests. The next one comes "
                "while the node computes; with more disks it waits for its processor, not for a drive."
                % (ib.count("superblocks"), ib.count("requests"))])


def section_table_3(x, page):
    page.paragraph("Reading in IB with blocks of other sizes.")
    block_rows(x, "read", PAPER_READ_BLOCKS, page)
    counts = [x.read("ib", disks=4, ib=b).count("superblocks") for b in (64, 32, 16)]
    small, large = (x.read("ib", disks=4, ib=b) for b in (16, 64))
    page.items(["Entries lie in the directory in the order in which they filled, as in the paper: that is the order "
                "of reading. Node 0 reads %d, %d and %d superblocks, each once." % tuple(counts),
                "D = 4, 16 bytes: %s; 64 bytes: %s. Where the loss is larger than the paper's, a node finds four times "
                "as many blocks and entries: its processor is what it waits for." % (busy(small), busy(large))])


# ---- A model of IB


def solve(rows, values):
    """Least squares for three unknowns."""
    n = len(rows[0])
    a = [[sum(row[i] * row[j] for row in rows) for j in range(n)] +
         [sum(row[i] * value for row, value in zip(rows, values))] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(a[k][i]))
        a[i], a[pivot] = a[pivot], a[i]
        for k in range(n):
            if k != i:
                factor = a[k][i] / a[i][i]
                a[k] = [p - factor * q for p, q in zip(a[k], a[i])]
    return [a[i][n] / a[i][i] for i in range(n)]


def section_model(x, page):
    page.paragraph(
        "Time of IB = t + b x blocks of a node + w x superblocks / D: computing for the calls, for each block with its "
        "part of an entry, and the service of a superblock by its drive. Writing, those of the directory count three "
        "times: they are written, read back and written again; reading, as many as node 0 has counted, times 8. Fitted "
        "to the runs of Tables 2 and 3, least squares of the relative error.")
    cases = [(side, d, b) for side in ("write", "read") for d in DISKS for b in (64, 32, 16)]

    def terms(side, d, b):
        blocks, directory = x.bytes / b, x.bytes / b / 2 * 16
        superblocks = (x.bytes + 3 * directory) / SUPERBLOCK_BYTES
        if side == "read":
            superblocks = NODES * x.read("ib", disks=d, ib=b).count("superblocks")
        return [1.0, blocks / NODES, superblocks / d]

    fits = {}
    for side in ("write", "read"):
        chosen = [(d, b, (x.write if side == "write" else x.read)("ib", disks=d, ib=b).us / 1e6)
                  for s, d, b in cases if s == side]
        fits[side] = solve([[term / us for term in terms(side, d, b)] for d, b, us in chosen], [1.0] * len(chosen))

    def row(side, d, b):
        us = (x.write if side == "write" else x.read)("ib", disks=d, ib=b).us / 1e6
        model = sum(c * term for c, term in zip(fits[side], terms(side, d, b)))
        return ["%s, D = %d, %d bytes" % (side, d, b), "%.2f" % us, "%.2f" % model, difference(model, us)]

    rows = [row(*case) for case in cases]
    page.table("what|measured, s|model, s|difference", row, cases)
    worst = max(abs(float(cells[3].split()[0])) for cells in rows if cells[3] != "-")
    page.items(["%s: t = %.2f s, b = %.0f cycles, w = %.1f ms." % (side, fit[0], fit[1] * CYCLES_S, fit[2] * 1e3)
                for side, fit in fits.items()] +
               ["The largest difference is %.1f %%: %s" % (worst, "within 10 %." if worst <= 10 else
                "more than 10 %: a superblock comes while the node computes, so it costs the longer of both where "
                "the model has their sum.")])


# ---- What else the paper says


def section_ablations(x, page):
    base, base_read = x.write("ib", disks=4), x.read("ib", disks=4)
    small = {"vps": 4096, "doubles": 16, "disks": 4}
    order = {"vps": 1024, "doubles": 64, "disks": 4, "superblock": 4096}
    fast, slow = ["drives.model=hp97560"], []
    cached = ["drives.cache_kb=2048", "drives.write=groups"]
    rows = [
        ("IB, the overload with numbers for each", lambda: x.write("ib", disks=4, general=1), lambda: base,
         "the scalar one saves the checks"),
        ("NB, the overload with numbers for each", lambda: x.write("nb", disks=4, general=1),
         lambda: x.write("nb", disks=4), "the same"),
        ("superblocks of one block (4096 VPs)", lambda: x.write("ib", superblock=64, **small),
         lambda: x.write("ib", **small), "prohibitive"),
        ("64 read buffers", lambda: x.read("ib", disks=4, buffers=64), lambda: base_read,
         "linear search was expensive; ours is a hash"),
        ("VPs in descending order (1024 VPs)", lambda: x.read("ib", order=1, **order),
         lambda: x.read("ib", **order), "an ill-behaved order may hurt"),
        ("the same with 64 read buffers", lambda: x.read("ib", order=1, buffers=64, **order),
         lambda: x.read("ib", **order), "-"),
        ("IB, drives hp97560, D = 8", lambda: x.write("ib", disks=8, settings=fast),
         lambda: x.write("ib", disks=8, settings=slow), "compute nodes limit IB"),
        ("NB, drives hp97560, D = 8", lambda: x.write("nb", disks=8, settings=fast),
         lambda: x.write("nb", disks=8, settings=slow), "grows"),
        ("IB, data caches, write = groups", lambda: x.write("ib", disks=4, settings=cached), lambda: base, "-"),
        ("NB, data caches, write = groups", lambda: x.write("nb", disks=4, settings=cached),
         lambda: x.write("nb", disks=4), "-"),
    ]
    each(lambda name, run, other, said: (run(), other()), rows)

    def row(name, run, other, said):
        this, that = run(), other()
        return [name, "%.3f" % this.mb_s, "%.3f" % that.mb_s, difference(this.mb_s, that.mb_s), said, busy(this)]

    page.table("what|MB/s|without it|difference|paper|busy", row, rows)
    page.items(["The overload with numbers for each compares them VP by VP, and in IB each VP takes the long way.",
                "In descending order each virtual processor reads its whole stream, one after the other: every block "
                "is in another superblock than the one before, and every item is a call of all nodes. 64 buffers hold "
                "what comes again, and leave the calls."])


def section_rows(x, page):
    """Rows whose parts are no runs of a striping unit: what the library chooses, beside every way they could go."""
    page.paragraph(
        "A row goes directly, a request for each run of a node; through a view of the file (pio_setview), a request "
        "for all runs of a node; or in two phases: nodes exchange parts, so that each transfers whole striping units. "
        "The library goes directly where the virtual processors of a node follow each other, else in two phases. Here "
        "is its choice beside all three, which an option of cs_fopen_with sets. D = 4, 8 nodes, 48 doubles, 16 of "
        "more than 4096 virtual processors; a grid is 2 x 4 nodes over a square of them.")
    shapes = [("32 x 32 in a line", {"vps": 1024}), ("128 x 128 in a line", {"vps": 16384}),
              ("32 x 32, grid", {"vps": 1024, "grid": 1}), ("64 x 64, grid", {"vps": 4096, "grid": 1}),
              ("256 x 256, grid", {"vps": 65536, "grid": 1})]
    ways = {"chosen": {}, "directly": {"way": 1}, "views": {"way": 2}, "two phases": {"way": 3}}

    def measure(side, words, way):
        is_too_long = "grid" in words and words["vps"] > 4096 and way == "directly"  # 256 runs of a node in each row
        return None if is_too_long else side_of(x, side)(
            "nb", disks=4, doubles=48 if words["vps"] <= 4096 else 16, **words, **ways[way])

    def row(side, name, words):
        runs = [measure(side, words, way) for way in ways]
        best = max(run.mb_s for run in runs if run)
        return ["%s, %s" % (side, name)] + ["%.3f" % run.mb_s if run else "-" for run in runs] + [
            difference(runs[0].mb_s, best)]

    page.table("what|chosen, MB/s|directly|views|two phases|against the best", row,
               [(side, *shape) for side in ("write", "read") for shape in shapes])
    two, direct = (measure("write", shapes[2][1], way) for way in ("two phases", "directly"))
    page.items(["In a line: the parts of a row are neighbours in one striping unit; what waits at the I/O node becomes "
                "one command there, whichever node has sent it, so two phases save nothing.",
                "32 x 32, grid: each node has 16 runs of 64 bytes in a row: %d commands of the drives directly, %d in "
                "two phases." % (direct.commands, two.commands),
                "Two phases take seven collective calls for a row, which a read by the drives' read-ahead does not "
                "hide; views take the I/O node time for each run, which grows with the row."])


def side_of(x, side):
    return x.write if side == "write" else x.read


def section_bytes(x, page):
    page.paragraph("NB and CB files have the same bytes whatever the number of nodes is: 65,536 VPs, 4 doubles, "
                   "4 disks, their SHA-256.")

    def sum_of(mode, nodes):
        run = x.run("write", mode, nodes=("-n", nodes), get="pio:/star", disks=4, doubles=4)
        return run.read("got")[:16]

    def row(nodes):
        return [str(nodes)] + ["`%s`" % sum_of(mode, nodes) for mode in ("nb", "cb")]

    page.table("nodes|NB|CB", row, [1, 2, 4, 7, 8])


SECTIONS = [
    ("write", "Figure 5: writing", section_write),
    ("noise", "What is negligible", section_noise),
    ("table2", "Table 2: sizes of independent buffers, writing", section_table_2),
    ("pointers", "Pointers of an entry", section_pointers),
    ("read", "Figure 8: reading", section_read),
    ("table3", "Table 3: sizes of independent buffers, reading", section_table_3),
    ("model", "A model of IB", section_model),
    ("more", "Ablations", section_ablations),
    ("rows", "How rows go", section_rows),
    ("bytes", "The same bytes", section_bytes)]

study = Study


def introduce(x, page):
    page.paragraph(
        "What the paper on Stream* measures [P4 section 7], on the machine %s with 8 compute nodes, in virtual time. "
        "%s A rate is bytes over the time with closing; MB are 2^20 bytes. Every run has a machine and blank volumes "
        "of 64 MB of its own, reading another start of the machine than writing. The data caches are off."
        % (x.machine.name, "" if x.full else "This is the short study, of 8 MB, and 3 phases where phases matter; "
           "--full moves the paper's 32 MB, with 10."))
