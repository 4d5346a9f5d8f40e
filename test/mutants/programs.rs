//! Programs for mutation testing of the file format.

use element::{FieldElement, FiniteField};
use machine::Target;
use referee::{
    ArrayElements, BoundedNumber, HostArray, InputDistribution, IntervalArithmetic, RunOptions, ShadowResult,
    SimulatedArithmetic, Simulation, draw_argument,
};
use sdsc_check::Profile;
use sdsc_format::to_text;
use serde::Deserialize;
use serde_json::Value;
use spyre_compiler::{
    launch::Launch,
    sdsc::{from_op_spec, read::case_json::read_case},
};
use std::{collections::BTreeMap, fs, path::Path, process::Command};

/// A directory in memory.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A program with correct files.
pub(crate) struct CorrectProgram {
    pub(crate) name: String,
    /// Profile of the format that the files have.
    pub(crate) profile: Profile,
    pub(crate) files: Files,
    /// Arguments, in order.
    pub(crate) inputs: Vec<HostArray>,
    pub(crate) right: ExpectedRun,
}

/// Expected results of correct files, and limits for mutants.
pub(crate) struct ExpectedRun {
    /// Results in each of [`comparison_fields`].
    pub(crate) fields: Vec<RunResults<FieldElement>>,
    /// Results without rounding.
    pub(crate) exact: Vec<HostArray>,
    /// Maximum number of element operations of a mutant: a few times those of the correct files, since loops of a
    /// mutant may have large trip counts.
    pub(crate) max_steps: u64,
}

/// Results and steps of an execution.
pub(crate) struct RunResults<E> {
    /// Element types and elements of the results.
    pub(crate) results: Vec<(&'static str, ShadowResult<E>)>,
    steps: u64,
}

/// A bundle in the form that a front end passes to the emitter, with the program that launches it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontEndBundle {
    case: Value,
    program: Value,
}

/// Returns the programs of `test/mutants/Inputs`, sorted by name, or only the named one.
pub(crate) fn all_programs(only: Option<&str>) -> Vec<CorrectProgram> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/mutants/Inputs");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| only.is_none_or(|only| path.file_stem().is_some_and(|stem| stem == only)));
    paths.sort();
    paths.iter().map(|path| load_program(path)).collect()
}

fn load_program(path: &Path) -> CorrectProgram {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let profile = if path.extension().is_some_and(|kind| kind == "json") {
        emit(path, &out);
        Profile::default()
    } else {
        compile(path, &out)
    };
    let mut files = Files::new();
    read_files(&out, "", &mut files);
    let simulation = Simulation::load(&out, &Target::spyre()).unwrap();
    let described = simulation.program();
    let inputs: Vec<HostArray> = (0..described.arguments.len())
        .map(|position| draw_argument(described, position, 7, InputDistribution::Random).unwrap())
        .collect();
    let right = || {
        let fields = comparison_fields()
            .iter()
            .map(|field| run(&out, &inputs, field, u64::MAX))
            .collect::<Result<Vec<_>, _>>()?;
        let exact = to_exact_arrays(run(&out, &inputs, &IntervalArithmetic, u64::MAX)?);
        Ok(ExpectedRun { max_steps: 4 * fields[0].steps, fields, exact })
    };
    let right = right().unwrap_or_else(|error: String| panic!("{}: {error}", path.display()));
    CorrectProgram { name: path.file_stem().unwrap().to_string_lossy().into_owned(), profile, files, inputs, right }
}

/// Compiles a program with the options in its first line; returns the profile that they select. Validation checks that
/// the files compute the program.
fn compile(path: &Path, out: &Path) -> Profile {
    let text = fs::read_to_string(path).unwrap();
    let options = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("// options:"))
        .unwrap_or_else(|| panic!("{}", path.display()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    let output =
        command.arg(path).arg("-o").arg(out).arg("--validate").args(options.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    let profile = options.split_whitespace().find_map(|option| option.strip_prefix("--bundle-format="));
    profile.map_or_else(Profile::default, |name| name.parse().unwrap())
}

/// Emits a bundle from a front end without compilation.
fn emit(path: &Path, out: &Path) {
    let handed: FrontEndBundle = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let bundle = read_case(&handed.case.to_string()).unwrap();
    let launch = Launch::new(&bundle).unwrap();
    let folder = out.join("bundle_0");
    fs::create_dir_all(&folder).unwrap();
    fs::write(out.join("program.json"), handed.program.to_string()).unwrap();
    fs::write(folder.join("bundle.mlir"), launch.to_string()).unwrap();
    for (index, op) in bundle.ops().into_iter().enumerate() {
        let sdsc = from_op_spec(op, index, launch.first_symbol_ids[index]).unwrap();
        fs::write(folder.join(format!("sdsc_{index}.json")), to_text(&sdsc)).unwrap();
    }
}

fn read_files(folder: &Path, below: &str, files: &mut Files) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{below}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            read_files(&path, &format!("{name}/"), files);
        } else {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// Returns the draws of the finite field in which results are compared. In the second one zero is larger than all other
/// numbers, so that a maximum that includes padding is detected.
pub(crate) fn comparison_fields() -> [FiniteField; 2] {
    [FiniteField::new(1), FiniteField::new(2)]
}

fn to_exact_arrays(ran: RunResults<BoundedNumber>) -> Vec<HostArray> {
    let array = |(_, result): (_, ShadowResult<BoundedNumber>)| HostArray {
        shape: result.shape,
        elements: ArrayElements::F64(result.elements.iter().map(|bound| bound.exact).collect()),
    };
    ran.results.into_iter().map(array).collect()
}

/// Runs a directory. Its arguments get the values in order; the results are in order, in the caller's form.
pub(crate) fn run<A: SimulatedArithmetic>(
    out: &Path,
    inputs: &[HostArray],
    arithmetic: &A,
    max_steps: u64,
) -> Result<RunResults<A::Element>, String> {
    let simulation = Simulation::load(out, &Target::spyre()).map_err(|error| error.to_string())?;
    let names: Vec<String> = simulation.program().arguments.iter().map(|tensor| tensor.name.clone()).collect();
    if names.len() != inputs.len() {
        return Err(format!("{} arguments for {} values", names.len(), inputs.len()));
    }
    for (tensor, value) in simulation.program().arguments.iter().zip(inputs) {
        if (&*tensor.element_type, &tensor.shape) != (value.elements.element_type().name(), &value.shape) {
            return Err(format!("'{}' is no array of the caller's type", tensor.name));
        }
    }
    let inputs = names.into_iter().zip(inputs.iter().cloned()).collect();
    let options = RunOptions { max_steps, max_bytes: 1 << 28, wipe_lx: true, ..RunOptions::default() };
    let (outcome, companions) =
        simulation.run_with(arithmetic, &inputs, &options).map_err(|error| error.to_string())?;
    let types = outcome.results.iter().map(|(_, array)| array.elements.element_type().name());
    Ok(RunResults { results: types.zip(companions).collect(), steps: outcome.report.steps })
}
