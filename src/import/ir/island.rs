//! `spyre-import-linalg`, f32 islands: connected f32 values between f16 values.

use crate::{
    codes,
    import::graph::NodeId,
    mlir::{Op, OpExt, Reported, is_unknown, remark_behind},
};
use std::collections::BTreeMap;

/// Maximum number of islands with a remark of their own.
const MOST_REMARKS: usize = 3;

/// Islands of a function.
#[derive(Default)]
pub(super) struct Islands<'c> {
    /// Island of each wide value.
    of: BTreeMap<NodeId, usize>,
    /// Union-find parent of each island (itself for a root), and the cast that enters the island.
    islands: Vec<(usize, Op<'c>)>,
}

impl<'c> Islands<'c> {
    /// Records that a value is widened by `cast`.
    pub(super) fn enter(&mut self, node: NodeId, cast: Op<'c>) {
        if !self.of.contains_key(&node) {
            self.of.insert(node, self.islands.len());
            self.islands.push((self.islands.len(), cast));
        }
    }

    /// Records that a value is narrowed.
    pub(super) fn leave(&mut self, node: NodeId) {
        self.of.remove(&node);
    }

    /// Records that a wide value is computed from others, and merges their islands.
    pub(super) fn join(&mut self, operands: &[NodeId], node: NodeId) {
        let mut islands: Vec<usize> = operands.iter().filter_map(|operand| self.of.get(operand)).map(|&island| self.root(island)).collect();
        islands.sort_unstable();
        let Some(&first) = islands.first() else { return };
        for island in islands {
            self.islands[island].0 = first;
        }
        self.of.insert(node, first);
    }

    fn root(&self, mut island: usize) -> usize {
        while self.islands[island].0 != island {
            island = self.islands[island].0;
        }
        island
    }

    /// Emits a remark for each of the first islands, at its first entry, and one for all others: a model has islands in every layer.
    pub(super) fn report(&self, function: Op<'c>) -> Result<(), Reported> {
        let entered = self.islands.iter().enumerate().filter(|(island, (root, _))| island == root).map(|(_, (_, cast))| *cast);
        let entered: Vec<Op<'c>> = entered.collect();
        let (first, others) = entered.split_at(entered.len().min(MOST_REMARKS));
        for cast in first {
            let location = if is_unknown(cast.loc()) { function.loc() } else { cast.loc() };
            remark_behind(codes::F32_AS_F16, *cast, "f32 values between f16 values are computed in the device's 16-bit format")
                .at(location)
                .emit();
        }
        if !others.is_empty() {
            let message =
                format!("{} more groups of f32 values between f16 values are computed in the device's 16-bit format", others.len());
            remark_behind(codes::F32_AS_F16, function, message).emit();
        }
        Ok(())
    }
}
