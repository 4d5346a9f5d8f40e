//! `spyre-tune`: the best values of what a program leaves open.

fn main() -> std::process::ExitCode {
    spyre_compiler::tool::spyre_tune::main(std::env::args_os()).into()
}
