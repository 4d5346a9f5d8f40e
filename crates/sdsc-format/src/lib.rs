#![doc = include_str!("../README.md")]

pub mod bundle_text;
mod directory;
pub mod exact;
pub mod launch_spec;
pub mod model;
pub mod program;
mod version;
mod write;

pub use directory::{OutputFile, StagedBundle, WriteError};
pub use model::Sdsc;
pub use version::FormatVersion;
pub use write::{to_text, write_sdsc};

/// Name of the file with the launch function of a bundle.
pub const BUNDLE_FILE: &str = "bundle.mlir";
