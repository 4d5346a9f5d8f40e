//! `spyre-compile`: compiles `linalg` on tensors, or `spyre` ops, to a bundle directory.

/// Allocator of the tool, MLIR included; libraries keep that of their process. Builds with assertions keep that of the
/// system, which `MALLOC_PERTURB_` and valgrind observe.
#[cfg(not(debug_assertions))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    spyre_compiler::tool::spyre_compile::main(std::env::args_os()).into()
}
