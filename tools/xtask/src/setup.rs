//! `cargo xtask setup`: installs missing dependencies.

use crate::step;
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Evidence that a dependency is present.
enum DependencyProbe {
    /// A file below the prefix of MLIR.
    InPrefix(&'static str),
    /// A program in the path.
    Program(&'static str),
    /// A C header of the system.
    Header(&'static str),
    /// A module of Python.
    Module(&'static str),
}

/// Requirements, and the Debian package that provides each of them.
const NEEDS: &[(&str, DependencyProbe)] = &[
    ("libmlir-22-dev", DependencyProbe::InPrefix("lib/cmake/mlir/MLIRConfig.cmake")),
    ("mlir-22-tools", DependencyProbe::InPrefix("bin/mlir-tblgen")),
    ("llvm-22-dev", DependencyProbe::InPrefix("lib/cmake/llvm/LLVMConfig.cmake")),
    ("llvm-22-dev", DependencyProbe::InPrefix("bin/llvm-config")),
    ("llvm-22-tools", DependencyProbe::InPrefix("bin/FileCheck")),
    ("llvm-22-tools", DependencyProbe::InPrefix("bin/lit")),
    ("libclang-22-dev", DependencyProbe::InPrefix("lib/libclang.so")),
    ("clang-22", DependencyProbe::InPrefix("bin/clang++")),
    ("lld-22", DependencyProbe::InPrefix("bin/ld.lld")),
    ("libpolly-22-dev", DependencyProbe::InPrefix("lib/libPolly.a")),
    // For the C++ in the crate `tblgen`.
    ("g++", DependencyProbe::Program("c++")),
    ("cmake", DependencyProbe::Program("cmake")),
    ("ninja-build", DependencyProbe::Program("ninja")),
    ("python3", DependencyProbe::Program("python3")),
    // For the environments of the Python package's tests.
    ("python3-venv", DependencyProbe::Module("ensurepip")),
    // Runs `test/memory.rs`.
    ("valgrind", DependencyProbe::Program("valgrind")),
    // Displays the pages of `test/page.rs`.
    ("chromium", DependencyProbe::Program("chromium")),
    // Runs the extension's client in `test/editor.rs`.
    ("nodejs", DependencyProbe::Program("node")),
    ("zlib1g-dev", DependencyProbe::Header("zlib.h")),
    ("libzstd-dev", DependencyProbe::Header("zstd.h")),
    ("libxml2-dev", DependencyProbe::Header("libxml2/libxml/parser.h")),
];

/// Installs missing dependencies, or prints instructions.
pub(crate) fn run() -> Result<(), String> {
    let missing = find_missing();
    if missing.is_empty() {
        println!("==> setup: everything is there (MLIR 22 in {})", step::prefix().display());
        return Ok(());
    }
    if !is_program("apt-get") || step::prefix() != Path::new("/usr/lib/llvm-22") {
        return Err(manual_instructions(&missing));
    }
    let packages: Vec<&str> = missing.iter().map(|(package, _)| *package).collect();
    println!("==> setup: missing {}", packages.join(", "));
    step::run("setup: package lists", &mut root_command(&["apt-get", "update"])?)?;
    let install = [&["apt-get", "install", "--yes", "--no-install-recommends"], packages.as_slice()].concat();
    step::run("setup: packages", &mut root_command(&install)?).map_err(|error| format!("{error}\n{NO_LLVM_22}"))?;
    let still = self::find_missing();
    if still.is_empty() { Ok(()) } else { Err(manual_instructions(&still)) }
}

const NO_LLVM_22: &str = "If apt-get found no LLVM 22, add the repository of https://apt.llvm.org for your release \
    (llvm-toolchain-<release>-22) and try again.";

/// Returns the missing packages without duplicates, each with the first missing file or program.
fn find_missing() -> Vec<(&'static str, String)> {
    let mut missing: Vec<(&str, String)> = Vec::new();
    for (package, probe) in NEEDS {
        let (is_there, sought) = probe.search();
        if !is_there && missing.iter().all(|(known, _)| known != package) {
            missing.push((package, sought));
        }
    }
    missing
}

impl DependencyProbe {
    /// Returns whether the dependency is present, and the name that was searched for.
    fn search(&self) -> (bool, String) {
        match self {
            Self::InPrefix(file) => {
                let path = step::prefix().join(file);
                (path.exists(), path.display().to_string())
            }
            Self::Program(name) => (is_program(name), format!("the program '{name}'")),
            Self::Module(name) => {
                let found = Command::new("python3").args(["-c", &format!("import {name}")]).output();
                (found.is_ok_and(|output| output.status.success()), format!("the module '{name}' of Python"))
            }
            Self::Header(name) => {
                let folders = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"];
                (folders.iter().any(|folder| Path::new(folder).join(name).exists()), format!("the header <{name}>"))
            }
        }
    }
}

fn is_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(name)).any(|program: PathBuf| program.is_file())
}

/// Returns a command with the permissions to install packages.
fn root_command(words: &[&str]) -> Result<Command, String> {
    let user = Command::new("id").arg("-u").output().map_err(|error| format!("cannot run id: {error}"))?;
    let is_root = user.stdout.trim_ascii() == b"0";
    if !is_root && !is_program("sudo") {
        return Err(format!("not root and no sudo; run this as root, then again: {}", words.join(" ")));
    }
    let mut command = if is_root { Command::new("env") } else { Command::new("sudo") };
    command.arg("DEBIAN_FRONTEND=noninteractive").args(words);
    Ok(command)
}

/// Returns instructions for a manual installation, for systems where apt-get cannot install the requirements.
fn manual_instructions(missing: &[(&str, String)]) -> String {
    let mut text = String::from("these are missing:\n");
    for (package, sought) in missing {
        text.push_str(&format!("  {sought} (Debian's package {package})\n"));
    }
    text.push_str(&format!(
        "\nInstall LLVM, MLIR, Clang and LLD 22 with static and shared libraries, a C++ compiler, CMake, Ninja and\n\
         Python 3. Where LLVM is elsewhere than in {}, set MLIR_SYS_220_PREFIX and TABLEGEN_220_PREFIX to its prefix.",
        step::prefix().display()
    ));
    text
}
