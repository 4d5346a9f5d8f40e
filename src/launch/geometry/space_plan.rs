//! Computes the op's own dimension order, and the dimensions that the rules add to its space ("SuperDSC schema, section
//! 2.2").

use super::order::{DimOrder, OpView};
use super::space::round_up;
use super::{DimLabel, LabeledSpace, SpaceDim};
use crate::bundle::OpFamily;
use crate::bundle::needs_outer_dim;
use crate::launch::LaunchError;

/// Labelled space of an op and the dimensions added to it.
#[derive(Clone, Debug, Default)]
pub(super) struct SpacePlan {
    pub(super) space: LabeledSpace,
    /// Dimensions of the reference operand, followed by the added ones.
    pub(super) order: Vec<DimLabel>,
    /// The stick of the reference operand.
    pub(super) stick: Option<DimLabel>,
    /// Dimension that was added for full sticks if all operands are sparse.
    pub(super) full_stick: Option<DimLabel>,
    /// Single row that precedes the dimensions of every operand except the index tensors.
    pub(super) outer: Option<DimLabel>,
    /// Stick dimensions added for index tensors without one, by operand.
    pub(super) private: Vec<(usize, DimLabel)>,
    /// Dimension added for the result of a top-k that has none of its own.
    pub(super) top_k: Option<DimLabel>,
}

impl SpacePlan {
    /// Labels the space of an op and adds the dimensions that the file needs.
    pub(super) fn new(view: &OpView<'_>) -> Result<Self, LaunchError> {
        let num_operands = view.op.operands.len();
        let reference = if view.op.is_reduction { 0 } else { num_operands - 1 };
        let DimOrder { dims: order, stick } = view.reference_order(reference);
        let mut plan = Self { space: build_space(view), order, stick, ..Self::default() };
        plan.add_conversion_row(view);
        if view.is_indirect() {
            plan.add_point_row(view)?;
            plan.add_private_sticks(view)?;
        }
        if plan.stick.is_none() {
            plan.add_full_stick(view)?;
        }
        if view.family == OpFamily::Matmul {
            plan.pad_contraction(view);
        }
        if view.family == OpFamily::TopK {
            plan.add_top_k_dim(view)?;
        }
        Ok(plan)
    }

    /// Returns whether a label was added as the stick of an index tensor.
    pub(super) fn is_private_stick(&self, label: DimLabel) -> bool {
        self.private.iter().any(|(_, private)| *private == label)
    }

    /// Adds a row to conversions, which require rows of sticks: a 1-D tensor becomes a single row.
    fn add_conversion_row(&mut self, view: &OpView<'_>) {
        let is_flat = self.stick.is_some_and(|stick| self.order.iter().all(|label| *label == stick));
        if needs_outer_dim(view.op) && is_flat {
            self.outer = Some(DimLabel::Mb);
            self.space.set_first(DimLabel::Mb, 1);
            self.order.insert(0, DimLabel::Mb);
        }
    }

    /// Adds a row for an index tensor with a single index, which has no iteration dimension.
    fn add_point_row(&mut self, view: &OpView<'_>) -> Result<(), LaunchError> {
        if self.outer.is_some() || !view.index_tensors().any(|index| view.own_order(index).dims.is_empty()) {
            return Ok(());
        }
        let label = first_free_label(&[&self.order]).ok_or(LaunchError::NoLabelLeft { purpose: "a single index" })?;
        self.space.set_size(label, 1);
        self.order.insert(0, label);
        self.outer = Some(label);
        Ok(())
    }

    fn add_private_sticks(&mut self, view: &OpView<'_>) -> Result<(), LaunchError> {
        for index in view.index_tensors() {
            let DimOrder { dims, stick } = view.own_order(index);
            if dims.is_empty() || stick.is_some() {
                continue;
            }
            let label = first_free_label(&[&self.order, &dims])
                .ok_or(LaunchError::NoLabelLeft { purpose: "the stick of an index tensor" })?;
            self.space.set_size(label, 1);
            self.order.push(label);
            self.private.push((index, label));
        }
        Ok(())
    }

    /// Adds a stick dimension to an op whose operands are all sparse: it computes on one full stick per element.
    fn add_full_stick(&mut self, view: &OpView<'_>) -> Result<(), LaunchError> {
        let label = match view.family {
            OpFamily::Pool => {
                self.space.set_size(DimLabel::Out, result_channels(view)?);
                DimLabel::Out
            }
            OpFamily::Depthwise => {
                self.space.set_first(DimLabel::Out, result_channels(view)?);
                DimLabel::Out
            }
            OpFamily::Matmul | OpFamily::Conv2d | OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => {
                let label = *DimLabel::ORDINARY
                    .get(view.labels.len())
                    .ok_or(LaunchError::NoLabelLeft { purpose: "the stick" })?;
                self.space.set_size(label, view.op.operands[0].format.elements_per_stick());
                label
            }
        };
        self.full_stick = Some(label);
        Ok(())
    }

    /// Pads the contracted dimension of a matmul to full sticks of its second operand.
    fn pad_contraction(&mut self, view: &OpView<'_>) {
        let weight = view.own_order(1);
        let result = view.own_order(view.op.operands.len() - 1);
        let contracted =
            weight.dims.iter().filter(|label| weight.stick != Some(**label) && !result.dims.contains(label));
        if let Some(label) = contracted.min_by_key(|label| label.name()) {
            let size = self.space.size(*label);
            self.space.grow(*label, round_up(size, view.op.operands[1].format.elements_per_stick()) - size);
        }
    }

