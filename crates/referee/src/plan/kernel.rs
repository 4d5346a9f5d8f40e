//! Computation of an op, looked up by the name of its device function.
//!
//! Functions of one and two inputs, and reductions, are those of [`element`].

use element::{BinaryFunction, Reduction, UnaryFunction};

/// Computation of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpKernel {
    /// One input.
    Unary(UnaryFunction),
    /// Two inputs.
    Binary(BinaryFunction),
    /// `first != 0 ? second : third`.
    Where,
    /// A reduction.
    Reduce(Reduction),
    /// Mean of the values, and mean of their squares.
    MomentPair,
    /// Reciprocal standard deviation, computed from the two moments.
    LayerNormScale,
    /// `(x - mean) * scale * weight + bias`.
    LayerNorm,
    /// Contraction: matmul and convolution.
    Contract,
    /// Largest values along a dimension, in descending order, or their positions.
    TopK(TopKOutput),
    /// Data movement, with a conversion if the number formats differ.
    Copy,
    /// Data movement between the LX of cores.
    Shuffle,
}

/// Result of a top-k selection: the largest values, or their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopKOutput {
    Value,
    Position,
}

impl OpKernel {
    /// Returns the computation of a function; `None` if the simulator does not support it.
    pub(crate) fn from_function(function: &str) -> Option<Self> {
        let base = function.strip_suffix("nonstick").unwrap_or(function);
        if let Some(reduction) = Reduction::from_name(base) {
            return Some(Self::Reduce(reduction));
        }
        if base != function {
            return None;
        }
        UnaryFunction::from_name(function)
            .map(Self::Unary)
            .or_else(|| BinaryFunction::from_name(function).map(Self::Binary))
            .or(match function {
                "where3" => Some(Self::Where),
                "exx2" => Some(Self::MomentPair),
                "layernormscale" => Some(Self::LayerNormScale),
                "layernormnorm" => Some(Self::LayerNorm),
                "batchmatmul" | "batchmatmulfp8" | "batchmatmulint8" | "batchmatmulint4" => Some(Self::Contract),
                "conv2d" | "depthwiseconv2dnative" => Some(Self::Contract),
                "topkvalue" => Some(Self::TopK(TopKOutput::Value)),
                "topkindex" => Some(Self::TopK(TopKOutput::Position)),
                "identity" | "ReStickifyOpHBM" | "dl16tofp32" | "fp32todl16" | "fp8todl16" | "qfp8ch" | "qfp8wt" => {
                    Some(Self::Copy)
                }
                "shuffle" => Some(Self::Shuffle),
                _ => None,
            })
    }

    /// Returns the number of inputs.
    pub(crate) const fn num_inputs(self) -> usize {
        match self {
            Self::Unary(_)
            | Self::Reduce(_)
            | Self::MomentPair
            | Self::LayerNormScale
            | Self::TopK(_)
            | Self::Copy
            | Self::Shuffle => 1,
            Self::Binary(_) | Self::Contract => 2,
            Self::Where => 3,
            Self::LayerNorm => 5,
        }
    }

    /// Returns the names of the required constants, as in torch-spyre.
    pub(crate) const fn required_constants(self) -> &'static [&'static str] {
        match self {
            Self::Reduce(Reduction::Mean) => &["scaling_factor"],
            Self::Reduce(Reduction::AveragePool) => &["nmap"],
            Self::MomentPair => &["exx2scale"],
            Self::LayerNormScale => &["eps"],
            Self::Reduce(Reduction::Sum | Reduction::Max | Reduction::Min | Reduction::Prod) => &[],
            Self::Unary(_) | Self::Binary(_) | Self::Where | Self::LayerNorm | Self::Contract | Self::TopK(_) => &[],
            Self::Copy | Self::Shuffle => &[],
        }
    }

    /// Returns whether a result depends on the inputs at the same point only, so that it may replace an input in place.
    pub(crate) const fn is_elementwise(self) -> bool {
        match self {
            Self::Unary(_) | Self::Binary(_) | Self::Where | Self::LayerNormScale | Self::LayerNorm | Self::Copy => {
                true
            }
            Self::Reduce(_) | Self::MomentPair | Self::Contract | Self::TopK(_) | Self::Shuffle => false,
        }
    }

    /// Returns whether cores may compute partial results, each over a slice of the reduced dimensions.
    pub(crate) const fn can_accumulate(self) -> bool {
        match self {
            Self::Reduce(_) | Self::Contract => true,
            Self::Unary(_) | Self::Binary(_) | Self::Where | Self::MomentPair => false,
            Self::LayerNormScale | Self::LayerNorm | Self::TopK(_) | Self::Copy | Self::Shuffle => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_suffix_of_reductions_off_the_stick() {
        assert_eq!(OpKernel::from_function("sumnonstick"), Some(OpKernel::Reduce(Reduction::Sum)));
        assert_eq!(OpKernel::from_function("addnonstick"), None);
        assert_eq!(OpKernel::from_function("fly"), None);
    }

    /// Every row of the table of device functions must have a kernel.
    #[test]
    fn supports_every_device_function() {
        assert!(!machine::DeviceFunction::all().is_empty());
        for function in machine::DeviceFunction::all() {
            assert!(OpKernel::from_function(function.name).is_some(), "{}", function.name);
        }
    }
}
