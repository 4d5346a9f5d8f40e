//! `spyre-import-linalg`, f32 regions: connected f32 values between f16 values.

use crate::{
    codes,
    import::graph::NodeId,
    mlir::{ErrorReported, Op, OpExt, is_unknown_location, remark_at_location},
};
use std::collections::BTreeMap;

/// Maximum number of f32 regions with a remark of their own.
const MAX_REMARKS: usize = 3;

/// f32 regions of a function.
#[derive(Default)]
pub(super) struct F32Regions<'c> {
    /// Region of each wide value.
    by_node: BTreeMap<NodeId, usize>,
    /// Union-find parent of each region (itself for a root), and the cast that enters the region.
    regions: Vec<(usize, Op<'c>)>,
}

impl<'c> F32Regions<'c> {
    /// Records that a value is widened by `cast`.
    pub(super) fn enter(&mut self, node: NodeId, cast: Op<'c>) {
        if !self.by_node.contains_key(&node) {
            self.by_node.insert(node, self.regions.len());
            self.regions.push((self.regions.len(), cast));
        }
    }

    /// Records that a value is narrowed.
    pub(super) fn leave(&mut self, node: NodeId) {
        self.by_node.remove(&node);
    }

    /// Records that a wide value is computed from others, and merges their regions.
    pub(super) fn join(&mut self, operands: &[NodeId], node: NodeId) {
        let mut islands: Vec<usize> = operands
            .iter()
            .filter_map(|operand| self.by_node.get(operand))
            .map(|&island| self.find_root(island))
            .collect();
        islands.sort_unstable();
        let Some(&first) = islands.first() else { return };
        for island in islands {
            self.regions[island].0 = first;
        }
        self.by_node.insert(node, first);
    }

    fn find_root(&self, mut island: usize) -> usize {
        while self.regions[island].0 != island {
            island = self.regions[island].0;
        }
        island
    }

    /// Emits a remark for each of the first regions, at its first entry, and one for all others: a model has f32
    /// regions in every layer.
    pub(super) fn report(&self, function: Op<'c>) -> Result<(), ErrorReported> {
        let entered =
            self.regions.iter().enumerate().filter(|(island, (root, _))| island == root).map(|(_, (_, cast))| *cast);
        let entered: Vec<Op<'c>> = entered.collect();
        let (first, others) = entered.split_at(entered.len().min(MAX_REMARKS));
        for cast in first {
            let location = if is_unknown_location(cast.loc()) { function.loc() } else { cast.loc() };
            remark_at_location(
                codes::F32_AS_F16,
                *cast,
                "f32 values between f16 values are computed in the device's 16-bit format",
            )
            .with_location(location)
            .emit();
        }
        if !others.is_empty() {
            let message = format!(
                "{} more groups of f32 values between f16 values are computed in the device's 16-bit format",
                others.len()
            );
            remark_at_location(codes::F32_AS_F16, function, message).emit();
        }
        Ok(())
    }
}
