//! Assigns labels to the dimensions of an op ("SuperDSC schema, section 2").

use super::windowed_label;
use crate::{
    bundle::{OpFamily, OpSpec},
    launch::{LaunchError, label::DimLabel},
};

/// Returns the label of each iteration dimension, by position.
pub(super) fn assign_labels(op: &OpSpec, family: OpFamily) -> Result<Vec<DimLabel>, LaunchError> {
    let num_dims = op.iteration_space.len();
    if num_dims > DimLabel::ORDINARY.len() {
        return Err(LaunchError::TooManyDims { found: num_dims, limit: DimLabel::ORDINARY.len() });
    }
    match family {
        OpFamily::Matmul => Ok(DimLabel::MATMUL[DimLabel::MATMUL.len() - num_dims..].to_vec()),
        OpFamily::Conv2d => Ok(windowed_label::label_conv2d(op)),
        OpFamily::Depthwise => windowed_label::label_depthwise(op),
        OpFamily::Pool => windowed_label::label_pool(op),
        OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => Ok(ordinary_labels(num_dims)),
    }
}

/// Returns the labels of an op without windows: the last dimension is `out`, the others have the first ordinary labels.
fn ordinary_labels(num_dims: usize) -> Vec<DimLabel> {
    let Some(others) = num_dims.checked_sub(1) else { return Vec::new() };
    DimLabel::ORDINARY[..others].iter().copied().chain([DimLabel::Out]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::IterationDim;

    fn op(function: &str, n: usize) -> OpSpec {
        OpSpec { function: function.to_owned(), iteration_space: vec![IterationDim::new(2, 1); n], ..OpSpec::default() }
    }

    fn names(function: &str, n: usize) -> Vec<&'static str> {
        let op = op(function, n);
        assign_labels(&op, OpFamily::from_op(&op)).unwrap().into_iter().map(DimLabel::name).collect()
    }

    #[test]
    fn labels_last_dimension_of_ordinary_op_out() {
        assert_eq!(names("add", 1), ["out"]);
        assert_eq!(names("add", 3), ["mb", "x", "out"]);
        assert_eq!(names("add", 7), ["mb", "x", "y", "i", "j", "ki", "out"]);
        assert!(names("add", 0).is_empty());
    }

    #[test]
    fn assigns_last_labels_to_matmul() {
        assert_eq!(names("batchmatmul", 3), ["mb", "out", "in"]);
        assert_eq!(names("batchmatmulfp8", 4), ["x", "mb", "out", "in"]);
    }

    #[test]
    fn rejects_eight_dimensions() {
        let op = op("add", 8);
        assert_eq!(assign_labels(&op, OpFamily::from_op(&op)), Err(LaunchError::TooManyDims { found: 8, limit: 7 }));
    }

    #[test]
    fn finds_label_by_name() {
        for label in DimLabel::ALL {
            assert_eq!(DimLabel::from_name(label.name()), Some(label));
            assert_eq!(label.size_name(), format!("{label}_"));
        }
        assert_eq!(DimLabel::from_name("mb_"), None);
    }
}
