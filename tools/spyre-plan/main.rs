//! `spyre-plan`: the LX planner on its own, and the model of time on its own.

fn main() -> std::process::ExitCode {
    spyre_compiler::tool::spyre_plan::main(std::env::args_os()).into()
}
