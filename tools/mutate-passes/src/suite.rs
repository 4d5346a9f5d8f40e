//! The tests that a mutant must pass to survive.

use crate::{
    MUTANT, REACHED, read_file,
    run::{TestEnd, run_to_end},
    sites::MutationSite,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    env, fmt, fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Maximum slowdown of a test. A test that exceeds this multiple of its time without a mutant, and the minimum, is
/// stopped. These mutants are counted separately: on a busy machine a timeout is weaker evidence than a failed test.
const MAX_SLOWDOWN: u32 = 10;
const MIN_TIME_LIMIT: Duration = Duration::from_secs(60);

/// Time budget of a mutant, in test time without a mutant: the tests that evaluate its expression run in order of
/// increasing time. The remaining tests of a surviving mutant may be run by hand.
const MAX_TEST_TIME: Duration = Duration::from_secs(120);

/// Text tests, which have their own harness; its arguments are substrings of test paths.
const LIT: &str = "lit";

/// Test programs. Only the tests that evaluate a mutant's expression are run, since no other test can detect it.
const PROGRAMS: [&str; 22] = [
    "spyre_compiler",
    "scratchpad",
    LIT,
    "tile_search",
    "exact",
    "spyre_plan",
    "joint",
    "check_bundle",
    "read_back",
    "golden",
    "random",
    "pipeline",
    "snapshot",
    "emission",
    "workdiv",
    "report",
    "plans",
    "tiles",
    "phases",
    "validate",
    "supported_ops",
    "random_loops",
];

/// Call that selects a mutant in the mutated tree, up to the mutant's number.
const SWITCH: &str = "crate :: mutant :: is (";

/// Random cases of a family for each mutant.
const RANDOM_CASES: &str = "30";

/// Outcome of a mutant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MutantOutcome {
    /// This test program failed.
    Detected(String),
    /// This test program exceeded its time limit.
    TimedOut(String),
    Survives,
    /// No test evaluates its expression.
    Unreached,
}

impl fmt::Display for MutantOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Detected(test) => formatter.write_str(test),
            Self::TimedOut(test) => write!(formatter, "{test} was stopped"),
            Self::Survives => formatter.write_str("SURVIVES"),
            Self::Unreached => formatter.write_str("SURVIVES: no test evaluates it"),
        }
    }
}

/// Test programs of the mutated tree, and the expressions that each of their tests evaluates.
pub(crate) struct TestSuite {
    tree: PathBuf,
    programs: BTreeMap<&'static str, PathBuf>,
    tests: Vec<MeasuredTest>,
}

/// Measured tests, with the files on which the measurements depend.
#[derive(Serialize, Deserialize)]
struct MeasuredTests {
    key: BTreeSet<String>,
    tests: Vec<MeasuredTest>,
}

/// Measurement of a test without a mutant.
#[derive(Serialize, Deserialize)]
struct MeasuredTest {
    program: String,
    name: String,
    time: Duration,
    /// Mutants whose expressions the test evaluates.
    reaches: BTreeSet<usize>,
}

/// Returns the numbers of the mutants that the compiler rejects.
pub(crate) fn find_uncompilable(tree: &Path, target: &Path) -> Result<BTreeSet<usize>, String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args([
            "check",
            "--lib",
            "--message-format=json",
            "--package",
            "spyre-compiler",
            "--package",
            "spyre-scratchpad",
            "--target-dir",
        ])
        .arg(target)
        .current_dir(tree);
    let output = command.stderr(Stdio::null()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let errors =
        messages.filter(|message| message["message"]["level"] == "error" && message["message"]["spans"][0].is_object());
    let mut numbers = BTreeSet::new();
    for error in errors {
        let span = &error["message"]["spans"][0];
        let path = span["file_name"].as_str().ok_or("an error without a file")?;
        let end =
            span["byte_end"].as_u64().and_then(|end| usize::try_from(end).ok()).ok_or("an error without a place")?;
        let number = find_last_switch(&read_file(&tree.join(path))?, end);
        numbers
            .insert(number.ok_or_else(|| format!("an error that no mutant made: {}", error["message"]["rendered"]))?);
    }
    if numbers.is_empty() && !output.status.success() {
        return Err("the mutated tree does not build".to_owned());
    }
    Ok(numbers)
}

