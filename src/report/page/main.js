// Puts the page together: what is chosen is chosen everywhere.

const byId = (id) => document.getElementById(id);

const state = {
  chosen: null,
  hovered: null,
  tab: 'gap',
  is(kind, index) {
    return this.chosen !== null && this.chosen.kind === kind && this.chosen.index === index;
  },
  /** The op that is chosen, or that writes the value that is. */
  op() {
    if (this.chosen === null) return null;
    if (this.chosen.kind === 'op') return this.chosen.index;
    return this.chosen.kind === 'value' ? values[this.chosen.index].op ?? null : null;
  },
  /** The values that have to do with what is chosen; none if nothing is, or nothing in particular. */
  near() {
    if (this.chosen === null) return null;
    if (this.chosen.kind === 'value') return values[this.chosen.index].memory === 'lx' ? new Set([this.chosen.index]) : null;
    if (this.chosen.kind !== 'op') return null;
    const near = new Set([...readsOf[this.chosen.index], ...writesOf[this.chosen.index]].map((value) => value.index));
    return [...near].some((index) => index < nLxValues) ? near : null;
  },
};

/** A figure with a bar: what it is, beside the least, in parts of the larger one. */
function figure(what, value, more, part, colour, note) {
  const gauge = make('div', 'gauge');
  const whole = make('i');
  whole.style.width = '100%';
  whole.style.background = colour === 'accent' ? 'transparent' : 'var(--above)';
  const least = make('i');
  least.style.width = `${(100 * Math.min(1, part)).toFixed(1)}%`;
  least.style.background = `var(--${colour})`;
  gauge.append(whole, least);
  const element = make('div', 'figure', make('div', 'what', what, make('span', '', note)), make('div', 'value', value, make('small', '', more)), gauge);
  return element;
}

function fillHeader() {
  byId('program').textContent = report.program;
  const nExecutions = report.launches.reduce((sum, launch) => sum + launch.n_executions, 0);
  const parts = [plural(ops.length, 'op'), plural(report.launches.length, 'launch', 'launches')];
  if (nExecutions) parts.push(plural(nExecutions, 'execute'));
  if (loops.length) parts.push(plural(loops.length, 'loop'));
  byId('subtitle').textContent = parts.join(' · ');
  const { lower_bound: bound, time, total, gap } = report;
  const times = (ratio) => (Number.isFinite(ratio) ? `${ratio.toFixed(2)} × the bound` : '');
  const hbm = figure('HBM traffic', bytesText(hbmOf(total)), ` · bound ${bytesText(bound.hbm)}`, hbmOf(total) ? bound.hbm / hbmOf(total) : 1, 'bound', times(hbmOf(total) / bound.hbm));
  Object.assign(hbm.dataset, { name: 'hbm', plan: hbmOf(total), bound: bound.hbm, gap: gap.hbm });
  hbm.title = `${exact(hbmOf(total))} B: ${exact(total.hbm_read)} read, ${exact(total.hbm_written)} written; no plan moves less than ${exact(bound.hbm)} B; ${exact(gap.hbm)} B above that`;
  const us = figure('Modelled time', usText(time.estimate_us), ` · bound ${usText(bound.us)}`, time.estimate_us ? bound.us / time.estimate_us : 1, 'bound', times(time.estimate_us / bound.us));
  Object.assign(us.dataset, { name: 'us', plan: time.estimate_us, bound: bound.us, gap: gap.us });
  us.title = `${time.estimate_us} us, between ${time.low_us} and ${time.high_us}; no plan takes less than ${bound.us} us; ${gap.us} us above that`;
  const peak = report.launches.reduce((most, launch) => Math.max(most, launch.lx_peak_bytes), 0);
  const capacity = report.target.lx_bytes || 0;
  const lx = figure('Scratchpad', bytesText(peak), ` of ${bytesText(capacity)} a core`, capacity ? peak / capacity : 0, 'accent', capacity ? `${((100 * peak) / capacity).toFixed(1)} %` : '');
  Object.assign(lx.dataset, { name: 'lx', plan: peak, bound: capacity });
  byId('figures').append(hbm, us, lx);
}

function fillLegend() {
  const entry = (colour, text) => {
    const chip = make('i', 'chip');
    chip.style.background = `var(--${colour})`;
    return make('span', '', chip, text);
  };
  const kinds = new Set(ops.map(kindOf));
  byId('legend').append(
    ...Object.entries(KINDS).filter(([kind]) => kinds.has(kind)).map(([kind, text]) => entry(kind, text)),
    entry('read', 'read from HBM'), entry('written', 'written to HBM'), entry('text', 'thick edge: takes over an address'),
    make('span', 'hint', 'wheel zooms, drag moves, click chooses'),
  );
}

