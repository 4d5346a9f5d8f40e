//! `spyre-run`: executes a bundle directory on the simulated machine.

pub mod archive;
#[cfg(feature = "mlir")]
mod check;
mod contract;
mod export;
pub mod npy;

use crate::{
    codes,
    tool::{self, MessageArguments, ProgressIndicator, Reporter, Verbosity, help::add_help_options},
};
use clap::{Command, CommandFactory, Parser};
use machine::Target;
use referee::{HostArray, InputDistribution, RunOptions, RunOutcome, RunReport, SimError, Simulation, draw_argument};
use sdsc_format::program::{PROGRAM_FILE, Program, Tensor};
use std::{collections::BTreeMap, ffi::OsString, fmt::Write as _, path::Path};

/// Run a bundle in the simulator
#[derive(Parser)]
#[command(name = "spyre-run")]
struct RunArguments {
    /// Bundle directory that spyre-compile wrote
    directory: String,
    /// Value of an argument; repeatable; missing arguments are filled with seeded random data
    #[arg(long, value_name = "NAME=FILE.npy", help_heading = INPUT)]
    input: Vec<String>,
    /// Values of arguments by name, from an .npz or .safetensors file
    #[arg(long, value_name = "FILE.npz", help_heading = INPUT)]
    inputs: Option<String>,
    /// Size of a symbolic dimension (NAME=SIZE, arg0.0=SIZE); repeatable [default: its maximum]
    #[arg(long, value_name = "NAME=SIZE", help_heading = INPUT)]
    dim_size: Vec<String>,
    /// Seed of the random data
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = INPUT)]
    seed: u64,
    /// Kind of random data: random, ties, extreme, infinite
    #[arg(long, value_name = "KIND", default_value = "random", help_heading = INPUT)]
    draw: InputDistribution,
    /// Write the results as .npy files
    #[arg(long, value_name = "OUT", help_heading = OUTPUT)]
    output_dir: Option<String>,
    /// Write inputs and expected results for the verification of the kernel on the device
    #[arg(long, value_name = "DIR", conflicts_with_all = ["check", "count"], help_heading = OUTPUT)]
    export_expected: Option<String>,
    /// Write HBM bytes and modeled time per op and in total
    #[arg(long, value_name = "FILE.json", help_heading = OUTPUT)]
    report: Option<String>,
    /// Run the input module with MLIR's JIT in f64, and compare the results
    #[arg(long, value_name = "FILE.mlir", help_heading = VERIFICATION)]
    check: Option<String>,
    /// Largest error relative to the RMS of the reference [default: bound of device rounding]
    #[arg(long, value_name = "R", requires = "check", value_parser = finite, help_heading = VERIFICATION)]
    tolerance: Option<f64>,
    /// Check and count all accesses without computing values, for large programs
    #[arg(long, conflicts_with_all = ["check", "output_dir"], help_heading = EXECUTION)]
    count: bool,
    /// Limit of executed element operations
    #[arg(long, value_name = "N", help_heading = EXECUTION)]
    max_steps: Option<u64>,
    /// Fill LX with invalid data before every launch
    #[arg(long, help_heading = EXECUTION)]
    wipe_lx: bool,
    #[command(flatten)]
    amount: Verbosity,
    #[command(flatten)]
    messages: MessageArguments,
}

/// Headings of the options in `--help`.
const INPUT: &str = "Input";
const OUTPUT: &str = "Output";
const VERIFICATION: &str = "Verification";
const EXECUTION: &str = "Execution";

/// Options that `--help` shows; at most ten.
const COMMON_OPTIONS: [&str; 9] =
    ["input", "inputs", "dim_size", "seed", "output_dir", "report", "check", "tolerance", "count"];

fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a finite number that is not negative".to_owned())
}

/// Runs the tool with the words of its command line, the first of which is its own name. Returns the exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    // Requests of other tools are no command lines of a user.
    #[cfg(feature = "mlir")]
    if tool::reference_process::is_request(&words) {
        return tool::reference_process::answer_request();
    }
    let reporter =
        |arguments: &RunArguments| Reporter::new("spyre-run", arguments.messages).with_verbosity(arguments.amount);
    tool::main("spyre-run", command(), words, reporter, run)
}

/// Returns the clap command of the tool.
pub(super) fn command() -> Command {
    add_help_options(RunArguments::command(), &COMMON_OPTIONS)
}

