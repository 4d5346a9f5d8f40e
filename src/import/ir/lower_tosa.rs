//! `spyre-lower-tosa`: turns ops of the dialect `tosa` into linalg.
//!
//! Reads a module; runs upstream's passes on its functions if there is such an op, and changes nothing if there is none. Sizes that the
//! lowering leaves as numbers of run time become static.

use crate::mlir::{Op, Options, Pass, Reported, lower_tosa};

pub(crate) const PASS: Pass = Pass { argument: "spyre-lower-tosa", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    lower_tosa(module)
}
