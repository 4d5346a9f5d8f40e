// The list of ops: grouped, sorted and filtered.

const ROW_HEIGHT = 24;
/** Rows up to which a list opens groups by itself. */
const OPEN_ROWS = 100;

/** The columns: their heads, what they sort ops and groups by, and whether the largest comes first. */
const COLUMNS = {
  index: { head: '#', title: 'program order', ofOp: (index) => index, ofGroup: (group) => group.first },
  op: { head: 'op', title: 'name', ofOp: (index) => ops[index].function, ofGroup: (group) => group.label },
  result: { head: 'result', title: 'memory of the result', ofOp: (index) => ops[index].memory, ofGroup: () => '' },
  hbm: { head: 'HBM', title: 'HBM traffic', isLargestFirst: true, ofOp: (index) => hbmOf(ops[index].bytes), ofGroup: (group) => group.hbm },
  us: { head: 'us', title: 'modeled time', isLargestFirst: true, ofOp: (index) => ops[index].us, ofGroup: (group) => group.us },
  gap: {
    head: 'gap us', title: 'modeled time above the least time of the op', isLargestFirst: true,
    ofOp: (index) => gapOf(ops[index]), ofGroup: (group) => group.gap,
  },
  source: {
    head: 'source', title: 'place in the source',
    ofOp: (index) => {
      const [{ text, file, line }] = framesByInterest(ops[index].location);
      return file ? `${file}:${String(line).padStart(9)}` : text;
    },
    ofGroup: (group) => group.label,
  },
};

const textOfOp = [];
/** Returns what a search looks for in an op, in small letters. */
function searchText(index) {
  if (textOfOp[index] === undefined) {
    const op = ops[index];
    const line = lineOfOp[index] === null ? '' : lines[lineOfOp[index]]?.text || '';
    textOfOp[index] = [op.function, op.op, `op ${index}`, KINDS[kindOf(op)], op.module || '', op.location, line].join(' ').toLowerCase();
  }
  return textOfOp[index];
}

/** Returns whether an op has all of some words; `lx`, `hbm` and `pool` are the memory of its result. */
function hasWords(index, words) {
  return words.every((word) => (Object.hasOwn(PLACES, word) ? ops[index].memory === word : searchText(index).includes(word)));
}
const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

class OpTable {
  constructor(element, state) {
    Object.assign(this, { element, state, by: defaultGrouping(), sort: 'index', isDown: false, filter: '', rows: [], nShown: 0 });
    this.isOpen = new Map();
    this.list = new List(element, ROW_HEIGHT, 0, 'treeitem', (row, position) => this.fillRow(row, this.rows[position]));
    this.open(this.by);
  }

  /** Opens groups level by level, as long as few rows are shown. */
  open(by) {
    let level = groupTree(by).roots;
    let nRows = level.length;
    while (level.length) {
      nRows += level.reduce((sum, group) => sum + group.children.length + group.ops.length, 0);
      if (nRows > OPEN_ROWS) return;
      for (const group of level) this.isOpen.set(group, true);
      level = level.flatMap((group) => group.children);
    }
  }

  setGrouping(by) {
    if (by === this.by) return;
    this.by = by;
    this.open(by);
    this.update();
  }

  setSort(sort, isDown) {
    Object.assign(this, { sort, isDown });
    this.update();
  }

  setFilter(filter) {
    this.filter = filter;
    this.isFoldedInFilter = new Set();
    this.update();
  }

  setAllOpen(isOpen) {
    for (const group of groupTree(this.by).byId.values()) this.setOpen(group, isOpen);
    this.update();
  }

  setOpen(group, isOpen) {
    if (!this.filter) this.isOpen.set(group, isOpen);
    else if (isOpen) this.isFoldedInFilter.delete(group);
    else this.isFoldedInFilter.add(group);
  }

  shows(group) {
    return this.filter ? !this.isFoldedInFilter.has(group) : this.isOpen.get(group) === true;
  }

