//! Effect of device functions on the order of elements in sticks.

use super::file_view::FileView;
use super::functions::FunctionFamily;

/// Effect of an op on the order of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ElementOrderEffect {
    /// Position by position: the result has the order of the operands.
    #[default]
    Keep,
    /// Conversion from 16 to 32 bits.
    Widen,
    /// Conversion from 32 to 16 bits.
    Narrow,
    /// Reduction along the sticks.
    Reduce,
    /// Op whose operands must be in standard order.
    Standard,
    /// Normalization with paired elements, whose operands are not compared.
    Normalize,
    /// Several operations, whose operands are not compared. Later ops accept the result in every order.
    Unknown,
}

impl ElementOrderEffect {
    pub(super) fn from_file(file: &FileView<'_>) -> Self {
        match (&*file.compute.function, file.family) {
            ("dl16tofp32", _) => Self::Widen,
            ("fp32todl16", _) => Self::Narrow,
            ("layernormscale" | "layernormnorm", _) => Self::Normalize,
            // Masks select columns by position, so they need the standard order.
            _ if has_stick_mask(file) => Self::Standard,
            (_, FunctionFamily::StickReduction) => Self::Reduce,
            (_, FunctionFamily::Elementwise | FunctionFamily::NonstickReduction | FunctionFamily::TopK) => Self::Keep,
            (
                _,
                FunctionFamily::Matmul
                | FunctionFamily::Convolution
                | FunctionFamily::Pooling
                | FunctionFamily::Restickify
                | FunctionFamily::Conversion
                | FunctionFamily::Other,
            ) => Self::Standard,
        }
    }
}

/// Returns whether a mask covers positions along the sticks of a tensor.
fn has_stick_mask(file: &FileView<'_>) -> bool {
    file.dsc.masking.iter().any(|(label, _)| file.tensors().any(|tensor| tensor.stick_size(label).is_some()))
}
