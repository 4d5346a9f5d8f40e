//! Costs of ops: one by one by the time model, and together by running the later passes.

use super::{
    hints::{Labels, write_hints},
    read::Steps,
    segment::segment,
};
use crate::dialect::ods::attr;
use crate::{
    dialect::{Assembly, ComputeOp, read_program},
    joint::{Memo, candidates, ir::divide_jointly::priced_when_divided, priced::PricedOp as PlacedOp},
    mlir::{Op, OpExt, Reported, bugs_of, i64_attribute, quietly},
    search::{Axis, ByTiling, Copied, Cut, Judge, Loops, OpCosts},
    tile::ir::{
        coarse_tile::{Declared, tile_block},
        make_online::make_online,
        settle_loops::settle_block,
        write_in_place::write_in_place,
    },
    work::{
        ir::{divide_work::divided as divided_alone, operation::operation_with, reduce_span::reduce_spans},
        reduce_span,
    },
};
use cost::{Cost, Dim, AccessHistory, Objective, OpKind, OpShape, TileOp, TileOperand, describe_op};
use machine::Target;
use program::{BufferNumbers, Op as ProgramOp, Operation, Program, WorkSplit};
use std::{cell::RefCell, ops::Range};

/// Evaluator of the segments of a function.
pub(super) struct FunctionJudge<'a, 'c> {
    function: Op<'c>,
    /// Steps of the function.
    steps: &'a [Op<'c>],
    target: &'a Target,
    objective: Objective,
    /// For each step its pricing data; `None` for assemblies, and for steps without a tile description or candidate splits.
    priced: Vec<Option<PricedOp>>,
    /// Memoized least costs.
    known: RefCell<ByTiling<Cost>>,
    /// Results that the evaluated programs share.
    memo: RefCell<Memo>,
}

impl<'a, 'c> FunctionJudge<'a, 'c> {
    /// Returns `None` for a function that a later pass will reject.
    pub(super) fn of(function: Op<'c>, steps: &'a [Op<'c>], target: &'a Target, objective: Objective) -> Option<Self> {
        let ir = read_program(function).ok()?;
        let mut of_function = ir.ops.iter().zip(&ir.program.ops);
        let mut priced = |op: Op<'c>| {
            ComputeOp::of(op)?;
            // Parts may be written directly to their place in the buffer, and cost nothing then.
            if Assembly::of(op).is_some() {
                return None;
            }
            // Ops of existing loops also lie in between.
            let (compute, plain) = of_function.find(|(compute, _)| compute.op == op)?;
            PricedOp::new(*compute, &ir.program, plain, target)
        };
        let priced = steps.iter().map(|op| priced(*op)).collect();
        Some(Self { function, steps, target, objective, priced, known: RefCell::default(), memo: RefCell::default() })
    }

    /// Returns the cost and origin of each op that the steps are lowered to, in order. Returns `None` if a rule rejects
    /// the loops.
    fn costs_of(&self, range: Range<usize>, loops: &[Loops]) -> Option<Vec<(Part, Cost)>> {
        let alone = segment(self.function, &self.steps[range.clone()]);
        let function = alone.op();
        let n_bugs = bugs_of(function);
        let costs = quietly(function, || {
            let declared = Declared::by(function);
            let of_alone = Steps::of(function, &declared.maxima)?;
            let mut labels = Labels::of(function);
            number(&of_alone.ops, 0);
            for loops in loops {
                let written = write_hints(loops, &of_alone.ops, range.start, &mut labels);
                number(&written.copies, COPIED);
            }
            let priced = place(function, &declared, self.target, self.objective, &mut self.memo.borrow_mut())?;
            Ok::<_, Reported>(priced.into_iter().map(|op| (Part::from_number(op.number), op.cost)).collect())
        });
        // Every other rejection comes from a rule.
        assert!(bugs_of(function) == n_bugs, "a candidate of the search for tiles has a compiler bug");
        costs.ok()
    }
}

/// Origin of an op whose cost is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The op is the step with this number.
    Step(usize),
    /// The op is a copy before loops.
    Copied,
    /// A pass added the op.
    Added,
}

/// First number of copies before loops; larger than the number of steps of any program.
const COPIED: i64 = 1 << 32;

