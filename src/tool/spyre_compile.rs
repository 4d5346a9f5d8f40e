//! `spyre-compile`: from `linalg` on tensors, or `spyre` ops, to a bundle directory.

use super::{
    diagnostics::{format_option_name, install_handler},
    help::{LISTS_NOTE, add_help_options},
    pipeline_arguments::{OPTIMIZATION, PipelineArguments, kinds, modes},
    reference_process::ReferenceProcess,
    remarks::RemarkArguments,
    report_file,
    reporter::MESSAGES,
    tuning::{BUDGET, TuneRequest, format_short_summary, tune},
};
use crate::{
    codes,
    compile::{ValidationSettings, compile_with_validation, parse_in_user_terms, run_in_user_terms},
    dialect::phase_of,
    kernel::FixedNumberKind,
    mlir::{Module, Op, record_bug},
    pipeline::{self, CompileOptions, Phase},
    plan_file::{PlanFile, compare},
    report::{Report, build_trace},
    tool::{self, MessageArguments, ProgressIndicator, Reporter, Verbosity},
    tune::{Shard, TuneCache, TuneParameters},
    validate::{ExecutionLimits, NotValidated, OriginalRunner, ValidationMode, Verdict},
};
use clap::{Command, CommandFactory, Parser};
use std::{ffi::OsString, path::Path, time::Instant};

/// Maximum number of points that a quick search compiles.
const QUICK_BUDGET: usize = 64;

/// Compile a module of linalg-on-tensors, TOSA or spyre ops to a SuperDSC bundle
#[derive(Parser)]
#[command(name = "spyre-compile", after_long_help = LISTS_NOTE)]
struct CompileArguments {
    /// Input module, MLIR text or bytecode; '-' reads standard input
    #[arg(required_unless_present_any = ["compare", "explain"])]
    input: Option<String>,
    /// Bundle directory; with --compile-to, an IR file instead [default: standard output]
    #[arg(short = 'o', value_name = "DIR", help_heading = OUTPUT)]
    output: Option<String>,
    /// Stop after a phase and print IR: import, layout, hint, tile, work, lx, bundle
    #[arg(long, value_name = "PHASE", default_value = "emit", hide_default_value = true, help_heading = OUTPUT)]
    compile_to: String,
    /// Write decisions, traffic, bounds: .html for a page, .json for data and an .svg; repeatable
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    report: Vec<String>,
    /// Write the modeled schedule for Perfetto, one track per core; repeatable
    #[arg(long, value_name = "FILE.json", help_heading = OUTPUT)]
    trace: Vec<String>,
    #[command(flatten)]
    choices: PipelineArguments,
    /// Autotune kernel parameters and fusion, then validate: quick, full [default: quick]
    #[arg(long, value_name = "EFFORT", num_args = 0..=1, require_equals = true, default_missing_value = "quick", conflicts_with = "plan",
          value_parser = ["quick", "full"], help_heading = OPTIMIZATION)]
    tune: Option<String>,
    /// With --tune, also search parameters that have no knob: tiles, order, splits
    #[arg(long, value_name = "KIND", value_delimiter = ',', requires = "tune", value_parser = kinds(), help_heading = OPTIMIZATION)]
    open: Vec<FixedNumberKind>,
    /// Apply a saved plan; if the file is missing, search and save the plan there
    #[arg(long, value_name = "FILE.json", help_heading = PLANS)]
    plan: Option<String>,
    /// Save the chosen or applied plan
    #[arg(long, value_name = "FILE.json", help_heading = PLANS)]
    write_plan: Option<String>,
    /// Print how two plans differ and what each difference costs; compile nothing
    #[arg(long, value_names = ["A.json", "B.json"], num_args = 2, conflicts_with = "input", help_heading = PLANS)]
    compare: Vec<String>,
    /// Print the explanation of a message code, such as SPY0501, and exit
    #[arg(long, value_name = "CODE", conflicts_with_all = ["input", "compare"], help_heading = MESSAGES)]
    explain: Option<String>,
    /// Compare bundle and input, fail if they differ: auto (if fast), on, off
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_value = "auto", default_missing_value = "on",
          value_parser = modes(), help_heading = VERIFICATION)]
    validate: ValidationMode,
    /// Write and check a proof of how far the plan is from optimal
    #[arg(long, value_name = "FILE.json", help_heading = VERIFICATION)]
    certificate: Option<String>,
    #[command(flatten)]
    remarks: RemarkArguments,
    #[command(flatten)]
    amount: Verbosity,
    #[command(flatten)]
    messages: MessageArguments,
}

/// Headings of the options in `--help`.
const OUTPUT: &str = "Output";
const PLANS: &str = "Plans";
const VERIFICATION: &str = "Verification";

