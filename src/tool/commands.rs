//! The command lines of the tools, for man pages and completions.

#[cfg(feature = "mlir")]
use super::{spyre_compile, spyre_reduce, spyre_tune};
use super::{spyre_plan, spyre_run, spyre_translate};
use clap::Command;

/// All of them with what their `--help` says, but for MLIR's drivers, whose words LLVM's library reads.
#[must_use]
pub fn all() -> Vec<Command> {
    vec![
        #[cfg(feature = "mlir")]
        spyre_compile::command(),
        spyre_plan::command(),
        #[cfg(feature = "mlir")]
        spyre_reduce::command(),
        spyre_run::command(),
        spyre_translate::command(),
        #[cfg(feature = "mlir")]
        spyre_tune::command(),
    ]
}
