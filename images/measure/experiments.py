"""`ncube experiments`: the report of a paper's experiments on a machine. emu/cmd/experiments_cmd.c has read the
options.

    experiments.py BUILD MACHINE OUT BYTES KEPT [--paper=N] [--full] [--only=NAME...] [--set=SETTING...]
                                                      [--launch=COMMAND]
                                                      MACHINE, KEPT "" and BYTES 0: none is given
    experiments.py --parts                            prints the parts with their titles

A paper's study is paper_00N.py, with

    TITLE, MACHINE                    of the report; the machine file in BUILD/machines, if none is named
    SECTIONS                          [(name, title, section(study, page))]
    study(lab, path, size, full)      what the sections get; size: None if no --bytes is given. It has results, whose
                                      number is printed, and json(), for runs.json
    introduce(study, report)          what comes before the sections
"""
import glob
import importlib
import os
import re
import sys
import tempfile

from page import Failure, Report, has_gnuplot, read
from runs import Lab, each


def papers():
    """The modules of all papers with a study, by number."""
    files = glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "paper_*.py"))
    modules = {int(re.search("[0-9]+", os.path.basename(file)).group()): os.path.basename(file)[:-3] for file in files}
    found = {number: importlib.import_module(name) for number, name in sorted(modules.items())}
    return {number: module for number, module in found.items() if hasattr(module, "SECTIONS")}


def measure_report(paper, lab, path, wanted, size=None, full=False):
    """The report, and how many measurements it took."""
    study = paper.study(lab, path or "%s/machines/%s.conf" % (lab.build, paper.MACHINE), size, full)
    report = Report(paper.TITLE, read(lab.build + "/measure/report_page.css"))
    paper.introduce(study, report)

    def part(name, title, section):
        page = Report()
        page.heading(name, title)
        section(study, page)
        return page

    for page in each(part, [section for section in paper.SECTIONS if section[0] in wanted]):
        report.part(page)
    report.json("runs.json", study.json())
    return report, len(study.results)


def refuse(text):
    print("ncube: %s; see ncube experiments --help" % text, file=sys.stderr)
    raise SystemExit(2)


def known_paper(number):
    known = papers()
    if number not in known:
        refuse("no study of paper '%d'; there is %s" % (number, ", ".join(map(str, known))))
    return known[number]


def known_parts(paper, wanted):
    """The parts to write: all, if none is named."""
    names = [name for name, _, _ in paper.SECTIONS]
    for name in wanted:
        if name not in names:
            refuse("no part '%s'; there are %s" % (name, ", ".join(names)))
    return wanted or names


def main(build, path, out, size, kept, *options):
    def values(option):
        return [word[len(option) + 3:] for word in options if word.startswith("--%s=" % option)]

    paper = known_paper(int((values("paper") or ["0"])[0]))
    wanted = known_parts(paper, values("only"))
    if not has_gnuplot():
        raise Failure("gnuplot, which draws the plots, cannot be run; Debian has it in gnuplot-nox")
    with tempfile.TemporaryDirectory(prefix="ncube-experiments.", ignore_cleanup_errors=True) as folder:
        lab = Lab(build, kept or folder, values("set"), launch="".join(values("launch")))
        try:
            report, count = measure_report(paper, lab, path, wanted, int(size) or None, "--full" in options)
        finally:
            lab.end()
    report.write(out)
    print("%s/report.html, report.md and runs.json: %d measurements" % (out, count))


def print_parts():
    known = papers()
    for number, paper in known.items():
        if len(known) > 1:
            print("of paper %d" % number)
        for name, title, _ in paper.SECTIONS:
            print("  %-8s %s" % (name, title))


if __name__ == "__main__":
    if sys.argv[1:] == ["--parts"]:
        print_parts()
        raise SystemExit
    try:
        main(*sys.argv[1:])
    except (Failure, OSError) as error:
        print("ncube: %s" % " ".join(str(error).split("\n")), file=sys.stderr)
        raise SystemExit(1) from None
