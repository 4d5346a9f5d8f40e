//! `spyre-plan`: the LX planner and the time model as stand-alone tools.

use crate::{
    codes,
    tool::{self, MessageArguments, ProgressIndicator, Reporter, help::add_help_options},
};
use clap::{Command, CommandFactory, Parser};
use cost::{CostFormula, TimeEstimate};
use files::{MAX_TEXT_BYTES, read_text as read_text_file};
use machine::Target;
use scratchpad::{
    Capacity, ExactPlanner, Instance, InstanceError, MinimumLxBytes, PlanningLimits, ReportHeader, ResidencyMode,
    ScratchpadPlan, build_drawing, draw, find_smallest_lx, plan_instance,
};
use scratchpad_verify::{VerifiedPlan, verify};
use std::{
    collections::BTreeMap,
    error::Error,
    ffi::OsString,
    path::Path,
    time::{Duration, Instant},
};

/// Choose which buffers are in LX, and their addresses, with the least HBM traffic
#[derive(Parser)]
#[command(name = "spyre-plan")]
struct PlanArguments {
    /// Buffers: MiniMalloc CSV (id,lower,upper,size; half-open live ranges; optional column weight) or JSON
    #[arg(required_unless_present_any = ["price", "certificate"], default_value = "", hide_default_value = true)]
    instance: String,
    /// LX bytes; required for CSV, overrides the value of a JSON instance
    #[arg(long, value_name = "BYTES", help_heading = ALLOCATION)]
    capacity: Option<i64>,
    /// Alignment of addresses [default: from the JSON, 1 for CSV]
    #[arg(long, value_name = "BYTES", help_heading = ALLOCATION)]
    alignment: Option<i64>,
    /// Allocator: exact, first-fit, best-fit, greedy
    #[arg(long, value_name = "NAME", default_value = "exact", help_heading = ALLOCATION)]
    planner: String,
    /// Do not split live ranges: a buffer stays in LX until its last use; always so for CSV
    #[arg(long, help_heading = ALLOCATION)]
    whole_lives: bool,
    /// Find the smallest capacity in which all buffers fit
    #[arg(long, help_heading = ALLOCATION)]
    smallest_peak: bool,
    /// Search steps [default: 2000 per buffer, at least 2 million; 10 million for the peak]
    #[arg(long, value_name = "STEPS", help_heading = ALLOCATION)]
    budget: Option<u64>,
    /// Stop the search after this time; the result reports an early stop
    #[arg(long, value_name = "SECONDS", help_heading = ALLOCATION)]
    timeout: Option<f64>,
    /// Write the plan
    #[arg(short = 'o', value_name = "RESULT.json", help_heading = OUTPUT)]
    output: Option<String>,
    /// Draw the plan
    #[arg(long, value_name = "PLAN.svg", help_heading = OUTPUT)]
    svg: Option<String>,
    /// Check a result for these buffers: its plan, HBM bytes and lower bound
    #[arg(long, value_name = "RESULT.json", conflicts_with_all = ["output", "svg", "smallest_peak", "planner", "budget", "timeout", "whole_lives"],
          help_heading = MODES)]
    verify: Option<String>,
    /// Check a certificate of spyre-compile: its lower bound of the modeled time
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["instance", "price", "capacity", "alignment", "planner", "whole_lives", "verify", "smallest_peak", "budget", "timeout", "output", "svg"],
          help_heading = MODES)]
    certificate: Option<String>,
    /// Estimate kernel times in microseconds, with intervals; -o writes {id: microseconds}
    #[arg(long, value_name = "KERNELS.json", conflicts_with_all = ["instance", "capacity", "alignment", "planner", "whole_lives", "verify", "smallest_peak", "budget", "timeout", "svg"],
          help_heading = MODES)]
    price: Option<String>,
    #[command(flatten)]
    messages: MessageArguments,
}

/// Headings of the options in `--help`.
const ALLOCATION: &str = "Allocation";
const OUTPUT: &str = "Output";
const MODES: &str = "Other modes";

