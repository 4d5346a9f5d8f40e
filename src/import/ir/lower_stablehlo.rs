//! `spyre-lower-stablehlo`: converts the `stablehlo` ops that JAX leaves into ops of `scf` and `tm_tensor`.
//!
//! Reads a module; changes nothing if there is no such op. A region on tensors without dimensions becomes a region on
//! elements. A comparator that orders numbers, recognized by evaluation, becomes one comparison.

use crate::mlir::{ErrorReported, Op, Pass, PassOptions, lower_stablehlo};

pub(crate) const PASS: Pass = Pass { argument: "spyre-lower-stablehlo", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    lower_stablehlo(module)
}
