//! Results that programs of one search share: kinds of ops, sets of views, and prices.
//!
//! A search divides many programs that differ in a few ops. Each entry follows from its key alone, so a hit returns what the computation
//! would.

use super::{
    alike::{Alike, check_hit},
    candidates,
    prices::{CopyKey, Cost, Prices, PricesKey},
};
use crate::work::{CoreUse, CoreView, WorkError, divide, view_of};
use cost::Objective;
use machine::Target;
use program::{Operation, WorkSplit};
use rustc_hash::FxHashMap;
use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// Common properties of equivalent ops.
#[derive(Debug)]
pub struct Kind {
    /// Op as work division sees it.
    pub operation: Rc<Operation>,
    /// Candidate splits; the first is the one that such an op gets on its own.
    pub splits: Vec<WorkSplit>,
    /// Number of the kind; kinds of one [`Memo`] have different numbers.
    pub number: usize,
    /// For each operand its views, one per split.
    views: Vec<OnceCell<Vec<Option<CoreView>>>>,
}

impl Kind {
    /// Creates a kind from its number, operation and candidate splits.
    #[must_use]
    pub fn new(number: usize, operation: Rc<Operation>, splits: Vec<WorkSplit>) -> Self {
        let views = operation.operands.iter().map(|_| OnceCell::new()).collect();
        Self { operation, splits, number, views }
    }

    /// Returns the view of an operand under each split; `None` where the split determines no view.
    pub(super) fn views(&self, operand: usize) -> &[Option<CoreView>] {
        let view = |split| view_of(0, &CoreUse { op: &self.operation, operand, split }).ok();
        self.views[operand].get_or_init(|| self.splits.iter().map(view).collect())
    }
}

/// Key of a set of views: the users of a value, by kind and operand, and the bytes of the value.
pub(super) type SetKey = (BTreeSet<(usize, usize)>, i64);

/// Results for the programs of one search, all for one target.
#[derive(Debug, Default)]
pub struct Memo {
    own_splits: FxHashMap<Rc<Operation>, WorkSplit>,
    kinds: FxHashMap<(Rc<Operation>, bool), Rc<Kind>>,
    pub(super) sets: Alike<SetKey, Rc<[CoreView]>>,
    pub(super) prices: FxHashMap<(Objective, PricesKey), Rc<Prices>>,
    pub(super) copies: FxHashMap<(Objective, CopyKey), Rc<BTreeMap<usize, Cost>>>,
}

impl Memo {
    /// Returns the split that an op gets on its own.
    ///
    /// # Errors
    /// As [`divide`].
    pub fn own_split(&mut self, operation: &Rc<Operation>, target: &Target) -> Result<WorkSplit, WorkError> {
        if let Some(split) = self.own_splits.get(operation) {
            check_hit(split, || divide(operation, target).expect("an op that was divided can be divided"));
            return Ok(split.clone());
        }
        let split = divide(operation, target)?;
        self.own_splits.insert(Rc::clone(operation), split.clone());
        Ok(split)
    }

    /// Returns the kind of an op. `has_values` says whether an operand could be in LX.
    ///
    /// # Errors
    /// As [`divide`].
    pub fn kind(&mut self, operation: &Rc<Operation>, has_values: bool, target: &Target) -> Result<Rc<Kind>, WorkError> {
        let key = (Rc::clone(operation), has_values);
        // The op has a split, so `alternatives` is not empty.
        let splits_of = |own: WorkSplit| candidates(operation, &own, has_values, target).unwrap_or_else(|_| vec![own]);
        if let Some(kind) = self.kinds.get(&key) {
            check_hit(&kind.splits, || splits_of(divide(operation, target).expect("an op that was divided can be divided")));
            return Ok(Rc::clone(kind));
        }
        let splits = splits_of(self.own_split(operation, target)?);
        let kind = Rc::new(Kind::new(self.kinds.len(), Rc::clone(&key.0), splits));
        self.kinds.insert(key, Rc::clone(&kind));
        Ok(kind)
    }
}
