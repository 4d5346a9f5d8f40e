//! Costs of ops by the locations of their operands, and the keys of these costs.

use crate::assignment;
use cost::TileOp;
use std::{collections::BTreeMap, rc::Rc};

/// Modeled time in ps, and bytes to and from HBM. Plans are compared by the first field, then by the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LexicographicCost {
    pub(super) first: u64,
    pub(super) second: u64,
}

impl assignment::AdditiveCost for LexicographicCost {
    const ZERO: Self = Self { first: 0, second: 0 };
    const IMPOSSIBLE: Self = Self { first: u64::MAX, second: u64::MAX };

    fn saturating_add(self, other: Self) -> Self {
        let first = self.first.checked_add(other.first);
        first.map_or(Self::IMPOSSIBLE, |first| Self { first, second: self.second.saturating_add(other.second) })
    }
}

/// Cost of an op for each assignment of states to its values, and the split with that cost.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpCostTable {
    pub(super) costs: Rc<BTreeMap<usize, LexicographicCost>>,
    /// Chosen split of each entry of `costs`.
    pub(super) splits: BTreeMap<usize, usize>,
}

/// Key of the memoized costs of an op: everything that they depend on.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct OpCostKey {
    /// Number of the kind.
    pub(super) kind: usize,
    /// Op whose buffers are numbered by the first operand that uses each.
    pub(super) tile: TileOp,
    /// For each operand the index of its variable.
    pub(super) variables: Vec<Option<usize>>,
    /// For each variable the number of its set of views.
    pub(super) sets: Vec<Option<usize>>,
    /// For each operand, the result of `collect_earlier_reads`.
    pub(super) reads: Vec<(i64, bool)>,
}

/// Key of the memoized cost of a copy: the class of its first user, that user with buffers numbered by operand, the
/// operand that it copies, and the views.
pub(super) type CopyCostKey = (usize, TileOp, usize, Option<usize>);
