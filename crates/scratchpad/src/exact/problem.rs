//! Selection problem in small integers: values, their uses, and the HBM bytes of each decision.

use crate::{Buffer, Capacity, UseKind, buffer::can_reuse_in_place};
use std::ops::Range;

/// Residency that a plan may choose: with or without live-range splitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResidencyMode {
    /// A buffer is in LX from its first to its last use, or not at all.
    Whole,
    /// A buffer may leave LX between two uses and return.
    Split,
}

/// Uses of a value by one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TickUse {
    /// Index of the operation among the operations with uses.
    pub(crate) tick: usize,
    /// HBM bytes of the use if HBM serves it.
    pub(crate) hbm_bytes: i64,
    /// Whether the operation writes the value, which invalidates a copy in HBM.
    pub(crate) writes: bool,
}

/// Content of a buffer between two complete writes. No residency interval extends beyond it.
#[derive(Clone, Debug)]
pub(crate) struct BufferValue {
    /// Position of the buffer in the caller's list.
    pub(crate) buffer: usize,
    /// Bytes of one copy between LX and HBM.
    pub(crate) bytes: i64,
    /// Size in units of LX.
    pub(crate) units: i64,
    /// Exclusive upper limit of the value's addresses, in units: all of LX, or one unit less if the last unit is
    /// partial and too small for it.
    pub(crate) limit: i64,
    /// Uses, at least one, by ascending tick.
    pub(crate) uses: Vec<TickUse>,
    /// HBM bytes of starting in LX: the copy into LX of a value that starts in HBM.
    pub(crate) arrival_bytes: i64,
    /// HBM bytes of ending in LX without a valid copy in HBM: the copy out of LX of a value that ends in HBM.
    pub(crate) departure_bytes: i64,
    /// Whether HBM still holds a valid copy after the value was copied into LX.
    pub(crate) arrives_clean: bool,
    /// Values whose address this value may reuse at its birth.
    pub(crate) parents: Vec<usize>,
}

/// Problem of selecting the residency of each value so that the HBM bytes are minimal.
#[derive(Clone, Debug)]
pub(crate) struct SelectionProblem {
    pub(crate) values: Vec<BufferValue>,
    pub(crate) num_ticks: usize,
    /// Units of LX. The last one may be partial.
    pub(crate) units: i64,
    /// Bytes of a unit: the alignment, or the largest multiple of it that divides all sizes.
    pub(crate) unit_bytes: i64,
    /// HBM bytes of the uses of buffers that cannot be in LX.
    pub(crate) fixed_bytes: i64,
    pub(crate) mode: ResidencyMode,
}

impl BufferValue {
    pub(crate) fn first_tick(&self) -> usize {
        self.uses.first().map_or(0, |one| one.tick)
    }

    /// Returns whether the value may be a link: it is live in one operation only, and may pass on an address that it
    /// reuses.
    pub(crate) fn may_pass_address_on(&self) -> bool {
        self.uses.len() == 1 && !self.parents.is_empty()
    }

    /// Returns the HBM bytes of the value if it is never in LX.
    pub(crate) fn hbm_bytes(&self) -> i64 {
        self.uses.iter().map(|one| one.hbm_bytes).sum()
    }
}

/// Number of values from which pairwise comparisons and the search for cuts are too expensive.
const MIN_LARGE_PROBLEM_VALUES: usize = 1_000;

impl SelectionProblem {
    /// Builds the problem of placing `buffers`. Operations without uses are omitted: ticks number the other operations.
    pub(crate) fn new(buffers: &[Buffer], capacity: &Capacity, intervals: ResidencyMode) -> Self {
        let mut times: Vec<usize> = buffers.iter().flat_map(|buffer| buffer.uses.iter().map(|one| one.time)).collect();
        times.sort_unstable();
        times.dedup();
        let tick = |time: usize| times.partition_point(|&other| other < time);
        let mut problem = Self {
            values: Vec::new(),
            num_ticks: times.len(),
            units: count_units(capacity.bytes, capacity),
            unit_bytes: capacity.alignment,
            fixed_bytes: 0,
            mode: intervals,
        };
        let mut first_and_last: Vec<Option<(usize, usize)>> = vec![None; buffers.len()];
        for (index, buffer) in buffers.iter().enumerate() {
            if buffer.barred.is_some() || buffer.bytes > capacity.bytes || buffer.uses.is_empty() {
                problem.fixed_bytes += buffer.bytes * i64::try_from(buffer.uses.len()).expect("fewer than 2^63");
                continue;
            }
            let first = problem.values.len();
            for range in split_into_versions(buffer, intervals) {
                let value = build_value(buffer, index, range, capacity, intervals, &tick);
                problem.values.push(value);
            }
            first_and_last[index] = Some((first, problem.values.len() - 1));
        }
        for (index, buffer) in buffers.iter().enumerate() {
            let Some((first, _)) = first_and_last[index] else { continue };
            let may = |parent: &&usize| can_reuse_in_place(buffers, index, **parent);
            let mut parents: Vec<usize> = buffer
                .in_place_parents
                .iter()
                .filter(may)
                .filter_map(|&parent| first_and_last[parent])
                .map(|(_, last)| last)
                .collect();
            let mut seen = std::collections::BTreeSet::new();
            parents.retain(|&parent| seen.insert(parent));
            problem.values[first].parents = parents;
        }
        problem.coarsen_units();
        problem
    }

