#!/usr/bin/env python3
"""The player of a report's page in Chromium: what it shows agrees with the page's data, whichever way it got there.

    report_player.py PAGE FOLDER          all cases, each with its line; FOLDER is for the browser
    report_player.py PAGE FOLDER END      only: the end of the run says END
    report_player.py PAGE FOLDER frames   how many pictures a second it makes, and how long one takes
"""
import json
import re
import sys

from browser import Browser

FREE = 7  # the state of a node without a program


class Player:
    def __init__(self, page, folder, **window):
        with open(page) as file:
            text = file.read()
        self.data = json.loads(re.search(r'id="data">\n(.*?)</script>', text, re.S).group(1))
        self.browser = Browser(page, folder, **window)
        self.rows = [(r["node"], self.cells(r["cells"], 4)) for r in self.data["rows"]]
        busiest = [cells for _, cells in self.rows[len(self.rows) - self.data["hold_rows"]:]]
        self.holds = busiest + [self.cells(times, 2) for _, _, times in self.data["holds"]]

    @staticmethod
    def cells(numbers, each):
        """(from, to, state) of each cell."""
        cells, at = [], 0
        for i in range(0, len(numbers), each):
            begin = at + numbers[i]
            at = begin + numbers[i + 1]
            cells.append((begin, at, numbers[i + 2] if each > 2 else None))
        return cells

    def moment(self):
        return self.browser.value("moment")

    def settle(self):
        """Waits for two pictures: changed colours are drawn with the first."""
        self.browser.value("new Promise(go => requestAnimationFrame(() => requestAnimationFrame(() => go(1))))")

    def agree(self, name):
        """Each node has its state's colour, the text counts the channels, and the mark is where the time is."""
        self.settle()
        t = self.moment()
        states = {node: next((s for a, b, s in cells if a <= t < b), FREE) for node, cells in self.rows if node >= 0}
        seen = self.browser.value("""(() => {
            const canvas = document.getElementById('play'), c = canvas.getContext('2d');
            const pixel = (x, y) => [...c.getImageData(Math.round(x), Math.round(y), 1, 1).data].slice(0, 3);
            return player.nodes.map(n => [n.address, pixel(n.x - 0.5 * n.radius, n.y - 0.6 * n.radius)]);
        })()""")
        colours = self.browser.value("STATES.map(colour)")
        for node, pixel in seen:
            digits = colours[states.get(node, FREE)][1:]
            digits = digits if len(digits) == 6 else "".join(d + d for d in digits)
            expected = [int(digits[i:i + 2], 16) for i in (0, 2, 4)]
            assert pixel == expected, "%s: node %d at %s is %s, not %s" % (name, node, t, pixel, expected)
        held = sum(any(a <= t < b for a, b, _ in cells) for cells in self.holds)
        text = self.browser.value("document.getElementById('now').textContent")
        assert "Channels held: %d." % held in text, (name, held, text)
        mark, left, wide, margin, shown = self.browser.value("""(() => {
            const box = timeline.canvas.getBoundingClientRect(), mark = document.querySelector('.mark');
            return [mark.getBoundingClientRect().left + 1 - box.left, box.left, box.width, MARGIN, shown];
        })()""")
        at = margin + (t - shown[0]) / (shown[1] - shown[0]) * (wide - margin)
        assert abs(mark - at) < 1, "%s: the mark is at %s, not %s" % (name, mark, at)
        print(name)

    def part(self):
        """Which part of the bar is behind the moment."""
        begin, end = self.browser.value("shown")
        return (self.moment() - begin) / (end - begin)

    def all_changes(self):
        cells = [c for node, cells in self.rows if node >= 0 for c in cells] + [c for h in self.holds for c in h]
        return sorted({time for cell in cells for time in cell[:2]})


def keys(p):
    b, begin, end = p.browser, p.data["begin"], p.data["end"]
    assert b.value("player.nodes.length") >= 1 << p.data["dimension"]
    assert b.value("player.nodes[0].box") == (p.data["dimension"] > 6), "a cube to 64 nodes, then a grid of cells"
    p.agree("the run's begin")
    b.value("document.getElementById('start').focus()")
    b.key("Tab", 9)
    assert b.value("document.activeElement.id") == "moment", "Tab does not reach the bar"
    b.key("PageDown", 34)
    assert abs(p.part() - 0.05) < 1e-6, p.part()
    p.agree("a twentieth, by Page Down")
    changes = p.all_changes()
    for _ in range(7):
        expected = next(t for t in changes if t > p.moment())
        b.key("ArrowRight", 39)
        assert p.moment() == expected, (p.moment(), expected)
    p.agree("seven changes later, by an arrow key")
    expected = [t for t in changes if t < p.moment()][-1]
    b.key("ArrowLeft", 37)
    assert p.moment() == expected, (p.moment(), expected)
    p.agree("the change before, by an arrow key")
    b.key("End", 35)
    assert p.moment() == end, (p.moment(), end)
    p.agree("the end, by a key")
    b.key("Home", 36)
    assert p.moment() == begin, (p.moment(), begin)
    b.key("-", 189)
    assert b.value("+document.getElementById('moment').max") > end, "no zoom"
    p.agree("zoomed out, by a key")
    b.value("document.querySelector('[data-act=program]').click()")


