//! Second evaluation of the best candidates: the cost that the referee counts in their emitted files.

use crate::{
    codes,
    compile::compile,
    mlir::{Module, collect_diagnostics},
    pipeline::{CompileOptions, Phase},
};
use cost::ModeledCost;
use machine::Target;
use referee::{InputDistribution, RunOptions, Simulation, draw_argument};
use std::path::Path;

/// Returns the cost that the referee counts in the files of a compilation with these options.
///
/// # Errors
/// Returns an error if the compilation fails, or if the referee rejects the files.
pub(super) fn simulate_cost(
    module: &Module<'_>,
    options: &CompileOptions,
    target: &Target,
) -> Result<ModeledCost, String> {
    let place =
        tempfile::tempdir().map_err(|error| codes::SYSTEM.format(format_args!("no temporary folder: {error}")))?;
    let folder = place.path().join("bundle");
    let options = CompileOptions { compile_to: Phase::Emit, notes_plan: false, proves: false, ..options.clone() };
    let output = folder.to_string_lossy().into_owned();
    let (report, said) =
        collect_diagnostics(module.session().context(), || compile(&mut module.duplicate(), &options, &output));
    let error = || said.into_iter().find(|said| said.severity == "error").map(|said| said.message).unwrap_or_default();
    report.ok_or_else(|| {
        codes::INTERNAL.format(format_args!("it was compiled, and cannot be compiled again: {}", error()))
    })?;
    count_bundle_cost(&folder, target)
}

fn count_bundle_cost(folder: &Path, target: &Target) -> Result<ModeledCost, String> {
    let simulation = Simulation::load(folder, target).map_err(|error| error.to_string())?;
    let program = simulation.program();
    let indices = program.arguments.iter().enumerate().filter(|(_, tensor)| tensor.index_range.is_some());
    let draw = |(position, tensor): (usize, &sdsc_format::program::Tensor)| {
        Ok((
            tensor.name.clone(),
            draw_argument(program, position, 0, InputDistribution::default()).map_err(|error| error.to_string())?,
        ))
    };
    let inputs = indices.map(draw).collect::<Result<_, String>>()?;
    let report = simulation.count(&inputs, &RunOptions::default()).map_err(|error| error.to_string())?;
    Ok(ModeledCost {
        ns: report.time.estimate_ns,
        hbm_bytes: (report.total.hbm_read + report.total.hbm_written).cast_signed(),
    })
}