/// Returns the mutant with the last switch that begins before a position of the file.
fn find_last_switch(text: &str, end: usize) -> Option<usize> {
    let before = text.get(..end)?;
    let (_, rest) = before.rsplit_once(SWITCH)?;
    rest.split_once("usize")?.0.trim().parse().ok()
}

/// Builds the tests of the mutated tree.
pub(crate) fn build(tree: &Path, target: &Path) -> Result<TestSuite, String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args([
            "test",
            "--no-run",
            "--profile",
            "checked",
            "--message-format=json",
            "--package",
            "spyre-compiler",
            "--package",
            "spyre-scratchpad",
            "--target-dir",
        ])
        .arg(target)
        .current_dir(tree);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err("the mutated tree does not build".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let built: Vec<(String, PathBuf)> =
        text.lines().filter_map(|line| parse_executable(&serde_json::from_str(line).ok()?)).collect();
    let of = |name: &'static str| {
        let (_, path) =
            built.iter().find(|(built, _)| built == name).ok_or_else(|| format!("there is no test '{name}'"))?;
        Ok((name, path.clone()))
    };
    let programs = PROGRAMS.into_iter().map(of).collect::<Result<_, String>>()?;
    Ok(TestSuite { tree: tree.to_owned(), programs, tests: Vec::new() })
}

/// Returns the name and the path of a test program that cargo built.
fn parse_executable(message: &Value) -> Option<(String, PathBuf)> {
    let is_test = message["profile"]["test"].as_bool()?;
    let name = message["target"]["name"].as_str()?;
    let path = message["executable"].as_str()?;
    let is_tool = message["target"]["kind"][0] == "bin";
    (is_test && !is_tool).then(|| (name.to_owned(), PathBuf::from(path)))
}

impl TestSuite {
    /// Runs every test by itself without a mutant, to record its time and the expressions that it evaluates. A test
    /// that fails here is reported and skipped. Text tests run concurrently with the others.
    fn measure(&mut self, scratch: &Path) -> Result<(), String> {
        let mut names: Vec<(&'static str, String)> = Vec::new();
        for program in PROGRAMS {
            names.extend(self.list_tests(program)?.into_iter().map(|name| (program, name)));
        }
        let (texts, others): (Vec<_>, Vec<_>) = names.into_iter().partition(|(program, _)| *program == LIT);
        let suite = &*self;
        let measured = thread::scope(|scope| {
            let lane = |tests: Vec<(&'static str, String)>, folder: PathBuf| {
                scope.spawn(move || {
                    tests
                        .into_iter()
                        .filter_map(|(program, name)| suite.measure_test(program, name, &folder).transpose())
                        .collect::<Result<Vec<_>, _>>()
                })
            };
            let lanes = [lane(texts, scratch.join("reached-texts")), lane(others, scratch.join("reached"))];
            lanes
                .into_iter()
                .map(|lane| lane.join().expect("a lane does not panic"))
                .collect::<Result<Vec<_>, String>>()
        })?;
        self.tests = measured.into_iter().flatten().collect();
        self.tests.sort_by_key(|test| test.time);
        Ok(())
    }

    /// Reads the measurements of an earlier run with equal programs and tools, if there are any. Otherwise measures the
    /// tests, and stores the measurements in `scratch`.
    pub(crate) fn load_measurements(&mut self, scratch: &Path) -> Result<(), String> {
        let tools = fs::read_dir(self.programs[LIT].with_file_name("..")).map_err(|error| error.to_string())?;
        let files = self.programs.values().cloned().chain(tools.filter_map(|entry| Some(entry.ok()?.path())));
        let changed =
            |path: PathBuf| Some((path.metadata().ok().filter(fs::Metadata::is_file)?.modified().ok()?, path));
        let key: BTreeSet<String> = files.filter_map(changed).map(|changed| format!("{changed:?}")).collect();
        let noted = scratch.join("measured.json");
        let known: Option<MeasuredTests> =
            fs::read_to_string(&noted).ok().and_then(|text| serde_json::from_str(&text).ok());
        if let Some(known) = known.filter(|known| known.key == key) {
            self.tests = known.tests;
            return Ok(());
        }
        self.measure(scratch)?;
        let measured = MeasuredTests { key, tests: std::mem::take(&mut self.tests) };
        let text = serde_json::to_string(&measured).map_err(|error| error.to_string())?;
        fs::write(&noted, text).map_err(|error| format!("{}: {error}", noted.display()))?;
        self.tests = measured.tests;
        Ok(())
    }

    /// Lists the tests of a program that are not ignored.
    fn list_tests(&self, program: &str) -> Result<Vec<String>, String> {
        if program == LIT {
            return list_text_tests(&self.tree.join("test"));
        }
        let list = |more: &[&str]| {
            let mut command = self.program_command(program);
            let output = command
                .args(["--list", "--format=terse"])
                .args(more)
                .output()
                .map_err(|error| format!("cannot run {program}: {error}"))?;
            let text = String::from_utf8_lossy(&output.stdout);
            Ok::<_, String>(
                text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect::<Vec<_>>(),
            )
        };
        let ignored: BTreeSet<String> = list(&["--ignored"])?.into_iter().collect();
        Ok(list(&[])?.into_iter().filter(|name| !ignored.contains(name)).collect())
    }

    fn measure_test(&self, program: &'static str, name: String, folder: &Path) -> Result<Option<MeasuredTest>, String> {
        let failed = |error: io::Error| format!("{}: {error}", folder.display());
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(failed)?;
        }
        fs::create_dir_all(folder).map_err(failed)?;
        let started = Instant::now();
        let mut command = self.test_command(program, &[&name]);
        if run_to_end(command.env(REACHED, folder), Duration::MAX) != TestEnd::Success {
            println!("left out, since it fails without a mutant: {program} {name}");
            return Ok(None);
        }
        let time = started.elapsed();
        let number = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
        let reaches = fs::read_dir(folder).map_err(failed)?.filter_map(number).collect();
        Ok(Some(MeasuredTest { program: program.to_owned(), name, time, reaches }))
    }

