//! The second half of a validation: the files beside the program as written, by MLIR's JIT.

use crate::reference::{Agreement, ReferenceFiles, ReferenceOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// Compares files with the program as written, in a process of its own.
pub trait OriginalRunner: Sync {
    /// The ops of the program that are compiled, in all of its runs.
    fn num_ops(&self) -> u64;

    /// Compares, within so many bytes of memory.
    fn compare(&self, files: ReferenceFiles, max_bytes: u64) -> ReferenceOutcome;
}

/// Result of comparing the files with the program as written.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OriginalVerdict {
    /// Both compute the same numbers in f64.
    Agrees(Agreement),
    /// They differ where the drawn inputs explain it, and how.
    Explained(String),
    /// They were not compared, and why.
    NotCompared(String),
}

impl fmt::Display for OriginalVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agrees(Agreement { elements, of, difference, allowed }) => {
                let which =
                    if elements == of { String::new() } else { format!(" on {elements} of {of} result elements") };
                write!(
                    formatter,
                    "validated: the files and the program as written (MLIR's JIT) agree in f64{which} for random inputs: largest \
                     difference {difference:.2e}, {allowed:.2e} allowed"
                )
            }
            Self::Explained(_) => formatter.write_str("not compared with the program as written: see the warning"),
            Self::NotCompared(reason) => write!(formatter, "not compared with the program as written: {reason}"),
        }
    }
}

/// A program that was not validated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotValidated {
    /// Element operations of one execution of the imported program.
    pub element_operations: u64,
    /// Whether these are too many by default, and may not be where validation is asked for.
    pub is_too_large: bool,
    /// Why.
    pub reason: String,
}
