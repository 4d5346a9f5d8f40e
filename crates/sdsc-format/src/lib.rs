//! The files of a bundle directory, as plain values: what they may say, how they are read and how they are written.
//!
//! This is the one place where file spellings stand, and all that the compiler and the referee know in common: the
//! compiler fills these values and writes them, the rules and the referee read them. Nothing here says what makes
//! sense, or how a value follows from a program.
//!
//! | module | file |
//! |---|---|
//! | [`program`] | `program.json`: what a launcher must know beside the bundles |
//! | [`bundle_text`] | `bundle.mlir`: which addresses are computed and which files run |
//! | [`model`] | `sdsc_<n>.json`: one op on all its cores; [`to_text`] prints it byte for byte as the reference emitter does |
//! | [`exact`] | `exact.json`: numbers of the program that the formats of the device round |
//! | [`launch_spec`] | `launch_spec.json`: shapes, types and roles of a kernel's arguments |
//!
//! [`StagedBundle`] writes a directory of them, all of it or nothing.

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

/// The name of the file that says what a bundle runs.
pub const BUNDLE_FILE: &str = "bundle.mlir";