/// Writes number attributes on ops of a copy of the program.
fn number(ops: &[Op<'_>], first: i64) {
    for (number, op) in (first..).zip(ops) {
        op.set_attr(attr::SPYRE_NUMBER, i64_attribute(op.ctx(), number));
    }
}

impl Part {
    /// Returns the origin of an op from its number.
    fn from_number(number: Option<i64>) -> Self {
        match number {
            Some(number) if number >= COPIED => Self::Copied,
            Some(number) => usize::try_from(number).map_or(Self::Added, Self::Step),
            None => Self::Added,
        }
    }
}

/// Tiles, divides and places the ops of a function; returns the cost of each compute op.
fn place(function: Op<'_>, declared: &Declared, target: &Target, objective: Objective, memo: &mut Memo) -> Result<Vec<PlacedOp>, Reported> {
    tile_block(function, declared, target)?;
    make_online(function);
    settle_block(function);
    write_in_place(function);
    reduce_spans(function, target)?;
    priced_when_divided(function, target, objective, memo)
}

/// Maximum number of splits of an op that are priced: the best ones for the untiled op.
const MOST_SPLITS: usize = 24;

/// Untiled op, and its candidate core splits.
struct PricedOp {
    tile: TileOp,
    splits: Vec<WorkSplit>,
    /// Whether the op needs a loop because a core cannot address it untiled.
    needs_loop: bool,
    /// The op for work division with the arguments and results of the program, if it needs a loop. Other values are as large as a tile.
    operation: Option<Operation>,
}

impl PricedOp {
    fn new(compute: ComputeOp<'_>, program: &Program, op: &ProgramOp, target: &Target) -> Option<Self> {
        let tile = program.tile_op(op, &mut BufferNumbers::default()).ok()?;
        let accesses = op.operands.iter().map(|operand| &operand.access);
        let (splits, needs_loop) = match quietly(compute.op, || divided_alone(compute, accesses.clone(), target)) {
            Ok((operation, own)) => (candidates(&operation, &own, false, target).ok()?, false),
            Err(_) => (plain_splits(&tile, target.cores), true),
        };
        let operation = if needs_loop { operation_with(compute, accesses).ok() } else { None };
        let operation = operation.map(|operation| {
            let operands = operation.operands.into_iter().zip(&tile.operands).filter(|(_, operand)| operand.is_argument);
            Operation { operands: operands.map(|(operand, _)| operand).collect(), ..operation }
        });
        let mut divided = Divided::new(&tile);
        let mut priced: Vec<(f64, WorkSplit)> = splits.into_iter().map(|split| (divided.cost(split.slices(), target).ns, split)).collect();
        priced.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        Some(Self { tile, splits: priced.into_iter().take(MOST_SPLITS).map(|(_, split)| split).collect(), needs_loop, operation })
    }

    fn least(&self, cuts: &[(usize, i64)], in_lx: &[bool], target: &Target, objective: Objective) -> Cost {
        if self.needs_loop && !self.is_addressable(cuts, target) {
            return Cost { ns: f64::INFINITY, hbm_bytes: 0 };
        }
        let mut tile = self.tile.clone();
        for (operand, &in_lx) in tile.operands.iter_mut().zip(in_lx) {
            operand.is_in_lx = in_lx;
        }
        for &(dim, count) in cuts {
            cut(&mut tile, dim, count);
        }
        let mut divided = Divided::new(&tile);
        let fits = |split: &&WorkSplit| tile.dims.iter().zip(split.slices()).all(|(dim, &slices)| slices <= dim.extent);
        let costs = self.splits.iter().filter(fits).map(|split| divided.cost(split.slices(), target));
        let least = costs.min_by(|one, other| objective.order(one, other));
        least.unwrap_or_else(|| divided.cost(&vec![1; tile.dims.len()], target))
    }
}

impl PricedOp {
    /// Returns whether some split lets each core address its slices of an op that needs a loop, in these loops.
    fn is_addressable(&self, cuts: &[(usize, i64)], target: &Target) -> bool {
        let is_addressable = |operation: &Operation| {
            let mut tile = operation.clone();
            for &(dim, count) in cuts {
                tile.dims[dim].size /= count;
            }
            reduce_span(&tile, target).is_ok()
        };
        !cuts.is_empty() && self.operation.as_ref().is_none_or(is_addressable)
    }

    /// Returns the cost of an elementwise op on the result inside the loops, with all operands in LX.
    fn combine(&self, cuts: &[(usize, i64)], target: &Target) -> Cost {
        let mut tile = self.tile.clone();
        for &(dim, count) in cuts {
            cut(&mut tile, dim, count);
        }
        tile.dims.iter_mut().filter(|dim| dim.is_reduced).for_each(|dim| *dim = Dim { extent: 1, slices: 1, is_reduced: false });
        let Some(mut result) = tile.operands.pop() else { return Cost::default() };
        (result.buffer, result.is_in_lx) = (1, true);
        let had = TileOperand { buffer: 0, is_output: false, ..result.clone() };
        let tile = TileOp { kind: OpKind::Pointwise, is_reduction: false, operands: vec![had, result], ..tile };
        let mut divided = Divided::new(&tile);
        let costs = plain_splits(&tile, target.cores).into_iter().map(|split| divided.cost(split.slices(), target));
        costs.min_by(|one, other| one.ns.total_cmp(&other.ns)).unwrap_or(Cost::default())
    }
}

/// Returns splits of all cores along one dimension that is not summed, or along two.
fn plain_splits(tile: &TileOp, cores: i64) -> Vec<WorkSplit> {
    let dims: Vec<usize> = (0..tile.dims.len()).filter(|&dim| !tile.dims[dim].is_reduced).collect();
    let powers = std::iter::successors(Some(1), |power| Some(power * 2)).take_while(|power| *power <= cores);
    let mut splits = Vec::new();
    for outer in powers.filter(|power| cores % power == 0) {
        for (&one, &other) in dims.iter().flat_map(|one| dims.iter().map(move |other| (one, other))) {
            let mut slices = vec![1; tile.dims.len()];
            slices[one] *= outer;
            slices[other] *= cores / outer;
            let fits = tile.dims.iter().zip(&slices).all(|(dim, slices)| *slices <= dim.extent);
            splits.extend(WorkSplit::new(slices).ok().filter(|_| fits));
        }
    }
    splits
}

/// Adds an innermost loop to those around an op.
fn cut(tile: &mut TileOp, dim: usize, count: i64) {
    let level = tile.trips.len();
    tile.trips.push(count);
    tile.dims[dim].extent /= count;
    for operand in &mut tile.operands {
        let advances = operand.moved_by.contains(&dim);
        operand.advances.resize(level, false);
        operand.advances.push(advances);
        if advances {
            operand.tile_bytes /= count;
        }
        if tile.dims[dim].extent == 1 {
            operand.moved_by.retain(|&moving| moving != dim);
        }
    }
}

/// An op that is priced with several core splits.
struct Divided {
    shape: OpShape,
    /// Position in the shape of the op's first dimension: those of the loops come before.
    first_dim: usize,
}

impl Divided {
    fn new(tile: &TileOp) -> Self {
        Self { shape: tile.shape(), first_dim: tile.trips.len() }
    }

    /// Returns the cost of the op alone with these slices of its dimensions.
    fn cost(&mut self, slices: &[i64], target: &Target) -> Cost {
        self.shape.dims[self.first_dim..].iter_mut().zip(slices).for_each(|(dim, &slices)| dim.slices = slices);
        let bytes = AccessHistory::default().push(&self.shape);
        Cost::of(&describe_op(&self.shape, bytes), &target.time)
    }
}

impl OpCosts for FunctionJudge<'_, '_> {
    fn lx_bytes(&self) -> i64 {
        self.target.lx_bytes * self.target.cores
    }

    fn op_cost(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> Cost {
        let Some(priced) = &self.priced[op] else { return Cost::default() };
        self.known.borrow_mut().get_or_compute(op, cuts, in_lx, || priced.least(cuts, in_lx, self.target, self.objective))
    }

    fn combine_cost(&self, op: usize, cuts: &[(usize, i64)]) -> Cost {
        let Some(priced) = &self.priced[op] else { return Cost::default() };
        // The key is unique: every op has operands.
        self.known.borrow_mut().get_or_compute(op, cuts, &[], || priced.combine(cuts, self.target))
    }
}

impl Judge for FunctionJudge<'_, '_> {
    fn untiled(&self) -> Option<Vec<Cost>> {
        self.plan(&[])
    }

    fn segment(&self, segment: Range<usize>, axes: &[Axis], nest: &[Cut], kept: &[Copied]) -> Option<Vec<Cost>> {
        let loops = Loops { copies: kept.to_vec(), ..Loops::new(&segment, axes, nest) };
        let costs = self.costs_of(segment.clone(), &[loops])?;
        Some(by_step(segment.len(), costs.into_iter().filter(|(part, _)| *part != Part::Copied)))
    }

    fn plan(&self, loops: &[Loops]) -> Option<Vec<Cost>> {
        Some(by_step(self.steps.len(), self.costs_of(0..self.steps.len(), loops)?.into_iter()))
    }
}

/// Returns the cost of each step. Added ops count for the step that they follow.
fn by_step(n_steps: usize, costs: impl Iterator<Item = (Part, Cost)>) -> Vec<Cost> {
    let mut of_steps = vec![Cost::default(); n_steps];
    let mut step = 0;
    for (part, cost) in costs {
        step = if let Part::Step(number) = part { number } else { step };
        of_steps[step] = [of_steps[step], cost].into_iter().sum();
    }
    of_steps
}
