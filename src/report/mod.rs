//! Report of a compilation: the decisions with their reasons, per op, per launch and in total, and the bytes moved,
//! compared with the lower bound.

mod page;
mod tile_search;
mod timeline;
mod trace;

pub use page::{ProgramText, render_page};
use tile_search::format_infeasible_count;
pub use tile_search::{MoreLxReport, RunnerUpReport, TileSearchReport};
pub use trace::build_trace;

use crate::dialect::ods::spyre;
use crate::{
    explain::{Gap, LowerBound, OpGap, PlanExplanation, TileLoop, ValueGap},
    kernel::FusionOutcome,
    plan_file::{self, OpCost, PlanDecisions, PlanFile},
    traffic::Bytes,
    validate::{NotValidated, Verdict},
};
use schemars::JsonSchema;
use sdsc_format::FormatVersion;
use serde::Serialize;
use std::fmt;
use tile_verify::{TilingCertificate, TilingProof};

/// Decisions and costs of a compilation. `spyre-compile --report` writes it as JSON or as a page. Its [`fmt::Display`]
/// is the summary on the terminal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Version of the report format.
    pub version: FormatVersion<1>,
    /// Name of the compiled function.
    pub program: String,
    /// Machine parameters, named as in a `--target` file.
    pub target: std::collections::BTreeMap<String, i64>,
    /// Names of the arguments in the model, such as `layers.3.weight`, from their locations; `arg0` and so on without a
    /// named location.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Ops in program order.
    pub ops: Vec<OpReport>,
    /// Loops, and the locations of values.
    pub explain: PlanExplanation,
    /// Results of the tile search, for each function in which loops could save traffic or time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tile_search: Vec<TileSearchReport>,
    /// Dimension that was split into a main part and a remainder, because neither tiles nor cores divide it: both
    /// sizes, the ops of the program, and the modeled time with and without the split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peeled: Option<String>,
    /// Compilations that compared peeled programs; omitted if there was no such dimension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peel_trials: Option<PeelTrialsReport>,
    /// Fused and separate ops of the kernels, for each function that has kernels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<FusionOutcome>,
    /// Launches in order.
    pub launches: Vec<LaunchReport>,
    /// Bytes of all launches.
    pub total: Bytes,
    /// Modeled time of all launches.
    pub time: ModelledTime,
    /// Data movement that layouts require.
    pub moves: LayoutMoves,
    /// Lower bound for every plan.
    pub lower_bound: LowerBound,
    /// Excess of the plan over the lower bound, with its causes.
    pub gap: Gap,
    /// Decisions of the compiler, if a plan file is to be written.
    #[serde(skip)]
    pub chosen: Option<PlanDecisions>,
    /// Proof of a lower bound on the modeled time of every loop plan, if a certificate is to be written.
    #[serde(skip)]
    pub proof: Option<TilingProof>,
    /// Result of the validation, if the compilation was validated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Verdict>,
    /// Reason why a validation that runs only if it is fast (`auto`) did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_validated: Option<NotValidated>,
    /// Files that were written, relative to the output directory; empty if the compiler stopped before.
    pub files: Vec<String>,
}

/// Number of compilations that compared peeled programs with the original program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PeelTrialsReport {
    /// Compiled programs, including the original one.
    pub n_judged: i64,
    /// Compiled programs that a rule rejected.
    pub n_infeasible: i64,
}

/// Data movement that layouts require. Copies that the program requests, or that bring an input into LX, do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LayoutMoves {
    /// Number of `spyre.restickify` ops, which change the stick dimension.
    pub restickify_ops: usize,
    /// Bytes of the sticks that they read and write, in HBM and LX, over all executions.
    pub restickify_bytes: i64,
    /// Number of `spyre.copy` ops that were inserted because an op could not read the location of a tensor; elements
    /// keep their sticks.
    pub layout_copy_ops: usize,
    /// Bytes of the sticks that these copies read and write.
    pub layout_copy_bytes: i64,
}

impl Report {
    /// Returns the plan file with the options that determine the kernels; `None` if no plan was recorded.
    #[must_use]
    pub fn to_plan_file(&self, kernel_options: Vec<String>) -> Option<PlanFile> {
        let cost = |op: &OpReport| OpCost {
            function: op.function.clone(),
            location: op.location.clone(),
            loops: op.loops.clone(),
            work: op.work.clone(),
            memory: op.memory.to_owned(),
            us: op.us,
            hbm_bytes: op.bytes.hbm(),
        };
        Some(PlanFile {
            version: plan_file::VERSION.to_owned(),
            program: self.program.clone(),
            target: self.target.clone(),
            kernel_options,
            chosen: self.chosen.clone()?,
            us: self.time.estimate_us,
            hbm_bytes: self.total.hbm(),
            costs: self.ops.iter().map(cost).collect(),
        })
    }
}

