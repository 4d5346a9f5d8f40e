#![doc = include_str!("../README.md")]

mod min_time;
mod program;
mod segment_costs;
mod space;
mod traffic_bound;

pub use program::{CertifiedDim, CertifiedInput, CertifiedOp, CertifiedProgram};

use machine::Target;
use segment_costs::SegmentCosts;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Tolerance, ns, by which the rise of the potentials over a segment may exceed the cost of the segment: the rounding
/// error of floating-point sums.
const ROUNDING_NS: f64 = 1e-6;

/// Maximum number of cores, and of LX bytes per core, of a machine in a certificate.
const MAX_CORES: i64 = 256;
const MAX_LX_BYTES: i64 = 1 << 40;

/// Relative gap to the bound below which a plan counts as optimal.
const MAX_OPTIMALITY_GAP: f64 = 0.001;

/// Claim about a plan, with its proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TilingCertificate {
    /// Version of the compiler that wrote the certificate.
    pub version: String,
    /// Modeled time of the plan, us.
    pub us: f64,
    /// Claimed lower bound: no plan of the space costs less, us.
    pub bound_us: f64,
    /// Proof of the claim.
    pub proof: TilingProof,
}

/// Proof of a lower bound on the modeled time of every loop plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TilingProof {
    /// For each position between ops, a lower bound on the time of all earlier ops, ns: the potential of a
    /// shortest-path problem over segments of ops. The last entry is the bound for the program.
    pub potentials_ns: Vec<f64>,
    /// Ops of the program, before loops are chosen.
    pub program: CertifiedProgram,
    /// Machine, with its cost model.
    pub target: Target,
}

/// Result of a successful check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerifiedCertificate {
    /// Modeled time of the plan, us.
    pub us: f64,
    /// Lower bound on the modeled time of every plan in the space, us.
    pub bound_us: f64,
    /// Whether the machine is the default one, with the default cost model.
    pub is_default_machine: bool,
    /// Number of ops in loop nests that the check examined, a measure of its work.
    pub num_examined_ops: usize,
}

impl VerifiedCertificate {
    /// Returns the largest fraction of the plan's time that a better plan could save.
    #[must_use]
    pub fn gap(&self) -> f64 {
        ((self.us - self.bound_us) / self.us).max(0.0)
    }

    /// Returns whether the plan is within 0.1 % of the bound.
    #[must_use]
    pub fn is_optimal(&self) -> bool {
        self.gap() <= MAX_OPTIMALITY_GAP
    }
}

impl fmt::Display for VerifiedCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { us, bound_us, is_default_machine: is_usual_machine, .. } = self;
        let machine = if *is_usual_machine { "" } else { " on the given machine (not the default one)" };
        let claim = format!("lower bound for all tilings{machine}: {bound_us:.1} us; this plan: {us:.1} us");
        if self.is_optimal() {
            return write!(f, "optimal in this space: {claim}");
        }
        write!(f, "{claim}; the best tiling saves at most {:.1} %", 100.0 * self.gap())
    }
}

/// Reason why a certificate is rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Violation {
    /// The certificate cannot be parsed.
    #[error("the certificate cannot be read: {0}")]
    ParseError(String),
    /// The machine is outside the supported range.
    #[error("the machine of the certificate: {0}")]
    Machine(String),
    /// An op is invalid.
    #[error("op {op} of the certificate: {what}")]
    Op {
        /// Index of the op.
        op: usize,
        /// Description of the error.
        what: String,
    },
    /// The potentials are invalid.
    #[error("the potentials: {0}")]
    Potentials(String),
    /// A segment of ops costs less than the potentials rise over it.
    #[error(
        "the bound is not proved: the potentials rise by {rise_ns:.3} ns over ops {first} to {last}, which may take only {ns:.3} ns in \
         {nest}"
    )]
    Step {
        /// First op of the segment.
        first: usize,
        /// Last op of the segment.
        last: usize,
        /// Loops around these ops.
        nest: String,
        /// Minimum time of these ops, ns.
        ns: f64,
        /// Rise of the potentials over these ops, ns.
        rise_ns: f64,
    },
    /// The claim does not follow from the potentials.
    #[error("expected '{field}' = {expected}, found {found}")]
    Claim {
        /// Key of the claim.
        field: &'static str,
        /// Value of the key in the certificate.
        found: f64,
        /// Value that follows from the potentials.
        expected: f64,
    },
}

