// Deep links: the part of the address after `#` has the selection, the grouping, the order and the filter.

/** Kinds of selections in an address, with the number of each in the report. */
const SELECTABLE = { op: () => ops.length, value: () => values.length, loop: () => loops.length, launch: () => launches.length };

class PageAddress {
  /** `show` applies a state that was read; `say` shows what is wrong with an address. */
  constructor(state, table, show, say) {
    Object.assign(this, { state, table, show, say, written: null, timer: 0, defaultBy: table.by });
    window.addEventListener('hashchange', () => {
      if (window.location.hash !== this.written) this.read();
    });
  }

  text() {
    const { state, table } = this;
    const parts = new URLSearchParams();
    if (table.by !== this.defaultBy) parts.set('by', table.by);
    if (table.sort !== 'index' || table.isDown) {
      parts.set('sort', table.sort);
      if (table.isDown !== Boolean(COLUMNS[table.sort].isLargestFirst)) parts.set('order', table.isDown ? 'descending' : 'ascending');
    }
    if (table.filter) parts.set('filter', table.filter);
    if (state.chosen) parts.set(state.chosen.kind, state.chosen.kind === 'group' ? allGroups[state.chosen.index].id : state.chosen.index);
    if (state.tab !== (state.chosen ? 'details' : 'gap')) parts.set('tab', state.tab);
    const text = parts.toString();
    return text ? `#${text}` : '';
  }

  /** Writes the address a moment later, since browsers limit how often it may change. */
  write() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.writeNow(), 150);
  }

  writeNow() {
    clearTimeout(this.timer);
    // Another address that nothing has read yet stays.
    if (window.location.hash !== this.written) return;
    const text = this.text();
    if (text !== this.written) window.history.replaceState(null, '', text || window.location.href.split('#')[0]);
    this.written = window.location.hash;
  }

  /** Reads the address. Parts that name nothing of this report are reported, and the others apply. */
  read() {
    this.written = window.location.hash;
    const parts = new URLSearchParams(window.location.hash.slice(1));
    const wrong = [];
    const found = { by: this.defaultBy, sort: 'index', isDown: false, filter: '', chosen: null, tab: null };
    for (const [name, value] of parts) {
      if (!this.readPart(found, name, value, parts)) wrong.push(`${name}=${value}`);
    }
    this.say(wrong.length ? `not in this report: ${wrong.join(', ')}` : '');
    this.show(found);
  }

  readPart(found, name, value, parts) {
    if (name === 'by') {
      const isOffered = Object.hasOwn(GROUPINGS, value) && GROUPINGS[value].isOffered;
      if (isOffered) found.by = value;
      return isOffered;
    }
    if (name === 'sort' || name === 'order') {
      const [sort, order] = [parts.get('sort') || 'index', parts.get('order')];
      if (!Object.hasOwn(COLUMNS, sort) || !['ascending', 'descending', null].includes(order)) return false;
      Object.assign(found, { sort, isDown: order ? order === 'descending' : Boolean(COLUMNS[sort].isLargestFirst) });
      return true;
    }
    if (name === 'filter') {
      found.filter = value;
      return true;
    }
    if (name === 'tab') {
      const isTab = Object.hasOwn(TABS, value);
      if (isTab) found.tab = value;
      return isTab;
    }
    if (name === 'group') {
      const by = Object.hasOwn(GROUPINGS, parts.get('by') || '') ? parts.get('by') : this.defaultBy;
      const group = groupTree(by).byId.get(value);
      if (group) found.chosen = { kind: 'group', index: group.index };
      return Boolean(group);
    }
    const isIndex = Object.hasOwn(SELECTABLE, name) && /^\d+$/.test(value) && Number(value) < SELECTABLE[name]();
    if (isIndex) found.chosen = { kind: name, index: Number(value) };
    return isIndex;
  }
}
