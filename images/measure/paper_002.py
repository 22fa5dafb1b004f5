"""Paper 002, "Performance of the iPSC/860 Concurrent File System" [P2]: the sections of the report of `ncube
experiments --paper 2`, and docs/papers/002.md.

A section is a function of the study and a report; SECTIONS names them in their order. Each run of cfsbench makes its
file anew on blank disks and empties the caches, so that it finds nothing of another one's. The study has files of 32
MB, with --full the paper's 128.
"""
import re

from cfs_model import read_rate
from page import Plot, difference, number, passes
from runs import Images, each

MB = 1 << 20
NODES = [1, 2, 4, 8, 16, 32, 64, 128]
TICKS = ", ".join("%d" % n for n in NODES)
BLOCK = "64K"
TURNS = "16"  # groups of nodes [P2 section 7.0]

# Each of the paper's tests was run three times, and the best reported [P2 section 4.0]. Nodes begin together, or up to
# so many us apart: the same for all rows.
TRIALS = [{}, {"skew_us": 1000, "seed": 1}, {"skew_us": 1000, "seed": 2}]

# What the paper's text says of its figures, which are pictures: MB/s by number of nodes.
PAPER_READ = {1: 2, 16: 8, 64: 1, 128: 1}  # Figure 7; "below 1" at the end
PAPER_WRITE = {1: 2, 16: 6.5, 32: 6.5, 64: 6.5, 128: 6.5}  # Figure 6


def size_of(text):
    return int(text[:-1]) << {"K": 10, "M": 20}[text[-1]] if text[-1] in "KM" else int(text)


class Result:
    """The line that cfsbench printed."""

    def __init__(self, run):
        self.run = run
        self.line = run.lines[-1]

    def value(self, name):
        return float(self.line[name])

    mb_s = property(lambda self: self.value("mb_s"))
    ms = property(lambda self: self.value("us") / 1e3)
    lost = property(lambda self: self.value("moved") / self.value("needed"))
    hit_rate = property(lambda self: self.value("hits") / max(1, self.value("hits") + self.value("misses")))


