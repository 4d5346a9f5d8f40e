//! `spyre-compile`: compiles `linalg` on tensors, or `spyre` ops, to a bundle directory.

fn main() -> std::process::ExitCode {
    spyre_compiler::tool::spyre_compile::main(std::env::args_os()).into()
}
