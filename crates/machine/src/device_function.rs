//! Table of the device functions: the operations of the hardware.
//!
//! `build.rs` generates [`TABLE`] from `DeviceFunctions.def`, which the C++ verifiers include too.

use super::DeviceFormat;

include!(concat!(env!("OUT_DIR"), "/device_functions.rs"));

/// Family of device functions with the same kind of iteration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Elementwise: one result element from the operands' elements at the same point.
    Pointwise,
    /// Reduction: one result element from many along the reduced dimensions.
    Reduce,
    /// Matmul: products summed over one contracted dimension.
    Matmul,
    /// Data movement.
    Copy,
    /// Gather: data movement from positions in an index tensor.
    Gather,
}

impl Family {
    /// All families, in the order of the enum.
    pub const ALL: [Self; 5] = [Self::Pointwise, Self::Reduce, Self::Matmul, Self::Copy, Self::Gather];
}

/// Execution unit of a core (`exUnit` in SDSC files).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionUnit {
    /// The systolic array.
    Pt,
    /// The special function unit.
    Sfp,
}

impl ExecutionUnit {
    /// Returns the spelling in SDSC files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pt => "pt",
            Self::Sfp => "sfp",
        }
    }
}

/// Operation of the hardware that one SDSC file executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFunction {
    /// Name in our ops and in SDSC files (without the "nonstick" suffix).
    pub name: &'static str,
    /// Kind of the iteration space.
    pub family: Family,
    /// Number of input tensors.
    pub num_operands: usize,
    /// Whether the device also computes the function in [`DeviceFormat::IeeeFp32`].
    pub fp32: bool,
    /// Whether the back end permits the result in LX.
    pub lx: bool,
    /// Names of the numeric parameters in SDSC files, in order.
    pub constants: &'static [&'static str],
}

/// Maximum number of batch dimensions, and of row dimensions, of a matmul. Batch dimensions are in all tensors, row
/// dimensions only in the left operand and the result (specification, batched matmul).
pub const MAX_MATMUL_DIMS_PER_ROLE: usize = 2;

/// Device function that converts 16-bit numbers to f32.
pub const WIDEN_FUNCTION: &str = "dl16tofp32";
/// Device function that converts f32 to 16-bit numbers.
pub const NARROW_FUNCTION: &str = "fp32todl16";

/// Returns whether a function converts between 16-bit and 32-bit numbers. Such a conversion permutes the elements of
/// sticks.
#[must_use]
pub fn is_conversion(function: &str) -> bool {
    matches!(function, WIDEN_FUNCTION | NARROW_FUNCTION)
}

impl DeviceFunction {
    /// Returns the pointwise function of that name.
    #[must_use]
    pub fn find_pointwise(name: &str) -> Option<&'static Self> {
        Self::find(Family::Pointwise, name)
    }

    /// Returns the reduction of that name.
    #[must_use]
    pub fn find_reduce(name: &str) -> Option<&'static Self> {
        Self::find(Family::Reduce, name)
    }

    /// Returns all rows of the table.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        TABLE
    }

    fn find(family: Family, name: &str) -> Option<&'static Self> {
        TABLE.iter().find(|function| function.family == family && function.name == name)
    }

    /// Returns whether the device computes the function in `format`.
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
            assert!(
                !TABLE[..index].iter().any(|other| other.family == row.family && other.name == row.name),
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn supports_fp32_only_where_declared() {
        assert!(DeviceFunction::find_pointwise("add").is_some_and(|add| add.supports(DeviceFormat::IeeeFp32)));
        assert!(DeviceFunction::find_pointwise("tanh").is_some_and(|tanh| !tanh.supports(DeviceFormat::IeeeFp32)));
        assert!(DeviceFunction::find_reduce("add").is_none());
    }
}