class Study:
    def __init__(self, lab, path, size, full):
        self.lab, self.full = lab, full
        self.bytes = size or (128 * MB if full else 32 * MB)
        with open(path, encoding="utf-8") as file:
            self.machine = file.read()
        with open(lab.build + "/machines/nas-spread.conf", encoding="utf-8") as file:
            self.spread = file.read()
        self.unpaid = self.timed("io = [0, 0, 1314, 0]")
        self.results = {}

    def timed(self, keys):
        """The machine with other keys of its timing."""
        return re.sub('timing = "ipsc-860";', 'timing = { preset = "ipsc-860"; %s; };' % keys, self.machine)

    def run(self, test, op, nodes, block=BLOCK, sets=(), limit_us=None, size=None, machine=None, images=None,
            **words):
        """sets: settings of the machine; images: a run that has left them; words: more of cfsbench's."""
        size = size or self.bytes
        named = ["nodes=%d" % nodes, "block=" + block, "file=%d" % size]
        named += ["%s=%s" % (name, value) for name, value in sorted(words.items())]
        options = [word for setting in sets for word in ("--set", setting)]
        result = self.lab.run("-d", 7, *options, self.lab.example("cfsbench"), test, op, *named,
                              machine=machine or self.machine, images=images or Images("32M"),
                              stats=limit_us is not None, limit_us=limit_us)
        if limit_us is not None:
            return result
        other = {None: "", self.spread: "nas-spread", self.unpaid: "unpaid"}.get(machine, "broadcasts")
        key = " ".join(filter(None, [test, op, *named, *sets, other, "aged" if images else ""]))
        self.results[key] = Result(result)
        return self.results[key]

    def aged(self):
        """The disks that cfsage has left, and its line."""
        run = self.lab.run("-d", 0, self.lab.example("cfsage"), "most=%d" % (600 * self.bytes // (32 * MB)),
                           machine=self.machine, images=Images("%dM" % (self.bytes // MB)), keep_images=True)
        return run, run.lines[-1]

    def json(self):
        return [dict(what=key, **result.line) for key, result in sorted(self.results.items())]

    def drives_busy(self, *args, **words):
        """The share of the clock's time in which a drive was at work, on average."""
        whole = self.run(*args, **words)
        begin, end = (self.run(*args, limit_us=whole.value(name), **words).stats["drives"]
                      for name in ("begin_us", "end_us"))
        busy = sum(after["busy_cycles"] - before["busy_cycles"] for before, after in zip(begin, end))
        return busy / 20 / len(end) / whole.value("us")


def rates(x, nodes, *args, **words):
    return dict(zip(nodes, each(lambda n: x.run(args[0], args[1], n, *args[2:], **words), nodes)))


def curve(title, found):
    return (title, [(n, r.mb_s) for n, r in sorted(found.items())])


def paper_curve(title, points, look):
    return (title, sorted(points.items()), look)


def against(value, paper):
    return ["%.2f" % value, "%.3g" % paper if paper else "-", difference(value, paper) if paper else "-"]


# ---- Single disks and requests


def section_single(x, page):
    page.paragraph("One disk to one node, in calls of 64 KB (Table 2): drive, server, network and client in turn, and "
                   "nothing of it is fitted. Without the prefetch the drive gets commands of 4 KB, which the paper "
                   "says take a third of the rate [P2 section 3.0]. Open, a byte, close: Table 3.")
    small = ("drives.group=1", "drives.look_ahead=0")
    rows = [("one disk, read, MB/s", lambda: x.run("one", "read", 1, disks=1, size=4 * MB).mb_s, 0.82),
            ("one disk, write, MB/s", lambda: x.run("one", "write", 1, disks=1, size=4 * MB).mb_s, 0.82),
            ("the same, two groups read ahead", lambda: x.run("one", "read", 1, disks=1, size=4 * MB,
                                                              sets=("drives.look_ahead=2",)).mb_s, 0.82),
            ("the same by commands of 4 KB, read", lambda: x.run("one", "read", 1, disks=1, size=4 * MB,
                                                                 sets=small).mb_s, 0.82 / 3),
            ("open, read a byte, close, ms", lambda: x.run("open", "read", 1, size=MB).ms, 72),
            ("open, write a byte, close, ms", lambda: x.run("open", "write", 1, size=MB).ms, 42)]
    page.table("|measured|paper|difference", lambda name, value, paper: [name, *against(value(), paper)], rows)
    page.paragraph("The read of one disk waits for a whole command, 38 ms for 32 KB, and then takes the other seven "
                   "blocks of the group, while the drive has nothing to do: its next group is asked for with a group's "
                   "last block. Where two groups are read ahead, the drive always has a command, and this is its "
                   "rate: so the paper's 0.82 is the drive's, but one group ahead and one request under way cannot "
                   "give it to one node. A file on ten disks does not wait so: that is the rate of one node below. "
                   "The write ends when its last MB is in the cache: close does not write back [P2 Table 3].")


def section_stages(x, page):
    run = x.run("stages", "read", 4, "4K", size=MB)
    units = [run.value(name) / 1e5 for name in ("alone_us", "us")]
    page.paragraph("Four nodes begin and end at different times, in units of 100 ms (Figure 2). The longest time that "
                   "a node measures of its own is %.2f units, that with synchronization before and behind %.2f; the "
                   "paper's example has 11 and 12. All times of this page are of the second kind." % tuple(units))


# ---- Figures 6 and 7


def trials(x, nodes, *args, **words):
    """By number of nodes, the runs of TRIALS."""
    found = each(lambda n, trial: x.run(args[0], args[1], n, *args[2:], **words, **trial),
                 [(n, trial) for n in nodes for trial in TRIALS])
    return {n: found[i * len(TRIALS):(i + 1) * len(TRIALS)] for i, n in enumerate(nodes)}


def spread(runs):
    found = [run.mb_s for run in runs]
    return max(found) / min(found) - 1


def section_part(x, page):
    writers = NODES if x.full else [1, 4, 16, 64, 128]
    read, write, large, again = each(lambda ask: ask(), [
        lambda: trials(x, NODES, "part", "read"), lambda: rates(x, writers, "part", "write"),
        lambda: rates(x, NODES, "part", "read", size=128 * MB),
        lambda: trials(x, [64], "part", "read", size=128 * MB)[64]])
    page.paragraph("Node i has the i-th part of the file, in calls of 64 KB. The paper's figures are pictures: its "
                   "columns have what its text says of them. Its files have 128 MB. Each of its tests was run three "
                   "times, and the best reported [P2 section 4.0]: so were reads of the file of %d MB, with nodes that "
                   "begin together, and twice with nodes that begin up to 1 ms apart." % (x.bytes // MB))
    page.table("nodes|%d MB, three runs|best|128 MB, read, MB/s|paper|difference|moved for each|hits" % (x.bytes // MB),
               lambda n: [str(n), " ".join("%.2f" % run.mb_s for run in read[n]),
                          "%.2f" % max(run.mb_s for run in read[n]), *against(large[n].mb_s, PAPER_READ.get(n)),
                          "%.2f" % large[n].lost, "%.1f %%" % (100 * large[n].hit_rate)], NODES)
    page.plot(Plot("part-read", "nodes", "MB/s",
                   [curve("128 MB", large), ("%d MB, best of three" % (x.bytes // MB),
                                             [(n, max(run.mb_s for run in read[n])) for n in NODES]),
                    paper_curve("the paper's text", PAPER_READ, 2)], TICKS, True), "Figure 7: partitioned read")
    peak = max(large, key=lambda n: large[n].mb_s)
    page.paragraph("Of a file of 128 MB, %d nodes read %.1f MB/s, 16 read %.1f, and 64 and 128 are %.1f and %.1f times "
                   "slower than the peak, where the paper's are 8 times slower than its 16."
                   % (peak, large[peak].mb_s, large[16].mb_s, large[peak].mb_s / large[64].mb_s,
                      large[peak].mb_s / large[128].mb_s))
    most = max(read, key=lambda n: spread(read[n]))
    page.paragraph("Three runs of %d MB, which differ only in when nodes begin, differ by up to %.0f %% (%d nodes); "
                   "the paper's by more than 20 %%. Three of 128 MB by 64 nodes have %s MB/s, and hits of %s %%. Two "
                   "states feed themselves there. Where groups are still there when they are asked for again, a drive "
                   "has less to do, nodes come back sooner, and more is still there; where they are gone, all of this "
                   "is the other way round. Microseconds decide how long a run is in which."
                   % (x.bytes // MB, 100 * spread(read[most]), most, " ".join("%.2f" % run.mb_s for run in again),
                      " ".join("%.0f" % (100 * run.hit_rate) for run in again)))
    page.paragraph("In a file of 32 MB a node of 128 has six blocks on each disk, less than a group, so that "
                   "neighbours share one; and a node's last look-ahead, of 80 blocks behind its part, is a larger "
                   "share.")
    page.table("nodes|write, MB/s|paper|difference",
               lambda n: [str(n), *against(write[n].mb_s, PAPER_WRITE.get(n))], writers)
    page.plot(Plot("part-write", "nodes", "MB/s",
                   [curve("write", write), paper_curve("the paper's text", PAPER_WRITE, 1)], TICKS, True),
              "Figure 6: partitioned write")
    if not x.full:
        page.paragraph("Writes are faster than the paper's where much of a small file is still in the caches at its "
                       "end: close does not write back, and the caches have 10 of the 32 MB.")
    blocks = ["4K", "64K", "256K"] if x.full else ["4K", "64K"]
    page.paragraph("The size of a call hardly matters, as in the paper:")
    page.table("calls of|" + "|".join("%s, %d nodes" % (op, n) for op in ("write", "read") for n in (16, 64)),
               lambda block: [block] + ["%.2f" % r.mb_s for r in each(lambda op, n: x.run("part", op, n, block),
                                                                        [(op, n) for op in ("write", "read")
                                                                         for n in (16, 64)])], blocks)


# ---- Why


def section_why(x, page):
    read = rates(x, NODES, "part", "read")
    watched = NODES if x.full else [16, 64]
    busy = dict(zip(watched, each(lambda n: x.drives_busy("part", "read", n), watched)))
    page.paragraph("The paper's explanation [P2 section 6.3]: an I/O node's cache has room for 250 blocks, so for 31 "
                   "streams with 8 blocks of prefetch each; with 64 streams 7 of 8 blocks that come are gone before "
                   "they are asked for. These are the partitioned reads of above. Moved: blocks that the drives "
                   "read, for each block of the file. Lost: blocks that came along and went unused. Wait: of a "
                   "request that had to, on average. Drives: the share of the time in which one was at work.")
    page.table("nodes|read, MB/s|hits|moved for each|lost|requests that waited|wait, ms|drives busy",
               lambda n: [str(n), "%.2f" % read[n].mb_s, "%.1f %%" % (100 * read[n].hit_rate), "%.2f" % read[n].lost,
                          "%.1f %%" % (100 * read[n].value("unused") / read[n].value("moved")),
                          "%.1f %%" % (100 * read[n].value("waits") / read[n].value("requests")),
                          number(1, read[n].value("wait_us") / 1e3 / max(1, read[n].value("waits"))),
                          "%.0f %%" % (100 * busy[n]) if n in busy else "-"], NODES)
    page.plot(Plot("moved", "nodes", "blocks moved for each block of the file",
                   [("moved", [(n, read[n].lost) for n in NODES])], TICKS, True), "Blocks that the drives read")
    page.paragraph("On %d nodes the drives read %.2f blocks for each that is needed, on 64 nodes %.2f, and are busy "
                   "%.0f and %.0f %% of the time: so the same drives deliver %.1f times less, as the table above has "
                   "it." % (16, read[16].lost, read[64].lost, 100 * busy[16], 100 * busy[64],
                            read[16].mb_s / read[64].mb_s))


# ---- The cures

CURES = [("as it is", {}), ("16 groups, by parts", {"group": TURNS, "turn": "part"}),
         ("16 groups, by calls", {"group": TURNS, "turn": "call"}),
         ("cache of 5 MB", {"sets": ("drives.cache_kb=5000",)}),
         ("no prefetch", {"sets": ("drives.group=1", "drives.look_ahead=0")}),
         ("used blocks go first", {"sets": ('drives.evict="used-first"',)})]


def section_cures(x, page):
    nodes = [16, 32, 64, 128] if x.full else [16, 64, 128]
    found = dict(zip([name for name, _ in CURES], each(lambda words: rates(x, nodes, "part", "read", **words),
                                                       [(words,) for _, words in CURES])))
    page.paragraph("Partitioned reads, MB/s. With groups [P2 section 7.0] one node of each is active at a time: for "
                   "its whole part, or for a call. The paper says 7 for groups on 128 nodes, and that 5 MB should "
                   "nearly eliminate the fall [P2 section 9.1]; it has not tried the last two.")
    page.table("|" + "|".join("%d nodes" % n for n in nodes) + "|moved for each, 64 nodes",
               lambda name: [name] + ["%.2f" % found[name][n].mb_s for n in nodes]
               + ["%.2f" % found[name][64].lost], list(found))
    page.plot(Plot("cures", "nodes", "MB/s", [curve(name, found[name]) for name in found],
                   ", ".join(map(str, nodes)), True), "Partitioned read: the cures")


# ---- What keeps 16 nodes below 8


def section_sixteen(x, page):
    ways = [("as it is", {}), ("a server neither waits for its reply nor pays for it", {"machine": x.unpaid}),
            ("used blocks go first", dict(CURES)["used blocks go first"])]
    page.paragraph("Partitioned reads by 16 nodes of a file of 128 MB, where the paper has 8 MB/s. Two causes were "
                   "looked for: servers that are busy while they reply, and blocks that go before they are used. The "
                   "paper says that 250 blocks have room for 31 streams, as \"the second set can use the same space\" "
                   "[P2 section 6.3]. But in a cache whose least recently used block goes, a stream's last group is no "
                   "older than the next one when that comes, so it takes two groups: there is room for 15.6 streams.")
    page.table("16 nodes, 128 MB|MB/s|paper|difference|moved for each|requests that waited|wait, ms",
               lambda name, r: [name, *against(r.mb_s, PAPER_READ[16]), "%.3f" % r.lost,
                                "%.1f %%" % (100 * r.value("waits") / r.value("requests")),
                                number(1, r.value("wait_us") / 1e3 / max(1, r.value("waits")))],
               list(zip([name for name, _ in ways],
                        each(lambda words: x.run("part", "read", 16, size=128 * MB, **words),
                             [(words,) for _, words in ways]))))
    page.paragraph("Where used blocks go first, 16 nodes have the paper's rate. The paper says of the order in which "
                   "blocks go only that recently accessed ones stay, so the machine keeps to that.")


# ---- Groups of nodes

FILES = [("one file, turns", {"turn": "part"}), ("a file for each group, turns", {"turn": "part", "own": 1}),
         ("a file for each group, no turns", {"turn": "none", "own": 1})]


def section_groups(x, page):
    nodes = [64, 128]
    written, read = (["4K", "16K", "64K", "256K", "1M"],) * 2 if x.full else (["256K"], ["16K", "256K"])
    rows = [("11", "part", "write", BLOCK)] + [("13", "inter", "write", block) for block in written] \
        + [("14", "inter", "read", block) for block in read]
    turns = ["part", "call"] if x.full else ["part"]
    page.paragraph("Writes and interleaved reads in 16 groups, one node of each being active at a time, for its whole "
                   "part (Figures 11, 13 and 14; Figure 12 is among the cures above), beside the same without groups. "
                   "The paper: writes are basically unchanged, and reads of blocks above 32 KB noticeably better. "
                   "MB/s.")

    def row(figure, test, op, block):
        found = each(lambda n, words: x.run(test, op, n, block, **words).mb_s,
                     [(n, words) for words in [{}] + [{"group": TURNS, "turn": turn} for turn in turns]
                      for n in nodes])
        return [figure, "%s %s, %s" % ("parts" if test == "part" else "interleaved", op, block)] \
            + ["%.2f" % mb_s for mb_s in found]

    ways = ["as it is"] + ["by %ss" % turn for turn in turns]
    page.table("figure||" + "|".join("%s, %d nodes" % (way, n) for way in ways for n in nodes), row, rows)


def section_own(x, page):
    size = x.bytes // (120 * 65536) * 120 * 65536
    page.paragraph("Twelve nodes to an I/O node [P2 sections 7.0 and 8.4]: 120 nodes in ten groups, and a file of %.1f "
                   "MB in parts. With a file for each group, on a disk of its own, its nodes share the disk's cache "
                   "with nobody. The paper has two opinions: the best way, by its reference 8, and the worst, by its "
                   "reference 4." % (size / MB))

    def row(name, words):
        read = x.run("part", "read", 120, size=size, group=10, **words)
        return [name, "%.2f" % read.mb_s, "%.2f" % read.lost]

    page.table("120 nodes, ten groups|read, MB/s|moved for each", row, FILES)
    page.paragraph("A block of a file on one disk is asked for when the one before it has come, so a lone node gets "
                   "what Table 2's row of one disk has, and ten groups with turns ten times that. Without turns twelve "
                   "streams keep each drive at work, and fit into its cache: 12 x 8 blocks are less than 250.")


def section_hints(x, page):
    run, line = x.aged()
    page.paragraph("Section 8 of the paper. Used disks: cfsage has made %s files and removed %s, and the disks are "
                   "%.0f %% full. The paper: 7 to 8 MB/s on fresh disks, 6 to 7 on used ones. Overlap: by iread, of "
                   "which a node has two blocks under way. Small calls: rates below 1 MB/s, by the paper, for calls of "
                   "less than 4 KB; here of 256 bytes."
                   % (line["made"], line["removed"], 100 - 100 * float(line["free"]) / float(line["blocks"])))
    rows = [("used disks, parts, read, 16 nodes", ("part", "read", 16), {"images": run}, {}),
            ("used disks, parts, write, 16 nodes", ("part", "write", 16), {"images": run}, {}),
            ("used disks, parts, read, 1 node", ("part", "read", 1), {"images": run}, {}),
            ("two blocks under way, parts, read, 1 node", ("part", "read", 1), {"async": 1}, {}),
            ("two blocks under way, parts, read, 16 nodes", ("part", "read", 16), {"async": 1}, {}),
            ("calls of 256 bytes, parts, read, 1 node", ("part", "read", 1, "256"), {"size": MB}, {"size": MB})]

    def row(name, args, words, plain):
        changed, usual = x.run(*args, **words), x.run(*args[:3], **plain)
        return [name, "%.2f" % changed.mb_s, "%.2f" % usual.mb_s, difference(changed.mb_s, usual.mb_s),
                "%.1f" % (changed.value("moved") / changed.value("commands"))]

    page.table("|MB/s|fresh, one block, 64 KB|difference|blocks of a command", row, rows)
    page.paragraph("Blocks are given in whole groups of eight as long as a disk has any free, and then as they are. So "
                   "on disks that were nearly full a part lies in short runs far from each other: a command has fewer "
                   "blocks, and the drive seeks between them.")


# ---- The model


def section_model(x, page):
    nodes = NODES if x.full else [1, 4, 16, 32, 64, 128]
    rows = [("parts, %d nodes" % n, ("part", "read", n), {}, {}) for n in nodes]
    rows += [("parts, cache of 5 MB, %d nodes" % n, ("part", "read", n), {"sets": ("drives.cache_kb=5000",)},
              {"cache": 1250}) for n in (16, 64, 128)]
    rows += [("parts, no prefetch, %d nodes" % n, ("part", "read", n), dict(CURES)["no prefetch"],
              {"group": 1, "ahead": False}) for n in (16, 64, 128)]
    rows += [("parts, %d disks, %d nodes" % (d, n), ("part", "read", n), {"disks": d}, {"disks": d})
             for d in (5, 3) for n in (16, 64)]
    rows += [("interleaved, %s, %d nodes" % (block, n), ("inter", "read", n, block), {}, {"block": size_of(block)})
             for block in ("16K", "64K", "256K") for n in (16, 64, 128)]
    page.paragraph("A queueing model that knows nothing of the servers, with the times of Tables 1 and 2 and the peak "
                   "of Figure 4. Where both agree, the paper's rules make the figure. They are to agree to 15 %.")
    good = []

    def row(name, args, words, model):
        measured, (rate, moved, wait_ms) = x.run(*args, **words), read_rate(args[0], args[2], x.bytes, **model)
        percent, nodes, blocks = abs(measured.mb_s / rate - 1), args[2], x.bytes / 4096
        waits = [measured.value("wait_us") / 1e3, wait_ms]
        rest = [(ms * nodes - wait) / blocks for ms, wait in zip([measured.ms, x.bytes / MB / rate * 1e3], waits)]
        good.append(percent <= 0.15)
        return [name, "%.2f" % measured.mb_s, "%.2f" % rate, difference(measured.mb_s, rate),
                passes(percent, "<=", 0.15), "%.2f" % measured.lost, "%.2f" % moved,
                *["%.2f" % (wait / nodes / 1e3) for wait in waits], *["%.1f" % ms for ms in rest]]

    page.table("read|measured, MB/s|model, MB/s|difference|within 15 %|moved for each|model"
               "|wait for the drive, s|model|else for a block, ms|model", row, rows)
    page.paragraph("%d of %d rows agree. Wait for the drive: of a node, in all. Else: what is left of the time of a "
                   "node, for each of its blocks: its turn, and the queue before a server. A turn alone takes longer "
                   "than Table 2's, by the library's and the server's instructions. Where rows differ, these columns "
                   "say why. On few nodes, nodes meet at servers and at drives, and stay together: the model's "
                   "drives all take the same time for a command, so its nodes stay apart. Small interleaved blocks "
                   "have nearly all of their difference before the servers, as the "
                   "section on Figure 9 shows by one that does not wait for its reply. Where 64 nodes have 3 disks or "
                   "blocks of 256 KB, more is still there when it is asked for again than in the model: fewer blocks "
                   "are moved. That is the other one of two states (Figure 7). No rule of the paper was found that the "
                   "model lacks, and nothing of the machine is fitted to it, nor to Figure 4's peak, from which the "
                   "model has a server's turn." % (sum(good), len(good)))


# ---- Interleaved


def section_inter(x, page):
    nodes = [8, 16, 32, 64, 128] if x.full else [16, 64, 128]
    blocks = ["4K", "16K", "64K", "128K", "1M"] if x.full else ["16K", "64K", "256K"]
    asked = [(op, block) for op in ("read", "write") for block in blocks]
    found = dict(zip(asked, each(lambda op, block: rates(x, nodes, "inter", op, block), asked)))
    page.paragraph("Block j of node i is block j N + i of the file. MB/s by the size of a block; the last columns "
                   "have what the drives moved for each block.")
    for op, figure in (("write", "Figure 8"), ("read", "Figure 9")):
        page.table("%s, block|" % op + "|".join("%d nodes" % n for n in nodes) + "|moved, 64|moved, 128",
                   lambda block, op=op: [block] + ["%.2f" % found[op, block][n].mb_s for n in nodes]
                   + ["%.2f" % found[op, block][n].lost for n in (64, 128)], blocks)
        page.plot(Plot("inter-" + op, "nodes", "MB/s", [curve(block, found[op, block]) for block in blocks],
                       ", ".join(map(str, nodes)), True), "%s: interleaved %s" % (figure, op))
    falls = [(n, block) for block in blocks for n in nodes if found["read", block][n].lost > 2]
    stays = [(n, block) for block in blocks for n in nodes if found["read", block][n].lost <= 2]
    reach = [n * size_of(block) / MB for n, block in falls]
    kept = [n * size_of(block) / MB for n, block in stays]
    page.paragraph("One rule would explain the figure: reads fall where N nodes times the block pass what all caches "
                   "hold, 10 MB. Here they move more than two blocks for each from %s MB on, and no more than that up "
                   "to %g MB."
                   % ("%g" % min(reach) if reach else "no", max(kept) if kept else 0))
    small_blocks(x, page, found["read", "16K"], found["write", "16K"])


def small_blocks(x, page, read, write):
    odd = (x.bytes // (21 * 128 * 4096)) * 21 * 128 * 4096  # a multiple of 128 blocks of 3 and of 7
    page.paragraph("The paper's second fall, of blocks of 4 to 16 KB above 16 nodes, is not explained there [P2 "
                   "section 6.3], and nothing was tuned for it. Here blocks of 16 KB are written at %.1f MB/s by 16 "
                   "nodes and %.1f by 128, and read at %.1f and %.1f, while the drives move %.2f and %.2f blocks for "
                   "each on 128: the cache is not what falls. Three hypotheses: calls of 4 or 16 blocks begin on five "
                   "of the ten disks only, as both are even, and those of 3 or 7 blocks would not; I/O nodes on "
                   "every twelfth node would have other paths; clients that arrive together queue at a server that "
                   "waits until its reply has left."
                   % (write[16].mb_s, write[128].mb_s, read[16].mb_s, read[128].mb_s, write[128].lost,
                      read[128].lost))
    ways = [("as it is, 16 KB", "16K", {}), ("blocks of 12 KB", "12K", {"size": odd}),
            ("blocks of 28 KB", "28K", {"size": odd}),
            ("I/O nodes on every twelfth node", "16K", {"machine": x.spread}),
            ("a server neither waits for its reply nor pays for it", "16K", {"machine": x.unpaid})]
    found = each(lambda block, words: x.run("inter", "read", 128, block, **words),
                 [(block, words) for _, block, words in ways])
    rows = list(zip([name for name, _, _ in ways], found))
    page.table("interleaved read, 128 nodes|MB/s|difference|moved for each",
               lambda name, r: [name, "%.2f" % r.mb_s, difference(r.mb_s, read[128].mb_s), "%.2f" % r.lost], rows)
    page.paragraph("What changes most is \"%s\". A server is busy for 2.8 ms for each block, so ten have 14 MB/s "
                   "(Figure 4) if none is ever idle. But all nodes ask one disk after the other, so where they queue "
                   "at one, they come to the next one together, and the others have nothing to do."
                   % max(rows, key=lambda row: row[1].mb_s)[0])


# ---- Broadcast, disks, places


def section_broadcast(x, page):
    nodes = [1, 8, 32, 128] if x.full else [1, 8, 32]
    size = 8 * MB if x.full else 2 * MB
    found = rates(x, nodes, "bcast", "read", BLOCK, size=size)
    small = x.run("bcast", "read", nodes[-1], "4K", size=size)
    page.paragraph("Every node reads all of a file of %d MB. The paper: proportional to the nodes, 14 MB/s at most, "
                   "and blocks of 4 KB a little slower." % (size // MB))
    page.table("nodes|MB/s|of all, moved by the drives for each block",
               lambda n: [str(n), "%.2f" % found[n].mb_s, "%.2f" % found[n].lost], nodes)
    page.paragraph("By calls of 4 KB, %d nodes: %.2f MB/s." % (nodes[-1], small.mb_s))
    wired = x.timed("broadcasts = 1")
    trees = [("pieces that follow each other", {}),
             ("the same, and a network that can send to all", {"machine": wired}),
             ("whole parts, from node to node", {"forward": 1})]
    page.paragraph("The paper's estimate for eight nodes that read and a tree that carries it to all [P2 section 5.1]: "
                   "about 60 MB/s. Here 8 MB come to 128 nodes. group_broadcast sends pieces, which follow each other "
                   "down the tree, so that each node takes all of it in by one channel, of 2.7 MB/s. A tree of the "
                   "time sends a part on when all of it has come: each of eight parts then takes seven steps.")
    page.table("128 nodes, a tree of|MB/s|paper|difference",
               lambda name, mb_s: [name, *against(mb_s, 60)],
               list(zip([name for name, _ in trees],
                        each(lambda words: x.run("tree", "read", 128, BLOCK, size=8 * MB, **words).mb_s,
                             [(words,) for _, words in trees]))))


def section_disks(x, page):
    disks, nodes = ([10, 8, 5, 3], [16, 64, 128]) if x.full else ([10, 5, 3], [16, 64])
    asked = [(d, n) for d in disks for n in nodes]
    found = dict(zip(asked, each(lambda d, n: x.run("part", "read", n, disks=d), asked)))
    page.paragraph("Partitioned reads of a file on some of the disks (Figure 10). The paper: the fall comes after 16 "
                   "nodes, however many disks there are.")
    page.table("disks|" + "|".join("%d nodes, MB/s" % n for n in nodes) + "|moved for each, 16|64",
               lambda d: [str(d)] + ["%.2f" % found[d, n].mb_s for n in nodes]
               + ["%.2f" % found[d, n].lost for n in nodes[:2]], disks)
    page.plot(Plot("disks", "nodes", "MB/s", [curve("%d disks" % d, {n: found[d, n] for n in nodes}) for d in disks],
                   ", ".join(map(str, nodes)), True), "Figure 10: partitioned read on fewer disks")


def section_place(x, page):
    firsts = [0, 16, 32, 48, 64, 80, 96, 112] if x.full else [0, 48, 112]
    found = each(lambda first: x.run("part", "read", 16, first=first).mb_s, firsts)
    spread = x.run("part", "read", 16, machine=x.spread).mb_s
    page.paragraph("16 nodes in other places of the cube [P2 section 6.1], which had no effect: partitioned reads, "
                   "MB/s.")
    rows = [("from node %d" % first, mb_s) for first, mb_s in zip(firsts, found)]
    page.table("16 nodes|read|difference", lambda name, mb_s: [name, "%.2f" % mb_s, difference(mb_s, found[0])],
               rows + [("from node 0, I/O nodes on every twelfth node", spread)])


def section_spread(x, page):
    skews = [dict()] + [{"skew_us": 1000, "seed": seed} for seed in range(1, 6)]
    found = [r.ms / 1e3 for r in each(lambda words: x.run("inter", "write", 32, "32K", **words),
                                      [(words,) for words in skews])]
    page.paragraph("The paper's six runs of an interleaved write by 32 nodes in blocks of 32 KB took 5.5 to 7.6 s [P2 "
                   "section 5.0]. Here equal runs are equal. With nodes that begin up to 1 ms apart, at random: %s s; "
                   "together: %.3f s." % (", ".join("%.3f" % s for s in found[1:]), found[0]))


TITLE, MACHINE = "The Concurrent File System, measured", "nas"

SECTIONS = [
    ("single", "Tables 2 and 3: a disk, a request", section_single),
    ("stages", "Figure 2: how time is measured", section_stages),
    ("part", "Figures 6 and 7: parts", section_part),
    ("why", "Why", section_why),
    ("cures", "The cures, side by side", section_cures),
    ("sixteen", "What keeps 16 nodes below 8 MB/s", section_sixteen),
    ("groups", "Figures 11, 13 and 14: groups", section_groups),
    ("own", "Sections 7.0 and 8.4: an I/O node for twelve nodes", section_own),
    ("hints", "Section 8: used disks, overlap, small calls", section_hints),
    ("model", "A model from the paper alone", section_model),
    ("inter", "Figures 8 and 9: interleaved blocks", section_inter),
    ("broadcast", "Figure 4: broadcast", section_broadcast),
    ("disks", "Figure 10: fewer disks", section_disks),
    ("place", "Section 6.1: other nodes", section_place),
    ("spread", "Section 5.0: six runs", section_spread)]

study = Study


def introduce(x, page):
    page.paragraph("The experiments of B. Nitzberg, Performance of the iPSC/860 Concurrent File System [P2], on the "
                   "machine nas: 128 compute nodes, ten I/O nodes with a disk each, in virtual time. Files have %d MB; "
                   "a MB has 2^20 bytes." % (x.bytes // MB))
    if x.lab.settings:
        page.paragraph("Set on the command line: %s." % ", ".join(x.lab.settings[1::2]))
