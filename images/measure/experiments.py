"""`ncube experiments`: the report of a paper's experiments on a machine. emu/cmd/experiments_cmd.c has read the
options.

    experiments.py BUILD MACHINE OUT BYTES KEPT [--only=NAME...] [--set=SETTING...]     KEPT: "" if nothing is
    experiments.py --parts                                       prints the parts with their titles
"""
import sys
import tempfile

import paper_000
import transfers
from page import Failure, Report, has_gnuplot, read
from runs import Lab, each


def measure_report(lab, path, size, wanted):
    """The report, and how many measurements it took."""
    study = transfers.Study(lab, path, size)
    report = Report(paper_000.TITLE, read(lab.build + "/measure/report_page.css"))
    paper_000.introduce(study, report)

    def part(name, title, section):
        page = Report()
        page.heading(name, title)
        section(study, page)
        return page

    for page in each(part, [section for section in paper_000.SECTIONS if section[0] in wanted]):
        report.part(page)
    report.json("runs.json", study.json())
    return report, len(study.results)


def known_parts(wanted):
    """The parts to write: all, if none is named."""
    names = [name for name, _, _ in paper_000.SECTIONS]
    for name in wanted:
        if name not in names:
            print("ncube experiments: no part '%s'; there are %s; see ncube experiments --help"
                  % (name, ", ".join(names)), file=sys.stderr)
            raise SystemExit(2)
    return wanted or names


def main(build, path, out, size, kept, *options):
    wanted = known_parts([word[len("--only="):] for word in options if word.startswith("--only=")])
    if not has_gnuplot():
        raise Failure("gnuplot, which draws the plots, cannot be run; Debian has it in gnuplot-nox")
    with tempfile.TemporaryDirectory(prefix="ncube-experiments.", ignore_cleanup_errors=True) as folder:
        lab = Lab(build, kept or folder, [word[len("--set="):] for word in options if word.startswith("--set=")])
        try:
            report, count = measure_report(lab, path, int(size), wanted)
        finally:
            lab.end()
    report.write(out)
    print("%s/report.html, report.md and runs.json: %d measurements" % (out, count))


if __name__ == "__main__":
    if sys.argv[1:] == ["--parts"]:
        for part_name, part_title, _ in paper_000.SECTIONS:
            print("  %-8s %s" % (part_name, part_title))
        raise SystemExit
    try:
        main(*sys.argv[1:])
    except (Failure, OSError) as error:
        print("ncube experiments: %s" % " ".join(str(error).split("\n")), file=sys.stderr)
        raise SystemExit(1) from None
