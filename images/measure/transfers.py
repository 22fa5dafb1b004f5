"""Transfers of parallel file I/O on a machine, measured: their rates, what was busy meanwhile, the service times of the
monitor, what the queueing model of paper 000 predicts from these, and why a measurement is not as predicted.

    study = Study(lab, path, size)                          of the machine file `path`, and of the model's machines
    t = study.transfer(disks=8, block=16384, buffers=2)     measured when it is asked for, once (runs.py)
    t[WRITE].mb_s, t[READ].drive                            a rate; for which part of the time the busiest drive was
    t.predict(WRITE), t.explain(WRITE)                      the model's rates; a list of sentences
"""
import functools
import json
import os
import re

from runs import Failure, Images, each

MB = 1048576.0  # the paper's: 64 rounds of 8 blocks of 4 Kbytes are 2 of them
VOLUMES = 8  # D of section 4
WRITE, READ = 0, 1
SIDES = ["WRITE", "READ"]
LARGE = 0.10  # a difference that needs a sentence
SAME = 1.02  # at most so much longer is as long
FULL = 0.90  # a part that is busy for so much of the time holds the others up
PAUSES, CURVE_US = 72, 72000  # points of a curve, and its longest pause
CURVE_REQUESTS, CURVE_BYTES = 14, 18 << 20  # of the monitor, for each pause; that fit on a volume
NODE_HOST, NODE_IO = 0x8000, 0x4000
CYCLES_PER_US = 20
BLANK = Images("--block=4K", "32M")


def paper_tables(lab):
    """The paper's Tables 2 to 4, three rows each: block, C, routings, response in ms, I/O nodes busy in %, MB/s."""
    rows = [(row["block_bytes"], row["buffers"], row["routings"], row["paper"]["response_us"] / 1e3,
             100 * row["paper"]["disk_use"], row["paper"]["mb_s"]) for row in json.loads(lab.ask("model", "--json"))]
    return [rows[i:i + 3] for i in range(0, len(rows), 3)]


def paper_rates(lab):
    """Its MB/s by block, C and routings."""
    return {row[:3]: row[5] for rows in paper_tables(lab) for row in rows}


@functools.cache
def paper_service(lab):
    """Its service times in ms of writing a block, by the block's bytes: processor, network, server."""
    models = [json.loads(lab.ask("model", "--json", "--block=%dK" % kb)) for kb in (4, 8, 16)]
    return {model["block_bytes"]: [model["service_%s_us" % part] / 1e3 for part in ("cpu", "network", "disk")]
            for model in models}


