"""Measures the rows of the first table of docs/performance.md on this host, and prints for each: its name, what it is,
the figure, and the aim. Host times: nothing of this is kept.

ROWS=NAME,...    only these rows, by commas or blanks; a name may be a pattern, as jacobi_*
LARGE=1          also those that take minutes or GB of memory, unless ROWS names them anyway
RUNS=N           best of N runs (default 3)
AGAINST=BUILD    another build, such as an older one: each row is measured by both, with the same programs, and
                 each begins in its turn: the second of two runs takes up to 6 % less time
SHORT=1          all in small: shows that each row can be measured, its figures mean nothing

What is compared runs in turn, so that both sides meet the same host. Other work on the host makes all figures worse;
ratios of what runs on one processor compare processor time, which suffers less. In brackets are the two sides of a
ratio, and the processor time of all processes of what was measured. Exit status: 2 for usage, 1 if a command fails.
"""
import fnmatch
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

from runs import Failure

SOURCES = "tests/bench/"
SHORT = bool(os.environ.get("SHORT"))
CLOCK_S = 0.001  # a difference of two times is not less


def small(normal, short):
    return short if SHORT else normal


class Times:
    """The least wall and the least processor time of some runs of a command, in s, and what the last one printed."""

    def __init__(self):
        self.wall = self.cpu = 1e9
        self.text = ""


class Bench:
    """Measures with a build; with a twin of another build in turn, which is then asked for the same figures."""

    def __init__(self, build, runs, work, twin=None):
        self.build, self.runs, self.work, self.twin = build, runs, work, twin
        self.measured = []  # by the twin's twin
        self.ncube = build + "/bin/ncube"
        self.hello = build + "/examples/hello"

    def timed(self, times, argv):
        begun = time.monotonic()
        with open(self.work + "/out", "w+", encoding="utf-8", errors="replace") as out:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            times.wall = min(times.wall, time.monotonic() - begun)
            times.cpu = min(times.cpu, used.ru_utime + used.ru_stime)
            out.seek(0)
            times.text = out.read()
        if child.returncode != 0:
            raise Failure("failed: %s: %s" % (" ".join(argv), (times.text.strip().split("\n") or [""])[-1]))

    def best(self, *commands):
        """The times of commands that run in turn."""
        commands = [[str(word) for word in argv] for argv in commands]
        times = self.measured.pop(0) if self.measured else self.measure(commands)
        return times if len(times) > 1 else times[0]

    def measure(self, commands):
        sides = [(self, commands)]
        if self.twin:
            sides.append((self.twin, [[word.replace(self.build, self.twin.build) for word in argv]
                                      for argv in commands]))
        times = [[Times() for _ in commands] for _ in sides]
        turn = list(zip(sides, times))
        for _ in range(self.runs):
            for k in range(len(commands)):
                for (bench, argvs), side in turn:
                    bench.timed(side[k], argvs[k])
            turn.reverse()
        if self.twin:
            self.twin.measured.append(times[1])
        return times[0]

    def node_program(self, name, source, *options):
        if self.measured:
            return "%s/%s" % (self.work, name)
        self.timed(Times(), [self.build + "/bin/ncc", "-O2", "-I.", "-o", "%s/%s" % (self.work, name),
                             "%s%s.c" % (SOURCES, source), *options])
        return "%s/%s" % (self.work, name)

    def plain_qemu(self, work, harts, turns):
        """Plain QEMU with a work."""
        path = "%s/plain_%s" % (self.work, work)
        self.timed(Times(), ["riscv64-unknown-elf-gcc", "-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany", "-O2", "-I.",
                             "-nostdlib", "-ffreestanding", "-Wl,--no-relax", "-Wl,-n", "-Wl,-Ttext=0x80000000",
                             "-Wl,--no-warn-rwx-segments", "-DWORK=" + work, "-DHARTS=%d" % harts, "-DTURNS=%d" % turns,
                             "-o", path, SOURCES + "plain.S", SOURCES + "plain.c"])
        return ["qemu-system-riscv64", "-M", "virt", "-bios", "none", "-kernel", path, "-display", "none", "-monitor",
                "none", "-serial", "none", "-smp", str(harts)]

    def run(self, *words):
        return [self.ncube, "run", *words]


