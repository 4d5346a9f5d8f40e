//! Splits and placement together.
//!
//! Divided one by one, ops leave their results in slices that their readers cannot use: a value stays in LX only if each core finds there
//! just what it needs. Here the splits of all ops of a program are chosen at once, by the model of time ([`cost`]).
//!
//! Definitions:
//! * A *value* is what an op makes, or an input that several ops read and that a copy could bring into LX.
//! * A *view* of a value is which core has which part of it ([`CoreView`]). A split of an op gives a view of each of its operands.
//! * A value is *in HBM* or in LX *under one view*, which all its users must have.
//!
//! Method:
//! 1. *Candidates* (`candidates.rs`): all splits that an op allows, each with every order of the cores ([`WorkSplit::in_order`]).
//! 2. *Tables* (`tables.rs`): for each op what it costs, given where its operands are: the price of the best split that has these views. A
//!    value's states are HBM and the views that all its users can have. Ops that are alike share candidates and tables (`alike.rs`).
//! 3. The states with the least sum are found by eliminating values one after the other ([`crate::assignment`]).
//! 4. *Placement* (`evaluate.rs`): the planner places what is to be in LX, and the model prices the result. What does not fit is put in HBM
//!    and the rest chosen again.
//! 5. The cheapest of all these plans is kept. The first is the one of the splits that each op gets by itself: so the result is never worse
//!    by the model.

mod alike;
mod candidates;
mod evaluate;
mod states;
mod tables;

#[cfg(test)]
mod tests;

use crate::{
    assignment::minimize,
    work::{OperandOf, Operation, WorkSplit},
};
use cost::{Cost, Objective, TileOp};
use evaluate::evaluate;
use machine::Target;
use scratchpad::{Buffer, Capacity, Planner};
use tables::{Pricing, Tables};

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use candidates::candidates;

/// The most entries of a table while values are eliminated, possible or not.
const MOST_ENTRIES: usize = 1 << 20;
/// The most plans that are looked at: each but the first leaves something in HBM that did not fit before.
const MOST_PLANS: usize = 8;

/// A program whose ops are to be divided.
#[derive(Clone, Debug, Default)]
pub struct JointProgram {
    /// Kinds of ops, as work division sees them; equivalent ops share one.
    pub kinds: Vec<Kind>,
    /// The ops in order.
    pub ops: Vec<Op>,
    /// The values, by birth.
    pub values: Vec<Value>,
}

/// Common properties of equivalent ops.
#[derive(Clone, Debug)]
pub struct Kind {
    /// As work division sees them.
    pub operation: Operation,
    /// Candidate splits; the first is the one that such an op gets on its own.
    pub splits: Vec<WorkSplit>,
}

/// An op.
#[derive(Clone, Debug)]
pub struct Op {
    /// Index into [`JointProgram::kinds`].
    pub kind: usize,
    /// As the model of time sees it: all of it in HBM and in one slice; operands as in the operation.
    pub tile: TileOp,
    /// For each operand the value that it is, if it could be in LX.
    pub values: Vec<Option<usize>>,
}

/// Value that could be in LX.
#[derive(Clone, Debug)]
pub struct Value {
    /// Buffer as the planner sees it, but with the bytes of all slices. The times of its uses are those of
    /// [`Op::time`].
    pub buffer: Buffer,
    /// Operands that must agree on the core view of the value, the writer first.
    pub users: Vec<OperandOf>,
    /// For an input the op before which its copy is inserted.
    pub copied_before: Option<usize>,
}

impl JointProgram {
    /// Returns the kind of an op.
    #[must_use]
    pub fn kind(&self, op: usize) -> &Kind {
        &self.kinds[self.ops[op].kind]
    }

    /// One of the splits of an op.
    #[must_use]
    pub fn split(&self, op: usize, split: usize) -> &WorkSplit {
        &self.kind(op).splits[split]
    }
}

impl Op {
    /// The time of an op in the uses of buffers: between two ops there is time for copies.
    #[must_use]
    pub const fn time(position: usize) -> usize {
        2 * position + 1
    }
}

/// Chosen splits and their cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// For each op the index of its split.
    pub splits: Vec<usize>,
    /// For each op the split that would cost least if LX had unlimited room: a planner that splits live ranges may find
    /// more room. `None` if the plan would be rejected regardless of its cost.
    pub if_all_fits: Option<Vec<usize>>,
    /// The modeled time of all ops, ns.
    pub ns: f64,
    /// Bytes to and from HBM.
    pub hbm_bytes: i64,
    /// Whether no price should make it look possible ([`cost::refuse`]).
    pub is_refused: bool,
}

impl Choice {
    /// Whether this one is preferred: what is not refused, then what costs less.
    fn is_better_than(&self, other: &Self, objective: Objective) -> bool {
        let by_refusal = self.is_refused.cmp(&other.is_refused);
        by_refusal.then_with(|| objective.order(&self.cost(), &other.cost())).is_lt()
    }

    const fn cost(&self) -> Cost {
        Cost { ns: self.ns, hbm_bytes: self.hbm_bytes }
    }
}

/// Chooses a split for each op; every value is in LX for its whole life or not at all. The result is never dearer, by the model and with this planner, than every op's first split.
#[must_use]
pub fn choose(program: &JointProgram, planner: &dyn Planner, target: &Target, objective: Objective) -> Choice {
    let alone = vec![0; program.ops.len()];
    let (mut best, _) = plan(program, &alone, planner, target);
    let tables = Tables::new(program, &Capacity::of(target), Pricing { model: &target.time, objective });
    let mut in_hbm = vec![false; program.values.len()];
    let mut planned: Vec<Vec<usize>> = Vec::new();
    let mut if_all_fits = None;
    for _ in 1..MOST_PLANS {
        let problem = tables.problem(&in_hbm);
        let found = minimize(&problem, &tables.start(), MOST_ENTRIES);
        let splits = tables.splits(&found.states);
        // The same splits have the same plan, which leaves the same values in HBM.
        if planned.contains(&splits) {
            break;
        }
        let (choice, spilled) = plan(program, &splits, planner, target);
        if planned.is_empty() && !choice.is_refused {
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
    Choice { if_all_fits, ..best }
}

/// The plan with these splits, and the values that all users agree about but that do not fit.
fn plan(program: &JointProgram, splits: &[usize], planner: &dyn Planner, target: &Target) -> (Choice, Vec<usize>) {
    let evaluated = evaluate(program, splits, planner, target);
    let (ns, hbm_bytes, is_refused) = (evaluated.ns, evaluated.hbm_bytes, evaluated.is_refused);
    (Choice { splits: splits.to_vec(), if_all_fits: None, ns, hbm_bytes, is_refused }, evaluated.spilled)
}