const timeline = new Timeline(byId('canvas'), state);

// Lists.

const head = byId('ops-head');
head.append(...['', '#', 'op', 'result', 'HBM', 'us', 'source'].map((name) => make('div', '', name)));
byId('ops-pane').style.setProperty('--brackets', `${Math.max(1, nDepths) * 7 + 5}px`);
byId('ops-count').textContent = `${ops.length}`;
const opList = new List(byId('ops'), 24, ops.length, (row, index) => {
  fillOp(row, index);
  row.classList.toggle('selected', state.op() === index);
});
let lineList = null;
if (lines.length) {
  byId('source-name').textContent = data.sources.length > 1 ? `${data.sources.length} files` : data.sources[0].file;
  lineList = new List(byId('source'), 18, lines.length, (row, index) => {
    fillLine(row, index);
    row.classList.toggle('selected', state.op() !== null && lineOfOp[state.op()] === index);
  });
} else {
  byId('source').append(make('div', 'empty', 'The lines of the program are not in this page: it came from standard input, or as bytecode.'));
}

// What is chosen.

const TABS = { gap: 'Bound', details: 'Details' };
if (report.kernels && report.kernels.length) TABS.kernels = 'Kernels';

function fillSide() {
  byId('tabs').replaceChildren(...Object.entries(TABS).map(([name, text]) => {
    const tab = make('button', '', text);
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-selected', state.tab === name);
    tab.id = `tab-${name}`;
    tab.addEventListener('click', () => { state.tab = name; fillSide(); });
    return tab;
  }));
  const content = {
    gap: gapDetails,
    kernels: kernelDetails,
    details: () => (state.chosen ? DETAILS[state.chosen.kind](state.chosen.index) : [make('p', 'dim', 'Choose an op, a value, a loop or a line to see what is known of it.')]),
  };
  byId('side').replaceChildren(...content[state.tab]().filter(Boolean));
  byId('side').scrollTop = 0;
}

choose = (kind, index) => {
  if (index < 0) return;
  state.chosen = { kind, index };
  state.tab = 'details';
  showChosen();
};

/** Chooses nothing. */
function forget() {
  state.chosen = null;
  showChosen();
}

function showChosen() {
  const op = state.op();
  if (op !== null && ops[op]) {
    opList.reveal(op);
    byId('ops').setAttribute('aria-activedescendant', `ops-${op}`);
    if (lineList && lineOfOp[op] !== null) lineList.reveal(lineOfOp[op]);
    timeline.reveal(op);
  }
  opList.mark('selected', (row) => row === op);
  if (lineList) lineList.mark('selected', (row) => op !== null && lineOfOp[op] === row);
  fillSide();
  timeline.redraw();
}

function hover(op) {
  if (state.hovered === op) return;
  state.hovered = op;
  opList.mark('hovered', (row) => row === op);
  timeline.redraw();
}

byId('ops').addEventListener('click', (event) => {
  const row = event.target.closest('.row');
  if (row) choose('op', Number(row.dataset.index));
});
byId('ops').addEventListener('mousemove', (event) => {
  const row = event.target.closest('.row');
  hover(row ? Number(row.dataset.index) : null);
});
byId('ops').addEventListener('mouseleave', () => hover(null));
byId('source').addEventListener('click', (event) => {
  const row = event.target.closest('.row');
  const of = row && opsOfLine.get(Number(row.dataset.index));
  if (!of) return;
  // Another click on the line goes to its next op.
  const at = of.indexOf(state.op());
  choose('op', of[(at + 1) % of.length]);
});

/** The op next to the one that is chosen. */
function step(by) {
  const op = state.op();
  if (ops.length) choose('op', op === null ? 0 : Math.min(Math.max(op + by, 0), ops.length - 1));
}

// The pointer on the timeline.

const canvas = byId('canvas');
const tip = byId('tip');
let drag = null;

