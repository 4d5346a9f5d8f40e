//! `spyre-opt`: MLIR's opt driver with the dialects and passes of the project.

/// Allocator of the tool, MLIR included; libraries keep that of their process.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    std::process::exit(spyre_compiler::tool::spyre_opt::main(std::env::args_os()));
}
