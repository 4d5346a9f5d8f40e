//! `cargo xtask fuzz`: runs the targets of test/hostile with coverage-guided mutants (LLVM's libFuzzer, on the stable
//! toolchain).

use crate::step::{self, cargo, root};
use std::{
    env,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

/// Flags for rustc's coverage counters in libFuzzer's format.
const FLAGS: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=16",
    "--cfg=fuzzing",
];

/// Limits for one mutant.
const LIMITS: [&str; 4] = ["-rss_limit_mb=4096", "-timeout=60", "-max_len=65536", "-print_final_stats=1"];

/// Fuzzes a target for some minutes. Findings and corpus are in `target/fuzz`.
pub(crate) fn run(target: &str, minutes: &str) -> Result<(), String> {
    let minutes: u64 = minutes.parse().map_err(|_| format!("expected a number of minutes, found '{minutes}'"))?;
    let folder = step::target_dir()?.join("fuzz");
    let fuzzer = build(&folder)?;
    let (corpus, end) = (folder.join("corpus").join(target), Instant::now() + Duration::from_secs(60 * minutes));
    loop {
        let seconds = end.saturating_duration_since(Instant::now()).as_secs();
        if seconds == 0 {
            return Ok(());
        }
        let mut fuzz = Command::new(&fuzzer);
        fuzz.env("SPYRE_FUZZ_TARGET", target).arg(&corpus).args(LIMITS).arg(format!("-max_total_time={seconds}"));
        fuzz.arg(format!("-artifact_prefix={}/{target}-", folder.display()));
        let done = step::run("fuzz", &mut fuzz);
        // MLIR's parser may exit with code 1, as in a tool. Every other exit is a finding.
        if done.as_ref().is_err_and(|message| !message.ends_with("exit status: 1")) {
            return done;
        }
    }
}

/// Builds the targets. Only the project's own code is instrumented: because a target is named, build scripts are built
/// without the flags.
fn build(folder: &std::path::Path) -> Result<PathBuf, String> {
    let host = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let mut build = cargo(["build", "--release", "--target", &host]);
    build.current_dir(root().join("fuzz")).env("RUSTFLAGS", FLAGS.join(" ")).env("CARGO_TARGET_DIR", folder);
    step::run("fuzzer", &mut build)?;
    Ok(folder.join(host).join("release/spyre-fuzz"))
}
