// Lists of which only the rows in sight exist.

class List {
  /** `fill(row, index)` writes a row that is empty. */
  constructor(element, rowHeight, count, fill) {
    Object.assign(this, { element, rowHeight, count, fill });
    this.rows = new Map();
    this.space = make('div', 'space');
    this.space.style.height = `${rowHeight * count}px`;
    element.append(this.space);
    element.addEventListener('scroll', () => this.update());
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
      row.setAttribute('role', 'option');
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
  row.classList.add('op-row');
  const chip = make('span', 'chip');
  chip.style.background = `var(--${kindOf(op)})`;
  const name = make('div', '', chip, op.function);
  name.title = `${op.op} ${op.function}: ${shapeText(op)}`;
  const place = make('div', `badge ${op.memory}`, PLACES[op.memory] || op.memory);
  place.title = op.reason || `the result lives in ${PLACES[op.memory] || op.memory}`;
  const line = lineOfOp[index];
  const source = line === null ? shortPlace(op.location) : (lines[line]?.text || '').trim();
  const text = make('div', 'text', op.module ? make('b', 'module', `${op.module} `) : '', source);
  text.title = [op.module, op.location].filter(Boolean).join(': ');
  row.append(
    brackets(index), make('div', 'number', index), name, place,
    bar(bytesText(hbmOf(op.bytes)), mostHbm ? hbmOf(op.bytes) / mostHbm : 0, 'read'),
    bar(op.us.toFixed(2), mostUs ? op.us / mostUs : 0, 'time'), text,
  );
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
    row.title = `${of.map(opName).slice(0, 6).join(', ')}${of.length > 6 ? ' …' : ''}: ${bytesText(hbm)} of HBM`;
  }
  row.append(make('div', 'number', lines[index].number || ''), heat, make('div', 'text', lines[index].text));
}
