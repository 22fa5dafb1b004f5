"""Pages: tables of Markdown, the report of `ncube experiments` with its plots, and the pages of docs/ that hold them.

    table("pairs | MB/s", row, [1, 2, 4])     a table of Markdown: row(item) gives its cells, all at the same time
    passes(2.1, ">=", 2.0)                    the cell of a bound: "yes" or "no"
    report = Report(title, style); report.paragraph(...), report.table(...), report.plot(...); report.write(folder)
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from runs import Failure, each

LINE = 118  # columns of a page's prose


# ---- Markdown


def table(head, row, items, align="---"):
    """align: what stands below the columns from the second one on."""
    columns = re.split(r" ?[|] ?", head)
    lines = [columns, ["---"] + [align] * (len(columns) - 1)] + each(row, items)
    return "\n".join("|" + "".join(" %s |" % cell if cell else " |" for cell in cells) for cells in lines)


def passes(value, relation, bound):
    return "yes" if (value >= bound if relation == ">=" else value <= bound) else "no"


def difference(value, reference):
    """By how much a value is above or below a reference, in %; "-" without a reference."""
    if not reference > 0:
        return "-"
    percent = 100 * (value / reference - 1)
    return "%+.1f %%" % (0.0 if abs(percent) < 0.05 else percent)


def number(decimals, value):
    """"-" if it is not above 0: not known."""
    return "%.*f" % (decimals, value) if 0 < value < float("inf") else "-"


def plural(n):
    return "" if n == 1 else "s"


def wrapped(text):
    lines = []
    for line in text.split("\n"):
        indent = "  " if line.startswith("* ") else ""
        while not line.startswith("|") and len(line) > LINE and " " in line[:LINE]:
            cut = line.rindex(" ", 0, LINE)
            lines.append(line[:cut])
            line = indent + line[cut + 1:]
        lines.append(line)
    return "\n".join(lines)


# ---- A page of docs/ and what is measured


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def update(path, text):
    if not os.path.exists(path) or read(path) != text:
        write(path, text)
        print("%s is new" % path)


def sections(text):
    """Each heading of a page with what stands below it."""
    parts = re.split("^## (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.rstrip("\n") + "\n" for part in parts[2::2])))


def show_difference(path, old, new):
    """Prints how the page differs from what is measured. Returns whether it does."""
    if old == new:
        return False
    with tempfile.TemporaryDirectory() as folder:
        write(folder + "/old", old)
        write(folder + "/new", new)
        subprocess.run(["diff", "-u", "--label", path, folder + "/old", "--label", "measured: " + path,
                        folder + "/new"], check=False)
    return True


def compare_sections(path, text):
    """0 if the page's sections of these headings are those of the text, else 1 and how they differ."""
    sys.stdout.flush()
    there = sections(read(path))
    return int(any([show_difference("%s: %s" % (path, name), there.get(name, ""), section)
                    for name, section in sections(text).items()]))


MARK, END = "<!-- figures: ", "<!-- figures end -->"


def renewed(path, block):
    """A page whose blocks are block(NAME), what is between "<!-- figures: NAME -->" and "<!-- figures end -->"."""
    lines, name, begun = [], None, 0
    for at, line in enumerate(read(path).splitlines(), 1):
        if name is not None and line != END:
            continue
        name = None
        lines.append(line)
        if line.startswith(MARK):
            name, begun = line[len(MARK):].removesuffix(" -->"), at
            try:
                lines.append(block(name))
            except KeyError:
                raise Failure("%s:%d: there is no block '%s'" % (path, at, name)) from None
    if name is not None:
        raise Failure("%s:%d: block '%s' has no end" % (path, begun, name))
    return "\n".join(lines) + "\n"


def blocks(path):
    """The name and the text of each block of a page."""
    return re.findall("^%s([^\n]*) -->\n(.*?)\n?%s$" % (MARK, END), read(path), re.MULTILINE | re.DOTALL)


