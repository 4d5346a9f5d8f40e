//! Residency intervals that a compiler emits: those of the exact planner that save HBM bytes.
//!
//! A plan of unsplit live ranges comes first. If it leaves eligible buffers in HBM, a plan with split live ranges may
//! replace it, provided that it moves fewer bytes on all cores: the result is never worse.

use scratchpad::{Buffer, Capacity, ExactPlanner, LxInterval, Placement, PlacementExclusion, ResidencyMode, UseKind};

/// Buffer that may be in LX, with the properties that a compiler needs.
#[derive(Clone, Debug)]
pub(super) struct ResidencyCandidate {
    /// Buffer as the planner sees it.
    pub(super) buffer: Buffer,
    /// Bytes of the buffer on all cores.
    pub(super) device_bytes: i64,
    /// Whether a compiler can emit copies between LX and HBM at every use of the buffer. If not, the buffer is in LX
    /// for its whole live range or not at all.
    pub(super) may_split: bool,
    /// Number of reads that HBM serves in every plan; they are no uses of `buffer`.
    pub(super) hbm_reads: usize,
}

/// Maximum number of plans with split live ranges. Each new plan excludes the buffers that the previous one split
/// although they may not be split.
const MAX_SPLIT_PLANS: usize = 4;

/// Residency intervals of each candidate, by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResidencyPlan {
    /// Intervals, by candidate.
    pub(super) intervals: Vec<Vec<LxInterval>>,
    /// Reason why a candidate has no interval from its first use on; `None` if it has one.
    pub(super) reasons: Vec<Option<String>>,
    /// HBM bytes on all cores.
    pub(super) hbm_bytes: i64,
}

impl ResidencyCandidate {
    /// Returns the residency intervals worth emitting. A buffer that may not be split keeps only an interval that
    /// covers its whole live range; other buffers keep the intervals that save traffic. An interval that starts with a
    /// load from HBM for a single read, or that ends with a store to HBM without a read, saves nothing.
    fn select_worthwhile(&self, intervals: &[LxInterval]) -> Vec<LxInterval> {
        let life = self.buffer.live_range();
        if !self.may_split {
            let is_whole = matches!(intervals, [interval] if interval.start == life.start && interval.end == life.end);
            return if is_whole { intervals.to_vec() } else { Vec::new() };
        }
        let saves =
            |interval: &&LxInterval| self.num_reads(interval) > usize::from(!self.is_written_at_start(interval));
        intervals.iter().filter(saves).copied().collect()
    }

    /// Returns whether the value is written to LX in a residency interval.
    pub(super) fn is_written_at_start(&self, interval: &LxInterval) -> bool {
        self.buffer.uses.iter().any(|one| one.kind == UseKind::Write && one.time == interval.start)
    }

    /// Returns whether a value that is written to LX is also needed in HBM: as an output, for a later interval, or for
    /// a read outside all intervals.
    pub(super) fn needs_store(&self, intervals: &[LxInterval]) -> bool {
        let is_outside = |time: usize| !intervals.iter().any(|interval| (interval.start..interval.end).contains(&time));
        self.buffer.ends_in_hbm || intervals.len() > 1 || self.buffer.uses.iter().any(|one| is_outside(one.time))
    }

    fn num_reads(&self, interval: &LxInterval) -> usize {
        let is_read_in = |time: usize| (interval.start..interval.end).contains(&time);
        self.buffer.uses.iter().filter(|one| one.kind == UseKind::Read && is_read_in(one.time)).count()
    }

    /// Returns the HBM bytes on all cores under these intervals.
    fn compute_hbm_bytes(&self, intervals: &[LxInterval]) -> i64 {
        let begins_in_lx = intervals.first().is_some_and(|interval| self.is_written_at_start(interval));
        let in_lx = |time: usize| intervals.iter().any(|interval| (interval.start..interval.end).contains(&time));
        let num_served = self.buffer.uses.iter().filter(|one| !in_lx(one.time)).count();
        let num_in = intervals.len() - usize::from(begins_in_lx);
        let num_out = usize::from(begins_in_lx && self.needs_store(intervals));
        self.device_bytes * i64::try_from(num_served + num_in + num_out + self.hbm_reads).expect("fewer than 2^63")
    }

