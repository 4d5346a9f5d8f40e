//! Stage `joint`: chooses the core splits of all ops of a program together with the values in LX.
//!
//! If ops are divided one by one, results often have slices that their users cannot use: a value stays in LX only if
//! each core finds its own data there. This stage computes the cost of each op as a function of the location of its
//! operands, finds the cheapest assignment of locations by variable elimination ([`crate::assignment`]), and lets the
//! planner assign addresses ([`choose_joint_splits`]).

mod candidates;
mod cost_tables;
mod describe;
mod evaluate;
mod memo;
mod op_cost_table;
pub(crate) mod placed_costs;
mod value_states;

#[cfg(test)]
mod tests;

use crate::assignment::minimize;
use cost::{ModeledCost, Objective, TileOp};
use cost_tables::{CostContext, CostTables};
use evaluate::evaluate;
use machine::Target;
use program::{OperandRef, WorkSplit};
use rustc_hash::FxHashMap;
use scratchpad::{Buffer, Capacity, Planner};
use std::rc::Rc;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use candidates::enumerate_split_candidates;
pub use memo::{JointMemo, OpClass};

/// Maximum number of table entries, feasible or not, during elimination.
const MAX_TABLE_ENTRIES: usize = 1 << 19;
/// Maximum number of evaluated plans. Each but the first leaves a value in HBM that did not fit before.
const MAX_EVALUATED_PLANS: usize = 8;

/// Program whose ops are to be divided.
#[derive(Clone, Debug, Default)]
pub struct JointProgram {
    /// Classes of ops for work division; equivalent ops share one.
    pub kinds: Vec<Rc<OpClass>>,
    /// The ops in order.
    pub ops: Vec<JointOp>,
    /// Values in the order of their definitions.
    pub values: Vec<JointValue>,
    /// Position in `kinds` of each kind, by its number.
    kind_positions: FxHashMap<usize, usize>,
}

/// Op of the program.
#[derive(Clone, Debug)]
pub struct JointOp {
    /// Index into [`JointProgram::kinds`].
    pub kind: usize,
    /// Op for the time model: all operands in HBM and in one slice, numbered as in the operation.
    pub tile: TileOp,
    /// For each operand the index of its value, if that could be in LX.
    pub values: Vec<Option<usize>>,
}

/// Value that could be in LX: the result of an op, or an input that several ops read and that a copy could load into
/// LX.
#[derive(Clone, Debug)]
pub struct JointValue {
    /// Buffer for the planner, but with the bytes of all slices. The times of its uses are those of
    /// [`JointOp::use_time`].
    pub buffer: Buffer,
    /// Operands that must agree on the core view of the value, the producer first.
    pub users: Vec<OperandRef>,
    /// For an input the op before which its copy is inserted.
    pub copied_before: Option<usize>,
}

impl JointProgram {
    /// Adds an op after all others. `values` has for each operand the index of its value, if that could be in LX.
    pub fn add_op(&mut self, kind: &Rc<OpClass>, tile: TileOp, values: Vec<Option<usize>>) {
        let kinds = &mut self.kinds;
        let kind = *self.kind_positions.entry(kind.number).or_insert_with(|| {
            kinds.push(Rc::clone(kind));
            kinds.len() - 1
        });
        self.ops.push(JointOp { kind, tile, values });
    }

    /// Returns the kind of an op.
    #[must_use]
    pub fn op_class(&self, op: usize) -> &OpClass {
        &self.kinds[self.ops[op].kind]
    }

    /// Returns one of the splits of an op.
    #[must_use]
    pub fn split(&self, op: usize, split: usize) -> &WorkSplit {
        &self.op_class(op).splits[split]
    }
}

impl JointOp {
    /// Returns the time of an op in buffer uses; between two ops there is one time for copies.
    #[must_use]
    pub const fn use_time(position: usize) -> usize {
        2 * position + 1
    }
}

