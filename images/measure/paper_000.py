"""Paper 000, "User-Level Parallel File I/O": the sections of the report of `ncube experiments`.

A section is a function of the study (transfers.py) and a report; SECTIONS names them in their order. What a row asks
for is measured once and shared. The model's machines are wired as the paper's section 3 supposes.
"""
import math

from page import Plot, difference, number, plural
from runs import each
from transfers import (LARGE, MB, READ, SIDES, VOLUMES, WRITE, Study, bytes_name, explain_all, more_or_less,
                       paper_service, paper_tables)

BLOCKS = [4096, 8192, 16384]
BLOCK, BUFFERS = 16384, 2  # the paper's best parameters
GOOD = 0.05  # how well the model is to predict
LINEAR = 0.95  # a speed-up below so many D needs a sentence

ROUTINGS = [1, 4, 8]  # of the machines model-1, model-4, model-8
TABLES = ["Table 2: one block under way for each I/O node, 1 routing.",
          "Table 3: blocks of 16 KB, one under way for each I/O node.",
          "Table 4: blocks of 16 KB, two under way for each I/O node."]
BEST = [11.84, 4.53]  # the speed-ups of WRITE and READ


def predicted(mb_s, constant, turning):
    """The cells of both predictions with their differences."""
    return [number(3, constant), difference(mb_s, constant), number(3, turning), difference(mb_s, turning)]


# ---- Service times and plain calls


def section_service(x, page):
    if not x.has_volumes(page):
        return
    page.paragraph(
        "The monitor (diskmon) writes and reads one block at a time, so that nothing waits. Processor: from the "
        "arrival of a reply until the next request is sent. Processor busy: what the statistics count for a block, "
        "also while it takes up arriving messages, and without the monitor's own work. A reply that comes when the "
        "process is at work costs more: it is queued first, and copied in pieces between which Vertex looks for "
        "messages. Network: the message with the data. Server: nsdisk and its drive, from the arrival of the request "
        "until the reply is sent.")

    def row(side, block):
        s = x.service(x.machine, side, block)
        cells = ["%s, %s" % (SIDES[side], bytes_name(block)), "%.3f" % (s.cpu_us / 1e3)]
        for us, paper in zip((s.monitor_cpu_us, s.network_us, s.disk_us), paper_service(x.lab)[block]):
            cells += ["%.3f" % (us / 1e3)]  # the paper's are of writing
            cells += ["-", "-"] if side == READ else ["%.3f" % paper, difference(us / 1e3, paper)]
        return cells

    page.table("block|processor busy, ms|processor, ms|paper|difference|network, ms|paper|difference|server, "
               "ms|paper|difference", row, [(side, block) for side in (WRITE, READ) for block in BLOCKS])
    page.items(sum((explain_service(x, block) for block in BLOCKS), []))
    page.paragraph("The paper states service times of writing only. A sequential read finds its data in the drive's "
                   "read-ahead buffer, so the server takes less.")


def explain_service(x, block):
    """A sentence for each part of the service that differs from the paper's by more than LARGE."""
    s, busy = x.service(x.machine, WRITE, block), x.busy(x.machine, WRITE, block)
    causes = [
        ("processor", s.monitor_cpu_us,
         "the processor is busy for %.3f ms of it, so it computes and does not wait; the row pio_write of the "
         "machine file's costs states the rest" % (busy.processor_us / 1e3)),
        ("network", s.network_us, "a block holds the busiest channel for %.3f ms" % (busy.channel_us / 1e3)),
        ("server", s.disk_us, "the drive executes its command for %.3f ms of it, nsdisk computes for %.3f ms"
         % (busy.drive_us / 1e3, busy.server_us / 1e3))]
    items = []
    for (name, us, cause), paper in zip(causes, paper_service(x.lab)[block]):
        part = us / 1e3 / paper - 1
        if abs(part) > LARGE:
            items.append("WRITE, %s, %s: %s than the paper's %.3f ms. By the statistics, %s."
                         % (bytes_name(block), name, more_or_less(part), paper, cause))
    return items


