//! `spyre-tune`: searches the best values of a program's open parameters.

mod report;

use super::{
    diagnostics::{format_option_name, install_handler},
    help::{LISTS_NOTE, add_help_options},
    pipeline_arguments::{PipelineArguments, kinds},
    reference_process::ReferenceProcess,
    tuning::{BUDGET, TuneOutcome, TuneRequest, modeled_cost, tune},
};
use crate::{
    codes,
    compile::{ValidationSettings, compile_with_validation},
    kernel::FixedNumberKind,
    pipeline::{self, CompileOptions, Phase},
    report::Report,
    tool::{self, MessageArguments, ProgressIndicator, Reporter, Verbosity},
    tune::{Shard, TuneCache, TuneParameters, TuneStopReason, append, merge_entries, read_folder},
    validate::{ExecutionLimits, OriginalRunner, ValidationMode},
};
use clap::{Command, CommandFactory, Parser};
use report::{build_report, format_csv, format_summary};
use std::{ffi::OsString, num::NonZero, path::PathBuf};

/// Autotune the kernel parameters and the fusion of a program
#[derive(Parser)]
#[command(name = "spyre-tune", after_long_help = LISTS_NOTE)]
struct TuneArguments {
    /// Input module, MLIR text or bytecode; '-' reads standard input
    #[arg(required_unless_present = "merge")]
    input: Option<String>,
    /// Write the bundle of the best configuration
    #[arg(short = 'o', value_name = "DIR", help_heading = OUTPUT)]
    output: Option<String>,
    /// Write the results: .json or .csv
    #[arg(long, value_name = "FILE", value_parser = report_name, help_heading = OUTPUT)]
    report: Option<String>,
    /// Save the best configuration as a plan for spyre-compile --plan
    #[arg(long, value_name = "FILE.json", help_heading = OUTPUT)]
    write_plan: Option<String>,
    /// Also search parameters that have no knob: tiles, order, splits
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kinds(), help_heading = SEARCH)]
    open: Vec<FixedNumberKind>,
    /// Limit of compiled configurations; a smaller space is searched exhaustively
    #[arg(long, value_name = "N", default_value_t = BUDGET, value_parser = clap::value_parser!(u32).range(1..), help_heading = SEARCH)]
    budget: u32,
    /// Seed of the search
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = SEARCH)]
    seed: u64,
    /// Stop at a cost that is at most this far above the lower bound, such as 2%
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = percent, help_heading = SEARCH)]
    within: f64,
    /// Compiler threads; the result does not depend on them [default: one per core of the host]
    #[arg(long, value_name = "N", help_heading = SEARCH)]
    threads: Option<NonZero<usize>>,
    /// Reuse results from this folder, and add new ones
    #[arg(long, value_name = "DIR", help_heading = CACHE)]
    cache: Option<PathBuf>,
    /// Reuse results from this folder, read-only; repeatable
    #[arg(long, value_name = "DIR", help_heading = CACHE)]
    database: Vec<PathBuf>,
    /// Run shard I of N, such as 2/8, and store its results; requires --cache
    #[arg(long, value_name = "I/N", default_value_t = Shard::WHOLE, requires = "cache", help_heading = CACHE)]
    shard: Shard,
    /// Merge the results of shards from these folders into --cache; tune nothing
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with = "input", requires = "cache", help_heading = CACHE)]
    merge: Vec<PathBuf>,
    #[command(flatten)]
    choices: PipelineArguments,
    #[command(flatten)]
    amount: Verbosity,
    #[command(flatten)]
    messages: MessageArguments,
}

/// Headings of the options in `--help`.
const OUTPUT: &str = "Output";
const SEARCH: &str = "Search";
const CACHE: &str = "Cache and shards";

/// Options that `--help` shows; at most ten.
const COMMON_OPTIONS: [&str; 10] =
    ["output", "report", "write_plan", "open", "budget", "within", "cache", "dim_size", "dims", "objective"];

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    number
        .map(|number| number / 100.0)
        .ok_or_else(|| "expected a number that is not negative and '%', such as 2%".to_owned())
}

