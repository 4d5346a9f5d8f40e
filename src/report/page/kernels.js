// Pictures of fusion: each kernel with its neighbours as the program has them, and with what moved into it.

/** A neighbour of a kernel as a box. */
function neighbour(op, className, ...more) {
  const node = make('span', `node ${className}`, op.function, ...more);
  node.title = op.location;
  const index = ops.findIndex((candidate) => candidate.location === op.location);
  if (index >= 0) {
    node.tabIndex = 0;
    node.setAttribute('role', 'button');
    node.addEventListener('click', () => choose('op', index));
    node.addEventListener('keydown', (event) => { if (event.key === 'Enter') choose('op', index); });
  }
  return node;
}

const arrow = (isInside) => make('span', isInside ? 'edge inside' : 'edge', '→');

/** Neighbours on one side with an arrow behind or before each. */
function chain(of, side, isInside) {
  return of.filter((op) => op.side === side).flatMap((op) => {
    const node = neighbour(op, op.code ? 'refused' : side, op.code ? ' ' : '', op.code ? make('span', 'badge code', op.code) : '');
    return side === 'prologue' ? [node, arrow(isInside)] : [arrow(isInside), node];
  });
}

/** What moved into a kernel by the loops that it is in: each level has its ops and the loops within it. */
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
  const saved = (op) => (op.saved_hbm_bytes === undefined ? '' : make('small', 'saved', `saves ${bytesText(op.saved_hbm_bytes)}, ${usText(op.saved_us)}`));
  const boxes = (side) => of.filter((op) => op.side === side).map((op) => neighbour(op, op.side, saved(op)));
  const loopBox = ([loop, level]) => make('div', 'loop-box', make('span', '', `loop ${loop}`), levelBox(kernel, level));
  const own = inner.size ? [...inner].map(loopBox) : [make('span', 'node kernel', kernel.name)];
  const all = [...boxes('prologue'), ...own, ...boxes('epilogue')];
  return make('div', 'flow', all.flatMap((part, number) => (number ? [arrow(true), part] : [part])));
}

function kernelPicture(kernel) {
  const fused = kernel.fused || [];
  const separate = kernel.separate || [];
  const knobs = (kernel.knobs || []).map(([name, value]) => `${name} = ${value}`).join(', ');
  const before = make('div', 'stage', make('b', '', 'Before'), make('div', 'flow',
    chain([...fused, ...separate], 'prologue', false), make('span', 'node kernel', kernel.name), chain([...fused, ...separate], 'epilogue', false)));
  const inside = make('div', 'kernel-box', levelBox(kernel, levelsOf(kernel)));
  const after = make('div', 'stage', make('b', '', 'After'), make('div', 'flow', chain(separate, 'prologue', false), inside, chain(separate, 'epilogue', false)));
  return [
    make('h3', '', `${kernel.name} `, make('small', '', [knobs, `key ${kernel.key}`].filter(Boolean).join('; '))),
    make('div', 'fusion', before, after),
    make('p', 'dim', 'Red arrows are values between the kernel and what stands outside of it, green ones stay within its loops.'),
    ...separate.map((op) => make('div', 'item reason', make('div', 'head', `${op.function}, ${op.side}`, make('span', 'badge code', op.code)), make('p', '', op.message), make('p', 'dim', op.location))),
  ];
}

function kernelDetails() {
  return report.kernels.flatMap((outcome) => [
    ...(outcome.us === undefined ? [] : [table([
      ['with what moved', `${usText(outcome.us)}, ${exact(outcome.hbm_bytes)} B of HBM`],
      ['with nothing moved', `${usText(outcome.separate_us)}, ${exact(outcome.separate_hbm_bytes)} B of HBM`],
      ['compilations', outcome.n_judged],
    ])]),
    ...outcome.kernels.flatMap(kernelPicture),
  ]);
}
