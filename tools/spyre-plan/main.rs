//! `spyre-plan`: the LX planner on its own.

use clap::Parser;
use serde::Serialize;
use spyre::{
    lx::{Capacity, Instance, InstanceError, Limits, Placement, Progress, draw, drawing_of, plan_instance, smallest_lx},
    tool,
};
use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    io::{IsTerminal, Write},
    process::ExitCode,
    time::{Duration, Instant},
};

/// Plans which buffers of an instance live in LX, and where.
#[derive(Parser)]
#[command(name = "spyre-plan", version)]
struct Arguments {
    /// MiniMalloc's CSV (id,lower,upper,size; half-open lives) or our JSON
    instance: String,
    /// Bytes of LX; a CSV file needs it, in JSON it replaces the limit
    #[arg(long, value_name = "BYTES")]
    capacity: Option<i64>,
    /// Addresses are multiples of this many bytes; by default what the JSON says, and 1 for CSV
    #[arg(long, value_name = "BYTES")]
    alignment: Option<i64>,
    /// exact, first-fit, best-fit or greedy
    #[arg(long, value_name = "NAME", default_value = "exact")]
    planner: String,
    /// Look for the smallest capacity in which everything has a place
    #[arg(long)]
    smallest_peak: bool,
    /// Stop after this many steps of search: the same on every machine
    #[arg(long, value_name = "STEPS", default_value_t = 2_000_000)]
    budget: u64,
    /// Stop after this time; the result says so
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// Write the plan
    #[arg(short = 'o', value_name = "RESULT.json")]
    output: Option<String>,
    /// Draw the plan
    #[arg(long, value_name = "PLAN.svg")]
    svg: Option<String>,
}

/// The plan as a file.
#[derive(Serialize)]
struct ResultFile<'a> {
    addresses: BTreeMap<&'a str, Option<i64>>,
    reasons: BTreeMap<&'a str, String>,
    hbm_bytes_left: i64,
    lower_bound: i64,
    optimal: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak: Option<PeakFile>,
    steps: u64,
    seconds: f64,
    timed_out: bool,
}

#[derive(Serialize)]
struct PeakFile {
    bytes: i64,
    lower_bound: i64,
}

fn main() -> ExitCode {
    tool::main("spyre-plan", run)
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let mut instance = read(arguments)?;
    let started = Instant::now();
    let mut watcher = Watcher { started, last: started, timeout: arguments.timeout.map(seconds).transpose()?, shown: false };
    let mut go_on = |progress: &Progress| watcher.go_on(progress);
    let mut limits = Limits { budget: arguments.budget, go_on: &mut go_on };
    let (placement, bound, peak, steps, timed_out) = if arguments.smallest_peak {
        let found = smallest_lx(&instance, &mut limits);
        let peak = PeakFile { bytes: found.bytes, lower_bound: found.lower_bound };
        // The plan is for an LX of this size.
        instance.capacity.bytes = found.bytes;
        let left = found.placement.hbm_bytes_left(&instance.buffers);
        (found.placement, left, Some(peak), found.steps, found.timed_out)
    } else {
        let plan = plan_instance(&instance, &arguments.planner, &mut limits).map_err(|error| error.to_string())?;
        (plan.placement, plan.lower_bound, None, plan.steps, plan.timed_out)
    };
    watcher.end();
    let left = placement.hbm_bytes_left(&instance.buffers);
    let result = ResultFile {
        addresses: names(&instance).zip(placement.addresses.iter().copied()).collect(),
        reasons: names(&instance).zip(&placement.reasons).filter_map(|(name, reason)| Some((name, reason.as_ref()?.to_string()))).collect(),
        hbm_bytes_left: left,
        lower_bound: bound,
        optimal: left == bound && peak.as_ref().is_none_or(|peak| peak.bytes == peak.lower_bound),
        peak,
        steps,
        seconds: started.elapsed().as_secs_f64(),
        timed_out,
    };
    tool::say(&summary(&instance, &placement, &result))?;
    if let Some(path) = &arguments.output {
        let text = serde_json::to_string_pretty(&result).map_err(|error| error.to_string())?;
        tool::write_file(path, &format!("{text}\n"))?;
    }
    if let Some(path) = &arguments.svg {
        let title = format!("{}: {} of {} buffers in LX", arguments.instance, placement.n_placed(), instance.buffers.len());
        tool::write_file(path, &draw(&drawing_of(&instance, &placement, title)))?;
    }
    Ok(())
}