/// Chosen splits and their cost.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitChoice {
    /// For each op the index of its split.
    pub splits: Vec<usize>,
    /// For each op the cheapest split for an LX of unlimited size. A planner that splits live ranges may fit more
    /// values than `splits` assumes. `None` if the plan would be rejected regardless of its cost.
    pub unconstrained_splits: Option<Vec<usize>>,
    /// Modeled time of all ops, ns.
    pub ns: f64,
    /// Bytes to and from HBM.
    pub hbm_bytes: i64,
    /// Whether the plan is rejected regardless of its modeled cost ([`cost::check_kernel_limits`]).
    pub is_rejected: bool,
}

impl SplitChoice {
    /// Returns whether this choice is preferred: an accepted one to a rejected one, then the cheaper one.
    fn is_better_than(&self, other: &Self, objective: Objective) -> bool {
        let by_rejection = self.is_rejected.cmp(&other.is_rejected);
        by_rejection.then_with(|| objective.compare(&self.cost(), &other.cost())).is_lt()
    }

    const fn cost(&self) -> ModeledCost {
        ModeledCost { ns: self.ns, hbm_bytes: self.hbm_bytes }
    }
}

/// Chooses a split for each op; every value is in LX for its complete live range or not at all.
///
/// A value is in HBM, or in LX under one *view*, its partition over the cores ([`CoreView`](crate::work::CoreView));
/// all users must have that view. A split of an op determines the view of each operand.
///
/// 1. Candidates: all splits that an op allows, in every core order ([`WorkSplit::with_order`]).
/// 2. Tables: the cost of each op for each assignment of views to its operands, under the best split with these views.
///    Equivalent ops share candidates and tables.
/// 3. Variable elimination finds the states of least total cost.
/// 4. The planner assigns addresses. Values that do not fit are moved to HBM, and the other states are chosen again.
/// 5. The cheapest of all these plans is kept. The first plan has the splits of each op in isolation, so by the model
///    and with this planner the result never costs more.
///
/// `memo` is new, or has the classes of all programs that it was used with.
#[must_use]
pub fn choose_joint_splits(
    program: &JointProgram,
    planner: &dyn Planner,
    target: &Target,
    objective: Objective,
    memo: &mut JointMemo,
) -> SplitChoice {
    let alone = vec![0; program.ops.len()];
    let (mut best, _) = evaluate_choice(program, &alone, planner, target);
    let tables =
        CostTables::new(program, &Capacity::from_target(target), CostContext { model: &target.time, objective }, memo);
    let mut in_hbm = vec![false; program.values.len()];
    let mut planned: Vec<Vec<usize>> = Vec::new();
    let mut if_all_fits = None;
    for _ in 1..MAX_EVALUATED_PLANS {
        let problem = tables.build_problem(&in_hbm);
        let found = minimize(&problem, &tables.initial_states(), MAX_TABLE_ENTRIES, &mut memo.tables);
        let splits = tables.select_splits(&found.states);
        // Equal splits have equal plans, which leave the same values in HBM.
        if planned.contains(&splits) {
            break;
        }
        let (choice, spilled) = evaluate_choice(program, &splits, planner, target);
        if planned.is_empty() && !choice.is_rejected {
            if_all_fits = Some(splits.clone());
        }
        planned.push(splits);
        if choice.is_better_than(&best, objective) {
            best = choice;
        }
        if spilled.is_empty() {
            break;
        }
        for value in spilled {
            in_hbm[value] = true;
        }
    }
    SplitChoice { unconstrained_splits: if_all_fits, ..best }
}

/// Returns the plan with these splits, and the values whose users agree on a view but that do not fit.
fn evaluate_choice(
    program: &JointProgram,
    splits: &[usize],
    planner: &dyn Planner,
    target: &Target,
) -> (SplitChoice, Vec<usize>) {
    let evaluated = evaluate(program, splits, planner, target);
    let (ns, hbm_bytes, is_rejected) = (evaluated.ns, evaluated.hbm_bytes, evaluated.is_rejected);
    (SplitChoice { splits: splits.to_vec(), unconstrained_splits: None, ns, hbm_bytes, is_rejected }, evaluated.spilled)
}
