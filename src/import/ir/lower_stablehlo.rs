//! `spyre-lower-stablehlo`: turns what JAX leaves of the dialect `stablehlo` into ops of `scf` and `tm_tensor`.
//!
//! Reads a module; changes nothing if there is no such op. A region on tensors without dimensions becomes one on elements; a comparator that
//! orders numbers, found by asking it, becomes one comparison.

use crate::mlir::{Op, Options, Pass, Reported, lower_stablehlo};

pub(crate) const PASS: Pass = Pass { argument: "spyre-lower-stablehlo", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    lower_stablehlo(module)
}
