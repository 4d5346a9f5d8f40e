//! `spyre-run`: executes a bundle directory on the simulated machine.

fn main() -> std::process::ExitCode {
    spyre::tool::spyre_run::main(std::env::args_os()).into()
}
