//! Execution of a program: its launches, the executions of ops, and the companion elements of the device's numbers.

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
