//! `spyre-reduce`: finds the smallest part of a program for which a command behaves as for the full program.

fn main() -> std::process::ExitCode {
    spyre_compiler::tool::spyre_reduce::main(std::env::args_os()).into()
}
