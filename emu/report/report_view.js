/* The pictures of a report (docs/report.md): the cube, where the time went, the timeline, who sent to whom. The data is
 * what report_data.c writes; times are cycles of 50 ns. */
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const HOST = 32768, IO = 16384;
const STATES = ['user', 'kernel', 'message', 'reply', 'drive', 'memory', 'other', 'free', 'read', 'write', 'held'];
const tip = document.body.appendChild(document.createElement('div'));
tip.className = 'tip';
tip.setAttribute('role', 'status');

/* ---- Texts and colours ---- */

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

function mix(a, b, part) {
  const digits = i => [a, b].map(c => {
    const full = c.length === 4 ? c.replace(/[0-9a-f]/gi, '$&$&') : c;
    return parseInt(full.slice(1 + 2 * i, 3 + 2 * i), 16);
  });
  return 'rgb(' + [0, 1, 2].map(i => {
    const [x, y] = digits(i);
    return Math.round(x + (y - x) * part);
  }).join(',') + ')';
}

/* cold at 0, warm at a third, hot at 1 */
function heat(use) {
  const third = 1 / 3, u = Math.min(1, Math.max(0, use));
  return u < third ? mix(colour('cold'), colour('warm'), u / third)
                   : mix(colour('warm'), colour('hot'), (u - third) / (1 - third));
}

function nodeName(a) {
  if (a === HOST) return 'front end';
  return a >= IO && a < HOST ? `I/O node ${(a - IO) >> 4}.${(a - IO) & 15}` : `node ${a}`;
}

function time(cycles) {
  const us = cycles / 20, digits = v => v >= 100 ? v.toFixed(1) : v >= 10 ? v.toFixed(2) : v.toFixed(3);
  return us < 1000 ? digits(us) + ' µs' : us < 1e6 ? digits(us / 1e3) + ' ms' : digits(us / 1e6) + ' s';
}

function bytes(n) {
  return n < 1e4 ? n + ' bytes' : n < 1e7 ? (n / 1e3).toFixed(1) + ' kB' : (n / 1e6).toFixed(1) + ' MB';
}

function percent(part) {
  return (100 * part).toFixed(part < 0.1 ? 1 : 0) + ' %';
}

/* ---- A picture: a canvas that is drawn again when its size or the colours change ---- */

function showTip(text, event) {
  tip.style.display = text ? 'block' : 'none';
  if (!text) return;
  tip.textContent = text;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4)) + 'px';
  tip.style.top = (event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10
                                                                 : event.clientY + 18) + 'px';
}

function picture(id, height, draw, describe) {
  const canvas = document.getElementById(id);
  if (!canvas) return null;
  const view = {canvas, width: 0, height: 0};
  view.draw = () => {
    const fit = () => {
      view.width = canvas.clientWidth;
      view.height = height(view.width);
      canvas.style.height = view.height + 'px';
    };
    fit();
    if (view.width !== canvas.clientWidth) fit(); /* with that height the frame has got a scroll bar */
    const scale = Math.min(window.devicePixelRatio || 1, 16000 / view.height); /* browsers have no taller canvas */
    canvas.width = Math.round(view.width * scale);
    canvas.height = Math.round(view.height * scale);
    const c = canvas.getContext('2d');
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, view.width, view.height);
    c.font = '12px system-ui,sans-serif';
    draw(c, view);
  };
  const tell = e => {
    const box = canvas.getBoundingClientRect();
    showTip(describe(e.clientX - box.left, e.clientY - box.top, view), e);
  };
  canvas.addEventListener('pointermove', tell);
  canvas.addEventListener('pointerdown', tell);
  canvas.addEventListener('pointerleave', () => showTip(''));
  addEventListener('resize', view.draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', view.draw);
  view.draw();
  return view;
}

/* ---- The cube ---- */