def plays(p):
    b = p.browser
    b.value("document.getElementById('moment').focus()")
    b.key("Home", 36)
    b.key(" ", 32)
    assert b.value("player.isPlaying()"), "space does not start it"
    b.until("moment > shown[0] + 0.01 * (shown[1] - shown[0])")
    b.key(" ", 32)
    assert not b.value("player.isPlaying()"), "space does not stop it"
    p.agree("played and stopped, by space")
    stopped = p.moment()
    p.settle()
    assert p.moment() == stopped, "it goes on"
    b.key("End", 35)
    b.key("PageUp", 33)
    b.value("document.getElementById('speed').value = 4")
    b.key(" ", 32)
    b.until("!player.isPlaying()")
    assert p.part() == 1, p.part()
    p.agree("played up to the end")


def drags(p):
    b = p.browser
    b.key("Home", 36)
    left, top, wide, high = b.box("moment")
    y = top + high / 2
    b.mouse("mousePressed", left + 0.02 * wide, y, 1)
    for i in range(2, 62, 5):
        b.mouse("mouseMoved", left + i / 100 * wide, y, 1)
    b.mouse("mouseReleased", left + 0.57 * wide, y)
    assert abs(p.part() - 0.57) < 0.03, p.part()
    p.agree("dragged")
    left, top, wide, high = b.box("timeline")
    margin = b.value("MARGIN")
    x, y = left + margin + 0.3 * (wide - margin), top + high / 2
    b.mouse("mousePressed", x, y, 1)
    b.mouse("mouseReleased", x, y)
    assert abs(p.part() - 0.3) < 0.01, p.part()
    p.agree("clicked in the timeline")
    shown = b.value("shown")
    b.mouse("mousePressed", x, y, 1)
    b.mouse("mouseMoved", x + 40, y, 1)
    b.mouse("mouseReleased", x + 40, y)
    assert b.value("shown") != shown, "the timeline cannot be dragged"
    p.agree("after the timeline was dragged")


def lines(p):
    """Each node is at the line of its last trap, and the chosen one says it: by click, by key, by none."""
    b, texts = p.browser, p.data["lines"]
    places = {}
    for node, times in p.data["places"]:
        at, places[node] = 0, []
        for i in range(0, len(times), 2):
            at += times[i]
            places[node].append((at, texts[times[i + 1]]))
    assert places, "no lines"
    for part in (0.1, 0.43, 0.7, 0.99):
        b.value("player.jump(shown[0] + %s * (shown[1] - shown[0]))" % part)
        t = p.moment()
        seen = b.value("player.nodes.map(n => [n.address, n.line && n.line[2]])")
        for node, line in seen:
            expected = next((text for at, text in reversed(places.get(node, [])) if at <= t), None)
            assert line == expected, (node, t, line, expected)
    assert len({line for _, line in seen}) > 1 or len(seen) < 3, seen
    said = "document.getElementById('place').textContent"
    left, top, _, _ = b.box("play")
    x, y, address, line = b.value("(n => [n.x, n.y, n.address, n.line[2]])(player.nodes[3])")
    for kind in "mousePressed", "mouseReleased":
        b.mouse(kind, left + x, top + y, int(kind == "mousePressed"))
    assert b.value(said).startswith("node %d: " % address) and line in b.value(said), b.value(said)
    p.agree("a node is chosen by a click")
    b.key("ArrowDown", 40)
    assert b.value(said).startswith("node %d: " % b.value("player.nodes[4].address")), b.value(said)
    b.key("ArrowUp", 38)
    b.key("ArrowUp", 38)
    assert b.value(said).startswith("node %d: " % b.value("player.nodes[2].address")), b.value(said)
    b.key("Escape", 27)
    assert b.value(said) == "", b.value(said)
    print("a node is chosen by a key, and no longer")


