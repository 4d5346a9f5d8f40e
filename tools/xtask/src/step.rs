//! Runs other programs, and locates folders.

use std::{
    cell::RefCell,
    env,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Instant,
};

/// Returns the root folder of the project.
pub(crate) fn root() -> PathBuf {
    let manifest =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.ancestors().nth(2).unwrap_or(Path::new(".")).to_path_buf()
}

/// Returns cargo's target directory.
pub(crate) fn target_dir() -> Result<PathBuf, String> {
    let output = cargo(["metadata", "--no-deps", "--format-version=1"])
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    let metadata = String::from_utf8_lossy(&output.stdout);
    let found = metadata.split_once(r#""target_directory":""#).and_then(|(_, rest)| rest.split_once('"'));
    found.map(|(path, _)| PathBuf::from(path)).ok_or_else(|| "cargo metadata names no target directory".to_owned())
}

/// Removes a folder and its contents, if it exists.
pub(crate) fn remove_folder(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Returns the prefix of MLIR 22; `.cargo/config.toml` has the default.
pub(crate) fn prefix() -> PathBuf {
    env::var_os("MLIR_SYS_220_PREFIX").map_or_else(|| PathBuf::from("/usr/lib/llvm-22"), PathBuf::from)
}

/// Returns a cargo command in the project's folder.
pub(crate) fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Returns a command that builds the libraries of the workspace, including the Python extension and the C library. They
/// come from the build of the tests, because dependencies have the features of the tests when a test is built, too.
pub(crate) fn libraries() -> Command {
    cargo(["build", "--profile", "checked", "--workspace", "--lib", "--test", "compiler"])
}

thread_local! {
    /// Log file of the steps of this thread; `None` prints them at once.
    static LOG: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// Runs `command` with visible output; an error names the purpose of the command.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<(), String> {
    let log = LOG
        .with_borrow(|log| log.as_ref().map(File::try_clone).transpose())
        .map_err(|error| format!("{what}: {error}"))?;
    // The heading of a step is printed first, so that a step that hangs is identified.
    let say = |text: String| {
        println!("{text}");
        log.as_ref().map_or(Ok(()), |mut log| writeln!(log, "{text}").map_err(|error| format!("{what}: {error}")))
    };
    say(format!("==> {what}: {}", command_text(command)))?;
    if let Some(log) = &log {
        let log = || log.try_clone().map_err(|error| format!("{what}: {error}"));
        command.stdout(log()?).stderr(log()?);
    }
    let started = Instant::now();
    let status =
        command.status().map_err(|error| format!("{what}: cannot run {}: {error}", command.get_program().display()))?;
    if !status.success() {
        return Err(format!("{what}: {status}"));
    }
    say(format!("==> {what}: done in {:.1} s", started.elapsed().as_secs_f64()))
}

/// Runs both concurrently. The output of `other` is printed at the end, so that lines do not interleave.
pub(crate) fn run_concurrently<T, O: Send>(
    one: impl FnOnce() -> T,
    other: impl FnOnce() -> O + Send,
) -> Result<(T, O), String> {
    let place = target_dir()?.join("beside.log");
    let fault = |error: io::Error| format!("{}: {error}", place.display());
    let log = File::create(&place).map_err(fault)?;
    let (one, other) = thread::scope(|scope| {
        let other = scope.spawn(|| {
            LOG.set(Some(log));
            other()
        });
        (one(), other.join())
    });
    print!("{}", String::from_utf8_lossy(&fs::read(&place).map_err(fault)?));
    let other = other.map_err(|_| "a step that ran beside others panicked".to_owned())?;
    Ok((one, other))
}

/// Returns the command as a user would type it.
fn command_text(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy());
    [program].into_iter().chain(arguments).collect::<Vec<_>>().join(" ")
}
