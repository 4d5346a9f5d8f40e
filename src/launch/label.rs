//! Labels of iteration dimensions in the file format ("SuperDSC schema, section 2").

use std::fmt;

/// Name of an iteration dimension in SDSC files. Most names are assigned by position and do not indicate the role of
/// the dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DimLabel {
    /// `mb`
    Mb,
    /// `x`
    X,
    /// `y`
    Y,
    /// `i`, the output height of a windowed op.
    I,
    /// `j`, the output width of a windowed op.
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

impl DimLabel {
    /// Labels of ops other than matmuls, assigned in this order. Dimensions that the compiler adds get
    /// the next free labels.
    pub const ORDINARY: [Self; 7] = [Self::Mb, Self::X, Self::Y, Self::I, Self::J, Self::Ki, Self::Kj];

    /// Labels of a matmul; a matmul with `n` dimensions uses the last `n`.
    pub const MATMUL: [Self; 7] = [Self::Ki, Self::Kj, Self::Y, Self::X, Self::Mb, Self::Out, Self::In];

    /// All labels, in the order of the enum.
    pub const ALL: [Self; 9] = [Self::Mb, Self::X, Self::Y, Self::I, Self::J, Self::Ki, Self::Kj, Self::Out, Self::In];

    /// Returns the name of the dimension in files.
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

    /// Returns the name of the dimension's size in files: `<label>_`.
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

    /// Returns the label with the given name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|label| label.name() == name)
    }
}

impl fmt::Display for DimLabel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
