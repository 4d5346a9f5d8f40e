//! `spyre-run --export-expected`: arguments and expected results of a kernel, for a launcher on the device.
//!
//! A launcher's verification reads the files in the order of `arg_index`: inputs, and one expected file per output.
//! Each array is written twice: as a NumPy file, and as raw elements, row-major and little endian.
//!
//! ```text
//! DIR/index.json                      arguments, files, tolerances and the command
//! DIR/inputs/arg0.npy, arg0.bin       arguments that the kernel reads
//! DIR/simulated/arg2.npy, arg2.bin    results of the simulated device
//! DIR/exact/arg2.npy, arg2.bin        results in f64: unrounded, and rounded to the type of the argument
//! ```

use super::{RunArguments, contract, format_sim_error, npy, report_outcome};
use crate::codes;
use crate::tool::{self, Reporter};
use machine::ElementType;
use referee::{ArrayElements, HostArray, IntervalArithmetic, RunOptions, RunOutcome, Simulation};
use sdsc_format::launch_spec::{ArgRole, ArgSpec, LaunchSpec};
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Folders of the export.
const INPUTS_DIR: &str = "inputs";
const SIMULATED_DIR: &str = "simulated";
const EXACT_DIR: &str = "exact";

/// Content of `index.json`.
#[derive(Debug, Serialize)]
struct ExportIndex {
    version: u64,
    kernel_name: String,
    /// Folder of the kernel in the bundle directory.
    bundle: String,
    /// Chosen sizes, by name.
    bind: BTreeMap<String, i64>,
    inputs: Vec<InputFiles>,
    expected: Vec<ExpectedFiles>,
    /// Command that verifies the kernel, with `LAUNCH_DIR` for the folder that the back end wrote.
    command: String,
}

/// Argument with values before the launch, and its files.
#[derive(Debug, Serialize)]
struct InputFiles {
    #[serde(flatten)]
    argument: ExportedArgument,
    #[serde(flatten)]
    files: ArrayFiles,
}

/// Argument that the kernel writes, and the files of its expected values.
#[derive(Debug, Serialize)]
struct ExpectedFiles {
    #[serde(flatten)]
    argument: ExportedArgument,
    /// Tolerances of the verification for the type: `|actual - expected| <= atol + rtol * |expected|`.
    rtol: f64,
    atol: f64,
    simulated: ArrayFiles,
    exact: ArrayFiles,
    /// Largest difference of a simulated element from the exact one.
    max_abs_difference: f64,
    /// Whether the simulated results are within the tolerances of the exact ones.
    is_within_tolerance: bool,
}

#[derive(Debug, Serialize)]
struct ExportedArgument {
    arg_index: i64,
    role: ArgRole,
    /// Name in the program.
    name: String,
    shape: Vec<i64>,
    dtype: String,
}

/// Files of one array, as paths relative to the folder of the index.
#[derive(Debug, Serialize)]
struct ArrayFiles {
    npy: String,
    bin: String,
}

impl ArrayFiles {
    fn new(folder: &str, arg_index: i64) -> Self {
        Self { npy: format!("{folder}/arg{arg_index}.npy"), bin: format!("{folder}/arg{arg_index}.bin") }
    }
}

/// Simulates the program in the device's formats and in f64, and writes the files of the export.
///
/// # Errors
/// Returns an error if no launcher accepts the program, if the simulator rejects it, or if a file cannot be written.
pub(super) fn export(
    folder: &str,
    (simulation, sizes): (&Simulation, &BTreeMap<String, i64>),
    mut inputs: BTreeMap<String, HostArray>,
    options: &RunOptions,
    (arguments, reporter): (&RunArguments, Reporter),
) -> Result<(), String> {
    let program = simulation.program();
    let launch = find_single_launch(program)?;
    let spec = contract::read_launch_spec(Path::new(&arguments.directory), launch)?;
    let passed = pass_arguments(simulation, launch, &spec, &mut inputs)?;
    let (outcome, exact) =
        simulation.run_with(&IntervalArithmetic, &inputs, options).map_err(|error| format_sim_error(&error))?;
    let exact: Vec<HostArray> = exact
        .into_iter()
        .map(|result| HostArray {
            shape: result.shape,
            elements: ArrayElements::F64(result.elements.into_iter().map(|bound| bound.exact).collect()),
        })
        .collect();
    let written = ExportWriter { folder: Path::new(folder), program, launch, spec: &spec };
    let inputs =
        passed.iter().map(|(place, array)| written.write_input(*place, array)).collect::<Result<Vec<_>, _>>()?;
    let expected = written.write_expected(&outcome, &exact)?;
    let command = format_launch_command(&inputs, &expected);
    let size = |name: &String| sizes.get(name).copied().or_else(|| Some(program.size(name)?.maximum));
    let bind = launch.sizes.iter().filter_map(|name| Some((name.clone(), size(name)?))).collect();
    let (kernel_name, bundle) = (spec.kernel_name.clone(), launch.bundle.clone());
    let index = ExportIndex { version: 1, kernel_name, bundle, bind, inputs, expected, command };
    let text = serde_json::to_string_pretty(&index).map_err(|error| error.to_string())?;
    write_export_file(&Path::new(folder).join("index.json"), format!("{text}\n"))?;
    report_outcome(&outcome, arguments, reporter)
}