def section_plain(x, page):
    if not x.has_volumes(page):
        return
    page.paragraph("The conventional read and write of one file on one volume, by calls of one size, from node %d. "
                   "They are what a speed-up is measured against." % x.places[0]["node"])

    def row(request):
        write, read = x.from_place(plain=True, request=request).sides()
        return [bytes_name(request) if request else "all at once", "%.4f" % write.mb_s, "%.4f" % read.mb_s,
                "%.0f %%" % (100 * write.drive), "%.0f %%" % (100 * read.drive)]

    page.table("bytes of a call|WRITE, MB/s|READ, MB/s|drive busy, WRITE|drive busy, READ", row, BLOCKS + [0])


# ---- Figures 7 and 8: from a node with many channel-disjoint routings and from one with few


class Figure:
    def __init__(self, x, number_, wanted, otherwise):
        self.x, self.number, self.wanted = x, number_, wanted
        self.place = next((p for p in x.places if p["routings"] == wanted), x.places[otherwise])
        self.node = self.place["node"]

    def transfer(self, block, buffers, **words):
        return self.x.transfer(nodes=[self.node], block=block, buffers=buffers, **{"disks": self.x.used, **words})

    def plain(self):
        return self.x.transfer(nodes=[self.node], plain=True)


COMBINATIONS = [(side, c, b) for side in (WRITE, READ) for c in (1, 2) for b in BLOCKS]


def section_figures(x, page):
    if not x.can_stripe(page):
        return
    figures = [Figure(x, 7, 4, 0), Figure(x, 8, 1, -1)]
    page.paragraph(
        "One node transfers to and from %d volumes. C blocks are under way for each volume. The speed-up is over the "
        "plain call of the same node. The predictions solve the paper's queueing network with the service times of the "
        "monitor: constant ones, for this transfer with its beginning and its end; the same with drives that turn on "
        "between requests (see the model's machines); and exponential ones, exactly, in the steady state." % x.used)
    for figure in figures:
        write_figure(page, figure)
    for side in (WRITE, READ):
        speed_up, figure, transfer = max(
            ((figure.transfer(b, c)[side].mb_s / figure.plain()[side].mb_s, figure, figure.transfer(b, c))
             for figure in figures for _, c, b in COMBINATIONS[:6]), key=lambda best: best[0])
        page.paragraph("Best speed-up of %s: %.2f (node %d, B = %s, C = %d); the paper has %.2f."
                       % (SIDES[side], speed_up, figure.node, bytes_name(transfer.block), transfer.buffers, BEST[side]))
        page.items(explain_best(side, speed_up, figure, transfer) +
                   explain_requests(side, figures[0], transfer) + explain_set_up(side, speed_up, figure, transfer))


def write_figure(page, f):
    x, first = f.x, f.transfer(BLOCKS[0], 1)
    to, back = first.routings(WRITE), first.routings(READ)
    if f.place["routings"] != f.wanted:
        page.paragraph("Figure %d is of a node with %d; this machine has none, and node %d has %d."
                       % (f.number, f.wanted, f.node, f.place["routings"]))
    each(lambda side, c, b: f.transfer(b, c).sides(), COMBINATIONS)
    page.plot(Plot("figure-%d" % f.number, "bytes per block", "MB/s",
                   [("%s, C = %d" % (SIDES[side], c), [(b, f.transfer(b, c)[side].mb_s) for b in BLOCKS])
                    for side in (WRITE, READ) for c in (1, 2)],
                   ticks="'4 KB' 4096, '8 KB' 8192, '16 KB' 16384", logarithmic=True),
              "Figure %d of the paper, measured: node %d of %s, %d channel-disjoint routing%s to the volumes, for "
              "WRITE, and %d from them, for READ." % (f.number, f.node, x.machine.name, to, plural(to), back))

    def row(side, c, b):
        t = f.transfer(b, c)
        mb_s, (constant, turning, exact) = t[side].mb_s, t.predict(side)
        return ["%s, %s" % (SIDES[side], bytes_name(b)), str(c), number(3, mb_s),
                number(2, mb_s / f.plain()[side].mb_s), *predicted(mb_s, constant, turning), number(3, exact),
                number(3, t.paper_mb_s(side))]

    page.table("block|C|measured, MB/s|speed-up|constant service|difference|turning drives|difference|exponential "
               "service|paper's model", row, COMBINATIONS)
    page.items(explain_all([(f.transfer(b, c), side) for side, c, b in COMBINATIONS]))


