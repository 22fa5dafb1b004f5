/* The player of a report (docs/report.md): what each node does at one moment, and the messages on their channels. It
 * shows the cells of the timeline (report_view.js) and the holds of the other channels; its bar has the time that the
 * timeline shows. Beside a node of a cube, and below for the chosen node, is the line of its program at its last
 * trap. */
const player = (() => {
  const SECONDS = 20, CALM_MS = 500, TEXT_MS = 100, CUBE_MOST = 6, FREE = STATES.indexOf('free');
  const element = id => document.getElementById(id);
  const bar = element('moment'), button = element('start'), calm = matchMedia('(prefers-reduced-motion: reduce)');
  const ending = element('ended') || document.querySelector('.failure p');
  let place = null, still = null, chosen = null, playing = false, last = 0, said = 0, changes = null;

  /* ---- What is when ---- */

  /* Returns a function from a time to the cell there, or null. The index goes along; after a jump it is searched. */
  function track(cells) {
    let i = 0;
    return t => {
      if (i > 0 && cells[i - 1][1] > t || i + 8 < cells.length && cells[i + 8][1] <= t) i = firstCell(cells, t);
      while (i < cells.length && cells[i][1] <= t) i++;
      return i < cells.length && cells[i][0] <= t ? cells[i] : null;
    };
  }

  function holdCells(times) {
    const cells = [];
    for (let i = 0, at = 0; i < times.length; i += 2) {
      cells.push([at + times[i], at + times[i] + times[i + 1]]);
      at = cells[cells.length - 1][1];
    }
    return cells;
  }

  /* The lines of a node's program: [from, to, line, "x.c:20"]. */
  function lineCells(times) {
    const cells = [];
    for (let i = 0, at = 0; i < times.length; i += 2) {
      at += times[i];
      if (cells.length > 0) cells[cells.length - 1][1] = at;
      cells.push([at, data.total + 1, data.lines[times[i + 1]], shortLines[times[i + 1]]]);
    }
    return cells;
  }

  const shortLines = data.lines.map(line => line.replace(/^.*\((.*)\)$/, '$1').replace(/^.* /, ''));
  const linesOf = new Map(data.places.map(([address, times]) => [address, lineCells(times)]));
  const rowOf = new Map(byNumber.filter(r => r.node >= 0).map(r => [r.node, r]));
  const nodes = [...cube.places.keys()].map(address => {
    const row = rowOf.get(address);
    const lines = linesOf.get(address) || [];
    return {address, at: row ? track(row.cells) : () => null, cell: null, counts: row && address < IO, lines,
            lineAt: track(lines), line: null};
  });
  const busiest = byNumber.slice(byNumber.length - data.hold_rows);
  const holds = busiest.map((r, i) => [data.channels[i][0], data.channels[i][1], r.cells])
                       .concat(data.holds.map(([from, to, times]) => [from, to, holdCells(times)]))
                       .map(([from, to, cells]) => ({from, to, cells, at: track(cells), route: null}));

  /* All moments when something changes, in order. */
  function allChanges() {
    const lists = [...rowOf.values(), ...holds].map(r => r.cells), times = [];
    for (const cells of lists) for (const cell of cells) times.push(cell[0], cell[1]);
    return Float64Array.from(times).sort();
  }

  /* The next moment with a change, or the one before. */
  function neighbour(forward) {
    changes = changes || allChanges();
    let low = 0, high = changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (forward ? changes[middle] <= moment : changes[middle] < moment) low = middle + 1; else high = middle;
    }
    const i = forward ? low : low - 1;
    return i >= 0 && i < changes.length ? changes[i] : forward ? shown[1] : shown[0];
  }

  /* ---- Where it is drawn: small cubes as a cube, others as a grid of cells ---- */

  function asCube(width) {
    const {scale, at} = fitCube(width, Math.min(130, 560 / (cube.low - cube.top)));
    return {height: Math.max(120, scale * (cube.low - cube.top)), radius: Math.max(2.5, Math.min(13, 0.18 * scale)),
            spot: address => at(cube.places.get(address)), lines: true, wide: labelWidth(scale),
            route: (from, to) => { const k = curve(from, to, scale); return k && k.map(at); }};
  }

  /* How wide a node's line may be, between its neighbours along dimension 2; 0: there is no room for any. */
  function labelWidth(scale) {
    return scale >= 48 ? 0.5 * scale - 2 : 0;
  }

  /* The lower half of a node's number is its column. Below: the front end and the I/O nodes. */
  function asGrid(width) {
    const low = Math.ceil(data.dimension / 2), wide = 1 << low, high = 1 << data.dimension - low;
    const cell = Math.min(26, (width - 8) / wide, 640 / high), left = (width - cell * wide) / 2;
    const side = Math.max(9, width / 60), bottom = 4 + cell * high;
    const spots = new Map(), columns = Math.max(1, Math.floor((width - 90) / side));
    for (let n = 0; n < 1 << data.dimension; n++)
      spots.set(n, [left + (n % wide + 0.5) * cell, 4 + ((n >> low) + 0.5) * cell]);
    data.io.forEach((n, i) => spots.set(n.address, [90 + (i % columns + 0.5) * side,
                                                    bottom + 8 + (Math.floor(i / columns) + 0.5) * side]));
    spots.set(HOST, [16, bottom + 8 + side / 2]);
    const route = (from, to) => {
      const a = spots.get(from), b = spots.get(to);
      return a && b ? [a, [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], b] : null;
    };
    return {height: bottom + 16 + side * Math.max(1, Math.ceil(data.io.length / columns)), lines: false, route,
            radius: Math.max(0.5, cell / 2 - (cell > 4 ? 1 : 0)), spot: address => spots.get(address)};
  }

  function layOut(width) {
    place = data.dimension <= CUBE_MOST ? asCube(width) : asGrid(width);
    for (const n of nodes) {
      [n.x, n.y] = place.spot(n.address);
      n.box = n.address >= IO || !place.lines;
      n.radius = n.address >= IO ? Math.max(4, Math.min(place.radius, 13)) : place.radius;
    }
    for (const h of holds) h.route = place.route(h.from, h.to);
    return place.height;
  }

  /* ---- Drawing ---- */

  /* Black or white, whichever can be read on the colour. */
  function ink(colour) {
    const full = colour.length === 4 ? colour.replace(/[0-9a-f]/gi, '$&$&') : colour;
    const [r, g, b] = [1, 3, 5].map(i => parseInt(full.slice(i, i + 2), 16));
    return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#111' : '#fff';
  }

  function trace(c, [a, m, b]) {
    c.moveTo(a[0], a[1]);
    c.quadraticCurveTo(m[0], m[1], b[0], b[1]);
  }

  /* What stays the same: the channels, and the colours. */
  function drawStill(view) {
    const canvas = document.createElement('canvas'), c = canvas.getContext('2d');
    canvas.width = view.canvas.width;
    canvas.height = view.canvas.height;
    c.scale(canvas.width / view.width, canvas.width / view.width);
    c.strokeStyle = colour('cold');
    c.beginPath();
    if (place.lines)
      for (const ch of channels) {
        const k = place.route(ch[0], ch[1]);
        if (k) trace(c, k);
      }
    c.stroke();
    const paint = STATES.map(colour);
    still = {canvas, paint, ink: paint.map(ink), edge: colour('edge'), held: colour('held'), dot: colour('path'),
             text: colour('text'), paper: colour('paper'), chosen: colour('hot')};
  }

  function drawNode(c, n) {
    const state = n.cell ? n.cell[2] : FREE;
    c.fillStyle = still.paint[state];
    if (!place.lines && n.address < IO) {
      c.fillRect(n.x - n.radius, n.y - n.radius, 2 * n.radius, 2 * n.radius);
      return;
    }
    c.beginPath();
    if (n.box) c.rect(n.x - n.radius, n.y - n.radius, 2 * n.radius, 2 * n.radius);
    else c.arc(n.x, n.y, n.radius, 0, 7);
    c.fill();
    c.stroke();
    if (n.address === HOST) {
      c.fillStyle = still.text;
      c.textAlign = 'left';
      if (place.lines) c.fillText('front end', Math.max(2, n.x - 24), n.y + n.radius + 9);
      else c.fillText('front end', n.x + n.radius + 5, n.y);
      c.textAlign = 'center';
    } else if (n.radius >= 8 && place.lines) {
      c.fillStyle = still.ink[state];
      c.fillText(n.address < IO ? n.address : `${(n.address - IO) >> 4}.${(n.address - IO) & 15}`, n.x, n.y);
    }
  }

  /* Below the node, on what is behind it. Where there is no room for the file, its line's number. */
  function drawLine(c, n) {
    const whole = n.line[3], text = place.wide > 6 * whole.length ? whole : whole.replace(/^.*:/, ':');
    if (text.length * 6 > place.wide) return;
    c.strokeText(text, n.x, n.y + n.radius + 8);
    c.fillText(text, n.x, n.y + n.radius + 8);
  }

  function drawLines(c) {
    if (!place.wide) return;
    c.font = '10px system-ui,sans-serif';
    c.strokeStyle = still.paper;
    c.fillStyle = still.text;
    c.lineWidth = 3;
    for (const n of nodes) if (n.line) drawLine(c, n);
  }

  function drawChosen(c) {
    if (!chosen) return;
    const r = chosen.radius + 2;
    c.strokeStyle = still.chosen;
    c.lineWidth = 3;
    c.strokeRect(chosen.x - r, chosen.y - r, 2 * r, 2 * r);
  }

  /* The channels that are held, each with the place of its message. */
  function heldNow() {
    const held = [];
    for (const {at, route} of holds) {
      const cell = at(moment);
      if (!cell || !route) continue;
      const s = calm.matches ? 0.5 : (moment - cell[0]) / Math.max(1, cell[1] - cell[0]), u = 1 - s;
      const [x, y] = [0, 1].map(i => u * u * route[0][i] + 2 * u * s * route[1][i] + s * s * route[2][i]);
      held.push({route, x, y});
    }
    return held;
  }

  function drawCurves(c, held) {
    const radius = Math.min(3.5, place.radius / 2.5);
    c.strokeStyle = still.held;
    c.lineWidth = 2;
    c.beginPath();
    for (const h of held) trace(c, h.route);
    c.stroke();
    c.fillStyle = still.dot;
    c.beginPath();
    for (const {x, y} of held) {
      c.moveTo(x + radius, y);
      c.arc(x, y, radius, 0, 7);
    }
    c.fill();
  }

  /* Of thousands, rectangles are drawn several times faster than paths; only channels to I/O nodes are slanted. */
  function drawStraight(c, held) {
    const radius = Math.max(1, Math.min(3.5, place.radius / 4));
    c.strokeStyle = c.fillStyle = still.dot;
    c.lineWidth = 1;
    c.globalAlpha = 0.4;
    c.beginPath();
    for (const {route} of held) {
      const [a, , b] = route, wide = Math.abs(a[0] - b[0]), high = Math.abs(a[1] - b[1]);
      if (wide < 0.01 || high < 0.01)
        c.fillRect(Math.min(a[0], b[0]) - 0.5, Math.min(a[1], b[1]) - 0.5, wide + 1, high + 1);
      else trace(c, route);
    }
    c.stroke();
    c.globalAlpha = 1;
    for (const {x, y} of held) c.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
  }

  /* In a cube the messages are behind the nodes, whose numbers they would hide; a grid's cells leave no room there. */
  function drawMoment(c, view) {
    c.clearRect(0, 0, view.width, view.height);
    c.drawImage(still.canvas, 0, 0, view.width, view.height);
    for (const n of nodes) {
      n.cell = n.at(moment);
      n.line = n.lineAt(moment);
    }
    const held = heldNow();
    if (place.lines) drawCurves(c, held);
    c.strokeStyle = still.edge;
    c.lineWidth = 1;
    c.font = Math.max(8, Math.min(11, place.radius)) + 'px system-ui,sans-serif';
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    for (const n of nodes) drawNode(c, n);
    if (!place.lines) drawStraight(c, held);
    drawLines(c);
    drawChosen(c);
    return held.length;
  }

  /* ---- A moment ---- */

  const mark = timeline.canvas.parentElement.appendChild(document.createElement('div'));
  mark.className = 'mark';

  /* User code is between two traps: that of the line, and the one that ends its spell. */
  function sayNode(n) {
    const does = n.cell ? data.states[n.cell[2]] : 'nothing', user = n.cell && STATES[n.cell[2]] === 'user';
    const next = user && n.lines[firstCell(n.lines, n.cell[1])], line = n.line ? n.line[2] : '';
    const before = next && next[0] <= n.cell[1] ? `before ${next[2]}` : '';
    return `${nodeName(n.address)}: ${does}` + (user ? (line && `; after ${line}`) + (before && `, ${before}`)
                                                     : line && `; ${line}`) + '.';
  }

  function sayMoment(held) {
    const counts = STATES.map(() => 0);
    for (const n of nodes) if (n.counts) counts[n.cell ? n.cell[2] : FREE]++;
    const parts = counts.map((n, s) => n ? `${data.states[s]} ${n}` : '').filter(p => p);
    const text = `${time(moment)}. Nodes: ${parts.join(', ') || 'none'}. Channels held: ${held}.` +
                 (moment >= data.end && ending ? ' ' + ending.textContent : '');
    element('now').textContent = text;
    bar.setAttribute('aria-valuetext', text);
    element('place').textContent = chosen ? sayNode(chosen) : '';
  }

  function show() {
    const part = (moment - shown[0]) / (shown[1] - shown[0]);
    const held = view.held = drawMoment(view.canvas.getContext('2d'), view), now = performance.now();
    mark.style.transform = `translateX(${MARGIN + part * (timeline.width - MARGIN)}px)`;
    bar.value = moment;
    if (playing && now - said < TEXT_MS) return;
    said = now;
    sayMoment(held);
  }

  function nodeAt(x, y, near) {
    return nodes.find(k => Math.hypot(k.x - x, k.y - y) <= Math.max(place.lines ? near : 1, k.radius * 1.2));
  }

  function choose(n) {
    chosen = n || null;
    show();
    sayMoment(view.held);
  }

  /* The next node of the drawing, or the one before. */
  function chooseNext(by) {
    const i = nodes.indexOf(chosen);
    choose(nodes[i < 0 ? (by > 0 ? 0 : nodes.length - 1) : (i + by + nodes.length) % nodes.length]);
  }

  function tell(x, y) {
    const n = nodeAt(x, y, 9);
    if (!n) return '';
    return n.cell ? `${sayNode(n)}\n${data.names[n.cell[3]]}\n` +
                    `${time(n.cell[1] - n.cell[0])} from ${time(n.cell[0])}` : `${nodeName(n.address)}: nothing`;
  }

  const view = picture('play', layOut, (c, v) => {
    drawStill(v);
    drawMoment(c, v);
  }, tell);

  function go(to) {
    moment = Math.max(shown[0], Math.min(to, shown[1]));
    show();
  }

  /* ---- Playing ---- */

  function tick(now) {
    if (!playing) return;
    if (!calm.matches || now - last >= CALM_MS) {
      const passed = Math.min(now - last, calm.matches ? 2 * CALM_MS : 100) / 1000;
      last = now;
      moment += passed / SECONDS * element('speed').value * (shown[1] - shown[0]);
      if (moment >= shown[1]) stop();
      go(moment);
    }
    requestAnimationFrame(tick);
  }

  function stop() {
    playing = false;
    button.textContent = 'play';
  }

  function toggle() {
    if (playing) {
      stop();
      show();
      return;
    }
    if (moment >= shown[1]) go(shown[0]);
    playing = true;
    button.textContent = 'pause';
    last = performance.now();
    requestAnimationFrame(tick);
  }

  function jump(to) {
    stop();
    go(to);
  }

  const twentieth = () => (shown[1] - shown[0]) / 20;
  const keys = {
    ' ': toggle, ArrowLeft: () => jump(neighbour(false)), ArrowRight: () => jump(neighbour(true)),
    PageUp: () => jump(moment - twentieth()), PageDown: () => jump(moment + twentieth()),
    Home: () => jump(shown[0]), End: () => jump(shown[1]),
    ArrowUp: () => chooseNext(-1), ArrowDown: () => chooseNext(1), Escape: () => choose(null),
    '+': () => zoom(0.5, moment), '=': () => zoom(0.5, moment), '-': () => zoom(2, moment),
  };
  element('player').addEventListener('keydown', e => {
    const own = e.target.tagName === 'SELECT' || e.target.tagName === 'BUTTON' && e.key === ' ';
    if (own || !keys[e.key] || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    keys[e.key]();
  });
  button.addEventListener('click', toggle);
  bar.addEventListener('input', () => jump(+bar.value));
  view.canvas.addEventListener('click', e => {
    const box = view.canvas.getBoundingClientRect();
    choose(nodeAt(e.clientX - box.left, e.clientY - box.top, 16));
    bar.focus({preventScroll: true});
  });

  /* The timeline shows another time, or has been drawn anew. */
  function fit() {
    bar.min = shown[0];
    bar.max = shown[1];
    mark.style.height = timeline.height + 'px';
    go(moment);
  }
  afterTimeline.push(fit);
  fit();
  const shortest = Math.max(data.step, data.hold_step, data.line_step);
  if (shortest > 0)
    element('joined').textContent = ` The run has more than this page can hold: of what is shorter than ` +
      `${time(shortest)}, several stand as one, with the state that took most of their time.`;
  return {nodes, choose, jump, toggle, isPlaying: () => playing};
})();