impl Report {
    /// Returns the certificate of the plan; `None` if no proof was recorded.
    #[must_use]
    pub fn certificate(&self) -> Option<TilingCertificate> {
        let proof = self.proof.clone()?;
        Some(TilingCertificate {
            version: plan_file::VERSION.to_owned(),
            us: self.time.estimate_us,
            bound_us: proof.bound_us(),
            proof,
        })
    }
}

impl LayoutMoves {
    /// Counts the restickify ops and layout copies, and their bytes.
    #[must_use]
    pub fn from_ops(ops: &[OpReport]) -> Self {
        let mut moves = Self::default();
        for op in ops.iter().filter(|op| op.is_for_layout) {
            let (n_ops, bytes) = if op.op == spyre::RESTICKIFY {
                (&mut moves.restickify_ops, &mut moves.restickify_bytes)
            } else {
                (&mut moves.layout_copy_ops, &mut moves.layout_copy_bytes)
            };
            *n_ops += 1;
            *bytes += op.bytes.hbm() + op.bytes.lx();
        }
        moves
    }
}

/// Decisions about an op.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct OpReport {
    /// Op in the dialect, such as `spyre.pointwise`.
    pub op: String,
    /// Device function.
    pub function: String,
    /// Location in the program, as `file:line:col`.
    pub location: String,
    /// Path of the module of the model that the op belongs to, such as `layers.3.self_attn`; empty without one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub module: String,
    /// Sizes of the iteration dimensions; of one tile if the op is in loops.
    pub iteration_space: Vec<i64>,
    /// Names of the iteration dimensions; empty if no name is known.
    pub dims: Vec<String>,
    /// Trip counts of the loops around the op, outermost first.
    pub loops: Vec<i64>,
    /// Slices of each iteration dimension.
    pub work: Vec<i64>,
    /// Number of cores that execute the op.
    pub cores: i64,
    /// Memory of the result: `lx`, `pool` or `hbm`.
    pub memory: &'static str,
    /// Offset in LX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lx_offset_bytes: Option<i64>,
    /// Bytes of the result's device layout, all cores together.
    pub result_bytes: i64,
    /// Whether the op moves sticks only because layouts require it; see [`LayoutMoves`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_for_layout: bool,
    /// Reason why the result is not in LX.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Bytes that the op moves.
    pub bytes: Bytes,
    /// Start of the op on the axis of modeled time, us; see [`Report::assign_start_times`].
    pub start_us: f64,
    /// Modeled time of the op, us; 0 if the compiler stopped before.
    pub us: f64,
    /// Modeled time above the compute time on all cores and one start-up, us; omitted if it is 0.
    #[serde(skip_serializing_if = "is_none_left")]
    pub gap_us: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_none_left(us: &f64) -> bool {
    *us <= 0.0
}

/// Traffic, memory and cost of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LaunchReport {
    /// Folder of the bundle.
    pub bundle: String,
    /// Number of op specs, each of which is one file.
    pub n_ops: usize,
    /// Number of executes, with all iterations of loops.
    pub n_executions: i64,
    /// Bytes that the launch moves.
    pub bytes: Bytes,
    /// Peak of the LX bytes in use on a core.
    pub lx_peak_bytes: i64,
    /// Bytes of the launch's pool in HBM.
    pub pool_bytes: i64,
    /// Start of the launch on the axis of modeled time, us.
    pub start_us: f64,
    /// Modeled time of the launch.
    pub cost: LaunchCost,
}

/// Modeled time of a launch, in microseconds with three decimals; see [`cost::estimate_kernel_time`] and
/// docs/reference/cost-model.md.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LaunchCost {
    /// Lower end of the interval that contains 19 of 20 published times of similar ops.
    pub low_us: f64,
    /// Estimate by which plans are compared.
    pub estimate_us: f64,
    /// Upper end of the interval.
    pub high_us: f64,
    /// Part of the estimate for HBM traffic, if nothing else took time.
    pub hbm_us: f64,
    /// Part of the estimate for computation and for traffic between LX and the cores, if nothing else took time.
    pub compute_us: f64,
    /// Part of the estimate for the start-up of ops and iterations.
    pub fixed_us: f64,
    /// Largest contribution to the modeled time: `hbm`, `compute` or `fixed`.
    pub limit: &'static str,
    /// Whether times of all its kinds of ops are published. Otherwise the interval is a guess.
    pub is_ranked: bool,
    /// Modeled time according to torch-spyre's formula of August 2026.
    pub torch_spyre_us: f64,
}

