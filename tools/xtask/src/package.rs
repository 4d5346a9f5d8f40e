//! CMake package: `cargo xtask install PREFIX`, and its test, the project in examples/cmake.

use crate::{
    editor, setup,
    step::{self, cargo},
};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Builds the C library, the dialects and the language server in release mode, and installs them below a prefix, with
/// the extension for VS Code.
pub(crate) fn run(prefix: &str) -> Result<(), String> {
    setup::run()?;
    let here = env::current_dir().map_err(|error| format!("cannot tell the current folder: {error}"))?;
    step::run("install: C library", &mut cargo(["build", "--release", "--package", "spyre-c"]))?;
    step::run(
        "install: language server",
        &mut cargo(["build", "--release", "--package", "spyre-compiler", "--bin", "spyre-lsp-server"]),
    )?;
    let (built, prefix) = (step::target_dir()?.join("release"), here.join(prefix));
    install(&built, &prefix)?;
    let extension = install_editor(&built, &prefix)?;
    println!("{}", editor::install_command(&extension));
    Ok(())
}

/// Installs the language server, and the extension for VS Code that starts it; returns the path of the extension.
fn install_editor(built: &Path, prefix: &Path) -> Result<PathBuf, String> {
    let (bin, share) = (prefix.join("bin"), prefix.join("share").join("vscode"));
    let server = bin.join("spyre-lsp-server");
    let copy = || {
        fs::create_dir_all(&bin)?;
        fs::create_dir_all(&share)?;
        fs::copy(built.join("spyre-lsp-server"), &server)
    };
    copy().map_err(|error| format!("cannot install {}: {error}", server.display()))?;
    editor::pack(&share, Some(&server))
}

/// Installs the build of the tests below a separate prefix, and builds and runs a project that finds it there.
pub(crate) fn test() -> Result<(), String> {
    step::run("package: C library", &mut step::libraries())?;
    let target = step::target_dir()?;
    let (prefix, project) = (target.join("package").join("prefix"), target.join("package").join("example"));
    install(&target.join("checked"), &prefix)?;
    let extension = install_editor(&target.join("checked"), &prefix)?;
    step::run("package: extension", Command::new("python3").args(["-m", "zipfile", "-t"]).arg(extension))?;
    let example = step::root().join("examples").join("cmake");
    let mut configure = configure_cmake(&example, &project);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={};{}", prefix.display(), step::prefix().display()));
    step::run("package: example", &mut configure)?;
    step::run("package: example", Command::new("cmake").arg("--build").arg(&project))?;
    let compile = project.join("compile");
    let (code, said) = run_on_file(&compile, &step::root().join("examples").join("softmax.mlir"))?;
    let num_layouts =
        said.lines().filter(|line| line.starts_with("spyre.") && line.contains(": #spyre.layout<")).count();
    if code != Some(0) || !said.contains("compiled by spyre-mlir ") || num_layouts < 4 {
        return Err(format!("the example ends with {code:?}:\n{said}"));
    }
    // Invalid programs are rejected with a location.
    let (code, said) = run_on_file(&compile, &example.join("CMakeLists.txt"))?;
    let is_rejected = code == Some(1) && said.contains("CMakeLists.txt:1:1: error: ");
    if is_rejected { Ok(()) } else { Err(format!("the example ends with {code:?} for what is no program:\n{said}")) }
}

/// Installs the dialects and the C library of a folder, where cargo has built both.
fn install(libraries: &Path, prefix: &Path) -> Result<(), String> {
    let build = libraries.join("dialects");
    let mut configure = configure_cmake(&step::root(), &build);
    configure.arg(format!("-DSPYRE_C_LIBRARY={}", libraries.join("libspyre_c.so").display()));
    configure.arg(format!("-DMLIR_DIR={}", step::prefix().join("lib/cmake/mlir").display()));
    step::run("install: dialects", &mut configure)?;
    step::run(
        "install: dialects",
        Command::new("cmake").arg("--build").arg(&build).args(["--target", "SpyreDialects"]),
    )?;
    step::run("install", Command::new("cmake").arg("--install").arg(&build).arg("--prefix").arg(prefix))
}

/// Returns a command that configures a project in a folder, with the same C++ compiler as all other builds.
fn configure_cmake(project: &Path, build: &Path) -> Command {
    let compiler = |name: &str| -> PathBuf { step::prefix().join("bin").join(name) };
    let mut command = Command::new("cmake");
    command.args(["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-S"]).arg(project).arg("-B").arg(build);
    command.arg(format!("-DCMAKE_C_COMPILER={}", compiler("clang").display()));
    command.arg(format!("-DCMAKE_CXX_COMPILER={}", compiler("clang++").display()));
    command
}

/// Returns the exit status and the output of a program for a file.
fn run_on_file(program: &Path, file: &Path) -> Result<(Option<i32>, String), String> {
    let output = Command::new(program)
        .arg(file)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Ok((output.status.code(), text))
}