  /** Returns the rows below some groups and ops, sorted. */
  rowsOf(groups, inner, depth) {
    const { ofOp, ofGroup } = COLUMNS[this.sort];
    const entries = [
      ...groups.filter((group) => this.nMatches.get(group) > 0).map((group) => ({ group, depth, key: ofGroup(group), first: group.first })),
      ...inner.filter((op) => this.matches[op]).map((op) => ({ op, depth, key: ofOp(op), first: op })),
    ];
    const sign = this.isDown ? -1 : 1;
    const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
    return entries.sort((one, other) => sign * compare(one.key, other.key) || one.first - other.first);
  }

  /** Counts the ops that the filter leaves, per group. */
  countMatches() {
    const words = wordsOf(this.filter);
    this.matches = ops.map((op, index) => hasWords(index, words));
    this.nMatches = new Map();
    const { groupOf, byId } = groupTree(this.by);
    for (const group of byId.values()) this.nMatches.set(group, 0);
    this.nShown = 0;
    this.matches.forEach((isMatch, index) => {
      if (!isMatch) return;
      this.nShown += 1;
      for (let group = groupOf[index]; group; group = group.parent) this.nMatches.set(group, this.nMatches.get(group) + 1);
    });
  }

  /** Makes the rows again. */
  update() {
    this.countMatches();
    const isFlat = !GROUPINGS[this.by].pathOf;
    const { roots } = groupTree(this.by);
    const pending = this.rowsOf(roots, isFlat ? ops.map((op, index) => index) : [], 0).reverse();
    this.rows = [];
    this.positionOf = new Map();
    while (pending.length) {
      const row = pending.pop();
      this.positionOf.set(row.group || row.op, this.rows.length);
      this.rows.push(row);
      if (row.group && this.shows(row.group)) {
        const below = this.rowsOf(row.group.children, row.group.ops, row.depth + 1);
        for (let at = below.length - 1; at >= 0; at -= 1) pending.push(below[at]);
      }
    }
    this.list.clear(this.rows.length);
    this.list.update();
    this.mark();
  }

  /** Returns the row of what is selected. */
  selected() {
    const { chosen } = this.state;
    if (chosen && chosen.kind === 'group') return allGroups[chosen.index];
    return this.state.op();
  }

  mark() {
    const selected = this.selected();
    const isSelected = (position) => selected !== null && (this.rows[position].group || this.rows[position].op) === selected;
    this.list.mark('selected', isSelected);
    this.list.mark('hovered', (position) => this.state.hovered !== null && this.rows[position].op === this.state.hovered);
    for (const [position, row] of this.list.rows) row.setAttribute('aria-selected', isSelected(position));
    const id = selected === null || !this.positionOf.has(selected) ? null : idOfRow(selected);
    if (id) this.element.setAttribute('aria-activedescendant', id);
    else this.element.removeAttribute('aria-activedescendant');
  }

  /** Brings what is selected into sight: opens the groups around it, and drops a filter that hides it. */
  reveal() {
    const selected = this.selected();
    if (selected === null) return;
    if (typeof selected === 'object' && selected.by !== this.by) this.setGrouping(selected.by);
    const first = typeof selected === 'object' ? selected.first : selected;
    if (typeof selected === 'number' && !this.matches[selected]) this.setFilter('');
    if (typeof selected === 'object' && !this.nMatches.get(selected)) this.setFilter('');
    const parent = typeof selected === 'object' ? selected.parent : groupTree(this.by).groupOf[first];
    if (!this.positionOf.has(selected)) {
      for (const group of groupsAround(parent)) this.setOpen(group, true);
      this.update();
    }
    this.list.reveal(this.positionOf.get(selected));
    this.mark();
  }

