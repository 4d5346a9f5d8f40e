//! Pads dimensions to full sticks, and determines the padding that must be masked ("SuperDSC schema, section 4").

use super::order::OpView;
use super::{DimLabel, LabeledSpace, LabeledTensor, LayoutClass, Scale};
use crate::bundle::OpFamily;
use crate::bundle::OpSpec;
use crate::bundle::{is_conversion, is_restickify};

/// Points added to each padded dimension, in the order of the file.
pub type DimPadding = Vec<(DimLabel, i64)>;

/// Pads the space to full sticks of the operands of which the op computes full sticks, and returns the padding.
pub(super) fn pad_space(
    view: &OpView<'_>,
    tensors: &[LabeledTensor],
    classes: &[LayoutClass],
    space: &mut LabeledSpace,
) -> DimPadding {
    let mut padding = DimPadding::new();
    let padded = match select_padded_operands(view.op, view.family) {
        PaddedOperands::All => 0..tensors.len(),
        PaddedOperands::First => 0..1,
        PaddedOperands::Last => tensors.len() - 1..tensors.len(),
    };
    for (tensor, operand) in tensors[padded.clone()].iter().zip(&view.op.operands[padded]) {
        let class = &classes[tensor.class];
        for dim in tensor.dims.iter().take(operand.device_size.len().saturating_sub(1)) {
            let excess = space.size(dim.label).rem_euclid(class.stick_elements());
            if class.stick.contains(&dim.label) && excess > 0 {
                let added = class.stick_elements() - excess;
                space.grow(dim.label, added);
                match padding.iter_mut().find(|(label, _)| *label == dim.label) {
                    Some((_, points)) => *points = added,
                    None => padding.push((dim.label, added)),
                }
            }
        }
    }
    padding
}

enum PaddedOperands {
    All,
    First,
    Last,
}

fn select_padded_operands(op: &OpSpec, family: OpFamily) -> PaddedOperands {
    match family {
        OpFamily::Matmul | OpFamily::Conv2d | OpFamily::Depthwise => PaddedOperands::All,
        _ if is_conversion(op) || is_restickify(op) => PaddedOperands::All,
        OpFamily::Pool | OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => {
            if op.is_reduction {
                PaddedOperands::First
            } else {
                PaddedOperands::Last
            }
        }
    }
}

/// Adjusts tensors after a restickify, which pads both sticks. A dimension may now be larger than a tensor in which it
/// is not the stick. A padded dimension is not split, since its last slice would hold padding only.
pub(super) fn adjust_restickify(
    view: &OpView<'_>,
    tensors: &mut [LabeledTensor],
    classes: &[LayoutClass],
    padding: &DimPadding,
    space: &mut LabeledSpace,
) {
    if !is_restickify(view.op) {
        return;
    }
    for (tensor, operand) in tensors.iter_mut().zip(&view.op.operands) {
        for (coordinate, device) in operand.coordinates.iter().zip(&operand.device_size) {
            let Some(label) = view.coordinate_label(coordinate) else { continue };
            let size = space.size(label);
            if classes[tensor.class].stick.contains(&label) || *device >= size {
                continue;
            }
            match tensor.gaps.iter_mut().find(|(gapped, _)| *gapped == label) {
                Some((_, gap)) => *gap = size - device,
                None => tensor.gaps.push((label, size - device)),
            }
        }
    }
    for (label, _) in padding {
        space.clear_split(*label);
    }
}

/// Returns the padding that would affect the result: along a reduced stick, and where `exp` maps undefined values to
/// the result.
pub(super) fn compute_masked_padding(op: &OpSpec, padding: &DimPadding, result: &LabeledTensor) -> DimPadding {
    let is_masked = |label: DimLabel| {
        result.dim(label).is_some_and(|dim| match dim.scale {
            Scale::AbsentStick => true,
            Scale::Present | Scale::Absent => op.function == "exp",
        })
    };
    padding.iter().copied().filter(|(label, _)| is_masked(*label)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Geometry;
    use super::*;
    use crate::bundle::testing::{dense_operand, op, operand};
    use crate::bundle::{Coordinate, OpSpecOperand};

    fn sparse(rows: i64) -> OpSpecOperand {
        operand(&[1, rows, 64], vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::constant(0)])
    }

    #[test]
    fn pads_and_masks_input_of_reduction() {
        let sum = Geometry::new(&op("sum", &[64, 50], vec![dense_operand(&[64, 50], 0, 1), sparse(64)])).unwrap();
        assert_eq!(sum.space.size(DimLabel::Out), 64);
        assert_eq!(sum.masked, [(DimLabel::Out, 14)]);
    }

    #[test]
    fn pads_elementwise_result_and_masks_exp_only() {
        let operands = || vec![dense_operand(&[100, 150], 0, 1), dense_operand(&[100, 150], 0, 1)];
        let neg = Geometry::new(&op("neg", &[100, 150], operands())).unwrap();
        assert_eq!((neg.space.size(DimLabel::Out), neg.masked.len()), (192, 0));
        assert_eq!(Geometry::new(&op("exp", &[100, 150], operands())).unwrap().masked, [(DimLabel::Out, 42)]);
    }

    #[test]
    fn pads_and_unsplits_both_sticks_of_restickify() {
        let mut restick = op(
            "ReStickifyOpHBM",
            &[100, 150],
            vec![dense_operand(&[150, 100], 1, 0), dense_operand(&[100, 150], 0, 1)],
        );
        restick.iteration_space[0].split = 2;
        let geometry = Geometry::new(&restick).unwrap();
        assert_eq!((geometry.space.size(DimLabel::Mb), geometry.space.size(DimLabel::Out)), (128, 192));
        assert_eq!(geometry.num_cores(), 1);
        assert_eq!(geometry.tensors[0].gaps, [(DimLabel::Out, 42)]);
        assert_eq!(geometry.tensors[1].gaps, [(DimLabel::Mb, 28)]);
    }
}
