// The report, joined: which values an op reads and writes, which lines and loops it belongs to. No figure is computed here that the report has.

const data = JSON.parse(document.getElementById('data').textContent);
const report = data.report;
const ops = report.ops;

/** The lines of the files that ops stand in; where there are several, each behind a row with its name. */
const lines = [];
const rowsBefore = new Map();
for (const { file, lines: texts } of data.sources) {
  if (data.sources.length > 1) lines.push({ file, text: file });
  rowsBefore.set(file, lines.length);
  texts.forEach((text, index) => lines.push({ number: index + 1, text }));
}

/** The kinds of ops, as colours of the page. */
function kindOf(op) {
  const name = op.op.replace(/^spyre\./, '');
  if (name === 'reduce') return 'reduce';
  if (name === 'pointwise') return 'pointwise';
  if (name === 'matmul') return 'product';
  if (name === 'copy' || name === 'restickify' || name === 'insert') return 'move';
  if (name === 'gather') return 'gather';
  return 'other';
}
const kinds = ops.map(kindOf);
const KINDS = { product: 'matmuls', reduce: 'reductions', pointwise: 'elementwise', move: 'copies', gather: 'gathers', other: 'others' };

/** Values in LX, then those in HBM, with their place in `values`. */
const values = [
  ...report.explain.scratchpad.map((value) => ({ ...value, memory: 'lx', first_op: value.op })),
  ...report.explain.hbm,
];
values.forEach((value, index) => { value.index = index; });
const nLxValues = report.explain.scratchpad.length;
const peakBytes = report.explain.scratchpad.reduce((most, value) => Math.max(most, value.lx_offset_bytes + value.bytes), 0);

/** For each op the values that it reads and those that it writes. */
const readsOf = ops.map(() => []);
const writesOf = ops.map(() => []);
for (const value of values) {
  for (const reader of new Set(value.readers)) if (readsOf[reader]) readsOf[reader].push(value);
  if (value.op !== undefined && writesOf[value.op]) writesOf[value.op].push(value);
}

/** The loops, outer ones before inner ones, with their first and last op. */
const loops = [];
function addLoops(of, depth, around) {
  for (const loop of of || []) {
    const inside = loop.ops.map((op) => op.op);
    if (!inside.length) continue;
    const index = loops.length;
    const [first, last] = inside.reduce(([least, most], op) => [Math.min(least, op), Math.max(most, op)], [Infinity, -Infinity]);
    loops.push({ loop, depth, around, index, first, last });
    addLoops(loop.loops, depth + 1, index);
  }
}
addLoops(report.explain.loops, 0, null);
const nDepths = loops.reduce((most, loop) => Math.max(most, loop.depth + 1), 0);
const loopsOf = ops.map(() => []);
for (const loop of loops) for (let op = loop.first; op <= loop.last; op += 1) loopsOf[op].push(loop);

/** The launches with their first and last op. */
const launches = [];
for (const launch of report.launches) {
  const first = launches.length ? launches[launches.length - 1].last + 1 : 0;
  launches.push({ launch, first, last: first + launch.n_ops - 1, index: launches.length });
}
const launchOf = ops.map(() => null);
for (const each of launches) launchOf.fill(each, each.first, each.last + 1);

/** Returns the line of an op: that of the innermost frame in a file that is shown, those of the user's files first. */
function lineOf(op) {
  const frame = framesByInterest(op.location).find(({ file }) => file && rowsBefore.has(file));
  return frame ? rowsBefore.get(frame.file) + frame.line - 1 : null;
}
const lineOfOp = ops.map(lineOf);
const opsOfLine = new Map();
lineOfOp.forEach((line, op) => {
  if (line === null) return;
  if (!opsOfLine.has(line)) opsOfLine.set(line, []);
  opsOfLine.get(line).push(op);
});

const hbmOf = (bytes) => bytes.hbm_read + bytes.hbm_written;
/** Modeled time of an op above its least time, microseconds. */
const gapOf = (op) => op.gap_us || 0;
const lxOf = (bytes) => bytes.lx_read + bytes.lx_written;
const mostHbm = ops.reduce((most, op) => Math.max(most, hbmOf(op.bytes)), 0);
const mostGap = ops.reduce((most, op) => Math.max(most, gapOf(op)), 0);
const mostUs = ops.reduce((most, op) => Math.max(most, op.us), 0);
const endUs = ops.reduce((end, op) => Math.max(end, op.start_us + op.us), 0);

// Text.

const UNITS = [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]];
/** Bytes in the unit that reads best. */
function bytesText(bytes) {
  const unit = UNITS.find(([, size]) => Math.abs(bytes) >= size);
  return unit ? `${(bytes / unit[1]).toFixed(Math.abs(bytes) / unit[1] < 10 ? 2 : 1)} ${unit[0]}` : `${bytes} B`;
}
/** Bytes in one unit for a whole axis, which `step` is a whole number of. */
function axisBytes(bytes, step) {
  const unit = UNITS.find(([, size]) => step % size === 0);
  return bytes === 0 ? '0' : unit ? `${bytes / unit[1]} ${unit[0]}` : `${bytes} B`;
}
const exact = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d)(?<!\.\d*))/g, ' ');
const usText = (us) => `${us >= 100 ? us.toFixed(1) : us >= 1 ? us.toFixed(2) : us.toFixed(3)} us`;
const plural = (count, noun, nouns) => `${count} ${count === 1 ? noun : nouns || `${noun}s`}`;
const opName = (index) => `${ops[index].function} (op ${index})`;
/** Returns the name of a value, followed by its name in the model if it is an argument. */
function nameOf(value) {
  const number = /^arg(\d+)$/.exec(value.name);
  const own = number ? (report.arguments || [])[Number(number[1])] : undefined;
  return own && own !== value.name ? `${value.name} (${own})` : value.name;
}
const shapeText = (op) => op.iteration_space.map((size, dim) => (op.dims[dim] ? `${op.dims[dim]} ${size}` : `${size}`)).join(' × ');
const PLACES = { lx: 'LX', pool: 'pool', hbm: 'HBM' };

/** An element with a class and what stands in it: text, never markup. */
function make(tag, className, ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const part of content.flat(Infinity)) {
    if (part === null || part === undefined || part === '') continue;
    element.append(part instanceof Node ? part : document.createTextNode(String(part)));
  }
  return element;
}
