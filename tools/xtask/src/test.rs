//! `cargo xtask test`: every test and check.

use crate::{
    plugin, setup,
    step::{self, cargo},
};
use std::time::Instant;

pub(crate) fn run() -> Result<(), String> {
    let started = Instant::now();
    setup::run()?;
    // All of them run, whatever fails, so that one run shows everything.
    let done = [
        step::run("format", &mut cargo(["fmt", "--all", "--check"])),
        step::run("lints", &mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
        step::run("tests", &mut cargo(["test", "--workspace", "--no-fail-fast"])),
        step::run("round trips", cargo(["test", "--test", "lit"]).env("SPYRE_ROUNDTRIP", "1")),
        plugin_test(),
    ];
    let failures: Vec<String> = done.into_iter().filter_map(Result::err).collect();
    let seconds = started.elapsed().as_secs();
    println!("==> {} of 5 steps passed in {} min {} s", 5 - failures.len(), seconds / 60, seconds % 60);
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n       ")) }
}

/// Builds the plugin, and runs its test: plain `cargo test` leaves that out, for the build takes a minute.
fn plugin_test() -> Result<(), String> {
    let library = plugin::build()?;
    step::run("plugin test", cargo(["test", "--test", "plugin", "--", "--ignored"]).env("SPYRE_PLUGIN", library))
}
