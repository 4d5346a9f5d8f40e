// Loops, ops, scratchpad, HBM traffic and modelled time over one axis, on a canvas. Only what is in sight is drawn, and what is narrower than
// a pixel is drawn together, so that the work of a frame depends on the width of the window, not on the length of the program.

const GUTTER = 108;
const RIGHT = 26;
const ROW = { axis: 20, launch: 18, module: 18, loop: 17, op: 26, lx: 200, bars: 74, gap: 8 };
/** Of a box that is drawn by itself, pixels. */
const LEAST = 3;
/** The least part of the axis that is shown, in parts of an op. */
const CLOSEST = 0.5;

class Timeline {
  constructor(canvas, state) {
    this.canvas = canvas;
    this.state = state;
    this.context = canvas.getContext('2d');
    this.pen = new Pen(this.context);
    this.modules = moduleRuns();
    this.mode = endUs > 0 ? 'time' : 'ops';
    this.view = [0, this.length()];
    this.isWaiting = false;
    this.nFrames = 0;
    this.resize();
  }

  /** The length of the axis, microseconds or ops. */
  length() {
    return (this.mode === 'time' ? this.endOfTime() : ops.length) || 1;
  }

  endOfTime() {
    return Math.max(endUs, report.time.estimate_us);
  }

  startOf(op) {
    return this.mode === 'time' ? ops[op].start_us : op;
  }

  endOf(op) {
    return this.mode === 'time' ? ops[op].start_us + ops[op].us : op + 1;
  }

  /** From the axis to pixels, and back. */
  x(position) {
    const [from, to] = this.view;
    return GUTTER + ((position - from) / (to - from)) * this.plot;
  }

  position(x) {
    const [from, to] = this.view;
    return from + ((x - GUTTER) / this.plot) * (to - from);
  }

  setMode(mode) {
    const first = this.opAt(this.view[0]);
    const last = this.opAt(this.view[1]);
    const isAll = this.view[1] - this.view[0] >= this.length() * 0.999;
    this.mode = mode;
    this.show(...(isAll ? [0, this.length()] : [this.startOf(first), this.endOf(last)]));
  }

