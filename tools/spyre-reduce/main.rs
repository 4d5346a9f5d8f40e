//! `spyre-reduce`: the smallest part of a program for which a command does what it does for the whole.

fn main() -> std::process::ExitCode {
    spyre::tool::spyre_reduce::main(std::env::args_os()).into()
}
