//! `cargo xtask demo`: compiles and runs a program on a fresh machine.

use crate::{
    setup,
    step::{self, cargo},
};
use std::{fs, path::Path, process::Command};

pub(crate) fn run() -> Result<(), String> {
    setup::run()?;
    let target = step::target_dir()?;
    let tools = target.join("debug");
    let output = target.join("demo/softmax");
    let program = Path::new("examples/softmax.mlir");
    step::remove_folder(&output)?;
    fs::create_dir_all(target.join("demo")).map_err(|error| format!("cannot make {}: {error}", target.display()))?;

    // Each step uses the output of the previous one; every tool prints its own summary.
    step::run("build", &mut cargo(["build"]))?;
    step::run("compile", tool_command(&tools, "spyre-compile").arg(program).arg("-o").arg(&output))?;
    step::run("run", tool_command(&tools, "spyre-run").arg(&output).arg("--check").arg(program))?;

    println!("\nThe bundle is in {}:", output.display());
    print_files(&output, "  ");
    Ok(())
}

/// Returns a command that runs a tool of the project in the project's folder.
fn tool_command(tools: &Path, name: &str) -> Command {
    let mut command = Command::new(tools.join(name));
    command.current_dir(step::root());
    command
}

/// Prints the files below `folder`.
fn print_files(folder: &Path, indent: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        println!("{indent}{}", path.file_name().unwrap_or_default().display());
        print_files(&path, &format!("{indent}  "));
    }
}
