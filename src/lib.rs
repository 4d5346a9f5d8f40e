#![doc = include_str!("README.md")]

pub mod target;

pub mod import;
pub mod layout;

pub mod dialect;
pub mod mlir;

pub mod pipeline;
