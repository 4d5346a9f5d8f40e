// Details of the selected op, group, value, loop or launch, and the gap to the bound.

let choose = () => {};

/** A button that chooses something. */
function link(text, kind, index) {
  const button = make('button', 'link', text);
  button.addEventListener('click', () => choose(kind, index));
  return button;
}
const groupLink = (group, text) => link(text || group.label, 'group', group.index);
const opLink = (index) => (ops[index] ? link(opName(index), 'op', index) : make('span', '', `op ${index}`));
const valueText = (value) => (value.memory === 'lx' || value.memory === 'pool' ? `result of ${opName(value.op)}` : nameOf(value));
const valueLink = (value) => link(value.op !== undefined && ops[value.op] ? valueText(value) : nameOf(value), 'value', value.index);

/** The most links of one list. */
const MAX_LINKS = 40;
/** Returns links to ops, with the number of those that are left out. */
function opLinks(indices) {
  const shown = [...new Set(indices)];
  return [...spaced(shown.slice(0, MAX_LINKS).map(opLink)), shown.length > MAX_LINKS ? ` and ${shown.length - MAX_LINKS} more` : ''];
}

/** Returns the path of the module of an op as links to the groups. */
function modulePath(index) {
  if (!ops[index].module) return '';
  return groupsAround(groupTree('module').groupOf[index]).flatMap((group, level) => (level ? [' › ', groupLink(group)] : [groupLink(group)]));
}

/** Names and what is said of them; what is empty is left out. */
function table(rows) {
  const list = make('dl');
  for (const [name, ...content] of rows) {
    const shown = content.flat().filter((part) => part !== null && part !== undefined && part !== '');
    if (shown.length) list.append(make('dt', '', name), make('dd', '', shown));
  }
  return list;
}
const spaced = (parts) => parts.flatMap((part, number) => (number ? [', ', part] : [part]));

/** Why something is as it is. */
const reasonBox = (title, text) => (text ? make('div', 'item reason', make('div', 'head', title), make('p', '', text)) : null);

function opDetails(index) {
  const op = ops[index];
  const gap = report.gap.ops || [];
  const above = gap.find((part) => part.op === index);
  return [
    make('h3', '', `${op.function} `, make('small', '', `op ${index}, ${op.op}`)),
    table([
      ['module', modulePath(index)],
      ['source', frameList(op.location)],
      ['iteration space', shapeText(op)],
      ['work division', op.work.length ? `${op.work.join(' × ')} slices on ${plural(op.cores, 'core')}` : ''],
      ['in loops', spaced(loopsOf[index].map(({ loop, index: at }) => link(`${loop.count} × ${loop.dim}`, 'loop', at)))],
      ['result', `${PLACES[op.memory] || op.memory}${op.lx_offset_bytes === undefined ? '' : ` at ${exact(op.lx_offset_bytes)}`}, ${bytesText(op.result_bytes)}`],
      ['HBM', `${exact(op.bytes.hbm_read)} B read, ${exact(op.bytes.hbm_written)} B written`],
      ['LX', `${exact(op.bytes.lx_read)} B read, ${exact(op.bytes.lx_written)} B written`],
      ['modeled time', op.us ? `${op.us} us, from ${op.start_us} us` : ''],
      ['above its least time', gapOf(op) ? `${op.gap_us} us` : ''],
      ['relayout', op.is_for_layout ? 'only so that another op can read the value' : ''],
    ]),
    reasonBox('Why the result is not in LX', op.reason),
    above && reasonBox(`Why it takes ${usText(above.us)} above its least time`, above.why),
    make('h4', '', 'Reads'),
    ...readsOf[index].map(valueItem),
    make('h4', '', 'Writes'),
    ...writesOf[index].map(valueItem),
  ];
}

/** A value in a line or two. */
function valueItem(value) {
  const cost = value.memory === 'lx'
    ? `${bytesText(value.bytes)} per core at ${exact(value.lx_offset_bytes)}`
    : `${bytesText(value.hbm_read)} read, ${bytesText(value.hbm_written)} written`;
  return make('div', 'item', make('div', 'head', valueLink(value), make('span', `badge ${value.memory}`, PLACES[value.memory])), make('span', 'dim', cost));
}

