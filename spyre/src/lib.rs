#![doc = include_str!("../README.md")]

mod compiled;
mod compiler;
mod diagnostics;
mod source;
mod target;

pub use compiled::{Compiled, CompiledFile};
pub use compiler::{Compiler, Phase};
pub use diagnostics::{Diagnostic, Diagnostics, Severity, SourcePosition};
pub use source::Source;
pub use target::Target;
