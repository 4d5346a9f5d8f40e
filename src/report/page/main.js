// Puts the page together: a selection is the same in all views.

const byId = (id) => document.getElementById(id);

const state = {
  chosen: null,
  hovered: null,
  tab: 'gap',
  is(kind, index) {
    return this.chosen !== null && this.chosen.kind === kind && this.chosen.index === index;
  },
  /** The op that is selected, or that writes the selected value. */
  op() {
    if (this.chosen === null) return null;
    if (this.chosen.kind === 'op') return this.chosen.index;
    return this.chosen.kind === 'value' ? values[this.chosen.index].op ?? null : null;
  },
  /** The values that the selection reads or writes; none without a selection of that kind. */
  near() {
    if (this.chosen === null) return null;
    if (this.chosen.kind === 'value') return values[this.chosen.index].memory === 'lx' ? new Set([this.chosen.index]) : null;
    if (this.chosen.kind !== 'op') return null;
    const near = new Set([...readsOf[this.chosen.index], ...writesOf[this.chosen.index]].map((value) => value.index));
    return [...near].some((index) => index < nLxValues) ? near : null;
  },
};

/** Returns a figure with a gauge: the bound, or the used part, as a part of the whole. */
function figure(what, value, more, part, colour, note) {
  const gauge = make('div', 'gauge');
  const whole = make('i');
  whole.style.width = '100%';
  whole.style.background = colour === 'accent' ? 'transparent' : 'var(--above)';
  const least = make('i');
  least.style.width = `${(100 * Math.min(1, part)).toFixed(1)}%`;
  least.style.background = `var(--${colour})`;
  gauge.append(whole, least);
  const element = make('div', 'figure', make('div', 'what', what, make('span', '', note)), make('div', 'value', value, ' ', make('small', '', more)), gauge);
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
  const isPerUse = bound.hbm_per_use !== undefined;
  const perUse = isPerUse ? ' Each use of a constant counts here, since equal weights of several layers are one constant.' : '';
  const besideBound = (what, plan, least, text) => {
    const ratio = plan / least;
    const times = Number.isFinite(ratio) ? `${ratio.toFixed(2)} × the bound${isPerUse ? ' per use' : ''}` : '';
    return figure(what, text(plan), `bound ${text(least)}`, plan ? least / plan : 1, 'bound', times);
  };
  const hbm = besideBound('HBM traffic', hbmOf(total), bound.hbm_per_use ?? bound.hbm, bytesText);
  Object.assign(hbm.dataset, { name: 'hbm', plan: hbmOf(total), bound: bound.hbm, gap: gap.hbm });
  hbm.title = `${exact(hbmOf(total))} B: ${exact(total.hbm_read)} read, ${exact(total.hbm_written)} written; `
    + `lower bound of all plans ${exact(bound.hbm)} B, gap ${exact(gap.hbm)} B.${perUse}`;
  const us = besideBound('Modeled time', time.estimate_us, bound.us_per_use ?? bound.us, usText);
  Object.assign(us.dataset, { name: 'us', plan: time.estimate_us, bound: bound.us, gap: gap.us });
  us.title = `${time.estimate_us} us, between ${time.low_us} and ${time.high_us}; lower bound of all plans ${bound.us} us, gap ${gap.us} us.${perUse}`;
  const peak = report.launches.reduce((most, launch) => Math.max(most, launch.lx_peak_bytes), 0);
  const capacity = report.target.lx_bytes || 0;
  const lx = figure('LX peak', bytesText(peak), `of ${bytesText(capacity)} per core`, capacity ? peak / capacity : 0, 'accent', capacity ? `${((100 * peak) / capacity).toFixed(1)} %` : '');
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
    entry('read', 'read from HBM'), entry('written', 'written to HBM'), entry('text', 'thick edge: in-place reuse'),
    make('span', 'hint', 'wheel zooms, drag moves, click selects'),
  );
}