    fn fits(&self, capacity: &Capacity) -> bool {
        self.buffer.barred.is_none() && self.buffer.bytes <= capacity.bytes
    }
}

impl ResidencyPlan {
    /// Returns the best plan of unsplit live ranges.
    pub(super) fn plan_unsplit(candidates: &[ResidencyCandidate], capacity: &Capacity) -> Self {
        let buffers: Vec<Buffer> = candidates.iter().map(|candidate| candidate.buffer.clone()).collect();
        let plan = ExactPlanner::new_for_comparison(buffers.len()).solve(&buffers, capacity);
        let mut chosen = Self::from_intervals(candidates, &plan.intervals, &[]);
        let addresses =
            chosen.intervals.iter().map(|intervals| intervals.first().map(|interval| interval.address)).collect();
        let explained = Placement::from_addresses(&buffers, capacity, addresses);
        chosen.reasons = explained.reasons.iter().map(|reason| reason.as_ref().map(ToString::to_string)).collect();
        chosen
    }

    /// Returns whether an eligible buffer is not in LX for its whole live range.
    pub(super) fn has_unplaced_candidates(&self, candidates: &[ResidencyCandidate], capacity: &Capacity) -> bool {
        candidates
            .iter()
            .zip(&self.intervals)
            .any(|(candidate, intervals)| intervals.is_empty() && candidate.fits(capacity))
    }

    /// Returns a plan with split live ranges if it moves fewer HBM bytes than this plan, else this plan.
    pub(super) fn improved_by_splitting(self, candidates: &[ResidencyCandidate], capacity: &Capacity) -> Self {
        let mut best = self;
        let mut buffers: Vec<Buffer> = candidates.iter().map(|candidate| candidate.buffer.clone()).collect();
        for _ in 0..MAX_SPLIT_PLANS {
            let plan = ExactPlanner::new_for_compilation(ResidencyMode::Split, buffers.len()).solve(&buffers, capacity);
            let reasons: Vec<String> = plan.reasons.iter().map(|reason| reason.clone().unwrap_or_default()).collect();
            let chosen = Self::from_intervals(candidates, &plan.intervals, &reasons);
            let is_broken = |index: usize| !candidates[index].may_split && chosen.intervals[index].is_empty();
            let broken: Vec<usize> =
                plan.intervals.iter().map(|interval| interval.buffer).filter(|&index| is_broken(index)).collect();
            if chosen.hbm_bytes < best.hbm_bytes {
                best = chosen;
            }
            if broken.is_empty() {
                break;
            }
            for index in broken {
                buffers[index].barred = Some(PlacementExclusion(UNSPLITTABLE_REASON.to_owned()));
            }
        }
        best
    }

    /// Builds the residency plan to emit from the planned intervals. `reasons` are the planner's reasons, one per
    /// candidate.
    fn from_intervals(candidates: &[ResidencyCandidate], planned: &[LxInterval], reasons: &[String]) -> Self {
        let mut intervals: Vec<Vec<LxInterval>> = vec![Vec::new(); candidates.len()];
        planned.iter().for_each(|&interval| intervals[interval.buffer].push(interval));
        for (candidate, intervals) in candidates.iter().zip(&mut intervals) {
            *intervals = candidate.select_worthwhile(intervals);
        }
        let hbm_bytes = candidates
            .iter()
            .zip(&intervals)
            .map(|(candidate, intervals)| candidate.compute_hbm_bytes(intervals))
            .sum();
        let reason = |(index, intervals): (usize, &Vec<LxInterval>)| match intervals.first() {
            Some(interval) if interval.start == candidates[index].buffer.live_range().start => None,
            Some(_) => Some(LATER_USES_REASON.to_owned()),
            None => Some(
                reasons
                    .get(index)
                    .filter(|reason| !reason.is_empty())
                    .cloned()
                    .unwrap_or_else(|| NO_SAVING_REASON.to_owned()),
            ),
        };
        let reasons = intervals.iter().enumerate().map(reason).collect();
        Self { intervals, reasons, hbm_bytes }
    }
}

