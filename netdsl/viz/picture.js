"use strict";
// One picture of a net on a canvas. Rows come with their heights and boxes with their places in a row; this
// script works out where rows are as scopes open and close, and draws what is in sight.

const DOWN = 0, BESIDE = 1;
const SUMMARY = 52;
const FULL_TEXT = 0.5, TITLES = 0.2, ARROWS = 0.3, EDGES = 0.06;
const MIN_ZOOM = 0.01, MAX_ZOOM = 3;
const LANE_TITLES = { forward: "Forward ↓", gradient: "Gradient ↑", update: "Update →" };

function shorten(text, room) {
  if (text.length <= room) return text;
  if (room < 4) return "";
  const tail = Math.floor((room - 1) * 0.6);
  return `${text.slice(0, room - 1 - tail)}…${text.slice(-tail)}`;
}

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// Where rows and bands are while the bands of `closed` are closed.
class Rows {
  constructor(data, closed) {
    this.tops = new Array(data.rows.length).fill(NaN);
    this.hider = new Array(data.rows.length).fill(null);
    this.spans = new Array(data.bands.length).fill(null);
    this.items = []; // what is visible, from top to bottom: {top, bottom, row, band}
    this.place = new Array(data.rows.length); // row -> its item's index
    const starts = data.rows.map(() => []), ends = data.rows.map(() => []);
    data.bands.forEach((band, index) => { starts[band.first].push(index); ends[band.last].unshift(index); });
    let y = data.margin + data.header;
    for (let row = 0; row < data.rows.length;) {
      let shut = null;
      for (const band of starts[row]) {
        this.spans[band] = [y, y];
        if (closed.has(band)) { shut = band; break; }
        y += data.bandTop;
      }
      const last = shut === null ? row : data.bands[shut].last;
      const height = shut === null ? data.rows[row] : SUMMARY;
      this.items.push({ top: y, bottom: y + height, row: shut === null ? row : null, band: shut });
      for (let inner = row; inner <= last; inner++) { this.place[inner] = this.items.length - 1; this.hider[inner] = shut; }
      if (shut === null) this.tops[row] = y; else this.spans[shut][1] = y + height;
      y += height;
      for (const band of ends[last]) {
        if (shut !== null && data.bands[band].depth >= data.bands[shut].depth) continue;
        y += data.bandBottom;
        this.spans[band][1] = y;
      }
      y += data.gap;
      row = last + 1;
    }
    this.height = y - data.gap + data.margin;
  }

  // The index of the first item that ends below y.
  first(y) {
    let low = 0, high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.items[middle].bottom < y) low = middle + 1; else high = middle;
    }
    return low;
  }
}

class Picture {
  constructor(view) {
    this.view = view;
    this.data = JSON.parse(view.querySelector(".data").textContent);
    this.paper = view.querySelector(".paper");
    this.map = view.querySelector(".map");
    this.details = view.querySelector(".details");
    this.closed = new Set(this.data.bands.flatMap((band, index) => (band.closed ? [index] : [])));
    this.inRow = this.data.rows.map(() => []);
    this.edgesOf = this.data.nodes.map(() => []);
    this.data.nodes.forEach((node, index) => this.inRow[node.row].push(index));
    this.data.edges.forEach((edge, index) => { this.edgesOf[edge[0]].push(index); this.edgesOf[edge[1]].push(index); });
    this.chosen = null;
    this.hits = [];
    this.hit = -1;
    this.arrange();
    this.readColors();
    this.listen();
    this.resize();
    this.start();
  }

  // ------------------------------------------------------------------ places

