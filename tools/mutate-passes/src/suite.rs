//! The tests that a mutant must pass to survive.

use crate::{MUTANT, read, sites::Site};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    env, fmt,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A test that takes so many times longer than without a mutant, and this long at least, is stopped. Such a mutant is counted by itself:
/// on a machine with other work a limit that ran out says less than a test that failed.
const MOST_SLOWER: u32 = 10;
const LEAST_LIMIT: Duration = Duration::from_secs(60);

/// The quickest tests first: a test program, what it is told, and the folder whose mutants it is for (all, where none is named).
const TESTS: [(&str, &[&str], Option<&str>); 37] = [
    ("spyre", &["tile::"], Some("src/tile")),
    ("spyre", &["work::"], Some("src/work")),
    ("spyre", &["lx::"], Some("src/lx")),
    ("spyre", &["bundle::"], Some("src/bundle")),
    ("spyre", &["launch::"], Some("src/launch")),
    ("spyre", &["search::"], Some("src/search")),
    ("scratchpad", &[], Some("crates/scratchpad")),
    ("lit", &["tile/"], Some("src/tile")),
    ("lit", &["work/"], Some("src/work")),
    ("lit", &["lx/"], Some("src/lx")),
    ("lit", &["bundle/"], Some("src/bundle")),
    ("lit", &["launch/"], Some("src/launch")),
    ("lit", &["search/"], Some("src/search")),
    ("tile_search", &[], Some("src/search")),
    ("exact", &[], Some("crates/scratchpad")),
    ("spyre_plan", &[], Some("crates/scratchpad")),
    ("joint", &[], Some("src/lx")),
    ("check_bundle", &[], Some("src/bundle")),
    ("read_back", &[], Some("src/bundle")),
    ("golden", &[], Some("src/bundle")),
    ("check_bundle", &[], Some("src/launch")),
    ("read_back", &[], Some("src/launch")),
    ("golden", &[], Some("src/launch")),
    ("random", &[], None),
    ("spyre", &["tile::", "work::", "lx::", "bundle::", "launch::", "traffic::", "pipeline::"], None),
    ("lit", &["tile", "work", "lx", "bundle", "launch", "gate", "pipeline", "execution"], None),
    ("pipeline", &[], None),
    ("snapshot", &[], None),
    ("emission", &[], None),
    ("workdiv", &[], None),
    ("report", &[], None),
    ("plans", &[], None),
    ("tiles", &[], None),
    ("phases", &[], None),
    ("validate", &[], None),
    ("supported_ops", &[], None),
    ("random_loops", &[], None),
];

/// What the switch of a mutant is in the text of the mutated tree, up to its number.
const SWITCH: &str = "crate :: mutant :: is (";

/// Random cases of a family for each mutant.
const RANDOM_CASES: &str = "30";

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// This test program failed.
    Noticed(&'static str),
    /// This test program did not come to an end.
    Stopped(&'static str),
    Survives,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noticed(test) => formatter.write_str(test),
            Self::Stopped(test) => write!(formatter, "{test} was stopped"),
            Self::Survives => formatter.write_str("SURVIVES"),
        }
    }
}

/// How a test program ended.
#[derive(PartialEq)]
enum End {
    Success,
    Failure,
    Limit,
}

/// The test programs of the mutated tree.
pub(crate) struct Suite {
    tree: PathBuf,
    tests: Vec<Test>,
}

struct Test {
    name: &'static str,
    executable: PathBuf,
    words: &'static [&'static str],
    stage: Option<&'static str>,
    limit: Duration,
}

/// The numbers of the mutants that the compiler refuses.
pub(crate) fn that_do_not_compile(tree: &Path, target: &Path) -> Result<BTreeSet<usize>, String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["check", "--lib", "--message-format=json", "--package", "spyre", "--package", "scratchpad", "--target-dir"])
        .arg(target)
        .current_dir(tree);
    let output = command.stderr(Stdio::null()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let errors = messages.filter(|message| message["message"]["level"] == "error" && message["message"]["spans"][0].is_object());
    let mut numbers = BTreeSet::new();
    for error in errors {
        let span = &error["message"]["spans"][0];
        let path = span["file_name"].as_str().ok_or("an error without a file")?;
        let end = span["byte_end"].as_u64().and_then(|end| usize::try_from(end).ok()).ok_or("an error without a place")?;
        let number = last_switch(&read(&tree.join(path))?, end);
        numbers.insert(number.ok_or_else(|| format!("an error that no mutant made: {}", error["message"]["rendered"]))?);
    }
    if numbers.is_empty() && !output.status.success() {
        return Err("the mutated tree does not build".to_owned());
    }
    Ok(numbers)
}

