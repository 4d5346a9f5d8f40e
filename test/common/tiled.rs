//! Compiles one program in process in several ways, executes it, and compares with MLIR's JIT.

use super::{counted, listen::collect_errors};
use machine::Target;
use referee::{BoundedNumber, HostArray, IntervalArithmetic, RunOptions, ShadowResult, Simulation};
use spyre_compiler::{
    compile::compile,
    mlir::Module,
    pipeline::{CompileOptions, Phase},
    reference,
};
use std::{collections::BTreeMap, fs, path::Path};

/// Build configuration of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BuildConfig {
    pub(crate) loops: &'static str,
    pub(crate) cores: &'static str,
    pub(crate) lx_planner: &'static str,
    /// Whether splits and placement are chosen jointly.
    pub(crate) joint: bool,
}

/// All build configurations: loops kept or unrolled, one core or all, without LX, with a simple planner, and with all
/// choices made jointly.
pub(crate) const BUILD_CONFIGS: [BuildConfig; 8] = [
    BuildConfig::new("keep", "1", "none"),
    BuildConfig::new("keep", "1", "first-fit"),
    BuildConfig::new("keep", "32", "none"),
    BuildConfig::joint("keep", "32"),
    BuildConfig::new("unroll", "1", "none"),
    BuildConfig::new("unroll", "1", "first-fit"),
    BuildConfig::new("unroll", "32", "none"),
    BuildConfig::joint("unroll", "32"),
];

impl BuildConfig {
    const fn new(loops: &'static str, cores: &'static str, lx_planner: &'static str) -> Self {
        Self { loops, cores, lx_planner, joint: false }
    }

    const fn joint(loops: &'static str, cores: &'static str) -> Self {
        Self { loops, cores, lx_planner: "exact", joint: true }
    }

    /// Formats the configuration as arguments of `spyre-compile`.
    pub(crate) fn text(self) -> String {
        let joint = if self.joint { " --joint" } else { "" };
        format!("--loops {} --cores {} --lx-planner {}{joint}", self.loops, self.cores, self.lx_planner)
    }

    fn options(self) -> CompileOptions {
        CompileOptions {
            cores: self.cores.parse().unwrap(),
            lx_planner: Some(self.lx_planner.parse().unwrap()),
            joint: Some(self.joint),
            loops: self.loops.parse().unwrap(),
            compile_to: Phase::Emit,
            ..CompileOptions::default()
        }
    }
}

/// Results and statistics of an execution.
pub(crate) struct ExecutionResult {
    pub(crate) results: Vec<HostArray>,
    /// Number of executed ops, counting each iteration of a loop.
    #[allow(dead_code, reason = "random programs are compared by their results")]
    pub(crate) n_executions: u64,
    #[allow(dead_code, reason = "random programs are compared by their results")]
    pub(crate) hbm_bytes_written: u64,
    /// Number of loops in the text of the bundles.
    #[allow(dead_code, reason = "random programs are compared by their results")]
    pub(crate) num_loops: usize,
    /// Unrounded results, with bounds on the effect of rounding.
    #[allow(dead_code, reason = "exact numbers are not rounded")]
    pub(crate) companions: Vec<ShadowResult<BoundedNumber>>,
}