  arrange() {
    this.rows = new Rows(this.data, this.closed);
    this.drawn = [];
    const seen = new Set();
    this.data.edges.forEach(([source, target, , kind, x], index) => {
      const a = this.end(source), b = this.end(target);
      if (a.key === b.key) return;
      const whole = a.band === null && b.band === null;
      if (whole ? kind > BESIDE : !this.joins(source, target, a, b)) return;
      const key = `${a.key} ${b.key}`;
      if (!whole && seen.has(key)) return;
      seen.add(key);
      this.drawn.push({ index, a, b, beside: whole && kind === BESIDE, x: whole ? x : null, top: Math.min(a.top, b.top), bottom: Math.max(a.bottom, b.bottom) });
    });
    this.pairs = this.data.pairs.flatMap(([forward, gradient]) => {
      const a = this.end(forward), b = this.end(gradient);
      return a.band === null ? [{ a, b, beside: true, x: null, top: a.top, bottom: b.bottom }] : [];
    });
    this.mapImage = null;
  }

  // Whether an edge to or from a closed band is drawn: along a lane, not too far.
  joins(source, target, a, b) {
    const lane = this.data.nodes[source].lane;
    return lane === this.data.nodes[target].lane && lane !== "update" && Math.abs(a.item - b.item) <= 6;
  }

  // Where the edges of a node end: at its box, or at the box of the closed band that hides it.
  end(index) {
    const node = this.data.nodes[index], band = this.rows.hider[node.row], item = this.rows.place[node.row];
    if (band === null) {
      const top = this.rows.tops[node.row] + node.dy;
      return { key: index, item, band, left: node.x, right: node.x + node.w, top, bottom: top + node.h };
    }
    const [left, right] = this.summaryBox(node.lane), [top, bottom] = this.rows.spans[band];
    return { key: `${band}/${node.lane}`, item, band, left, right, top: top + 2, bottom: bottom - 2 };
  }

  summaryBox(role) {
    const lane = this.data.lanes.find((other) => other.role === role);
    return [lane.first, Math.min(lane.right - this.data.pad, lane.first + 228)];
  }

  // The line of an edge, between rows wherever it turns.
  path({ a, b, beside, x }) {
    const line = new Path2D();
    const ax = (a.left + a.right) / 2, bx = (b.left + b.right) / 2;
    if (beside && a.left !== b.left) {
      const ay = (a.top + a.bottom) / 2, by = (b.top + b.bottom) / 2, middle = (a.right + b.left) / 2;
      line.moveTo(a.right, ay);
      line.bezierCurveTo(middle, ay, middle, by, b.left - 6, by);
      return { line, tip: [b.left, by, 0] };
    }
    const down = a.top < b.top, ay = down ? a.bottom : a.top, by = down ? b.top : b.bottom, sign = down ? 1 : -1;
    const leave = this.rows.items[a.item], enter = this.rows.items[b.item], turn = this.data.gap * sign;
    const ly = down ? leave.bottom : leave.top, ey = down ? enter.top : enter.bottom;
    line.moveTo(ax, ay);
    if (!beside) {
      const adjacent = Math.abs(a.item - b.item) === 1;
      const along = x === null ? (adjacent ? bx : a.left - 8) : x;
      line.lineTo(ax, ly);
      if (adjacent && (along === ax || along === bx)) bend(line, ax, ly, bx, ey);
      else {
        bend(line, ax, ly, along, ly + turn);
        bend(line, along, ey - turn, bx, ey);
      }
    }
    line.lineTo(bx, by - 6 * sign);
    return { line, tip: [bx, by, sign] };
  }

  // ------------------------------------------------------------------ drawing

  readColors() {
    const style = getComputedStyle(document.documentElement);
    const known = new Map();
    this.color = (name) => {
      if (!known.has(name)) known.set(name, style.getPropertyValue(`--${name}`).trim());
      return known.get(name);
    };
    this.sans = this.color("sans");
    this.mono = this.color("mono");
    this.mapImage = null;
  }

