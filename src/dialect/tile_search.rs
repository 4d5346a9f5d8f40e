//! Results of the tile search in a function, as an attribute and as plain values.

use crate::dialect::ods::attr;
use crate::mlir::{
    AttributeList, Op, OpExt, build_dictionary, dictionary_entries, float_value, integer, string_array, strings,
    unit_attribute,
};

/// Results of the tile search in a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TileSearchSummary {
    /// Chosen loop nests, in the syntax of hint scopes, each with its ops.
    pub nests: Vec<String>,
    /// Modeled time with these loops, in us.
    pub us: f64,
    /// HBM bytes with these loops.
    pub hbm: i64,
    /// Modeled time without loops, in us; `None` if the program cannot be compiled without them.
    pub untiled_us: Option<f64>,
    /// Lowest time that was estimated for any plan, in us; `None` if plans were compared by bytes.
    pub least_us: Option<f64>,
    /// Next best evaluated plan.
    pub runner_up: Option<RunnerUpPlan>,
    /// Cost of the best plan with [`crate::search::ADDITIONAL_LX_BYTES`] more LX per core; `None` if it was not
    /// requested.
    pub with_more_lx: Option<PlannedCost>,
    /// Number of evaluated plans: those with core splits, placement and cost.
    pub n_evaluated: i64,
    /// Number of evaluated plans that a rule rejects.
    pub n_infeasible: i64,
    /// Whether the search stopped because its step limit was reached.
    pub is_cut_short: bool,
}

/// Modeled cost of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlannedCost {
    /// Modeled time, in us.
    pub us: f64,
    /// HBM bytes.
    pub hbm: i64,
}

/// Next best plan that was evaluated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunnerUpPlan {
    /// Loop nests that differ from the chosen ones; an entry is empty if there is no loop.
    pub nests: Vec<String>,
    /// Modeled cost of all ops under this plan.
    pub cost: PlannedCost,
}

impl TileSearchSummary {
    /// Reads the search results from a function's attribute; `None` if no search ran.
    #[must_use]
    pub fn from_function(function: Op<'_>) -> Option<Self> {
        let entries = function.attr(attr::SPYRE_TILE_SEARCH).and_then(dictionary_entries)?;
        let entry = |name: &str| entries.iter().find(|(key, _)| *key == name).map(|(_, attribute)| *attribute);
        let texts =
            |name: &str| Some(entry(name).and_then(strings)?.into_iter().map(str::to_owned).collect::<Vec<String>>());
        let cost = |us: &str, hbm: &str| {
            Some(PlannedCost { us: entry(us).and_then(float_value)?, hbm: entry(hbm).and_then(integer)? })
        };
        let runner_up =
            || Some(RunnerUpPlan { nests: texts("runner_up")?, cost: cost("runner_up_us", "runner_up_hbm")? });
        Some(Self {
            nests: texts("nests")?,
            us: entry("us").and_then(float_value)?,
            hbm: entry("hbm").and_then(integer)?,
            untiled_us: entry("untiled_us").and_then(float_value),
            least_us: entry("least_us").and_then(float_value),
            runner_up: runner_up(),
            with_more_lx: cost("more_lx_us", "more_lx_hbm"),
            n_evaluated: entry("judged").and_then(integer)?,
            n_infeasible: entry("infeasible").and_then(integer).unwrap_or(0),
            is_cut_short: entry("cut_short").is_some(),
        })
    }

    /// Writes the search results to a function's attribute.
    pub fn write(&self, function: Op<'_>) {
        let context = function.ctx();
        let attributes = AttributeList::new(context)
            .with_option("cut_short", self.is_cut_short.then(|| unit_attribute(context)))
            .with_int("hbm", self.hbm)
            .with_int("infeasible", self.n_infeasible)
            .with_int("judged", self.n_evaluated)
            .with_attribute("nests", string_array(context, &self.nests))
            .with_float("us", self.us);
        let attributes = match self.untiled_us {
            Some(untiled_us) => attributes.with_float("untiled_us", untiled_us),
            None => attributes,
        };
        let attributes = match self.least_us {
            Some(least_us) => attributes.with_float("least_us", least_us),
            None => attributes,
        };
        let attributes = match &self.runner_up {
            Some(RunnerUpPlan { nests, cost }) => {
                let nests = string_array(context, nests);
                attributes
                    .with_attribute("runner_up", nests)
                    .with_float("runner_up_us", cost.us)
                    .with_int("runner_up_hbm", cost.hbm)
            }
            None => attributes,
        };
        let attributes = match &self.with_more_lx {
            Some(cost) => attributes.with_float("more_lx_us", cost.us).with_int("more_lx_hbm", cost.hbm),
            None => attributes,
        };
        function.set_attr(attr::SPYRE_TILE_SEARCH, build_dictionary(attributes));
    }
}