function valueDetails(index) {
  const value = values[index];
  const isInLx = value.memory === 'lx';
  const life = `op ${value.first_op} to op ${value.last_op}`;
  const us = ops[value.last_op] && endUs
    ? `${ops[value.first_op].start_us} to ${(ops[value.last_op].start_us + ops[value.last_op].us).toFixed(3)} us` : '';
  const written = value.op === undefined ? '' : opLink(value.op);
  const reason = value.op === undefined || !ops[value.op] ? '' : ops[value.op].reason;
  const excess = isInLx ? 0 : value.hbm_read + value.hbm_written - value.needed;
  return [
    make('h3', '', `${nameOf(value)} `, make('small', '', isInLx ? 'in LX' : value.memory === 'pool' ? 'in the pool, in HBM' : 'in HBM')),
    table([
      ['written by', written],
      ['read by', opLinks(value.readers)],
      ['live range', life],
      ['modeled time', us],
      ['address', isInLx ? `${exact(value.lx_offset_bytes)} of ${exact(report.target.lx_bytes || 0)} B` : ''],
      ['bytes per core', isInLx ? `${exact(value.bytes)} B` : ''],
      ['in-place reuse', isInLx && value.takes_over !== undefined ? ['address of the dead result of ', opLink(value.takes_over)] : ''],
      ['HBM', isInLx ? '0 B' : `${exact(value.hbm_read)} B read, ${exact(value.hbm_written)} B written`],
      ['lower bound', isInLx ? '' : `${exact(value.needed)} B`],
      ['above the bound', isInLx ? '' : `${exact(Math.max(0, excess))} B`],
    ]),
    reasonBox('Why it moves more than its bound', value.why),
    value.why && value.why.includes(reason) ? null : reasonBox('Why it is not in LX', isInLx ? '' : reason),
  ];
}

function loopDetails(index) {
  const { loop, first, last, around } = loops[index];
  const item = (value) => make('div', 'item',
    make('div', 'head', value.op === undefined ? nameOf(value) : opLink(value.op), make('span', `badge ${value.memory}`, PLACES[value.memory] || value.memory)),
    make('span', 'dim', value.bytes ? bytesText(value.bytes) : '', `${value.lx_offset_bytes === undefined ? '' : ` at ${exact(value.lx_offset_bytes)}`}`),
    value.reason ? make('p', 'dim', value.reason) : null);
  const part = (title, of) => (of && of.length ? [make('h4', '', title), ...of.map(item)] : []);
  const bytes = (of) => `HBM ${bytesText(of.hbm_read)} read, ${bytesText(of.hbm_written)} written; LX ${bytesText(lxOf(of))} moved`;
  return [
    make('h3', '', `${loop.count} × ${loop.dim} `, make('small', '', loop.symbol ? `count '${loop.symbol}' is known at launch` : 'loop over tiles')),
    table([
      ['source', frameList(loop.location)],
      ['body', `${plural(loop.ops.length, 'op')}, op ${first} to op ${last}`],
      ['outer loop', around === null ? '' : link(`${loops[around].loop.count} × ${loops[around].loop.dim}`, 'loop', around)],
      ['all iterations', bytes(loop.bytes)],
      ['per iteration', bytes(loop.bytes_per_iteration)],
    ]),
    reasonBox('Why it is a separate loop', loop.why),
    ...part('Reads tiles of', loop.tiles_read),
    ...part('Loop-invariant', loop.invariant),
    ...part('Local to an iteration', loop.local),
    ...part('Loop-carried', loop.accumulators),
    ...part('Writes tiles of', loop.given),
    ...(loop.copied && loop.copied.length ? [make('h4', '', 'Copies')] : []),
    ...(loop.copied || []).map((copied) => make('div', 'item', make('div', 'head', opLink(copied.op), make('span', 'dim', bytesText(copied.bytes))), make('p', 'dim', copied.why))),
  ];
}

function launchDetails(index) {
  const { launch, first, last } = launches[index];
  const { cost } = launch;
  return [
    make('h3', '', launch.bundle),
    table([
      ['ops', `${launch.n_ops}, op ${first} to op ${last}`],
      ['executes', launch.n_executions],
      ['HBM', `${exact(launch.bytes.hbm_read)} B read, ${exact(launch.bytes.hbm_written)} B written`],
      ['LX', `${exact(lxOf(launch.bytes))} B moved, peak ${exact(launch.lx_peak_bytes)} B per core`],
      ['pool', `${exact(launch.pool_bytes)} B`],
      ['modeled time', `${cost.estimate_us} us, ${cost.low_us} to ${cost.high_us}; ${LIMITS[cost.limit] || cost.limit}`],
      ['HBM alone', `${cost.hbm_us} us`],
      ['compute alone', `${cost.compute_us} us`],
      ['op start-up', `${cost.fixed_us} us`],
    ]),
  ];
}

