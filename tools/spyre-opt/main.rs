//! `spyre-opt`: MLIR's opt driver with the dialects and passes of the project.

fn main() {
    std::process::exit(spyre_compiler::tool::spyre_opt::main(std::env::args_os()));
}