def explain_best(side, speed_up, figure, transfer):
    """Why the best speed-up is not the paper's: what was busy in this transfer, and in the plain call."""
    part, plain = speed_up / BEST[side] - 1, figure.plain()[side]
    if abs(part) <= LARGE:
        return []
    return ["%s: %s than the paper's speed-up. The plain call gets %.3f MB/s and keeps its drive busy %.0f %% of the "
            "time. %s" % (SIDES[side], more_or_less(part), plain.mb_s, 100 * plain.drive, transfer.cause(side))]


def explain_requests(side, figure, transfer):
    """What the best speed-up would be over one block at a time on one volume: the plain call is one of them."""
    plain, best = figure.plain()[side].mb_s, transfer[side].mb_s
    one = each(lambda b: figure.transfer(b, 1, disks=1)[side].mb_s, BLOCKS)
    nearest = min(range(len(BLOCKS)), key=lambda i: abs(one[i] - plain))
    names = [bytes_name(b) for b in BLOCKS]
    return ["%s rests on what the plain call asks of its volume at a time: its %.3f MB/s are those of blocks of %s, "
            "one at a time (%.3f, %.3f and %.3f MB/s for %s, %s and %s, from node %d). Over these the best speed-up is "
            "%.1f, %.1f and %.1f." % (SIDES[side], plain, names[nearest], *one, *names, figure.node,
                                      *(best / mb_s for mb_s in one))]


def explain_set_up(side, speed_up, figure, transfer):
    """The best speed-up if opening and closing count, for the plain call as for PIO."""
    plain, best = figure.plain()[side], transfer[side]
    whole = (plain.us + plain.set_up_us) / (best.us + best.set_up_us)
    between = (whole < BEST[side]) == (BEST[side] < speed_up)
    return ["%s with its set-up, opening and closing in both: %.2f.%s"
            % (SIDES[side], whole, " The paper, which does not say what it counts, lies between." if between else "")]


# ---- Tables 2 to 4: eight I/O nodes evenly on 1, 4 and 8 routings


