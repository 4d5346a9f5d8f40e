//! Merges the cache entries of several machines.

use super::{RankedPoint, Shard, TuneEntry, TuneParameters, TuneResult, TuneStopReason};
use std::collections::BTreeMap;

/// Result of a merge of cache entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedEntries {
    /// One entry for each complete search.
    pub entries: Vec<TuneEntry>,
    /// Incomplete searches: the program, and the missing shards.
    pub missing: Vec<(String, Vec<Shard>)>,
}

/// Maximum number of best points in an entry.
pub(super) const MAX_BEST_POINTS: usize = 10;

/// Merges entries. Of equal searches, it keeps the best one by the objective. Of the shards of a search, it keeps the
/// best points of all shards. The order of the entries matters only between equal ones.
#[must_use]
pub fn merge_entries(entries: &[TuneEntry]) -> MergedEntries {
    // The terms contain a fraction without a total order, so its bits are compared.
    let mut groups: BTreeMap<_, Vec<&TuneEntry>> = BTreeMap::new();
    for entry in entries {
        let TuneParameters { budget, seed, within, shard } = &entry.terms;
        groups.entry((&entry.key, *budget, *seed, within.to_bits(), shard.count())).or_default().push(entry);
    }
    let mut merged = MergedEntries::default();
    for group in groups.into_values() {
        let mut parts: BTreeMap<Shard, &TuneEntry> = BTreeMap::new();
        for entry in group {
            let best = parts.entry(entry.terms.shard).or_insert(entry);
            if entry.compare(best).is_lt() {
                *best = entry;
            }
        }
        let Some(first) = parts.values().next().copied() else { continue };
        let all = (1..=first.terms.shard.count())
            .filter_map(|number| format!("{number}/{}", first.terms.shard.count()).parse().ok());
        let missing: Vec<Shard> = all.filter(|shard| !parts.contains_key(shard)).collect();
        if missing.is_empty() {
            merged.entries.extend(combine_shards(&parts.into_values().collect::<Vec<_>>()));
        } else {
            merged.missing.push((first.key.program.clone(), missing));
        }
    }
    merged
}

/// Returns the entry of a search whose shards are all present; `None` if no shard has a feasible point.
fn combine_shards(parts: &[&TuneEntry]) -> Option<TuneEntry> {
    let first = parts[0];
    let mut best: Vec<RankedPoint> = parts.iter().flat_map(|part| part.answer.best.iter().cloned()).collect();
    best.sort_by(|one, other| one.compare(other, first.key.objective));
    // All shards have evaluated the untuned point.
    best.dedup_by(|one, other| one.point == other.point);
    best.truncate(MAX_BEST_POINTS);
    let mut rejected: BTreeMap<String, usize> = BTreeMap::new();
    for (reason, count) in parts.iter().flat_map(|part| &part.answer.rejected) {
        *rejected.entry(reason.clone()).or_default() += count;
    }
    let answers = || parts.iter().map(|part| &part.answer);
    let stop = [TuneStopReason::Interrupted, TuneStopReason::Budget, TuneStopReason::Bound]
        .into_iter()
        .find(|stop| answers().any(|answer| answer.stop == *stop));
    let answer = TuneResult {
        best,
        untuned: first.answer.untuned.clone(),
        bound_us: answers().filter_map(|answer| answer.bound_us).min_by(f64::total_cmp),
        bound_hbm_bytes: answers().filter_map(|answer| answer.bound_hbm_bytes).min(),
        n_compiled: answers().map(|answer| answer.n_compiled).sum(),
        rejected,
        is_exhaustive: answers().all(|answer| answer.is_exhaustive),
        stop: stop.unwrap_or(TuneStopReason::Exhausted),
        starts: Vec::new(),
    };
    (!answer.best.is_empty()).then(|| TuneEntry {
        key: first.key.clone(),
        terms: TuneParameters { shard: Shard::WHOLE, ..first.terms.clone() },
        answer,
    })
}

#[cfg(test)]
mod tests {
    use super::super::entry::tests::entry;
    use super::*;
    use cost::Objective;

    /// Creates the entry of a shard that found one point.
    fn shard_entry(shard: &str, point: usize, us: f64) -> TuneEntry {
        let mut part = entry("a", us);
        part.terms.shard = shard.parse().unwrap();
        part.answer.best[0].point = vec![point];
        part
    }

    #[test]
    fn merges_best_points_of_all_shards() {
        let merged = merge_entries(&[shard_entry("2/2", 1, 2.0), shard_entry("1/2", 0, 3.0)]);
        assert_eq!(merged.missing, []);
        let [whole] = &merged.entries[..] else { panic!("{merged:?}") };
        assert_eq!(whole.terms.shard, Shard::WHOLE);
        assert_eq!(whole.answer.best.iter().map(|ranked| ranked.us).collect::<Vec<_>>(), [2.0, 3.0]);
        assert_eq!((whole.answer.n_compiled, whole.answer.stop), (2, TuneStopReason::Exhausted));
    }

    #[test]
    fn reports_missing_shard() {
        let merged = merge_entries(&[shard_entry("1/3", 0, 3.0), shard_entry("3/3", 1, 3.0)]);
        assert_eq!((merged.entries.len(), merged.missing), (0, vec![("a".to_owned(), vec!["2/3".parse().unwrap()])]));
    }

    #[test]
    fn keeps_best_of_equal_searches_and_separates_others() {
        let mut bytes = [entry("a", 3.0), entry("a", 2.0)];
        bytes[0].answer.best[0].hbm_bytes = 64;
        for entry in &mut bytes {
            entry.key.objective = Objective::Bytes;
        }
        let found =
            merge_entries(&[entry("a", 3.0), entry("a", 2.0), entry("b", 9.0), bytes[0].clone(), bytes[1].clone()]);
        let best: Vec<(String, Objective, f64)> = found
            .entries
            .into_iter()
            .map(|entry| (entry.key.program, entry.key.objective, entry.answer.best[0].us))
            .collect();
        let expected = [("a", Objective::Time, 2.0), ("a", Objective::Bytes, 3.0), ("b", Objective::Time, 9.0)];
        assert_eq!(best, expected.map(|(program, objective, us)| (program.to_owned(), objective, us)));
    }

    #[test]
    fn ignores_order_of_entries() {
        let parts = [shard_entry("1/3", 0, 3.0), shard_entry("2/3", 1, 3.0), shard_entry("3/3", 2, 2.0)];
        let expected = merge_entries(&parts);
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            assert_eq!(merge_entries(&order.map(|number| parts[number].clone())), expected);
        }
    }

    #[test]
    fn accepts_shard_without_feasible_points() {
        let mut empty = shard_entry("1/2", 0, 3.0);
        (empty.answer.best, empty.answer.bound_us, empty.answer.bound_hbm_bytes) = (Vec::new(), None, None);
        let mut other = empty.clone();
        other.terms.shard = "2/2".parse().unwrap();
        assert_eq!(merge_entries(&[empty.clone(), other]), MergedEntries::default());
        assert_eq!(merge_entries(&[empty, shard_entry("2/2", 1, 2.0)]).entries.len(), 1);
    }
}
