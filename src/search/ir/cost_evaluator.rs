//! Costs of ops: one by one by the time model, and together by running the later passes.

use super::{
    hints::{LabelAllocator, write_hints},
    searched_function::SearchedFunction,
    segment::extract_segment,
};
use crate::dialect::ods::attr;
use crate::{
    dialect::{ComputeOp, InsertChain, read_program},
    joint::{
        JointMemo, enumerate_split_candidates, ir::divide_jointly::compute_costs_when_divided,
        placed_costs::PlacedOpCost as PlacedOp,
    },
    mlir::{ErrorReported, Op, OpExt, i64_attribute, num_bugs, suppress_diagnostics},
    search::{AxisTiling, CostEvaluator, HoistedCopy, LoopNest, OpCosts, TilingAxis, TilingTable},
    tile::ir::{
        coarse_tile::{DimDeclarations, tile_block},
        fuse_online_reductions::fuse_online_reductions,
        insert_loop_copies::settle_block,
        write_in_place::write_in_place,
    },
    work::{
        ir::{
            describe_op::describe_op_with_accesses, divide_work::divide_op as divided_alone, reduce_span::reduce_spans,
        },
        reduce_span,
    },
};
use cost::{AccessHistory, Dim, ModeledCost, Objective, OpKind, OpShape, TileOp, TileOperand, extract_op_features};
use machine::Target;
use program::{BufferNumbering, Program, ProgramOp, UndividedOp, WorkSplit};
use std::{cell::RefCell, ops::Range};

/// Evaluator of the segments of a function.
pub(super) struct IrCostEvaluator<'a, 'c> {
    function: Op<'c>,
    /// Steps of the function.
    steps: &'a [Op<'c>],
    target: &'a Target,
    objective: Objective,
    /// For each step, its candidate core splits; `None` for assemblies, and for steps without a tile description or
    /// candidate splits.
    priced: Vec<Option<SplitCandidates>>,
    /// Memoized least costs.
    known: RefCell<TilingTable<ModeledCost>>,
    /// Results that the evaluated programs share.
    memo: RefCell<JointMemo>,
}

impl<'a, 'c> IrCostEvaluator<'a, 'c> {
    /// Returns `None` for a function that a later pass will reject.
    pub(super) fn new(function: Op<'c>, steps: &'a [Op<'c>], target: &'a Target, objective: Objective) -> Option<Self> {
        let ir = read_program(function).ok()?;
        let mut of_function = ir.ops.iter().zip(&ir.program.ops);
        let mut priced = |op: Op<'c>| {
            ComputeOp::from_op(op)?;
            // Slices may be written directly to their place in the buffer, and then cost nothing.
            if InsertChain::from_last_insert(op).is_some() {
                return None;
            }
            // Ops of existing loops also lie in between.
            let (compute, plain) = of_function.find(|(compute, _)| compute.op == op)?;
            SplitCandidates::new(*compute, &ir.program, plain, target)
        };
        let priced = steps.iter().map(|op| priced(*op)).collect();
        Some(Self { function, steps, target, objective, priced, known: RefCell::default(), memo: RefCell::default() })
    }

    /// Returns the cost and origin of each op that the steps are lowered to, in order. Returns `None` if a rule rejects
    /// the loops.
    fn compute_costs(&self, range: Range<usize>, loops: &[LoopNest]) -> Option<Vec<(OpOrigin, ModeledCost)>> {
        let alone = extract_segment(self.function, &self.steps[range.clone()]);
        let function = alone.op();
        let bugs_of = num_bugs(function);
        let costs = suppress_diagnostics(function, || {
            let declared = DimDeclarations::from_function(function);
            let of_alone = SearchedFunction::from_function(function, &declared.maxima)?;
            let mut labels = LabelAllocator::from_function(function);
            number_ops(&of_alone.ops, 0);
            for loops in loops {
                let written = write_hints(loops, &of_alone.ops, range.start, &mut labels);
                number_ops(&written.copies, FIRST_COPY_NUMBER);
            }
            let priced =
                lower_and_price(function, &declared, self.target, self.objective, &mut self.memo.borrow_mut())?;
            Ok::<_, ErrorReported>(priced.into_iter().map(|op| (OpOrigin::from_number(op.number), op.cost)).collect())
        });
        // Every other rejection comes from a rule.
        assert!(num_bugs(function) == bugs_of, "a candidate of the search for tiles has a compiler bug");
        costs.ok()
    }
}

/// Origin of an op whose cost is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpOrigin {
    /// The op is the step with this number.
    Step(usize),
    /// The op is a copy before loops.
    HoistedCopy,
    /// A pass added the op.
    Added,
}

/// First number of copies before loops; larger than the number of steps of any program.
const FIRST_COPY_NUMBER: i64 = 1 << 32;