const timeline = new Timeline(byId('canvas'), state);

// Lists.

byId('ops-pane').style.setProperty('--brackets', `${Math.max(1, nDepths) * 7 + 5}px`);
const opTable = new OpTable(byId('ops'), state);
let lineList = null;
if (lines.length) {
  byId('source-name').textContent = data.sources.length > 1 ? `${data.sources.length} files` : data.sources[0].file;
  lineList = new List(byId('source'), 18, lines.length, 'option', (row, index) => {
    fillLine(row, index);
    row.classList.toggle('selected', state.op() !== null && lineOfOp[state.op()] === index);
  });
} else {
  const reason = 'This page has no lines of the program: it came from standard input, or as bytecode.';
  byId('source').append(make('div', 'empty', reason));
}

byId('by').append(...Object.entries(GROUPINGS).filter(([, { isOffered }]) => isOffered).map(([by, { title }]) => {
  const option = make('option', '', title);
  option.value = by;
  return option;
}));

/** Shows how the list is grouped, sorted and filtered, and notes it in the address. */
function showTable() {
  const { by, sort, isDown, filter, nShown } = opTable;
  byId('by').value = by;
  if (byId('filter').value !== filter) byId('filter').value = filter;
  byId('ops-count').textContent = filter ? `${nShown} of ${ops.length}` : `${ops.length}`;
  byId('fold').disabled = !GROUPINGS[by].pathOf;
  byId('unfold').disabled = !GROUPINGS[by].pathOf;
  for (const button of byId('ops-head').querySelectorAll('button')) {
    const isSorted = button.dataset.sort === sort;
    button.setAttribute('aria-pressed', isSorted);
    button.lastChild.textContent = isSorted ? (isDown ? '▾' : '▴') : '';
  }
  address.write();
}

/** Changes the list, and then what is shown of its state. */
function changeTable(change) {
  change();
  showTable();
}

byId('ops-head').append(make('div'), ...Object.entries(COLUMNS).map(([sort, { head, title, isLargestFirst }]) => {
  const button = make('button', '', head);
  button.append(make('span', 'order'));
  button.dataset.sort = sort;
  button.title = isLargestFirst ? `Sort by ${title}, largest first` : `Sort by ${title}`;
  button.setAttribute('aria-label', button.title);
  const isDown = () => (opTable.sort === sort ? !opTable.isDown : Boolean(isLargestFirst));
  button.addEventListener('click', () => changeTable(() => {
    opTable.setSort(sort, isDown());
    byId('ops').scrollTop = 0;
    opTable.list.update();
  }));
  return button;
}));
byId('by').addEventListener('change', () => changeTable(() => opTable.setGrouping(byId('by').value)));
byId('fold').addEventListener('click', () => opTable.setAllOpen(false));
byId('unfold').addEventListener('click', () => opTable.setAllOpen(true));
byId('filter').addEventListener('input', () => changeTable(() => opTable.setFilter(byId('filter').value)));

// The selection.

const TABS = { gap: 'Bound', details: 'Details' };
if (report.kernels && report.kernels.length) TABS.kernels = 'Kernels';