def bytes_name(n):
    for unit, name in ((1048576, "MB"), (1024, "KB")):
        if n % unit == 0:
            return "%d %s" % (n // unit, name)
    return "%d B" % n


def more_or_less(part, more="more", less="less"):
    return "%.0f %% %s" % (100 * abs(part), less if part < 0 else more)


# ---- Machines


def inlined(path):
    """A machine file's text with those that it includes."""
    with open(path, encoding="utf-8") as file:
        return re.sub('^[ \t]*@include[ \t]+"([^"]*)"',
                      lambda found: inlined(os.path.join(os.path.dirname(path), found.group(1))), file.read(),
                      flags=re.MULTILINE)


class Machine:
    """A machine file; `text` is a copy whose images are in the folder that --images names."""

    def __init__(self, lab, path):
        self.lab, self.path, self.name = lab, path, os.path.basename(path)
        if os.path.exists(path) and not os.path.isfile(path):
            raise Failure("%s: cannot copy it; it must be a file that can be read twice" % path)
        self.topo = json.loads(lab.ask("topo", "--json", *lab.settings, path))
        names = iter(range(1000))
        self.text = re.sub('\\bimage\\s*[=:]\\s*("[^"]*"\\s*)+', lambda _: 'image = "%d.img" ' % next(names),
                           inlined(path))
        self.nodes = 1 << self.topo["dim"]
        self.volumes = [(io, drive) for io in self.topo["io_nodes"] for drive in io["drives"]]

    def volume(self, i):
        return self.volumes[i][1]["volume"]

    def io_node(self, i):
        return "%d.%d" % (self.volumes[i][0]["board"], self.volumes[i][0]["index"])

    def kind(self, i):
        """What a volume's service times depend on."""
        io, drive = self.volumes[i]
        return drive["model"], drive["rpm"], drive["cache"], len(io["drives"]), io["service"]

    def path_channels(self, start, ends):
        """The channels, as (node, next node, number), of the paths from one node to others."""
        answer = json.loads(self.lab.ask("route", "--json", *self.lab.settings, self.path, start, *ends))
        return [set(zip(path["nodes"], path["nodes"][1:], path["channels"])) for path in answer["paths"]]

    def name_of(self, address):
        return "%d.%d" % divmod(address - NODE_IO, 16) if address >= NODE_IO else str(address)


# ---- A transfer


def rate(lines):
    """MB/s of a piobench's lines."""
    return sum(line["bytes"] for line in lines) / MB / (duration(lines) / 1e6)


class Side:
    """One operation: when its calls ran, and what was busy meanwhile, by the statistics up to their begin and end."""

    def __init__(self, lines, begin, end):
        self.lines = [{name: decimal(value) for name, value in line.items()} for line in lines]
        self.us = duration(self.lines)
        self.set_up_us = max(line["set_up_us"] for line in self.lines)
        self.mb_s = rate(self.lines)
        cycles = self.us * CYCLES_PER_US

        def share(kind, i, *keys):
            return sum(end[kind][i][key] - begin[kind][i][key] for key in keys) / cycles

        nodes = [(node["kind"] == "io", share("nodes", i, "user_cycles", "kernel_cycles"))
                 for i, node in enumerate(end["nodes"])]
        channels = [(share("channels", i, "busy_cycles"), -i) for i, channel in enumerate(end["channels"])
                    if channel["from"] != NODE_HOST]
        self.processor = max([use for io, use in nodes if not io] + [0])
        self.server = max([use for io, use in nodes if io] + [0])
        self.drive = max([share("drives", i, "busy_cycles") for i in range(len(end["drives"]))] + [0])
        self.channel, i = max(channels + [(0, 0)])
        busiest = end["channels"][-i]
        self.channel_from, self.channel_number = busiest["from"], busiest["channel"]
        self.channel_ends = busiest["from"], busiest["to"]

    def json(self):
        return {"lines": self.lines,
                "busy": {name: rounded(getattr(self, name)) for name in
                         ("processor", "drive", "server", "channel", "channel_from", "channel_number")}}


def decimal(text):
    try:
        return float(text) if re.search("[.eE]", text) else int(text)
    except ValueError:
        return text


def rounded(value):
    return float("%.10g" % value) if isinstance(value, float) else value


def duration(lines):
    us = max(line["to_us"] for line in lines) - min(line["from_us"] for line in lines) if lines else 0
    if us <= 0:
        raise Failure("piobench: no measurement in what it printed")
    return us


class Transfer:
    """From some nodes to volumes i * step of a machine: by PIO with blocks and buffers, or plain."""

    def __init__(self, study, machine, nodes=(0,), disks=1, step=1, block=0, buffers=0, request=0, plain=False,
                 random=False, size=0):
        self.study, self.machine, self.nodes, self.disks = study, machine, tuple(nodes), disks
        self.volumes = [i * step for i in range(disks)]
        self.block, self.buffers, self.bytes = block, buffers, size or study.bytes
        self.blocks = -(-self.bytes // block) if block else 0
        self.words = ["bytes=%d" % self.bytes, "volumes=" + ",".join(machine.volume(i) for i in self.volumes)]
        self.words += ["plain"] if plain else ["B=%d" % block, "C=%d" % buffers]
        self.words += (["request=%d" % request] if request else []) + (["random"] if random else [])

    def sides(self):
        """[WRITE, READ]; reading is another start of the machine, so that no server remembers what it wrote."""
        return self.study.once((self.machine.name, "piobench", self.nodes, *self.words), self.measure)

    def run(self, operation, images, **more):
        lab = self.study.lab
        return lab.run("-d", max(self.nodes).bit_length(), lab.example("piobench"), operation,
                       ",".join(map(str, self.nodes)), *self.words, machine=self.machine.text, images=images, **more)

    def measure(self):
        def side(operation, whole, images):
            lines = whole.lines
            try:
                times = [min(float(line["from_us"]) for line in lines), max(float(line["to_us"]) for line in lines)]
            except (KeyError, ValueError):
                raise Failure("piobench %s: no measurement in what it printed" % operation) from None
            cut = each(lambda us: self.run(operation, images, stats=True, limit_us=us).stats, times)
            return Side(lines, *cut)

        write = self.run("write", BLANK, keep_images=True)
        sides = each(lambda operation: side("write", write, BLANK) if operation == WRITE else
                     side("read", self.run("read", write), write), [WRITE, READ])
        write.drop_images()
        return sides

    def rates(self):
        """MB/s of WRITE and READ, for a third of the runs that `sides` takes."""
        write = self.run("write", BLANK, keep_images=True)
        lines = [[{name: decimal(value) for name, value in line.items()} for line in run.lines]
                 for run in (write, self.run("read", write))]
        write.drop_images()
        return [rate(side) for side in lines]

    def __getitem__(self, side):
        return self.sides()[side]

    # ---- Its paths: to the volumes for WRITE, from them for READ

    def paths(self, side):
        io_nodes, node = [self.machine.io_node(i) for i in self.volumes], str(self.nodes[0])
        if side == WRITE:
            return self.machine.path_channels(node, io_nodes)
        return [self.machine.path_channels(io_node, [node])[0] for io_node in io_nodes]

    def routings(self, side):
        """The channel-disjoint ones: groups of paths that share channels."""
        groups = []
        for path in self.paths(side):
            shared = [group for group in groups if group & path]
            groups = [group for group in groups if not group & path] + [path.union(*shared)]
        return len(groups)

    def paths_on_busiest(self, side):
        ends = tuple(map(self.machine.name_of, self[side].channel_ends))
        return sum(ends in [channel[:2] for channel in path] for path in self.paths(side))

    def paper_mb_s(self, side):
        """What Tables 2 to 4 predict, which are of PIO WRITE to 8 volumes; 0: nothing."""
        if side != WRITE or self.disks != VOLUMES:
            return 0
        return self.study.paper_mb_s.get((self.block, self.buffers, self.routings(side)), 0)

    # ---- What the model predicts

    def predict(self, side):
        """MB/s: with constant service, the begin and the end included; with drives that turn on between requests; of
        the steady state with exponential service."""
        if self.machine is self.study.machine and self.study.odd_volume:
            return 0, 0, 0
        service, curve = each(lambda f: f(self.machine, side, self.block), [self.study.service, self.study.curve])
        if min(service.cpu_us, service.network_us, service.disk_us) < 0.001:
            return 0, 0, 0
        words = ["--disks=%d" % self.disks, "--buffers=%d" % self.buffers, "--block=%d" % self.block,
                 "--routings=%d" % min(self.routings(side), self.disks), "--bytes=%d" % self.bytes]
        words += ["--%s-time=%r" % (name, value) for name, value in (
            ("cpu", service.cpu_us), ("network", service.network_us), ("disk", service.disk_us),
            ("status", service.status_us))]
        words += ["--curve=" + ",".join("%r:%r" % point for point in curve)] if curve else []
        model = json.loads(self.study.lab.ask("model", "--json", *words))
        return model["constant_file_mb_s"], model.get("turning_file_mb_s", 0), model["exponential"]["mb_s"]

    # ---- Why a measurement is not as predicted

    def cause(self, side):
        s, service = self[side], self.study.service(self.machine, side, self.block)
        each_us = s.drive * s.us * self.disks / self.blocks
        paths = self.paths_on_busiest(side)
        channel = "channel %d of node %s, which carries the data of %d of the %d volumes," % (
            s.channel_number, self.machine.name_of(s.channel_from), paths, self.disks)
        if s.channel >= FULL and s.channel >= s.drive and paths > 0:
            return self.channel_cause(side, channel, service)
        if s.drive >= FULL:
            return ("The drives are busy %.0f %% of the time, %.1f ms for each block. The monitor's requests, which "
                    "come at another angle of the platters, took %.1f ms with the server's part."
                    % (100 * s.drive, each_us / 1e3, service.disk_us / 1e3))
        if s.processor >= FULL:
            return ("The compute node's processor is busy %.0f %% of the time, %.2f ms for each block; one alone takes "
                    "%.2f ms, as its reply finds the process waiting and need not be queued."
                    % (100 * s.processor, s.processor * s.us / self.blocks / 1e3, service.cpu_us / 1e3))
        uneven = ""
        if paths * self.routings(side) > self.disks:
            uneven = (" The model has %.4g volumes on each routing, so blocks wait here that it lets pass."
                      % (self.disks / self.routings(side)))
        return ("Nothing is busy all the time: the drives %.0f %%, at %.1f ms for each block; %s %.0f %%; the compute "
                "node's processor %.0f %%.%s"
                % (100 * s.drive, each_us / 1e3, channel, 100 * s.channel, 100 * s.processor, uneven))

    def channel_cause(self, side, channel, service):
        """A channel that is always busy: because the wiring is uneven, or because a block holds it for longer than
        alone."""
        s, paths, routings = self[side], self.paths_on_busiest(side), self.routings(side)
        held_us = s.channel * s.us * self.disks / paths / self.blocks
        text = "Most is asked of %s and is busy %.0f %% of the time" % (channel, 100 * s.channel)
        if paths * routings > self.disks:
            return text + "; the model has %.4g on each routing." % (self.disks / routings)
        if held_us <= SAME * service.network_us:
            return text + "."
        return (text + ". A block holds it for %.2f ms instead of the monitor's %.2f ms: its header waits until the "
                "receiver, which is at work on the block before, has a buffer for it."
                % (held_us / 1e3, service.network_us / 1e3))

    def explain(self, side, limit=LARGE):
        """A list with a sentence, if it differs by more than LARGE from constant service times, or else by more than
        `limit` from turning drives; or by more than LARGE from the paper's figure."""
        constant, turning, _ = self.predict(side)
        mb_s, paper = self[side].mb_s, self.paper_mb_s(side)

        def differs(predicted, limit, what):
            part = mb_s / predicted - 1 if predicted > 0 else 0
            return [more_or_less(part) + " than " + what] if abs(part) > limit else []

        texts = (differs(constant, LARGE, "constant service times predict") or
                 differs(turning, limit, "turning drives predict"))
        texts += differs(paper, LARGE, "the paper predicts (%.2f MB/s)" % paper)
        if not texts:
            return []
        return ["%s, node %d of %s, D = %d, B = %s, C = %d: %s. %s" % (
            SIDES[side], self.nodes[0], self.machine.name, self.disks, bytes_name(self.block), self.buffers,
            ", and ".join(texts), self.cause(side))]


def explain_all(transfers, limit=LARGE):
    """The sentences about pairs of a transfer and a side."""
    return sum(each(lambda transfer, side: transfer.explain(side, limit), transfers), [])


# ---- Service times


class Service:
    """For a block that is alone, in us. monitor_cpu_us: what the monitor sees of the processor's time, from a reply to
    the next request; cpu_us is by the statistics, since the processor works for a block also while others hold it."""

    def __init__(self, line, side, busy):
        out_us, back_us = float(line["out_us"]), float(line["back_us"])
        self.cpu_us, self.monitor_cpu_us, self.disk_us = busy.processor_us, float(line["cpu_us"]), float(line["us"])
        self.network_us, self.status_us = (out_us, back_us) if side == WRITE else (back_us, out_us)


class Busy:
    """For how long a block keeps each part busy, when blocks come one at a time."""

    def __init__(self, side, blocks):
        for part in ("processor", "channel", "server", "drive"):
            setattr(self, part + "_us", getattr(side, part) * (side.us / blocks))


class Study:
    def __init__(self, lab, path, size):
        machines = os.path.join(lab.build, "machines")
        self.lab, self.bytes = lab, size
        self.results, self.paper_mb_s = {}, paper_rates(lab)
        self.machine = Machine(lab, path)
        self.model = {name: Machine(lab, "%s/model-%d.conf" % (machines, name)) for name in (1, 4, 8, 16)}
        self.used = min(len(self.machine.volumes), VOLUMES)
        self.odd_volume = next((i for i in range(1, self.used) if self.machine.kind(i) != self.machine.kind(0)), 0)
        self.places = []
        if self.used:
            self.places = json.loads(lab.ask("place", "--json", *lab.settings, path,
                                             *(self.machine.volume(i) for i in range(self.used))))

    def once(self, key, measure):
        with self.lab.lock(key):
            if key not in self.results:
                self.results[key] = measure()
            return self.results[key]

    def transfer(self, machine=None, **words):
        return Transfer(self, machine or self.machine, **words)

    def from_place(self, place=0, **words):
        return self.transfer(nodes=[self.places[place]["node"]], **words)

    def representative(self, machine):
        """The model's machines have the same nodes and drives: what is measured on one of them holds for all."""
        return machine if machine is self.machine else self.model[1]

    def monitor(self, machine, *words):
        return self.once((machine.name, "diskmon", (), *words), lambda: self.lab.run(
            "-d", 0, self.lab.example("diskmon"), *words, machine=machine.text, images=BLANK)).lines

    def busy(self, machine, side, block):
        blocks = max(self.bytes // VOLUMES // block, 1)
        transfer = self.transfer(self.representative(machine), block=block, buffers=1, size=blocks * block)
        return Busy(transfer[side], blocks)

    def service(self, machine, side, block):
        lines, busy = each(lambda f: f(), [lambda: self.monitor(machine, machine.volume(0), str(block)),
                                           lambda: self.busy(machine, side, block)])
        return Service(next(line for line in lines if line["op"] == SIDES[side].lower()), side, busy)

    def curve(self, machine, side, block):
        """Service by how long the I/O node was idle before, (us, us): what the monitor measured with longer and longer
        pauses, without any transfer that it is to predict. Its requests never find an I/O node that was busy until
        then: so the curve goes on to 0 as between its first two points, but no steeper than a drive turns."""
        machine = self.representative(machine)
        pauses = min(CURVE_BYTES // CURVE_REQUESTS // block, PAUSES)
        lines = self.monitor(machine, machine.volume(0), "pauses=%d,%d" % (CURVE_US // pauses, pauses), str(block))
        points = [(float(line["idle_us"]), float(line["us"])) for line in lines if line["op"] == SIDES[side].lower()]
        if len(points) < 2:
            return []
        (idle, service), (next_idle, next_service) = points[:2]
        fall = (service - next_service) / (next_idle - idle)
        return [(0.0, service + min(max(fall, 0), 1) * idle)] + points[:PAUSES]

    def json(self):
        """The raw figures of all measurements."""
        result = []
        for key in sorted(self.results):
            name, program, nodes, *words = key
            nodes = ",".join(map(str, nodes))
            entry = {"machine": name, "program": program, "dimension": max(key[2], default=0).bit_length(),
                     "nodes": nodes, "words": " ".join(words)}
            value = self.results[key]
            if program == "piobench":
                entry.update(write=value[WRITE].json(), read=value[READ].json())
            else:
                entry["lines"] = [{k: decimal(v) for k, v in line.items()} for line in value.lines]
            result.append(entry)
        return result

    def can_stripe(self, page):
        if self.used < 2:
            page.paragraph("Left out: %s has %s, and blocks are striped over two at least."
                           % (self.machine.name, "one volume" if self.used else "no volumes"))
        return self.used >= 2

    def has_volumes(self, page):
        if self.used == 0:
            page.paragraph("Left out: %s has no volumes." % self.machine.name)
        return self.used > 0