const BEND = 0.12; /* of a channel between cubes, against its length */
const cube = (() => {
  const dim = data.dimension, places = new Map(), step = [[1, 0], [0, 1], [0.42, -0.34]];
  let wide = 2.1, high = 2.1;
  for (let k = 3; k < dim; k++) {
    step.push(k % 2 ? [wide, 0] : [0, high]);
    if (k % 2) wide *= 2; else high *= 2;
  }
  for (let n = 0; n < 1 << dim; n++) {
    let x = 0, y = 0;
    for (let k = 0; k < dim; k++)
      if (n >> k & 1) { x += step[k][0]; y += step[k][1]; }
    places.set(n, [x, y]);
  }
  let right = Math.max(1, ...[...places.values()].map(p => p[0])), low = 1, top = 0;
  for (const p of places.values()) { low = Math.max(low, p[1]); top = Math.min(top, p[1]); }
  const io = data.io, half = Math.ceil(io.length / 2), gap = 0.9 + 0.06 * (low - top);
  io.forEach((n, i) => {
    const below = i >= half, count = below ? io.length - half : half, at = below ? i - half : i;
    places.set(n.address, [right * (at + 0.5) / count, below ? low + gap : top - gap]);
  });
  places.set(HOST, [-0.9 - 0.03 * right, (low + top) / 2]);
  const room = Math.max(0.6, 0.3 + BEND / 2 * Math.max(...step.map(s => Math.hypot(...s)))); /* for the longest curve */
  return {places, left: -0.8 - 0.03 * right - room, right: right + 0.1 + room, top: top - (io.length ? gap : 0) - room,
          low: low + (io.length > half ? gap : 0) + room};
})();

/* The curve of a channel: straight within a small cube, bent between cubes; each direction on its own side. */
function curve(from, to, scale) {
  const a = cube.places.get(from), b = cube.places.get(to);
  if (!a || !b) return null;
  const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy) || 1;
  const bend = (from < IO && to < IO && length > 1.5 ? BEND * length : 0) + 3.5 / scale;
  return [a, [(a[0] + b[0]) / 2 - dy / length * bend, (a[1] + b[1]) / 2 + dx / length * bend], b];
}

/* The scale of a cube on that width, at most the one given, and a function from its places to those of the picture. */
function fitCube(width, most) {
  const scale = Math.min(width / (cube.right - cube.left), most);
  const shift = (width - scale * (cube.right - cube.left)) / 2;
  return {scale, at: p => [shift + (p[0] - cube.left) * scale, (p[1] - cube.top) * scale]};
}

function allChannels() {
  const used = new Map(data.channels.map(c => [c[0] * 65536 + c[1], c])), list = [];
  for (let n = 0; n < 1 << data.dimension; n++)
    for (let k = 0; k < data.dimension; k++) {
      const key = n * 65536 + (n ^ 1 << k);
      if (!used.has(key)) list.push([n, n ^ 1 << k, 0, 0, 0, 0, 0]);
    }
  for (const n of data.io)
    for (const si of n.si)
      if (si >= 0)
        for (const [from, to] of [[n.address, si], [si, n.address]])
          if (!used.has(from * 65536 + to)) list.push([from, to, 0, 0, 0, 0, 0]);
  return list.concat(data.channels.slice().sort((a, b) => a[2] - b[2]));
}

/* ---- Whose the nodes are ---- */

const PROGRAM_COLOURS = 6, ran = new Set(data.nodes.filter(n => n < IO));

/* The number of the program that has a compute node; -1: none has; beyond the last: one that a program has loaded. */
function programOf(node) {
  const i = data.programs.findIndex(p => p[2] > 0 ? node >= p[1] && node < p[1] + p[2] : ran.has(node));
  return i < 0 && ran.has(node) ? data.programs.length : i;
}

function programName(i) {
  if (i < 0) return 'no program';
  return i < data.programs.length ? data.programs[i][0].split(' ')[0].split('/').pop() : 'loaded by a program';
}

function programColour(i) {
  return i < 0 ? 'node' : 'p' + i % PROGRAM_COLOURS;
}

{
  const counts = new Map(), key = document.getElementById('programs');
  for (let n = 0; n < 1 << data.dimension; n++) counts.set(programOf(n), (counts.get(programOf(n)) || 0) + 1);
  for (const [i, n] of [...counts].sort((a, b) => (a[0] < 0) - (b[0] < 0) || a[0] - b[0])) {
    const item = key.appendChild(document.createElement('span'));
    item.appendChild(document.createElement('i')).style.background = `var(--${programColour(i)})`;
    item.append(`${programName(i)}: ${n} node${n === 1 ? '' : 's'}`);
  }
}

