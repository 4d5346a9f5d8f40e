//! `spyre-plan`: runs the LX planner alone, or the cost model alone.

fn main() -> std::process::ExitCode {
    spyre_compiler::tool::spyre_plan::main(std::env::args_os()).into()
}