  /** Folds or unfolds the group that is selected; returns whether there was something to do. */
  fold(isOpen) {
    const selected = this.selected();
    if (selected === null || typeof selected !== 'object' || this.shows(selected) === isOpen) return false;
    this.setOpen(selected, isOpen);
    this.update();
    return true;
  }

  toggle(group) {
    this.setOpen(group, !this.shows(group));
    this.update();
  }

  fillRow(row, { op, group, depth }) {
    row.classList.add('op-row');
    row.style.setProperty('--indent', `${Math.min(depth, 8) * 12}px`);
    row.setAttribute('aria-level', depth + 1);
    row.id = idOfRow(group || op);
    if (group) fillGroup(row, group, this.shows(group), this.nMatches.get(group));
    else fillOp(row, op);
  }
}

const idOfRow = (of) => (typeof of === 'object' ? `ops-group-${of.index}` : `ops-${of}`);

const sumText = (us) => us.toFixed(us >= 1000 ? 0 : 2);

/** A bar with a figure on it. */
function bar(text, part, colour) {
  const element = make('div', 'bar', text);
  element.style.setProperty('--part', `${(100 * part).toFixed(1)}%`);
  element.style.setProperty('--fill', `color-mix(in srgb, var(--${colour}) 45%, transparent)`);
  return element;
}

/** The brackets of the loops around an op. */
function brackets(index) {
  const element = make('div', 'brackets');
  for (const { depth, first, last } of loopsOf[index]) {
    const part = make('i', `${index === first ? 'first ' : ''}${index === last ? 'last' : ''}`.trim());
    part.style.left = `${2 + 7 * depth}px`;
    element.append(part);
  }
  return element;
}

function fillOp(row, index) {
  const op = ops[index];
  row.dataset.op = index;
  const chip = make('span', 'chip');
  chip.style.background = `var(--${kindOf(op)})`;
  const name = make('div', 'op-name', chip, op.function);
  name.title = `${op.op} ${op.function}: ${shapeText(op)}${op.module ? `\n${op.module}` : ''}`;
  const memory = make('div', `badge ${op.memory}`, PLACES[op.memory] || op.memory);
  memory.title = op.reason || `the result is in ${PLACES[op.memory] || op.memory}`;
  const line = lineOfOp[index];
  const text = line === null ? '' : (lines[line]?.text || '').trim();
  row.append(
    brackets(index), make('div', 'number', index), name, memory,
    bar(bytesText(hbmOf(op.bytes)), mostHbm ? hbmOf(op.bytes) / mostHbm : 0, 'read'),
    bar(op.us.toFixed(2), mostUs ? op.us / mostUs : 0, 'time'),
    bar(gapOf(op) ? gapOf(op).toFixed(2) : '', mostGap ? gapOf(op) / mostGap : 0, 'above'),
    make('div', 'text source', placeElement(op.location), text ? make('span', 'code', text) : ''),
  );
}

/** A group: its sums, as parts of those of the program. */
function fillGroup(row, group, isOpen, nMatches) {
  row.classList.add('group-row');
  row.dataset.group = group.index;
  row.setAttribute('aria-expanded', isOpen);
  const toggle = make('span', 'toggle', isOpen ? '▾' : '▸');
  toggle.setAttribute('aria-hidden', 'true');
  const label = make('div', 'op-name', toggle, make('bdi', '', group.label));
  label.title = group.id;
  const total = { hbm: hbmOf(report.total) || 1, us: endUs || 1 };
  const count = nMatches === group.nOps ? plural(group.nOps, 'op') : `${nMatches} of ${plural(group.nOps, 'op')}`;
  row.append(
    make('div'), make('div', 'number'), label,
    bar(bytesText(group.hbm), Math.min(1, group.hbm / total.hbm), 'read'), bar(sumText(group.us), Math.min(1, group.us / total.us), 'time'),
    bar(group.gap ? sumText(group.gap) : '', Math.min(1, group.gap / total.us), 'above'), make('div', 'text source', count),
  );
}