/// Modeled time of all launches in sequence, us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ModelledTime {
    /// Sum of the lower ends.
    pub low_us: f64,
    /// Sum of the estimates.
    pub estimate_us: f64,
    /// Sum of the upper ends.
    pub high_us: f64,
}

impl ModelledTime {
    /// Adds the times of launches that run in sequence.
    #[must_use]
    pub fn from_launches(launches: &[LaunchReport]) -> Self {
        let sum =
            |part: fn(&LaunchCost) -> f64| round_to_thousandths(launches.iter().map(|launch| part(&launch.cost)).sum());
        Self {
            low_us: sum(|cost| cost.low_us),
            estimate_us: sum(|cost| cost.estimate_us),
            high_us: sum(|cost| cost.high_us),
        }
    }
}

/// Rounds to three decimals, so that a report does not depend on the last bits of a logarithm.
#[must_use]
pub fn round_to_thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_ops = pluralize(self.ops.len(), "op");
        let num_launches = pluralize(self.launches.len(), "launch");
        writeln!(formatter, "{}: {n_ops} in {num_launches}", self.program)?;
        let capacity = self.target.get("lx_bytes").copied().unwrap_or(0);
        for launch in &self.launches {
            let bytes = &launch.bytes;
            writeln!(
                formatter,
                "  {}: {}, {}; HBM {} read, {} written; LX {} moved, peak {} of {capacity} B per core",
                launch.bundle,
                pluralize(launch.n_ops, "op"),
                pluralize(usize::try_from(launch.n_executions).unwrap_or(usize::MAX), "execute"),
                ByteSize(bytes.hbm_read),
                ByteSize(bytes.hbm_written),
                ByteSize(bytes.lx()),
                launch.lx_peak_bytes,
            )?;
        }
        for outcome in &self.kernels {
            writeln!(formatter, "{outcome}")?;
        }
        if let Some(peeled) = &self.peeled {
            let counts = self.peel_trials.map_or_else(String::new, |trials| {
                format!(
                    "; {} compiled{}",
                    pluralize(usize::try_from(trials.n_judged).unwrap_or(usize::MAX), "program"),
                    format_infeasible_count(trials.n_infeasible)
                )
            });
            writeln!(formatter, "  peeling: {peeled}{counts}")?;
        }
        for found in &self.tile_search {
            writeln!(formatter, "{found}")?;
        }
        for around in &self.explain.loops {
            write_loop(formatter, around, 2)?;
        }
        self.write_moves(formatter)?;
        self.write_bytes(formatter)?;
        if self.launches.is_empty() { Ok(()) } else { self.write_time(formatter) }
    }
}

impl Report {
    /// Writes the number of layout moves and their bytes; writes nothing if there are none.
    fn write_moves(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moves = &self.moves;
        let copies = if moves.layout_copy_ops == 1 { "copy" } else { "copies" };
        let restickified = (moves.restickify_ops > 0).then(|| {
            format!("{} moved {}", pluralize(moves.restickify_ops, "restickify op"), ByteSize(moves.restickify_bytes))
        });
        let copied = (moves.layout_copy_ops > 0).then(|| {
            format!("{} {copies} for layouts moved {}", moves.layout_copy_ops, ByteSize(moves.layout_copy_bytes))
        });
        let parts: Vec<String> = restickified.into_iter().chain(copied).collect();
        if parts.is_empty() { Ok(()) } else { writeln!(formatter, "  {}", parts.join(", ")) }
    }

    /// Writes the HBM traffic next to its lower bound, and the value with the largest contribution to the gap.
    fn write_bytes(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (moved, bound) = (self.total.hbm(), &self.lower_bound);
        write!(formatter, "  HBM traffic {} (lower bound {}", ByteSize(moved), ByteSize(bound.hbm))?;
        if bound.hbm > 0 && moved > bound.hbm {
            #[allow(clippy::cast_precision_loss, reason = "a ratio for people")]
            let ratio = moved as f64 / bound.hbm as f64;
            write!(formatter, ", {ratio:.2} times")?;
        }
        write!(formatter, ")")?;
        if bound.products > bound.hbm {
            let products = ByteSize(bound.products);
            write!(
                formatter,
                "; with this LX size, the matmuls must read at least {products}, which the lower bound does not include"
            )?;
        }
        match self.gap.values.first() {
            Some(ValueGap { name, op, hbm, why }) => {
                let op = op.map_or_else(String::new, |op| format!(" (op {op})"));
                write!(formatter, "\n    largest contribution to the gap: '{name}'{op}, {} ({why})", ByteSize(*hbm))
            }
            None => Ok(()),
        }
    }