/// Options that `--help` shows; at most ten.
const COMMON_OPTIONS: [&str; 9] =
    ["output", "compile_to", "report", "dim_size", "dims", "tiles", "objective", "plan", "validate"];

/// Runs the tool with the words of its command line, the first of which is its own name. Returns the exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let speaker = |arguments: &CompileArguments| {
        Reporter::new("spyre-compile", arguments.messages).with_verbosity(arguments.amount)
    };
    let words: Vec<OsString> = words.into_iter().collect();
    let line = quote_command_line(&words);
    tool::main("spyre-compile", command(), words, speaker, |arguments, speaker| run(arguments, speaker, &line))
}

/// Returns the command line, quoted for a shell, without the folder of the tool and without `--validate`.
fn quote_command_line(words: &[OsString]) -> String {
    let is_plain = |word: &str| {
        !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./=,:@%+".contains(letter))
    };
    let given = words.iter().skip(1).map(|word| word.to_string_lossy()).filter(|word| !word.starts_with("--validate"));
    let spelled = given
        .map(|word| if is_plain(&word) { word.into_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) });
    ["spyre-compile".to_owned()].into_iter().chain(spelled).collect::<Vec<_>>().join(" ")
}

/// Returns the clap command of the tool.
pub(super) fn command() -> Command {
    add_help_options(CompileArguments::command(), &COMMON_OPTIONS)
}

fn run(arguments: &CompileArguments, speaker: Reporter, line: &str) -> Result<(), String> {
    if let Some(code) = &arguments.explain {
        return tool::print_text(&codes::explain(code)?);
    }
    let Some(input) = &arguments.input else { return compare_plans(&arguments.compare) };
    let options = build_options(arguments).map_err(|message| format_option_name(&message))?;
    let emits = options.compile_to == Phase::Emit;
    let output = match (&arguments.output, emits) {
        (None, true) => {
            return Err(codes::OUTPUT_MISSING.format("missing output directory; add -o DIR"));
        }
        (output, _) => output.as_deref().unwrap_or("-"),
    };
    let follows = arguments.plan.as_ref().is_some_and(|path| Path::new(path).exists());
    check_output_paths(arguments)?;
    if emits {
        tool::check_output_directory(output)?;
    } else {
        check_phase_only(arguments, output, follows)?;
    }
    let session = pipeline::create_session();
    tool::check_is_mlir(input)?;
    let source = session.open_source(input).map_err(|reason| tool::format_read_error(input, &reason))?;
    install_handler(&session, speaker);
    let mut module = parse_in_user_terms(&source).ok_or_else(String::new)?;
    let (options, is_tuned) = match &arguments.tune {
        Some(effort) => (tune_options(&module, &options, (effort, &arguments.open, emits), speaker)?, true),
        None => (options, false),
    };
    // Remarks are enabled after tuning: the candidates of a search emit none.
    arguments.remarks.enable(&session, phase_of(module.op()).and_then(|name| name.parse().ok()), options.compile_to)?;
    let mode =
        if is_tuned && arguments.validate == ValidationMode::Auto { ValidationMode::On } else { arguments.validate };
    let progress = ProgressIndicator::start(speaker, &format!("compiling {}", tool::display_name(input)));
    let mut steps = PhaseReporter::new(speaker, &options, output);
    let mut watch = |phase, _: &Module<'_>| {
        steps.report_phase(phase);
        progress.set_detail(|| next_activity(phase, mode).to_owned());
    };
    progress.set_detail(|| Phase::Import.name().to_owned());
    let helper = if mode == ValidationMode::Off || !emits {
        Err("no files are written".to_owned())
    } else {
        ReferenceProcess::find(&module, input)
    };
    let original = helper.as_ref().map(|helper| helper as &dyn OriginalRunner).map_err(String::as_str);
    let validation = ValidationSettings { mode, limits: ExecutionLimits::default(), original };
    let compiled = run_in_user_terms(&mut module, speaker.is_verbose(), |module| {
        compile_with_validation(module, &options, output, &validation, &mut watch)
    });
    let mut report = compiled.ok_or_else(String::new)?;
    arguments.remarks.write(&session)?;
    if emits {
        report.files = tool::list_files(Path::new(output))
            .map_err(|error| codes::OUTPUT_WRITE.format(format_args!("cannot list '{output}': {error}")))?;
        speaker.print_summary(&format_summary(&report, output, line))?;
    } else {
        tool::write_file(output, format!("{}\n", module.op()))?;
    }
    if emits {
        write_plans(&report, &options, (arguments, speaker), follows)?;
        arguments
            .certificate
            .as_deref()
            .map_or(Ok(()), |path| write_certificate(&report, module.op(), (path, speaker)))?;
    }
    if !arguments.trace.is_empty() {
        let text = format!("{}\n", build_trace(&report));
        arguments.trace.iter().try_for_each(|path| tool::write_file(path, &text))?;
    }
    arguments.report.iter().try_for_each(|path| report_file::write(&report, path, input))
}

