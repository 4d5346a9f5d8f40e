//! `spyre-coarse-tile`: reductions over tiled dimensions.

use super::{LoopBuilder, LoopInsertionPoint, ResultUses, TILING_PASS};
use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    dialect::{build_copy, build_pointwise, build_view},
    mlir::{
        DerivationKind, ErrorReported, Op, OpExt, TensorType, Type, Value, ValueLike, derived_location, error_at,
        floats, map_from_exprs,
    },
    tile::ir::{
        combination::{CombinationRule, find_combination},
        items::BlockItem,
        scalar_constant::insert_scalar_before,
    },
};
use program::affine::AffineExpression;

/// Reason that is recorded for the copy of an accumulator.
const REASON_ACCUMULATOR_IN_LX: &str =
    "an accumulator that may be in LX is a program result, yielded by a loop, or read tile by tile";

impl<'c> LoopBuilder<'_, 'c> {
    /// Returns whether each iteration reduces a single element of a mean.
    pub(super) fn is_single_element_mean(&self, op: usize) -> bool {
        let (plain, cuts) = (&self.items.plain[op], &self.tree.cuts[op]);
        let is_mean = self.items.list[op]
            .compute
            .is_some_and(|compute| compute.op.is(spyre::REDUCE) && compute.function() == "mean");
        is_mean
            && cuts.iter().any(|cut| cut.is_reduced)
            && (plain.sizes.len() - plain.num_reduced..plain.sizes.len()).all(|dim| plain.tile_size(cuts, dim) == 1)
    }

    /// Combines the share of a mean that a single element contributes, without a reduction: the device has no reduction
    /// of one element.
    pub(super) fn combine_mean_share(
        &mut self,
        op: usize,
        element: Value<'c>,
        depth: usize,
        body: LoopInsertionPoint<'c>,
    ) -> Result<(), ErrorReported> {
        let mean = self.items.list[op].op;
        let factor = mean.attr(attr::CONSTANTS).and_then(floats).and_then(|constants| constants.first().copied());
        let factor = factor.ok_or_else(|| error_at(codes::MALFORMED_IR, mean, "has no factor").report())?;
        let to = self.compact_window_type(op, self.window_type(op, depth)?)?;
        let factor = self.insert_scalar(mean, factor, to, body)?;
        let share = body.insert_at_end(build_pointwise(
            mean.ctx(),
            derived_location(mean, DerivationKind::Decomposition, TILING_PASS),
            "mul",
            &[element, factor],
            &[],
            to,
        ));
        self.copy_dim_names(op, share);
        self.replaced.insert(mean.output(), ());
        self.combine_partial_result(op, share.output(), body)
    }

    /// Combines a partial result with the carried value.
    pub(super) fn combine_partial_result(
        &mut self,
        op: usize,
        part: Value<'c>,
        body: LoopInsertionPoint<'c>,
    ) -> Result<(), ErrorReported> {
        let item = &self.items.list[op];
        let (Some(combination), Some(before)) = (item.compute.and_then(find_combination), self.made[op].accumulator)
        else {
            return Err(error_at(codes::MALFORMED_IR, item.op, "has no accumulator").report());
        };
        let (context, location) =
            (item.op.ctx(), derived_location(item.op, DerivationKind::Decomposition, TILING_PASS));
        let combined = body.insert_at_end(build_pointwise(
            context,
            location,
            combination.function,
            &[before, part],
            &[],
            before.r#type(),
        ));
        self.copy_dim_names(op, combined);
        self.made[op].accumulator = Some(combined.output());
        Ok(())
    }

    /// Returns the accumulators that a loop carries, or reads and writes tile by tile along a dimension.
    pub(super) fn collect_accumulators(&self, around: usize, depth: usize) -> Vec<(usize, Option<usize>)> {
        let members = self.members[around].iter().filter(|&&op| self.tree.home_depth(op) <= depth);
        members.map(|&op| (op, self.tiled_result_dims(op)[depth])).collect()
    }

    /// Returns whether a loop at this depth has an accumulator of an op. Otherwise the op's result is complete inside
    /// the loop, and is yielded as it is computed.
    pub(super) fn has_accumulator(&self, op: usize, depth: usize) -> bool {
        self.tree.home_depth(op) <= depth
    }

    /// Inserts the neutral element before the outermost loop that tiles a reduced dimension.
    pub(super) fn initialize_accumulators(
        &mut self,
        accumulated: &[(usize, Option<usize>)],
        depth: usize,
        body: LoopInsertionPoint<'c>,
    ) -> Result<(), ErrorReported> {
        for &(op, _) in accumulated.iter().filter(|(op, _)| self.tree.home_depth(*op) == depth) {
            let item = &self.items.list[op];
            let Some(CombinationRule { neutral, .. }) = item.compute.and_then(find_combination) else { continue };
            let window = self.window_type(op, depth)?;
            let compact = self.compact_window_type(op, window)?;
            let ResultUses { depth: used, in_hbm, .. } = self.uses[op];
            let intervals = (used < depth || in_hbm) && !self.fits_lx(compact);
            let to = if intervals { window } else { compact };
            let value = self.insert_neutral_element(item, neutral, to, body)?;
            self.copy_dim_names(op, value);
            self.made[op].accumulator = Some(value.output());
        }
        Ok(())
    }

    /// Creates a copy of one number to all elements of a tensor.
    fn insert_neutral_element(
        &self,
        item: &BlockItem<'c>,
        number: f64,
        to: Type<'c>,
        body: LoopInsertionPoint<'c>,
    ) -> Result<Op<'c>, ErrorReported> {
        let (context, location) =
            (item.op.ctx(), derived_location(item.op, DerivationKind::Decomposition, TILING_PASS));
        let one = self.insert_scalar(item.op, number, to, body)?;
        let shape = TensorType::from_type(to).map(|tensor| TensorType { encoding: None, ..tensor });
        let shape = shape.ok_or_else(|| error_at(codes::MALFORMED_IR, item.op, "has no tensor result").report())?;
        let rank = shape.shape.len();
        let everywhere = map_from_exprs(context, rank, 0, &vec![AffineExpression::Constant(0); rank]);
        let viewed = body.insert_at_end(build_view(context, location, one, everywhere, shape.build())).output();
        Ok(body.insert_at_end(build_copy(context, location, viewed, to)))
    }

    /// Creates a one-element tensor with a number, with the rank and the format of `like`.
    fn insert_scalar(
        &self,
        of: Op<'c>,
        number: f64,
        like: Type<'c>,
        body: LoopInsertionPoint<'c>,
    ) -> Result<Value<'c>, ErrorReported> {
        insert_scalar_before(self.block_anchor(body), of, number, like)
    }

    /// Returns the value of a finished accumulator for ops that are not next to the loop: a copy, if it may stay in LX.
    pub(super) fn finish_accumulator(
        &self,
        op: usize,
        result: Value<'c>,
        depth: usize,
        body: LoopInsertionPoint<'c>,
    ) -> Result<Value<'c>, ErrorReported> {
        let ResultUses { depth: used, in_hbm, .. } = self.uses[op];
        let window = self.window_type(op, depth)?;
        let is_copied = (used < depth || in_hbm) && (result.r#type() != window || self.fits_lx(window));
        Ok(if is_copied { self.insert_copy(op, result, window, REASON_ACCUMULATOR_IN_LX, body) } else { result })
    }
}

/// Returns the ops that a loop yields, in the order of its results: tiled results first, then carried ones, which have
/// no dimension.
pub(super) fn order_yielded_ops(
    accumulated: &[(usize, Option<usize>)],
    given: &[(usize, usize)],
) -> Vec<(usize, Option<usize>)> {
    let (tiled, carried): (Vec<_>, Vec<_>) = accumulated.iter().copied().partition(|(_, dim)| dim.is_some());
    tiled.into_iter().chain(given.iter().map(|&(op, dim)| (op, Some(dim)))).chain(carried).collect()
}
