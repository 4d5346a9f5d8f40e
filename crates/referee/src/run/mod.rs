//! Executing a program.
//!
//! | file | what |
//! |---|---|
//! | `simulation` | the launches in order, each a walk through its `bundle.mlir` |
//! | `allocate`, `lx_image` | the tensors of the program in the machine's memory, and what stands in LX before |
//! | `execute` | one execution of an op: check, count, compute on every core, store |
//! | `beside`, `planes`, `bounded` | other elements beside the device's numbers: exact ones with bounds, those of a field |
//! | `simulated` | executions beside each kind of elements, compiled in this crate |
//! | `digits` | results of integers that the device has as two digits |
//! | `shadow` | what f64 itself has rounded in the exact ones |

pub(crate) mod allocate;
pub(crate) mod beside;
pub(crate) mod bounded;
pub(crate) mod digits;
pub(crate) mod execute;
pub(crate) mod lx_image;
pub(crate) mod planes;
mod shadow;
pub(crate) mod simulated;
pub(crate) mod simulation;
mod sized;
