"""The virtual-time figures of README and docs/: BLOCKS[NAME](lab) is what stands between the lines

    <!-- figures: NAME -->
    <!-- figures end -->

of a page. The outputs of commands in the pages are renewed by tests/docs/test_commands.sh. Host times
(docs/performance.md) are not among them.
"""
import re

import demo
import speedup
from page import table
from paper_001 import read_in
from runs import Images, each
from transfers import paper_service

IMAGES_1K, IMAGES_4K = Images("--block=1K", "32M"), Images("--block=4K", "32M")
PRESET = 'timing = "wang-leiss";'
OWN_DRIVE = ('dim = 1; boards = ( { number = 0; io_nodes = ('
             '{ index = 0; drives = ( { volume = "df00"; image = "df00.img"; } ); } ); } );')
ONE_DRIVE = OWN_DRIVE.replace("dim = 1", "dim = 4").replace("number = 0", "number = 3")


def sandia():
    with open("images/sandia.conf", encoding="utf-8") as file:
        return file.read()


def block_demo(lab):
    return ("<!-- test: skip it is run, and its output compared, by tests/house/test_figures.sh -->\n```\n$ make demo\n"
            + demo.output(lab) + "```")


def block_rates(lab):
    run = lab.run("-d", 0, lab.guest("rates"))
    rows = [("sorting, hashing, copying: 24.08 million instructions", "%.1f MIPS" % (24.08e6 / run.value("integer")),
             "about 7"),
            ("DAXPY, 1000 elements", "%.2f MFLOPS" % run.value("daxpy"), "2.7"),
            ("dot product, 1000 elements", "%.2f MFLOPS" % run.value("dot"), "2.7")]
    return table("code | rate | published", lambda *cells: cells, rows)


def block_mapping(lab):
    run = lab.run("-d", 0, lab.guest("mapping"))
    return table("cycles of a node | powers of two | other sizes",
                 lambda what: [what, run.word(what + ", powers of two:"), run.word(what + ", other sizes:")],
                 re.findall("^(.*), powers of two: ", run.text, re.MULTILINE))


def block_network(lab):
    run = lab.run("-d", 5, lab.example("netmon"))
    return table("bytes over 5 hops | `netmon`, us | published, us",
                 lambda size, us: [str(size), run.word("bytes=%d us=" % size), str(us)],
                 [(4096, 1854), (8192, 3697), (16384, 7384), (8, 15)])


def block_global(lab):
    """2 MB for each node through one channel of 20/9 MB/s."""
    conf = OWN_DRIVE.replace("dim = 1;", "dim = 5; ram_mb = 16;")

    def us(mode, dim):
        return read_in(lab, conf, mode, dim, blank=IMAGES_4K).value("in")

    def row(dim):
        step, apart, all_, one = each(us, [("local", dim), ("scattered", dim), ("global", dim), ("local", 0)])
        return [str(1 << dim), "%.2f s" % (step / 1e6), "%.2f s" % (apart / 1e6), "%.2f s" % (all_ / 1e6),
                "%.1f %%" % (100 * all_ / one), "%.1f" % (step / all_), "%.1f" % (apart / all_)]

    return table("nodes | each for itself, in step | scattered | global | of one node's read | speed-up, in step | "
                 "scattered", row, [1, 3] if lab.sampled else [1, 3, 5])


def disk_times(lab):
    """diskmon with the own kernel, and with that of 1992."""
    return each(lambda conf: lab.run("-d", 0, lab.example("diskmon"), "df00", machine=conf, images=IMAGES_4K),
                [OWN_DRIVE, OWN_DRIVE + PRESET])


