//! Executing a program.
//!
//! | file | what |
//! |---|---|
//! | `simulation` | the launches in order, each a walk through its `bundle.mlir` |
//! | `allocate` | the tensors of the program in the machine's memory |
//! | `execute` | one execution of an op: check, count, compute on every core, store |
//! | `beside`, `bounded` | other elements beside the device's numbers: exact ones with bounds, those of a field |
//! | `shadow` | what f64 itself has rounded in the exact ones |

pub(crate) mod allocate;
pub(crate) mod beside;
pub(crate) mod bounded;
pub(crate) mod execute;
mod shadow;
pub(crate) mod simulation;
