"""What pages measure, and the demonstration: the targets of make. In the clone's folder:

    measure.py BUILD figures [--check|--sample]       writes every block of README and docs/ (figures.py), and the plot
    measure.py BUILD paper-000 [--check] [PART...]    docs/papers/000.md and BUILD/paper-000 (paper_000.py)
    measure.py BUILD rates [--sample]                 compares the rates of Figures 7 and 8 on docs/papers/000.md
    measure.py BUILD paper-001 [--check] [CLAIM...]   docs/papers/001.md (paper_001.py); with CLAIMs these only, to the
                                                      standard output
    measure.py BUILD paper-002 [--check] [PART...]    docs/papers/002.md with its plots, and BUILD/paper-002
                                                      (paper_002.py); FULL=1 in the environment: the paper's sizes
    measure.py BUILD paper-003 [--check] [PART...]    docs/papers/003.md, its plots beside it, and BUILD/paper-003
                                                      (paper_003.py); FULL=1 in the environment: the paper's sizes
    measure.py BUILD paper-004 [--check] [PART...]    docs/papers/004.md, its plots beside it, and BUILD/paper-004
                                                      (paper_004.py); FULL=1 in the environment: the paper's size
    measure.py BUILD study [DIM]                      the speed-up study on a cube of DIM dimensions (speedup.py)
    measure.py BUILD demo [FILE]                      the demonstration (demo.py), always anew
    measure.py BUILD bench [--list]                   host times (bench.py); --list: which rows there are
    measure.py BUILD processors                       what more processors would give (processors.py)
    measure.py BUILD racks                            what more hosts would give (racks.py)
    measure.py BUILD compiler                         says if the pages' figures are those of another compiler

LAUNCH='mpirun.openmpi -np 3' in the environment starts each run of ncube by that, on racks (runs.py).

--check lists how a page differs from what is measured, and writes nothing: exit status 1 if it does; 77 and one line if
compiler or newlib are not those of the pages. --sample does so without the rows that take longest (Lab.sampled), and
with some of the rates, which each version of the system draws anew. Runs are kept in BUILD/measured, and are not
repeated while what they ran is the same (runs.py). Exit status 1, and one line, if a run fails or does not print what a
table asks for; where the mistake is in a table, with its file and line.
"""
import contextlib
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import bench
import demo
import experiments
import figures
import page
import paper_000
import paper_001
import paper_002
import paper_003
import paper_004
import processors
import racks
import speedup
import transfers
from runs import Failure, Lab

PAGES_COMPILER = ("12.2.0", "newlib-3.3.0")
WHAT = ("figures", "paper-000", "rates", "paper-001", "paper-002", "paper-003", "paper-004", "study", "demo", "bench",
        "processors", "racks", "compiler")
PAPER_000 = "docs/papers/000.md"
RATES, RATES_SAMPLED = 24, 4  # of both sides of a transfer each
STUDIES = {"paper-002": paper_002, "paper-003": paper_003, "paper-004": paper_004}


def other_compiler():
    """A line if the programs are compiled by others than those of the pages' figures; "" if they are not."""
    gcc = subprocess.run(["riscv64-unknown-elf-gcc", "-dumpfullversion"], capture_output=True, text=True, check=False)
    sources = sorted(glob.glob("/usr/src/newlib/newlib-*.tar.xz"),
                     key=lambda path: list(map(int, re.findall(r"\d+", path))))
    newlib = os.path.basename(sources[-1]).removesuffix(".tar.xz") if sources else "no newlib"
    here = gcc.stdout.strip(), newlib
    if here == PAGES_COMPILER:
        return ""
    return ("the pages' figures are those of gcc %s and newlib %s; here are gcc %s and newlib %s"
            % tuple(text.removeprefix("newlib-") for text in PAGES_COMPILER + here))