  resize() {
    for (const canvas of [this.paper, this.map]) {
      canvas.width = Math.max(1, canvas.clientWidth * devicePixelRatio);
      canvas.height = Math.max(1, canvas.clientHeight * devicePixelRatio);
    }
    this.mapImage = null;
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.drawNow(); });
  }

  drawNow() {
    const pen = this.paper.getContext("2d");
    const { x, y, scale } = this.at, ratio = devicePixelRatio;
    this.sight = { top: y, bottom: y + this.paper.clientHeight / scale };
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.paper.width, this.paper.height);
    pen.setTransform(ratio * scale, 0, 0, ratio * scale, -x * scale * ratio, -y * scale * ratio);
    pen.textBaseline = "alphabetic";
    this.drawLanes(pen);
    this.drawBands(pen);
    if (scale > EDGES) this.drawEdges(pen, scale);
    for (let i = this.rows.first(this.sight.top); i < this.rows.items.length && this.rows.items[i].top < this.sight.bottom; i++) {
      const item = this.rows.items[i];
      if (item.row === null) this.drawSummary(pen, item.band, scale);
      else for (const index of this.inRow[item.row]) this.drawBox(pen, index, scale);
    }
    this.drawChosenEdges(pen, scale);
    this.drawBandNames(pen, scale);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawHeads(pen);
    this.drawMap();
  }

  drawLanes(pen) {
    for (const lane of this.data.lanes) {
      pen.globalAlpha = 0.045;
      pen.fillStyle = this.color(lane.role);
      pen.fillRect(lane.left, this.data.margin, lane.right - lane.left, this.rows.height - 1.5 * this.data.margin);
    }
    pen.globalAlpha = 1;
  }

  visibleBands() {
    return this.data.bands.flatMap((band, index) => {
      const span = this.rows.spans[index];
      return span && span[1] >= this.sight.top && span[0] <= this.sight.bottom ? [[band, index, span]] : [];
    });
  }

  drawBands(pen) {
    const right = this.data.lanes.at(-1).right + this.data.pad / 2;
    for (const [band, , [top, bottom]] of this.visibleBands()) {
      const left = this.data.margin / 2 + this.data.indent * band.depth;
      pen.beginPath();
      pen.roundRect(left, top, right - left - 3 * band.depth, bottom - top, 7);
      pen.fillStyle = pen.strokeStyle = this.color("band");
      pen.globalAlpha = 0.05;
      pen.fill();
      pen.globalAlpha = 0.3;
      pen.lineWidth = 1;
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  // Names of scopes stay readable however far away, each where there is room for it.
  drawBandNames(pen, scale) {
    const size = Math.max(12, 10 / scale);
    pen.font = `600 ${size}px ${this.sans}`;
    pen.lineJoin = "round";
    let free = -Infinity;
    for (const [band, index, [top, bottom]] of this.visibleBands()) {
      const closed = this.closed.has(index);
      const y = closed ? (top + bottom) / 2 + size * 0.35 : Math.max(top + 8 + size, Math.min(this.sight.top + (44 + 18 * band.depth) / scale, bottom - 6));
      if ((bottom - top) * scale < 13 || y - size < free) continue;
      free = y;
      const left = this.data.margin / 2 + this.data.indent * band.depth + 9;
      const room = scale < TITLES ? 40 : Math.floor((this.data.margin + this.data.rail - left) / (size * 0.58));
      const text = `${closed ? "▸" : "▾"} ${shorten(band.label, room - 2)}`;
      pen.strokeStyle = this.color("paper");
      pen.lineWidth = 4 / scale;
      if (scale < TITLES) pen.strokeText(text, left, y);
      pen.fillStyle = this.color("band");
      pen.fillText(text, left, y);
    }
  }

  drawEdges(pen, scale) {
    pen.strokeStyle = pen.fillStyle = this.color("line");
    pen.lineWidth = Math.max(1.2, 0.5 / scale);
    for (const edge of this.drawn) {
      if (edge.bottom < this.sight.top || edge.top > this.sight.bottom) continue;
      edge.shape ??= this.path(edge);
      pen.stroke(edge.shape.line);
      if (scale > ARROWS) tip(pen, edge.shape.tip);
    }
    pen.setLineDash([2, 3]);
    for (const pair of this.pairs) {
      if (pair.bottom < this.sight.top || pair.top > this.sight.bottom) continue;
      pair.shape ??= this.path(pair);
      pen.stroke(pair.shape.line);
    }
    pen.setLineDash([]);
  }

  drawChosenEdges(pen, scale) {
    if (this.chosen === null) return;
    pen.strokeStyle = pen.fillStyle = this.color("accent");
    pen.lineWidth = Math.max(1.8, 1.2 / scale);
    for (const index of this.edgesOf[this.chosen]) {
      const [source, target, , kind, x] = this.data.edges[index];
      const a = this.end(source), b = this.end(target);
      if (a.key === b.key) continue;
      const whole = a.band === null && b.band === null;
      const shape = whole && kind <= BESIDE ? this.path({ a, b, beside: kind === BESIDE, x }) : direct(a, b);
      pen.stroke(shape.line);
      tip(pen, shape.tip);
    }
  }

  drawBox(pen, index, scale) {
    const node = this.data.nodes[index], top = this.rows.tops[node.row] + node.dy, color = this.color(node.lane);
    const found = this.hits.length && this.hitSet.has(index);
    pen.beginPath();
    pen.roundRect(node.x, top, node.w, node.h, node.op ? 6 : 18);
    pen.fillStyle = this.color("paper");
    pen.fill();
    if (scale < TITLES) { pen.globalAlpha = 0.35; pen.fillStyle = color; pen.fill(); pen.globalAlpha = 1; }
    if (found) { pen.globalAlpha = 0.22; pen.fillStyle = this.color("accent"); pen.fill(); pen.globalAlpha = 1; }
    const strong = index === this.chosen || found;
    pen.strokeStyle = strong ? this.color("accent") : color;
    pen.globalAlpha = strong ? 1 : 0.5;
    pen.lineWidth = strong ? Math.max(2, 2 / scale) : 1;
    pen.setLineDash(node.known === false ? [4, 3] : []);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    if (scale < TITLES) return;
    if (node.op) {
      pen.beginPath();
      pen.roundRect(node.x, top, 3.5, node.h, [6, 0, 0, 6]);
      pen.fillStyle = color;
      pen.fill();
    }
    if (scale < FULL_TEXT) this.drawTitle(pen, node.title, node.x, top, node.w, node.h, scale);
    else this.drawTexts(pen, node, top);
  }

  // From afar a box says only what it is, as large as it can.
  drawTitle(pen, title, x, top, width, height, scale) {
    const size = Math.min(11 / scale, 23);
    pen.font = `600 ${size}px ${this.sans}`;
    pen.fillStyle = this.color("ink");
    pen.fillText(shorten(title, Math.floor((width - 18) / (size * 0.62))), x + 10, top + height / 2 + size * 0.36);
  }

  drawTexts(pen, node, top) {
    const left = node.x + 13, right = node.x + node.w - 10;
    const write = (text, x, y, font, color, align = "left") => {
      pen.font = font;
      pen.fillStyle = this.color(color);
      pen.textAlign = align;
      pen.fillText(text, x, y);
    };
    write(node.title, left, top + 17, `600 13px ${this.sans}`, "ink");
    write(node.name ?? "", left, top + 33, `10.5px ${this.mono}`, "ink");
    write(node.note ?? "", right, top + 17, `10.5px ${this.sans}`, "muted", "right");
    write(node.type ?? "", right, top + 33, `10.5px ${this.mono}`, "muted", "right");
    (node.chips ?? []).forEach(([name, shape], position) => {
      const x = node.x + 11 + (position % 2) * 105, y = top + 41 + 20 * (position >> 1);
      pen.beginPath();
      pen.roundRect(x, y, 101, 16, 4);
      pen.fillStyle = this.color("chip");
      pen.fill();
      write(name, x + 6, y + 11.5, `10px ${this.mono}`, "ink");
      write(shape, x + 11 + pen.measureText(name).width, y + 11.5, `10px ${this.mono}`, "muted");
    });
    pen.textAlign = "left";
  }

  // A closed band: in every lane a pile that says how much is in it.
  drawSummary(pen, index, scale) {
    const band = this.data.bands[index], [top, bottom] = this.rows.spans[index];
    for (const lane of this.data.lanes) {
      const count = band.counts[lane.role];
      if (!count) continue;
      const [left, right] = this.summaryBox(lane.role);
      const text = `${count} operator${count === 1 ? "" : "s"}`, height = bottom - top - 12;
      pen.strokeStyle = this.color(lane.role);
      pen.lineWidth = 1;
      for (const shift of [4, 2, 0]) {
        pen.beginPath();
        pen.roundRect(left + shift, top + 4 + shift, right - left - 4, height, 6);
        pen.fillStyle = this.color("paper");
        pen.fill();
        pen.globalAlpha = scale < TITLES ? 0.3 : 0.5;
        if (scale < TITLES) { pen.fillStyle = pen.strokeStyle; pen.fill(); }
        pen.stroke();
        pen.globalAlpha = 1;
      }
      if (scale < TITLES) continue;
      if (scale < FULL_TEXT) { this.drawTitle(pen, text, left, top + 4, right - left, height, scale); continue; }
      pen.font = `600 13px ${this.sans}`;
      pen.fillStyle = this.color("ink");
      pen.fillText(text, left + 12, top + 21);
      pen.font = `10.5px ${this.sans}`;
      pen.fillStyle = this.color("muted");
      pen.fillText(band.types[lane.role], left + 12, top + 36);
    }
  }

  drawHeads(pen) {
    const { x, scale } = this.at;
    pen.fillStyle = this.color("paper");
    pen.fillRect(0, 0, this.paper.clientWidth, 32);
    pen.fillStyle = this.color("rule");
    pen.fillRect(0, 32, this.paper.clientWidth, 1);
    for (const lane of this.data.lanes) {
      const left = Math.max((lane.first - x) * scale, 10), room = (lane.right - x) * scale - left;
      pen.font = `600 14px ${this.sans}`;
      const title = LANE_TITLES[lane.role];
      if (room < pen.measureText(title).width) continue;
      pen.fillStyle = this.color(lane.role);
      pen.fillText(title, left, 21);
      const after = left + pen.measureText(title).width + 8;
      pen.font = `12px ${this.sans}`;
      pen.fillStyle = this.color("muted");
      if (room > 130) pen.fillText(String(lane.count), after, 21);
    }
  }

  // ------------------------------------------------------------------ overview

  mapScale() {
    const x = (this.map.clientWidth - 8) / this.data.width;
    return { x, y: Math.min(x, (this.map.clientHeight - 8) / this.rows.height) };
  }

  drawMap() {
    const pen = this.map.getContext("2d"), scale = this.mapScale(), ratio = devicePixelRatio;
    if (this.mapImage === null) this.mapImage = this.paintMap(scale, ratio);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.map.width, this.map.height);
    pen.drawImage(this.mapImage, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 4 * ratio, 4 * ratio);
    const { x, y, scale: zoom } = this.at;
    const width = this.paper.clientWidth / zoom * scale.x, height = Math.max(this.paper.clientHeight / zoom * scale.y, 4);
    const left = Math.max(x * scale.x, -3), right = Math.min(x * scale.x + width, this.map.clientWidth - 5);
    pen.fillStyle = pen.strokeStyle = this.color("accent");
    pen.globalAlpha = 0.13;
    pen.fillRect(left, y * scale.y, right - left, height);
    pen.globalAlpha = 0.8;
    pen.strokeRect(left, y * scale.y, right - left, height);
    pen.globalAlpha = 1;
  }

  paintMap(scale, ratio) {
    const image = document.createElement("canvas");
    image.width = this.map.width;
    image.height = this.map.height;
    const pen = image.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 4 * ratio, 4 * ratio);
    const fill = (role, left, top, width, height) => {
      pen.fillStyle = this.color(role);
      pen.fillRect(left * scale.x, top * scale.y, width * scale.x, Math.max(height * scale.y, 0.6));
    };
    pen.globalAlpha = 0.75;
    for (const item of this.rows.items) {
      if (item.row !== null) {
        for (const index of this.inRow[item.row]) {
          const node = this.data.nodes[index];
          fill(node.lane, node.x, item.top + node.dy, node.w, node.h);
        }
      } else {
        for (const lane of this.data.lanes) {
          const [left, right] = this.summaryBox(lane.role);
          if (this.data.bands[item.band].counts[lane.role]) fill(lane.role, left, item.top, right - left, SUMMARY);
        }
      }
    }
    return image;
  }

  // ------------------------------------------------------------------ moving

  start() {
    const width = this.paper.clientWidth;
    const scale = Math.max(FULL_TEXT, Math.min(1, (width - 16) / this.data.width));
    this.at = { scale, x: Math.min(0, (this.data.width - width / scale) / 2), y: 0 };
    this.draw();
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.paper;
    const scale = Math.max(MIN_ZOOM, Math.min(1, width / this.data.width, (height - 8) / this.rows.height));
    this.at = { scale, x: (this.data.width - width / scale) / 2, y: 0 };
    this.draw();
  }

  zoom(factor, px = this.paper.clientWidth / 2, py = this.paper.clientHeight / 2) {
    const { x, y, scale } = this.at;
    const next = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, scale * factor));
    this.move(x + px / scale - px / next, y + py / scale - py / next, next);
  }

  // Move so that the picture never gets out of sight.
  move(x, y, scale = this.at.scale) {
    const width = this.paper.clientWidth / scale, height = this.paper.clientHeight / scale;
    const clamp = (value, low, high) => Math.min(Math.max(value, Math.min(low, high)), Math.max(low, high));
    this.at = { scale, x: clamp(x, -width / 2, this.data.width - width / 2), y: clamp(y, -48 / scale, this.rows.height - height / 2) };
    this.draw();
  }

  toggle(band) {
    const before = this.rows.spans[band][0];
    if (!this.closed.delete(band)) this.closed.add(band);
    this.arrange();
    this.move(this.at.x, this.at.y + this.rows.spans[band][0] - before);
  }

  setAll(closed) {
    this.closed = new Set(closed ? this.data.bands.flatMap((band, i) => (band.last > band.first || band.owner !== null ? [i] : [])) : []);
    this.arrange();
    this.move(this.at.x, 0);
  }

  // Bring a node into sight, opening whatever hides it.
  reveal(index) {
    const node = this.data.nodes[index];
    while (this.rows.hider[node.row] !== null) {
      this.closed.delete(this.rows.hider[node.row]);
      this.arrange();
    }
    const scale = Math.max(this.at.scale, 0.8), y = this.rows.tops[node.row] + node.dy + node.h / 2;
    this.move(node.x + node.w / 2 - this.paper.clientWidth / scale / 2, y - this.paper.clientHeight / scale / 2, scale);
  }

  // ------------------------------------------------------------------ pointing

  // What is at a point of the canvas: {node}, {band} or nothing.
  under(px, py) {
    const x = this.at.x + px / this.at.scale, y = this.at.y + py / this.at.scale;
    const item = this.rows.items[this.rows.first(y)];
    if (item && item.top <= y && item.row !== null) {
      for (const index of this.inRow[item.row]) {
        const node = this.data.nodes[index], top = item.top + node.dy;
        if (x >= node.x && x <= node.x + node.w && y >= top && y <= top + node.h) return { node: index };
      }
    }
    if (item && item.top <= y && item.band !== null) return { band: item.band };
    if (x > this.data.margin + this.data.rail) return {};
    let found = {};
    this.rows.spans.forEach((span, index) => {
      if (span && span[0] <= y && y <= span[1] && x >= this.data.margin / 2 + this.data.indent * this.data.bands[index].depth) found = { band: index };
    });
    return found;
  }

  click(px, py) {
    const { node, band } = this.under(px, py);
    if (band !== undefined) this.toggle(band);
    else this.choose(node ?? null);
  }

  choose(index) {
    this.chosen = index;
    this.details.hidden = index === null;
    if (index !== null) this.fillDetails(index);
    this.draw();
  }

  fillDetails(index) {
    const node = this.data.nodes[index], panel = this.details;
    const close = element("button", "×", "close");
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", () => this.choose(null));
    panel.replaceChildren(close, element("h3", node.op ?? node.title));
    const section = (title, lines) => { if (lines.length) panel.append(element("h4", title), ...lines); };
    const line = (name, note, other) => {
      const made = element("p"), text = element("code", name);
      if (other === undefined) made.append(text);
      else {
        const go = element("button", undefined, "go");
        go.append(text);
        go.addEventListener("click", () => { this.choose(other); this.reveal(other); });
        made.append(go);
      }
      if (note) made.append(" ", element("span", note, "type"));
      return made;
    };
    const edges = this.edgesOf[index].map((edge) => this.data.edges[edge]);
    const source = new Map(edges.filter((edge) => edge[1] === index).map((edge) => [edge[2], edge[0]]));
    const held = new Map(node.held ?? []);
    if (node.known === false) panel.append(element("p", "Unknown operator: nothing declares its types.", "type"));
    section("Reads", (node.inputs ?? []).map((name) => line(name, held.get(name), source.get(name))));
    section("Writes", (node.outputs ?? []).map(([name, type]) => line(name, type)));
    section("Read by", edges.filter((edge) => edge[0] === index).slice(0, 40).map((edge) => line(this.data.nodes[edge[1]].op, edge[2], edge[1])));
    section("Arguments", Object.entries(node.args ?? {}).map(([name, value]) => line(name, value)));
    section("Device", node.device ? [line(node.device)] : []);
    section("Engine", node.engine ? [line(node.engine)] : []);
    section("Name", node.call ? [line(node.call)] : []);
    section("Added at", node.where ? [line(node.where)] : []);
  }

  // ------------------------------------------------------------------ searching

  search(text) {
    const wanted = text.trim().toLowerCase();
    const matches = (node) => [node.op ?? node.title, ...(node.inputs ?? []), ...node.outputs.map(([name]) => name)]
      .some((name) => name.toLowerCase().includes(wanted));
    this.hits = wanted ? this.data.nodes.flatMap((node, index) => (matches({ outputs: [], ...node }) ? [index] : [])) : [];
    this.hitSet = new Set(this.hits);
    this.hit = -1;
    this.view.querySelector(".found").textContent = wanted ? `${this.hits.length} found` : "";
    this.draw();
  }

  next(step) {
    if (!this.hits.length) return;
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    this.view.querySelector(".found").textContent = `${this.hit + 1} of ${this.hits.length}`;
    this.choose(this.hits[this.hit]);
    this.reveal(this.hits[this.hit]);
  }

  // ------------------------------------------------------------------ events

  listen() {
    this.listenPaper();
    this.listenMap();
    const box = this.view.querySelector("input");
    box.addEventListener("input", () => this.search(box.value));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") { box.value = ""; this.search(""); this.paper.focus(); }
    });
    const actions = { open: () => this.setAll(false), close: () => this.setAll(true), fit: () => this.fit(), in: () => this.zoom(1.3), out: () => this.zoom(1 / 1.3) };
    for (const button of this.view.querySelectorAll("[data-do]")) button.addEventListener("click", actions[button.dataset.do]);
    for (const name of ["open", "close"]) this.view.querySelector(`[data-do="${name}"]`).hidden = !this.data.bands.length;
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target === box || !this.view.offsetParent) return;
      event.preventDefault();
      box.focus();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.readColors(); this.draw(); });
    new ResizeObserver(() => { this.resize(); this.draw(); }).observe(this.view);
  }

  listenPaper() {
    const paper = this.paper;
    let from = null;
    paper.addEventListener("pointerdown", (event) => {
      from = { px: event.offsetX, py: event.offsetY, ...this.at, moved: false };
      paper.setPointerCapture(event.pointerId);
    });
    paper.addEventListener("pointermove", (event) => {
      if (!from) { paper.classList.toggle("over", Object.keys(this.under(event.offsetX, event.offsetY)).length > 0); return; }
      const dx = event.offsetX - from.px, dy = event.offsetY - from.py;
      from.moved ||= Math.hypot(dx, dy) > 4;
      paper.classList.toggle("busy", from.moved);
      if (from.moved) this.move(from.x - dx / this.at.scale, from.y - dy / this.at.scale);
    });
    paper.addEventListener("pointerup", (event) => {
      if (from && !from.moved) this.click(event.offsetX, event.offsetY);
      from = null;
      paper.classList.remove("busy");
    });
    paper.addEventListener("pointercancel", () => { from = null; });
    paper.addEventListener("wheel", (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1, dx = event.deltaX * unit, dy = event.deltaY * unit;
      if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(-dy / 300), event.offsetX, event.offsetY);
      else if (event.shiftKey && !dx) this.move(this.at.x + dy / this.at.scale, this.at.y);
      else this.move(this.at.x + dx / this.at.scale, this.at.y + dy / this.at.scale);
    }, { passive: false });
    const steps = { ArrowDown: [0, 0.1], ArrowUp: [0, -0.1], ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], PageDown: [0, 0.9], PageUp: [0, -0.9], Home: [0, -Infinity], End: [0, Infinity] };
    paper.addEventListener("keydown", (event) => {
      const { x, y, scale } = this.at, step = steps[event.key];
      if (step) this.move(x + (step[0] && step[0] * paper.clientWidth / scale), y + (step[1] && step[1] * paper.clientHeight / scale));
      else if (event.key === "+" || event.key === "=") this.zoom(1.3);
      else if (event.key === "-") this.zoom(1 / 1.3);
      else if (event.key === "Escape") this.choose(null);
      else return;
      event.preventDefault();
    });
  }

  listenMap() {
    const go = (event) => {
      if (event.type === "pointermove" && !event.buttons) return;
      const scale = this.mapScale();
      this.move(this.at.x, (event.offsetY - 4) / scale.y - this.paper.clientHeight / this.at.scale / 2);
    };
    this.map.addEventListener("pointerdown", (event) => { this.map.setPointerCapture(event.pointerId); go(event); });
    this.map.addEventListener("pointermove", go);
  }
}

