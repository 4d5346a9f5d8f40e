#![doc = include_str!("../README.md")]

mod bound;
mod conflict_set;
mod files;
mod legality;
mod multipliers;
mod peak;
mod relaxation;
mod stacks;

/// Properties of a result that the verifier confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifiedPlan {
    /// HBM bytes that the plan leaves.
    pub hbm_bytes_left: i64,
    /// Lower bound: no plan of the set `plan_set` leaves fewer HBM bytes.
    pub lower_bound: i64,
    /// Whether `hbm_bytes_left` equals the bound. If the smallest LX was searched, `capacity` is also proved to be the
    /// smallest.
    pub optimal: bool,
    /// Set of plans that the bound covers: "whole lives" or "split stays".
    pub plan_set: &'static str,
    /// Size of LX, in bytes, that the plan was made for.
    pub capacity: i64,
    /// Lower bound, in bytes, of an LX that holds every eligible buffer; only if the smallest LX was searched.
    pub peak_bound: Option<i64>,
}

impl VerifiedPlan {
    /// Returns the largest fraction of the remaining bytes that another plan could still save, from 0 to 1.
    #[must_use]
    pub fn gap(&self) -> f64 {
        let left = self.hbm_bytes_left.max(1) as f64;
        (self.hbm_bytes_left - self.lower_bound) as f64 / left
    }
}

/// Violation that the verifier found in a result or in its instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The instance cannot be read.
    #[error("the instance: {0}")]
    Instance(String),
    /// The result cannot be read, or refers to a buffer or operation that the instance does not have.
    #[error("the result: {0}")]
    Result(String),
    /// A residency interval violates a rule.
    #[error("the residency interval of '{buffer}' from {start} to {end}: {what}")]
    Interval {
        /// Buffer of the interval.
        buffer: String,
        /// First operation of the interval.
        start: usize,
        /// Last operation of the interval, plus one.
        end: usize,
        /// Violated rule.
        what: String,
    },
    /// Two residency intervals share bytes during an operation.
    #[error("'{first}' and '{second}' overlap during operation {time}")]
    Overlap {
        /// Buffer that became resident first.
        first: String,
        /// Other buffer.
        second: String,
        /// Operation in which they overlap.
        time: usize,
    },
    /// A field of the result does not match the residency intervals.
    #[error("expected '{field}' = {expected}, found {found}; make the plan again")]
    Field {
        /// Key of the field.
        field: String,
        /// Value in the result.
        found: String,
        /// Value that follows from the residency intervals.
        expected: String,
    },
    /// The certificate does not confirm the bound.
    #[error("the bound {bound} is not confirmed: {what}")]
    Bound {
        /// Claimed bound, in HBM bytes.
        bound: i64,
        /// Reason why the bound is not confirmed.
        what: String,
    },
}

/// Verifies a result of `spyre-plan` against its instance, a MiniMalloc CSV file or our JSON. `given` overrides the
/// capacity and the alignment of the file.
///
/// # Errors
/// Returns the first violation.
pub fn verify(result: &str, instance: &str, given: (Option<i64>, Option<i64>)) -> Result<VerifiedPlan, Violation> {
    let result = files::ResultFile::parse(result)?;
    let instance = files::Instance::parse(instance, &result, given)?;
    let left = legality::check_plan(&instance, &result)?;
    if result.lower_bound > left {
        let what = format!("the plan moves only {left} HBM bytes");
        return Err(Violation::Bound { bound: result.lower_bound, what });
    }
    let mut optimal = result.lower_bound == left;
    if let Some(peak) = &result.peak {
        peak::check_peak(&instance, &result, peak)?;
        optimal &= peak.bytes == peak.lower_bound;
    }
    if result.optimal != optimal {
        return Err(field_violation("optimal", result.optimal, optimal));
    }
    if result.certificate.rents.is_empty() {
        bound::check_bound(&instance, &result)?;
    } else {
        multipliers::check_multipliers(&instance, &result)?;
    }
    Ok(VerifiedPlan {
        hbm_bytes_left: left,
        lower_bound: result.lower_bound,
        optimal,
        plan_set: if result.certificate.whole_lives { "whole lives" } else { "split stays" },
        capacity: instance.capacity,
        peak_bound: result.peak.map(|peak| peak.lower_bound),
    })
}

fn field_violation(field: &str, found: impl ToString, expected: impl ToString) -> Violation {
    Violation::Field { field: field.to_owned(), found: found.to_string(), expected: expected.to_string() }
}