def section_model(x, page):
    page.paragraph("Measured with PIO WRITE from node 0. The response is that of one block (the blocks under way over "
                   "their rate); an I/O node is busy while nsdisk computes or its drive works; the channel is the "
                   "busiest one. The paper's figures are predictions, from its own service times.")

    def transfer(routings, block, buffers):
        return x.transfer(x.model[routings], disks=VOLUMES, block=block, buffers=buffers)

    def name(block, routings):
        return "%s, %d routing%s" % (bytes_name(block), routings, plural(routings))

    def row(block, buffers, routings, response_ms, use, mb_s):
        s = transfer(routings, block, buffers)[WRITE]
        ours_ms = VOLUMES * buffers * block / MB / s.mb_s * 1e3  # Little's law
        return [name(block, routings), "%.2f" % ours_ms, "%.2f" % response_ms, difference(ours_ms, response_ms),
                "%.1f" % (100 * (s.drive + s.server)), "%.2f" % use, "%.1f" % (100 * s.channel), number(3, s.mb_s),
                "%.3f" % mb_s, difference(s.mb_s, mb_s)]

    def explain(block, buffers, routings, _, paper_use, mb_s):
        """An I/O node is busy for its service times the rate: which of them makes the difference to the paper."""
        s = transfer(routings, block, buffers)[WRITE]
        use, rate = s.drive + s.server, s.mb_s / mb_s - 1
        part, blocks = 100 * use / paper_use - 1, x.bytes // block / VOLUMES  # of each I/O node
        if abs(part) <= LARGE:
            return []
        return ["%s, C = %d: the I/O nodes are busy for %s of the time than the paper predicts. A block keeps one busy "
                "for %.2f ms (the drive %.2f ms, nsdisk %.2f ms); the paper's %.2f %% at its rate are %.2f ms. The "
                "rate is %s." % (name(block, routings), buffers, more_or_less(part), use * s.us / blocks / 1e3,
                            s.drive * s.us / blocks / 1e3, s.server * s.us / blocks / 1e3, paper_use,
                            paper_use / 100 * VOLUMES * block / MB / mb_s * 1e3, more_or_less(rate, "higher", "lower"))]

    for text, rows in zip(TABLES, paper_tables(x.lab)):
        page.paragraph(text)
        page.table("block|response, ms|paper|difference|I/O nodes busy, %|paper|channel busy, %|MB/s|paper|difference",
                   row, rows)
        page.items(sum((explain(*row_) for row_ in rows), []))
    compare_models(page, transfer)
    write_curves(x, page)


def compare_models(page, transfer):
    page.paragraph("The same with both operations and all B and C, beside the models, whose service times are those "
                   "that the monitor measured.")
    combinations = [(r, side, c, b) for side in (WRITE, READ) for r in ROUTINGS for c in (1, 2) for b in BLOCKS]
    worst = []

    def row(routings, side, c, b):
        t = transfer(routings, b, c)
        mb_s, (constant, turning, exact) = t[side].mb_s, t.predict(side)
        worst.append((abs(mb_s / constant - 1), abs(mb_s / turning - 1)))
        return ["%s, %s, C = %d" % (SIDES[side], bytes_name(b), c), str(routings), number(3, mb_s), number(3, exact),
                *predicted(mb_s, constant, turning)]

    page.table("operation|routings|measured, MB/s|exponential service|constant service|difference|turning drives|"
               "difference", row, combinations)
    page.paragraph("Largest difference: %.1f %% from constant service, %.1f %% from turning drives."
                   % tuple(100 * max(parts) for parts in zip(*worst)))
    page.items(explain_all([(transfer(r, b, c), side) for r, side, c, b in combinations], GOOD))


def write_curves(x, page):
    page.paragraph(
        "Why constant service misses: a drive's service is not constant. The monitor pauses before each request, "
        "longer and longer. A write of the next block ends when its sectors have come round, however early it began, "
        "so its service takes as much less as the drive was idle; once it is too late for a revolution it waits for "
        "the next one, and takes 16.7 ms more. A read is served from the buffer into which the drive reads ahead, and "
        "takes less the longer the drive had for that. The model \"turning drives\" has constant times but for this: "
        "its I/O nodes serve as these curves say. Before the shortest pause, up to a drive that is never idle, a curve "
        "goes on as it begins, but no steeper than the drive turns; so nothing of it is from the transfers that it is "
        "compared with.")
    for side, what in ((WRITE, "write"), (READ, "read")):
        curves = each(lambda b: x.curve(x.model[1], side, b), BLOCKS)  # pylint: disable=cell-var-from-loop
        page.plot(Plot("idle-" + what, "I/O node idle before the request, ms", "service, ms",
                       [("B = " + bytes_name(b), [(idle / 1e3, us / 1e3) for idle, us in curve])
                        for b, curve in zip(BLOCKS, curves)]),
                  "Service of a %s by the idle time before it." % what)


# ---- Rates against one parameter: D, C and B