/// Parses the text of a certificate, checks it, and returns the time and the bound that it proves.
///
/// # Errors
/// Returns the first violation.
pub fn verify(text: &str) -> Result<VerifiedCertificate, Violation> {
    let certificate: TilingCertificate =
        serde_json::from_str(text).map_err(|error| Violation::ParseError(error.to_string()))?;
    let num_examined_ops = certificate.check()?;
    let TilingCertificate { us, bound_us, proof, .. } = certificate;
    Ok(VerifiedCertificate { us, bound_us, is_default_machine: proof.target == Target::spyre(), num_examined_ops })
}

impl TilingProof {
    /// Returns the proof of the highest bound for a program: the highest valid potentials.
    ///
    /// # Errors
    /// Returns a violation if the program or the cost model is outside the supported range.
    pub fn from_program(program: CertifiedProgram, target: &Target) -> Result<Self, Violation> {
        check_machine(target)?;
        program.check()?;
        let mut segment_costs = SegmentCosts::new(&program, target);
        let mut potentials_ns = vec![f64::INFINITY; program.ops.len() + 1];
        potentials_ns[0] = 0.0;
        for first in 0..program.ops.len() {
            segment_costs.visit_segments_from(first, |segment, axes, segment_costs| {
                let current_ns = potentials_ns[segment.end] - potentials_ns[first];
                if let Some((ns, _)) = segment_costs.find_cheaper_nest(&segment, axes, current_ns) {
                    potentials_ns[segment.end] = potentials_ns[first] + ns;
                }
                Ok(())
            })?;
        }
        Ok(Self { potentials_ns, program, target: target.clone() })
    }

    /// Returns the proved lower bound, us, minus a rounding tolerance per segment. A program has at most as many
    /// segments as ops.
    #[must_use]
    pub fn bound_us(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a number of ops")]
        let rounding = self.potentials_ns.len() as f64 * ROUNDING_NS;
        self.potentials_ns.last().map_or(0.0, |last| (last - rounding).max(0.0) / 1000.0)
    }

    /// Checks that the potentials rise over each segment by at most the minimum time of the segment. Returns the number
    /// of ops in loop nests that were examined.
    fn check(&self) -> Result<usize, Violation> {
        check_machine(&self.target)?;
        self.program.check()?;
        let (found, expected) = (self.potentials_ns.len(), self.program.ops.len() + 1);
        if found != expected {
            return Err(Violation::Potentials(format!("expected {expected}, one per position, found {found}")));
        }
        if self.potentials_ns[0] != 0.0 || self.potentials_ns.iter().any(|ns| !ns.is_finite()) {
            return Err(Violation::Potentials("expected finite numbers that begin with 0".to_owned()));
        }
        let mut segment_costs = SegmentCosts::new(&self.program, &self.target);
        for first in 0..self.program.ops.len() {
            segment_costs.visit_segments_from(first, |segment, axes, segment_costs| {
                let rise_ns = self.potentials_ns[segment.end] - self.potentials_ns[first];
                match segment_costs.find_cheaper_nest(&segment, axes, rise_ns - ROUNDING_NS) {
                    Some((ns, nest)) => Err(Violation::Step { first, last: segment.end - 1, nest, ns, rise_ns }),
                    None => Ok(()),
                }
            })?;
        }
        Ok(segment_costs.num_examined_ops)
    }
}

/// Rejects machine constants that are out of range, and cost models in which more traffic might take less time.
fn check_machine(target: &Target) -> Result<(), Violation> {
    target.check().map_err(Violation::Machine)?;
    let (cores, lx_bytes, overlap) = (target.cores, target.lx_bytes, target.time.recommended.overlap);
    if cores > MAX_CORES || lx_bytes > MAX_LX_BYTES {
        let most = format!("expected at most {MAX_CORES} cores with {MAX_LX_BYTES} bytes of LX each");
        return Err(Violation::Machine(format!("{most}, found {cores} with {lx_bytes}")));
    }
    if !(0.0..=1.0).contains(&overlap) {
        return Err(Violation::Machine(format!("expected 'time.recommended.overlap' from 0 to 1, found {overlap}")));
    }
    Ok(())
}

impl TilingCertificate {
    /// Checks the proof, and that both claims follow from it. Returns the number of ops in loop nests that were
    /// examined.
    fn check(&self) -> Result<usize, Violation> {
        let num_examined_ops = self.proof.check()?;
        let expected = self.proof.bound_us();
        if self.bound_us.is_nan() || self.bound_us > expected {
            return Err(Violation::Claim { field: "bound_us", found: self.bound_us, expected });
        }
        if !(self.us.is_finite() && self.us >= self.bound_us) {
            return Err(Violation::Claim { field: "us", found: self.us, expected: self.bound_us });
        }
        Ok(num_examined_ops)
    }
}