/** Words for the limits of a modeled time and for the bounds of HBM traffic that the report names. */
const LIMITS = { hbm: 'HBM-bound', compute: 'compute-bound', fixed: 'bound by op start-up' };
const BINDINGS = {
  compulsory: 'each argument, result and constant once',
  functions: 'each argument, result and constant once, and results that the back end writes to HBM only',
  products: 'each argument, result and constant once; matmul operands need more with this LX',
};

/** The rows for a bound that counts each use of a constant: equal weights of several layers are one constant. */
function perUseRows(bound) {
  if (bound.hbm_per_use === undefined) return [];
  return [
    ['HBM bound, per use', `${exact(bound.hbm_per_use)} B: a constant counts once per op that reads it, since equal weights are one constant`],
    ['time bound, per use', `${bound.us_per_use} us`],
  ];
}

/** What is above the bound, and why: the report's own lists. */
function gapDetails() {
  const { lower_bound: bound, gap } = report;
  const valueOf = (part) => values.findIndex((value) => value.memory !== 'lx' && value.name === part.name && value.op === part.op);
  const named = (part) => (part.op === undefined ? nameOf(part) : `${part.name} (op ${part.op})`);
  return [
    make('h3', '', 'Plan and lower bound'),
    table([
      ['HBM of the plan', `${exact(hbmOf(report.total))} B`],
      ['HBM lower bound', `${exact(bound.hbm)} B: ${BINDINGS[bound.binding] || bound.binding}`],
      ['gap', `${exact(gap.hbm)} B`],
      ['modeled time', `${report.time.estimate_us} us, ${report.time.low_us} to ${report.time.high_us}`],
      ['time lower bound', `${bound.us} us, ${LIMITS[bound.limit] || bound.limit}`],
      ['gap', `${gap.us} us`],
      ...perUseRows(bound),
    ]),
    make('h4', '', 'Values with the most HBM traffic above the bound'),
    ...(gap.values || []).map((part) => make('div', 'item reason',
      make('div', 'head', link(named(part), 'value', valueOf(part)), make('span', '', bytesText(part.hbm))), make('p', '', part.why))),
    make('h4', '', 'Ops with the most time above their least time'),
    ...(gap.ops || []).map((part) => make('div', 'item reason', make('div', 'head', opLink(part.op), make('span', '', usText(part.us))), make('p', '', part.why))),
    ...(report.tile_search || []).flatMap((found) => [
      make('h4', '', 'Tile search'),
      table([
        ['loops', found.nests.join(', ') || 'none'],
        ['with loops', `${found.us} us`],
        ['without loops', found.untiled_us === undefined ? 'not possible' : `${found.untiled_us} us`],
        ['estimated bound', found.least_us === undefined ? '' : `${found.least_us} us`],
        ['candidates', `${found.n_judged} evaluated${found.n_infeasible > 0 ? `, ${found.n_infeasible} infeasible` : ''}`
          + `${found.is_cut_short ? '; the search stopped at its budget' : ''}`],
      ]),
    ]),
  ];
}

/** The most inner groups and ops that the details of a group list. */
const MAX_PARTS = 12;