class Sweep:
    """transfer(value); base: what a speed-up is over; unit: of the values, in their plot."""

    def __init__(self, name, column, axis, caption, values, transfer, base, unit=1):
        self.name, self.column, self.axis, self.caption = name, column, axis, caption
        self.values, self.transfer, self.base, self.unit = values, transfer, base, unit

    def write(self, page):
        """The plot, and a table for each side."""
        each(lambda value, side: self.transfer(value).predict(side),
             [(value, side) for value in self.values for side in (WRITE, READ)])
        each(lambda value: self.transfer(value).sides(), self.values)
        measured = [("", [(v / self.unit, self.transfer(v)[side].mb_s) for v in self.values]) for side in (WRITE, READ)]
        turning = [[(v / self.unit, self.transfer(v).predict(side)[1]) for v in self.values] for side in (WRITE, READ)]
        page.plot(Plot(self.name, self.axis, "MB/s",
                       [(SIDES[side], measured[side][1]) for side in (WRITE, READ)] +
                       [(SIDES[side] + ", predicted", [point for point in turning[side] if point[1] > 0], side)
                        for side in (WRITE, READ)], logarithmic=True), self.caption)
        for side in (WRITE, READ):
            page.table("%s|%s, MB/s|speed-up|constant service|difference|turning drives|difference"
                       % (self.column, SIDES[side]), self.row, [(value, side) for value in self.values])

    def row(self, value, side):
        t = self.transfer(value)
        mb_s, (constant, turning, _) = t[side].mb_s, t.predict(side)
        return [bytes_name(value) if self.unit > 1 else str(value), number(3, mb_s),
                number(2, mb_s / self.base[side].mb_s), *predicted(mb_s, constant, turning)]

    def explain(self, page):
        page.items(explain_all([(self.transfer(value), side) for side in (WRITE, READ) for value in self.values]))


def section_disks(x, page):
    page.paragraph("Node 0 of model-16 has four channel-disjoint routings, each to four of 16 I/O nodes; D of them are "
                   "used, on as many routings as there are. Each transfer has four times the bytes of the others, so "
                   "that 16 volumes get some. The speed-up is over PIO on one volume.")

    def transfer(disks):
        return x.transfer(x.model[16], disks=disks, step=16 // disks, block=BLOCK, buffers=BUFFERS,
                          size=min(4 * x.bytes, 8 << 20))

    sweep = Sweep("disks", "D", "volumes, D",
                  "Rate against the number of volumes: B = 16 KB, C = 2, node 0 of model-16; predicted: turning "
                  "drives.",
                  [1, 2, 4, 8, 16], transfer, transfer(1))
    sweep.write(page)
    for side in (WRITE, READ):
        page.paragraph(bottleneck(x, sweep, side))
    for sentence in beyond_monitor(x, sweep):
        page.paragraph(sentence)
    sweep.explain(page)


def beyond_monitor(x, sweep):
    """Why turning drives miss READ where a volume is the bottleneck, if they do: of the drives' time between the
    monitor's requests and none, its curve says nothing."""
    curve, base = x.curve(sweep.transfer(1).machine, READ, BLOCK), sweep.base[READ].mb_s
    if len(curve) < 2 or sum(curve[1]) / 1e6 * base * MB < (1 + LARGE) * BLOCK:
        return []
    rows = [d for d in sweep.values
            if sweep.transfer(d)[READ].mb_s > (1 + LARGE) * sweep.transfer(d).predict(READ)[1]]
    return ["READ, D = %s: turning drives predict too little, and these rows say nothing for or against them. No pause "
            "of the monitor is shorter than %.1f ms, as a block is on the network and at the processor for so long. By "
            "then the drive has read the next block ahead and stopped, as its buffer holds two; the block behind waits "
            "for the platters to come round, so one comes every %.1f ms. A drive that is asked again at once reads on, "
            "and gives one every %.1f ms."
            % (", ".join(map(str, rows)), curve[1][0] / 1e3, sum(curve[1]) / 1e3, BLOCK / MB / base * 1e3)]


