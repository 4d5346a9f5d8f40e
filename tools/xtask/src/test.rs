//! `cargo xtask test`: runs all tests and checks.

use crate::{
    package, plugin, python, setup,
    step::{self, cargo},
};
use rooms::HOUSE;
use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

pub(crate) fn run() -> Result<(), String> {
    let started = Instant::now();
    check_disk()?;
    setup::run()?;
    let crates = list_crates()?;
    // All steps run, even after a failure, so that one run reports all failures.
    let mut done = vec![
        step::run("format", &mut cargo(["fmt", "--all", "--check"])),
        step::run("lints", &mut clippy_command(&["--workspace"])),
        step::run("lints without LLVM", hide_llvm(&mut clippy_command(&["--no-default-features"]))),
        step::run("tests: build", test_command().arg("--no-run")),
    ];
    done.extend(run_test_steps_concurrently(&crates));
    let num_steps = done.len();
    let failures: Vec<String> = done.into_iter().filter_map(Result::err).collect();
    let seconds = started.elapsed().as_secs();
    println!(
        "==> {} of {num_steps} steps passed in {} min {} s",
        num_steps - failures.len(),
        seconds / 60,
        seconds % 60
    );
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n       ")) }
}

/// Test programs of `test`: with the compiler, and without MLIR.
const COMPILER: &str = "compiler";
const PLAIN: &str = "plain";

/// Modules of tests that only `cargo xtask nightly` runs.
const NIGHTLY: &str = "::nightly::";

/// Disk space in GiB for the target directory of a first run, including temporary files.
const NEEDED_GIB: u64 = 10;

/// Rejects a first run that would end half an hour later with a full disk.
fn check_disk() -> Result<(), String> {
    let target = step::target_dir()?;
    if target.join("checked").exists() {
        return Ok(());
    }
    fs::create_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    let output =
        Command::new("df").arg("-Pk").arg(&target).output().map_err(|error| format!("cannot run df: {error}"))?;
    let free_kib = String::from_utf8_lossy(&output.stdout)
        .lines()
        .nth(1)
        .and_then(|line| line.split_whitespace().nth(3)?.parse::<u64>().ok());
    let free_gib = free_kib.ok_or_else(|| format!("df does not say how much of {} is free", target.display()))? >> 20;
    if free_gib < NEEDED_GIB {
        let place = target.display();
        return Err(format!(
            "{place} has {free_gib} GiB free, and a first run needs {NEEDED_GIB}: free some, or set CARGO_TARGET_DIR"
        ));
    }
    Ok(())
}

/// Returns a cargo command whose tests can read neither zeros from uninitialized memory nor valid data from freed
/// memory: glibc fills both with other bytes.
fn perturbed_cargo(arguments: &[&str]) -> Command {
    let mut command = checked_cargo(arguments);
    command.env("MALLOC_PERTURB_", "170");
    // A fixed threshold would keep large blocks in the heap, and glibc would fill the remainder of a block at every
    // small allocation from it.
    command
}

/// Returns a clippy command in the profile of the tests, so that build dependencies (scripts, macros, the dialects in
/// C++) are built once for both.
fn clippy_command(of: &[&str]) -> Command {
    let mut command = cargo(["clippy", "--profile", "checked", "--all-targets"]);
    command.args(of).args(["--", "-D", "warnings"]);
    command
}

/// Returns `cargo test` in a profile with all checks of a development build and faster tests. With `--workspace` all
/// steps share one build: a selection of packages would be built with only the features that these request.
fn checked_cargo(arguments: &[&str]) -> Command {
    let mut command = cargo(["test", "--profile", "checked"]);
    command.args(arguments);
    command
}

/// Lists the crates below `crates`, by name.
fn list_crates() -> Result<Vec<OsString>, String> {
    let paths = list_files_in(&step::root().join("crates"))?;
    Ok(paths.iter().filter_map(|path| path.file_name()).map(OsStr::to_owned).collect())
}

/// Returns the command for all tests. Each text test also tests the printers and parsers.
fn test_command() -> Command {
    let mut command = perturbed_cargo(&["--workspace", "--no-fail-fast"]);
    command.env("SPYRE_ROUNDTRIP", "1");
    command
}

/// Runs the steps after the build of the tests, which use little more than one core, in two parallel sequences. The
/// first steps of one sequence build in a directory of their own, because two builds in one directory wait for each
/// other.
fn run_test_steps_concurrently(crates: &[OsString]) -> Vec<Result<(), String>> {
    let alone = |what: &str, module: &str| step::run(what, &mut ignored_tests(module)?);
    let one = || step::run("tests", &mut test_command());
    let other = || {
        let plugin = test_plugin();
        let others = [
            test_tools_without_llvm(),
            alone("memory", "memory"),
            alone("page in a browser", "page"),
            alone("editor", "editor"),
        ];
        [plugin]
            .into_iter()
            .chain(others)
            .chain([python::test(), package::test(), test_with_reference_material(crates)])
            .collect::<Vec<_>>()
    };
    step::run_concurrently(one, other)
        .map_or_else(|error| vec![Err(error)], |(one, other)| [one].into_iter().chain(other).collect())
}

