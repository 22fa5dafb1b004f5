"""The speed-up study: one source, n destinations, joint and disjoint routings, measured in the machine by fanout and
predicted from the channel sets by `ncube route`. docs/speedup.md says what the figures mean.
"""
import json
import os

from page import Plot, has_gnuplot, standalone, table, write
from runs import each

def measure(lab, dim):
    """{(bytes, n): (joint us, disjoint us, the speed-up that the channel sets predict)}"""
    conf = "dim = %d;" % dim
    times, paths = {}, {}
    lines = lab.run("-d", dim, lab.example("fanout"), machine=conf).lines

    def busiest(to):
        """The number of paths on the busiest channel."""
        return json.loads(lab.ask("route", "--json", 0, *to.split(","), machine=conf))["busiest_channel"]

    for line, on_busiest in zip(lines, each(busiest, [line["to"] for line in lines])):
        key = int(line["bytes"]), int(line["n"])
        times.setdefault(key, {})[line["kind"]] = float(line["us"])
        paths.setdefault(key, {})[line["kind"]] = on_busiest
    return {key: (us["joint"], us["disjoint"], paths[key]["joint"] / paths[key]["disjoint"])
            for key, us in times.items()}


def text_table(study):
    lines, last = ["# bytes n joint_us disjoint_us speed-up predicted"], None
    for (size, n), (joint, disjoint, channels) in study.items():
        if last not in (None, size):
            lines += ["", ""]
        last = size
        lines.append("%7d %2d %11.2f %11.2f %8.2f %9.2f" % (size, n, joint, disjoint, joint / disjoint, channels))
    return "\n".join(lines) + "\n"


def page_table(study, most):
    """The rows of n = 1, 2, 5 and most, and what the processor's share predicts. c: the time between two disjoint
    messages, from n = 2; t: of a message alone. Then how well."""
    study = {key: (round(joint, 2), round(disjoint, 2), channels) for key, (joint, disjoint, channels) in study.items()}

    def gap(size):
        return study[size, 2][1] - study[size, 1][1]

    def predict(size, n):
        alone, last = study[size, 1][0], (n - 1) * gap(size) + study[size, 1][0]
        return max(n * alone, last) / last

    def measured(size, n):
        joint, disjoint, _ = study[size, n]
        return round(joint / disjoint, 2)

    def row(size, n):
        joint, disjoint, channels = study[size, n]
        return ["%d" % size, "%d" % n, "%.2f" % joint, "%.2f" % disjoint, "%.2f" % measured(size, n),
                "%.2f" % channels, "%.2f" % predict(size, n), "%.2f" % max(study[size, 1][0] / gap(size), 1)]

    worst = max(abs(measured(size, n) / predict(size, n) - 1) for size, n in study if size >= 4096)
    rows = [key for key in study if key[1] in (1, 2, 5, most)]
    return (table("bytes | n | joint, us | disjoint, us | speed-up | channel sets | with the processor | "
                  "at most, t / c", row, rows) +
            "\n\nThe largest difference between both speed-ups, from 4096 bytes on: %.0f %%." % (100 * worst))


def main(lab, dim=10):
    """Writes BUILD/study/table.txt, table.md and, by gnuplot, speedup.svg. Returns the text of the first two."""
    study, folder = measure(lab, dim), lab.build + "/study"
    text, markdown = text_table(study), page_table(study, dim)
    os.makedirs(folder, exist_ok=True)
    write(folder + "/table.txt", text)
    write(folder + "/table.md", markdown + "\n")
    if has_gnuplot():
        curves = [("%d bytes" % of, [(n, us[0] / us[1]) for (size, n), us in study.items() if size == of])
                  for of in sorted({size for size, _ in study})]
        curves.append(("channel sets", [(n, us[2]) for (size, n), us in study.items() if size == min(study)[0]], 7))
        write(folder + "/speedup.svg", standalone(Plot("speedup", "destinations n", "speed-up", curves).draw()))
    return text, markdown
