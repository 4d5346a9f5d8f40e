//! `spyre-opt`: MLIR's opt driver with our dialects and passes.

use spyre::{mlir::opt_main, pipeline::HOOKS, tool};

fn main() {
    std::process::exit(tool::on_large_stack(|| opt_main(&HOOKS, std::env::args())));
}
