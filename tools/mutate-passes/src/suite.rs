//! The tests that a mutant must pass to survive.

use crate::MUTANT;
use serde_json::Value;
use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A test program may run so long; a mutant that takes longer is noticed.
const LIMIT: Duration = Duration::from_secs(300);

/// A test program, and what it is told: the quickest first.
const TESTS: [(&str, &[&str]); 11] = [
    ("spyre", &["tile::", "work::", "lx::", "bundle::", "cost::", "pipeline::"]),
    ("lit", &["tile", "work", "lx", "bundle", "gate", "pipeline", "execution"]),
    ("pipeline", &[]),
    ("snapshot", &[]),
    ("emission", &[]),
    ("workdiv", &[]),
    ("joint", &[]),
    ("tiles", &[]),
    ("plans", &[]),
    ("random", &[]),
    ("report", &[]),
];

/// Random cases of a family for each mutant.
const RANDOM_CASES: &str = "60";

/// The test programs of the mutated tree.
pub(crate) struct Suite {
    tree: PathBuf,
    tests: Vec<(String, PathBuf, &'static [&'static str])>,
}

/// Builds the tests of the mutated tree.
pub(crate) fn build(tree: &Path, target: &Path) -> Result<Suite, String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--no-run", "--message-format=json", "--package", "spyre", "--target-dir"]).arg(target).current_dir(tree);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err("the mutated tree does not build".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let built: Vec<(String, PathBuf)> = text.lines().filter_map(|line| executable(&serde_json::from_str(line).ok()?)).collect();
    let of = |(name, words): (&str, &'static [&'static str])| {
        let (_, path) = built.iter().find(|(built, _)| built == name).ok_or_else(|| format!("there is no test '{name}'"))?;
        Ok((name.to_owned(), path.clone(), words))
    };
    let tests = TESTS.into_iter().map(of).collect::<Result<_, String>>()?;
    Ok(Suite { tree: tree.to_owned(), tests })
}

/// A test program that cargo built: its name and where it is.
fn executable(message: &Value) -> Option<(String, PathBuf)> {
    let is_test = message["profile"]["test"].as_bool()?;
    let name = message["target"]["name"].as_str()?;
    let path = message["executable"].as_str()?;
    let is_tool = message["target"]["kind"][0] == "bin";
    (is_test && !is_tool).then(|| (name.to_owned(), PathBuf::from(path)))
}

impl Suite {
    /// The first test program that notices a mutant, if one does.
    pub(crate) fn run(&self, mutant: Option<usize>) -> Option<String> {
        let fails = |(_, path, words): &&(String, PathBuf, &[&str])| {
            let mut command = Command::new(path);
            command.args(words.iter()).current_dir(&self.tree).env("SPYRE_RANDOM", RANDOM_CASES).env("CARGO_MANIFEST_DIR", &self.tree);
            if let Some(number) = mutant {
                command.env(MUTANT, number.to_string());
            }
            !succeeds(&mut command)
        };
        self.tests.iter().find(fails).map(|(name, ..)| name.clone())
    }
}

fn succeeds(command: &mut Command) -> bool {
    let Ok(mut child) = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() else { return false };
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if started.elapsed() < LIMIT => thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}