/// Returns a command that runs the tests of a module that are ignored by default; fails if there are none.
fn ignored_tests(module: &str) -> Result<Command, String> {
    let path = step::root().join("test").join(module).with_extension("rs");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    if !text.contains("\n#[ignore = ") {
        return Err(format!("{} has no test that is ignored", path.display()));
    }
    Ok(checked_cargo(&[
        "--workspace",
        "--test",
        COMPILER,
        "--",
        "--ignored",
        &format!("{module}::"),
        "--skip",
        NIGHTLY,
    ]))
}

/// Hides the location of LLVM from a command.
fn hide_llvm(command: &mut Command) -> &mut Command {
    // An empty value prevents cargo from setting its own.
    command.env("MLIR_SYS_220_PREFIX", "").env("TABLEGEN_220_PREFIX", "")
}

/// Builds the tools that need no MLIR with LLVM hidden, and tests them. The tests of the crates, and of the MLIR-free
/// halves of the stages, run with all others, since both builds compile the same code. The plugin's build provides most
/// of this build.
fn test_tools_without_llvm() -> Result<(), String> {
    let mut build = cargo(["build", "--no-default-features", "--package", "spyre-compiler", "--bins"]);
    step::run("tools without LLVM", hide_llvm(plugin::set_build_folder(&mut build)?))?;
    // As docs.rs builds them; a link that leads nowhere is an error.
    let mut doc = cargo(["doc", "--no-default-features", "--no-deps", "--lib"]);
    doc.args(HOUSE.libraries().flat_map(|package| ["--package", package.name]));
    doc.args(["--package", "spyre-compiler"]).env("RUSTDOCFLAGS", "-D rustdoc::broken_intra_doc_links");
    step::run("docs without LLVM", hide_llvm(plugin::set_build_folder(&mut doc)?))?;
    let mut test = perturbed_cargo(&["--workspace", "--test", PLAIN, "--", "--include-ignored", "without_mlir::"]);
    step::run("tools without LLVM: tests", test.env("SPYRE_WITHOUT_MLIR", plugin::build_folder()?.join("debug")))
}

/// Runs the tests that need the reference material outside the repository, if it is present. They are in modules
/// `shared` of test programs that are already built, and ignored when these run in full.
fn test_with_reference_material(crates: &[OsString]) -> Result<(), String> {
    let mut of_a_crate = Vec::new();
    for name in crates {
        let tests = step::root().join("crates").join(name).join("tests");
        let folders = if tests.exists() { list_files_in(&tests)? } else { Vec::new() };
        of_a_crate.extend(folders.into_iter().map(|folder| folder.join("main.rs")));
    }
    let mut programs = vec![COMPILER.to_owned(), PLAIN.to_owned()];
    programs.extend(find_shared_test_programs(&of_a_crate)?);
    if let Some(folder) = find_missing_material() {
        let programs = programs.join(", ");
        println!(
            "==> beside the project: NOT RUN, for there is no {}: the tests `shared::` of {programs}",
            folder.display()
        );
        return Ok(());
    }
    let mut command = test_command();
    command.args(programs.iter().flat_map(|name| ["--test", name])).args(["--", "--ignored", "shared::"]);
    step::run("beside the project", &mut command)
}

/// Returns the expected path of the reference material outside the repository, if it does not exist. A variable that
/// names no folder is an error that the tests report.
pub(crate) fn find_missing_material() -> Option<PathBuf> {
    let named = env::var_os("SPYRE_SHARED");
    let folder = step::root().join(named.as_deref().unwrap_or(OsStr::new("../shared")));
    (named.is_none() && !folder.exists()).then_some(folder)
}

fn list_files_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// Returns the names of the crates' test programs that have a module `shared`, by their main files; fails if there are
/// none.
fn find_shared_test_programs(files: &[PathBuf]) -> Result<Vec<String>, String> {
    let has_module = |path: &&PathBuf| {
        fs::read_to_string(path).is_ok_and(|text| text.lines().any(|line| line.starts_with("mod shared")))
    };
    let name =
        |path: &PathBuf| path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let names: Vec<String> = files.iter().filter(has_module).map(name).collect();
    if names.is_empty() { Err("no test program has a module `shared`".to_owned()) } else { Ok(names) }
}

/// Builds the plugin, and runs its test, which plain `cargo test` skips because the build takes a minute.
fn test_plugin() -> Result<(), String> {
    let library = plugin::build(Some(&step::target_dir()?.join("checked").join("dialects")))?;
    step::run("plugin test", ignored_tests("plugin")?.env("SPYRE_PLUGIN", library))
}