# ---- What the rows measure: a figure, and a remark


def seconds(wall, cpu):
    return "%.2f s" % wall, "processor %.2f s" % cpu


def less(a, b):
    return max(a - b, CLOCK_S)


def ratio(a, b):
    return "%.2f" % (a / b), "%.2f s, %.2f s" % (a, b)


def hello(bench, dim):
    t = bench.best(bench.run("-d", small(dim, 2), bench.hello))
    return seconds(t.wall, t.cpu)


def on_images(bench, volumes, size, machine, *words):
    os.makedirs(bench.work + "/images", exist_ok=True)
    for i in range(volumes):
        bench.timed(Times(), [bench.ncube, "disk", "create", "%s/images/df%02d.img" % (bench.work, i), size])
    t = bench.best(bench.run(*words[:-1], "-m", machine, "--images", bench.work + "/images", *words[-1]))
    for path in glob.glob(bench.work + "/images/*"):
        os.remove(path)
    return t


def hello_volumes(bench):
    t = on_images(bench, 8, "32M", "images/sandia.conf", [bench.hello])
    return seconds(t.wall, t.cpu)


def start(bench, dim):
    least = 1e9
    for _ in range(bench.runs):
        bench.timed(Times(), [str(word) for word in bench.run("-d", small(dim, 2), "--stats=%s/stats" % bench.work,
                                                              bench.hello)])
        if os.path.exists(bench.work + "/stats"):
            with open(bench.work + "/stats", encoding="utf-8") as file:
                least = min(least, float(re.search(r'"start_seconds": *([0-9.]+)', file.read()).group(1)))
    return "%.2f s" % least, ""


def pss_kb(process):
    """Of a process and its children."""
    children = [word for path in glob.glob("/proc/%d/task/*/children" % process) for word in open(path).read().split()]
    total = 0
    for number in [process, *children]:
        try:
            with open("/proc/%s/smaps_rollup" % number, encoding="ascii") as file:
                total += int(re.search(r"^Pss: *(\d+)", file.read(), re.MULTILINE).group(1))
        except OSError:
            pass  # it has ended
    return total


def memory(bench, dim):
    dim = small(dim, 2)
    program = bench.node_program("stays", "stays")
    argv = bench.run("-d", str(dim), program)
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as child:
        lines = sum(1 for _ in zip(range(1 << dim), child.stdout))
        kb = pss_kb(child.pid)
        child.terminate()
    if lines != 1 << dim:
        raise Failure("stays: %d lines" % lines)
    return "%.2f GB" % (kb / 1e6 * 1.024), ""


def demo(bench):
    """With two builds, without make, which would build the other one from this source."""
    by_make, by_script = ["make", "-s", "B=" + bench.build], [sys.executable, "-B", sys.argv[0], bench.build]
    t = bench.best((by_script if bench.twin or bench.measured else by_make) + ["demo"])
    return seconds(t.wall, t.cpu)


def against_plain(bench, work, turns):
    turns = small(turns, 200000)
    program = bench.node_program("compute", "compute", "-DWORK=" + work)
    one, other = bench.best(bench.plain_qemu(work, 1, turns), bench.run(program, turns, 1))
    return ratio(one.cpu, other.cpu)


def statistics(bench):
    words = [bench.node_program("compute", "compute", "-DWORK=integer"), small(800000000, 200000), 1]
    one, other = bench.best(bench.run(*words), bench.run("--stats=%s/stats" % bench.work, *words))
    return ratio(one.cpu, other.cpu)


def exchange(bench):
    turns, rounds = 7150, small(400, 2)  # 10 ms of virtual time, each
    program = bench.node_program("compute", "compute", "-DWORK=integer")
    one, other = bench.best(bench.plain_qemu("integer", 64, turns * rounds), bench.run("-d", 6, program, turns, rounds))
    return ratio(one.wall, other.wall)


def exchange_cores(bench):
    words = ["-d", small(6, 2), bench.node_program("compute", "compute", "-DWORK=integer"), 7150, small(400, 2)]
    one, other = bench.best(bench.run("--cores=1", *words), bench.run(*words))
    return ratio(one.wall, other.wall)