/// Reason why a program has no results.
pub(crate) enum ExecutionFailure {
    /// The compiler rejects it, with its first message.
    Rejected(String),
    /// Short description of the failure, and the message.
    Broken(&'static str, String),
}

/// Compiles a program in one way and runs it; `inputs` are its arguments in order.
pub(crate) fn execute(
    text: &str,
    build: BuildConfig,
    inputs: &[HostArray],
) -> Result<ExecutionResult, ExecutionFailure> {
    execute_with(text, &build.options(), inputs)
}

/// Compiles a program with options, runs it, and compares its results with those of MLIR's JIT.
pub(crate) fn check_against_jit(
    text: &str,
    options: &CompileOptions,
    inputs: &[HostArray],
) -> Result<(), ExecutionFailure> {
    let options = CompileOptions { compile_to: Phase::Emit, ..options.clone() };
    let executed = execute_with(text, &options, inputs)?;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("reference.mlir");
    fs::write(&path, text).unwrap();
    let differs = |message: String| ExecutionFailure::Broken("the numbers differ", message);
    let expected = reference::ReferenceResults::compute(path.to_str().unwrap(), "", inputs, &|_| {})
        .map_err(|message| ExecutionFailure::Broken("MLIR's JIT refuses it", message))?;
    if executed.companions.len() != expected.results.len() {
        return Err(differs(format!("{} results instead of {}", executed.companions.len(), expected.results.len())));
    }
    for (number, (found, result)) in executed.companions.iter().zip(&expected.results).enumerate() {
        let evaluated = reference::check_against_reference(found, result, &expected.approximated_result(number), 0.0);
        evaluated.map_err(|message| differs(format!("result {number} {message}")))?;
    }
    Ok(())
}

fn execute_with(
    text: &str,
    options: &CompileOptions,
    inputs: &[HostArray],
) -> Result<ExecutionResult, ExecutionFailure> {
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("bundle");
    emit(text, options, &output)?;
    let simulation = Simulation::load(&output, &Target::spyre())
        .map_err(|error| ExecutionFailure::Broken("the simulated machine cannot read the bundle", error.to_string()))?;
    let names = simulation.program().arguments.iter().map(|tensor| tensor.name.clone());
    let inputs: BTreeMap<_, _> = names.zip(inputs.iter().cloned()).collect();
    let (outcome, companions) = simulation
        .run_with(&IntervalArithmetic, &inputs, &RunOptions::default())
        .map_err(|error| ExecutionFailure::Broken("the simulated machine refuses the bundle", error.to_string()))?;
    let is_index = |name: &String| {
        simulation.program().arguments.iter().any(|tensor| tensor.name == *name && tensor.index_range.is_some())
    };
    let indices = inputs.into_iter().filter(|(name, _)| is_index(name)).collect();
    counted::check_counted(&simulation, &indices, &outcome);
    let launches = &outcome.report.launches;
    Ok(ExecutionResult {
        n_executions: launches.iter().flat_map(|launch| &launch.ops).map(|op| op.executions).sum(),
        hbm_bytes_written: outcome.report.total.hbm_written,
        num_loops: simulation.program().launches.iter().map(|launch| count_loops(&output.join(&launch.bundle))).sum(),
        companions,
        results: outcome.results.into_iter().map(|(_, array)| array).collect(),
    })
}

fn count_loops(bundle: &Path) -> usize {
    fs::read_to_string(bundle.join("bundle.mlir")).unwrap().matches("scf.for").count()
}

fn emit(text: &str, options: &CompileOptions, output: &Path) -> Result<(), ExecutionFailure> {
    let session = spyre_compiler::pipeline::create_session();
    let errors = collect_errors(&session);
    let Some(mut module) = Module::parse(&session, text) else {
        return Err(ExecutionFailure::Broken("the test wrote a module that is not valid", errors.borrow().join("\n")));
    };
    if compile(&mut module, options, output.to_str().unwrap()).is_some() {
        return Ok(());
    }
    let errors = errors.borrow();
    Err(match errors.iter().find(|message| message.contains("bug")).or_else(|| errors.first()) {
        None => ExecutionFailure::Broken("it stops without a message", String::new()),
        Some(message) if message.contains("bug") => {
            ExecutionFailure::Broken("spyre-compile has a bug", message.clone())
        }
        Some(message) => ExecutionFailure::Rejected(message.clone()),
    })
}

/// Runs a program without scopes by MLIR's JIT; returns its results.
pub(crate) fn run_jit(text: &str, inputs: &[HostArray]) -> Result<Vec<HostArray>, String> {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("reference.mlir");
    fs::write(&path, text).unwrap();
    reference::run_reference(path.to_str().unwrap(), inputs)
}
