//! Families of ops with common emission rules.

use super::OpSpec;

/// A family of ops with common emission rules ("SuperDSC schema, sections 2 to 5").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpFamily {
    /// `batchmatmul`, `batchmatmulfp8`.
    Matmul,
    /// `conv2d`.
    Conv2d,
    /// Depthwise convolutions: `depthwiseconv2dnative`.
    Depthwise,
    /// `avgpoolfwd`.
    Pool,
    /// `topkvalue`, `topkindex`.
    TopK,
    /// Other reductions.
    Reduction,
    /// Other ops: pointwise functions, copies, restickify, conversions.
    Elementwise,
}

impl OpFamily {
    /// Returns the family of an op, given its function and whether it reduces.
    #[must_use]
    pub fn from_op(op: &OpSpec) -> Self {
        match op.function.as_str() {
            "batchmatmul" | "batchmatmulfp8" => Self::Matmul,
            "conv2d" => Self::Conv2d,
            "depthwiseconv2dnative" => Self::Depthwise,
            "avgpoolfwd" => Self::Pool,
            "topkvalue" | "topkindex" => Self::TopK,
            _ if op.is_reduction => Self::Reduction,
            _ => Self::Elementwise,
        }
    }

    /// Returns whether each operand has dimensions of its own, as in a matmul or a convolution. Other ops iterate over
    /// one operand's dimensions.
    #[must_use]
    pub const fn has_operand_dims(self) -> bool {
        matches!(self, Self::Matmul | Self::Conv2d | Self::Depthwise)
    }

    /// Returns whether the family is a convolution, whose window attributes replace the back gaps of other ops.
    #[must_use]
    pub const fn is_convolution(self) -> bool {
        matches!(self, Self::Conv2d | Self::Depthwise)
    }

    /// Returns whether the family slides windows. A core accumulates a complete window, so its dimensions are never
    /// split.
    #[must_use]
    pub const fn is_windowed(self) -> bool {
        matches!(self, Self::Conv2d | Self::Depthwise | Self::Pool)
    }
}

/// Returns whether an op moves the stick to another dimension; both the old and the new stick dimension are padded.
#[must_use]
pub(crate) fn is_restickify(op: &OpSpec) -> bool {
    op.function == "ReStickifyOpHBM"
}

/// Returns whether an op converts between number formats; every operand's stick is padded.
#[must_use]
pub(crate) fn is_conversion(op: &OpSpec) -> bool {
    machine::is_conversion(&op.function) || op.function == "fp8todl16"
}

/// Returns whether an op requires an outer dimension in addition to the stick (the conversions, and quantization by
/// channel).
#[must_use]
pub(crate) fn needs_outer_dim(op: &OpSpec) -> bool {
    is_conversion(op) || op.function == "qfp8ch"
}

/// Returns whether an op copies its operand unchanged.
#[must_use]
pub(crate) fn is_identity(op: &OpSpec) -> bool {
    op.function == "identity"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classify(function: &str, is_reduction: bool) -> OpFamily {
        OpFamily::from_op(&OpSpec { function: function.to_owned(), is_reduction, ..OpSpec::default() })
    }

    #[test]
    fn prefers_name_over_reduction_flag() {
        assert_eq!(classify("batchmatmul", true), OpFamily::Matmul);
        assert_eq!(classify("topkvalue", true), OpFamily::TopK);
        assert_eq!(classify("sum", true), OpFamily::Reduction);
        assert_eq!(classify("add", false), OpFamily::Elementwise);
    }

    #[test]
    fn keeps_operand_dims_of_contractions_only() {
        assert!(classify("conv2d", true).has_operand_dims());
        assert!(!classify("avgpoolfwd", true).has_operand_dims());
        assert!(classify("avgpoolfwd", true).is_windowed());
    }
}
