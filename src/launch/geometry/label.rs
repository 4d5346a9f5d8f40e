//! Assigns labels to the dimensions of an op ("SuperDSC schema, section 2").

use super::windowed_label;
use crate::{
    bundle::{OpFamily, OpSpec},
    launch::{LaunchError, label::Label},
};

/// Returns the label of each iteration dimension, by position.
pub(super) fn assign(op: &OpSpec, family: OpFamily) -> Result<Vec<Label>, LaunchError> {
    let n = op.iteration_space.len();
    if n > Label::ORDINARY.len() {
        return Err(LaunchError::TooManyDims { found: n, limit: Label::ORDINARY.len() });
    }
    match family {
        OpFamily::Matmul => Ok(Label::MATMUL[Label::MATMUL.len() - n..].to_vec()),
        OpFamily::Conv2d => Ok(windowed_label::conv2d(op)),
        OpFamily::Depthwise => windowed_label::depthwise(op),
        OpFamily::Pool => windowed_label::pool(op),
        OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => Ok(ordinary(n)),
    }
}

fn ordinary(n: usize) -> Vec<Label> {
    let Some(others) = n.checked_sub(1) else { return Vec::new() };
    Label::ORDINARY[..others].iter().copied().chain([Label::Out]).collect()
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
        assign(&op, OpFamily::of(&op)).unwrap().into_iter().map(Label::name).collect()
    }

    #[test]
    fn the_last_dimension_of_an_ordinary_op_is_out() {
        assert_eq!(names("add", 1), ["out"]);
        assert_eq!(names("add", 3), ["mb", "x", "out"]);
        assert_eq!(names("add", 7), ["mb", "x", "y", "i", "j", "ki", "out"]);
        assert!(names("add", 0).is_empty());
    }

    #[test]
    fn a_matmul_takes_the_last_labels() {
        assert_eq!(names("batchmatmul", 3), ["mb", "out", "in"]);
        assert_eq!(names("batchmatmulfp8", 4), ["x", "mb", "out", "in"]);
    }

    #[test]
    fn eight_dimensions_have_no_labels() {
        let op = op("add", 8);
        assert_eq!(assign(&op, OpFamily::of(&op)), Err(LaunchError::TooManyDims { found: 8, limit: 7 }));
    }

    #[test]
    fn a_label_is_found_by_its_name() {
        for label in Label::ALL {
            assert_eq!(Label::from_name(label.name()), Some(label));
            assert_eq!(label.size_name(), format!("{label}_"));
        }
        assert_eq!(Label::from_name("mb_"), None);
    }
}
