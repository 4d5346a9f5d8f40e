//! Padding to full sticks, and the choice of the padding that must be masked ("SuperDSC schema, section 4").

use super::order::OpView;
use super::{Class, Label, Scale, Space, Tensor};
use crate::bundle::OpFamily;
use crate::bundle::OpSpec;
use crate::bundle::{is_conversion, is_restickify};

/// Points added to each padded dimension, in the order of the file.
pub type Padding = Vec<(Label, i64)>;

/// Pads the space to full sticks of the operands of which the op computes full sticks, and returns the padding.
pub(super) fn pad(view: &OpView<'_>, tensors: &[Tensor], classes: &[Class], space: &mut Space) -> Padding {
    let mut padding = Padding::new();
    let padded = match padded_operands(view.op, view.family) {
        Padded::All => 0..tensors.len(),
        Padded::First => 0..1,
        Padded::Last => tensors.len() - 1..tensors.len(),
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

enum Padded {
    All,
    First,
    Last,
}

fn padded_operands(op: &OpSpec, family: OpFamily) -> Padded {
    match family {
        OpFamily::Matmul | OpFamily::Conv2d | OpFamily::Depthwise => Padded::All,
        _ if is_conversion(op) || is_restickify(op) => Padded::All,
        OpFamily::Pool | OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => {
            if op.is_reduction {
                Padded::First
            } else {
                Padded::Last
            }
        }
    }
}

/// Adjusts tensors after a restickify, which pads both sticks: a dimension may now be larger than a tensor in which it is not the stick;
/// and a padded dimension is not split, since its last slice would hold padding only.
pub(super) fn settle_restickify(view: &OpView<'_>, tensors: &mut [Tensor], classes: &[Class], padding: &Padding, space: &mut Space) {
    if !is_restickify(view.op) {
        return;
    }
    for (tensor, operand) in tensors.iter_mut().zip(&view.op.operands) {
        for (coordinate, device) in operand.coordinates.iter().zip(&operand.device_size) {
            let Some(label) = view.label_of(coordinate) else { continue };
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
        space.unsplit(*label);
    }
}

/// Returns the padding that would affect the result: along a reduced stick, and where `exp` maps undefined values to the result.
pub(super) fn masked(op: &OpSpec, padding: &Padding, result: &Tensor) -> Padding {
    let is_masked = |label: Label| {
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
    use crate::bundle::testing::{dense, op, operand};
    use crate::bundle::{Coordinate, Operand};

    fn sparse(rows: i64) -> Operand {
        operand(&[1, rows, 64], vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::constant(0)])
    }

    #[test]
    fn a_reduction_pads_its_input_and_masks_the_padding() {
        let sum = Geometry::new(&op("sum", &[64, 50], vec![dense(&[64, 50], 0, 1), sparse(64)])).unwrap();
        assert_eq!(sum.space.size(Label::Out), 64);
        assert_eq!(sum.masked, [(Label::Out, 14)]);
    }

    #[test]
    fn an_elementwise_op_pads_its_result_and_masks_only_what_exp_makes_of_garbage() {
        let operands = || vec![dense(&[100, 150], 0, 1), dense(&[100, 150], 0, 1)];
        let neg = Geometry::new(&op("neg", &[100, 150], operands())).unwrap();
        assert_eq!((neg.space.size(Label::Out), neg.masked.len()), (192, 0));
        assert_eq!(Geometry::new(&op("exp", &[100, 150], operands())).unwrap().masked, [(Label::Out, 42)]);
    }

    #[test]
    fn a_restickify_pads_both_sticks_and_does_not_split_them() {
        let mut restick = op("ReStickifyOpHBM", &[100, 150], vec![dense(&[150, 100], 1, 0), dense(&[100, 150], 0, 1)]);
        restick.iteration_space[0].split = 2;
        let geometry = Geometry::new(&restick).unwrap();
        assert_eq!((geometry.space.size(Label::Mb), geometry.space.size(Label::Out)), (128, 192));
        assert_eq!(geometry.cores(), 1);
        assert_eq!(geometry.tensors[0].gaps, [(Label::Out, 42)]);
        assert_eq!(geometry.tensors[1].gaps, [(Label::Mb, 28)]);
    }
}