/// Reports the passes with their options and the time of each phase.
struct PhaseReporter<'o> {
    speaker: Reporter,
    options: &'o CompileOptions,
    output: &'o str,
    last: Option<Phase>,
    started: Instant,
}

impl<'o> PhaseReporter<'o> {
    fn new(speaker: Reporter, options: &'o CompileOptions, output: &'o str) -> Self {
        Self { speaker, options, output, last: None, started: Instant::now() }
    }

    /// Reports a phase. The import ends twice: once when the program consists of `spyre` ops, and once at its end. Only
    /// the second end is reported.
    fn report_phase(&mut self, phase: Phase) {
        let is_half = phase == Phase::Import && self.last.is_none();
        self.last = Some(phase);
        if is_half {
            return;
        }
        let passes: Vec<String> = self.options.steps_of(phase, self.output).iter().map(ToString::to_string).collect();
        let seconds = self.started.elapsed().as_secs_f64();
        self.speaker.report_step(&format!("phase '{phase}', {seconds:.2} s: {}", passes.join(", ")));
        self.started = Instant::now();
    }
}

/// Returns the activity that follows a phase, for the progress line.
fn next_activity(phase: Phase, mode: ValidationMode) -> &'static str {
    let next = Phase::ALL.into_iter().find(|next| *next > phase);
    next.map_or(if mode == ValidationMode::Off { "report" } else { "validation" }, Phase::name)
}

/// Returns the options with the best choices of the tunable parameters.
fn tune_options(
    module: &Module<'_>,
    options: &CompileOptions,
    (effort, open, is_said): (&str, &[FixedNumberKind], bool),
    speaker: Reporter,
) -> Result<CompileOptions, String> {
    let budget = if effort == "full" { BUDGET as usize } else { QUICK_BUDGET };
    let terms = TuneParameters { budget, seed: 0, within: 0.0, shard: Shard::WHOLE };
    let tuned = tune(
        module,
        options,
        &TuneRequest { terms, open: open.to_vec(), cache: TuneCache::default(), threads: None, reporter: speaker },
    )?;
    if is_said {
        speaker.print_summary(&format_short_summary(&tuned))?;
    }
    Ok(tuned.best_options())
}

/// Checks all output paths before the compilation.
fn check_output_paths(arguments: &CompileArguments) -> Result<(), String> {
    let mut seen: Vec<&String> = Vec::new();
    for (option, paths) in [
        ("report", arguments.report.as_slice()),
        ("trace", &arguments.trace),
        ("write-plan", arguments.write_plan.as_slice()),
        ("certificate", arguments.certificate.as_slice()),
    ] {
        let in_option = |message| format!("--{option}: {message}");
        for path in paths {
            tool::check_output_file(path).map_err(in_option)?;
            if seen.contains(&path) && Path::new(path).extension().is_some() {
                let twice = format_args!("expected different output files, found '{path}' twice; change one name");
                return Err(in_option(codes::OUTPUT_PLACE.format(twice)));
            }
            seen.push(path);
        }
    }
    arguments.remarks.check()?;
    arguments
        .report
        .iter()
        .try_for_each(|path| report_file::ReportFormat::from_path(path).map(drop))
        .map_err(|message| format!("--report: {message}"))?;
    arguments
        .trace
        .iter()
        .try_for_each(|path| report_file::check_trace_path(path))
        .map_err(|message| format!("--trace: {message}"))
}

/// Rejects outputs that require a complete compilation, if it ends after a phase.
fn check_phase_only(arguments: &CompileArguments, output: &str, follows: bool) -> Result<(), String> {
    let phase = &arguments.compile_to;
    for (option, is_given) in
        [("certificate", arguments.certificate.is_some()), ("write-plan", arguments.write_plan.is_some())]
    {
        if is_given {
            return Err(codes::PHASE_ONLY
                .format(format_args!("--{option} requires a complete compilation; remove '--compile-to {phase}'")));
        }
    }
    if let (Some(plan), false) = (&arguments.plan, follows) {
        return Err(codes::PHASE_ONLY.format(format_args!(
            "--plan: there is no plan '{plan}', and only a complete compilation writes one; remove '--compile-to {phase}'"
        )));
    }
    tool::check_output_file(output)
        .map_err(|message| format!("-o with --compile-to {phase}, which writes one file of IR: {message}"))
}