    /// Returns the outcome of a mutant. The tests that evaluate its expression run program by program, quickest first,
    /// up to the first test that detects the mutant.
    pub(crate) fn run(&self, site: &MutationSite) -> MutantOutcome {
        let mut runs: BTreeMap<&str, (Duration, Vec<&str>)> = BTreeMap::new();
        let mut left = MAX_TEST_TIME;
        for test in self.tests.iter().filter(|test| test.reaches.contains(&site.number)) {
            // Tests are sorted by time.
            let Some(rest) = left.checked_sub(test.time) else { break };
            left = rest;
            let (time, names) = runs.entry(&test.program).or_default();
            *time += test.time;
            names.push(&test.name);
        }
        if runs.is_empty() {
            return MutantOutcome::Unreached;
        }
        let mut runs: Vec<_> = runs.into_iter().collect();
        runs.sort_by_key(|(_, (time, _))| *time);
        for (program, (time, names)) in runs {
            let mut command = self.test_command(program, &names);
            match run_to_end(command.env(MUTANT, site.number.to_string()), (time * MAX_SLOWDOWN).max(MIN_TIME_LIMIT)) {
                TestEnd::Success => {}
                TestEnd::Failure => return MutantOutcome::Detected(program.to_owned()),
                TestEnd::Limit => return MutantOutcome::TimedOut(program.to_owned()),
            }
        }
        MutantOutcome::Survives
    }

    /// Returns a command that runs only the named tests of a program.
    fn test_command(&self, program: &str, names: &[&str]) -> Command {
        let mut command = self.program_command(program);
        command.args(names);
        if program != LIT {
            command.arg("--exact");
        }
        command
    }

    fn program_command(&self, program: &str) -> Command {
        let mut command = Command::new(&self.programs[program]);
        command.current_dir(&self.tree).env("SPYRE_RANDOM", RANDOM_CASES).env("LIT_OPTS", "--max-failures=1");
        command
    }
}

/// Returns the paths of the text tests below a folder, as `lit` names them: MLIR files with RUN lines.
fn list_text_tests(folder: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(below) = folders.pop() {
        let entries = fs::read_dir(&below).map_err(|error| format!("cannot read {}: {error}", below.display()))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "mlir")
                && read_file(&path)?.contains("RUN:")
            {
                found.extend(path.strip_prefix(folder).ok().and_then(Path::to_str).map(str::to_owned));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assigns_error_to_last_switch_before_it() {
        let text =
            "(if crate :: mutant :: is (7usize) { a } else { b }) (if crate :: mutant :: is (8usize) { c } else { d })";
        assert_eq!(find_last_switch(text, 45), Some(7));
        assert_eq!(find_last_switch(text, text.len()), Some(8));
        assert_eq!(find_last_switch(text, 5), None);
    }
}
