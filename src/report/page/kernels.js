// Pictures of fusion: each kernel with its neighbours before, and with the ops that are fused into it after.

/** Ops by location. */
const opsAtLocation = new Map();
ops.forEach((op, index) => {
  if (!opsAtLocation.has(op.location)) opsAtLocation.set(op.location, []);
  opsAtLocation.get(op.location).push(index);
});

/** A neighbour of a kernel as a box. */
function neighbour(op, className, ...more) {
  const node = make('span', `node ${className}`, op.function, ...more);
  node.title = op.location;
  const index = (opsAtLocation.get(op.location) || [])[0];
  if (index !== undefined) {
    node.tabIndex = 0;
    node.setAttribute('role', 'button');
    node.addEventListener('click', () => choose('op', index));
    node.addEventListener('keydown', (event) => { if (event.key === 'Enter') choose('op', index); });
  }
  return node;
}

const arrow = (isInside) => make('span', isInside ? 'edge inside' : 'edge', '→');

/** Whether what stands at one place of the program reads a value of what stands at another. */
function feeds(from, to) {
  const at = (location) => opsAtLocation.get(location) || [];
  const readers = new Set(at(from.location).flatMap((index) => writesOf[index]).flatMap((value) => value.readers));
  return at(to.location).some((index) => readers.has(index));
}

/** What a neighbour has an edge with: others of its side, or else the kernel. */
function edgeText(kernel, op) {
  const others = [...(kernel.fused || []), ...(kernel.separate || [])].filter((other) => other !== op && other.location !== op.location && other.side === op.side);
  const isPrologue = op.side === 'prologue';
  const names = others.filter((other) => (isPrologue ? feeds(op, other) : feeds(other, op))).map((other) => other.function);
  return `${isPrologue ? 'into' : 'from'} ${names.join(', ') || kernel.name}`;
}

/** The neighbours of one side as boxes, in program order: the op that is fused first stands next to the kernel. */
function sideBoxes(kernel, of, side, more) {
  const found = of.filter((op) => op.side === side);
  if (side === 'prologue') found.reverse();
  if (!found.length) return null;
  return make('span', 'flow', found.map((op) => neighbour(op, op.code ? 'refused' : side, op.code ? make('span', 'badge code', op.code) : '',
    make('small', 'dim between', edgeText(kernel, op)), more(op))));
}

/** Neighbours before and behind something, with an arrow between. */
function around(kernel, of, inside, more, isInside) {
  const parts = [sideBoxes(kernel, of, 'prologue', more), ...inside, sideBoxes(kernel, of, 'epilogue', more)].filter(Boolean);
  return make('div', 'flow', parts.flatMap((part, number) => (number ? [arrow(isInside), part] : [part])));
}

/** The fused ops of a kernel by their loops: each level has its ops and the loops within it. */
function levelsOf(kernel) {
  const outside = { ops: [], inner: new Map() };
  for (const op of kernel.fused || []) {
    let level = outside;
    for (const loop of op.loops) {
      if (!level.inner.has(loop)) level.inner.set(loop, { ops: [], inner: new Map() });
      level = level.inner.get(loop);
    }
    level.ops.push(op);
  }
  return outside;
}

/** A level as boxes: what moved there around the loops within it, or around the kernel's own ops in the innermost. */
function levelBox(kernel, { ops: of, inner }) {
  const saved = (op) => make('span', 'told', make('span', 'badge mode', op.mode.toUpperCase()),
    op.times === 1 ? '' : make('small', 'again', `computed ${op.times} times${op.again_us === undefined ? '' : `, ${usText(op.again_us)} more`}`),
    op.saved_hbm_bytes === undefined ? '' : make('small', 'saved', `saves ${bytesText(op.saved_hbm_bytes)}, ${usText(op.saved_us)}`));
  const loopBox = ([loop, level]) => make('div', 'loop-box', make('span', '', `loop ${loop}`), levelBox(kernel, level));
  return around(kernel, of, inner.size ? [...inner].map(loopBox) : [make('span', 'node kernel', kernel.name)], saved, true);
}

function kernelPicture(kernel) {
  const fused = kernel.fused || [];
  const separate = kernel.separate || [];
  const knobs = (kernel.knobs || []).map(([name, value]) => `${name} = ${value}`).join(', ');
  const nothing = () => '';
  const before = make('div', 'stage', make('b', '', 'Before'),
    around(kernel, [...separate, ...fused], [make('span', 'node kernel', kernel.name)], nothing, false));
  const inside = make('div', 'kernel-box', levelBox(kernel, levelsOf(kernel)));
  const after = make('div', 'stage', make('b', '', 'After'), around(kernel, separate, [inside], nothing, false));
  return [
    make('h3', '', `${kernel.name} `, make('small', '', [knobs, `key ${kernel.key}`].filter(Boolean).join('; '))),
    make('div', 'fusion', before, after),
    make('p', 'dim', 'Red arrows cross the boundary of the kernel, green ones stay within its loops. INLINE is recomputed in every iteration of '
      + 'the loops of its neighbor that do not tile it. STAGE runs once, and its result stays in LX. SEPARATE stays outside.'),
    ...separate.map((op) => make('div', 'item reason', make('div', 'head', `${op.function}, ${op.side}`, make('span', 'badge mode', op.mode.toUpperCase()), make('span', 'badge code', op.code)), make('p', '', op.message), make('p', 'dim', op.location))),
  ];
}

function kernelDetails() {
  return report.kernels.flatMap((outcome) => [
    ...(outcome.us === undefined ? [] : [table([
      ['fused', `${usText(outcome.us)}, ${exact(outcome.hbm_bytes)} B of HBM`],
      ...(outcome.again_us === undefined ? [] : [['of that, recomputed in loops', usText(outcome.again_us)]]),
      ['not fused', `${usText(outcome.separate_us)}, ${exact(outcome.separate_hbm_bytes)} B of HBM`],
      ['candidates', `${outcome.n_judged} evaluated${outcome.n_infeasible > 0 ? `, ${outcome.n_infeasible} infeasible` : ''}`],
    ])]),
    ...outcome.kernels.flatMap(kernelPicture),
  ]);
}
