//! Labels of windowed ops, which depend on the dimensions that remain after unit dimensions are dropped ("SuperDSC schema, section 9").

use super::Label;
use crate::{
    bundle::{OpSpec, Operand},
    launch::LaunchError,
};

/// Returns `[mb, i, j, out, ki, kj]` without the dimensions of size 1 of the result, which the front end drops.
pub(super) fn pool(op: &OpSpec) -> Result<Vec<Label>, LaunchError> {
    let ranges = op.node_output_ranges.ok_or(LaunchError::MissingWindow { missing: "the ranges [N, C, H, W] of its result" })?;
    let [n, c, h, w] = ranges;
    let candidates = [(Label::Mb, n), (Label::I, h), (Label::J, w), (Label::Out, c), (Label::Ki, 0), (Label::Kj, 0)];
    let labels: Vec<_> = candidates.into_iter().filter(|(_, size)| *size != 1).map(|(label, _)| label).collect();
    if labels.len() != op.iteration_space.len() {
        return Err(LaunchError::WindowDims { found: op.iteration_space.len(), expected: labels.len(), ranges });
    }
    Ok(labels)
}

/// Returns `[mb, out, i, j, ki, kj]`, with dimensions of size 1 dropped from the end until the rank fits.
pub(super) fn depthwise(op: &OpSpec) -> Result<Vec<Label>, LaunchError> {
    let found = op.iteration_space.len();
    let ranges = op.node_output_ranges.ok_or(LaunchError::MissingWindow { missing: "the ranges [N, C, H, W] of its result" })?;
    let window = op.window.as_ref().ok_or(LaunchError::MissingWindow { missing: "its window" })?;
    let [n, c, h, w] = ranges;
    let mut labels = vec![
        (Label::Mb, n),
        (Label::Out, c),
        (Label::I, h),
        (Label::J, w),
        (Label::Ki, window.height.kernel),
        (Label::Kj, window.width.kernel),
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

/// Reorders the labels of a 1 by 1 result, which keeps its unit dimensions, but after the window's: they are labelled `i` and `j` at any
/// position.
fn reorder_collapsed(op: &OpSpec, height: i64, labels: Vec<Label>) -> Vec<Label> {
    let is_full = [Label::I, Label::J, Label::Ki, Label::Kj].iter().all(|label| labels.contains(label));
    let n_units = op.iteration_space.iter().filter(|dim| dim.range == 1).count();
    if !is_full || height != 1 || n_units != 2 {
        return labels;
    }
    let mut spatial = [Label::I, Label::J].into_iter();
    let mut others = labels.into_iter().filter(|label| !matches!(label, Label::I | Label::J));
    op.iteration_space.iter().filter_map(|dim| if dim.range == 1 { spatial.next() } else { others.next() }).collect()
}

/// Returns the labels of a direct convolution, derived from its operands' coordinates: the order of its reduction dimensions is
/// arbitrary.
pub(super) fn conv2d(op: &OpSpec) -> Vec<Label> {
    const CANONICAL: [Label; 7] = [Label::Mb, Label::I, Label::J, Label::Out, Label::In, Label::Ki, Label::Kj];
    let n = op.iteration_space.len();
    by_structure(op).unwrap_or_else(|| CANONICAL[CANONICAL.len() - n..].to_vec())
}

fn by_structure(op: &OpSpec) -> Option<Vec<Label>> {
    let inputs: Vec<_> = op.operands.iter().filter(|operand| operand.is_input).collect();
    let outputs: Vec<_> = op.operands.iter().filter(|operand| !operand.is_input).collect();
    let ([first, second], [output]) = (inputs.as_slice(), outputs.as_slice()) else { return None };
    let out = stick_dim(output)?;
    let (weight, activation) = if stick_dim(first) == Some(out) { (first, second) } else { (second, first) };
    if stick_dim(weight) != Some(out) {
        return None;
    }
    let contraction = stick_dim(activation).filter(|dim| *dim != out)?;

    let mut labels: Vec<Option<Label>> = vec![None; op.iteration_space.len()];
    *labels.get_mut(out)? = Some(Label::Out);
    *labels.get_mut(contraction)? = Some(Label::In);
    let spatial = moving_dims(output, &[out]);
    if spatial.len() > 3 {
        return None;
    }
    for (dim, label) in spatial.into_iter().zip([Label::I, Label::J, Label::Mb]) {
        *labels.get_mut(dim)? = Some(label);
    }
    let read = moving_dims(activation, &[]);
    for tap in moving_dims(weight, &[out, contraction]) {
        // A window dimension immediately follows the result dimension along which it slides.
        let position = read.iter().position(|dim| *dim == tap)?;
        let along = read[..position].iter().rev().filter_map(|dim| *labels.get(*dim)?).find_map(window_of)?;
        *labels.get_mut(tap)? = Some(along);
    }
    let labels: Vec<_> = labels.into_iter().collect::<Option<_>>()?;
    let is_unique = (1..labels.len()).all(|position| !labels[..position].contains(&labels[position]));
    is_unique.then_some(labels)
}

/// Returns the window dimension of a result dimension.
pub(super) const fn window_of(label: Label) -> Option<Label> {
    match label {
        Label::I => Some(Label::Ki),
        Label::J => Some(Label::Kj),
        Label::Mb | Label::X | Label::Y | Label::Ki | Label::Kj | Label::Out | Label::In => None,
    }
}

fn stick_dim(operand: &Operand) -> Option<usize> {
    operand.coordinates.last()?.moving_dim()
}

/// Returns the dimensions that move the operand, in coordinate order, without those in `except`.
fn moving_dims(operand: &Operand, except: &[usize]) -> Vec<usize> {
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
    use crate::bundle::{Coordinate, IterationDim, Window, WindowAxis};

    fn op(sizes: &[i64], ranges: [i64; 4], kernel: [i64; 2]) -> OpSpec {
        let axis = |kernel| WindowAxis { kernel, ..WindowAxis::default() };
        OpSpec {
            iteration_space: sizes.iter().map(|range| IterationDim::new(*range, 1)).collect(),
            window: Some(Window { height: axis(kernel[0]), width: axis(kernel[1]), pad_type: None }),
            node_output_ranges: Some(ranges),
            ..OpSpec::default()
        }
    }

    fn names(labels: &[Label]) -> Vec<&'static str> {
        labels.iter().map(|label| label.name()).collect()
    }

    #[test]
    fn a_pool_drops_the_unit_dimensions_of_its_result() {
        let labels = pool(&op(&[6, 6, 64, 2, 2], [1, 64, 6, 6], [2, 2])).unwrap();
        assert_eq!(names(&labels), ["i", "j", "out", "ki", "kj"]);
        assert!(matches!(pool(&op(&[6, 6], [1, 64, 6, 6], [2, 2])), Err(LaunchError::WindowDims { found: 2, expected: 5, .. })));
    }

    #[test]
    fn a_depthwise_convolution_drops_unit_dimensions_from_the_end() {
        assert_eq!(names(&depthwise(&op(&[2, 64, 8, 3], [2, 64, 1, 8], [1, 3])).unwrap()), ["mb", "out", "j", "kj"]);
        assert_eq!(names(&depthwise(&op(&[2, 64, 1, 8, 3], [2, 64, 1, 8], [1, 3])).unwrap()), ["mb", "out", "i", "j", "kj"]);
    }

    #[test]
    fn a_collapsed_result_keeps_i_and_j_behind_the_window() {
        let labels = depthwise(&op(&[2, 64, 3, 3, 1, 1], [2, 64, 1, 1], [3, 3])).unwrap();
        assert_eq!(names(&labels), ["mb", "out", "ki", "kj", "i", "j"]);
    }

    #[test]
    fn what_operands_read_says_which_dimension_of_a_convolution_is_which() {
        let at =
            |dims: &[usize]| operand(&[&vec![1; dims.len() - 1][..], &[64]].concat(), dims.iter().copied().map(Coordinate::dim).collect());
        // Rows, columns, channels of the result; channels of the input; the window's columns before its rows.
        let (activation, weight) = (at(&[0, 5, 1, 4, 3]), at(&[5, 4, 3, 2]));
        let result = Operand { is_input: false, ..at(&[0, 1, 2]) };
        for inputs in [[activation.clone(), weight.clone()], [weight, activation]] {
            let operands = inputs.into_iter().chain([result.clone()]).collect();
            let op = OpSpec { operands, ..op(&[6, 6, 64, 64, 3, 3], [1, 64, 6, 6], [3, 3]) };
            assert_eq!(names(&conv2d(&op)), ["i", "j", "out", "in", "kj", "ki"]);
        }
    }
}