/// Returns the only launch of a program.
fn find_single_launch(program: &Program) -> Result<&LaunchEntry, String> {
    if let Some(result) = program.results.iter().find(|result| result.digit_base.is_some()) {
        return Err(codes::SIM_NOT_SIMULATED.format(format_args!(
            "--export-expected: expected results without digits, found '{}' of two digits per integer; return a floating-point number",
            result.name
        )));
    }
    match program.launches.as_slice() {
        [launch] => Ok(launch),
        launches => Err(codes::SIM_NOT_SIMULATED.format(format_args!(
            "--export-expected: expected a program of one launch, found {} launches; export a smaller function",
            launches.len()
        ))),
    }
}

/// Returns the arrays that a launcher passes, in its types, keyed by position in the launch specification. Sets the
/// inputs of the simulation to these values, so that the device computes from the same numbers.
fn pass_arguments(
    simulation: &Simulation,
    launch: &LaunchEntry,
    spec: &LaunchSpec,
    inputs: &mut BTreeMap<String, HostArray>,
) -> Result<Vec<(usize, HostArray)>, String> {
    let program = simulation.program();
    let mut passed = Vec::new();
    for (place, (argument, name)) in spec.args.iter().zip(&launch.arguments).enumerate() {
        if argument.role == ArgRole::Output {
            continue;
        }
        let tensor = find_tensor(program, name)?;
        let constant = simulation.read_constant(tensor).map_err(|error| format_sim_error(&error))?;
        let array = match (inputs.get(name), &constant) {
            (Some(array), _) | (None, Some(array)) => array,
            (None, None) => {
                return Err(codes::RUN_ARGUMENT.format(format_args!("'{name}' has no value; give one with --input")));
            }
        };
        let launched = contract::cast_elements_checked(array, contract::launch_type(tensor)?)
            .map_err(|message| contract::format_array_error("--input", tensor, &message))?;
        if let Some(input) = inputs.get_mut(name) {
            *input = contract::cast_elements(&launched, input.elements.element_type());
        }
        passed.push((place, launched));
    }
    Ok(passed)
}

fn find_tensor<'p>(program: &'p Program, name: &str) -> Result<&'p Tensor, String> {
    let found = program.tensors().find(|tensor| tensor.name == name);
    found.ok_or_else(|| {
        codes::SIM_FILES.format(format_args!("a launch names '{name}', which is no tensor of the program"))
    })
}

/// Writer of an export.
struct ExportWriter<'a> {
    folder: &'a Path,
    program: &'a Program,
    launch: &'a LaunchEntry,
    spec: &'a LaunchSpec,
}

impl ExportWriter<'_> {
    fn describe_argument(&self, place: usize, shape: &[i64]) -> ExportedArgument {
        let ArgSpec { arg_index, role, dtype, .. } = &self.spec.args[place];
        let (name, shape) = (self.launch.arguments[place].clone(), shape.to_vec());
        ExportedArgument { arg_index: *arg_index, role: *role, name, shape, dtype: dtype.clone() }
    }

    fn write_input(&self, place: usize, array: &HostArray) -> Result<InputFiles, String> {
        let argument = self.describe_argument(place, &array.shape);
        let files = self.write_arrays(INPUTS_DIR, argument.arg_index, array, array)?;
        Ok(InputFiles { argument, files })
    }

    /// Writes the expected results, in the order of the arguments.
    fn write_expected(&self, outcome: &RunOutcome, exact: &[HostArray]) -> Result<Vec<ExpectedFiles>, String> {
        let mut expected = Vec::new();
        for (place, name) in
            self.launch.arguments.iter().enumerate().filter(|(place, _)| self.spec.args[*place].role != ArgRole::Input)
        {
            let number = self.program.results.iter().position(|result| result.name == *name);
            let (Some((_, simulated)), Some(exact)) =
                (number.and_then(|n| outcome.results.get(n)), number.and_then(|n| exact.get(n)))
            else {
                return Err(codes::SIM_FILES
                    .format(format_args!("the launch writes '{name}', which is no result of the program")));
            };
            let element = contract::launch_type(find_tensor(self.program, name)?)?;
            let argument = self.describe_argument(place, &simulated.shape);
            let (simulated, rounded) =
                (contract::cast_elements(simulated, element), contract::cast_elements(exact, element));
            let (rtol, atol) = tolerances(element);
            let difference = ExportDifference::compute(&simulated, exact, (rtol, atol));
            expected.push(ExpectedFiles {
                rtol,
                atol,
                simulated: self.write_arrays(SIMULATED_DIR, argument.arg_index, &simulated, &simulated)?,
                exact: self.write_arrays(EXACT_DIR, argument.arg_index, exact, &rounded)?,
                max_abs_difference: difference.largest,
                is_within_tolerance: difference.is_within,
                argument,
            });
        }
        Ok(expected)
    }

    /// Writes an array as a NumPy file, and `raw` as its elements only.
    fn write_arrays(
        &self,
        folder: &str,
        arg_index: i64,
        array: &HostArray,
        raw: &HostArray,
    ) -> Result<ArrayFiles, String> {
        let files = ArrayFiles::new(folder, arg_index);
        let path = self.folder.join(&files.npy);
        let content = npy::to_npy_bytes(array)
            .map_err(|error| codes::OUTPUT_WRITE.format(format_args!("cannot write '{}': {error}", path.display())))?;
        write_export_file(&path, content)?;
        write_export_file(&self.folder.join(&files.bin), raw.elements.to_bytes())?;
        Ok(files)
    }
}