/// Reason in `place` of a value that is in LX for later uses only: its writer does not write LX.
const LATER_USES_REASON: &str = "it is copied to LX for later uses only";

/// Reason for a value that could be in LX only for its whole live range.
const UNSPLITTABLE_REASON: &str = "it fits in LX only for a part of its live range, which cannot be split";

/// Reason for a value that the planner put in LX without a saving.
const NO_SAVING_REASON: &str = "LX would save no traffic";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use scratchpad::Use;

    const CAPACITY: Capacity = Capacity { bytes: 128, alignment: 128 };

    fn build_buffer(bytes: i64, times: &[usize]) -> Buffer {
        let kind = |position| if position == 0 { UseKind::Write } else { UseKind::Read };
        let uses = times.iter().enumerate().map(|(position, &time)| Use { time, kind: kind(position) }).collect();
        Buffer::new(String::new(), bytes, uses)
    }

    /// Returns a value of one core: written first, then read.
    fn build_value(bytes: i64, times: &[usize], may_split: bool) -> ResidencyCandidate {
        ResidencyCandidate { buffer: build_buffer(bytes, times), device_bytes: bytes, may_split, hbm_reads: 0 }
    }

    fn build_input(bytes: i64, times: &[usize]) -> ResidencyCandidate {
        let uses = times.iter().map(|&time| Use { time, kind: UseKind::Read }).collect();
        ResidencyCandidate {
            buffer: Buffer { uses, starts_in_hbm: true, ..build_buffer(bytes, times) },
            device_bytes: bytes,
            may_split: true,
            hbm_reads: 0,
        }
    }

    fn plan_residency(candidates: &[ResidencyCandidate], capacity: &Capacity) -> ResidencyPlan {
        ResidencyPlan::plan_unsplit(candidates, capacity).improved_by_splitting(candidates, capacity)
    }

    fn interval_bounds(chosen: &ResidencyPlan, index: usize) -> Vec<(usize, usize)> {
        chosen.intervals[index].iter().map(|interval| (interval.start, interval.end)).collect()
    }

    #[test]
    fn splits_live_range_between_distant_uses() {
        // torch-spyre's pattern 4, simple eviction (torch-spyre facts, F.10), with more uses.
        let candidates = [build_value(128, &[0, 1, 2, 6, 7, 8], true), build_value(128, &[3, 4, 4, 5], true)];
        let chosen = plan_residency(&candidates, &CAPACITY);
        assert_eq!(interval_bounds(&chosen, 0), [(0, 3), (6, 9)]);
        assert_eq!(interval_bounds(&chosen, 1), [(3, 6)]);
        assert_eq!(chosen.hbm_bytes, 2 * 128, "one copy out, one in");
        assert!(candidates[0].needs_store(&chosen.intervals[0]) && !candidates[1].needs_store(&chosen.intervals[1]));
    }

    #[test]
    fn keeps_unsplittable_value_for_its_complete_live_range_or_not_at_all() {
        let candidates = [build_value(128, &[0, 1, 2, 6, 7, 8], false), build_value(128, &[3, 4, 4, 5], true)];
        let chosen = plan_residency(&candidates, &CAPACITY);
        assert_eq!(interval_bounds(&chosen, 0), [(0, 9)]);
        assert_eq!((interval_bounds(&chosen, 1), chosen.hbm_bytes), (Vec::new(), 4 * 128));
        assert!(
            chosen.reasons[1].as_deref().is_some_and(|reason| reason.starts_with("no gap of 128 bytes")),
            "{:?}",
            chosen.reasons
        );
    }

    #[test]
    fn loads_input_for_two_reads_but_not_for_one() {
        let candidates = [build_input(128, &[0, 1, 5]), build_value(128, &[2, 3, 4], true)];
        let chosen = plan_residency(&candidates, &CAPACITY);
        assert_eq!((interval_bounds(&chosen, 0), interval_bounds(&chosen, 1)), (vec![(0, 2)], vec![(2, 5)]));
        assert_eq!(chosen.hbm_bytes, 2 * 128, "a copy, and the last read");
    }

    #[test]
    fn writes_value_without_reads_in_lx_to_hbm() {
        let candidate = build_value(128, &[0, 3, 4], true);
        let interval = |start, end| LxInterval { buffer: 0, start, end, address: 0 };
        assert_eq!(candidate.select_worthwhile(&[interval(0, 1), interval(3, 5)]), [interval(3, 5)]);
        assert_eq!(
            candidate.select_worthwhile(&[interval(0, 4), interval(4, 5)]),
            [interval(0, 4)],
            "and is not fetched for one read"
        );
        assert_eq!(candidate.compute_hbm_bytes(&[interval(3, 5)]), 2 * 128, "the write, and the copy");
        assert_eq!(candidate.compute_hbm_bytes(&[interval(0, 4)]), 2 * 128, "a copy out, and the last read");
        assert_eq!(candidate.compute_hbm_bytes(&[interval(0, 5)]), 0);
    }

    #[test]
    fn stores_graph_result_once() {
        let result = build_value(128, &[0, 1, 2], true);
        let candidates =
            [ResidencyCandidate { buffer: Buffer { ends_in_hbm: true, ..result.buffer.clone() }, ..result }];
        let chosen = ResidencyPlan::plan_unsplit(&candidates, &CAPACITY);
        assert_eq!((interval_bounds(&chosen, 0), chosen.hbm_bytes), (vec![(0, 3)], 128));
        assert!(!chosen.has_unplaced_candidates(&candidates, &CAPACITY));
    }

    fn random_candidates() -> impl Strategy<Value = Vec<ResidencyCandidate>> {
        let times = proptest::collection::btree_set(0_usize..12, 2..6);
        let one = (1_i64..4, times, any::<bool>(), any::<bool>(), any::<bool>());
        let candidate = |(units, times, is_input, may_split, ends_in_hbm): (
            i64,
            std::collections::BTreeSet<usize>,
            bool,
            bool,
            bool,
        )| {
            let times: Vec<usize> = times.into_iter().collect();
            let made = build_value(units * 128, &times, may_split);
            let buffer = Buffer { ends_in_hbm: ends_in_hbm && may_split, ..made.buffer.clone() };
            if is_input { build_input(units * 128, &times) } else { ResidencyCandidate { buffer, ..made } }
        };
        proptest::collection::vec(one.prop_map(candidate), 1..8)
    }

    proptest! {
        #[test]
        fn split_stays_are_never_worse_and_never_overlap(candidates in random_candidates()) {
            let capacity = Capacity { bytes: 4 * 128, alignment: 128 };
            let whole = ResidencyPlan::plan_unsplit(&candidates, &capacity);
            let chosen = whole.clone().improved_by_splitting(&candidates, &capacity);
            prop_assert!(chosen.hbm_bytes <= whole.hbm_bytes);
            for (candidate, intervals) in candidates.iter().zip(&chosen.intervals) {
                prop_assert_eq!(&candidate.select_worthwhile(intervals), intervals);
            }
            let intervals: Vec<(LxInterval, i64)> =
                chosen.intervals.iter().flatten().map(|interval| (*interval, interval.address + candidates[interval.buffer].buffer.bytes)).collect();
            for (index, (one, end)) in intervals.iter().enumerate() {
                prop_assert!(*end <= capacity.bytes);
                for (other, other_end) in &intervals[index + 1..] {
                    let meet = one.start < other.end && other.start < one.end;
                    prop_assert!(!meet || *end <= other.address || *other_end <= one.address, "{one:?} {other:?}");
                }
            }
        }
    }
}
