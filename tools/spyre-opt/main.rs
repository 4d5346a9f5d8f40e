//! `spyre-opt`: MLIR's opt driver with our dialects and passes.

use spyre::{mlir::opt_main, tool};

fn main() {
    std::process::exit(tool::on_large_stack(|| opt_main(std::env::args())));
}