def bottleneck(x, sweep, side):
    """Where the model's first bottleneck is: the number of volumes that keep the processor, or the routings, busy."""
    t, base = sweep.transfer(16), sweep.base[side].mb_s
    s, block_us = x.service(t.machine, side, BLOCK), BLOCK / MB / base * 1e6
    processor, network = block_us / s.cpu_us, t.routings(side) * block_us / s.network_us
    least, disks = min([(sweep.transfer(d)[side].mb_s / base / d, d) for d in sweep.values
                        if d <= min(processor, network)], default=(math.inf, 0), key=lambda pair: pair[0])
    cause = " " + sweep.transfer(disks).cause(side) if disks and least < LINEAR else ""
    names = ("processor", "routings") if processor < network else ("routings", "processor")
    return ("%s: a volume alone takes %.1f ms for a block, so the model's first bottleneck is the %s, with D = %.1f "
            "(the %s with %.1f). Up to there the speed-up is at least %.2f D, with D = %d.%s"
            % (SIDES[side], block_us / 1e3, names[0], min(processor, network), names[1], max(processor, network), least,
               disks, cause))


def section_buffers(x, page):
    if not x.can_stripe(page):
        return
    page.paragraph("From node %d, which ncube place ranks first. The speed-up is over the plain call. More than two "
                   "blocks for each volume wait in queues and take memory." % x.places[0]["node"])
    sweep = Sweep("buffers", "C", "blocks under way for each volume, C",
                  "Rate against the blocks under way for each volume: B = 16 KB; predicted: turning drives.",
                  list(range(1, 9)), lambda c: x.from_place(disks=x.used, block=BLOCK, buffers=c),
                  x.from_place(plain=True))
    sweep.write(page)
    sweep.explain(page)


def section_blocks(x, page):
    if not x.can_stripe(page):
        return
    page.paragraph("From node %d, which ncube place ranks first. The speed-up is over the plain call."
                   % x.places[0]["node"])
    sweep = Sweep("blocks", "B", "KB per block, B",
                  "Rate against the size of a block: C = 2; predicted: turning drives.",
                  [1024 << i for i in range(7)], lambda b: x.from_place(disks=x.used, block=b, buffers=BUFFERS),
                  x.from_place(plain=True), unit=1024)
    sweep.write(page)
    sweep.explain(page)


# ---- Uses, section 5: random access, and which nodes should do a program's I/O


def section_random(x, page):
    if not x.can_stripe(page):
        return
    page.paragraph(
        "The whole file by calls of one size, from node %d: in its order, and with PIO SEEK before each call in a "
        "random order, always the same one. A call of one block uses one volume, and gains nothing from the others; a "
        "call of D blocks uses all of them." % x.places[0]["node"])
    requests = [16384, 65536, 131072, 524288]

    def rate(request, side, plain, random):
        words = {"plain": True} if plain else {"disks": x.used, "block": BLOCK, "buffers": BUFFERS}
        return x.from_place(request=request, random=random, **words)[side].mb_s

    each(rate, [(r, WRITE, plain, random) for r in requests for plain in (False, True) for random in (False, True)])
    page.plot(Plot("random", "KB of a call", "MB/s",
                   [("%s %s" % (SIDES[side], "at random" if random else "in order"),
                     [(r / 1024, rate(r, side, False, random)) for r in requests])
                    for side in (WRITE, READ) for random in (False, True)], logarithmic=True),
              "PIO by calls of several sizes, in the file's order and in a random one.")

    def row(side, request):
        pio, plain = ([rate(request, side, plain, random) for random in (False, True)] for plain in (False, True))
        cells = ["%s, %s" % (SIDES[side], bytes_name(request))]
        for in_order, at_random in (pio, plain):
            cells += [number(3, in_order), number(3, at_random), "%.0f %%" % (100 * at_random / in_order)]
        return cells + [number(2, pio[1] / plain[1])]

    page.table("call|PIO in order, MB/s|PIO at random|of that|plain in order|plain at random|of that|"
               "speed-up at random", row, [(side, request) for side in (WRITE, READ) for request in requests])