/// Options that `--help` shows; at most ten.
const COMMON_OPTIONS: [&str; 9] =
    ["capacity", "planner", "smallest_peak", "budget", "timeout", "output", "svg", "verify", "certificate"];

/// Estimates the times of the kernels in a file, and prints them. Writes the estimates in us to `output`, if specified.
fn estimate_kernel_times(path: &str, output: Option<&str>) -> Result<(), String> {
    let text = read_text_file(Path::new(path), MAX_TEXT_BYTES)
        .map_err(|error| codes::LX_INSTANCE.format(format_args!("cannot read '{path}': {error}")))?;
    let rows = cost::read_kernel_entries(&text)
        .map_err(|message| codes::LX_INSTANCE.add_if_missing(&format!("'{path}': {message}")))?;
    let time = Target::spyre().time;
    let (mut said, mut estimates) = (String::new(), BTreeMap::new());
    for row in &rows {
        let TimeEstimate { low_ns, estimate_ns, high_ns, is_ranked, .. } =
            row.estimate_time(&time, CostFormula::Recommended);
        let [low, estimate, high] = [low_ns, estimate_ns, high_ns].map(|ns| ns / 1e3);
        let unranked = if is_ranked { "" } else { "; no published times for some of its ops" };
        said += &format!("{}: {estimate:.3} us ({low:.3} to {high:.3}{unranked})\n", row.id);
        if estimates.insert(&row.id, estimate).is_some() {
            return Err(
                codes::LX_INSTANCE.format(format_args!("expected unique ids, found '{}' twice in '{path}'", row.id))
            );
        }
    }
    if let Some(output) = output {
        let text = serde_json::to_string_pretty(&estimates).map_err(|error| error.to_string())?;
        tool::write_file(output, format!("{text}\n"))?;
    }
    tool::print_text(&said)
}

/// Default search steps for a plan, and for the smallest LX: seconds, and less than a minute.
const DEFAULT_BUDGET: u64 = 2_000_000;
const DEFAULT_PEAK_BUDGET: u64 = 10_000_000;
/// Minimum default budget per buffer, in steps.
const MIN_STEPS_PER_BUFFER: u64 = 2_000;

/// Runs the tool with the words of its command line, the first of which is its own name. Returns the exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let reporter = |arguments: &PlanArguments| Reporter::new("spyre-plan", arguments.messages);
    tool::main("spyre-plan", command(), words, reporter, run)
}

/// Returns the clap command of the tool.
pub(super) fn command() -> Command {
    add_help_options(PlanArguments::command(), &COMMON_OPTIONS)
}

