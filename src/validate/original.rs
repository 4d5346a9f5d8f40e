//! Second half of a validation: compares the files with the program as written, which MLIR's JIT runs.

use crate::reference::{Agreement, ReferenceFiles, ReferenceOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// Comparison of files with the program as written, in a separate process.
pub trait OriginalRunner: Sync {
    /// Returns the number of ops that are compiled, over all runs of the program.
    fn num_ops(&self) -> u64;

    /// Compares the files, within `max_bytes` bytes of memory.
    fn compare(&self, files: ReferenceFiles, max_bytes: u64) -> ReferenceOutcome;
}

/// Result of comparing the files with the program as written.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OriginalVerdict {
    /// Both compute equal numbers in f64.
    Agrees(Agreement),
    /// They differ, and the random inputs explain it; the text says how.
    Explained(String),
    /// They were not compared, for the reason in the text.
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

/// Record of a program that was not validated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotValidated {
    /// Element operations of one execution of the imported program.
    pub element_operations: u64,
    /// Whether these exceed the limits of default validation; those of requested validation are higher.
    pub is_too_large: bool,
    /// Reason why it was not validated.
    pub reason: String,
}
