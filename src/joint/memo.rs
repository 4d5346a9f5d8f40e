//! Results that programs of one search share: kinds of ops, sets of views, and costs.
//!
//! A search divides many programs that differ in a few ops. Each entry depends only on its key, so a hit returns the
//! result of the computation.

use super::{
    enumerate_split_candidates,
    op_cost_table::{CopyCostKey, LexicographicCost, OpCostKey, OpCostTable},
};
use crate::{
    assignment::{MemoTable, TableMemo, check_memo_hit},
    work::{CoreUse, CoreView, WorkError, compute_core_view, divide},
};
use cost::Objective;
use machine::Target;
use program::{UndividedOp, WorkSplit};
use rustc_hash::FxHashMap;
use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// Common properties of equivalent ops.
#[derive(Debug)]
pub struct OpClass {
    /// Op for work division.
    pub operation: Rc<UndividedOp>,
    /// Candidate splits; the first is the split of an op of this class in isolation.
    pub splits: Vec<WorkSplit>,
    /// Number of the kind; kinds of one [`JointMemo`] have different numbers.
    pub number: usize,
    /// For each operand its views, one per split.
    views: Vec<OnceCell<Vec<Option<CoreView>>>>,
}

impl OpClass {
    /// Creates a kind from its number, operation and candidate splits.
    #[must_use]
    pub fn new(number: usize, operation: Rc<UndividedOp>, splits: Vec<WorkSplit>) -> Self {
        let views = operation.operands.iter().map(|_| OnceCell::new()).collect();
        Self { operation, splits, number, views }
    }

    /// Returns the view of an operand under each split; `None` where the split determines no view.
    pub(super) fn views(&self, operand: usize) -> &[Option<CoreView>] {
        let view = |split| compute_core_view(0, &CoreUse { op: &self.operation, operand, split }).ok();
        self.views[operand].get_or_init(|| self.splits.iter().map(view).collect())
    }
}

/// Key of a set of views: the users of a value, by kind and operand, and the bytes of the value.
pub(super) type ViewSetKey = (BTreeSet<(usize, usize)>, i64);

/// Results for the programs of one search, all for one target.
#[derive(Debug, Default)]
pub struct JointMemo {
    own_splits: FxHashMap<Rc<UndividedOp>, WorkSplit>,
    kinds: FxHashMap<(Rc<UndividedOp>, bool), Rc<OpClass>>,
    pub(super) sets: MemoTable<ViewSetKey, Rc<[CoreView]>>,
    pub(super) prices: FxHashMap<(Objective, OpCostKey), Rc<OpCostTable>>,
    pub(super) copies: FxHashMap<(Objective, CopyCostKey), Rc<BTreeMap<usize, LexicographicCost>>>,
    pub(super) tables: TableMemo<LexicographicCost>,
}

impl JointMemo {
    /// Returns the split of an op in isolation.
    ///
    /// # Errors
    /// Those of [`divide`].
    pub fn find_isolated_split(
        &mut self,
        operation: &Rc<UndividedOp>,
        target: &Target,
    ) -> Result<WorkSplit, WorkError> {
        if let Some(split) = self.own_splits.get(operation) {
            check_memo_hit(split, || divide(operation, target).expect("an op that was divided can be divided"));
            return Ok(split.clone());
        }
        let split = divide(operation, target)?;
        self.own_splits.insert(Rc::clone(operation), split.clone());
        Ok(split)
    }

    /// Returns the kind of an op. `has_values` says whether an operand could be in LX.
    ///
    /// # Errors
    /// Those of [`divide`].
    pub fn find_op_class(
        &mut self,
        operation: &Rc<UndividedOp>,
        has_values: bool,
        target: &Target,
    ) -> Result<Rc<OpClass>, WorkError> {
        let key = (Rc::clone(operation), has_values);
        // The op has a split, so `enumerate_splits` finds at least one.
        let splits_of = |own: WorkSplit| {
            enumerate_split_candidates(operation, &own, has_values, target).unwrap_or_else(|_| vec![own])
        };
        if let Some(kind) = self.kinds.get(&key) {
            check_memo_hit(&kind.splits, || {
                splits_of(divide(operation, target).expect("an op that was divided can be divided"))
            });
            return Ok(Rc::clone(kind));
        }
        let splits = splits_of(self.find_isolated_split(operation, target)?);
        let kind = Rc::new(OpClass::new(self.kinds.len(), Rc::clone(&key.0), splits));
        self.kinds.insert(key, Rc::clone(&kind));
        Ok(kind)
    }
}
