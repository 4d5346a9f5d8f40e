// Lists of which only the rows in sight exist.

class List {
  /** `fill(row, index)` writes an empty row, and may give it an id of its own. */
  constructor(element, rowHeight, count, role, fill) {
    Object.assign(this, { element, rowHeight, count, role, fill });
    this.rows = new Map();
    this.space = make('div', 'space');
    element.append(this.space);
    element.addEventListener('scroll', () => this.update());
    this.resize(count);
  }

  resize(count) {
    this.count = count;
    this.space.style.height = `${this.rowHeight * count}px`;
  }

  /** Removes all rows, so that the next update writes them again. */
  clear(count) {
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.resize(count);
  }

  /** Makes the rows that have come into sight, and removes those that have left it. */
  update() {
    const { element, rowHeight, rows } = this;
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - 4);
    const last = Math.min(this.count - 1, Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + 4);
    for (const [index, row] of rows) {
      if (index < first || index > last) {
        row.remove();
        rows.delete(index);
      }
    }
    for (let index = first; index <= last; index += 1) {
      if (rows.has(index)) continue;
      const row = make('div', 'row');
      row.style.top = `${index * rowHeight}px`;
      row.style.height = `${rowHeight}px`;
      row.dataset.index = index;
      row.setAttribute('role', this.role);
      row.id = `${element.id}-${index}`;
      this.fill(row, index);
      element.append(row);
      rows.set(index, row);
    }
    element.dataset.rows = rows.size;
  }

  /** Marks rows with a class, and no others. */
  mark(className, isMarked) {
    for (const [index, row] of this.rows) row.classList.toggle(className, isMarked(index));
  }

  reveal(index) {
    const { element, rowHeight } = this;
    const top = index * rowHeight;
    if (top < element.scrollTop || top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top - element.clientHeight / 2 + rowHeight / 2;
    }
    this.update();
  }
}

/** Traffic of the ops of a line, beside the largest of a line. */
const hbmOfLine = new Map();
for (const [line, of] of opsOfLine) hbmOfLine.set(line, of.reduce((sum, op) => sum + hbmOf(ops[op].bytes), 0));
const mostOfLine = [...hbmOfLine.values()].reduce((most, bytes) => Math.max(most, bytes), 0);

function fillLine(row, index) {
  row.classList.add('line');
  if (lines[index].file) row.classList.add('file');
  const heat = make('div', 'heat');
  const hbm = hbmOfLine.get(index) || 0;
  heat.style.opacity = mostOfLine ? Math.sqrt(hbm / mostOfLine) : 0;
  const of = opsOfLine.get(index);
  if (of) {
    row.classList.add('has-ops');
    row.title = `${of.slice(0, 6).map(opName).join(', ')}${of.length > 6 ? ' …' : ''}: ${bytesText(hbm)} of HBM`;
  }
  row.append(make('div', 'number', lines[index].number || ''), heat, make('div', 'text', lines[index].text));
}
