// What is known of the op, value, loop or launch that is chosen, and the summary of what is above the bound.

let choose = () => {};

/** A button that chooses something. */
function link(text, kind, index) {
  const button = make('button', 'link', text);
  button.addEventListener('click', () => choose(kind, index));
  return button;
}
const opLink = (index) => (ops[index] ? link(opName(index), 'op', index) : make('span', '', `op ${index}`));
const valueText = (value) => (value.memory === 'lx' || value.memory === 'pool' ? `result of ${opName(value.op)}` : nameOf(value));
const valueLink = (value) => link(value.op !== undefined && ops[value.op] ? valueText(value) : nameOf(value), 'value', value.index);

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
      ['module', op.module],
      ['place in the source', op.location],
      ['walks along', shapeText(op)],
      ['divided', op.work.length ? `${op.work.join(' × ')} slices on ${plural(op.cores, 'core')}` : ''],
      ['in loops', spaced(loopsOf[index].map(({ loop, index: at }) => link(`${loop.count} × ${loop.dim}`, 'loop', at)))],
      ['result', `${PLACES[op.memory] || op.memory}${op.lx_offset_bytes === undefined ? '' : ` at ${exact(op.lx_offset_bytes)}`}, ${bytesText(op.result_bytes)}`],
      ['HBM', `${exact(op.bytes.hbm_read)} B read, ${exact(op.bytes.hbm_written)} B written`],
      ['LX', `${exact(op.bytes.lx_read)} B read, ${exact(op.bytes.lx_written)} B written`],
      ['modelled time', op.us ? `${op.us} us, from ${op.start_us} us` : ''],
      ['moves sticks', op.is_for_layout ? 'only so that another op can read them' : ''],
    ]),
    reasonBox('Why the result is not in LX', op.reason),
    above && reasonBox(`${usText(above.us)} above its least time`, above.why),
    make('h4', '', 'Reads'),
    ...readsOf[index].map((value) => valueItem(value)),
    make('h4', '', 'Writes'),
    ...writesOf[index].map((value) => valueItem(value)),
  ];
}

/** A value in a line or two. */
function valueItem(value) {
  const cost = value.memory === 'lx'
    ? `${bytesText(value.bytes)} of a core at ${exact(value.lx_offset_bytes)}`
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
    make('h3', '', `${nameOf(value)} `, make('small', '', isInLx ? 'in the scratchpad' : value.memory === 'pool' ? 'in the pool, in HBM' : 'in HBM')),
    table([
      ['written by', written],
      ['read by', spaced([...new Set(value.readers)].map(opLink))],
      ['lives', life],
      ['modelled time', us],
      ['address', isInLx ? `${exact(value.lx_offset_bytes)} of ${exact(report.target.lx_bytes || 0)} B` : ''],
      ['bytes of a core', isInLx ? `${exact(value.bytes)} B` : ''],
      ['takes over', isInLx && value.takes_over !== undefined ? ['the place of the result of ', opLink(value.takes_over)] : ''],
      ['HBM', isInLx ? '0 B' : `${exact(value.hbm_read)} B read, ${exact(value.hbm_written)} B written`],
      ['no plan does without', isInLx ? '' : `${exact(value.needed)} B`],
      ['above that', isInLx ? '' : `${exact(Math.max(0, excess))} B`],
    ]),
    reasonBox('Why more is moved', value.why),
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
    make('h3', '', `${loop.count} × ${loop.dim} `, make('small', '', loop.symbol ? `as many as '${loop.symbol}' says at launch` : 'loop over tiles')),
    table([
      ['place in the source', loop.location],
      ['around', `${plural(loop.ops.length, 'op')}, op ${first} to op ${last}`],
      ['in', around === null ? '' : link(`${loops[around].loop.count} × ${loops[around].loop.dim}`, 'loop', around)],
      ['all iterations', bytes(loop.bytes)],
      ['one iteration', bytes(loop.bytes_per_iteration)],
    ]),
    reasonBox('Why it is a loop of its own', loop.why),
    ...part('Reads tiles of', loop.tiles_read),
    ...part('The same in every iteration', loop.invariant),
    ...part('Lives within an iteration', loop.local),
    ...part('Carried from iteration to iteration', loop.accumulators),
    ...part('Gives a tile of', loop.given),
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
      ['LX', `${exact(lxOf(launch.bytes))} B moved, ${exact(launch.lx_peak_bytes)} B in use at most`],
      ['pool', `${exact(launch.pool_bytes)} B`],
      ['modelled time', `${cost.estimate_us} us, ${cost.low_us} to ${cost.high_us}; by ${cost.limit}`],
      ['of HBM alone', `${cost.hbm_us} us`],
      ['of computing alone', `${cost.compute_us} us`],
      ['of starting ops', `${cost.fixed_us} us`],
    ]),
  ];
}

