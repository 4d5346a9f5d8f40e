//! Dimension labels: what the file format calls the dimensions of an iteration space ("SuperDSC schema, section 2").

use super::windowed_label;
use crate::bundle::OpFamily;
use crate::{bundle::OpSpec, launch::LaunchError};
use std::fmt;

/// The name of a dimension in SDSC files. Most names say nothing of the dimension's role: they are given by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// `mb`
    Mb,
    /// `x`
    X,
    /// `y`
    Y,
    /// `i`, the height of a windowed op.
    I,
    /// `j`, the width of a windowed op.
    J,
    /// `ki`, the height of a window.
    Ki,
    /// `kj`, the width of a window.
    Kj,
    /// `out`
    Out,
    /// `in`
    In,
}

impl Label {
    /// The labels that ordinary ops take in turn, and from which added dimensions take theirs.
    pub const ORDINARY: [Self; 7] = [Self::Mb, Self::X, Self::Y, Self::I, Self::J, Self::Ki, Self::Kj];

    /// The labels of a matmul: it takes the last ones.
    pub const MATMUL: [Self; 7] = [Self::Ki, Self::Kj, Self::Y, Self::X, Self::Mb, Self::Out, Self::In];

    /// Every label, in the order of the enum.
    pub const ALL: [Self; 9] = [Self::Mb, Self::X, Self::Y, Self::I, Self::J, Self::Ki, Self::Kj, Self::Out, Self::In];

    /// The spelling in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mb => "mb",
            Self::X => "x",
            Self::Y => "y",
            Self::I => "i",
            Self::J => "j",
            Self::Ki => "ki",
            Self::Kj => "kj",
            Self::Out => "out",
            Self::In => "in",
        }
    }

    /// The spelling of the dimension's size: `<label>_`.
    #[must_use]
    pub const fn size_name(self) -> &'static str {
        match self {
            Self::Mb => "mb_",
            Self::X => "x_",
            Self::Y => "y_",
            Self::I => "i_",
            Self::J => "j_",
            Self::Ki => "ki_",
            Self::Kj => "kj_",
            Self::Out => "out_",
            Self::In => "in_",
        }
    }

    /// The label of that spelling.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|label| label.name() == name)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The label of each iteration dimension, by position.
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
