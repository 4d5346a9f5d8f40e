//! Executing a program.
//!
//! | file | what |
//! |---|---|
//! | `simulation` | the launches in order, each a walk through its `bundle.mlir` |
//! | `allocate`, `lx_image` | the tensors of the program in the machine's memory, and the initial contents of LX |
//! | `execute` | one execution of an op: check, count, compute on every core, store |
//! | `beside`, `planes`, `bounded` | companion elements of the device's numbers: exact numbers with bounds, and field elements |
//! | `simulated` | executions with each kind of companion elements, compiled in this crate |
//! | `digits` | results of integers that the device has as two digits |
//! | `shadow` | rounding errors of f64 in the exact numbers |

pub(crate) mod allocate;
pub(crate) mod digits;
mod error_tracking;
pub(crate) mod execute;
pub(crate) mod instantiations;
pub(crate) mod interval_arithmetic;
pub(crate) mod lx_image;
pub(crate) mod shadow_memory;
pub(crate) mod shadow_planes;
pub(crate) mod simulation;
mod symbolic_sizes;