const channels = allChannels();
const most = Math.max(1e-9, ...data.channels.map(c => c[2]));

picture('cube', width => Math.max(120, fitCube(width, 130).scale * (cube.low - cube.top)), (c, view) => {
  const {scale, at} = fitCube(view.width, 130), few = data.dimension <= 6;
  view.curves = [];
  for (const ch of channels) {
    const k = curve(ch[0], ch[1], scale);
    if (!k) continue;
    const [a, m, b] = k.map(at), use = ch[2] / most;
    c.beginPath();
    c.moveTo(...a);
    c.quadraticCurveTo(...m, ...b);
    c.globalAlpha = ch[2] > 0 ? 0.35 + 0.65 * use : few ? 0.5 : 0.12;
    c.strokeStyle = heat(use);
    c.lineWidth = ch[2] > 0 ? 0.8 + 3.4 * use : 0.6;
    c.stroke();
    view.curves.push([ch, a, m, b]);
  }
  c.globalAlpha = 1;
  const radius = Math.max(1.5, Math.min(11, 0.16 * scale));
  view.radius = radius;
  view.nodes = [];
  for (const [n, p] of cube.places) {
    const [x, y] = at(p), box = n >= IO;
    const wanted = box ? Math.max(radius, 4) : radius;
    c.beginPath();
    if (box) c.rect(x - wanted, y - wanted, 2 * wanted, 2 * wanted); else c.arc(x, y, radius, 0, 7);
    c.fillStyle = colour(box ? 'node' : programColour(programOf(n)));
    c.strokeStyle = colour('edge');
    c.lineWidth = 1;
    c.fill();
    c.stroke();
    view.nodes.push([n, x, y]);
    if (radius < 8 && !(n === HOST)) continue;
    c.fillStyle = colour('text');
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    c.font = (n === HOST ? 11 : Math.min(11, radius)) + 'px system-ui,sans-serif';
    if (n === HOST) c.fillText('front end', Math.max(x, 30), y + wanted + 9);
    else c.fillText(n < IO ? n : `${(n - IO) >> 4}.${(n - IO) & 15}`, x, y);
  }
}, (x, y, view) => {
  const node = view.nodes.find(n => Math.hypot(n[1] - x, n[2] - y) < Math.max(6, view.radius));
  if (node) return describeNode(node[0]);
  let best = 8, found = null;
  for (const [ch, a, m, b] of view.curves)
    for (let s = 0.1; s < 0.95; s += 0.1) {
      const u = 1 - s, px = u * u * a[0] + 2 * u * s * m[0] + s * s * b[0];
      const py = u * u * a[1] + 2 * u * s * m[1] + s * s * b[1], far = Math.hypot(px - x, py - y);
      if (far < best - (found && ch[2] < found[2] ? 3 : 0)) { best = far; found = ch; }
    }
  if (!found) return '';
  return `${nodeName(found[0])} to ${nodeName(found[1])}\nheld ${percent(found[2])}, ${found[4]} messages, ` +
         `${bytes(found[5])}\nheaders waited ${time(found[3])}, at most ${found[6]} at once`;
});

function describeNode(address) {
  const i = data.nodes.indexOf(address), io = data.io.find(n => n.address === address);
  const drives = io && io.volumes.length ? '\nvolumes ' + io.volumes.join(', ') : '';
  const all = i < 0 ? 0 : data.time[i].reduce((a, b) => a + b, 0);
  const parts = all ? data.time[i].map((t, s) => t > 0 ? `\n${data.states[s]}: ${percent(t / all)}` : '').join('') : '';
  const owner = address < IO ? '\n' + programName(programOf(address)) : '';
  return nodeName(address) + owner + drives + parts;
}

/* ---- Where the time went: a column for each node ---- */

