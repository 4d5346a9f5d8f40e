//! Programs as plain values, between MLIR and the algorithms of the stages.
//!
//! [`affine`] has affine expressions, [`layout`] device layouts and the indices at which ops read them. Nothing here depends on MLIR or on a
//! stage of the compiler.

pub mod affine;
pub mod layout;
