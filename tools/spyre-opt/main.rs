//! `spyre-opt`: MLIR's opt driver with our dialects and passes.

use spyre::{mlir::opt_main, tool};
use std::process::{ExitCode, exit};

fn main() -> ExitCode {
    match tool::supervised("spyre-opt") {
        Some(code) => code,
        // The driver may leave threads and buffers behind.
        None => exit(tool::on_large_stack(|| opt_main(std::env::args()))),
    }
}
