//! Cache entry: the result of a search, with its key, as a line of a cache.

use super::{Shard, TuneStopReason};
use cost::{ModeledCost, Objective};
use serde::{Deserialize, Serialize};
use std::{cmp::Ordering, collections::BTreeMap};

/// Key of a result. Equality in all fields implies equal search spaces with equal costs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneKey {
    /// Hash of the imported program: of its kernels, and of the ops that may be fused into them.
    pub program: String,
    /// Hash of its ops without their sizes.
    pub body: String,
    /// Shapes of its arguments and results.
    pub shapes: String,
    /// Device layouts of its arguments and results, where the program specifies them.
    pub layouts: String,
    /// Parameters of the machine.
    pub machine: String,
    /// Hash of the parameters of the time model.
    pub model: String,
    /// Open dimensions of the search space, with their choices.
    pub space: String,
    /// Options of the compilation.
    pub options: String,
    /// Objective by which costs are compared.
    pub objective: Objective,
    /// Version of the compiler.
    pub version: String,
}

impl TuneKey {
    /// Returns the fields with their names.
    #[must_use]
    pub fn fields(&self) -> [(&'static str, &str); 10] {
        let Self { program, body, shapes, layouts, machine, model, space, options, objective, version } = self;
        [
            ("program", program),
            ("body", body),
            ("shapes", shapes),
            ("layouts", layouts),
            ("machine", machine),
            ("model", model),
            ("space", space),
            ("options", options),
            ("objective", (*objective).into()),
            ("version", version),
        ]
    }

    /// Returns the fields in which another key differs: the name, the other value, and this value.
    #[must_use]
    pub fn differences<'a>(&'a self, other: &'a Self) -> Vec<(&'static str, &'a str, &'a str)> {
        let pairs = self.fields().into_iter().zip(other.fields());
        pairs
            .filter(|((_, here), (_, there))| here != there)
            .map(|((name, here), (_, there))| (name, there, here))
            .collect()
    }
}

/// Parameters of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneParameters {
    /// Maximum number of points that are compiled.
    pub budget: usize,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Relative distance to the lower bound at which the search stops.
    pub within: f64,
    /// Shard of the work that was done.
    pub shard: Shard,
}

/// Point of the search space, with its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankedPoint {
    /// Choice of each dimension, in their order.
    pub choices: Vec<String>,
    /// Indices of these choices.
    pub point: Vec<usize>,
    /// Number of choices that differ from the untuned ones.
    pub n_changes: usize,
    /// Modeled time, us.
    pub us: f64,
    /// HBM bytes in both directions.
    pub hbm_bytes: i64,
}

impl RankedPoint {
    /// Returns the modeled cost.
    #[must_use]
    pub fn cost(&self) -> ModeledCost {
        ModeledCost { ns: self.us * 1000.0, hbm_bytes: self.hbm_bytes }
    }

    /// Compares two points in the order of a search: the lesser one is better.
    #[must_use]
    pub fn compare(&self, other: &Self, objective: Objective) -> Ordering {
        let of_equals = || (self.n_changes, &self.point).cmp(&(other.n_changes, &other.point));
        objective.compare(&self.cost(), &other.cost()).then_with(of_equals)
    }
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneResult {
    /// Best points, the best first.
    pub best: Vec<RankedPoint>,
    /// Untuned point; `None` if it cannot be compiled.
    pub untuned: Option<RankedPoint>,
    /// Lower bound on the time of all plans, us; `None` if no point is feasible.
    pub bound_us: Option<f64>,
    /// Lower bound on the HBM bytes of all plans.
    pub bound_hbm_bytes: Option<i64>,
    /// Number of compiled points.
    pub n_compiled: usize,
    /// Number of rejected points, by the kind of reason.
    pub rejected: BTreeMap<String, usize>,
    /// Whether the search was to visit all points.
    pub is_exhaustive: bool,
    /// Reason why the search stopped.
    pub stop: TuneStopReason,
    /// Choices of other entries, from which walks started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Vec<String>>,
}

/// Result of a search with its key: a line of a cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneEntry {
    /// Key of the search.
    pub key: TuneKey,
    /// Parameters of the search.
    pub terms: TuneParameters,
    /// Result of the search.
    pub answer: TuneResult,
}

