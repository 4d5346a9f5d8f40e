//! Results of the tile search in reports and summaries.

use super::ByteSize;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// Result of the tile search for the ops of one function for which loops could save traffic or time. Times are modeled,
/// in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TileSearchReport {
    /// Name of the function.
    pub function: String,
    /// Chosen loop nests, in the syntax of hint scopes, with the positions of their ops.
    pub nests: Vec<String>,
    /// Modeled time with the chosen nests, us.
    pub us: f64,
    /// HBM bytes in both directions with the chosen nests.
    pub hbm: i64,
    /// Modeled time without loops, us; omitted if the program cannot be compiled without loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untiled_us: Option<f64>,
    /// Lowest estimate of any plan, us; omitted if plans were compared by bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_us: Option<f64>,
    /// Next best evaluated plan, if another one exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<RunnerUpReport>,
    /// Cost of the best plan if each core had more LX; omitted if it was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_more_lx: Option<MoreLxReport>,
    /// Number of plans that were evaluated: core splits, places and costs.
    pub n_judged: i64,
    /// Number of evaluated plans that a rule rejected.
    pub n_infeasible: i64,
    /// Whether the budget ended the search before all promising plans were evaluated.
    pub is_cut_short: bool,
}

/// Next best plan of a tile search.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunnerUpReport {
    /// Loop nests where the plan differs from the chosen one; empty if it has no loops there.
    pub nests: Vec<String>,
    /// Modeled time of the function with this plan, us.
    pub us: f64,
    /// HBM bytes in both directions.
    pub hbm: i64,
}

/// Cost of a plan on a machine with more LX.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MoreLxReport {
    /// Additional LX per core, bytes.
    pub more_bytes: i64,
    /// Modeled time, us.
    pub us: f64,
    /// HBM bytes in both directions.
    pub hbm: i64,
}

impl fmt::Display for TileSearchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chosen = format_nests(&self.nests);
        let without =
            self.untiled_us.map_or_else(|| "untiled: not possible".to_owned(), |us| format!("untiled: {us:.1} us"));
        let end = if self.is_cut_short { ", search stopped at its budget" } else { "" };
        let infeasible = format_infeasible_count(self.n_infeasible);
        let least =
            self.least_us.map_or_else(|| "objective: bytes".to_owned(), |us| format!("estimated bound: {us:.1} us"));
        write!(
            f,
            "  tiling: {chosen}; {:.1} us ({without}, {least}); {} candidates evaluated{infeasible}{end}",
            self.us, self.n_judged
        )?;
        if let Some(RunnerUpReport { nests, us, hbm }) = &self.runner_up {
            write!(
                f,
                "\n    next best: {}; {us:.1} us, {}",
                format_nests(nests),
                HbmTrafficDifference { hbm: *hbm, own: self.hbm }
            )?;
        }
        if let Some(MoreLxReport { more_bytes, us, hbm }) = &self.with_more_lx {
            let against = HbmTrafficDifference { hbm: *hbm, own: self.hbm };
            write!(f, "\n    with {} more LX per core: {us:.1} us, {against}", ByteSize(*more_bytes))?;
        }
        Ok(())
    }
}

/// Formats the number of infeasible candidates as the end of a phrase; empty for 0.
pub(super) fn format_infeasible_count(count: i64) -> String {
    if count > 0 { format!(", {count} infeasible") } else { String::new() }
}

fn format_nests(nests: &[String]) -> String {
    if nests.is_empty() { "none".to_owned() } else { nests.join(", ") }
}

/// HBM traffic of a plan, compared with that of the chosen plan.
struct HbmTrafficDifference {
    hbm: i64,
    own: i64,
}

impl fmt::Display for HbmTrafficDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hbm - self.own {
            0 => f.write_str("the same HBM traffic"),
            more if more > 0 => write!(f, "{} more HBM traffic", ByteSize(more)),
            less => write!(f, "{} less HBM traffic", ByteSize(-less)),
        }
    }
}
