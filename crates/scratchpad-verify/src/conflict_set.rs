//! Checks that the residency intervals of a cut do not fit together, whatever else is in LX
//! (`docs/reference/certificates.md`).

use super::{
    files::{CertificateCut, Instance},
    relaxation::RelaxedProblem,
    stacks::{AliasedStack, can_place_stacks},
};
use std::collections::BTreeMap;

/// Cut in terms of values: the intervals, and the conditions under which they conflict.
pub(super) struct ConflictSet {
    /// Value, first use, last use.
    pub(super) intervals: Vec<(usize, usize, usize)>,
    /// Pairs of child and parent among the intervals that share an address.
    pub(super) merged: Vec<(usize, usize)>,
    /// Pairs of child and parent that could share an address but do not.
    pub(super) apart: Vec<(usize, usize)>,
    /// Values that must be outside LX.
    pub(super) absent: Vec<usize>,
}

/// Reads a cut of the certificate and finds its values.
pub(super) fn read_cut(
    instance: &Instance,
    relaxed: &RelaxedProblem,
    cut: &CertificateCut,
) -> Result<ConflictSet, String> {
    let mut intervals = Vec::new();
    for interval in &cut.stays {
        let row = instance
            .find_buffer(&interval.buffer)
            .ok_or_else(|| format!("a cut names '{}', which is not a buffer of the instance", interval.buffer))?;
        let position = |index: usize, time: Option<usize>| {
            relaxed.values[index].uses.iter().position(|one| Some(relaxed.times[one.tick]) == time)
        };
        let found = (0..relaxed.values.len()).filter(|&index| relaxed.values[index].row == row).find_map(|index| {
            let (first, last) = (position(index, Some(interval.start))?, position(index, interval.end.checked_sub(1))?);
            (first <= last).then_some((index, first, last))
        });
        intervals.push(found.ok_or_else(|| {
            format!(
                "a cut has a residency interval of '{}' from {} to {}, which does not begin and end with a use of one value",
                interval.buffer, interval.start, interval.end
            )
        })?);
    }
    let is_one_each = intervals
        .iter()
        .enumerate()
        .all(|(at, one)| intervals[..at].iter().all(|other| other.0 != one.0 || other.2 < one.1 || one.2 < other.1));
    if intervals.is_empty() || !is_one_each {
        return Err("a cut has no residency intervals, or overlapping ones of one value".to_owned());
    }
    let (mut merged, mut apart) = (Vec::new(), Vec::new());
    for child in intervals.iter().filter(|interval| interval.1 == 0) {
        for &parent in &relaxed.values[child.0].parents {
            let is_in = intervals
                .iter()
                .any(|interval| interval.0 == parent && interval.2 + 1 == relaxed.values[parent].uses.len());
            let names = (
                &instance.buffers[relaxed.values[child.0].row].name,
                &instance.buffers[relaxed.values[parent].row].name,
            );
            if is_in && cut.mergers.iter().any(|pair| (&pair.0, &pair.1) == names) {
                merged.push((child.0, parent));
            } else if is_in {
                apart.push((child.0, parent));
            }
        }
    }
    let is_double = |at: usize| merged[..at].iter().any(|pair| pair.0 == merged[at].0 || pair.1 == merged[at].1);
    if merged.len() != cut.mergers.len() || (0..merged.len()).any(is_double) {
        return Err("a cut merges intervals that cannot share an address, or one interval twice".to_owned());
    }
    let absent = cut
        .absent
        .iter()
        .map(|name| find_absent_value(instance, relaxed, &intervals, name))
        .collect::<Result<_, _>>()?;
    Ok(ConflictSet { intervals, merged, apart, absent })
}

/// Returns the value of a buffer that a cut requires to be outside LX. The buffer must be live in one operation only,
/// so that its absence is a single decision.
fn find_absent_value(
    instance: &Instance,
    relaxed: &RelaxedProblem,
    intervals: &[(usize, usize, usize)],
    name: &str,
) -> Result<usize, String> {
    let is_of = |value: usize| Some(relaxed.values[value].row) == instance.find_buffer(name);
    let mut values = (0..relaxed.values.len()).filter(|&value| is_of(value));
    match (values.next(), values.next()) {
        (Some(value), None)
            if relaxed.values[value].uses.len() == 1 && intervals.iter().all(|interval| interval.0 != value) =>
        {
            Ok(value)
        }
        _ => Err(format!(
            "a cut lists '{name}' as absent; expected a buffer with a single use, which is in no residency interval of the cut"
        )),
    }
}

/// Confirms that no addresses exist for the intervals.
pub(super) fn check_conflict(
    instance: &Instance,
    relaxed: &RelaxedProblem,
    conflict_set: &ConflictSet,
) -> Result<(), String> {
    if can_place_stacks(&build_stacks(instance, relaxed, conflict_set), relaxed.capacity)? {
        Err("its residency intervals fit in LX together".to_owned())
    } else {
        Ok(())
    }
}

/// Groups the intervals that share an address because of the cut's reuses, each with its predecessors.
fn build_stacks(instance: &Instance, relaxed: &RelaxedProblem, conflict_set: &ConflictSet) -> Vec<AliasedStack> {
    let ends_of = |value: usize| {
        conflict_set
            .intervals
            .iter()
            .position(|interval| interval.0 == value && interval.2 + 1 == relaxed.values[value].uses.len())
    };
    let parent = |at: usize| {
        let (value, first, _) = conflict_set.intervals[at];
        conflict_set.merged.iter().find(|pair| first == 0 && pair.0 == value).and_then(|pair| ends_of(pair.1))
    };
    let mut towers: BTreeMap<usize, AliasedStack> = BTreeMap::new();
    for (at, &(value, first, last)) in conflict_set.intervals.iter().enumerate() {
        let mut head = at;
        while let Some(before) = parent(head) {
            head = before;
        }
        let RelaxedProblem { values, .. } = relaxed;
        let ticks = values[value].uses[first].tick..values[value].uses[last].tick + 1;
        towers.entry(head).or_insert_with(AliasedStack::new).add(
            ticks,
            values[value].units,
            relaxed.highest_address(instance, value),
        );
    }
    for (&head, stack) in &mut towers {
        let (value, first, _) = conflict_set.intervals[head];
        if first == 0 && may_inherit_address(relaxed, conflict_set, value) {
            stack.remove_first_tick();
        }
    }
    towers.into_values().filter(AliasedStack::has_height).collect()
}

/// Returns whether a value that reuses no address of the cut's intervals could still inherit one at its birth. It would
/// inherit the address through values that are live in that operation only and that the cut does not mention.
fn may_inherit_address(relaxed: &RelaxedProblem, conflict_set: &ConflictSet, value: usize) -> bool {
    let ends = |value: usize| {
        conflict_set
            .intervals
            .iter()
            .any(|interval| interval.0 == value && interval.2 + 1 == relaxed.values[value].uses.len())
    };
    let is_free = |value: usize| {
        let is_named =
            conflict_set.absent.contains(&value) || conflict_set.intervals.iter().any(|interval| interval.0 == value);
        relaxed.values[value].uses.len() == 1 && !is_named
    };
    let parents_of = |value: usize| relaxed.values[value].parents.iter().copied();
    let mut links: Vec<usize> = parents_of(value).filter(|&parent| is_free(parent)).collect();
    let mut at = 0;
    while let Some(&link) = links.get(at) {
        if parents_of(link).any(ends) {
            return true;
        }
        let more: Vec<usize> = parents_of(link).filter(|parent| is_free(*parent) && !links.contains(parent)).collect();
        links.extend(more);
        at += 1;
    }
    false
}
