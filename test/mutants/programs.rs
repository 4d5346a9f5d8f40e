//! The programs whose files are changed.

use spyre::{
    sim::{HostArray, RunOptions, Simulation, seeded},
    target::Target,
};
use std::{collections::BTreeMap, fs, path::Path, process::Command};

/// A directory in memory.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A program whose files are right.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) files: Files,
    /// The values of the arguments, in order.
    pub(crate) inputs: Vec<HostArray>,
    pub(crate) results: Vec<HostArray>,
}

/// The programs of `test/mutants/Inputs`, in the order of their names, or the one of a name.
pub(crate) fn all_programs(only: Option<&str>) -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/mutants/Inputs");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| only.is_none_or(|only| path.file_stem().is_some_and(|stem| stem == only)));
    paths.sort();
    paths.iter().map(|path| compiled(path)).collect()
}

/// A program says in its first line with which options it is compiled.
fn compiled(path: &Path) -> Program {
    let text = fs::read_to_string(path).unwrap();
    let options = text.lines().next().and_then(|line| line.strip_prefix("// options: ")).unwrap_or_else(|| panic!("{}", path.display()));
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    let output = command.arg(path).arg("-o").arg(&out).args(options.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    let mut files = Files::new();
    read(&out, "", &mut files);
    let simulation = Simulation::load(&out, &Target::spyre()).unwrap();
    let inputs: Vec<HostArray> = simulation.program().arguments.iter().map(|tensor| seeded(tensor, 7).unwrap()).collect();
    let results = run(&out, &inputs).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Program { name: path.file_stem().unwrap().to_string_lossy().into_owned(), files, inputs, results }
}

fn read(folder: &Path, below: &str, files: &mut Files) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{below}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            read(&path, &format!("{name}/"), files);
        } else {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// Runs a directory; its arguments get the values in order, and the results are in order, as a caller has them.
pub(crate) fn run(out: &Path, inputs: &[HostArray]) -> Result<Vec<HostArray>, String> {
    let simulation = Simulation::load(out, &Target::spyre()).map_err(|error| error.to_string())?;
    let names: Vec<String> = simulation.program().arguments.iter().map(|tensor| tensor.name.clone()).collect();
    if names.len() != inputs.len() {
        return Err(format!("{} arguments for {} values", names.len(), inputs.len()));
    }
    for (tensor, value) in simulation.program().arguments.iter().zip(inputs) {
        if (&*tensor.element_type, &tensor.shape) != (value.elements.type_name(), &value.shape) {
            return Err(format!("'{}' is no array of the caller's type", tensor.name));
        }
    }
    let inputs = names.into_iter().zip(inputs.iter().cloned()).collect();
    // A mutant may count far.
    let options = RunOptions { max_steps: 1 << 24, max_bytes: 1 << 28, wipe_lx: true, ..RunOptions::default() };
    let outcome = simulation.run(&inputs, &options).map_err(|error| error.to_string())?;
    Ok(outcome.results.into_iter().map(|(_, array)| array).collect())
}
