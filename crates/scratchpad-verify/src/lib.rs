//! Checks a plan without trusting the planner that made it: the placement, its HBM bytes, and that no plan leaves fewer than the bound.
//!
//! It shares no code with the planners, and reads instances itself. `docs/reference/certificates.md` says what a certificate is and why the check
//! is enough.
//!
//! | file | what |
//! |---|---|
//! | `files.rs` | instances and results as they are written |
//! | `legal.rs` | the stays: where, when, and how many HBM bytes they leave |
//! | `relax.rs` | values and their least cost at given prices |
//! | `bound.rs` | the sweep that finds nothing below the bound |
//! | `rents.rs` | the bound that rents prove |
//! | `crowd.rs`, `towers.rs` | that the stays of a cut do not fit together |
//! | `peak.rs` | the smallest LX |

mod bound;
mod crowd;
mod files;
mod legal;
mod peak;
mod relax;
mod rents;
mod towers;

/// Properties of a result that the verifier has confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// HBM bytes that the plan leaves.
    pub hbm_bytes_left: i64,
    /// No plan leaves fewer, of those in `among`.
    pub lower_bound: i64,
    /// Both are equal; and if the smallest LX was looked for, it has `capacity` bytes.
    pub optimal: bool,
    /// The plans that the bound is for: "whole lives" or "split stays".
    pub among: &'static str,
    /// Bytes of LX the plan is for.
    pub capacity: i64,
    /// If the smallest LX was looked for, so that all that may be in LX is there: bytes that no LX with room for it is below.
    pub peak_bound: Option<i64>,
}

impl Verified {
    /// How much of the bytes left may be needless, from 0 to 1.
    #[must_use]
    pub fn gap(&self) -> f64 {
        let left = self.hbm_bytes_left.max(1) as f64;
        (self.hbm_bytes_left - self.lower_bound) as f64 / left
    }
}

/// Error that the verifier found in a result or in its instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The instance cannot be read.
    #[error("the instance: {0}")]
    Instance(String),
    /// The result cannot be read, or names what the instance does not have.
    #[error("the result: {0}")]
    Result(String),
    /// A stay is not where and when a stay can be.
    #[error("the stay of '{buffer}' from {start} to {end}: {what}")]
    Stay {
        /// The buffer.
        buffer: String,
        /// Its first operation.
        start: usize,
        /// Its last, plus one.
        end: usize,
        /// The rule it breaks.
        what: String,
    },
    /// Two stays share bytes during an operation.
    #[error("'{first}' and '{second}' overlap during operation {time}")]
    Overlap {
        /// The buffer that came first.
        first: String,
        /// The other.
        second: String,
        /// The operation.
        time: usize,
    },
    /// A value of the result does not follow from its stays.
    #[error("'{field}' is {found}, expected {expected}: make the plan again")]
    Field {
        /// The key.
        field: String,
        /// The value in the result.
        found: String,
        /// The value that follows from the residency intervals.
        expected: String,
    },
    /// The certificate does not confirm the bound.
    #[error("the bound {bound} is not confirmed: {what}")]
    Bound {
        /// The bound.
        bound: i64,
        /// The reason.
        what: String,
    },
}

/// Checks a result, as `spyre-plan` writes it, against its instance: MiniMalloc's CSV or our JSON. Capacity and alignment can be `given`,
/// instead of those in the file.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify(result: &str, instance: &str, given: (Option<i64>, Option<i64>)) -> Result<Verified, Violation> {
    let result = files::Result_::parse(result)?;
    let instance = files::Instance::parse(instance, &result, given)?;
    let left = legal::check(&instance, &result)?;
    if result.lower_bound > left {
        let what = format!("the plan leaves {left}");
        return Err(Violation::Bound { bound: result.lower_bound, what });
    }
    let mut optimal = result.lower_bound == left;
    if let Some(peak) = &result.peak {
        peak::check(&instance, &result, peak)?;
        optimal &= peak.bytes == peak.lower_bound;
    }
    if result.optimal != optimal {
        return Err(field("optimal", result.optimal, optimal));
    }
    if result.certificate.rents.is_empty() {
        bound::check(&instance, &result)?;
    } else {
        rents::check(&instance, &result)?;
    }
    Ok(Verified {
        hbm_bytes_left: left,
        lower_bound: result.lower_bound,
        optimal,
        among: if result.certificate.whole_lives { "whole lives" } else { "split stays" },
        capacity: instance.capacity,
        peak_bound: result.peak.map(|peak| peak.lower_bound),
    })
}

fn field(field: &str, found: impl ToString, expected: impl ToString) -> Violation {
    Violation::Field { field: field.to_owned(), found: found.to_string(), expected: expected.to_string() }
}