def update_figures(lab, check):
    """All blocks are measured side by side; a page gets those that it names. A sample is half of the blocks, drawn by
    the version, without some rows, and changes nothing."""
    there = {name: text for path in page.pages_with_blocks() for name, text in page.blocks(path)}
    known = [name for name in there if name in figures.BLOCKS]
    drawn = random.Random(lab.seed).sample(known, (len(known) + 1) // 2) if lab.sampled else known
    blocks = dict(zip(drawn, page.each(lambda name: figures.BLOCKS[name](lab), drawn)))
    if lab.sampled:
        blocks.update({name: there[name] for name in known if name not in blocks or
                       set(blocks[name].splitlines()) <= set(there[name].splitlines())})
    status = 0
    for path in page.pages_with_blocks():
        text = page.renewed(path, blocks.__getitem__)
        if check:
            status |= page.show_difference(path, page.read(path), text)
        else:
            page.update(path, text)
    if not check and os.path.exists(lab.build + "/study/speedup.svg"):
        shutil.copy(lab.build + "/study/speedup.svg", "docs/")
    return int(status)


def page_of_report(report):
    """A report without its title and its plots, which are files beside it, but for the captions of the paper's figures;
    lines as long as those of other pages."""
    text = re.sub(r"^!\[(Figure [^]]*)\].*", r"\1", "".join(report.markdown).split("\n", 2)[2], flags=re.MULTILINE)
    text = re.sub(r"^!\[.*\n", "", text, flags=re.MULTILINE)
    return page.wrapped(re.sub("\n\n+", "\n\n", text))


def update_paper_000(lab, check, parts):
    report, _ = experiments.measure_report(paper_000, lab, "", experiments.known_parts(paper_000, parts))
    text = page_of_report(report)
    if check:
        return page.compare_sections(PAPER_000, text)
    report.write(lab.build + "/paper-000")
    head = re.match("(?s).*^<!-- generated[^\n]*\n", page.read(PAPER_000), re.MULTILINE).group()
    page.update(PAPER_000, head + text)
    return 0


def update_study(lab, what, check, parts):
    """A paper's page, and its plots beside it."""
    number = what[-3:]
    path = "docs/papers/%s.md" % number
    full = os.environ.get("FULL") == "1"
    wanted = experiments.known_parts(STUDIES[what], parts)
    report, _ = experiments.measure_report(STUDIES[what], lab, "", wanted, full=full)
    text = re.sub(r"\]\(([a-z0-9-]+\.svg)\)", r"](%s/\1)" % number, "".join(report.markdown).split("\n", 2)[2])
    text = page.wrapped(re.sub("\n\n+", "\n\n", text))
    if check:
        return page.compare_sections(path, text)
    report.write("%s/%s" % (lab.build, what))
    os.makedirs(path[:-3], exist_ok=True)
    for name, plot in report.files.items():
        if name.endswith(".svg"):
            page.update("%s/%s" % (path[:-3], name), plot)
    head = re.match("(?s).*^<!-- generated[^\n]*\n", page.read(path), re.MULTILINE).group()
    page.update(path, head + text)
    return 0


def check_rates(lab):
    """0 if each rate in the tables of Figures 7 and 8 is what is measured; else 1 and a line for each that is not."""
    study = transfers.Study(lab, lab.build + "/machines/sandia.conf", 2 << 20)
    tables = re.findall(r"^Figure ([78]) of the paper, measured: node (\d+) [^|]*\n\n((?:\|.*\n)+)",
                        page.read(PAPER_000), re.MULTILINE)
    rows = [(number, int(node), transfers.SIDES.index(side), int(kb) << 10, int(buffers), mb_s)
            for number, node, table in tables
            for side, kb, buffers, mb_s in re.findall(r"^\| (WRITE|READ), (\d+) KB \| (\d) \| ([0-9.]+) \|", table,
                                                      re.MULTILINE)]
    if len(rows) != RATES:
        raise Failure("%s: %d rows of rates in the tables of Figures 7 and 8, not %d" % (PAPER_000, len(rows), RATES))
    asked = sorted({(node, block, buffers) for _, node, _, block, buffers, _ in rows})
    if lab.sampled:
        asked = random.Random(lab.seed).sample(asked, RATES_SAMPLED)
        rows = [row for row in rows if (row[1], row[3], row[4]) in asked]
    measured = dict(zip(asked, page.each(
        lambda node, block, buffers: study.transfer(nodes=[node], disks=transfers.VOLUMES, block=block,
                                                    buffers=buffers).rates(), asked)))
    wrong = ["%s: Figure %s, node %d, %s, B = %d, C = %d: %s MB/s, measured %.3f\n"
             % (PAPER_000, number, node, transfers.SIDES[side], block, buffers, mb_s,
                measured[node, block, buffers][side])
             for number, node, side, block, buffers, mb_s in rows
             if mb_s != "%.3f" % measured[node, block, buffers][side]]
    sys.stdout.write("".join(wrong))
    return int(bool(wrong))


def update_paper_001(lab, check, claims):
    text = paper_001.page(lab, claims)
    if check:
        return page.compare_sections(paper_001.PAGE, text)
    if not claims:
        page.update(paper_001.PAGE, paper_001.HEAD + "\n" + text)
    sys.stdout.write(text)
    return 0


def main(build, what, *words):
    sampled = "--sample" in words
    check = sampled or "--check" in words or what == "rates"
    words = [word for word in words if word not in ("--check", "--sample")]
    other = other_compiler()
    if what == "compiler" or (check and other):
        print(("%s: " % what if check else "") + other)
        return 77 if check else 0
    if what == "bench":
        if words == ["--list"]:
            return bench.list_rows()
        return bench.main(build)
    if what == "processors":
        return processors.main(build)
    if what == "racks":
        return racks.main(build)
    if what == "study" and not page.has_gnuplot():
        raise Failure("gnuplot is missing; install gnuplot-nox")
    with contextlib.ExitStack() as stack:
        kept = build + "/measured"
        if what == "demo":
            kept = stack.enter_context(tempfile.TemporaryDirectory(prefix="ncube-measure.", ignore_cleanup_errors=True))
        launch = os.environ.get("LAUNCH", "")
        return measure(Lab(build, kept, sampled=sampled, launch=launch), what, check, words)


def measure(lab, what, check, words):
    try:
        if what == "figures":
            return update_figures(lab, check)
        if what == "paper-000":
            return update_paper_000(lab, check, words)
        if what == "rates":
            return check_rates(lab)
        if what in STUDIES:
            return update_study(lab, what, check, words)
        if what == "paper-001":
            return update_paper_001(lab, check, words)
        sys.stdout.write(speedup.main(lab, *map(int, words))[0] if what == "study" else demo.output(lab, *words))
        return 0
    finally:
        lab.end()


def complain(what, error):
    """One line; with the place in a table, if it is a mistake there."""
    place = ""
    if isinstance(error, SyntaxError):
        place = "%s:%d: " % (os.path.basename(error.filename), error.lineno)
        error = error.msg
    elif not isinstance(error, (Failure, OSError)):
        frames = [frame for frame in traceback.extract_tb(error.__traceback__)
                  if os.path.basename(frame.filename) not in ("runs.py", "page.py", "measure.py")]
        place = "%s:%d: " % (os.path.basename(frames[-1].filename), frames[-1].lineno) if frames else ""
        error = "%s: %s" % (type(error).__name__, error)
    print("%s: %s%s" % (what, place, " ".join(str(error).split("\n"))), file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[2] not in WHAT:
        print(__doc__, file=sys.stderr)
        raise SystemExit(2)
    try:
        raise SystemExit(main(*sys.argv[1:]))
    except Exception as error:  # pylint: disable=broad-except
        complain(sys.argv[2], error)
        raise SystemExit(1) from None
