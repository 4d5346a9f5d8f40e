//! How far a right result may be from one that was computed in wider formats.

use super::plan::Plan;
use super::run::Simulation;
use crate::target::DeviceFormat;

impl Simulation {
    /// The largest difference between an element and its reference that rounding explains, as a multiple of the element's magnitude plus
    /// the root mean square of the result.
    ///
    /// The reference may be the coarser of the two: a program of bf16 rounds to 7 bits of mantissa where the device keeps 9.
    ///
    /// Every store rounds to the nearest value of the format, at most half a unit in the last place, and so does the way of an operand into
    /// the format; to first order the errors of the operands and of the ops add up, and an exponential multiplies what came before it. The
    /// terms of a sum of `n` elements each bring the rounding of an earlier store, and independent roundings add up to the square root of
    /// their number; those of a product of `n` elements simply add up. Sums themselves are accumulated in f32 and rounded once.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        let of_reference = self.program().tensors().map(|tensor| host_half_unit(&tensor.element_type)).fold(0.0, f64::max);
        self.plans().fold(0.0, |before, plan| {
            let format = plan.tensors[plan.output].format;
            let roundings = 1.0 + plan.inputs.len() as f64 * amplification(plan, format) + terms(plan);
            before * amplification(plan, format) + half_unit(format).max(of_reference) * roundings
        })
    }
}

/// How much larger the relative error of a result is than that of its operand: for `exp x` it is `x`, at most the logarithm of the largest
/// number that a result can be.
fn amplification(plan: &Plan, format: DeviceFormat) -> f64 {
    match (plan.function.as_str(), format) {
        ("exp", DeviceFormat::Sen169Fp16) => f64::ln(65504.0),
        ("exp", DeviceFormat::IeeeFp32) => f64::from(f32::MAX).ln(),
        _ => 1.0,
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

/// The same for a number of the program.
fn host_half_unit(element_type: &str) -> f64 {
    match element_type {
        "bf16" => f64::exp2(-8.0),
        "f16" => f64::exp2(-11.0),
        _ => 0.0,
    }
}

/// What the terms of a reduction add: 0 for an elementwise op, and where the result is one of the elements.
fn terms(plan: &Plan) -> f64 {
    let dims = plan.reduced_dims();
    let length: f64 = dims.iter().map(|&dim| plan.dims[dim].size as f64).product();
    match plan.function.trim_end_matches("nonstick") {
        _ if dims.is_empty() => 0.0,
        "max" | "min" | "absmax" => 0.0,
        "prod" => length,
        _ => length.sqrt(),
    }
}