fn run(arguments: &RunArguments, reporter: Reporter) -> Result<(), String> {
    if let (Some(module), false) = (&arguments.check, cfg!(feature = "mlir")) {
        return Err(codes::WITHOUT_MLIR.format(format_args!(
            "--check '{module}': this spyre-run was built without MLIR; build it with the default features"
        )));
    }
    arguments
        .report
        .iter()
        .try_for_each(|path| tool::check_output_file(path).map_err(|error| format!("--report: {error}")))?;
    if let Some(folder) =
        arguments.output_dir.as_ref().filter(|folder| Path::new(folder).exists() && !Path::new(folder).is_dir())
    {
        return Err(codes::OUTPUT_PLACE.format(format_args!(
            "--output-dir: expected a directory, found the file '{folder}'; name another path, or remove the file"
        )));
    }
    check_directory(&arguments.directory)?;
    let _progress =
        ProgressIndicator::start(reporter, &format!("simulating {}", tool::display_name(&arguments.directory)));
    let simulation = Simulation::load(Path::new(&arguments.directory), &Target::spyre()).map_err(|error| {
        codes::SIM_FILES
            .format(format_args!("{error}; a bundle needs every file as it was written, compile the program again"))
    })?;
    contract::check_contract(Path::new(&arguments.directory), simulation.program())?;
    if let Some(warning) = contract::describe_missing_spec(Path::new(&arguments.directory), simulation.program()) {
        reporter.warning(&warning);
    }
    let sizes = parse_sizes(simulation.program(), &arguments.dim_size)?;
    let simulation =
        simulation.with_sizes(&sizes).map_err(|error| codes::RUN_SIZE.format(format_args!("--dim-size: {error}")))?;
    let (inputs, drawn) = read_inputs(&simulation, arguments, reporter)?;
    let defaults = RunOptions::default();
    let options = RunOptions {
        max_steps: arguments.max_steps.unwrap_or(defaults.max_steps),
        wipe_lx: arguments.wipe_lx,
        ..defaults
    };
    let num_launches = format_launch_count(simulation.program().launches.len());
    reporter.report_step(&format!(
        "program '{}': {num_launches}, at most {} element operations",
        simulation.program().name,
        options.max_steps
    ));
    if arguments.count {
        let report = simulation.count(&inputs, &options).map_err(|error| format_sim_error(&error))?;
        reporter.print_summary(&format!(
            "{}{}: {}, counted only\n",
            format_summary(&report),
            report.program,
            format_launch_count(report.launches.len())
        ))?;
        return write_report(&report, arguments);
    }
    #[cfg(feature = "mlir")]
    if let Some(module) = &arguments.check {
        return check::check_against_module(module, &simulation, (&inputs, &drawn), &options, (arguments, reporter));
    }
    if let Some(folder) = &arguments.export_expected {
        reporter.print_summary(&drawn)?;
        return export::export(folder, (&simulation, &sizes), inputs, &options, (arguments, reporter));
    }
    reporter.print_summary(&drawn)?;
    let outcome = simulation.run(&inputs, &options).map_err(|error| format_sim_error(&error))?;
    report_outcome(&outcome, arguments, reporter)
}

/// Formats an error of the simulator, with its code.
fn format_sim_error(error: &SimError) -> String {
    let code = match error {
        SimError::OutOfBounds { .. } => codes::SIM_OUT_OF_BOUNDS,
        SimError::Misaligned { .. } => codes::SIM_MISALIGNED,
        SimError::Unwritten { .. } => codes::SIM_UNWRITTEN,
        SimError::Dead { .. } => codes::SIM_DEAD,
        SimError::ReadOnly { .. } => codes::SIM_READ_ONLY,
        SimError::WriteConflict { .. } | SimError::ReadConflict { .. } => codes::SIM_CONFLICT,
        SimError::Overlap { .. } => codes::SIM_OVERLAP,
        SimError::TornBuffer { .. } => codes::SIM_TORN,
        SimError::NoValue { .. } => codes::SIM_NO_VALUE,
        SimError::IndexOutOfBounds { .. } => codes::SIM_INDEX,
        SimError::Array { .. } => codes::RUN_ARRAY,
        SimError::TooManySteps { .. } | SimError::TooMuchMemory { .. } => codes::SIM_LIMIT,
        SimError::NotSimulated { .. } => codes::SIM_NOT_SIMULATED,
        SimError::Io { .. } | SimError::Json { .. } | SimError::Text { .. } | SimError::Malformed { .. } => {
            codes::SIM_FILES
        }
    };
    code.format(error)
}