impl TuneEntry {
    /// Rejects entries that no search writes.
    ///
    /// # Errors
    /// Returns the field, and the rule that it violates.
    pub fn check(&self) -> Result<(), String> {
        let TuneResult { best, untuned, bound_us, bound_hbm_bytes, .. } = &self.answer;
        if self.terms.shard == Shard::WHOLE && best.is_empty() {
            return Err("'answer.best' is empty; an entry must have what the search found".to_owned());
        }
        let costs = best.iter().chain(untuned).map(|ranked| (ranked.us, ranked.hbm_bytes));
        for (us, hbm_bytes) in costs.chain([(bound_us.unwrap_or(0.0), bound_hbm_bytes.unwrap_or(0))]) {
            if !(us >= 0.0 && us.is_finite() && hbm_bytes >= 0) {
                return Err(format!("expected costs that are not negative, found {us} us and {hbm_bytes} bytes"));
            }
        }
        if self.terms.within < 0.0 {
            return Err(format!("expected 'terms.within' of at least 0, found {}", self.terms.within));
        }
        Ok(())
    }

    /// Returns whether the entry is a result for a search with these parameters: all points were visited, or the
    /// parameters are equal.
    #[must_use]
    pub fn satisfies(&self, terms: &TuneParameters) -> bool {
        let is_whole = self.answer.stop == TuneStopReason::Exhausted
            && self.terms.shard == Shard::WHOLE
            && terms.shard == Shard::WHOLE;
        is_whole || self.terms == *terms
    }

    /// Compares two results of one search by the objective: the lesser one is better.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self.answer.best.first(), other.answer.best.first()) {
            (Some(one), Some(other)) => one.compare(other, self.key.objective),
            (one, other) => one.is_none().cmp(&other.is_none()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Creates an entry of a program with one point of this time.
    pub(crate) fn entry(program: &str, us: f64) -> TuneEntry {
        let key = TuneKey { program: program.to_owned(), ..TuneKey::default() };
        let ranked = RankedPoint { choices: vec!["1".to_owned()], point: vec![0], n_changes: 0, us, hbm_bytes: 128 };
        let answer = TuneResult {
            best: vec![ranked.clone()],
            untuned: Some(ranked),
            bound_us: Some(1.0),
            bound_hbm_bytes: Some(64),
            n_compiled: 1,
            rejected: BTreeMap::new(),
            is_exhaustive: true,
            stop: TuneStopReason::Exhausted,
            starts: Vec::new(),
        };
        TuneEntry { key, terms: TuneParameters { budget: 8, seed: 0, within: 0.0, shard: Shard::WHOLE }, answer }
    }

    #[test]
    fn reads_back_written_entry() {
        let entry = entry("a", 2.0);
        assert_eq!(serde_json::from_str::<TuneEntry>(&serde_json::to_string(&entry).unwrap()).unwrap(), entry);
        assert_eq!(entry.check(), Ok(()));
    }

    #[test]
    fn rejects_entries_that_no_search_writes() {
        let broken = |change: fn(&mut TuneEntry)| {
            let mut entry = entry("a", 2.0);
            change(&mut entry);
            entry.check().unwrap_err()
        };
        assert!(broken(|entry| entry.answer.best.clear()).contains("'answer.best' is empty"));
        assert!(broken(|entry| entry.answer.best[0].us = -1.0).contains("-1 us"));
        assert!(broken(|entry| entry.answer.bound_hbm_bytes = Some(-1)).contains("-1 bytes"));
        assert!(broken(|entry| entry.terms.within = -0.5).contains("'terms.within'"));
    }

    #[test]
    fn compares_all_fields_of_key() {
        let key = entry("a", 2.0).key;
        assert_eq!(key.differences(&key), []);
        let text = serde_json::to_value(&key).unwrap();
        let names: Vec<String> = text.as_object().unwrap().keys().cloned().collect();
        for name in &names {
            let mut other = text.clone();
            let value = if name == "objective" { "bytes" } else { "other" };
            other[name] = value.into();
            let other: TuneKey = serde_json::from_value(other).unwrap();
            let found = key.differences(&other);
            assert_eq!(
                found.iter().map(|(name, there, _)| (*name, *there)).collect::<Vec<_>>(),
                [(name.as_str(), value)]
            );
        }
        assert_eq!(names.len(), key.fields().len());
    }

    #[test]
    fn rejects_results_of_other_parameters() {
        let mut found = entry("a", 2.0);
        let terms = found.terms.clone();
        let more = TuneParameters { budget: 9, ..terms.clone() };
        assert!(found.satisfies(&terms) && found.satisfies(&more));
        found.answer.stop = TuneStopReason::Budget;
        assert!(found.satisfies(&terms) && !found.satisfies(&more));
        found.answer.stop = TuneStopReason::Exhausted;
        found.terms.shard = "1/2".parse().unwrap();
        assert!(!found.satisfies(&terms), "a part is not the whole");
    }
}