/// Writes number attributes on ops of a copy of the program.
fn number_ops(ops: &[Op<'_>], first: i64) {
    for (number, op) in (first..).zip(ops) {
        op.set_attr(attr::SPYRE_NUMBER, i64_attribute(op.ctx(), number));
    }
}

impl OpOrigin {
    /// Returns the origin of an op from its number.
    fn from_number(number: Option<i64>) -> Self {
        match number {
            Some(number) if number >= FIRST_COPY_NUMBER => Self::HoistedCopy,
            Some(number) => usize::try_from(number).map_or(Self::Added, Self::Step),
            None => Self::Added,
        }
    }
}

/// Tiles, divides and places the ops of a function; returns the cost of each compute op.
fn lower_and_price(
    function: Op<'_>,
    declared: &DimDeclarations,
    target: &Target,
    objective: Objective,
    memo: &mut JointMemo,
) -> Result<Vec<PlacedOp>, ErrorReported> {
    tile_block(function, declared, target)?;
    fuse_online_reductions(function);
    settle_block(function);
    write_in_place(function);
    reduce_spans(function, target)?;
    compute_costs_when_divided(function, target, objective, memo)
}

/// Maximum number of splits of an op whose costs are computed: the best ones for the untiled op.
const MAX_SPLITS: usize = 24;

/// Untiled op, and its candidate core splits.
struct SplitCandidates {
    tile: TileOp,
    splits: Vec<WorkSplit>,
    /// Whether the op needs a loop because a core cannot address it untiled.
    needs_loop: bool,
    /// The op for work division with the arguments and results of the program, if it needs a loop. Other values are as
    /// large as a tile.
    operation: Option<UndividedOp>,
}

impl SplitCandidates {
    fn new(compute: ComputeOp<'_>, program: &Program, op: &ProgramOp, target: &Target) -> Option<Self> {
        let tile = program.build_tile_op(op, &mut BufferNumbering::default()).ok()?;
        let accesses = op.operands.iter().map(|operand| &operand.access);
        let (splits, needs_loop) =
            match suppress_diagnostics(compute.op, || divided_alone(compute, accesses.clone(), target)) {
                Ok((operation, own)) => (enumerate_split_candidates(&operation, &own, false, target).ok()?, false),
                Err(_) => (enumerate_plain_splits(&tile, target.cores), true),
            };
        let operation = if needs_loop { describe_op_with_accesses(compute, accesses).ok() } else { None };
        let operation = operation.map(|operation| {
            let operands =
                operation.operands.into_iter().zip(&tile.operands).filter(|(_, operand)| operand.is_argument);
            UndividedOp { operands: operands.map(|(operand, _)| operand).collect(), ..operation }
        });
        let mut divided = SplitCostModel::new(&tile);
        let mut priced: Vec<(f64, WorkSplit)> =
            splits.into_iter().map(|split| (divided.compute_cost(split.slices(), target).ns, split)).collect();
        priced.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        Some(Self {
            tile,
            splits: priced.into_iter().take(MAX_SPLITS).map(|(_, split)| split).collect(),
            needs_loop,
            operation,
        })
    }

    fn compute_min_cost(
        &self,
        cuts: &[(usize, i64)],
        in_lx: &[bool],
        target: &Target,
        objective: Objective,
    ) -> ModeledCost {
        if self.needs_loop && !self.is_addressable(cuts, target) {
            return ModeledCost { ns: f64::INFINITY, hbm_bytes: 0 };
        }
        let mut tile = self.tile.clone();
        for (operand, &in_lx) in tile.operands.iter_mut().zip(in_lx) {
            operand.is_in_lx = in_lx;
        }
        for &(dim, count) in cuts {
            tile_dim(&mut tile, dim, count);
        }
        let mut divided = SplitCostModel::new(&tile);
        let fits = |split: &&WorkSplit| tile.dims.iter().zip(split.slices()).all(|(dim, &slices)| slices <= dim.extent);
        let costs = self.splits.iter().filter(fits).map(|split| divided.compute_cost(split.slices(), target));
        let least = costs.min_by(|one, other| objective.compare(one, other));
        least.unwrap_or_else(|| divided.compute_cost(&vec![1; tile.dims.len()], target))
    }
}

impl SplitCandidates {
    /// Returns whether some split lets each core address its slices of an op that needs a loop, in these loops.
    fn is_addressable(&self, cuts: &[(usize, i64)], target: &Target) -> bool {
        let is_addressable = |operation: &UndividedOp| {
            let mut tile = operation.clone();
            for &(dim, count) in cuts {
                tile.dims[dim].size /= count;
            }
            reduce_span(&tile, target).is_ok()
        };
        !cuts.is_empty() && self.operation.as_ref().is_none_or(is_addressable)
    }

    /// Returns the cost of an elementwise op on the result inside the loops, with all operands in LX.
    fn compute_combine_cost(&self, cuts: &[(usize, i64)], target: &Target) -> ModeledCost {
        let mut tile = self.tile.clone();
        for &(dim, count) in cuts {
            tile_dim(&mut tile, dim, count);
        }
        tile.dims
            .iter_mut()
            .filter(|dim| dim.is_reduced)
            .for_each(|dim| *dim = Dim { extent: 1, slices: 1, is_reduced: false });
        let Some(mut result) = tile.operands.pop() else { return ModeledCost::default() };
        (result.buffer, result.is_in_lx) = (1, true);
        let had = TileOperand { buffer: 0, is_output: false, ..result.clone() };
        let tile = TileOp { kind: OpKind::Pointwise, is_reduction: false, operands: vec![had, result], ..tile };
        let mut divided = SplitCostModel::new(&tile);
        let costs = enumerate_plain_splits(&tile, target.cores)
            .into_iter()
            .map(|split| divided.compute_cost(split.slices(), target));
        costs.min_by(|one, other| one.ns.total_cmp(&other.ns)).unwrap_or(ModeledCost::default())
    }
}

/// Returns splits of all cores along one dimension that is not reduced, or along two.
fn enumerate_plain_splits(tile: &TileOp, cores: i64) -> Vec<WorkSplit> {
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
fn tile_dim(tile: &mut TileOp, dim: usize, count: i64) {
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

/// Op whose cost is computed for several core splits.
struct SplitCostModel {
    shape: OpShape,
    /// Position in the shape of the op's first dimension: those of the loops come before.
    first_dim: usize,
}

impl SplitCostModel {
    fn new(tile: &TileOp) -> Self {
        Self { shape: tile.to_op_shape(), first_dim: tile.trips.len() }
    }

    /// Returns the cost of the op alone with these slices of its dimensions.
    fn compute_cost(&mut self, slices: &[i64], target: &Target) -> ModeledCost {
        self.shape.dims[self.first_dim..].iter_mut().zip(slices).for_each(|(dim, &slices)| dim.slices = slices);
        let bytes = AccessHistory::default().record_op(&self.shape);
        ModeledCost::from_op(&extract_op_features(&self.shape, bytes), &target.time)
    }
}

impl OpCosts for IrCostEvaluator<'_, '_> {
    fn lx_bytes(&self) -> i64 {
        self.target.lx_bytes * self.target.cores
    }

    fn op_cost(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> ModeledCost {
        let Some(priced) = &self.priced[op] else { return ModeledCost::default() };
        self.known
            .borrow_mut()
            .get_or_compute(op, cuts, in_lx, || priced.compute_min_cost(cuts, in_lx, self.target, self.objective))
    }

    fn combine_cost(&self, op: usize, cuts: &[(usize, i64)]) -> ModeledCost {
        let Some(priced) = &self.priced[op] else { return ModeledCost::default() };
        // The key is unique: every op has operands.
        self.known.borrow_mut().get_or_compute(op, cuts, &[], || priced.compute_combine_cost(cuts, self.target))
    }
}

impl CostEvaluator for IrCostEvaluator<'_, '_> {
    fn evaluate_untiled(&self) -> Option<Vec<ModeledCost>> {
        self.evaluate_plan(&[])
    }

    fn evaluate_segment(
        &self,
        segment: Range<usize>,
        axes: &[TilingAxis],
        nest: &[AxisTiling],
        kept: &[HoistedCopy],
    ) -> Option<Vec<ModeledCost>> {
        let loops = LoopNest { copies: kept.to_vec(), ..LoopNest::new(&segment, axes, nest) };
        let costs = self.compute_costs(segment.clone(), &[loops])?;
        Some(sum_by_step(segment.len(), costs.into_iter().filter(|(part, _)| *part != OpOrigin::HoistedCopy)))
    }

    fn evaluate_plan(&self, loops: &[LoopNest]) -> Option<Vec<ModeledCost>> {
        Some(sum_by_step(self.steps.len(), self.compute_costs(0..self.steps.len(), loops)?.into_iter()))
    }
}

/// Returns the cost of each step. Added ops count for the step that they follow.
fn sum_by_step(num_steps: usize, costs: impl Iterator<Item = (OpOrigin, ModeledCost)>) -> Vec<ModeledCost> {
    let mut of_steps = vec![ModeledCost::default(); num_steps];
    let mut step = 0;
    for (part, cost) in costs {
        step = if let OpOrigin::Step(number) = part { number } else { step };
        of_steps[step] = [of_steps[step], cost].into_iter().sum();
    }
    of_steps
}