/// Difference between simulated and exact results.
struct ExportDifference {
    largest: f64,
    is_within: bool,
}

impl ExportDifference {
    fn compute(simulated: &HostArray, exact: &HostArray, (rtol, atol): (f64, f64)) -> Self {
        let mut difference = Self { largest: 0.0, is_within: true };
        for index in 0..simulated.elements.len() {
            let (found, expected) = (simulated.elements.get(index), exact.elements.get(index));
            if found == expected || (found.is_nan() && expected.is_nan()) {
                continue;
            }
            let off = (found - expected).abs();
            // A NaN or an infinity in only one of the arrays violates every tolerance.
            difference.is_within &= off <= atol + rtol * expected.abs() && expected.is_finite();
            difference.largest = difference.largest.max(if off.is_nan() { f64::MAX } else { off.min(f64::MAX) });
        }
        difference
    }
}

/// Returns the tolerances of the verification on the device for a type: relative and absolute.
const fn tolerances(element: ElementType) -> (f64, f64) {
    match element {
        ElementType::F32 => (1.3e-6, 1e-5),
        ElementType::F16 => (1e-3, 1e-5),
        ElementType::Bf16 => (1.6e-2, 1e-5),
        ElementType::F64 => (1e-7, 1e-7),
        // 8-bit floats, which no launch passes, integers and booleans.
        ElementType::F8E4M3Fn
        | ElementType::F8E5M2
        | ElementType::Bool
        | ElementType::I8
        | ElementType::I32
        | ElementType::I64
        | ElementType::Index => (0.0, 0.0),
    }
}

/// Returns the command that verifies the kernel against the simulated results. It runs in the folder of the index.
fn format_launch_command(inputs: &[InputFiles], expected: &[ExpectedFiles]) -> String {
    let inputs = inputs.iter().map(|input| format!("-i {} ", input.files.bin));
    let outputs = expected.iter().map(|output| format!("-o {} ", output.simulated.bin));
    format!("spyre launch {}LAUNCH_DIR", inputs.chain(outputs).collect::<String>())
}

/// Writes a file, and creates its folder.
fn write_export_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), String> {
    let cannot = |reason: &dyn std::fmt::Display| {
        codes::OUTPUT_WRITE.format(format_args!(
            "--export-expected: cannot write '{}': {reason}; name another directory",
            path.display()
        ))
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| cannot(&files::reason(&error)))?;
    tool::write_file(path.to_str().ok_or_else(|| cannot(&"the name is no UTF-8"))?, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(elements: ArrayElements) -> HostArray {
        HostArray { shape: vec![elements.len() as i64], elements }
    }

    #[test]
    fn computes_difference_relative_to_exact_number() {
        let between = |simulated: f32, exact: f64| {
            ExportDifference::compute(
                &array(ArrayElements::F32(vec![simulated])),
                &array(ArrayElements::F64(vec![exact])),
                tolerances(ElementType::F16),
            )
        };
        assert!(between(1000.5, 1000.0).is_within && !between(1002.0, 1000.0).is_within);
        assert_eq!(between(1002.0, 1000.0).largest, 2.0);
        assert!(between(f32::NAN, f64::NAN).is_within);
        assert!(!between(f32::NAN, 1.0).is_within && !between(1.0, f64::INFINITY).is_within);
    }
}