fn report_name(text: &str) -> Result<String, String> {
    let is_known = [".json", ".csv"].iter().any(|ending| text.ends_with(ending));
    is_known.then(|| text.to_owned()).ok_or_else(|| "expected a name that ends in .json or .csv".to_owned())
}

/// Runs the tool with the words of its command line, the first of which is its own name. Returns the exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let reporter =
        |arguments: &TuneArguments| Reporter::new("spyre-tune", arguments.messages).with_verbosity(arguments.amount);
    tool::main("spyre-tune", command(), words, reporter, run)
}

/// Returns the clap command of the tool.
pub(super) fn command() -> Command {
    add_help_options(TuneArguments::command(), &COMMON_OPTIONS)
}

fn run(arguments: &TuneArguments, reporter: Reporter) -> Result<(), String> {
    let Some(input) = &arguments.input else { return merge_caches(arguments, reporter) };
    let options = build_options(arguments).map_err(|message| format_option_name(&message))?;
    check_output_paths(arguments)?;
    let session = pipeline::create_session();
    tool::check_is_mlir(input)?;
    let source = session.open_source(input).map_err(|reason| tool::format_read_error(input, &reason))?;
    install_handler(&session, reporter);
    let module = source.parse().ok_or_else(String::new)?;
    let TuneArguments { budget, seed, within, shard, .. } = *arguments;
    let terms = TuneParameters { budget: budget as usize, seed, within, shard };
    let cache = TuneCache { writable: arguments.cache.clone(), read_only: arguments.database.clone() };
    let ask = TuneRequest { terms, open: arguments.open.clone(), cache, threads: arguments.threads, reporter };
    let tuned = tune(&module, &options, &ask)?;
    let compiled = if is_shard(&tuned) { None } else { compile_best(&module, input, &tuned, (arguments, reporter))? };
    if let (Some(folder), false) =
        (&arguments.cache, tuned.is_from_cache() || tuned.entry.answer.stop == TuneStopReason::Interrupted)
    {
        append(folder, std::slice::from_ref(&tuned.entry))?;
    }
    reporter.print_summary(&format_summary(&tuned, compiled.as_ref()))?;
    write_files(&tuned, compiled.as_ref(), (arguments, reporter))
}

/// Returns whether only a shard of the search ran. A shard has no winner yet.
fn is_shard(tuned: &TuneOutcome) -> bool {
    tuned.entry.terms.shard != Shard::WHOLE
}

fn build_options(arguments: &TuneArguments) -> Result<CompileOptions, String> {
    let mut options = arguments.choices.to_options()?;
    options.compile_to = Phase::Emit;
    options.notes_plan = arguments.write_plan.is_some();
    options.check()?;
    options.notes_plan = false;
    if arguments.shard != Shard::WHOLE {
        let of_winner = [(&arguments.output, "-o"), (&arguments.write_plan, "--write-plan")];
        if let Some((_, name)) = of_winner.into_iter().find(|(value, _)| value.is_some()) {
            return Err(codes::USAGE.format(format_args!(
                "{name} requires a complete search, found --shard; combine the shards with --merge, then tune with --cache"
            )));
        }
    }
    Ok(options)
}

/// Checks all output paths before long work.
fn check_output_paths(arguments: &TuneArguments) -> Result<(), String> {
    for (option, path) in [("report", &arguments.report), ("write-plan", &arguments.write_plan)] {
        path.as_ref()
            .map_or(Ok(()), |path| tool::check_output_file(path))
            .map_err(|message| format!("--{option}: {message}"))?;
    }
    arguments.output.as_deref().map_or(Ok(()), tool::check_output_directory)
}