def block_services(lab):
    runs = disk_times(lab)

    def row(size):
        published = paper_service(lab)[size][2]
        cells = ["%d KB" % (size // 1024), "%.1f" % published]
        for run in runs:
            ms = run.value("op=write bytes=%d us=" % size) / 1000
            cells += ["%.2f" % ms, "%+.1f %%" % (100 * (ms / published - 1))]
        return cells

    return table("nsdisk's service of a write, ms | published | own kernel | | kernel of 1992 |", row,
                 paper_service(lab))


def eight_bytes(lab, test="eight bytes", conf=None):
    """The cycles of 8 bytes, by what the lines say; "start-up": of sending and receiving, without the wire."""
    run = lab.run("-d", 1, lab.guest("measure"), test, "show", machine=conf)
    cycles = {}
    for line in run.text.splitlines():
        for what in ("to SEND", "on the wire", "return of nread", "between neighbours", "altogether"):
            if what in line:
                cycles[what] = float(line.split()[-2])
    cycles["start-up"] = cycles["between neighbours"] - cycles["on the wire"]
    return cycles


def block_preset(lab):
    own, old = eight_bytes(lab)["start-up"], eight_bytes(lab, "start-up of 1992", "dim = 1; " + PRESET)["start-up"]
    rows = [("start-up, send and receive of 8 bytes together, without the wire", "%.1f" % (own / 20), "about 160", 160,
             "%.1f" % (old / 20))]
    runs = disk_times(lab)
    for size, (cpu_ms, _, _) in paper_service(lab).items():
        own, old = (run.word("op=write bytes=%d us=[0-9.]* cpu_us=" % size) for run in runs)
        rows.append(("CPU stage of a request of PIO WRITE, %d KB" % (size // 1024), own,
                     "%g us [P0 section 3]" % (1000 * cpu_ms), 1000 * cpu_ms, old))
    return table("| own | published | with the preset |", lambda what, own, text, published, old: [
        what, own + " us", text + (" us" if text.startswith("about") else ""), old + " us",
        "%+.1f %%" % (100 * (float(old) / published - 1))], rows)


def block_table_2(lab):
    run = lab.run("-d", 7, lab.guest("measure"), "table 2", "show", machine='dim = 7; timing = "ipsc-860";')

    def row(text, line, published):
        rate = run.value(line + " +")
        return [text, "%.2f MB/s" % rate, "%.1f MB/s" % published, "%+.1f %%" % (100 * (rate / published - 1))]

    return table("| ours | published [P2 Table 2] |", row,
                 [("`memset` on a compute node", "memset", 48.7),
                  ("4 KB, requested from a neighbour", "4 KB, requested from a neighbour", 2.2),
                  ("4 KB, requested across the machine", "4 KB, requested across the machine", 2.0)])


def block_eight(lab):
    c = eight_bytes(lab)
    rows = [("call of `nwrite` to SEND: library, trap, checks, buffer, copy", "%d" % c["to SEND"]),
            ("1 hop, header, 8 bytes", "%d" % c["on the wire"]),
            ("last byte to return of `nread`: causes, match, copy, arming, trap, library", "%d" % c["return of nread"]),
            ("together", "%d = %.1f us" % (c["between neighbours"], c["between neighbours"] / 20)),
            ("a send altogether", "%d" % c["altogether"])]
    return table("8 bytes, the receiver waits | cycles", lambda *cells: cells, rows)


def block_streams(lab):
    lines = lab.run("-d", 4, lab.guest("measure"), "streams", "show").text.splitlines()

    def number(what):
        return float(next(line for line in lines if what in line).split()[-2])

    return table("blocks of 16 KB in a stream | MB/s | of the channels",
                 lambda text, rate, share: [text, "%.2f" % number(rate), "%.1f %%" % number(share)],
                 [("from one neighbour", "from one neighbour", "of the channel"),
                  ("from four neighbours at once", "from four neighbours", "of four channels")])


def block_groups(lab):
    """The bounds: log2 n messages of 8 bytes one after the other; n - 1 parts of 64 bytes by one channel."""
    eight = eight_bytes(lab)["between neighbours"]

    def row(n):
        dim = (n - 1).bit_length()
        text = lab.run("-d", dim, lab.guest("group_costs"), 64, *([n] if n < 1 << dim else [])).text
        us = {line.split()[0]: float(line.split()[2][3:]) for line in text.splitlines()}

        def show(name):
            return "%.0f" % us[name] if name in us else "-"

        return [str(n), "%.0f" % (dim * eight / 20), *map(show, ("barrier", "broadcast", "all-reduce")),
                "%.0f" % ((n - 1) * 64 * 9 / 20), *map(show, ("gather", "scatter", "all-gather", "exchange")),
                show("scan"), "%.1f" % (us["long-all-reduce"] / (65536 * 9 / 20)),
                "%.1f %%" % (100 * 1048576 * 9 / 20 / us["megabyte"]) if "megabyte" in us else "-"]

    return table("nodes | log2 n messages, us | barrier | broadcast, 8 B | all-reduce, 8 B | n - 1 parts by one "
                 "channel, us | gather, 64 B each | scatter, 64 B each | all-gather, 64 B each | exchange, 64 B each | "
                 "scan, 8 B | all-reduce, 64 KB: times by a channel | broadcast, 1 MB: of the channel",
                 row, [2, 4, 8, 16, 50] if lab.sampled else [2, 4, 8, 16, 50, 64, 256])


def block_mpi(lab):
    run = lab.run("-d", 1, lab.guest("mpi_costs"), "pair")

    def row(n):
        return ["%d" % n, "%.1f" % run.value("way-%d=" % n), "%.1f" % run.value("vertex-%d=" % n),
                "%.1f %%" % run.value("stream-%d=" % n)]

    return table("bytes | MPI_Send to MPI_Recv, us | nwrite to nread, us | a stream: of the channel", row,
                 [8, 64, 1024, 4096, 16384, 65536, 1048576])


def block_mpi_collectives(lab):
    def row(dim):
        run = lab.run("-d", dim, lab.guest("mpi_costs"), "collectives")
        pairs = [cell for name in ("barrier", "bcast", "allreduce")
                 for cell in ("%.0f" % run.value(name + "="), "%.0f" % run.value("group-" + name + "="))]
        return ["%d" % (1 << dim), "%.0f" % run.value("init="), *pairs,
                "%.1f %%" % (100 * 1048576 * 9 / 20 / run.value("long="))]

    return table("ranks | MPI_Init, us | MPI_Barrier | group_barrier | MPI_Bcast, 8 B | group_broadcast | "
                 "MPI_Allreduce, 8 B | group_all_reduce | MPI_Allreduce, 1 MB: of a channel", row,
                 [1, 3] if lab.sampled else [1, 3, 6])


def block_mpi_any(lab):
    def row(dim):
        run = lab.run("-d", dim, lab.guest("mpi_costs"), "any")
        return ["%d" % ((1 << dim) - 1), "%.0f" % run.value("any="), "%.1f" % (run.value("init=") / 1000)]

    return table("senders | MPI_Recv of any, us each | MPI_Init, ms", row,
                 [3, 6] if lab.sampled else [3, 6, 9, 10])


COURSE = [("1-trees", 4, ""), ("2-halo", 4, ""), ("3-race", 3, "3"), ("4-files", 2, "//df00/matrix"),
          ("5-amdahl", 5, ""), ("6-contention", 3, ""), ("7-overlap", 3, ""), ("8-farm", 3, "")]


def course(lab, name, dim, word=""):
    drives = {"machine": OWN_DRIVE.replace("dim = 1", "dim = 2"), "images": IMAGES_1K} if word.startswith("//") else {}
    return lab.run("-d", dim, "build/course/" + name, word, **drives).value("time=") / 1000


def block_course(lab):
    return table("exercise | nodes | as it is, ms | solved, ms",
                 lambda name, dim, word: [name, "%d" % (1 << dim), "%.2f" % course(lab, name, dim, word),
                                          "%.2f" % course(lab, name + "-solved", dim, word)], COURSE)


def block_course_amdahl(lab):
    return table("nodes | as it is, ms | solved, ms",
                 lambda dim: ["%d" % (1 << dim), "%.2f" % course(lab, "5-amdahl", dim),
                              "%.2f" % course(lab, "5-amdahl-solved", dim)], [0, 2, 4, 6, 8])


def on_one_drive(lab, dim, *words):
    return lab.run("-d", dim, *words, machine=ONE_DRIVE, images=IMAGES_1K, stats=True)


def block_token(lab):
    def row(dim, n):
        token, mapped = each(lambda way: on_one_drive(lab, dim, lab.guest("token"), way, "//df00/f", n, 2097152),
                             ["token", "mapped"])
        cells = [str(n)]
        for run in (token, mapped):
            cells += ["%.2f" % (float(run.text) / 1e6), str(run.drive_commands("writes"))]
        return cells + ["%.1f" % (float(token.text) / float(mapped.text))]

    return table("nodes | in turn, s | drive commands | mapped, s | drive commands | times as fast", row,
                 [(2, 3), (2, 4), (3, 8), (4, 16)])


def block_appends(lab):
    def row(piece):
        run = on_one_drive(lab, 0, lab.guest("appends"), "//df00/f", 1000000, piece)
        return [str(piece), "%.2f" % (float(run.text) / 1e6), str(run.drive_commands("writes")),
                str(run.drive_commands("reads"))]

    return table("bytes in a write | 1 MB by one node, s | drive commands to write | to read", row,
                 [1000, 1024, 3000, 16384])


def block_creation(lab):
    def row(dim):
        run = lab.run("-d", dim, lab.guest("creates"), 1, 8, machine=sandia(), images=IMAGES_4K, stats=True)
        return [str(1 << dim), *("%.0f" % (run.value(name + "=") / 1000) for name in ("make", "open", "remove")),
                "%d" % (run.drive_commands("reads") + run.drive_commands("writes"))]

    return table("nodes | make, ms | open, ms | remove, ms | commands of a drive", row, [0, 3])


STRIPED = """dim = 3; front_end = { si = 0; };
striped = ( { volume = "big"; over = ["df00", "df01", "df02"]; map = "cyclic 1000 3"; } );
boards = ( { number = 3; io_nodes = (%s); } );""" % ", ".join(
    '{ index = %d; si = [%d]; drives = ( { volume = "df0%d"; image = "df0%d.img"; } ); }' % (k, 7 - k, k, k)
    for k in range(3))


def block_changes(lab):
    """Calls that change names of a striped volume, by node 4: its requests to I/O nodes, and the drives' commands."""
    def row(call):
        def run(phase, dim, images):
            return lab.run("--trace=trace", "--trace-format=text", "-d", dim, lab.guest("striped_kills"), phase,
                           "//big/", call, machine=STRIPED, images=images, keep_images=phase == "before")

        requests, commands, begin, last = 0, 0, None, 0
        for line in run("call", 3, run("before", 0, IMAGES_1K)).read("trace").splitlines():
            cycles, node, what, *words = line.split()[:4]
            if node == "4" and what == "exit":
                break
            if node == "4" and what == "send" and 16384 <= int(words[0].split("=")[1]) < 32768:
                requests, begin = requests + 1, begin or int(cycles)
            commands += begin is not None and what == "disk" and 16384 <= int(node) < 32768
            last = int(cycles) if node == "4" and what == "arrival" else last
        return [call, str(requests), str(commands), "%.1f" % ((last - begin) / 20000)]

    return table("call | requests | commands of the drives | ms", row,
                 ["create", "unlink", "rename", "rename onto a file", "mkdir", "rmdir", "rename of a folder",
                  "rename of a folder onto one"])


def block_stated(lab):
    """From the table in the source."""
    with open("emu/model/timing.c", encoding="utf-8") as file:
        rows = re.findall(r'\[STATED_[^"]*"(\w+)", \{(\d+), (\d+), (\d+), (\d+), (\d+)\}\}', file.read())
    return table("row | begin | change | command | end | kb",
                 lambda name, *cycles: ["`%s`" % name] + ["" if c == "0" else c for c in cycles], rows)


def block_overlap(lab):
    def run(op):
        before = IMAGES_4K if op == "write" else run("write")
        return lab.run("-d", 2, lab.guest("overlap"), op, 16, 262144, 60000, machine=sandia(), images=before,
                       keep_images=op == "write")

    return table("16 times | computing, s | one call, s | in two halves, s",
                 lambda op: [op] + ["%.2f" % (run(op).value(what + " us=") / 1e6)
                                    for what in ("compute", "whole", "halves")], ["write", "read"])


def block_forks(lab):
    run = lab.run("-d", 0, "--serve", "build/guest", lab.guest("fork_costs"))
    return table("processes of a node | ms", lambda name, text: [text, "%.2f" % (run.value(name + "=") / 1000)],
                 [("fork", "`fork` of a small program, its end, `wait`"), ("large", "the same with 1 MB of heap"),
                  ("exec", "`fork`, `execl` of a file at the front end, its end, `wait`"),
                  ("trip", "a byte through a pipe, and one back"),
                  ("megabyte", "1 MB through a pipe, in pieces of 4 KB")])


def block_costs(lab):
    """Lines of "CYCLES CALL"."""
    lines = lab.run("-d", 0, lab.guest("costs")).text.splitlines()
    return table("call | cycles | us", lambda line: [line.split(None, 1)[1], line.split()[0],
                                                     "%.2f" % (int(line.split()[0]) / 20)], lines, align="---:")


def block_study(lab):
    return speedup.main(lab)[1]


BLOCKS = {name.removeprefix("block_"): block for name, block in list(globals().items()) if name.startswith("block_")}
