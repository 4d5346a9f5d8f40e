//! `cargo xtask test`: every test and check.

use crate::{
    plugin, setup,
    step::{self, cargo},
};
use std::{
    ffi::{OsStr, OsString},
    fs,
    process::Command,
    time::Instant,
};

pub(crate) fn run() -> Result<(), String> {
    let started = Instant::now();
    setup::run()?;
    let crates = crates()?;
    // All of them run, whatever fails, so that one run shows everything.
    let done = [
        step::run("format", &mut cargo(["fmt", "--all", "--check"])),
        step::run("lints", &mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
        step::run("tests", with_each("--exclude", &crates, &mut perturbed(&["--workspace", "--no-fail-fast"]))),
        without_llvm(&crates),
        step::run("round trips", perturbed(&["--test", "lit"]).env("SPYRE_ROUNDTRIP", "1")),
        step::run("memory", &mut checked(&["--test", "memory", "--", "--ignored"])),
        plugin_test(),
    ];
    let n_steps = done.len();
    let failures: Vec<String> = done.into_iter().filter_map(Result::err).collect();
    let seconds = started.elapsed().as_secs();
    println!("==> {} of {n_steps} steps passed in {} min {} s", n_steps - failures.len(), seconds / 60, seconds % 60);
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n       ")) }
}

/// A cargo command whose tests find no zeros in memory that they have not written and nothing sensible in what they have freed: glibc fills
/// both with other bytes.
fn perturbed(arguments: &[&str]) -> Command {
    let mut command = checked(arguments);
    command.env("MALLOC_PERTURB_", "170");
    command
}

/// `cargo test` with every check of a build for development, whose tests run faster.
fn checked(arguments: &[&str]) -> Command {
    let mut command = cargo(["test", "--profile", "checked"]);
    command.args(arguments);
    command
}

/// The crates below `crates`, by name.
fn crates() -> Result<Vec<OsString>, String> {
    let entries = fs::read_dir(step::root().join("crates")).map_err(|error| format!("crates: {error}"))?;
    let mut names: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    names.sort();
    Ok(names)
}

/// The command with an option for each name.
fn with_each<'c>(option: &str, names: &[OsString], command: &'c mut Command) -> &'c mut Command {
    command.args(names.iter().flat_map(|name| [OsStr::new(option), name]))
}

/// The tests of the crates below `crates`, which `tests` leaves out, in a build of their own that does not know where LLVM is.
fn without_llvm(crates: &[OsString]) -> Result<(), String> {
    let mut command = perturbed(&["--no-fail-fast"]);
    // An empty value keeps cargo from setting its own.
    command.env("MLIR_SYS_220_PREFIX", "").env("TABLEGEN_220_PREFIX", "");
    step::run("crates without LLVM", with_each("--package", crates, &mut command))
}

/// Builds the plugin, and runs its test: plain `cargo test` leaves that out, for the build takes a minute.
fn plugin_test() -> Result<(), String> {
    let library = plugin::build()?;
    step::run("plugin test", checked(&["--test", "plugin", "--", "--ignored"]).env("SPYRE_PLUGIN", library))
}