    /// Returns whether the problem is so large that only work linear in the number of values is affordable.
    pub(crate) const fn is_large(&self) -> bool {
        self.values.len() >= MIN_LARGE_PROBLEM_VALUES
    }

    /// Enlarges the unit to the greatest common divisor of all sizes.
    fn coarsen_units(&mut self) {
        let divisor = self.values.iter().fold(0, |divisor, value| gcd(divisor, value.units)).max(1);
        self.unit_bytes *= divisor;
        self.units /= divisor;
        for value in &mut self.values {
            value.units /= divisor;
            value.limit /= divisor;
        }
    }
}

fn gcd(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

fn count_units(bytes: i64, capacity: &Capacity) -> i64 {
    bytes / capacity.alignment + i64::from(bytes % capacity.alignment != 0)
}

/// Returns the ranges of a buffer's uses that form its values. With live-range splitting, an operation that writes the
/// buffer without reading it begins a new value.
fn split_into_versions(buffer: &Buffer, intervals: ResidencyMode) -> Vec<Range<usize>> {
    let uses = &buffer.uses;
    let mut starts = vec![0];
    let mut at = 0;
    while at < uses.len() {
        let end = at + uses[at..].iter().take_while(|one| one.time == uses[at].time).count();
        let is_whole_write = uses[at..end].iter().all(|one| one.kind == UseKind::Write);
        if at > 0 && is_whole_write && intervals == ResidencyMode::Split {
            starts.push(at);
        }
        at = end;
    }
    let ends = starts.iter().skip(1).copied().chain([uses.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

fn build_value(
    buffer: &Buffer,
    index: usize,
    range: Range<usize>,
    capacity: &Capacity,
    intervals: ResidencyMode,
    tick: &impl Fn(usize) -> usize,
) -> BufferValue {
    let (is_first, is_last) = (range.start == 0, range.end == buffer.uses.len());
    let mut uses: Vec<TickUse> = Vec::new();
    for one in &buffer.uses[range] {
        let (tick, writes) = (tick(one.time), one.kind == UseKind::Write);
        match uses.last_mut() {
            Some(last) if last.tick == tick => {
                last.hbm_bytes += buffer.bytes;
                last.writes |= writes;
            }
            Some(_) | None => uses.push(TickUse { tick, hbm_bytes: buffer.bytes, writes }),
        }
    }
    let is_read = buffer.uses.iter().any(|one| one.time == buffer.live_range().start && one.kind == UseKind::Read);
    let comes_in = is_first && buffer.starts_in_hbm && is_read;
    let arrival_bytes = if comes_in { buffer.bytes } else { 0 };
    let arrives_clean = comes_in && uses.first().is_some_and(|one| !one.writes);
    if intervals == ResidencyMode::Whole {
        uses = merge_uses(&uses);
    }
    let (rest, into_last) = (capacity.bytes % capacity.alignment, buffer.bytes % capacity.alignment);
    let all = count_units(capacity.bytes, capacity);
    BufferValue {
        buffer: index,
        bytes: buffer.bytes,
        units: count_units(buffer.bytes, capacity),
        limit: if rest == 0 || (into_last > 0 && into_last <= rest) { all } else { all - 1 },
        uses,
        arrival_bytes,
        departure_bytes: if is_last && buffer.ends_in_hbm { buffer.bytes } else { 0 },
        arrives_clean,
        parents: Vec::new(),
    }
}

/// Merges the uses of an unsplit live range into its first and last use. LX or HBM serves all of them, so the first
/// carries the cost.
fn merge_uses(uses: &[TickUse]) -> Vec<TickUse> {
    let (Some(first), Some(last)) = (uses.first(), uses.last()) else { return Vec::new() };
    let hbm_bytes = uses.iter().map(|one| one.hbm_bytes).sum();
    let mut ends = vec![TickUse { hbm_bytes, writes: uses.iter().any(|one| one.writes), ..*first }];
    if last.tick > first.tick {
        ends.push(TickUse { tick: last.tick, hbm_bytes: 0, writes: false });
    }
    ends
}
