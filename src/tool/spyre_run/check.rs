//! `spyre-run --check`: compares the results of a bundle with those of the module from which it was compiled.

use super::{RunArguments, report_outcome};
use crate::{
    codes,
    mlir::Session,
    reference::{
        ReferenceResults, ReferenceVerdict, ResultComparison, RoundingErrors, WorstElement, check_against_reference,
        check_module_accepts, compare_arrays, find_poles, replace_numbers,
    },
    tool::{self, Reporter, diagnostics::install_handler},
};
use referee::{BoundedNumber, HostArray, IntervalArithmetic, RunOptions, RunReport, ShadowResult, Simulation};
use std::{borrow::Cow, collections::BTreeMap, path::Path};

/// Runs the bundle in the device's formats and, next to each element, without rounding. Compares the results with those
/// of the module in MLIR's JIT. The error names the worst element.
pub(crate) fn check_against_module(
    module: &str,
    simulation: &Simulation,
    (inputs, drawn): (&BTreeMap<String, HostArray>, &str),
    options: &RunOptions,
    (arguments, reporter): (&RunArguments, Reporter),
) -> Result<(), String> {
    // The text is empty if MLIR has reported the error.
    let in_option = |error: String| {
        if error.is_empty() { error } else { codes::RUN_MODULE.add_if_missing(&format!("--check: {error}")) }
    };
    if module != "-" && !Path::new(module).exists() {
        return Err(in_option(tool::format_read_error(module, "No such file or directory")));
    }
    tool::check_is_mlir(module).map_err(in_option)?;
    let in_order: Vec<HostArray> =
        simulation.program().arguments.iter().map(|tensor| inputs[&tensor.name].clone()).collect();
    let listen = |session: &Session| install_handler(session, reporter);
    check_module_accepts(module, &simulation.program().name, &in_order, &listen).map_err(in_option)?;
    reporter.print_summary(drawn)?;
    let (outcome, companions) =
        simulation.run_with(&IntervalArithmetic, inputs, options).map_err(|error| super::format_sim_error(&error))?;
    report_outcome(&outcome, arguments, reporter)?;
    let reference = ReferenceResults::compute(module, &simulation.program().name, &in_order, &listen)?;
    if reference.results.len() != outcome.results.len() {
        return Err(codes::RUN_MODULE.format(format_args!(
            "expected the same number of results, found {} in the module and {} in the bundle; give the module from which the bundle was \
             compiled",
            reference.results.len(),
            outcome.results.len()
        )));
    }
    let mut excessive = None;
    for (number, (name, found)) in outcome.results.iter().enumerate() {
        let companion = &companions[number];
        let result = CheckedResult { name, found, companion, reference: &reference, number };
        let on_the_way = outcome.report.largest_magnitude();
        let (said, errors) =
            result.evaluate(arguments.tolerance, on_the_way).map_err(|message| result.format_error(&message))?;
        reporter.print_summary(&said)?;
        excessive = excessive.or(errors.map(|errors| result.excess_error(&errors)));
    }
    reporter.print_summary(&describe_error_growth(&outcome.report))?;
    excessive.map_or(Ok(()), Err)
}

/// Result of the bundle, with the reference.
struct CheckedResult<'a> {
    name: &'a str,
    found: &'a HostArray,
    companion: &'a ShadowResult<BoundedNumber>,
    reference: &'a ReferenceResults,
    /// Position among the results.
    number: usize,
}

impl CheckedResult<'_> {
    /// Returns the lines to print about the result. Also returns its rounding errors, if the device's formats do not
    /// justify them.
    fn evaluate(&self, tolerance: Option<f64>, on_the_way: f64) -> Result<(String, Option<RoundingErrors>), String> {
        let Self { name, found, companion, reference, number } = *self;
        let (expected, own) = (&reference.results[number], &reference.as_written[number]);
        let poles = if expected.shape == companion.shape { find_poles(companion, expected, own) } else { Vec::new() };
        let beside_poles = |number: &dyn Fn(usize) -> f64| match poles.as_slice() {
            [] => Cow::Borrowed(expected),
            poles => Cow::Owned(replace_numbers(expected, poles, number)),
        };
        let exact = beside_poles(&|index| companion.elements[index].exact);
        let verdict = check_against_reference(companion, &exact, &reference.approximated_result(number), on_the_way)?;
        if let Some(tolerance) = tolerance {
            check_tolerance(found, expected, tolerance)?;
        }
        let mut said = format!("{name}: {}\n", format_verdict(&verdict));
        if !poles.is_empty() {
            said += &format!(
                "  elements that are finite only as the program rounds: {}, compared in its own formats\n",
                poles.len()
            );
        }
        let Some(errors) = RoundingErrors::new(companion, &beside_poles(&|index| own.elements.get(index)), own) else {
            return Ok((said, None));
        };
        let is_evaluated = tolerance.is_none() && (reference.numbers.has_sixteen_bits || !poles.is_empty());
        let is_excessive = is_evaluated && errors.is_excessive();
        let may_jump = is_excessive && reference.numbers.are_compared;
        let note = if may_jump {
            "; the program compares numbers, so a rounding may change a result by any amount"
        } else {
            ""
        };
        said += &format!("  {errors}{note}\n");
        Ok((said, Some(errors).filter(|_| is_excessive && !may_jump)))
    }

    fn format_error(&self, message: &str) -> String {
        codes::RUN_DIFFERS.add_if_missing(&format!("'{}' {message}", self.name))
    }

    /// Returns the error for a result whose device rounding error is too large, compared with the rounding error of the
    /// program's own formats.
    fn excess_error(&self, errors: &RoundingErrors) -> String {
        let (name, allowed) = (self.name, errors.max_allowed_error());
        codes::RUN_ROUNDING.format(format_args!(
            "'{name}' is right without rounding, but not in the formats of the device: {errors}, {allowed:.2e} allowed"
        ))
    }
}

fn format_verdict(verdict: &ReferenceVerdict) -> String {
    let ReferenceVerdict { difference, allowed, device, worst_case, num_nan } = verdict;
    let nan = if *num_nan > 0 { format!("; {num_nan} elements are NaN in both") } else { String::new() };
    let bound = if worst_case.is_finite() { format!("bound {worst_case:.2e}") } else { "no bound".to_owned() };
    format!(
        "correct (error {difference:.2e}, tolerance {allowed:.2e}); device rounding error {device:.2e} ({bound}){nan}"
    )
}

/// Compares the result in the device's formats with the reference, relative to the tolerance of the user.
fn check_tolerance(found: &HostArray, expected: &HostArray, tolerance: f64) -> Result<(), String> {
    let ResultComparison { scale, error, worst } = compare_arrays(found, expected)?;
    if error <= tolerance {
        return Ok(());
    }
    let place = worst.map_or_else(String::new, |WorstElement { index, found, expected }| {
        format!(": element {index:?} is {found}, the reference {expected}")
    });
    Err(codes::RUN_DIFFERS.format(format_args!(
        "differs from the reference by {error:.2e} (relative to the root mean square {scale:.3e}), tolerance {tolerance:.2e}{place}"
    )))
}

/// Describes the op that adds the largest rounding error, in the order of execution.
fn describe_error_growth(report: &RunReport) -> String {
    let (mut before, mut most) = (0.0_f64, None);
    for (launch, op) in report.launches.iter().flat_map(|launch| launch.ops.iter().map(move |op| (launch, op))) {
        let off = op.error.relative_error();
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