fn run(arguments: &PlanArguments, reporter: Reporter) -> Result<(), String> {
    if let Some(kernels) = &arguments.price {
        return estimate_kernel_times(kernels, arguments.output.as_deref());
    }
    if let Some(path) = &arguments.certificate {
        let verified = tile_verify::verify(&read_text(path)?)
            .map_err(|error| codes::CERTIFICATE.format(format_args!("{path}: {error}")))?;
        return tool::print_text(&format!("{verified}\n"));
    }
    if let Some(result) = &arguments.verify {
        return check_result(arguments, result);
    }
    let (mut instance, is_csv) = read_instance(arguments)?;
    let started = Instant::now();
    let viewed = ProgressIndicator::start(reporter, &format!("planning {}", tool::display_name(&arguments.instance)));
    let mut watcher =
        SearchMonitor { started, last: started, timeout: arguments.timeout.map(parse_timeout).transpose()?, viewed };
    let mut go_on = |progress: &scratchpad::PlanningProgress| watcher.should_continue(progress);
    let num_buffers = instance.buffers.len() as u64;
    let usual = if arguments.smallest_peak {
        DEFAULT_PEAK_BUDGET
    } else {
        DEFAULT_BUDGET.max(MIN_STEPS_PER_BUFFER * num_buffers)
    };
    let budget = arguments.budget.unwrap_or(usual);
    let mut limits = PlanningLimits { budget, go_on: &mut go_on };
    let intervals = if is_csv || arguments.whole_lives { ResidencyMode::Whole } else { ResidencyMode::Split };
    let (plan, peak) = if arguments.smallest_peak {
        let found = find_smallest_lx(&instance, &mut limits);
        // The plan is for an LX of the minimum size.
        instance.capacity.bytes = found.bytes;
        let plan = ExactPlanner { mode: ResidencyMode::Whole, budget: 0 }.import_placement(
            &instance.buffers,
            &instance.capacity,
            &found.placement,
        );
        let peak = MinimumLxBytes { bytes: found.bytes, lower_bound: found.lower_bound };
        (ScratchpadPlan { steps: found.steps, timed_out: found.timed_out, ..plan }, Some(peak))
    } else {
        (plan_instance(&instance, &arguments.planner, intervals, &mut limits).map_err(|error| error.to_string())?, None)
    };
    drop(watcher);
    let planner = if peak.is_some() { "smallest-peak" } else { &arguments.planner };
    let heading = ReportHeader { planner, seconds: started.elapsed().as_secs_f64(), peak };
    tool::print_text(&format_summary(&plan, peak))?;
    if let Some(path) = &arguments.output {
        let text = plan.to_json(&instance, &heading).map_err(|error| error.to_string())?;
        tool::write_file(path, format!("{text}\n"))?;
    }
    if let Some(path) = &arguments.svg {
        let title = format!("{}: {}", arguments.instance, format_num_placed(&plan));
        tool::write_file(path, draw(&build_drawing(&instance, &plan, title)))?;
    }
    Ok(())
}

/// Verifies a result, and prints its numbers or returns its first error.
fn check_result(arguments: &PlanArguments, result: &str) -> Result<(), String> {
    let PlanArguments { instance, capacity, alignment, .. } = arguments;
    let verified = verify(&read_text(result)?, &read_text(instance)?, (*capacity, *alignment))
        .map_err(|error| codes::LX_INSTANCE.add_if_missing(&format!("{result}: {error}")))?;
    let VerifiedPlan { hbm_bytes_left, lower_bound, optimal, plan_set: among, capacity, peak_bound } = verified;
    let optimal = if optimal { ", optimal" } else { "" };
    let suffices =
        peak_bound.map_or_else(String::new, |bound| format!(", which suffice for all buffers, lower bound {bound}"));
    let gap = 100.0 * verified.gap();
    tool::print_text(&format!(
        "valid for {capacity} bytes of LX{suffices}: HBM traffic {hbm_bytes_left} bytes (lower bound {lower_bound}, gap {gap:.3} \
         %{optimal} among {})\n",
        describe_plan_set(among)
    ))
}

fn read_text(path: &str) -> Result<String, String> {
    read_text_file(Path::new(path), MAX_TEXT_BYTES).map_err(|error| {
        let reason = files::reason(&error);
        codes::INPUT_READ.format(format_args!(
            "cannot read '{path}': {reason}; expected a file of JSON or CSV, name one that can be read"
        ))
    })
}

