//! `spyre-run`: executes a bundle directory on the simulated machine.

/// Allocator of the tool, MLIR included; libraries keep that of their process. Builds with assertions keep that of the
/// system, which `MALLOC_PERTURB_` and valgrind observe.
#[cfg(not(debug_assertions))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    spyre_compiler::tool::spyre_run::main(std::env::args_os()).into()
}
