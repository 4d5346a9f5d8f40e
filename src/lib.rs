#![doc = include_str!("README.md")]
#![cfg_attr(not(feature = "mlir"), allow(dead_code, reason = "what only the folders `ir` call"))]

pub mod codes;

pub mod assignment;
pub mod plan_file;

pub mod import;
pub mod layout;

pub mod hint;

pub mod tile;

pub mod work;

pub mod lx;

pub mod joint;

pub mod search;

pub mod kernel;

pub mod peel;

pub mod bundle;
pub mod traffic;

pub mod launch;

pub mod sdsc;

pub mod tune;

// From here on MLIR is known, but to `phase` and `tool`; without the feature there are only the plain halves of the
// stages.
#[cfg(feature = "mlir")]
pub mod dialect;
#[cfg(feature = "mlir")]
pub mod mlir;

#[cfg(feature = "mlir")]
pub mod interpret;

#[cfg(feature = "mlir")]
pub mod reference;

#[cfg(feature = "mlir")]
pub mod gate;
pub mod phase;
#[cfg(feature = "mlir")]
pub mod remark;
#[cfg(feature = "mlir")]
pub mod validate;

#[cfg(feature = "mlir")]
pub mod compile;
#[cfg(feature = "mlir")]
pub mod explain;
#[cfg(feature = "mlir")]
pub mod pipeline;
#[cfg(feature = "mlir")]
pub mod plugin;
#[cfg(feature = "mlir")]
pub mod report;
pub mod tool;
#[cfg(feature = "mlir")]
pub mod translate;