def work(p):
    """What a picture costs: calls of the canvas, counted; nothing is looked up in the style or laid out; and the
    script's time, whose bound is so wide that a busy host keeps it."""
    calls, styles, ms, nodes, held = p.browser.value("""(async () => {
        const of = CanvasRenderingContext2D.prototype, old = {}, style = window.getComputedStyle, times = [];
        let calls = 0, styles = 0, most = 0, held = 0;
        player.choose(player.nodes[0]);
        await new Promise(go => requestAnimationFrame(go));
        for (const name of Object.getOwnPropertyNames(of)) {
            const method = Object.getOwnPropertyDescriptor(of, name).value;
            if (typeof method !== 'function' || name === 'constructor') continue;
            old[name] = method;
            of[name] = function (...words) { calls++; return method.apply(this, words); };
        }
        window.getComputedStyle = (...words) => { styles++; return style(...words); };
        for (let i = 0; i < 200; i++) {
            await new Promise(go => requestAnimationFrame(go));
            calls = 0;
            const before = performance.now();
            player.jump(shown[0] + (shown[1] - shown[0]) * i / 200);
            times.push(performance.now() - before);
            most = Math.max(most, calls);
            held = Math.max(held, +/held: ([0-9]+)/.exec(document.getElementById('now').textContent)[1]);
        }
        for (const name in old) of[name] = old[name];
        window.getComputedStyle = style;
        player.choose(null);
        return [most, styles, times.sort((a, b) => a - b)[100], player.nodes.length, held];
    })()""")
    bound = (7 if p.data["dimension"] <= 6 else 1) * nodes + 4 * held + 20
    assert calls <= bound, "a picture takes %d calls for %d nodes and %d channels" % (calls, nodes, held)
    assert styles == 0, styles
    assert ms < 8, "a picture takes %.1f ms" % ms
    print("a picture takes %d calls of the canvas, and %.2f ms of the script's time" % (calls, ms))


def calm(p):
    p.browser.set_media(("prefers-reduced-motion", "reduce"), ("prefers-color-scheme", "dark"))
    p.agree("in dark colours")
    p.browser.key("Home", 36)
    moments, passed = p.browser.value("""(async () => {
        const seen = new Set(), begin = performance.now();
        player.toggle();
        while (performance.now() - begin < 1200) {
            await new Promise(go => requestAnimationFrame(go));
            seen.add(moment);
        }
        player.toggle();
        return [seen.size, performance.now() - begin];
    })()""")
    assert 2 <= moments <= passed / 500 + 2, (moments, passed)
    p.agree("with reduced motion it goes in steps")


def telephone(p):
    b = p.browser
    wide = b.value("document.documentElement.scrollWidth")
    assert wide <= 390, "the page is %d wide" % wide
    left, top, wide, high = b.box("moment")
    y = top + high / 2
    b.touch("touchStart", (left + 0.03 * wide, y))
    for i in range(8, 76, 4):
        b.touch("touchMove", (left + i / 100 * wide, y))
    b.touch("touchEnd")
    assert abs(p.part() - 0.72) < 0.05, p.part()
    p.agree("dragged by a finger, 390 pixels wide")
    left, top, wide, high = b.box("start")
    b.touch("touchStart", (left + wide / 2, top + high / 2))
    b.touch("touchEnd")
    b.until("player.isPlaying()")
    print("started by a finger")


def ends(p, text):
    p.browser.value("document.getElementById('moment').focus()")
    p.browser.key("End", 35)
    said = p.browser.value("document.getElementById('now').textContent")
    assert text in said, said
    assert text in p.browser.value("document.getElementById('moment').getAttribute('aria-valuetext')")
    p.agree("the end: " + text)


def frames(p):
    """A second figure tells what the host's browser makes while nothing moves."""
    p.browser.box("play")
    for playing in True, False:
        result = p.browser.value("""(async playing => {
            const next = () => new Promise(go => requestAnimationFrame(go));
            player.jump(shown[0]);
            if (playing) player.toggle();
            const begin = await next(), apart = [];
            for (let now = begin, last = begin; now - begin < 5000; last = now) {
                now = await next();
                apart.push(now - last);
            }
            player.jump(shown[0]);
            apart.sort((a, b) => a - b);
            return [1000 * apart.length / apart.reduce((a, b) => a + b), apart[apart.length >> 1], apart.at(-1)];
        })(%s)""" % str(playing).lower())
        print("%s: %.1f pictures a second, %.1f ms apart (median), at most %.1f ms"
              % ("playing" if playing else "at rest", *result))
    print("one takes %.2f ms of the script's time (median)" % p.browser.value("""(async () => {
        const times = [];
        for (let i = 0; i < 200; i++) {
            await new Promise(go => requestAnimationFrame(go));
            const before = performance.now();
            player.jump(shown[0] + (shown[1] - shown[0]) * i / 200);
            times.push(performance.now() - before);
        }
        return times.sort((a, b) => a - b)[100];
    })()"""))


def drive(cases, page, folder, **window):
    p = Player(page, folder, **window)
    try:
        for case in cases:
            case(p)
        assert not p.browser.errors, p.browser.errors
    finally:
        p.browser.close()


def main():
    page, folder, *end = sys.argv[1:]
    cases = [keys, plays, drags, lines, work, calm]
    if end:
        cases = [frames] if end == ["frames"] else [lambda p: ends(p, end[0])]
    drive(cases, page, folder, width=1000, height=900)
    if not end:
        drive([telephone], page, folder, width=390, height=844, touch=True)


main()
