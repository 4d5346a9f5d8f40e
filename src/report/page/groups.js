// Groups of ops: by module, launch, loop, source line or kind. A group has a path of keys, and the sums of the ops in it.

/** The most levels of groups; further parts of a path are one level. */
const MAX_LEVELS = 12;
/** Ops up to which a list without modules needs no groups. */
const SHORT_LIST = 100;

/** For each grouping its title, the path of an op as `[key, label]` pairs, the name of the group of ops without a path, and what joins keys. */
const GROUPINGS = {
  module: {
    title: 'module',
    pathOf: (index) => (ops[index].module ? ops[index].module.split('.').map((part) => [part, part]) : []),
    rest: 'no module',
    joint: '.',
    isOffered: ops.some((op) => op.module),
  },
  launch: {
    title: 'launch',
    pathOf: (index) => (launchOf[index] ? [[launchOf[index].launch.bundle, launchOf[index].launch.bundle]] : []),
    rest: 'no launch',
    joint: '/',
    isOffered: launches.length > 1,
  },
  loop: {
    title: 'loop',
    pathOf: (index) => loopsOf[index].map(({ loop, index: at, first }) => [`loop ${at}`, `${loop.count} × ${loop.dim} from op ${first}`]),
    rest: 'outside of loops',
    joint: '/',
    isOffered: loops.length > 0,
  },
  line: {
    title: 'source line',
    pathOf: (index) => {
      const [frame] = framesByInterest(ops[index].location);
      return frame.file ? [[frame.file, frame.file], [`${frame.line}`, `line ${frame.line}`]] : [];
    },
    rest: 'no source line',
    joint: ':',
    isOffered: ops.some((op) => framesByInterest(op.location)[0].file),
  },
  kind: {
    title: 'kind',
    pathOf: (index) => {
      const kind = KINDS[kindOf(ops[index])];
      return [[kind, kind], [ops[index].function, ops[index].function]];
    },
    rest: '',
    joint: '/',
    isOffered: ops.length > 0,
  },
  none: { title: 'nothing', isOffered: true },
};

/** The groups of all groupings that were asked for, by their index. */
const allGroups = [];
const treeOfGrouping = new Map();

function addGroup(by, parent, keys, label) {
  const id = keys.join(GROUPINGS[by].joint);
  const sums = { nOps: 0, first: Infinity, last: -1, hbm: 0, us: 0, gap: 0 };
  return { by, parent, id, label, children: [], byKey: new Map(), ops: [], depth: 0, ...sums };
}

/** Adds an op to the groups on its path. */
function insertOp(by, root, index) {
  const { pathOf, rest, joint } = GROUPINGS[by];
  let path = pathOf(index);
  if (!path.length) path = [[`(${rest})`, rest]];
  if (path.length > MAX_LEVELS) {
    const tail = path.slice(MAX_LEVELS - 1).map(([key]) => key).join(joint);
    path = [...path.slice(0, MAX_LEVELS - 1), [tail, tail]];
  }
  let group = root;
  path.forEach(([key, label], level) => {
    if (!group.byKey.has(key)) {
      const made = addGroup(by, group, path.slice(0, level + 1).map(([part]) => part), label);
      group.byKey.set(key, made);
      group.children.push(made);
    }
    group = group.byKey.get(key);
  });
  group.ops.push(index);
}

/** Makes one group of a group and its only child, sums up the ops, and gives indices. */
function finishGroup(group, depth, joint) {
  while (group.children.length === 1 && !group.ops.length) {
    const [only] = group.children;
    Object.assign(group, { id: only.id, label: `${group.label}${joint}${only.label}`, children: only.children, ops: only.ops });
    for (const child of group.children) child.parent = group;
  }
  group.depth = depth;
  group.index = allGroups.length;
  allGroups.push(group);
  const add = (nOps, first, last, hbm, us, gap) => {
    group.nOps += nOps;
    group.first = Math.min(group.first, first);
    group.last = Math.max(group.last, last);
    group.hbm += hbm;
    group.us += us;
    group.gap += gap;
  };
  for (const index of group.ops) add(1, index, index, hbmOf(ops[index].bytes), ops[index].us, gapOf(ops[index]));
  for (const child of group.children) {
    finishGroup(child, depth + 1, joint);
    add(child.nOps, child.first, child.last, child.hbm, child.us, child.gap);
  }
}

/** Returns the groups of a grouping: those in no other, the innermost group of each op, and all groups by their id. */
function groupTree(by) {
  if (treeOfGrouping.has(by)) return treeOfGrouping.get(by);
  const tree = { roots: [], groupOf: ops.map(() => null), byId: new Map() };
  if (GROUPINGS[by].pathOf) {
    const root = addGroup(by, null, [], '');
    ops.forEach((op, index) => insertOp(by, root, index));
    const from = allGroups.length;
    for (const group of root.children) {
      group.parent = null;
      finishGroup(group, 0, GROUPINGS[by].joint);
    }
    tree.roots = root.children;
    for (const group of allGroups.slice(from)) {
      tree.byId.set(group.id, group);
      for (const index of group.ops) tree.groupOf[index] = group;
    }
  }
  treeOfGrouping.set(by, tree);
  return tree;
}

/** Returns the groups around an op, outermost first. */
function groupsAround(group) {
  const around = [];
  for (let each = group; each; each = each.parent) around.unshift(each);
  return around;
}

/** Returns the ops of a group and of those in it, in program order. */
function opsIn(group) {
  const found = [];
  const pending = [group];
  while (pending.length) {
    const each = pending.pop();
    found.push(...each.ops);
    pending.push(...each.children);
  }
  return found.sort((one, other) => one - other);
}

/** Returns the grouping that a page opens with: modules, or else what makes far fewer groups than ops. */
function defaultGrouping() {
  const nGroups = (by) => groupTree(by).byId.size;
  // A name without a dot may be that of a value.
  const hasPaths = ops.some((op) => op.module && op.module.includes('.')) || nGroups('module') * 2 <= ops.length;
  if (GROUPINGS.module.isOffered && hasPaths) return 'module';
  if (ops.length <= SHORT_LIST) return 'none';
  const nInLoops = loopsOf.filter((around) => around.length).length;
  if (GROUPINGS.launch.isOffered && launches.length * 3 <= ops.length) return 'launch';
  if (nInLoops * 2 >= ops.length && nGroups('loop') * 3 <= ops.length) return 'loop';
  if (GROUPINGS.line.isOffered && nGroups('line') * 3 <= ops.length) return 'line';
  return 'kind';
}

/** The most levels of the track of modules, and the part of all ops above which a module says nothing about its ops. */
const MODULE_LEVELS = 3;
const WHOLE_PART = 0.8;

/** Returns the boxes of the track of modules, per level: runs of ops of one module one after the other. */
function moduleRuns() {
  if (!GROUPINGS.module.isOffered) return [];
  const { groupOf } = groupTree('module');
  const levels = Array.from({ length: MAX_LEVELS }, () => []);
  groupOf.forEach((inner, op) => {
    for (let group = inner; group; group = group.parent) {
      const runs = levels[group.depth];
      const last = runs[runs.length - 1];
      if (last && last.group === group && last.last === op - 1) last.last = op;
      else if (group.id !== '(no module)') runs.push({ group, first: op, last: op });
    }
  });
  const isWhole = ({ first, last }) => last - first + 1 > WHOLE_PART * ops.length;
  return levels.filter((runs) => runs.length && !runs.some(isWhole)).slice(0, MODULE_LEVELS);
}
