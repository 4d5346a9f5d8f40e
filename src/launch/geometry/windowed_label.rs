//! Labels of windowed ops, which depend on the dimensions that remain after unit dimensions are dropped ("SuperDSC
//! schema, section 9").

use super::DimLabel;
use crate::{
    bundle::{OpSpec, OpSpecOperand},
    launch::LaunchError,
};

/// Returns `[mb, i, j, out, ki, kj]` without the dimensions of size 1 of the result, which the front end drops.
pub(super) fn label_pool(op: &OpSpec) -> Result<Vec<DimLabel>, LaunchError> {
    let ranges =
        op.node_output_ranges.ok_or(LaunchError::MissingWindow { missing: "the ranges [N, C, H, W] of its result" })?;
    let [n, c, h, w] = ranges;
    let candidates = [
        (DimLabel::Mb, n),
        (DimLabel::I, h),
        (DimLabel::J, w),
        (DimLabel::Out, c),
        (DimLabel::Ki, 0),
        (DimLabel::Kj, 0),
    ];
    let labels: Vec<_> = candidates.into_iter().filter(|(_, size)| *size != 1).map(|(label, _)| label).collect();
    if labels.len() != op.iteration_space.len() {
        return Err(LaunchError::WindowDims { found: op.iteration_space.len(), expected: labels.len(), ranges });
    }
    Ok(labels)
}

/// Returns `[mb, out, i, j, ki, kj]`, with dimensions of size 1 dropped from the end until the rank fits.
pub(super) fn label_depthwise(op: &OpSpec) -> Result<Vec<DimLabel>, LaunchError> {
    let found = op.iteration_space.len();
    let ranges =
        op.node_output_ranges.ok_or(LaunchError::MissingWindow { missing: "the ranges [N, C, H, W] of its result" })?;
    let window = op.window.as_ref().ok_or(LaunchError::MissingWindow { missing: "its window" })?;
    let [n, c, h, w] = ranges;
    let mut labels = vec![
        (DimLabel::Mb, n),
        (DimLabel::Out, c),
        (DimLabel::I, h),
        (DimLabel::J, w),
        (DimLabel::Ki, window.height.kernel),
        (DimLabel::Kj, window.width.kernel),
    ];
    while labels.len() > found {
        let Some(last_unit) = labels.iter().rposition(|(_, size)| *size == 1) else { break };
        labels.remove(last_unit);
    }
    if labels.len() != found {
        return Err(LaunchError::WindowDims { found, expected: labels.len(), ranges });
    }
    let labels: Vec<_> = labels.into_iter().map(|(label, _)| label).collect();
    Ok(reorder_collapsed(op, h, labels))
}

/// Reorders the labels of a 1 by 1 result, which keeps its unit dimensions. They are labelled `i` and `j` at any
/// position, but follow the window's dimensions.
fn reorder_collapsed(op: &OpSpec, height: i64, labels: Vec<DimLabel>) -> Vec<DimLabel> {
    let is_full = [DimLabel::I, DimLabel::J, DimLabel::Ki, DimLabel::Kj].iter().all(|label| labels.contains(label));
    let num_units = op.iteration_space.iter().filter(|dim| dim.range == 1).count();
    if !is_full || height != 1 || num_units != 2 {
        return labels;
    }
    let mut spatial = [DimLabel::I, DimLabel::J].into_iter();
    let mut others = labels.into_iter().filter(|label| !matches!(label, DimLabel::I | DimLabel::J));
    op.iteration_space.iter().filter_map(|dim| if dim.range == 1 { spatial.next() } else { others.next() }).collect()
}

/// Returns the labels of a direct convolution, derived from its operands' coordinates: the order of its reduction
/// dimensions is arbitrary.
pub(super) fn label_conv2d(op: &OpSpec) -> Vec<DimLabel> {
    const CANONICAL: [DimLabel; 7] =
        [DimLabel::Mb, DimLabel::I, DimLabel::J, DimLabel::Out, DimLabel::In, DimLabel::Ki, DimLabel::Kj];
    let n = op.iteration_space.len();
    label_by_structure(op).unwrap_or_else(|| CANONICAL[CANONICAL.len() - n..].to_vec())
}