function fillSide() {
  byId('tabs').replaceChildren(...Object.entries(TABS).map(([name, text]) => {
    const tab = make('button', '', text);
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-selected', state.tab === name);
    tab.id = `tab-${name}`;
    tab.addEventListener('click', () => {
      state.tab = name;
      fillSide();
      address.write();
    });
    return tab;
  }));
  const content = {
    gap: gapDetails,
    kernels: kernelDetails,
    details: () => (state.chosen ? DETAILS[state.chosen.kind](state.chosen.index) : [make('p', 'dim', 'Select an op, a group, a value, a loop or a line.')]),
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

/** Clears the selection. */
function forget() {
  state.chosen = null;
  showChosen();
}

function showChosen() {
  const op = state.op();
  const { chosen } = state;
  if (chosen && (chosen.kind === 'group' || op !== null)) opTable.reveal();
  if (op !== null && ops[op]) {
    if (lineList && lineOfOp[op] !== null) lineList.reveal(lineOfOp[op]);
    timeline.reveal(op);
  }
  if (chosen && chosen.kind === 'group') timeline.revealSpan(allGroups[chosen.index].first, allGroups[chosen.index].last);
  opTable.mark();
  if (lineList) lineList.mark('selected', (row) => op !== null && lineOfOp[op] === row);
  fillSide();
  timeline.redraw();
  showTable();
}

function hover(op) {
  if (state.hovered === op) return;
  state.hovered = op;
  opTable.mark();
  timeline.redraw();
}

byId('ops').addEventListener('click', (event) => {
  const row = event.target.closest('.row');
  if (!row) return;
  if (row.dataset.group === undefined) choose('op', Number(row.dataset.op));
  else if (event.target.closest('.toggle')) opTable.toggle(allGroups[row.dataset.group]);
  else choose('group', Number(row.dataset.group));
});
byId('ops').addEventListener('dblclick', (event) => {
  const row = event.target.closest('.group-row');
  if (row && !event.target.closest('.toggle')) opTable.toggle(allGroups[row.dataset.group]);
});
byId('ops').addEventListener('mousemove', (event) => {
  const row = event.target.closest('.row');
  hover(row && row.dataset.op !== undefined ? Number(row.dataset.op) : null);
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

/** Selects the row of the list next to the selected one. */
function step(by) {
  const { rows, positionOf } = opTable;
  if (!rows.length) return;
  const position = positionOf.get(opTable.selected());
  const { group, op } = rows[position === undefined ? 0 : Math.min(Math.max(position + by, 0), rows.length - 1)];
  if (group) choose('group', group.index);
  else choose('op', op);
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
  const around = hit && (hit.kind === 'loop' ? loops[hit.index] : hit.kind === 'group' ? allGroups[hit.index] : null);
  if (around) timeline.show(timeline.startOf(around.first), timeline.endOf(around.last));
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
  const isTyping = event.target.closest && event.target.closest('input, select');
  const isFold = event.target === byId('ops') && (event.key === 'ArrowLeft' || event.key === 'ArrowRight');
  const isInPane = event.target.closest && event.target.closest('#side, #source') && event.key.startsWith('Arrow');
  const key = KEYS[event.key];
  if (!key || isTyping || isInPane || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (!isFold || !opTable.fold(event.key === 'ArrowRight')) key();
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

// The search and the address.

const search = new Search(byId('search'), byId('hits'), byId('found'), state);

/** Applies what an address says. */
function showAddress({ by, sort, isDown, filter, chosen, tab }) {
  Object.assign(opTable, { sort, isDown });
  opTable.setFilter(filter);
  opTable.setGrouping(by);
  state.chosen = chosen;
  state.tab = tab || (chosen ? 'details' : 'gap');
  showChosen();
  // A selection that is gone to drops a filter that hides it; one that an address has with the filter does not.
  if (opTable.filter !== filter) changeTable(() => opTable.setFilter(filter));
}
const address = new PageAddress(state, opTable, showAddress, (text) => { byId('notice').textContent = text; });

byId('app').hidden = false;
fillHeader();
fillLegend();
setAxis(timeline.mode);
setTheme(prefersDark.matches ? 'dark' : 'light');
timeline.resize();
opTable.update();
if (lineList) lineList.update();
const firstLine = lineOfOp.find((line) => line !== null);
if (lineList && firstLine !== undefined) lineList.reveal(firstLine);
address.read();
new ResizeObserver(() => {
  timeline.resize();
  opTable.list.update();
  if (lineList) lineList.update();
}).observe(byId('app'));

/** For scripts that drive the page. */
window.report_page = { timeline, state, choose, values, ops, loops, opTable, search, address, allGroups, groupTree };