    fn add_top_k_dim(&mut self, view: &OpView<'_>) -> Result<(), LaunchError> {
        let input = view.own_order(0).dims;
        let output = view.own_order(view.op.operands.len() - 1).dims;
        if output.iter().all(|label| input.contains(label)) {
            let label = DimLabel::ORDINARY
                .get(self.space.dims().len())
                .ok_or(LaunchError::NoLabelLeft { purpose: "the selected elements of a top-k" })?;
            self.space.set_size(*label, 1);
            self.top_k = Some(*label);
        }
        Ok(())
    }
}

/// Returns the labelled iteration space, with the splits that the format permits.
fn build_space(view: &OpView<'_>) -> LabeledSpace {
    let mut space = LabeledSpace::default();
    for (dim, label) in view.op.iteration_space.iter().zip(&view.labels) {
        let is_window = matches!(label, DimLabel::Ki | DimLabel::Kj) && view.family.is_windowed();
        let split = if is_window { 1 } else { dim.split };
        let size = dim.symbolic.as_ref().map_or(dim.range, |symbolic| symbolic.max);
        space.push(SpaceDim { label: *label, size, split, symbolic: dim.symbolic.clone() });
    }
    if let (OpFamily::Depthwise, Some(window)) = (view.family, &view.op.window) {
        for (label, axis) in [(DimLabel::Ki, window.height), (DimLabel::Kj, window.width)] {
            if space.get(label).is_none() {
                space.set_size(label, axis.kernel);
            }
        }
    }
    space
}

fn result_channels(view: &OpView<'_>) -> Result<i64, LaunchError> {
    let [_, channels, _, _] = view
        .op
        .node_output_ranges
        .ok_or(LaunchError::MissingWindow { missing: "the ranges [N, C, H, W] of its result" })?;
    Ok(channels)
}

fn first_free_label(taken: &[&[DimLabel]]) -> Option<DimLabel> {
    DimLabel::ORDINARY.into_iter().find(|label| !taken.iter().any(|labels| labels.contains(label)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::with_view;
    use super::*;
    use crate::bundle::Coordinate;
    use crate::bundle::testing::{dense_operand, operand};

    fn sizes(plan: &SpacePlan) -> Vec<(DimLabel, i64)> {
        plan.space.dims().iter().map(|dim| (dim.label, dim.size)).collect()
    }

    #[test]
    fn adds_row_to_flat_conversion() {
        let flat = || operand(&[2, 64], vec![Coordinate::floordiv(0, 64), Coordinate::modulo(0, 64)]);
        let plan = with_view("dl16tofp32", &[128], vec![flat(), flat()], |view| SpacePlan::new(view).unwrap());
        assert_eq!(sizes(&plan), [(DimLabel::Mb, 1), (DimLabel::Out, 128)]);
        assert_eq!(plan.outer, Some(DimLabel::Mb));
        let plan = with_view("neg", &[128], vec![flat(), flat()], |view| SpacePlan::new(view).unwrap());
        assert_eq!(plan.outer, None);
    }

    #[test]
    fn adds_full_stick_to_sparse_op() {
        let sparse =
            || operand(&[1, 8, 64], vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::constant(0)]);
        let plan = with_view("rsqrt", &[8], vec![sparse(), sparse()], |view| SpacePlan::new(view).unwrap());
        assert_eq!(sizes(&plan), [(DimLabel::Out, 8), (DimLabel::X, 64)]);
        assert_eq!(plan.full_stick, Some(DimLabel::X));
    }

    #[test]
    fn pads_contraction_of_matmul() {
        let operands =
            vec![dense_operand(&[8, 100], 0, 2), dense_operand(&[128, 128], 2, 1), dense_operand(&[8, 128], 0, 1)];
        let plan = with_view("batchmatmul", &[8, 128, 100], operands, |view| SpacePlan::new(view).unwrap());
        assert_eq!(sizes(&plan), [(DimLabel::Mb, 8), (DimLabel::Out, 128), (DimLabel::In, 128)]);
    }

    #[test]
    fn adds_dimension_to_top_k() {
        let input = dense_operand(&[8, 64], 1, 0);
        let output = operand(&[1, 1, 64], vec![Coordinate::constant(0), Coordinate::constant(0), Coordinate::dim(0)]);
        let plan = with_view("topkvalue", &[64, 8], vec![input, output], |view| SpacePlan::new(view).unwrap());
        assert_eq!(plan.top_k, Some(DimLabel::Y));
    }

    #[test]
    fn adds_row_for_single_index_and_removes_splits() {
        let mut index =
            operand(&[1, 1, 32], vec![Coordinate::constant(0), Coordinate::constant(0), Coordinate::constant(0)]);
        index.name = Some("t".to_owned());
        let table = operand(&[4, 1, 64], vec![Coordinate::indirect("t"), Coordinate::constant(0), Coordinate::dim(0)]);
        let result = operand(&[1, 1, 64], vec![Coordinate::constant(0), Coordinate::constant(0), Coordinate::dim(0)]);
        let plan = with_view("identity", &[64], vec![index, table, result], |view| SpacePlan::new(view).unwrap());
        assert_eq!(sizes(&plan), [(DimLabel::Out, 64), (DimLabel::Mb, 1)]);
        assert_eq!(plan.order, [DimLabel::Mb, DimLabel::Out]);
    }
}
