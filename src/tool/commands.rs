//! The command lines of the tools, for man pages and completions.

#[cfg(feature = "mlir")]
use super::{spyre_compile, spyre_lsp_server, spyre_opt, spyre_reduce, spyre_tune};
use super::{spyre_plan, spyre_run, spyre_translate};
use clap::Command;

/// Returns the command lines that clap reads.
#[must_use]
pub fn tool_commands() -> Vec<Command> {
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

/// Returns the command lines of MLIR's drivers as far as their `--help` shows them. LLVM's library reads them.
#[cfg(feature = "mlir")]
#[must_use]
pub fn driver_commands() -> Vec<Command> {
    vec![spyre_lsp_server::command(), spyre_opt::command()]
}
