//! `spyre-opt`: MLIR's opt driver with our dialects and passes.

fn main() {
    std::process::exit(spyre_compiler::tool::spyre_opt::main(std::env::args_os()));
}