function bend(line, ax, ay, bx, by) {
  const middle = (ay + by) / 2;
  line.lineTo(ax, ay);
  if (ax === bx) line.lineTo(bx, by);
  else line.bezierCurveTo(ax, middle, bx, middle, bx, by);
}

// From box to box, over whatever lies between: for the edges of the chosen box only.
function direct(a, b) {
  const line = new Path2D();
  const right = b.left > a.right, left = b.right < a.left;
  const ax = right ? a.right : left ? a.left : (a.left + a.right) / 2, bx = right ? b.left : left ? b.right : (b.left + b.right) / 2;
  const down = a.top < b.top, side = right || left;
  const ay = side ? (a.top + a.bottom) / 2 : down ? a.bottom : a.top, by = side ? (b.top + b.bottom) / 2 : down ? b.top : b.bottom;
  line.moveTo(ax, ay);
  if (side) line.bezierCurveTo((ax + bx) / 2, ay, (ax + bx) / 2, by, bx + (right ? -6 : 6), by);
  else line.bezierCurveTo(a.left - 30, ay, b.left - 30, by, bx, by + (down ? -6 : 6));
  return { line, tip: side ? [bx, by, 0, left] : [bx, by, down ? 1 : -1] };
}

function tip(pen, [x, y, vertical, reverse]) {
  pen.beginPath();
  pen.moveTo(x, y);
  if (vertical) { pen.lineTo(x - 3.5, y - 6 * vertical); pen.lineTo(x + 3.5, y - 6 * vertical); }
  else { const back = reverse ? 6 : -6; pen.lineTo(x + back, y - 3.5); pen.lineTo(x + back, y + 3.5); }
  pen.fill();
}