/// Returns the instance, and whether it is a CSV.
fn read_instance(arguments: &PlanArguments) -> Result<(Instance, bool), String> {
    let path = &arguments.instance;
    let text = read_text(path)?;
    let explained = |error: InstanceError| match &error {
        InstanceError::Line { line, .. } => {
            format!("{path}:{line}: {}", error.to_string().split_once(": ").map_or("", |parts| parts.1))
        }
        InstanceError::Json(reason) => {
            let text = reason.to_string();
            // The message begins with the location, so the location at its end is removed.
            let what = text.split(" at line ").next().unwrap_or(&text);
            let (line, column) = (reason.line(), reason.column());
            codes::LX_INSTANCE.format(format_args!(
                "{path}:{line}:{column}: expected an instance, found other JSON: {what}; docs/reference/planner.md shows one"
            ))
        }
        other => format!("{path}: {other}{}", other.source().map_or_else(String::new, |source| format!(": {source}"))),
    };
    if text.trim_start().starts_with('{') {
        let instance = Instance::from_json(&text).map_err(explained)?;
        let Capacity { bytes, alignment } = instance.capacity;
        let given = Capacity {
            bytes: arguments.capacity.unwrap_or(bytes),
            alignment: arguments.alignment.unwrap_or(alignment),
        };
        return instance.with_capacity(given).map(|instance| (instance, false)).map_err(explained);
    }
    let bytes = match arguments.capacity {
        Some(bytes) => bytes,
        None if arguments.smallest_peak => 0,
        None => {
            return Err(codes::LX_INSTANCE
                .format(format_args!("expected the size of LX, found none in '{path}'; add --capacity BYTES")));
        }
    };
    Instance::from_csv(&text, Capacity { bytes, alignment: arguments.alignment.unwrap_or(1) })
        .map(|instance| (instance, true))
        .map_err(explained)
}

fn format_summary(plan: &ScratchpadPlan, peak: Option<MinimumLxBytes>) -> String {
    let suffices = peak.map_or_else(String::new, |peak| {
        format!("; {} bytes of LX suffice, lower bound {}", peak.bytes, peak.lower_bound)
    });
    let is_optimal = plan.optimal && peak.is_none_or(|peak| peak.bytes == peak.lower_bound);
    let optimal = if is_optimal { ", optimal" } else { "" };
    let stopped = if plan.timed_out { ", timed out" } else { "" };
    let ScratchpadPlan { hbm_bytes_left, lower_bound, steps, .. } = plan;
    let (num_placed, among) = (format_num_placed(plan), describe_plan_set(plan.plan_set()));
    format!(
        "{num_placed}; HBM traffic {hbm_bytes_left} bytes (lower bound {lower_bound}{suffices}{optimal} among {among}); {steps} \
         steps{stopped}\n"
    )
}

/// Describes the set of plans that a lower bound covers. `among` is its name in `RESULT.json`.
fn describe_plan_set(among: &str) -> &'static str {
    if among == "whole lives" { "plans without split live ranges" } else { "plans that may split live ranges" }
}

fn format_num_placed(plan: &ScratchpadPlan) -> String {
    let num_buffers = plan.reasons.len();
    let num_placed = plan.reasons.iter().filter(|reason| reason.is_none()).count();
    let num_split = plan.intervals.len() - num_placed;
    let split =
        if num_split > 0 { format!(", in {} residency intervals", plan.intervals.len()) } else { String::new() };
    format!("{num_placed} of {num_buffers} buffers in LX{split}")
}

fn parse_timeout(seconds: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| codes::OPTION_VALUE.format(format_args!("--timeout {seconds}: {error}")))
}

/// Displays the progress of the search, and stops it at the timeout.
struct SearchMonitor {
    started: Instant,
    last: Instant,
    timeout: Option<Duration>,
    viewed: ProgressIndicator,
}

impl SearchMonitor {
    fn should_continue(&mut self, progress: &scratchpad::PlanningProgress) -> bool {
        let now = Instant::now();
        if now - self.last >= Duration::from_millis(500) {
            self.last = now;
            self.viewed.set_detail(|| format_state(progress));
        }
        self.timeout.is_none_or(|timeout| now - self.started < timeout)
    }
}

/// Formats the state of a search for a progress line.
fn format_state(&scratchpad::PlanningProgress { steps, best, bound }: &scratchpad::PlanningProgress) -> String {
    let found = if best == i64::MAX { format!("bound {bound}") } else { format!("best {best}, gap {}", best - bound) };
    format!("{steps} steps, {found}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_steps_and_gap_of_search() {
        let state = |best| format_state(&scratchpad::PlanningProgress { steps: 7, best, bound: 64 });
        assert_eq!(state(i64::MAX), "7 steps, bound 64");
        assert_eq!(state(192), "7 steps, best 192, gap 128");
    }
}