    /// Writes the modeled time next to its lower bound, and the op with the largest contribution to the gap.
    fn write_time(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ModelledTime { low_us, estimate_us, high_us } = self.time;
        write!(formatter, "\n  modeled time: {estimate_us:.1} us ({low_us:.1}-{high_us:.1} us")?;
        let is_ranked = self.launches.iter().all(|launch| launch.cost.is_ranked);
        write!(formatter, "{})", if is_ranked { "" } else { ", no published times for some ops" })?;
        let bound = &self.lower_bound;
        if bound.us > 0.0 {
            let limit = match bound.limit {
                "fixed" => "bound by op start-up",
                "hbm" => "HBM-bound",
                _ => "compute-bound",
            };
            write!(formatter, ", {:.2}x the lower bound of {:.1} us ({limit})", estimate_us / bound.us, bound.us)?;
        }
        match self.gap.ops.first() {
            Some(OpGap { op, name, us, why }) => {
                write!(formatter, "\n    largest contribution to the gap: op {op} '{name}', {us:.1} us ({why})")
            }
            None => Ok(()),
        }
    }
}

/// Writes a line for a loop, and indents its inner loops by two columns.
fn write_loop(formatter: &mut fmt::Formatter<'_>, around: &TileLoop, indent: usize) -> fmt::Result {
    let TileLoop { dim, count, ops, bytes_per_iteration: bytes, .. } = around;
    writeln!(
        formatter,
        "{:indent$}loop of {count} over '{dim}': {}; an iteration: HBM {} read, {} written; LX {} moved",
        "",
        pluralize(ops.len(), "op"),
        ByteSize(bytes.hbm_read),
        ByteSize(bytes.hbm_written),
        ByteSize(bytes.lx()),
    )?;
    around.loops.iter().try_for_each(|inner| write_loop(formatter, inner, indent + 2))
}

fn pluralize(count: usize, noun: &str) -> String {
    match (count, noun.ends_with("ch")) {
        (1, _) => format!("1 {noun}"),
        (_, true) => format!("{count} {noun}es"),
        (_, false) => format!("{count} {noun}s"),
    }
}

/// Number of bytes that is formatted in bytes, KiB or MiB, depending on its size.
struct ByteSize(i64);

impl fmt::Display for ByteSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[allow(clippy::cast_precision_loss, reason = "a size for people")]
        let bytes = self.0 as f64;
        match self.0 {
            0..1024 => write!(formatter, "{} B", self.0),
            1024..1_048_576 => write!(formatter, "{:.1} KiB", bytes / 1024.0),
            _ => write!(formatter, "{:.2} MiB", bytes / 1_048_576.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summarizes_ratio_to_lower_bound() {
        let mut report = Report { program: "main".to_owned(), ..Report::default() };
        report.total = Bytes { hbm_read: 2_097_152, hbm_written: 1_048_576, lx_read: 10, lx_written: 20 };
        report.lower_bound = LowerBound { hbm: 2_097_152, ..LowerBound::default() };
        assert_eq!(
            report.to_string(),
            "main: 0 ops in 0 launches\n  HBM traffic 3.00 MiB (lower bound 2.00 MiB, 1.50 times)"
        );
    }

    #[test]
    fn counts_restickify_ops_and_layout_copies_separately() {
        let op = |name: &str, is_for_layout: bool| OpReport {
            op: name.to_owned(),
            is_for_layout,
            bytes: Bytes { hbm_read: 512, hbm_written: 256, lx_read: 128, lx_written: 128 },
            ..OpReport::default()
        };
        let ops = [
            op("spyre.copy", false),
            op("spyre.copy", true),
            op("spyre.restickify", true),
            op("spyre.restickify", true),
        ];
        let moves = LayoutMoves::from_ops(&ops);
        assert_eq!(
            moves,
            LayoutMoves { restickify_ops: 2, restickify_bytes: 2048, layout_copy_ops: 1, layout_copy_bytes: 1024 }
        );
        let text = Report { moves, ..Report::default() }.to_string();
        assert_eq!(text.lines().nth(1), Some("  2 restickify ops moved 2.0 KiB, 1 copy for layouts moved 1.0 KiB"));
    }

    #[test]
    fn formats_byte_sizes_with_units() {
        assert_eq!(
            [ByteSize(7), ByteSize(2048), ByteSize(3 << 20)].map(|size| size.to_string()),
            ["7 B", "2.0 KiB", "3.00 MiB"]
        );
    }
}
