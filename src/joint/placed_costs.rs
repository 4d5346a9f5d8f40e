//! Costs of a program under core splits, placed as `spyre-allocate-scratchpad` places it.
//!
//! [`super::choose_joint_splits`] plans unsplit live ranges; `spyre-allocate-scratchpad` also splits live ranges. Both
//! the chosen splits and those of each op in isolation are therefore placed as by `spyre-allocate-scratchpad`, and the
//! cheaper result is used.

use super::{JointMemo, JointProgram, choose_joint_splits};
use crate::lx::{
    placed_program::PlacedProgram,
    program_residency::ProgramResidencyPlan,
    values::{DividedProgram, OpCoreSplit},
};
use cost::{ModeledCost, Objective, OpFeatures, TileOp, extract_features};
use machine::Target;
use program::{BufferNumbering, Program, ProgramOp, WorkSplit};
use scratchpad::ExactPlanner;
use std::rc::Rc;

/// Program with its description for division.
pub(crate) struct DescribedProgram {
    pub(crate) program: Rc<Program>,
    pub(crate) joint: JointProgram,
    /// Numbers of the buffers in `joint`.
    pub(crate) numbers: BufferNumbering,
}

impl DescribedProgram {
    /// Returns the cost of each op, including added ones, if the ops, in order, have these core splits.
    ///
    /// # Errors
    /// If the layouts are wrong.
    pub(crate) fn compute_costs_with_splits(
        &self,
        splits: &[&WorkSplit],
        target: &Target,
    ) -> Result<Vec<PlacedOpCost>, String> {
        let placed = place_program(&self.apply_splits(splits), target)?;
        let mut numbers = self.numbers.clone();
        let tiles = placed.program.ops.iter().zip(&placed.unchanged).map(|(op, unchanged)| match unchanged {
            Some(same) => Ok(self.joint.ops[*same].tile.clone()),
            None => placed.program.build_tile_op(op, &mut numbers),
        });
        let tiles = tiles.collect::<Result<_, _>>()?;
        Ok(compute_placed_op_costs(&placed, tiles, target))
    }

    /// Chooses the core splits of the ops. Returns them with the cost of each op, including added ones; no costs if no
    /// other splits were considered.
    ///
    /// # Errors
    /// Those of [`Self::compute_costs_with_splits`].
    pub(crate) fn choose_splits(
        &self,
        target: &Target,
        objective: Objective,
        memo: &mut JointMemo,
    ) -> Result<(Vec<&WorkSplit>, Option<Vec<PlacedOpCost>>), String> {
        let program = &self.joint;
        let planner = ExactPlanner::new_for_comparison(program.values.len());
        let splits_of = |choice: &[usize]| {
            choice.iter().enumerate().map(|(op, &split)| program.split(op, split)).collect::<Vec<_>>()
        };
        let evaluate = |splits: &[&WorkSplit]| self.compute_costs_with_splits(splits, target);
        let cost_of = |priced: &[PlacedOpCost]| priced.iter().map(|op| op.cost).sum::<ModeledCost>();
        let mut splits = splits_of(&vec![0; program.ops.len()]);
        let mut priced: Option<Vec<PlacedOpCost>> = None;
        // The planner places values under the chosen splits, and its plan is not always better for a choice of fewest
        // bytes, so both objectives are tried.
        let objectives =
            if objective == Objective::Time { vec![Objective::Time] } else { vec![Objective::Time, objective] };
        for tried in objectives {
            let choice = choose_joint_splits(program, &planner, target, tried, memo);
            for chosen in [Some(choice.splits), choice.unconstrained_splits]
                .into_iter()
                .flatten()
                .map(|choice| splits_of(&choice))
            {
                if chosen != splits {
                    let known = priced.map_or_else(|| evaluate(&splits), Ok)?;
                    let found = evaluate(&chosen)?;
                    let is_cheaper = objective.compare(&cost_of(&found), &cost_of(&known)).is_le();
                    priced = Some(if is_cheaper { found } else { known });
                    splits = if is_cheaper { chosen } else { splits };
                }
            }
        }
        Ok((splits, priced))
    }

    fn apply_splits(&self, splits: &[&WorkSplit]) -> DividedProgram {
        let division = |(op, split): (usize, &&WorkSplit)| OpCoreSplit {
            operation: Rc::clone(&self.joint.op_class(op).operation),
            split: (*split).clone(),
            destination: None,
        };
        DividedProgram {
            program: Rc::clone(&self.program),
            divisions: splits.iter().enumerate().map(division).collect(),
        }
    }
}

/// Returns the cost of each op of a divided program, including those that placement adds.
///
/// # Errors
/// If the layouts are wrong.
pub(crate) fn compute_costs_when_placed(
    divided: &DividedProgram,
    target: &Target,
) -> Result<Vec<PlacedOpCost>, String> {
    let placed = place_program(divided, target)?;
    let mut numbers = BufferNumbering::default();
    let tiles =
        placed.program.ops.iter().map(|op| placed.program.build_tile_op(op, &mut numbers)).collect::<Result<_, _>>()?;
    Ok(compute_placed_op_costs(&placed, tiles, target))
}

fn place_program(divided: &DividedProgram, target: &Target) -> Result<PlacedProgram, String> {
    let plan = ProgramResidencyPlan::new(divided, target)?;
    PlacedProgram::new(divided, &plan)
}

/// Returns the cost of each op of a placed program, as one kernel. `tiles` has the ops before they are divided and
/// placed.
fn compute_placed_op_costs(placed: &PlacedProgram, mut tiles: Vec<TileOp>, target: &Target) -> Vec<PlacedOpCost> {
    let ops = &placed.program.ops;
    for (((tile, op), split), shuffle) in tiles.iter_mut().zip(ops).zip(&placed.splits).zip(&placed.shuffles) {
        tile.shuffle = *shuffle;
        tile.dims.iter_mut().zip(split.slices()).for_each(|(dim, &slices)| dim.slices = slices);
        tile.operands
            .iter_mut()
            .zip(&op.operands)
            .for_each(|(of_tile, operand)| of_tile.is_in_lx = placed.is_in_lx(operand));
    }
    compute_tile_costs(&tiles, ops, target)
}

/// Returns the cost of each op after division and placement, as one kernel.
pub(super) fn compute_tile_costs(tiles: &[TileOp], ops: &[Rc<ProgramOp>], target: &Target) -> Vec<PlacedOpCost> {
    let kernel: Vec<_> = tiles.iter().map(TileOp::to_op_shape).collect();
    extract_features(&kernel).iter().zip(ops).map(|(described, op)| PlacedOpCost::new(described, op, target)).collect()
}

/// Cost of an op.
pub(crate) struct PlacedOpCost {
    pub(crate) cost: ModeledCost,
    /// Number of the op in its candidate; `None` for an op that a pass added.
    pub(crate) number: Option<i64>,
    /// Number of times that loops compute the same result of the op.
    times: i64,
}

impl PlacedOpCost {
    fn new(described: &OpFeatures, op: &ProgramOp, target: &Target) -> Self {
        Self { cost: ModeledCost::from_op(described, &target.time), number: op.number, times: op.times }
    }

    /// Returns the time of all executions but the first, ns.
    pub(crate) fn repeated_ns(&self) -> f64 {
        self.cost.ns * (self.times - 1) as f64 / self.times as f64
    }
}
