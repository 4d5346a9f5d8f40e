//! `spyre-run`: executes a bundle directory on the simulated machine.

fn main() -> std::process::ExitCode {
    spyre_compiler::tool::spyre_run::main(std::env::args_os()).into()
}
