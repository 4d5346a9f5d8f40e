//! `spyre-opt`: MLIR's opt driver with the dialects and passes of the project.

/// Allocator of the tool, MLIR included; libraries keep that of their process. Builds with assertions keep that of the
/// system, which `MALLOC_PERTURB_` and valgrind observe.
#[cfg(not(debug_assertions))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    std::process::exit(spyre_compiler::tool::spyre_opt::main(std::env::args_os()));
}