picture('bars', () => 220, (c, view) => {
  const n = data.nodes.length, all = Math.max(1, data.end - data.begin), wide = view.width / n;
  for (let i = 0; i < n; i++) {
    let y = 200;
    data.time[i].forEach((t, s) => {
      const h = 195 * t / all;
      c.fillStyle = colour(STATES[s]);
      c.fillRect(i * wide, y - h, wide > 4 ? wide - 1 : wide + 0.3, h);
      y -= h;
    });
  }
  c.fillStyle = colour('soft');
  c.textAlign = 'center';
  const every = Math.max(1, Math.ceil(46 / wide));
  for (let i = 0; i < n; i += every)
    c.fillText(nodeName(data.nodes[i]).replace('node ', '').replace('I/O ', ''),
               Math.min(Math.max(8, (i + 0.5) * wide), view.width - 10), 214);
}, (x, y, view) => {
  const i = Math.floor(x / view.width * data.nodes.length);
  return data.nodes[i] === undefined ? '' : describeNode(data.nodes[i]);
});

/* ---- The timeline ---- */

const rows = data.rows.map(r => {
  const cells = [];
  let at = 0;
  for (let i = 0; i < r.cells.length; i += 4) {
    const from = at + r.cells[i], to = from + r.cells[i + 1];
    cells.push([from, to, r.cells[i + 2], r.cells[i + 3]]);
    at = to;
  }
  return {label: r.label, node: r.node, cells};
});
const MARGIN = innerWidth < 600 ? 58 : 96, AXIS = 22;
/* Of many nodes, those on which the critical path spent most come first, in rows that are high enough to be read. */
const MANY = 64, READABLE = 32, pathTime = new Map();
for (const [node, from, to, peer] of data.path)
  for (const end of node === peer ? [node] : [node, peer]) pathTime.set(end, (pathTime.get(end) || 0) + to - from);
const many = rows.length > MANY, low = rows.length <= 100 ? 13 : rows.length <= 200 ? 7
                                     : rows.length <= 1300 ? 3 : rows.length <= 3000 ? 2 : 1;
const byNumber = rows.slice();
let pathFirst = many, height = 0;

function arrange() {
  const first = pathFirst ? byNumber.filter(r => pathTime.has(r.node))
                                    .sort((a, b) => pathTime.get(b.node) - pathTime.get(a.node))
                                    .slice(0, READABLE) : [];
  const others = byNumber.filter(r => r.node < 0 || r.node >= IO);
  const top = new Set(pathFirst ? first.concat(others) : []);
  rows.splice(0, rows.length, ...top, ...byNumber.filter(r => !top.has(r)));
  height = AXIS;
  for (const r of rows) {
    r.y = height;
    r.high = many && !top.has(r) ? low : rows.length <= 40 ? 18 : 13;
    height += r.high;
  }
}
arrange();

const full = [data.begin, Math.max(data.end, data.begin + 1)];
const afterTimeline = []; /* called when the timeline has been drawn */
let shown = full.slice(), withPath = true, moment = full[0]; /* the player's time, report_play.js */

function firstCell(cells, t) {
  let low = 0, high = cells.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cells[middle][1] <= t) low = middle + 1; else high = middle;
  }
  return low;
}

function drawAxis(c, x, view) {
  const span = shown[1] - shown[0], rough = span / Math.max(2, (view.width - MARGIN) / 110);
  const power = Math.pow(10, Math.floor(Math.log10(rough / 20))) * 20;
  const step = [1, 2, 5, 10].map(k => k * power).find(s => s >= rough);
  c.fillStyle = colour('soft');
  c.strokeStyle = colour('line');
  c.textAlign = 'center';
  for (let t = Math.ceil(shown[0] / step) * step; t <= shown[1]; t += step) {
    c.fillText(+(t / 20000).toPrecision(9) + ' ms', Math.min(x(t), view.width - 26), 14);
    c.beginPath();
    c.moveTo(x(t), 18);
    c.lineTo(x(t), view.height);
    c.stroke();
  }
}

