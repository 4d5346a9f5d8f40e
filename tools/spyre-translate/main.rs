//! `spyre-translate`: converts between the compiler's IR and files.

fn main() -> std::process::ExitCode {
    spyre_compiler::tool::spyre_translate::main(std::env::args_os()).into()
}