/// Checks that the directory contains a program. Suggests the parent directory if it contains one.
fn check_directory(directory: &str) -> Result<(), String> {
    let path = Path::new(directory);
    let program = path.join(PROGRAM_FILE);
    if program.exists() {
        return Ok(());
    }
    let missing = codes::RUN_DIRECTORY
        .format(format_args!("expected a bundle directory, found '{directory}' without file '{}'", program.display()));
    let parent = path.parent().filter(|parent| parent.join(PROGRAM_FILE).exists());
    Err(match parent.map(Path::to_string_lossy) {
        Some(parent) if parent.is_empty() => {
            format!("{missing}; it is one launch of the program in '.', use 'spyre-run .'")
        }
        Some(parent) => format!("{missing}; it is one launch of the program in '{parent}', use 'spyre-run {parent}'"),
        None => format!("{missing}; give the directory that 'spyre-compile FILE -o DIR' wrote"),
    })
}

/// Prints the summary of a run, and writes the requested files.
fn report_outcome(outcome: &RunOutcome, arguments: &RunArguments, reporter: Reporter) -> Result<(), String> {
    let report = &outcome.report;
    let num_launches = format_launch_count(report.launches.len());
    reporter.print_summary(&format!(
        "{}{}: {num_launches}, {} element operations\n",
        format_summary(report),
        report.program,
        report.steps
    ))?;
    if let Some(folder) = &arguments.output_dir {
        npy::write_results(Path::new(folder), &outcome.results)?;
    }
    write_report(report, arguments)
}

fn write_report(report: &RunReport, arguments: &RunArguments) -> Result<(), String> {
    let Some(path) = &arguments.report else { return Ok(()) };
    let text = serde_json::to_string_pretty(report).map_err(|error| error.to_string())?;
    tool::write_file(path, format!("{text}\n"))
}

/// Parses the requested sizes, keyed by their names in the program.
fn parse_sizes(program: &Program, given: &[String]) -> Result<BTreeMap<String, i64>, String> {
    let mut sizes = BTreeMap::new();
    for text in given {
        let split = text.split_once('=').and_then(|(name, size)| Some((name, size.parse::<i64>().ok()?)));
        let (name, size) = split.ok_or_else(|| {
            codes::RUN_SIZE.format(format_args!(
                "--dim-size: expected NAME=SIZE or argA.D=SIZE, found '{text}'; give one such as 'arg0.0=64'"
            ))
        })?;
        let name = find_size_name(program, name).ok_or_else(|| {
            codes::RUN_SIZE.add_if_missing(&format!("--dim-size: {}", format_unknown_size(program, name)))
        })?;
        if let Some(other) = sizes.insert(name.to_owned(), size).filter(|other| *other != size) {
            return Err(codes::OPTION_TWICE
                .format(format_args!("--dim-size: '{name}' is given twice, as {other} and {size}; remove one")));
        }
    }
    Ok(sizes)
}

/// Returns the name of a size, given by this name or as `argA.D`: dimension `D` of argument `A`.
fn find_size_name<'p>(program: &'p Program, name: &'p str) -> Option<&'p str> {
    if program.size(name).is_some() {
        return Some(name);
    }
    let (argument, dim) = name.strip_prefix("arg")?.split_once('.')?;
    let tensor = program.arguments.get(argument.parse::<usize>().ok()?)?;
    let dim = dim.parse::<usize>().ok()?;
    tensor.symbolic.iter().find(|symbolic| symbolic.dim == dim).map(|symbolic| symbolic.size.as_str())
}

fn format_unknown_size(program: &Program, name: &str) -> String {
    let known: Vec<String> = program.sizes.iter().map(|size| format!("'{}'", size.name)).collect();
    match known.as_slice() {
        [] => codes::RUN_SIZE.format(format_args!(
            "expected no --dim-size for a program compiled for one size, found '{name}'; remove the option"
        )),
        known => codes::RUN_SIZE.format(format_args!(
            "expected a size that the program leaves open, found '{name}'; choose one of {}",
            known.join(", ")
        )),
    }
}