def pages_with_blocks():
    paths = ["README.md"] + sorted(glob.glob("docs/*.md") + glob.glob("docs/course/*.md"))
    return [path for path in paths if "\n" + MARK in "\n" + read(path)]


# ---- Plots

# What tells curves apart, also without the style sheet and without colours: the colour on a light page, that on a dark
# one, and gnuplot's point: disk, square, triangle, diamond, and the same empty.
LOOKS = [(0x0b62a8, 0x6cb6ff, 7), (0xc2410c, 0xff9a5c, 5), (0x15803d, 0x6fdc8c, 9), (0x86198f, 0xe39cf2, 13),
         (0xb45309, 0xf2c14e, 6), (0x0e7490, 0x5fd3e6, 4), (0xbe123c, 0xff8fa3, 8), (0x555555, 0xaaaaaa, 12)]


def dark_style():
    """The rules for a dark page: where gnuplot drew in one colour, another one."""
    lines = ["@media(prefers-color-scheme:dark){",
             "svg [fill=black]{fill:#ddd}svg [stroke=black]{stroke:#ddd}svg [stroke=gray]{stroke:#555}"]
    for light, dark, _ in LOOKS:
        for what in ("stroke", "color"):
            lines.append('svg [%s="rgb(%3u, %3u, %3u)"]{%s:#%06x}'
                         % (what, light >> 16, light >> 8 & 255, light & 255, what, dark))
    return "\n".join(lines) + "\n}\n"


WIDTH, HEIGHT = 520, 360
CHARACTER, SAMPLE, ROW = 8, 60, 24  # of the legend: a title's character, its line, a row


