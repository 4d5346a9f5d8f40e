//! How partial results of reductions become whole ones.

use crate::dialect::ComputeOp;
use machine::Family;

/// How partial results become the result.
pub(crate) struct Combination {
    /// The elementwise function of the two.
    pub(crate) function: &'static str,
    /// What combined with anything gives that thing.
    pub(crate) neutral: f64,
}

/// How the partial results of an op over parts of its reduced dimensions become its result; none if they do not.
pub(crate) fn combination(compute: ComputeOp<'_>) -> Option<Combination> {
    let (function, neutral) = match (compute.family(), compute.function()) {
        // Each part of a mean is divided by the whole number of elements.
        (Family::Matmul, _) | (Family::Reduce, "sum" | "mean") => ("add", 0.0),
        (Family::Reduce, "prod") => ("mul", 1.0),
        (Family::Reduce, "max") => ("maximum", f64::NEG_INFINITY),
        (Family::Reduce, "min") => ("minimum", f64::INFINITY),
        _ => return None,
    };
    Some(Combination { function, neutral })
}