fn names(instance: &Instance) -> impl Iterator<Item = &str> {
    instance.buffers.iter().map(|buffer| buffer.name.as_str())
}

fn read(arguments: &Arguments) -> Result<Instance, String> {
    let path = &arguments.instance;
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read '{path}': {error}"))?;
    let explained = |error: InstanceError| match &error {
        InstanceError::Line { line, text } => format!("{path}:{line}: expected 'id,lower,upper,size', found '{text}'"),
        InstanceError::Json(reason) => {
            let text = reason.to_string();
            // The place stands in front.
            let what = text.split(" at line ").next().unwrap_or(&text);
            format!("{path}:{}:{}: {what}", reason.line(), reason.column())
        }
        other => format!("{path}: {other}{}", other.source().map_or_else(String::new, |source| format!(": {source}"))),
    };
    if text.trim_start().starts_with('{') {
        let mut instance = Instance::from_json(&text).map_err(explained)?;
        let Capacity { bytes, alignment } = &mut instance.capacity;
        *bytes = arguments.capacity.unwrap_or(*bytes);
        *alignment = arguments.alignment.unwrap_or(*alignment);
        return if *bytes >= 0 && *alignment >= 1 {
            Ok(instance)
        } else {
            Err(format!("--capacity {bytes} with --alignment {alignment} is no memory"))
        };
    }
    let bytes = match arguments.capacity {
        Some(bytes) => bytes,
        None if arguments.smallest_peak => 0,
        None => return Err(format!("'{path}' does not say how large LX is: --capacity is missing")),
    };
    Instance::from_csv(&text, Capacity { bytes, alignment: arguments.alignment.unwrap_or(1) }).map_err(explained)
}

fn summary(instance: &Instance, placement: &Placement, result: &ResultFile) -> String {
    let (n_placed, n_buffers) = (placement.n_placed(), instance.buffers.len());
    let peak = result.peak.as_ref().map_or_else(String::new, |peak| format!("; {} bytes suffice, bound {}", peak.bytes, peak.lower_bound));
    let optimal = if result.optimal { ", optimal" } else { "" };
    let stopped = if result.timed_out { ", timed out" } else { "" };
    format!(
        "{n_placed} of {n_buffers} buffers in LX; HBM {} bytes left, bound {}{peak}{optimal}; {} steps{stopped}\n",
        result.hbm_bytes_left, result.lower_bound, result.steps
    )
}

fn seconds(seconds: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("--timeout {seconds}: {error}"))
}

/// Shows progress on a terminal after the first second, and ends what takes too long.
struct Watcher {
    started: Instant,
    last: Instant,
    timeout: Option<Duration>,
    shown: bool,
}

impl Watcher {
    fn go_on(&mut self, progress: &Progress) -> bool {
        let now = Instant::now();
        if now - self.last >= Duration::from_secs(1) && std::io::stderr().is_terminal() {
            (self.last, self.shown) = (now, true);
            let Progress { steps, best, bound } = *progress;
            let state =
                if best == i64::MAX { format!("bound {bound}") } else { format!("best {best}, bound {bound}, gap {}", best - bound) };
            // Nobody misses a line of progress that cannot be written.
            let _ = write!(std::io::stderr(), "\r\x1b[K{steps} steps, {state}");
        }
        self.timeout.is_none_or(|timeout| now - self.started < timeout)
    }

    fn end(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