function placeOf(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function showTip(event, hit) {
  if (!hit) {
    tip.hidden = true;
    return;
  }
  const [title, ...lines] = tipOf(hit).filter(Boolean);
  tip.replaceChildren(make('b', '', title), ...lines.map((line) => make('span', '', line)));
  tip.hidden = false;
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - width - 6))}px`;
  tip.style.top = `${Math.max(4, event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 12 : event.clientY + 18)}px`;
}

canvas.addEventListener('pointerdown', (event) => {
  drag = { x: event.clientX, view: [...timeline.view], hasMoved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener('pointermove', (event) => {
  if (drag) {
    const moved = event.clientX - drag.x;
    if (Math.abs(moved) > 3) drag.hasMoved = true;
    if (drag.hasMoved) {
      canvas.classList.add('drags');
      timeline.view = [...drag.view];
      timeline.pan(-moved / timeline.plot);
      showTip(event, null);
      return;
    }
  }
  const hit = timeline.pen.at(...placeOf(event));
  showTip(event, hit);
  const isOp = hit && ['op', 'hbm', 'time'].includes(hit.kind);
  hover(isOp ? hit.index : hit && hit.kind === 'value' ? values[hit.index].op : null);
});
canvas.addEventListener('pointerup', (event) => {
  const hasMoved = drag && drag.hasMoved;
  drag = null;
  canvas.classList.remove('drags');
  if (hasMoved) return;
  const hit = timeline.pen.at(...placeOf(event));
  if (!hit) return;
  if (hit.kind === 'ops') timeline.zoom(8, timeline.position(placeOf(event)[0]));
  else if (hit.kind === 'hbm' || hit.kind === 'time') choose('op', hit.index);
  else if (DETAILS[hit.kind]) choose(hit.kind, hit.index);
});
canvas.addEventListener('pointerleave', (event) => {
  showTip(event, null);
  hover(null);
});
canvas.addEventListener('dblclick', (event) => {
  const hit = timeline.pen.at(...placeOf(event));
  if (hit && hit.kind === 'loop') timeline.show(timeline.startOf(loops[hit.index].first), timeline.endOf(loops[hit.index].last));
});
canvas.addEventListener('wheel', (event) => {
  event.preventDefault();
  showTip(event, null);
  const isAlong = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (isAlong) timeline.pan((event.deltaX || event.deltaY) / timeline.plot);
  else timeline.zoom(Math.exp(-event.deltaY / 400), timeline.position(placeOf(event)[0]));
}, { passive: false });

// Keys and buttons.

const KEYS = {
  ArrowLeft: () => timeline.pan(-0.15), ArrowRight: () => timeline.pan(0.15), '+': () => timeline.zoom(1.5), '=': () => timeline.zoom(1.5),
  '-': () => timeline.zoom(1 / 1.5), 0: () => timeline.show(0, timeline.length()), ArrowUp: () => step(-1), ArrowDown: () => step(1),
  '/': () => byId('search').focus(), Escape: forget,
};
document.addEventListener('keydown', (event) => {
  const isTyping = event.target === byId('search');
  const isInPane = event.target.closest && event.target.closest('#side, #source') && event.key.startsWith('Arrow');
  const key = KEYS[event.key];
  if (!key || isTyping || isInPane || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  key();
});

function setAxis(mode) {
  if (mode !== timeline.mode) timeline.setMode(mode);
  byId('axis-time').setAttribute('aria-pressed', timeline.mode === 'time');
  byId('axis-ops').setAttribute('aria-pressed', timeline.mode === 'ops');
}
byId('axis-time').addEventListener('click', () => setAxis('time'));
byId('axis-ops').addEventListener('click', () => setAxis('ops'));
byId('axis-time').disabled = !endUs;
byId('zoom-in').addEventListener('click', () => timeline.zoom(1.5));
byId('zoom-out').addEventListener('click', () => timeline.zoom(1 / 1.5));
byId('zoom-all').addEventListener('click', () => timeline.show(0, timeline.length()));

const prefersDark = window.matchMedia('(prefers-color-scheme: dark)');
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  timeline.redraw();
}
byId('theme').addEventListener('click', () => setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
prefersDark.addEventListener('change', () => setTheme(prefersDark.matches ? 'dark' : 'light'));

// Search: Enter goes from match to match.

let matches = [];
byId('search').addEventListener('input', () => {
  const words = byId('search').value.toLowerCase();
  const text = (op, index) => `${op.function} ${op.op} ${op.module || ''} ${op.location} ${lineOfOp[index] === null ? '' : lines[lineOfOp[index]].text}`.toLowerCase();
  matches = words ? ops.flatMap((op, index) => (text(op, index).includes(words) ? [index] : [])) : [];
  byId('found').textContent = words ? plural(matches.length, 'op') : '';
});
byId('search').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !matches.length) return;
  const behind = matches.find((op) => op > (state.op() ?? -1));
  choose('op', behind ?? matches[0]);
});

byId('app').hidden = false;
fillHeader();
fillLegend();
fillSide();
setAxis(timeline.mode);
setTheme(prefersDark.matches ? 'dark' : 'light');
new ResizeObserver(() => {
  timeline.resize();
  opList.update();
  if (lineList) lineList.update();
}).observe(byId('app'));
timeline.resize();
opList.update();
if (lineList) lineList.update();
const firstLine = lineOfOp.find((line) => line !== null);
if (lineList && firstLine !== undefined) lineList.reveal(firstLine);

/** For scripts that drive the page. */
window.report_page = { timeline, state, choose, values, ops, loops };