function drawRow(c, row, x, paint) {
  let last = -1;
  for (let i = firstCell(row.cells, shown[0]); i < row.cells.length && row.cells[i][0] < shown[1]; i++) {
    const [from, to, state] = row.cells[i], left = Math.max(MARGIN, x(from)), right = x(to);
    if (right - last < 0.4) continue;
    c.fillStyle = paint[state];
    c.fillRect(left, row.y, Math.max(0.6, right - left), row.high > 4 ? row.high - 2 : row.high);
    last = right;
  }
}

function drawPath(c, x, view) {
  const at = new Map(rows.map(r => [r.node, r.y + r.high / 2]));
  const steps = data.path.filter(s => s[2] >= shown[0] && s[1] <= shown[1] && at.has(s[0]) && at.has(s[3]));
  c.strokeStyle = colour('path');
  c.lineWidth = 1.6;
  c.globalAlpha = Math.min(1, Math.max(0.12, 150 / (steps.length + 1))); /* many steps would hide what is behind them */
  c.save();
  c.beginPath();
  c.rect(MARGIN, AXIS, view.width - MARGIN, view.height);
  c.clip();
  for (const [node, from, to, peer] of steps) {
    c.beginPath();
    c.moveTo(x(from), at.get(node));
    c.lineTo(x(to), at.get(peer));
    c.stroke();
  }
  c.restore();
}

const timeline = picture('timeline', () => height + 4, (c, view) => {
  const x = t => MARGIN + (t - shown[0]) / (shown[1] - shown[0]) * (view.width - MARGIN);
  const paint = STATES.map(colour);
  let labelled = -13;
  drawAxis(c, x, view);
  for (const row of rows) {
    drawRow(c, row, x, paint);
    if (row.y + row.high / 2 - labelled < 12.5) continue;
    labelled = row.y + row.high / 2;
    c.fillStyle = colour('text');
    c.textAlign = 'right';
    c.fillText(MARGIN < 60 ? row.label.replace('node ', '') : row.label, MARGIN - 5,
               labelled + 4);
  }
  if (withPath) drawPath(c, x, view);
  document.getElementById('shown').textContent = `${time(shown[0])} to ${time(shown[1])}`;
  for (const call of afterTimeline) call();
}, (x, y, view) => {
  const row = rows.find(r => y >= r.y && y < r.y + r.high);
  if (!row || x < MARGIN) return '';
  const t = shown[0] + (x - MARGIN) / (view.width - MARGIN) * (shown[1] - shown[0]);
  const cell = row.cells[firstCell(row.cells, t)];
  if (!cell || cell[0] > t) return row.label;
  return `${row.label}: ${data.names[cell[3]]}\n${time(cell[1] - cell[0])} from ${time(cell[0])}` +
         (cell[1] - cell[0] <= data.step ? '\n(the most of several short spells)' : '');
});

function zoom(factor, middle) {
  const span = Math.min(data.total, Math.max(20, (shown[1] - shown[0]) * factor));
  const part = (middle - shown[0]) / (shown[1] - shown[0]);
  move(middle - part * span, span);
}

function move(from, span) {
  const begin = Math.max(0, Math.min(from, data.total - span));
  shown = [begin, begin + span];
  timeline.draw();
}

