//! How far a right result may be from one that was computed in wider formats.

use super::plan::Plan;
use super::run::Simulation;
use crate::target::DeviceFormat;

impl Simulation {
    /// The largest difference between an element and its reference that rounding explains, as a multiple of the element's magnitude plus
    /// the root mean square of the result.
    ///
    /// Every store rounds to the nearest value of the format, at most half a unit in the last place, and so does the way of an operand into
    /// the format; to first order the errors of the operands and of the ops add up. The
    /// terms of a reduction over `n` elements each bring the rounding of an earlier store, and independent roundings add up to the square
    /// root of their number. Sums themselves are accumulated in f32 and rounded once.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        let roundings = |plan: &Plan| 1.0 + plan.inputs.len() as f64 + reduced_length(plan).sqrt();
        self.plans().map(|plan| half_unit(plan.tensors[plan.output].format) * roundings(plan)).sum()
    }
}

/// Half a unit in the last place of a number of size 1: the format's mantissa bits and one.
fn half_unit(format: DeviceFormat) -> f64 {
    match format {
        DeviceFormat::Sen169Fp16 => f64::exp2(-10.0),
        DeviceFormat::IeeeFp32 => f64::exp2(-24.0),
        DeviceFormat::IeeeInt32 | DeviceFormat::SenUint32 | DeviceFormat::SenInt8 => 0.0,
        DeviceFormat::Sen143Fp8 => f64::exp2(-4.0),
        DeviceFormat::Sen152Fp8 => f64::exp2(-3.0),
    }
}

/// Elements that one element of the result is made of; 0 for an elementwise op.
fn reduced_length(plan: &Plan) -> f64 {
    let dims = plan.reduced_dims();
    if dims.is_empty() {
        return 0.0;
    }
    dims.into_iter().map(|dim| plan.dims[dim].size as f64).product()
}