/** What is above the bound, and why: the report's own lists. */
function gapDetails() {
  const { lower_bound: bound, gap } = report;
  const valueOf = (part) => values.findIndex((value) => value.memory !== 'lx' && value.name === part.name && value.op === part.op);
  const named = (part) => (part.op === undefined ? nameOf(part) : `${part.name} (op ${part.op})`);
  return [
    make('h3', '', 'From the plan to the bound'),
    table([
      ['HBM of the plan', `${exact(hbmOf(report.total))} B`],
      ['no plan moves less than', `${exact(bound.hbm)} B, by ${bound.binding}`],
      ['above it', `${exact(gap.hbm)} B`],
      ['modelled time', `${report.time.estimate_us} us, ${report.time.low_us} to ${report.time.high_us}`],
      ['no plan takes less than', `${bound.us} us, by ${bound.limit}`],
      ['above it', `${gap.us} us`],
    ]),
    make('h4', '', 'Values that move most above what they must'),
    ...(gap.values || []).map((part) => make('div', 'item reason',
      make('div', 'head', link(named(part), 'value', valueOf(part)), make('span', '', bytesText(part.hbm))), make('p', '', part.why))),
    make('h4', '', 'Ops that take longest above their least time'),
    ...(gap.ops || []).map((part) => make('div', 'item reason', make('div', 'head', opLink(part.op), make('span', '', usText(part.us))), make('p', '', part.why))),
    ...(report.tile_search || []).flatMap((found) => [
      make('h4', '', 'Search for loops'),
      table([
        ['chosen', found.nests.join(', ') || 'none'],
        ['with them', `${found.us} us`],
        ['without loops', found.untiled_us === undefined ? 'not possible' : `${found.untiled_us} us`],
        ['no plan is estimated below', found.least_us === undefined ? '' : `${found.least_us} us`],
        ['plans judged', `${found.n_judged}${found.n_infeasible > 0 ? `, ${found.n_infeasible} of them infeasible` : ''}${found.is_cut_short ? ', of more' : ''}`],
      ]),
    ]),
  ];
}

const DETAILS = { op: opDetails, value: valueDetails, loop: loopDetails, launch: launchDetails };

/** What an op moves through HBM, by the names of the values. */
function movedText(op) {
  const names = (of) => of.filter((value) => value.memory !== 'lx').map((value) => (value.memory === 'pool' ? opName(value.op) : nameOf(value))).join(', ');
  return [['reads', names(readsOf[op])], ['writes', names(writesOf[op])]].filter(([, of]) => of).map(([verb, of]) => `${verb} ${of}`);
}

/** A value in a few lines: what it is, what it costs, how long it lives, and why it is where it is. */
function tipOfValue(value) {
  const life = `lives from op ${value.first_op} to op ${value.last_op}`;
  const readers = [...new Set(value.readers)];
  const readBy = readers.length ? `read by ${readers.slice(0, 6).map(opName).join(', ')}${readers.length > 6 ? ' …' : ''}` : '';
  if (value.memory !== 'lx') {
    return [valueText(value), `HBM ${exact(value.hbm_read)} B read, ${exact(value.hbm_written)} B written, of which ${exact(value.needed)} B must be`, life, readBy, value.why];
  }
  const before = value.takes_over === undefined ? '' : `takes over the place of the result of ${opName(value.takes_over)}`;
  return [valueText(value), `${exact(value.bytes)} B of a core at ${exact(value.lx_offset_bytes)}; no HBM traffic`, life, readBy, before];
}

/** A few lines for the pointer. */
function tipOf({ kind, index }) {
  if (kind === 'op' || kind === 'hbm' || kind === 'time') {
    const op = ops[index];
    return [opName(index), op.location, shapeText(op),
      `HBM ${exact(op.bytes.hbm_read)} B read, ${exact(op.bytes.hbm_written)} B written`, `${op.us} us of modelled time, on ${plural(op.cores, 'core')}`,
      ...(kind === 'hbm' ? movedText(index) : []),
      op.reason ? `not in LX: ${op.reason}` : `result in ${PLACES[op.memory] || op.memory}`];
  }
  if (kind === 'ops') return [`op ${index[0]} to op ${index[1]}`, `${index[1] - index[0] + 1} ops: zoom in to see each`];
  if (kind === 'value') return tipOfValue(values[index]);
  if (kind === 'loop') {
    const { loop, first, last } = loops[index];
    return [`${loop.count} × ${loop.dim}`, `op ${first} to op ${last}`, `an iteration: HBM ${bytesText(hbmOf(loop.bytes_per_iteration))}, LX ${bytesText(lxOf(loop.bytes_per_iteration))}`, loop.why];
  }
  if (kind === 'launch') return [launches[index].launch.bundle, plural(launches[index].launch.n_ops, 'op'), `${launches[index].launch.cost.estimate_us} us`];
  const peak = report.launches.reduce((most, launch) => Math.max(most, launch.lx_peak_bytes), 0);
  return ['LX of a core', `${exact(peak)} of ${exact(report.target.lx_bytes)} B in use at most`];
}
