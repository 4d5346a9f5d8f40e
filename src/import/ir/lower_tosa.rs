//! `spyre-lower-tosa`: converts ops of the dialect `tosa` to linalg.
//!
//! Reads a module; runs upstream's passes on its functions if there is such an op, and changes nothing otherwise. Sizes
//! that the lowering computes at runtime become static.

use crate::mlir::{ErrorReported, Op, Pass, PassOptions, lower_tosa};

pub(crate) const PASS: Pass = Pass { argument: "spyre-lower-tosa", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    lower_tosa(module)
}