/// The mutant whose switch is the last one that begins before a place of the file.
fn last_switch(text: &str, end: usize) -> Option<usize> {
    let before = text.get(..end)?;
    let (_, rest) = before.rsplit_once(SWITCH)?;
    rest.split_once("usize")?.0.trim().parse().ok()
}

/// Builds the tests of the mutated tree.
pub(crate) fn build(tree: &Path, target: &Path) -> Result<Suite, String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args([
            "test",
            "--no-run",
            "--profile",
            "checked",
            "--message-format=json",
            "--package",
            "spyre",
            "--package",
            "scratchpad",
            "--target-dir",
        ])
        .arg(target)
        .current_dir(tree);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err("the mutated tree does not build".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let built: Vec<(String, PathBuf)> = text.lines().filter_map(|line| executable(&serde_json::from_str(line).ok()?)).collect();
    let of = |(name, words, stage): (&'static str, _, _)| {
        let (_, path) = built.iter().find(|(built, _)| built == name).ok_or_else(|| format!("there is no test '{name}'"))?;
        Ok(Test { name, executable: path.clone(), words, stage, limit: Duration::MAX })
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
    /// Runs every test without a mutant: none may fail, and each gets its limit.
    pub(crate) fn measure(&mut self) -> Result<(), String> {
        for position in 0..self.tests.len() {
            let started = Instant::now();
            let test = &self.tests[position];
            if self.end_of(test, None) != End::Success {
                return Err(format!("{} {} fails without a mutant", test.name, test.words.join(" ")));
            }
            self.tests[position].limit = (started.elapsed() * MOST_SLOWER).max(LEAST_LIMIT);
        }
        Ok(())
    }

    /// What becomes of a mutant: the first test program that notices it decides.
    pub(crate) fn run(&self, site: &Site) -> Outcome {
        let is_for = |test: &&Test| test.stage.is_none_or(|stage| site.path.starts_with(stage));
        for test in self.tests.iter().filter(is_for) {
            match self.end_of(test, Some(site)) {
                End::Success => {}
                End::Failure => return Outcome::Noticed(test.name),
                End::Limit => return Outcome::Stopped(test.name),
            }
        }
        Outcome::Survives
    }

    fn end_of(&self, test: &Test, mutant: Option<&Site>) -> End {
        let mut command = Command::new(&test.executable);
        command.args(test.words).current_dir(&self.tree).env("SPYRE_RANDOM", RANDOM_CASES).env("LIT_OPTS", "--max-failures=1");
        if let Some(site) = mutant {
            command.env(MUTANT, site.number.to_string());
        }
        end_of(&mut command, test.limit)
    }
}

/// A test program runs in a process group of its own, so that what it starts is stopped with it.
fn end_of(command: &mut Command, limit: Duration) -> End {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let Ok(mut child) = command.spawn() else { return End::Failure };
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return if status.success() { End::Success } else { End::Failure },
            Ok(None) if started.elapsed() < limit => thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
                let _ = child.wait();
                return End::Limit;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_belongs_to_the_last_switch_before_it() {
        let text = "(if crate :: mutant :: is (7usize) { a } else { b }) (if crate :: mutant :: is (8usize) { c } else { d })";
        assert_eq!(last_switch(text, 45), Some(7));
        assert_eq!(last_switch(text, text.len()), Some(8));
        assert_eq!(last_switch(text, 5), None);
    }

    #[test]
    fn what_a_stopped_test_has_started_is_stopped_with_it() {
        let place = env::temp_dir().join(format!("spyre-stopped-{}", std::process::id()));
        let script = format!("(sleep 2; touch {}) & wait", place.display());
        assert!(end_of(Command::new("sh").args(["-c", &script]), Duration::from_millis(200)) == End::Limit);
        thread::sleep(Duration::from_millis(2500));
        assert!(!place.exists(), "a process of the test went on");
    }
}