if (timeline) {
  const canvas = timeline.canvas, pointers = new Map();
  let pressed = null; /* where a pointer that has not moved since went down */
  const timeAt = e => shown[0] + (e.clientX - canvas.getBoundingClientRect().left - MARGIN) /
                      (timeline.width - MARGIN) * (shown[1] - shown[0]);
  canvas.addEventListener('wheel', e => {
    if (e.shiftKey || height > innerHeight * 0.7 && !e.ctrlKey) return;
    e.preventDefault();
    zoom(Math.exp(e.deltaY / 400), timeAt(e));
  }, {passive: false});
  canvas.addEventListener('pointerdown', e => {
    pointers.set(e.pointerId, e.clientX);
    canvas.setPointerCapture(e.pointerId);
    pressed = pointers.size === 1 ? e.clientX : null;
  });
  canvas.addEventListener('pointermove', e => {
    if (!pointers.has(e.pointerId)) return;
    const old = [...pointers.values()], before = timeAt({clientX: pointers.get(e.pointerId)});
    pointers.set(e.pointerId, e.clientX);
    if (pressed !== null && Math.abs(e.clientX - pressed) < 4) return;
    pressed = null;
    const now = [...pointers.values()];
    if (now.length === 2)
      zoom(Math.abs(old[0] - old[1]) / Math.max(8, Math.abs(now[0] - now[1])),
           timeAt({clientX: (now[0] + now[1]) / 2}));
    else
      move(shown[0] + before - timeAt(e), shown[1] - shown[0]);
  });
  for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, e => pointers.delete(e.pointerId));
  canvas.addEventListener('click', e => {
    if (pressed !== null && timeAt(e) >= shown[0]) player.jump(timeAt(e));
  });
  const act = {
    in: () => zoom(0.5, (shown[0] + shown[1]) / 2),
    out: () => zoom(2, (shown[0] + shown[1]) / 2),
    left: () => move(shown[0] - (shown[1] - shown[0]) / 4, shown[1] - shown[0]),
    right: () => move(shown[0] + (shown[1] - shown[0]) / 4, shown[1] - shown[0]),
    closer: () => zoom(0.5, moment),
    wider: () => zoom(2, moment),
    program: () => move(full[0], full[1] - full[0]),
    all: () => move(0, data.total),
    path: () => { withPath = !withPath; timeline.draw(); },
    play: () => player.toggle(),
    order: () => { pathFirst = !pathFirst; arrange(); sayOrder(); timeline.draw(); },
  };
  const keys = {'+': 'in', '=': 'in', '-': 'out', ArrowLeft: 'left', ArrowRight: 'right', '0': 'program',
                a: 'all', p: 'path', n: 'order', ' ': 'play'};
  const sayOrder = () => {
    document.querySelector('[data-act=order]').textContent = pathFirst ? 'nodes by number' : 'the path\'s nodes first';
    document.getElementById('rows').textContent =
      pathFirst ? ` The first rows are the nodes on which the critical path spent most, ` +
                  `then I/O nodes, drives and channels; ` +
                  `below them all other nodes.` : '';
  };
  sayOrder();
  canvas.addEventListener('keydown', e => {
    if (!keys[e.key]) return;
    e.preventDefault();
    act[keys[e.key]]();
  });
  for (const b of document.querySelectorAll('[data-act]')) b.addEventListener('click', act[b.dataset.act]);
}

/* ---- Who sent to whom ---- */

picture('matrix', width => Math.min(width, 560), (c, view) => {
  const labels = data.matrix.labels, n = labels.length, margin = 44;
  const size = (Math.min(view.width, view.height) - margin) / n;
  const top = Math.max(1, ...data.matrix.cells.map(k => k[2]));
  c.fillStyle = colour('band');
  c.fillRect(margin, margin, size * n, size * n);
  for (const [from, to, sum] of data.matrix.cells) {
    c.fillStyle = heat(sum > 0 ? 0.05 + 0.95 * Math.log1p(sum) / Math.log1p(top) : 0.02);
    const side = Math.max(0.7, size - (size > 4));
    c.fillRect(margin + to * size, margin + from * size, side, side);
  }
  c.fillStyle = colour('soft');
  const every = Math.max(1, Math.ceil(26 / size));
  labels.forEach((label, i) => {
    if (i % every) return;
    c.textAlign = 'right';
    c.textBaseline = 'middle';
    c.fillText(label, margin - 4, margin + (i + 0.5) * size);
    c.textAlign = 'center';
    c.fillText(label, margin + (i + 0.5) * size, margin - 8);
  });
  c.fillText('to', margin / 2 + 8, 12);
  c.fillText('from', margin / 2, 28);
}, (x, y, view) => {
  const labels = data.matrix.labels, n = labels.length, margin = 44;
  const size = (Math.min(view.width, view.height) - margin) / n;
  const to = Math.floor((x - margin) / size), from = Math.floor((y - margin) / size);
  if (!(labels[from] && labels[to])) return '';
  const cell = data.matrix.cells.find(k => k[0] === from && k[1] === to);
  return `from ${labels[from]} to ${labels[to]}\n` + (cell ? `${cell[3]} messages, ${bytes(cell[2])}` : 'nothing');
});