class Plot:
    """curves: (title, [(x, y), ...]); or with the number of its look, from 0 on: a prediction, a dashed line."""

    def __init__(self, name, x_axis, y_axis, curves, ticks=None, logarithmic=False):
        self.name, self.x_axis, self.y_axis, self.curves = name, x_axis, y_axis, curves
        self.ticks, self.logarithmic = ticks, logarithmic

    def legend(self):
        """How the titles are laid out below the plot, and by how much that makes the picture higher. Two rows, unless
        they are too long for that: gnuplot would put them into one column, and the plot into what is left."""
        widest = max(len(title) for title, *_ in self.curves)
        columns = max(1, WIDTH // (CHARACTER * widest + SAMPLE))
        rows = -(-len(self.curves) // columns)
        return ("maxrows 2", 0) if rows <= 2 else ("maxrows %d width -4" % rows, ROW * (rows - 2))

    def script(self, svg):
        layout, more = self.legend()
        lines = ["set terminal svg size %d,%d dynamic font 'sans-serif,15' name '%s' noenhanced"
                 % (WIDTH, HEIGHT + more, self.name.replace("-", "_")),
                 "set output '%s'\nset grid\nset key below %s samplen 3 spacing 1.2" % (svg, layout),
                 "set yrange [0:*]\nset border 3\nset tics nomirror",
                 "set xlabel '%s'\nset ylabel '%s'\nset offsets graph 0.03, graph 0.03, graph 0.05, 0"
                 % (self.x_axis, self.y_axis),
                 "set logscale x 2" if self.logarithmic else "set xrange [0:*]"]
        if self.ticks:
            lines.append("set xtics (%s)" % self.ticks)
        drawn = []
        for i, (title, points, *dashed) in enumerate(self.curves):
            look = dashed[0] if dashed else i
            lines += ["$curve%d << end" % i] + ["%.9g %.9g" % point for point in points] + ["end"]
            drawn.append('$curve%d using 1:2 with %s linewidth 2 linecolor rgb "#%06x"%s title "%s"' % (
                i, "lines" if dashed else "linespoints", LOOKS[look][0],
                " dashtype %d" % (2 + look) if dashed else " pointtype %d pointsize 0.8" % LOOKS[look][2], title))
        return "\n".join(lines + ["plot " + ", ".join(drawn)]) + "\n"

    def draw(self):
        """The SVG element, without names of gnuplot's own, which a browser would show."""
        with tempfile.TemporaryDirectory() as folder:
            write(folder + "/plot.gp", self.script(folder + "/plot.svg"))
            done = subprocess.run(["gnuplot", folder + "/plot.gp"], capture_output=True, check=False)
            if done.returncode != 0 or not os.path.exists(folder + "/plot.svg"):
                raise Failure("plot %s: gnuplot has not drawn it" % self.name)
            svg = read(folder + "/plot.svg")
        svg = svg[svg.index("<svg"):]
        return re.sub("<title>.*?</title>|<desc>.*?</desc>", "", svg, flags=re.DOTALL)


def standalone(svg):
    """An SVG element as a file, with the colours of a dark page."""
    end = svg.index(">") + 1
    return "%s\n<style>\n%s</style>\n%s" % (svg[:end], dark_style(), svg[end:])


def has_gnuplot():
    try:
        return subprocess.run(["gnuplot", "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


# ---- A report


def html(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class Report:
    """The same text as Markdown and as one page of HTML. Nothing is written before `write`."""

    def __init__(self, title=None, style=""):
        self.markdown, self.html, self.files, self.in_list = [], [], {}, False
        if title:
            self.markdown.append("# %s\n" % title)
            self.html.append('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                             '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                             '<title>%s</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<h1>%s</h1>\n'
                             % (html(title), style, dark_style(), html(title)))

    def put(self, markdown, page):
        if self.in_list:
            self.html.append("</ul>\n")
        self.in_list = False
        self.markdown.append(markdown)
        self.html.append(page)

    def heading(self, name, text):
        self.put("\n## %s\n" % text, '<h2 id="%s">%s</h2>\n' % (name, html(text)))

    def paragraph(self, text):
        self.put("\n%s\n" % text, "<p>%s</p>\n" % html(text))

    def items(self, items):
        for text in items:
            self.markdown.append(("" if self.in_list else "\n") + "* %s\n" % text)
            self.html.append(("" if self.in_list else "<ul>\n") + "<li>%s</li>\n" % html(text))
            self.in_list = True

    def table(self, columns, row, items):
        """As `table` above, but for the separator of columns, '|'."""
        rows = each(row, items)
        head = columns.split("|")
        self.put("\n| %s |\n|%s\n%s" % (" | ".join(head), " --- |" + " ---: |" * (len(head) - 1),
                                        "".join("| %s |\n" % " | ".join(cells) for cells in rows)),
                 '<div class="wide"><table><thead><tr>%s</tr></thead>\n<tbody>\n%s</tbody></table></div>\n'
                 % ("".join("<th>%s</th>" % html(name) for name in head),
                    "".join("<tr>%s</tr>\n" % "".join("<td>%s</td>" % html(cell) for cell in cells)
                            for cells in rows)))

    def plot(self, plot, caption):
        svg = plot.draw()
        self.files[plot.name + ".svg"] = standalone(svg)
        self.put("\n![%s](%s.svg)\n" % (caption, plot.name),
                 "<figure>\n%s<figcaption>%s</figcaption>\n</figure>\n" % (svg, html(caption)))

    def part(self, other):
        self.put("".join(other.markdown), "".join(other.html))
        self.in_list = other.in_list
        self.files.update(other.files)

    def json(self, name, value):
        self.files[name] = json.dumps(value, indent=1) + "\n"

    def write(self, folder):
        """All files get their names when all of them are complete, or none does."""
        self.put("", "</body>\n</html>\n")
        files = {"report.md": "".join(self.markdown), "report.html": "".join(self.html), **self.files}
        made = []
        try:
            new_folder = not os.path.exists(folder)
            if new_folder:
                os.mkdir(folder)
            for name, text in files.items():
                made.append(os.path.join(folder, name))
                write(made[-1] + ".new", text)
            for path in made:
                os.rename(path + ".new", path)
        except OSError as error:
            for path in made:
                if os.path.exists(path + ".new"):
                    os.remove(path + ".new")
            if made and new_folder:
                os.rmdir(folder)
            raise Failure("%s: %s" % (made[-1] if made else folder, error.strerror)) from None