/** A group: its sums and their parts of the program, the groups in it, and the ops with the largest gap. */
function groupDetails(index) {
  const group = allGroups[index];
  const part = (value, of) => (of ? `, ${((100 * value) / of).toFixed(1)} % of the program` : '');
  const inGroup = opsIn(group);
  const kinds = new Map();
  for (const op of inGroup) kinds.set(KINDS[kindOf(ops[op])], (kinds.get(KINDS[kindOf(ops[op])]) || 0) + 1);
  const item = (text, us, gap) => make('div', 'item', make('div', 'head', text, make('span', '', usText(us))),
    gap ? make('span', 'dim', `${usText(gap)} above the least time`) : '');
  const inner = [...group.children].sort((one, other) => other.us - one.us);
  const worst = inGroup.filter((op) => gapOf(ops[op]) > 0).sort((one, other) => gapOf(ops[other]) - gapOf(ops[one]));
  const title = `${GROUPINGS[group.by].title}, ${plural(group.nOps, 'op')}`;
  return [
    make('h3', '', `${group.id} `, make('small', '', title)),
    table([
      ['in', group.parent ? groupLink(group.parent, group.parent.id) : ''],
      ['ops', `op ${group.first} to op ${group.last}: ${[...kinds].map(([kind, count]) => `${kind} ${count}`).join(', ')}`],
      ['modeled time', `${group.us.toFixed(3)} us${part(group.us, endUs)}`],
      ['above the least time', `${group.gap.toFixed(3)} us`],
      ['HBM', `${exact(group.hbm)} B${part(group.hbm, hbmOf(report.total))}`],
    ]),
    inner.length ? make('h4', '', 'Groups in it, by modeled time') : null,
    ...inner.slice(0, MAX_PARTS).map((child) => item(groupLink(child), child.us, child.gap)),
    inner.length > MAX_PARTS ? make('p', 'dim', `and ${inner.length - MAX_PARTS} more`) : null,
    worst.length ? make('h4', '', 'Ops with the largest gap') : null,
    ...worst.slice(0, MAX_PARTS).map((op) => item(opLink(op), ops[op].us, gapOf(ops[op]))),
  ];
}

const DETAILS = { op: opDetails, value: valueDetails, loop: loopDetails, launch: launchDetails, group: groupDetails };

/** What an op moves through HBM, by the names of the values. */
function movedText(op) {
  const names = (of) => of.filter((value) => value.memory !== 'lx').map((value) => (value.memory === 'pool' ? opName(value.op) : nameOf(value))).join(', ');
  return [['reads', names(readsOf[op])], ['writes', names(writesOf[op])]].filter(([, of]) => of).map(([verb, of]) => `${verb} ${of}`);
}

/** A value in a few lines: what it is, what it costs, how long it lives, and why it is where it is. */
function tipOfValue(value) {
  const life = `live from op ${value.first_op} to op ${value.last_op}`;
  const readers = [...new Set(value.readers)];
  const readBy = readers.length ? `read by ${readers.slice(0, 6).map(opName).join(', ')}${readers.length > 6 ? ' …' : ''}` : '';
  if (value.memory !== 'lx') {
    return [valueText(value), `HBM ${exact(value.hbm_read)} B read, ${exact(value.hbm_written)} B written, lower bound ${exact(value.needed)} B`, life, readBy, value.why];
  }
  const before = value.takes_over === undefined ? '' : `reuses the address of the dead result of ${opName(value.takes_over)}`;
  return [valueText(value), `${exact(value.bytes)} B per core at ${exact(value.lx_offset_bytes)}; no HBM traffic`, life, readBy, before];
}

/** A few lines for the pointer. */
function tipOf({ kind, index }) {
  if (kind === 'op' || kind === 'hbm' || kind === 'time') {
    const op = ops[index];
    return [opName(index), op.module, framesByInterest(op.location)[0].text, shapeText(op),
      `HBM ${exact(op.bytes.hbm_read)} B read, ${exact(op.bytes.hbm_written)} B written`, `${op.us} us modeled, on ${plural(op.cores, 'core')}`,
      ...(kind === 'hbm' ? movedText(index) : []),
      op.reason ? `not in LX: ${op.reason}` : `result in ${PLACES[op.memory] || op.memory}`];
  }
  if (kind === 'ops') return [`op ${index[0]} to op ${index[1]}`, `${index[1] - index[0] + 1} ops: zoom in to see each`];
  if (kind === 'value') return tipOfValue(values[index]);
  if (kind === 'loop') {
    const { loop, first, last } = loops[index];
    return [`${loop.count} × ${loop.dim}`, `op ${first} to op ${last}`, `per iteration: HBM ${bytesText(hbmOf(loop.bytes_per_iteration))}, LX ${bytesText(lxOf(loop.bytes_per_iteration))}`, loop.why];
  }
  if (kind === 'group') {
    const group = allGroups[index];
    return [group.id, plural(group.nOps, 'op'), `${usText(group.us)} modeled`, `HBM ${bytesText(group.hbm)}`];
  }
  if (kind === 'launch') return [launches[index].launch.bundle, plural(launches[index].launch.n_ops, 'op'), `${launches[index].launch.cost.estimate_us} us`];
  const peak = report.launches.reduce((most, launch) => Math.max(most, launch.lx_peak_bytes), 0);
  return ['LX per core', `peak ${exact(peak)} of ${exact(report.target.lx_bytes)} B`];
}
