//! `spyre-run --check`: the results of a bundle beside those of the module that it was compiled from.

use super::{Arguments, finish};
use crate::{
    codes,
    mlir::Session,
    reference::{Comparison, Reference, RoundingErrors, Verdict, Worst, check_takes, compare, judge},
    tool::{self, Speaker, diagnostics::listen},
};
use referee::{Bounded, HostArray, Report, RunOptions, Simulation};
use std::{collections::BTreeMap, path::Path};

/// Runs the bundle with numbers that are never rounded beside the device's, and the module by the JIT; an error names the worst element.
pub(crate) fn check(
    module: &str,
    simulation: &Simulation,
    (inputs, drawn): (&BTreeMap<String, HostArray>, &str),
    options: &RunOptions,
    (arguments, speaker): (&Arguments, Speaker),
) -> Result<(), String> {
    // The text is empty if MLIR has reported the error.
    let in_option = |error: String| if error.is_empty() { error } else { codes::RUN_MODULE.or_says(&format!("--check: {error}")) };
    if module != "-" && !Path::new(module).exists() {
        return Err(in_option(tool::cannot_read(module, "No such file or directory")));
    }
    tool::check_is_mlir(module).map_err(in_option)?;
    let in_order: Vec<HostArray> = simulation.program().arguments.iter().map(|tensor| inputs[&tensor.name].clone()).collect();
    let listen = |session: &Session| listen(session, speaker);
    check_takes(module, &simulation.program().name, &in_order, &listen).map_err(in_option)?;
    speaker.say(drawn)?;
    let (outcome, companions) = simulation.run_with(&Bounded, inputs, options).map_err(|error| super::coded(&error))?;
    finish(&outcome, arguments, speaker)?;
    let reference = Reference::of(module, &simulation.program().name, &in_order, &listen)?;
    if reference.results.len() != outcome.results.len() {
        return Err(codes::RUN_MODULE.says(format_args!(
            "expected the same number of results, found {} in the module and {} in the bundle; give the module from which the bundle was \
             compiled",
            reference.results.len(),
            outcome.results.len()
        )));
    }
    let on_the_way = outcome.report.largest_magnitude();
    for (number, ((name, found), expected)) in outcome.results.iter().zip(&reference.results).enumerate() {
        let named = |message: String| codes::RUN_DIFFERS.or_says(&format!("'{name}' {message}"));
        let verdict = judge(&companions[number], expected, &reference.approximated(number), on_the_way).map_err(named)?;
        if let Some(tolerance) = arguments.tolerance {
            within(found, expected, tolerance).map_err(named)?;
        }
        speaker.say(&format!("{name}: {}\n", said(&verdict)))?;
        if let Some(errors) = RoundingErrors::new(&companions[number], expected, &reference.as_written[number]) {
            if reference.has_sixteen_bits && errors.is_excessive() {
                return Err(excess(name, &errors, &growth(&outcome.report)));
            }
            speaker.say(&format!("  {errors}\n"))?;
        }
    }
    speaker.say(&growth(&outcome.report))
}

/// Returns the error about a result that the device's formats take further from the exact one than the program's own formats do.
fn excess(name: &str, errors: &RoundingErrors, growth: &str) -> String {
    let growth = if growth.is_empty() { String::new() } else { format!("; {}", growth.trim_end()) };
    codes::RUN_ROUNDING.says(format_args!(
        "'{name}' is right without rounding, but not in the formats of the device: {errors}, {:.2e} allowed{growth}",
        errors.allowed()
    ))
}

fn said(verdict: &Verdict) -> String {
    let Verdict { difference, allowed, device, worst_case, n_nan } = verdict;
    let nan = if *n_nan > 0 { format!("; {n_nan} elements are NaN in both") } else { String::new() };
    let bound = if worst_case.is_finite() { format!("bound {worst_case:.2e}") } else { "no bound".to_owned() };
    format!("correct (error {difference:.2e}, tolerance {allowed:.2e}); device rounding error {device:.2e} ({bound}){nan}")
}

/// Holds the device's own numbers to what the caller allows.
fn within(found: &HostArray, expected: &HostArray, tolerance: f64) -> Result<(), String> {
    let Comparison { scale, error, worst } = compare(found, expected)?;
    if error <= tolerance {
        return Ok(());
    }
    let place = worst
        .map_or_else(String::new, |Worst { index, found, expected }| format!(": element {index:?} is {found}, the reference {expected}"));
    Err(codes::RUN_DIFFERS.says(format_args!(
        "differs from the reference by {error:.2e} (relative to the root mean square {scale:.3e}), tolerance {tolerance:.2e}{place}"
    )))
}

/// Where rounding adds most to what was off before, in the order of execution.
fn growth(report: &Report) -> String {
    let (mut before, mut most) = (0.0_f64, None);
    for (launch, op) in report.launches.iter().flat_map(|launch| launch.ops.iter().map(move |op| (launch, op))) {
        let off = op.error.relative();
        if off - before > most.as_ref().map_or(0.0, |(growth, _)| *growth) {
            let text = format!(
                "largest rounding error added in {}/{} ({}): from {before:.2e} to {off:.2e}\n",
                launch.bundle, op.file, op.function
            );
            most = Some((off - before, text));
        }
        before = before.max(off);
    }
    most.map_or_else(String::new, |(_, text)| text)
}
