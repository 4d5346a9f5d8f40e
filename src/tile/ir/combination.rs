//! Combination of partial results of reductions.

use crate::dialect::ComputeOp;
use machine::Family;

/// Rule that combines partial results into the result.
pub(crate) struct CombinationRule {
    /// Elementwise function of two partial results.
    pub(crate) function: &'static str,
    /// Neutral element of the function.
    pub(crate) neutral: f64,
}

/// Returns how partial results of an op, over slices of its reduced dimensions, are combined into its result; `None` if
/// they cannot be combined.
pub(crate) fn find_combination(compute: ComputeOp<'_>) -> Option<CombinationRule> {
    let (function, neutral) = match (compute.family(), compute.function()) {
        // Each partial mean is divided by the total number of elements.
        (Family::Matmul, _) | (Family::Reduce, "sum" | "mean") => ("add", 0.0),
        (Family::Reduce, "prod") => ("mul", 1.0),
        (Family::Reduce, "max") => ("maximum", f64::NEG_INFINITY),
        (Family::Reduce, "min") => ("minimum", f64::INFINITY),
        _ => return None,
    };
    Some(CombinationRule { function, neutral })
}