/// Returns the inputs from files, and random data for the other arguments (with `--count`, only for indices). Also
/// returns the line that lists the random arguments.
fn read_inputs(
    simulation: &Simulation,
    arguments: &RunArguments,
    reporter: Reporter,
) -> Result<(BTreeMap<String, HostArray>, String), String> {
    let program = simulation.program();
    let archive = arguments.inputs.as_ref().map(|path| read_archive(path, program));
    let mut inputs = archive.transpose()?.unwrap_or_default();
    for given in &arguments.input {
        let (name, path) = given.split_once('=').ok_or_else(|| {
            let first = program.arguments.first().map_or("NAME", |tensor| tensor.name.as_str());
            codes::RUN_ARGUMENT.format(format_args!(
                "--input: expected NAME=FILE.npy, found '{given}'; name one of {}, such as '{first}={given}'",
                join_tensor_names(program)
            ))
        })?;
        let tensor = program.arguments.iter().chain(&program.constants).find(|tensor| tensor.name == name);
        let tensor = tensor.ok_or_else(|| {
            codes::RUN_ARGUMENT.format(format_args!(
                "--input: expected an argument of the program, found '{name}'; choose one of {}",
                join_tensor_names(program)
            ))
        })?;
        let reject = |message: &str| contract::format_array_error("--input", tensor, message);
        let array = contract::read_argument(tensor, |element| npy::read(path, element));
        let array = array.map_err(|error| reject(&error))?;
        check_shape(tensor, &array, path).map_err(|message| reject(&message))?;
        if inputs.insert(name.to_owned(), array).is_some() {
            return Err(codes::OPTION_TWICE.format(format_args!("--input: '{name}' is given twice; remove one")));
        }
    }
    let line = describe_random_arguments(program, &inputs, (arguments, reporter));
    for (position, tensor) in program.arguments.iter().enumerate() {
        let is_needed = !arguments.count || tensor.index_range.is_some();
        if is_needed && !inputs.contains_key(&tensor.name) {
            let array = draw_argument(program, position, arguments.seed, arguments.draw)
                .map_err(|error| format_sim_error(&error))?;
            inputs.insert(tensor.name.clone(), array);
        }
    }
    Ok((inputs, line))
}

/// Reads the arrays of a file with several arrays.
fn read_archive(path: &str, program: &Program) -> Result<BTreeMap<String, HostArray>, String> {
    let arrays =
        archive::read_all(path, &program.arguments).map_err(|error| codes::RUN_ARRAY.add_if_missing(&error))?;
    for tensor in &program.arguments {
        if let Some(array) = arrays.get(&tensor.name) {
            check_shape(tensor, array, path)
                .map_err(|message| contract::format_array_error("--inputs", tensor, &message))?;
        }
    }
    Ok(arrays)
}

fn check_shape(tensor: &Tensor, array: &HostArray, path: &str) -> Result<(), String> {
    let (found, expected) = (&array.shape, &tensor.shape);
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "expected an array of shape {expected:?}, found shape {found:?} in '{path}'; reshape or transpose the array"
    ))
}

/// Returns the names of all arguments and constants.
fn join_tensor_names(program: &Program) -> String {
    program.arguments.iter().chain(&program.constants).map(|tensor| tensor.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the line that lists the arguments with random data, which reveals misspelled names; empty if all arguments
/// are from files.
fn describe_random_arguments(
    program: &Program,
    inputs: &BTreeMap<String, HostArray>,
    (arguments, reporter): (&RunArguments, Reporter),
) -> String {
    for tensor in &program.arguments {
        let is_read = inputs.contains_key(&tensor.name);
        let source =
            if is_read { "from a file".to_owned() } else { format!("random data with seed {}", arguments.seed) };
        reporter.report_step(&format!(
            "argument '{}': {} of {:?}, {source}",
            tensor.name, tensor.element_type, tensor.shape
        ));
    }
    let drawn: Vec<&str> = program
        .arguments
        .iter()
        .map(|tensor| tensor.name.as_str())
        .filter(|name| !inputs.contains_key(*name))
        .collect();
    if drawn.is_empty() || arguments.count {
        return String::new();
    }
    let names = if inputs.is_empty() { "all arguments".to_owned() } else { drawn.join(", ") };
    format!("random data with seed {}: {names}\n", arguments.seed)
}

fn format_summary(report: &RunReport) -> String {
    let mut text = String::new();
    for launch in &report.launches {
        let executions: u64 = launch.ops.iter().map(|op| op.executions).sum();
        let (total, time) = (&launch.total, &launch.time);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{}: {executions} executes; HBM {} B read, {} B written; LX {} B; modeled {:.1} to {:.1} us",
            launch.bundle,
            total.hbm_read,
            total.hbm_written,
            total.lx_read + total.lx_written,
            time.low_ns / 1000.0,
            time.high_ns / 1000.0,
        );
    }
    text
}

fn format_launch_count(count: usize) -> String {
    if count == 1 { "1 launch".to_owned() } else { format!("{count} launches") }
}