def trips(bench):
    n = small(20000, 20)
    program = bench.node_program("trips", "trips")
    on_one = ["taskset", "-c", min(os.sched_getaffinity(0))]
    one, other = bench.best(on_one + bench.run("-d", 1, program, n), on_one + bench.run("-d", 1, program, 1))
    return "%.0f/s" % (n / less(one.wall, other.wall)), "processor %.2f s" % less(one.cpu, other.cpu)


def polls(bench):
    t = bench.best(bench.run("-d", small(6, 2), bench.node_program("polls", "polls")))
    return seconds(t.wall, t.cpu)


def handlers(bench):
    program, n, dim = bench.node_program("handlers", "handlers"), small(500, 5), small(6, 2)
    one, other = bench.best(bench.run("-d", dim, program, n, 1), bench.run("-d", dim, program, n, 0))
    return ratio(one.wall, other.wall)


def barriers(bench, dim):
    program, dim = bench.node_program("barriers", "barriers"), small(dim, 2)
    one, other = bench.best(bench.run("-d", dim, program, 20), bench.run("-d", dim, program, 0))
    return seconds(less(one.wall, other.wall), less(one.cpu, other.cpu))


def jacobi(bench, dim):
    program, dim = bench.node_program("jacobi", "jacobi"), small(dim, 3)
    one, other = bench.best(bench.run("-d", dim, program, small(100, 10)), bench.run("-d", dim, program, 0))
    virtual_s, host_s = float(one.text) / 1e6, less(one.wall, other.wall)
    return ("%.3f" % (virtual_s / host_s),
            "%.3f s, %.2f s, processor %.2f s" % (virtual_s, host_s, less(one.cpu, other.cpu)))


def parallel(bench):
    volumes, program = small(64, 8), bench.node_program("parallel", "parallel", "-lpio")
    machine = small("images/machines/sandia-full.conf", "images/sandia.conf")
    t = on_images(bench, volumes, "16M", machine, "-d", small(10, 2), [program, volumes, 65536])
    return "%.2f s" % t.cpu, "%.2f s of host time" % t.wall


RACKS = 2


def on_racks(bench, racks, delay_us, *words):
    """A run whose racks are processes of this host, speak TCP, and use one processor each. Each message between them
    and rank 0 is late by delay_us."""
    return ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "NCUBE_RACK_DELAY_US=%d" % delay_us,
            "mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,tcp", "-np", str(1 + racks),
            bench.ncube + "-mpi", "run", "--cores=1", *words]


def racks_round(bench, delay_us):
    n, program = small(2000, 20), bench.node_program("trips", "trips")
    one, other = bench.best(on_racks(bench, RACKS, delay_us, "-d", 1, program, n),
                            on_racks(bench, RACKS, delay_us, "-d", 1, program, 1))
    return "%.0f/s" % (n / less(one.wall, other.wall)), "processor %.2f s" % less(one.cpu, other.cpu)


def racks_barriers(bench, dim, racks, delay_us):
    program, dim = bench.node_program("barriers", "barriers"), small(dim, 2)
    one, other = bench.best(*[on_racks(bench, racks, delay_us, "-d", dim, program, n) for n in (20, 0)])
    return seconds(less(one.wall, other.wall), less(one.cpu, other.cpu))