/// Compiles the best choices. Validates the bundle against the program before kernel fusion, and against the input
/// program in MLIR's JIT. Results from a cache were validated before they were stored.
fn compile_best(
    module: &crate::mlir::Module<'_>,
    input: &str,
    tuned: &TuneOutcome,
    (arguments, reporter): (&TuneArguments, Reporter),
) -> Result<Option<Report>, String> {
    if tuned.is_from_cache() && arguments.output.is_none() && arguments.write_plan.is_none() {
        return Ok(None);
    }
    let place =
        tempfile::tempdir().map_err(|error| codes::SYSTEM.format(format_args!("no temporary folder: {error}")))?;
    let elsewhere = place.path().join("bundle").to_string_lossy().into_owned();
    let output = arguments.output.as_deref().unwrap_or(&elsewhere);
    let options = CompileOptions { notes_plan: arguments.write_plan.is_some(), ..tuned.best_options() };
    let mut copy = module.duplicate();
    let mode = if tuned.is_from_cache() { ValidationMode::Off } else { ValidationMode::On };
    let helper = ReferenceProcess::find(module, input);
    let original = helper.as_ref().map(|helper| helper as &dyn OriginalRunner).map_err(String::as_str);
    let _progress = ProgressIndicator::start(reporter, &format!("compiling {}", tool::display_name(input)));
    let validation = ValidationSettings { mode, limits: ExecutionLimits::default(), original };
    let report =
        compile_with_validation(&mut copy, &options, output, &validation, &mut |_, _| {}).ok_or_else(String::new)?;
    let (cost, kept) = (modeled_cost(&report), tuned.best().cost());
    if (cost.ns - kept.ns).abs() > 1.0 || cost.hbm_bytes != kept.hbm_bytes {
        reporter.warning(&codes::TUNE_COST.format(format_args!(
            "compilation costs {:.3} us and {} bytes, not the recorded cost; tune again without the cache",
            cost.ns / 1000.0,
            cost.hbm_bytes
        )));
    }
    Ok(Some(report))
}

fn write_files(
    tuned: &TuneOutcome,
    compiled: Option<&Report>,
    (arguments, reporter): (&TuneArguments, Reporter),
) -> Result<(), String> {
    if let Some(output) = &arguments.output {
        reporter.print_summary(&format!("  bundle written to {output}\n"))?;
    }
    if let (Some(path), Some(report)) = (&arguments.write_plan, compiled) {
        let plan = report.to_plan_file(tuned.best_options().kernel_words()).ok_or_else(|| {
            codes::NO_PLAN_CHOSEN
                .format(format_args!("the search chose nothing to record in '{path}'; remove the option"))
        })?;
        let text = serde_json::to_string_pretty(&plan).map_err(|error| error.to_string())?;
        tool::write_file(path, format!("{text}\n"))?;
        reporter.print_summary(&format!("  plan written to {path}\n"))?;
    }
    match &arguments.report {
        Some(path) if path.ends_with(".csv") => tool::write_file(path, format_csv(tuned)),
        Some(path) => {
            let text =
                serde_json::to_string_pretty(&build_report(tuned, compiled)).map_err(|error| error.to_string())?;
            tool::write_file(path, format!("{text}\n"))
        }
        None => Ok(()),
    }
}

/// Merges the cache entries of several folders.
fn merge_caches(arguments: &TuneArguments, reporter: Reporter) -> Result<(), String> {
    let Some(target) = &arguments.cache else {
        return Err(codes::USAGE.format("--merge requires a cache directory; add --cache DIR"));
    };
    let mut entries = Vec::new();
    for folder in &arguments.merge {
        entries.extend(
            read_folder(folder, &mut |message| reporter.warning(&message))?.into_iter().map(|placed| placed.entry),
        );
    }
    let merged = merge_entries(&entries);
    for (program, missing) in &merged.missing {
        let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
        reporter.warning(&codes::TUNE_CACHE.format(format_args!(
            "shards {} of the search for program '{program}' are missing; run them, and merge again",
            missing.join(", ")
        )));
    }
    if merged.entries.is_empty() {
        return Err(codes::TUNE_CACHE.format("expected a complete search to merge, found none; run the missing shards"));
    }
    append(target, &merged.entries)?;
    let (from, to) = (entries.len(), merged.entries.len());
    reporter.print_summary(&format!("{to} searches of {from} entries are in {}\n", target.display()))
}