  /** The last op that begins at or before a position: by halving, for ops stand in order. */
  opAt(position) {
    let [low, high] = [0, ops.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.startOf(middle) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Shows a part of the axis, within its ends. */
  show(from, to) {
    const all = this.length();
    const least = Math.min(all, (all / Math.max(ops.length, 1)) * CLOSEST);
    const width = Math.min(all, Math.max(least, to - from));
    const start = Math.min(Math.max(0, from + (to - from - width) / 2), all - width);
    this.view = [start, start + width];
    this.redraw();
  }

  zoom(factor, at = (this.view[0] + this.view[1]) / 2) {
    const [from, to] = this.view;
    this.show(at - (at - from) / factor, at + (to - at) / factor);
  }

  pan(part) {
    const [from, to] = this.view;
    const by = Math.min(Math.max(part * (to - from), -from), this.length() - to);
    this.show(from + by, to + by);
  }

  /** Brings an op into sight, at a size at which it can be seen. */
  reveal(op) {
    const [from, to] = this.view;
    const [start, end] = [this.startOf(op), this.endOf(op)];
    if (start >= from && end <= to) return;
    const half = Math.max((to - from) / 2, end - start);
    this.show((start + end) / 2 - half, (start + end) / 2 + half);
  }

  /** Brings some ops into sight: shows them alone if they are not all in sight. */
  revealSpan(first, last) {
    const [from, to] = this.view;
    const [start, end] = [this.startOf(first), this.endOf(last)];
    const isInSight = start >= from && end <= to && (end - start) * 3 >= to - from;
    if (!isInSight) this.show(start - (end - start) * 0.1, end + (end - start) * 0.1);
  }

  resize() {
    const scale = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth || 800;
    this.plot = Math.max(50, this.width - GUTTER - RIGHT);
    this.layOut();
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.height * scale);
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.redraw();
  }

  /** Where each track begins. */
  layOut() {
    const tracks = [['axis', ROW.axis]];
    if (launches.length > 1) tracks.push(['launches', ROW.launch]);
    if (this.modules.length) tracks.push(['modules', ROW.module * this.modules.length]);
    if (nDepths) tracks.push(['loops', ROW.loop * nDepths + 4]);
    tracks.push(['ops', ROW.op], ['lx', ROW.lx], ['hbm', ROW.bars], ['time', ROW.bars]);
    this.tracks = {};
    let y = 0;
    for (const [name, height] of tracks) {
      this.tracks[name] = { y, height };
      y += height + (['axis', 'launches', 'modules', 'loops'].includes(name) ? 2 : ROW.gap);
    }
    this.height = y;
  }

  redraw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.draw();
    });
  }

  draw() {
    const { context, pen } = this;
    this.colours = readColours();
    pen.begin();
    context.clearRect(0, 0, this.width, this.height);
    context.textBaseline = 'middle';
    this.drawAxis();
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, this.plot, this.height);
    context.clip();
    this.drawMarks();
    this.drawLaunches();
    this.drawModules();
    this.drawLoops();
    this.drawOps();
    this.drawScratchpad();
    this.drawBars('hbm', mostHbm, [[(op) => op.bytes.hbm_read, this.colours.read], [(op) => op.bytes.hbm_written, this.colours.written]]);
    this.drawBars('time', mostUs, [[(op) => op.us, this.colours.time]]);
    this.drawLife();
    context.restore();
    this.drawLabels();
    this.nFrames += 1;
    this.canvas.dataset.drawn = pen.nDrawn;
    this.canvas.dataset.frames = this.nFrames;
  }

  drawAxis() {
    const { pen, colours } = this;
    const [from, to] = this.view;
    const step = niceStep(to - from, Math.max(2, Math.floor(this.plot / 90)), [1, 2, 5], 10);
    const fine = (to - from) / 1e6;
    const first = this.mode === 'time' && step <= 1 ? niceStep((to - from) * 1000, Math.max(2, Math.floor(this.plot / 90)), [1, 2, 5], 10) / 1000 : step;
    for (let at = Math.ceil(from / first - fine) * first; at <= to + fine; at += first) {
      const x = this.x(at);
      pen.line([[x, ROW.axis - 4], [x, this.height - ROW.gap]], colours.soft);
      const label = this.mode === 'time' ? `${Number(at.toFixed(3))} us` : `op ${Math.round(at)}`;
      pen.text(label, x, ROW.axis / 2, colours.dim, { align: x > this.width - 50 ? 'right' : x < GUTTER + 20 ? 'left' : 'center' });
    }
  }

  /** Columns behind the op that is selected and the one under the pointer. */
  drawMarks() {
    const top = this.tracks.ops.y;
    const mark = (op, colour) => {
      if (op === null || !ops[op]) return;
      const x = this.x(this.startOf(op));
      this.pen.box(x, top, Math.max(1, this.x(this.endOf(op)) - x), this.height - top - ROW.gap, colour);
    };
    mark(this.state.op(), this.colours.mark);
    mark(this.state.hovered, this.colours.shade);
  }

  /** Spans with a bracket or a box that lie in sight, with pixels. */
  span(first, last) {
    const left = this.x(this.startOf(first));
    const right = this.x(this.endOf(last));
    return right < GUTTER || left > GUTTER + this.plot ? null : [Math.max(left, GUTTER - 9), Math.min(right, GUTTER + this.plot + 9)];
  }

  drawLaunches() {
    const track = this.tracks.launches;
    if (!track) return;
    let behind = -Infinity;
    for (const { launch, first, last, index } of launches) {
      const span = last >= first ? this.span(first, last) : null;
      if (!span || span[1] - behind < LEAST) continue;
      const [left, right] = [Math.max(span[0], behind), span[1]];
      behind = right;
      this.pen.box(left + 0.5, track.y, right - left - 1, track.height - 2, this.colours.soft);
      this.pen.text(launch.bundle, Math.max(left, GUTTER) + 5, track.y + track.height / 2, this.colours.dim, { most: right - Math.max(left, GUTTER) - 8 });
      this.pen.hit('launch', index, left, track.y, right - left, track.height);
    }
  }

  /** Modules as boxes, inner ones below outer ones; those that are narrower than a few pixels are left out. */
  drawModules() {
    const track = this.tracks.modules;
    if (!track) return;
    const { pen, colours } = this;
    this.modules.forEach((runs, level) => {
      const y = track.y + ROW.module * level;
      let behind = -Infinity;
      for (const { group, first, last } of runs) {
        const span = this.span(first, last);
        if (!span || span[1] - behind < LEAST) continue;
        const [left, right] = [Math.max(span[0], behind), span[1]];
        behind = right;
        pen.box(left + 0.5, y, right - left - 1, ROW.module - 2, colours.soft);
        if (this.state.is('group', group.index)) pen.frame(left + 1.5, y + 1, right - left - 3, ROW.module - 4, colours.text, 2);
        const start = Math.max(left, GUTTER);
        if (right - start > 16) pen.text(group.label, start + 4, y + ROW.module / 2 - 1, colours.text, { most: right - start - 6 });
        pen.hit('group', group.index, left, y, right - left, ROW.module);
      }
    });
  }

  drawLoops() {
    const track = this.tracks.loops;
    if (!track) return;
    const behind = [];
    for (const { loop, depth, first, last, index } of loops) {
      const span = this.span(first, last);
      if (!span || span[1] - (behind[depth] ?? -Infinity) < LEAST) continue;
      const [left, right] = span;
      behind[depth] = right;
      const y = track.y + ROW.loop * depth;
      const isChosen = this.state.is('loop', index);
      const colour = isChosen ? this.colours.text : this.colours.accent;
      this.pen.line([[left + 1, y + ROW.loop - 1], [left + 1, y + 2], [right - 1, y + 2], [right - 1, y + ROW.loop - 1]], colour, 2);
      const middle = (Math.max(left, GUTTER) + Math.min(right, GUTTER + this.plot)) / 2;
      const count = loop.symbol ? `${loop.symbol} (up to ${loop.count})` : `${loop.count}`;
      this.pen.text(`${count} × ${loop.dim}`, middle, y + 10, this.colours.text, { align: 'center', most: right - left - 8 });
      this.pen.hit('loop', index, left, y, right - left, ROW.loop);
    }
  }

  /** Visits the ops in sight, those that are narrower than a few pixels together: `(first, last, left, right)`. */
  visit(least, visit) {
    if (!ops.length) return;
    const end = this.view[1];
    let op = this.opAt(this.view[0]);
    while (op < ops.length && this.startOf(op) <= end) {
      const left = this.x(this.startOf(op));
      let last = op;
      while (last + 1 < ops.length && this.x(this.endOf(last)) - left < least && this.startOf(last + 1) <= end) last += 1;
      visit(op, last, left, Math.max(this.x(this.endOf(last)), left + 1));
      op = last + 1;
    }
  }

  drawOps() {
    const { pen, colours } = this;
    const { y, height } = this.tracks.ops;
    this.visit(LEAST, (first, last, left, right) => {
      const isOne = first === last;
      const gap = right - left > 4 ? 1 : 0;
      pen.box(left, y, right - left - gap, height - 4, isOne ? colours[kinds[first]] : colours.other);
      const start = Math.max(left, GUTTER);
      if (isOne && right - start > 22) pen.text(ops[first].function, start + 4, y + height / 2 - 1, colours['on-colour'], { most: right - start - 7 });
      if (isOne && this.state.is('op', first)) pen.frame(left + 1, y + 1, right - left - gap - 2, height - 6, colours.text, 2);
      pen.hit(isOne ? 'op' : 'ops', isOne ? first : [first, last], left, y, right - left, height);
    });
  }

  /** The bytes at the top of the scratchpad's picture: all of LX, or what is used of it where that is little. */
  topBytes() {
    const capacity = report.target.lx_bytes || 0;
    const isSmall = peakBytes * 4 < capacity;
    return { capacity, peak: peakBytes, top: Math.max(1, isSmall ? peakBytes * 1.15 : Math.max(peakBytes, capacity)) };
  }

  drawScratchpad() {
    const { pen, colours } = this;
    const { y, height } = this.tracks.lx;
    const { capacity, peak, top } = this.topBytes();
    const of = (bytes) => y + height * (1 - bytes / top);
    const step = peak ? niceStep(top, 6, [1, 2, 4, 8], 16) : 0;
    for (let bytes = 0; step && bytes <= top; bytes += step) pen.line([[GUTTER, of(bytes)], [GUTTER + this.plot, of(bytes)]], colours.soft);
    this.axisStep = step;
    const seen = new Set();
    const near = this.state.near();
    for (let index = 0; index < nLxValues; index += 1) {
      const value = values[index];
      const span = this.span(value.op, value.last_op);
      if (!span) continue;
      const [left, right] = span;
      const [high, low] = [of(value.lx_offset_bytes + value.bytes), of(value.lx_offset_bytes)];
      // Of boxes that fill the same pixels, one.
      const place = right - left < LEAST ? `${Math.floor(left / LEAST)} ${Math.round(high)} ${Math.round(low)}` : null;
      if (place && seen.has(place)) continue;
      if (place) seen.add(place);
      const [width, tall] = [Math.max(1, right - left - (right - left > 4 ? 1 : 0)), Math.max(1, low - high - (low - high > 4 ? 1 : 0))];
      this.context.globalAlpha = near && !near.has(value.index) ? 0.35 : 1;
      pen.box(left, high, width, tall, colours[kinds[value.op]]);
      if (value.takes_over !== undefined && width > 4) pen.box(left, high, 2.5, tall, colours.text);
      const start = Math.max(left, GUTTER);
      const room = right - start - 7;
      if (tall > 12 && room > 16) {
        pen.text(nameOf(value), start + 5, high + Math.min(tall / 2, 9), colours['on-colour'], { most: room });
        if (tall > 26) pen.text(bytesText(value.bytes), start + 5, high + 22, colours['on-colour'], { most: room });
      }
      this.context.globalAlpha = 1;
      if (this.state.is('value', value.index)) pen.frame(left + 1, high + 1, width - 2, tall - 2, colours.text, 2);
      pen.hit('value', value.index, left, high, width, tall);
    }
    if (capacity > 0 && capacity <= top) pen.line([[GUTTER, of(capacity)], [GUTTER + this.plot, of(capacity)]], colours.above, 1.5);
    if (!nLxValues) pen.text('no value is in LX', GUTTER + 10, y + height / 2, colours.dim);
  }

  /** Bars of an op's figures, one part on the other; of ops that share a pixel, the highest. */
  drawBars(name, most, parts) {
    const { pen } = this;
    const { y, height } = this.tracks[name];
    const bottom = y + height;
    pen.line([[GUTTER, bottom], [GUTTER + this.plot, bottom]], this.colours.line);
    if (!most) return;
    this.visit(1, (first, last, left, right) => {
      let highest = first;
      const sum = (op) => parts.reduce((total, [part]) => total + part(ops[op]), 0);
      for (let op = first + 1; op <= last; op += 1) if (sum(op) > sum(highest)) highest = op;
      let top = bottom;
      for (const [part, colour] of parts) {
        const tall = (part(ops[highest]) / most) * (height - 4);
        if (tall <= 0) continue;
        top -= tall;
        pen.box(left, top, Math.max(1, right - left - (right - left > 4 ? 1 : 0)), tall, colour);
      }
      pen.hit(name, highest, left, y, right - left, height);
    });
  }

  /** The live range of the value in HBM that is selected: a line above the traffic, with a mark at each op that uses it. */
  drawLife() {
    const chosen = this.state.chosen;
    const value = chosen && chosen.kind === 'value' ? values[chosen.index] : null;
    const span = value && value.memory !== 'lx' ? this.span(value.first_op, value.last_op) : null;
    if (!span) return;
    const y = this.tracks.hbm.y + 1;
    this.pen.line([[span[0], y], [span[1], y]], this.colours.text, 2);
    let behind = -Infinity;
    for (const op of [...value.readers, ...(value.op === undefined ? [] : [value.op])].sort((a, b) => a - b)) {
      const at = this.span(op, op);
      if (!at || at[0] - behind < LEAST) continue;
      [behind] = at;
      this.pen.box(at[0], y - 4, Math.max(2, Math.min(at[1] - at[0], 5)), 9, this.colours.text);
    }
    this.pen.hit('value', value.index, span[0], y - 4, span[1] - span[0], 8);
  }

  /** What stands left of the tracks and right of the scratchpad. */
  drawLabels() {
    const { pen, colours } = this;
    const { tracks } = this;
    const bold = '600 12px system-ui, "DejaVu Sans", sans-serif';
    const label = (track, text, more) => {
      pen.text(text, 10, track.y + 11, colours.text, { font: bold, most: GUTTER - 14 });
      (more || []).forEach((line, number) => pen.text(line, 10, track.y + 27 + 14 * number, colours.dim, { most: GUTTER - 14 }));
    };
    if (tracks.launches) label(tracks.launches, 'Launches');
    if (tracks.modules) label(tracks.modules, 'Modules');
    if (tracks.loops) label(tracks.loops, 'Loops');
    label(tracks.ops, 'Ops');
    label(tracks.lx, 'LX per core');
    label(tracks.hbm, 'HBM traffic', mostHbm ? [bytesText(mostHbm), 'max per op'] : ['not known yet']);
    label(tracks.time, 'Modeled time', mostUs ? [usText(mostUs), 'max per op'] : ['not known yet']);
    const { capacity, peak, top } = this.topBytes();
    for (let bytes = this.axisStep; this.axisStep && bytes <= top; bytes += this.axisStep) {
      const y = tracks.lx.y + tracks.lx.height * (1 - bytes / top);
      if (y > tracks.lx.y + 22) pen.text(axisBytes(bytes, this.axisStep), GUTTER - 6, y, colours.dim, { align: 'right' });
    }
    if (!capacity) return;
    const x = GUTTER + this.plot + 8;
    const used = tracks.lx.height * Math.min(1, peak / capacity);
    pen.box(x, tracks.lx.y, 10, tracks.lx.height, colours.soft);
    pen.box(x, tracks.lx.y + tracks.lx.height - used, 10, used, colours.accent);
    pen.hit('capacity', 0, x, tracks.lx.y, 10, tracks.lx.height);
  }
}