fn label_by_structure(op: &OpSpec) -> Option<Vec<DimLabel>> {
    let inputs: Vec<_> = op.operands.iter().filter(|operand| operand.is_input).collect();
    let outputs: Vec<_> = op.operands.iter().filter(|operand| !operand.is_input).collect();
    let ([first, second], [output]) = (inputs.as_slice(), outputs.as_slice()) else { return None };
    let out = stick_dim(output)?;
    let (weight, activation) = if stick_dim(first) == Some(out) { (first, second) } else { (second, first) };
    if stick_dim(weight) != Some(out) {
        return None;
    }
    let contraction = stick_dim(activation).filter(|dim| *dim != out)?;

    let mut labels: Vec<Option<DimLabel>> = vec![None; op.iteration_space.len()];
    *labels.get_mut(out)? = Some(DimLabel::Out);
    *labels.get_mut(contraction)? = Some(DimLabel::In);
    let spatial = moving_dims(output, &[out]);
    if spatial.len() > 3 {
        return None;
    }
    for (dim, label) in spatial.into_iter().zip([DimLabel::I, DimLabel::J, DimLabel::Mb]) {
        *labels.get_mut(dim)? = Some(label);
    }
    let read = moving_dims(activation, &[]);
    for tap in moving_dims(weight, &[out, contraction]) {
        // A window dimension immediately follows the result dimension along which it slides.
        let position = read.iter().position(|dim| *dim == tap)?;
        let along = read[..position].iter().rev().filter_map(|dim| *labels.get(*dim)?).find_map(window_label)?;
        *labels.get_mut(tap)? = Some(along);
    }
    let labels: Vec<_> = labels.into_iter().collect::<Option<_>>()?;
    let is_unique = (1..labels.len()).all(|position| !labels[..position].contains(&labels[position]));
    is_unique.then_some(labels)
}

/// Returns the window dimension of a result dimension.
pub(super) const fn window_label(label: DimLabel) -> Option<DimLabel> {
    match label {
        DimLabel::I => Some(DimLabel::Ki),
        DimLabel::J => Some(DimLabel::Kj),
        DimLabel::Mb | DimLabel::X | DimLabel::Y | DimLabel::Ki | DimLabel::Kj | DimLabel::Out | DimLabel::In => None,
    }
}

fn stick_dim(operand: &OpSpecOperand) -> Option<usize> {
    operand.coordinates.last()?.moving_dim()
}

/// Returns the dimensions that move the operand, in coordinate order, without those in `except`.
fn moving_dims(operand: &OpSpecOperand, except: &[usize]) -> Vec<usize> {
    let mut dims = Vec::new();
    for dim in operand.coordinates.iter().filter_map(crate::bundle::Coordinate::moving_dim) {
        if !except.contains(&dim) && !dims.contains(&dim) {
            dims.push(dim);
        }
    }
    dims
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::testing::operand;
    use crate::bundle::{Coordinate, IterationDim, OpWindow, WindowAxis};

    fn op(sizes: &[i64], ranges: [i64; 4], kernel: [i64; 2]) -> OpSpec {
        let axis = |kernel| WindowAxis { kernel, ..WindowAxis::default() };
        OpSpec {
            iteration_space: sizes.iter().map(|range| IterationDim::new(*range, 1)).collect(),
            window: Some(OpWindow { height: axis(kernel[0]), width: axis(kernel[1]), pad_type: None }),
            node_output_ranges: Some(ranges),
            ..OpSpec::default()
        }
    }

    fn names(labels: &[DimLabel]) -> Vec<&'static str> {
        labels.iter().map(|label| label.name()).collect()
    }

    #[test]
    fn drops_unit_dimensions_of_pool_result() {
        let labels = label_pool(&op(&[6, 6, 64, 2, 2], [1, 64, 6, 6], [2, 2])).unwrap();
        assert_eq!(names(&labels), ["i", "j", "out", "ki", "kj"]);
        assert!(matches!(
            label_pool(&op(&[6, 6], [1, 64, 6, 6], [2, 2])),
            Err(LaunchError::WindowDims { found: 2, expected: 5, .. })
        ));
    }

    #[test]
    fn drops_trailing_unit_dimensions_of_depthwise() {
        assert_eq!(
            names(&label_depthwise(&op(&[2, 64, 8, 3], [2, 64, 1, 8], [1, 3])).unwrap()),
            ["mb", "out", "j", "kj"]
        );
        assert_eq!(
            names(&label_depthwise(&op(&[2, 64, 1, 8, 3], [2, 64, 1, 8], [1, 3])).unwrap()),
            ["mb", "out", "i", "j", "kj"]
        );
    }

    #[test]
    fn keeps_i_and_j_after_window_of_collapsed_result() {
        let labels = label_depthwise(&op(&[2, 64, 3, 3, 1, 1], [2, 64, 1, 1], [3, 3])).unwrap();
        assert_eq!(names(&labels), ["mb", "out", "ki", "kj", "i", "j"]);
    }

    #[test]
    fn derives_convolution_labels_from_operands() {
        let at = |dims: &[usize]| {
            operand(
                &[&vec![1; dims.len() - 1][..], &[64]].concat(),
                dims.iter().copied().map(Coordinate::dim).collect(),
            )
        };
        // Rows, columns, channels of the result; channels of the input; the window's columns before its rows.
        let (activation, weight) = (at(&[0, 5, 1, 4, 3]), at(&[5, 4, 3, 2]));
        let result = OpSpecOperand { is_input: false, ..at(&[0, 1, 2]) };
        for inputs in [[activation.clone(), weight.clone()], [weight, activation]] {
            let operands = inputs.into_iter().chain([result.clone()]).collect();
            let op = OpSpec { operands, ..op(&[6, 6, 64, 64, 3, 3], [1, 64, 6, 6], [3, 3]) };
            assert_eq!(names(&label_conv2d(&op)), ["i", "j", "out", "in", "kj", "ki"]);
        }
    }
}