def section_nodes(x, page):
    if not x.can_stripe(page):
        return
    page.paragraph("Nodes transfer at the same time, each a file of its own, with B = 16 KB and C = 2: on the nodes "
                   "that ncube place ranks first for these volumes, and on those that it ranks last. The rate is of "
                   "all together, from the first one's begin to the last one's end; what is busy is the busiest drive, "
                   "channel and compute node.")
    counts = [n for n in (1, 2, 4, 8, 16) if n <= x.machine.nodes]
    if len(counts) < 5:
        page.paragraph("Left out: more than %d nodes, since %s has no more." % (x.machine.nodes, x.machine.name))

    def sides(end, n):
        places = x.places[:n] if end == "first" else x.places[::-1][:n]
        return x.transfer(nodes=[place["node"] for place in places], disks=x.used, block=BLOCK, buffers=BUFFERS).sides()

    rows = [(end, n) for end in ("first", "last") for n in counts]
    each(sides, rows)
    page.plot(Plot("nodes", "nodes at once", "MB/s of all together",
                   [("%s, %s" % (SIDES[side], end), [(n, sides(end, n)[side].mb_s) for n in counts])
                    for end in ("first", "last") for side in (WRITE, READ)], logarithmic=True),
              "Rate of several nodes at once, on the nodes that ncube place ranks first, and last.")

    def row(end, n):
        cells = ["%s %d" % (end, n)]
        for s in sides(end, n):
            cells += [number(3, s.mb_s), number(3, s.mb_s / n)]
            cells += ["%.0f %%" % (100 * use) for use in (s.drive, s.channel, s.processor)]
        return cells

    page.table("nodes|WRITE, MB/s|each|drive|channel|processor|READ, MB/s|each|drive|channel|processor", row, rows)


TITLE, MACHINE = "User-level parallel file I/O, measured", "sandia"

SECTIONS = [
    ("service", "Service times", section_service),
    ("plain", "Plain calls", section_plain),
    ("figures", "Figures 7 and 8: from one node to eight volumes", section_figures),
    ("model", "Tables 2 to 4: the model's machines", section_model),
    ("disks", "Speed-up against the number of volumes", section_disks),
    ("buffers", "Rate against the blocks under way", section_buffers),
    ("blocks", "Rate against the size of a block", section_blocks),
    ("random", "Random access", section_random),
    ("nodes", "Several nodes at once", section_nodes)]


def study(lab, path, size, _full):
    """Without a size, the paper's; so there is nothing fuller."""
    return Study(lab, path, size or 2 << 20)


def introduce(x, page):
    page.paragraph(
        "The experiments of Y. Wang and E. L. Leiss, User-Level Parallel File I/O [P0], on the machine %s, in virtual "
        "time. Each transfer has %s. A rate is bytes over the time of the calls alone; MB are 2^20 bytes, as in the "
        "paper. Every measurement has a machine and blank volumes of its own, and reading another start of the machine "
        "than writing, so that no server remembers what it wrote." % (x.machine.name, bytes_name(x.bytes)))
    if x.lab.settings:
        page.paragraph("Set on the command line, for all machines: %s." % ", ".join(x.lab.settings[1::2]))
    if x.odd_volume:  # there is no single service time to predict with
        page.paragraph("Left out: predictions for %s. Its volumes %s and %s are not alike (drive, cache, or how many "
                       "drives share an I/O node), and the model has one service time for all."
                       % (x.machine.name, x.machine.volume(0), x.machine.volume(x.odd_volume)))
