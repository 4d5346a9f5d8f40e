//! `spyre-tune`: finds the best values of a program's knobs.

fn main() -> std::process::ExitCode {
    spyre_compiler::tool::spyre_tune::main(std::env::args_os()).into()
}
