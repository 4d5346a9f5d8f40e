//! `spyre-opt`: MLIR's opt driver with our dialects and passes.

fn main() {
    std::process::exit(spyre::mlir::opt_main(std::env::args()));
}