/// Writes the chosen plan to the requested files, and to the file of `--plan` if that did not exist.
fn write_plans(
    report: &Report,
    options: &CompileOptions,
    (arguments, speaker): (&CompileArguments, Reporter),
    follows: bool,
) -> Result<(), String> {
    if let (Some(path), true) = (&arguments.plan, follows) {
        speaker.print_summary(&format!("  followed the plan '{path}'\n"))?;
    }
    let made = arguments.plan.as_ref().filter(|_| !follows);
    for path in made.into_iter().chain(&arguments.write_plan) {
        let plan = report.to_plan_file(options.kernel_words()).ok_or_else(|| {
            codes::NO_PLAN_CHOSEN
                .format(format_args!("the search chose nothing to record in '{path}'; remove the option"))
        })?;
        let text = serde_json::to_string_pretty(&plan).map_err(|error| error.to_string())?;
        tool::write_file(path, format!("{text}\n"))?;
        speaker.print_summary(&format!("  plan written to {path}\n"))?;
    }
    Ok(())
}

/// Checks and writes the certificate of the plan, and prints the verified bound. A rejected certificate is a compiler
/// bug, and is not written.
fn write_certificate(report: &Report, module: Op<'_>, (path, speaker): (&str, Reporter)) -> Result<(), String> {
    let certificate = report.certificate().ok_or_else(|| {
        codes::NO_PLAN_CHOSEN.format(format_args!(
            "expected loops chosen by the search for the certificate '{path}', found loops in the program; remove the loops, or \
             '--certificate'"
        ))
    })?;
    let text = serde_json::to_string(&certificate).map_err(|error| error.to_string())?;
    let verified = tile_verify::verify(&text).map_err(|error| {
        record_bug(module);
        codes::INTERNAL
            .format(format_args!("internal error: the certificate is wrong: {error}; please report this program"))
    })?;
    tool::write_file(path, format!("{text}\n"))?;
    speaker.print_summary(&format!("  {verified}\n  certificate written to {path}\n"))
}

fn compare_plans(paths: &[String]) -> Result<(), String> {
    let read = |path: &String| {
        PlanFile::read(path)?.ok_or_else(|| {
            codes::PLAN_COMPARE.format(format_args!("there is no plan '{path}'; write one with --write-plan '{path}'"))
        })
    };
    let plans = paths.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let [one, other] = plans.as_slice() else { return Err(codes::PLAN_COMPARE.format("expected two plans")) };
    tool::print_text(&compare(one, other)?)
}

fn build_options(arguments: &CompileArguments) -> Result<CompileOptions, String> {
    let mut options = arguments.choices.to_options()?;
    if let Some(plan) = &arguments.plan {
        options.set("plan", plan)?;
    }
    options.set("compile-to", &arguments.compile_to)?;
    options.notes_plan = arguments.write_plan.is_some();
    // This requires a second search, so it is done for reports only.
    options.more_lx = !arguments.report.is_empty();
    options.proves = arguments.certificate.is_some();
    options.check()?;
    Ok(options)
}

fn format_summary(report: &Report, output: &str, line: &str) -> String {
    let num_files = report.files.len();
    let mut validation: String =
        report.validation.iter().flat_map(Verdict::lines).map(|line| format!("  {line}\n")).collect();
    match &report.not_validated {
        Some(NotValidated { element_operations, is_too_large: true, .. }) => {
            validation.push_str(&format!(
                "  not validated: {element_operations} element operations; to validate: {line} --validate\n"
            ));
        }
        Some(NotValidated { reason, .. }) => validation.push_str(&format!("  not validated: {reason}\n")),
        None => {}
    }
    format!("{report}\n{validation}  {num_files} files written to {output}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlir::num_bugs;
    use machine::Target;
    use tile_verify::{CertifiedProgram, TilingProof};

    #[test]
    fn reports_rejected_certificate_as_bug_and_does_not_write_it() {
        let session = pipeline::create_session();
        let module = Module::parse(&session, "module {}").unwrap();
        // Potentials begin with 0.
        let proof = TilingProof {
            potentials_ns: vec![1.0],
            program: CertifiedProgram { ops: Vec::new() },
            target: Target::spyre(),
        };
        let report = Report { proof: Some(proof), ..Report::default() };
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("certificate.json");
        let speaker = Reporter::from_words("spyre-compile", &[]);
        let rejected = write_certificate(&report, module.op(), (place.to_str().unwrap(), speaker)).unwrap_err();
        assert!(rejected.contains("internal error: the certificate is wrong: the potentials"), "{rejected}");
        assert_eq!((num_bugs(module.op()), place.exists()), (1, false));
    }
}
