//! The table of device functions: what the hardware computes in one operation.
//!
//! The rows are `DeviceFunctions.def`, which the C++ verifiers read too; `build.rs` turns them into [`TABLE`].

use super::DeviceFormat;

include!(concat!(env!("OUT_DIR"), "/device_functions.rs"));

/// How a device function uses its iteration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// One result element from the operands' elements at the same point.
    Pointwise,
    /// One result element from many along the reduced dimensions.
    Reduce,
    /// Products summed over one contracted dimension.
    Matmul,
    /// Data movement.
    Copy,
    /// Data movement from where an index tensor says.
    Gather,
}

impl Family {
    /// Every family, in the order of the enum.
    pub const ALL: [Self; 5] = [Self::Pointwise, Self::Reduce, Self::Matmul, Self::Copy, Self::Gather];
}

/// The unit of a core that executes a function (`exUnit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The systolic array.
    Pt,
    /// The special function unit.
    Sfp,
}

impl Unit {
    /// The spelling in SDSC files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pt => "pt",
            Self::Sfp => "sfp",
        }
    }
}

/// One function of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFunction {
    /// The name in our ops and in SDSC files (before the "nonstick" suffix).
    pub name: &'static str,
    /// How it iterates.
    pub family: Family,
    /// Number of input tensors.
    pub n_operands: usize,
    /// Whether the device also computes it in [`DeviceFormat::IeeeFp32`].
    pub fp32: bool,
    /// Whether the back end lets the result live in LX.
    pub lx: bool,
    /// The numbers that it needs, by the names that files give them, in their order.
    pub constants: &'static [&'static str],
}

impl DeviceFunction {
    /// The pointwise function of that name.
    #[must_use]
    pub fn pointwise(name: &str) -> Option<&'static Self> {
        Self::find(Family::Pointwise, name)
    }

    /// The reduction of that name.
    #[must_use]
    pub fn reduce(name: &str) -> Option<&'static Self> {
        Self::find(Family::Reduce, name)
    }

    /// Every row of the table.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        TABLE
    }

    fn find(family: Family, name: &str) -> Option<&'static Self> {
        TABLE.iter().find(|function| function.family == family && function.name == name)
    }

    /// Whether the device computes the function in `format`.
    #[must_use]
    pub fn supports(&self, format: DeviceFormat) -> bool {
        format == DeviceFormat::Sen169Fp16 || (self.fp32 && format == DeviceFormat::IeeeFp32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_within_a_family() {
        for (index, row) in TABLE.iter().enumerate() {
            assert!(!TABLE[..index].iter().any(|other| other.family == row.family && other.name == row.name), "{}", row.name);
        }
    }

    #[test]
    fn fp32_is_limited_to_the_rows_that_say_so() {
        assert!(DeviceFunction::pointwise("add").is_some_and(|add| add.supports(DeviceFormat::IeeeFp32)));
        assert!(DeviceFunction::pointwise("tanh").is_some_and(|tanh| !tanh.supports(DeviceFormat::IeeeFp32)));
        assert!(DeviceFunction::reduce("add").is_none());
    }
}