def grain_words(bench, grain_us, rounds):
    """A run of that many rounds, and one of its start."""
    program = bench.node_program("compute", "compute", "-DWORK=integer")
    return [["-d", small(6, 2), program, 715 * grain_us // 1000, n] for n in (small(rounds, 3), 1)]


def racks_grain(bench, grain_us, rounds, delay_us):
    """grain_us of virtual time between messages, on two racks and on one host; without their starts."""
    runs = grain_words(bench, grain_us, rounds)
    here, here_0, there, there_0 = bench.best(*[bench.run(*words) for words in runs],
                                              *[on_racks(bench, RACKS, delay_us, *words) for words in runs])
    return ratio(less(here.wall, here_0.wall), less(there.wall, there_0.wall))


def count_windows(bench, words):
    """On one host: those on racks are as many, within some percent."""
    path = bench.work + "/stats"
    bench.timed(Times(), [str(word) for word in bench.run("--stats=" + path, *words)])
    with open(path, encoding="utf-8") as file:
        return int(re.findall(r'"windows": *([0-9]+)', file.read())[-1])


class OnRacks:
    """A run on racks without its start: its time, its windows, and its time on one host, whose QEMUs are beside ncube
    as those of a rack are."""

    def __init__(self, bench, delay_us, runs):
        here, here_0, there, there_0 = bench.best(*[bench.run("--harts=turns", *words) for words in runs],
                                                  *[on_racks(bench, RACKS, delay_us, *words) for words in runs])
        self.here, self.there = less(here.wall, here_0.wall), less(there.wall, there_0.wall)
        self.windows = max(1, count_windows(bench, runs[0]) - count_windows(bench, runs[1]))


def racks_model(bench, delay_us, words_of):
    """The time on racks as the model says, over that measured. The model: the time on one host with as many
    processors, and so much for each window as one costs two nodes that send 8 bytes there and back."""
    trips = bench.node_program("trips", "trips")
    one = OnRacks(bench, delay_us, [["-d", 1, trips, n] for n in (small(1000, 20), 1)])
    window_s = less(one.there, one.here) / one.windows
    run = OnRacks(bench, delay_us, words_of(bench))
    predicted = run.here + run.windows * window_s
    return ("%.2f" % (predicted / run.there),
            "%.2f s, %.2f s, %d windows of %.0f us" % (predicted, run.there, run.windows, window_s * 1e6))


def barriers_words(bench):
    program = bench.node_program("barriers", "barriers")
    return [["-d", small(6, 2), program, n] for n in (20, 0)]


def racks_rows():
    """Barriers by number of racks and latency, and the model."""
    rows = []
    for dim in (6, 8, 10):
        for racks, delay_us in ((2, 0), (2, 50), (5, 0)):
            name = "racks_barriers_%d" % (1 << dim)
            what = "20 barriers, %d nodes on %s racks" % (1 << dim, {2: "two", 5: "five"}[racks])
            if delay_us > 0:
                name, what = name + "_50", what + ", 50 us"
            if racks != RACKS:
                name += "_on_5"
            rows.append((name, "-", what, racks_barriers, dim, racks, delay_us, "large"))
    for name, what, words_of in (("barriers", "20 barriers, 64 nodes", barriers_words),
                                 ("10ms", "every 10 ms", lambda bench: grain_words(bench, 10000, 200)),
                                 ("100ms", "every 100 ms", lambda bench: grain_words(bench, 100000, 40))):
        rows.append(("racks_model_" + name, "0.8 to 1.2", "the model's time over that measured, 50 us: " + what,
                     racks_model, 50, words_of, "large"))
    return rows


# ---- The rows: NAME, AIM, WHAT, and how it is measured; "large" at the end: not unless asked for

ROWS = [
    ("hello", "< 0.5 s", "hello, one node", hello, 0),
    ("hello_volumes", "< 1.5 s", "hello, `sandia.conf` with 8 volumes", hello_volumes),
    ("hello_256", "-", "hello, 256 nodes", hello, 8),
    ("hello_1024", "-", "hello, 1024 nodes", hello, 10),
    ("hello_8192", "20 s", "hello, 8192 nodes", hello, 13, "large"),
    ("start_1024", "1.0 s", "start of 1024 nodes", start, 10),
    ("start_8192", "9 s", "start of 8192 nodes", start, 13, "large"),
    ("memory_1024", "-", "memory (sum of PSS), 1024 nodes have said hello", memory, 10),
    ("memory_8192", "6 GB", "the same, 8192 nodes", memory, 13, "large"),
    ("demo", "3 s", "`make demo`, nothing to build", demo),
    ("integer", "0.9", "one node computes with integers, against plain QEMU", against_plain, "integer", 800000000),
    ("floating", "0.9", "the same, floating point", against_plain, "floating", 160000000),
    ("branches", "0.9", "the same, branches", against_plain, "branches", 60000000),
    ("chase", "0.9", "the same, pointers through 4 MB", against_plain, "chase", 20000000),
    ("stream", "0.9", "the same, 2 MB read and written", against_plain, "stream", 1000000000),
    ("statistics", "-", "integers, with `--stats` against without", statistics),
    ("exchange", ">= 1.4", "64 nodes compute, 8 bytes to a neighbour every 10 ms, against 64 harts of plain QEMU",
     exchange),
    ("exchange_cores", "1.6", "the same, by one processor of the host against all", exchange_cores),
    ("trips", "60,000/s", "two nodes, 8 bytes there and back, on one processor", trips),
    ("poll_cost", "4 s", "63 nodes poll with ntest for a second of virtual time", polls),
    ("exact_slow", "2", "two of 64 nodes exchange messages, all with a handler that is not called, against without",
     handlers),
    ("barriers_64", "0.15 s", "20 barriers, 64 nodes", barriers, 6),
    ("barriers_256", "0.7 s", "20 barriers, 256 nodes", barriers, 8),
    ("barriers_1024", "5 s", "20 barriers, 1024 nodes", barriers, 10),
    ("barriers_4096", "30 s", "20 barriers, 4096 nodes", barriers, 12, "large"),
    ("jacobi_64", "2", "Jacobi's iteration, 64 nodes: virtual over host time", jacobi, 6),
    ("jacobi_256", "0.5", "the same, 256 nodes", jacobi, 8),
    ("jacobi_1024", "0.1", "the same, 1024 nodes", jacobi, 10),
    ("parallel_1024", "30 s", "1024 nodes write and read a PIO file of 64 MB on 64 drives: processor time", parallel),
    ("racks_trips", "-", "two nodes on two racks, 8 bytes there and back", racks_round, 0, "large"),
    ("racks_trips_50", "-", "the same, 50 us each way between rank 0 and a rack", racks_round, 50, "large"),
    ("racks_trips_200", "-", "the same, 200 us", racks_round, 200, "large"),
    ("racks_1ms", "-", "64 nodes on two racks compute, 8 bytes to a neighbour every ms, against one host", racks_grain,
     1000, 200, 0, "large"),
    ("racks_10ms", "-", "the same, every 10 ms", racks_grain, 10000, 200, 0, "large"),
    ("racks_100ms", "-", "the same, every 100 ms", racks_grain, 100000, 40, 0, "large"),
    ("racks_100ms_50", ">= 0.9", "the same, 50 us each way between rank 0 and a rack", racks_grain, 100000, 40, 50,
     "large"),
    *racks_rows()]


def usage(text):
    print("bench: " + text, file=sys.stderr)
    raise SystemExit(2)


def select():
    """The rows that ROWS names, in its order; else the usual ones."""
    usual = [row for row in ROWS if row[-1] != "large" or os.environ.get("LARGE")]
    chosen = []
    for pattern in os.environ.get("ROWS", "").replace(",", " ").split():
        rows = [row for row in ROWS if row[0] == pattern] or [row for row in usual if fnmatch.fnmatch(row[0], pattern)]
        if not rows:
            usage("ROWS: no row is called '%s'; there are: %s" % (pattern, " ".join(row[0] for row in ROWS)))
        chosen += rows
    return chosen or usual


def show(name, what, aim, figure, remark):
    remark = "  (%s)" % remark if remark else ""
    print("%-14s %-88s %10s  %8s%s" % (name, what, figure, aim, remark), flush=True)


def main(build):
    runs = os.environ.get("RUNS", "3")
    if not re.fullmatch("[1-9][0-9]*", runs):
        usage("RUNS=%s: how many runs? Give a number from 1 on" % runs)
    if not os.access(build + "/bin/ncube", os.X_OK):
        usage("%s: give a folder in which everything is built" % build)
    other = os.environ.get("AGAINST")
    if other and not os.access(other + "/bin/ncube", os.X_OK):
        usage("AGAINST=%s: give a folder in which everything is built" % other)
    with tempfile.TemporaryDirectory() as work:
        twin = Bench(other, int(runs), work) if other else None
        bench = Bench(build, int(runs), work, twin)
        for name, aim, what, measure, *words in select():
            words = [word for word in words if word != "large"]
            show(name, what, aim, *measure(bench, *words))
            if twin:
                show("", "  by " + other, "", *measure(twin, *words))


def list_rows():
    """Name, aim and what it is, for each row, between tabs."""
    for row in ROWS:
        print("\t".join(row[:3]))
