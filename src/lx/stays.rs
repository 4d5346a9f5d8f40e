//! Residency intervals that a compiler emits: those of the exact planner that save HBM bytes.
//!
//! A plan of whole live ranges comes first. If it leaves eligible buffers in HBM, a plan with split live ranges may replace it, provided
//! that it moves fewer bytes on all cores: the result is never worse.

use scratchpad::{Barred, Buffer, Capacity, Exact, Placement, StayInLx, Stays, UseKind};

/// Buffer that may be in LX, with the properties that a compiler needs.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Buffer as the planner sees it.
    pub(super) buffer: Buffer,
    /// Bytes of the buffer on all cores.
    pub(super) device_bytes: i64,
    /// Whether a compiler can emit copies between LX and HBM at every use of the buffer. If not, the buffer is in LX
    /// for its whole live range or not at all.
    pub(super) may_split: bool,
}

/// Maximum number of plans with split live ranges. Each new plan excludes the buffers that the previous one split
/// although they may not be split.
const MOST_PLANS: usize = 4;

/// Residency intervals of each candidate, by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Intervals, by candidate.
    pub(super) stays: Vec<Vec<StayInLx>>,
    /// Why a candidate has no interval from its first use on; `None` if it has one.
    pub(super) reasons: Vec<Option<String>>,
    /// HBM bytes on all cores.
    pub(super) hbm_bytes: i64,
}

impl Candidate {
    /// Returns the residency intervals worth emitting. A buffer that may not be split keeps only an interval that
    /// covers its whole live range; other buffers keep the intervals that save traffic. An interval that starts with a
    /// load from HBM for a single read, or that ends with a store to HBM without a read, saves nothing.
    fn worth(&self, stays: &[StayInLx]) -> Vec<StayInLx> {
        let life = self.buffer.life();
        if !self.may_split {
            let is_whole = matches!(stays, [stay] if stay.start == life.start && stay.end == life.end);
            return if is_whole { stays.to_vec() } else { Vec::new() };
        }
        let saves = |stay: &&StayInLx| self.n_reads(stay) > usize::from(!self.begins_with_write(stay));
        stays.iter().filter(saves).copied().collect()
    }

    /// Returns whether the value is written to LX in a residency interval.
    pub(super) fn begins_with_write(&self, stay: &StayInLx) -> bool {
        self.buffer.uses.iter().any(|one| one.kind == UseKind::Write && one.time == stay.start)
    }

    /// Returns whether a value that is written to LX is also needed in HBM: as an output, for a later interval, or for a read outside all
    /// intervals.
    pub(super) fn leaves_lx(&self, stays: &[StayInLx]) -> bool {
        let is_outside = |time: usize| !stays.iter().any(|stay| (stay.start..stay.end).contains(&time));
        self.buffer.ends_in_hbm || stays.len() > 1 || self.buffer.uses.iter().any(|one| is_outside(one.time))
    }

    fn n_reads(&self, stay: &StayInLx) -> usize {
        let is_read_in = |time: usize| (stay.start..stay.end).contains(&time);
        self.buffer.uses.iter().filter(|one| one.kind == UseKind::Read && is_read_in(one.time)).count()
    }

    /// Returns the HBM bytes on all cores under these intervals.
    fn hbm_bytes(&self, stays: &[StayInLx]) -> i64 {
        let begins_in_lx = stays.first().is_some_and(|stay| self.begins_with_write(stay));
        let in_lx = |time: usize| stays.iter().any(|stay| (stay.start..stay.end).contains(&time));
        let n_served = self.buffer.uses.iter().filter(|one| !in_lx(one.time)).count();
        let n_in = stays.len() - usize::from(begins_in_lx);
        let n_out = usize::from(begins_in_lx && self.leaves_lx(stays));
        self.device_bytes * i64::try_from(n_served + n_in + n_out).expect("fewer than 2^63")
    }

    fn fits(&self, capacity: &Capacity) -> bool {
        self.buffer.barred.is_none() && self.buffer.bytes <= capacity.bytes
    }
}

impl Chosen {
    /// Returns the best plan of whole live ranges.
    pub(super) fn whole(candidates: &[Candidate], capacity: &Capacity) -> Self {
        let buffers: Vec<Buffer> = candidates.iter().map(|candidate| candidate.buffer.clone()).collect();
        let plan = Exact::to_compare(buffers.len()).solve(&buffers, capacity);
        let mut chosen = Self::of(candidates, &plan.stays, &[]);
        let addresses = chosen.stays.iter().map(|stays| stays.first().map(|stay| stay.address)).collect();
        let explained = Placement::explained(&buffers, capacity, addresses);
        chosen.reasons = explained.reasons.iter().map(|reason| reason.as_ref().map(ToString::to_string)).collect();
        chosen
    }

    /// Returns whether an eligible buffer is not in LX for its whole live range.
    pub(super) fn leaves_some_in_hbm(&self, candidates: &[Candidate], capacity: &Capacity) -> bool {
        candidates.iter().zip(&self.stays).any(|(candidate, stays)| stays.is_empty() && candidate.fits(capacity))
    }

    /// Returns a plan with split live ranges if it moves fewer HBM bytes than this plan, else this plan.
    pub(super) fn or_split(self, candidates: &[Candidate], capacity: &Capacity) -> Self {
        let mut best = self;
        let mut buffers: Vec<Buffer> = candidates.iter().map(|candidate| candidate.buffer.clone()).collect();
        for _ in 0..MOST_PLANS {
            let plan = Exact::of_compilation(Stays::Split, buffers.len()).solve(&buffers, capacity);
            let reasons: Vec<String> = plan.reasons.iter().map(|reason| reason.clone().unwrap_or_default()).collect();
            let chosen = Self::of(candidates, &plan.stays, &reasons);
            let is_broken = |index: usize| !candidates[index].may_split && chosen.stays[index].is_empty();
            let broken: Vec<usize> = plan.stays.iter().map(|stay| stay.buffer).filter(|&index| is_broken(index)).collect();
            if chosen.hbm_bytes < best.hbm_bytes {
                best = chosen;
            }
            if broken.is_empty() {
                break;
            }
            for index in broken {
                buffers[index].barred = Some(Barred(WHOLE_ONLY.to_owned()));
            }
        }
        best
    }

    /// Builds the residency plan to emit from the planned intervals. `reasons` are the planner's reasons, one per
    /// candidate.
    fn of(candidates: &[Candidate], planned: &[StayInLx], reasons: &[String]) -> Self {
        let mut stays: Vec<Vec<StayInLx>> = vec![Vec::new(); candidates.len()];
        planned.iter().for_each(|&stay| stays[stay.buffer].push(stay));
        for (candidate, stays) in candidates.iter().zip(&mut stays) {
            *stays = candidate.worth(stays);
        }
        let hbm_bytes = candidates.iter().zip(&stays).map(|(candidate, stays)| candidate.hbm_bytes(stays)).sum();
        let reason = |(index, stays): (usize, &Vec<StayInLx>)| match stays.first() {
            Some(stay) if stay.start == candidates[index].buffer.life().start => None,
            Some(_) => Some(COMES_LATER.to_owned()),
            None => Some(reasons.get(index).filter(|reason| !reason.is_empty()).cloned().unwrap_or_else(|| SAVES_NOTHING.to_owned())),
        };
        let reasons = stays.iter().enumerate().map(reason).collect();
        Self { stays, reasons, hbm_bytes }
    }
}

/// Reason in `place` of a value that is in LX for later uses only: its writer does not write LX.
const COMES_LATER: &str = "it is copied to LX for later uses only";

/// Reason for a value that could be in LX only for its whole live range.
const WHOLE_ONLY: &str = "it fits in LX only for a part of its live range, which cannot be split";

/// Reason for a value that the planner put in LX without a saving.
const SAVES_NOTHING: &str = "LX would save no traffic";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use scratchpad::Use;

    const CAPACITY: Capacity = Capacity { bytes: 128, alignment: 128 };

    fn buffer(bytes: i64, times: &[usize]) -> Buffer {
        let kind = |position| if position == 0 { UseKind::Write } else { UseKind::Read };
        let uses = times.iter().enumerate().map(|(position, &time)| Use { time, kind: kind(position) }).collect();
        Buffer::new(String::new(), bytes, uses)
    }

    /// Returns a value of one core: written first, then read.
    fn value(bytes: i64, times: &[usize], may_split: bool) -> Candidate {
        Candidate { buffer: buffer(bytes, times), device_bytes: bytes, may_split }
    }

    fn input(bytes: i64, times: &[usize]) -> Candidate {
        let uses = times.iter().map(|&time| Use { time, kind: UseKind::Read }).collect();
        Candidate { buffer: Buffer { uses, starts_in_hbm: true, ..buffer(bytes, times) }, device_bytes: bytes, may_split: true }
    }

    fn chosen(candidates: &[Candidate], capacity: &Capacity) -> Chosen {
        Chosen::whole(candidates, capacity).or_split(candidates, capacity)
    }

    fn lives(chosen: &Chosen, index: usize) -> Vec<(usize, usize)> {
        chosen.stays[index].iter().map(|stay| (stay.start, stay.end)).collect()
    }

    #[test]
    fn far_uses_are_two_stays_of_one_value() {
        // torch-spyre's pattern 4, simple eviction (torch-spyre facts, F.10), with more uses.
        let candidates = [value(128, &[0, 1, 2, 6, 7, 8], true), value(128, &[3, 4, 4, 5], true)];
        let chosen = chosen(&candidates, &CAPACITY);
        assert_eq!(lives(&chosen, 0), [(0, 3), (6, 9)]);
        assert_eq!(lives(&chosen, 1), [(3, 6)]);
        assert_eq!(chosen.hbm_bytes, 2 * 128, "one copy out, one in");
        assert!(candidates[0].leaves_lx(&chosen.stays[0]) && !candidates[1].leaves_lx(&chosen.stays[1]));
    }

    #[test]
    fn what_may_not_leave_is_whole_or_not_there() {
        let candidates = [value(128, &[0, 1, 2, 6, 7, 8], false), value(128, &[3, 4, 4, 5], true)];
        let chosen = chosen(&candidates, &CAPACITY);
        assert_eq!(lives(&chosen, 0), [(0, 9)]);
        assert_eq!((lives(&chosen, 1), chosen.hbm_bytes), (Vec::new(), 4 * 128));
        assert!(chosen.reasons[1].as_deref().is_some_and(|reason| reason.starts_with("no gap of 128 bytes")), "{:?}", chosen.reasons);
    }

    #[test]
    fn an_input_comes_for_two_reads_and_not_for_one() {
        let candidates = [input(128, &[0, 1, 5]), value(128, &[2, 3, 4], true)];
        let chosen = chosen(&candidates, &CAPACITY);
        assert_eq!((lives(&chosen, 0), lives(&chosen, 1)), (vec![(0, 2)], vec![(2, 5)]));
        assert_eq!(chosen.hbm_bytes, 2 * 128, "a copy, and the last read");
    }

    #[test]
    fn a_value_that_leaves_unread_is_written_to_hbm() {
        let candidate = value(128, &[0, 3, 4], true);
        let stay = |start, end| StayInLx { buffer: 0, start, end, address: 0 };
        assert_eq!(candidate.worth(&[stay(0, 1), stay(3, 5)]), [stay(3, 5)]);
        assert_eq!(candidate.worth(&[stay(0, 4), stay(4, 5)]), [stay(0, 4)], "and is not fetched for one read");
        assert_eq!(candidate.hbm_bytes(&[stay(3, 5)]), 2 * 128, "the write, and the copy");
        assert_eq!(candidate.hbm_bytes(&[stay(0, 4)]), 2 * 128, "a copy out, and the last read");
        assert_eq!(candidate.hbm_bytes(&[stay(0, 5)]), 0);
    }

    #[test]
    fn a_result_of_the_graph_leaves_once() {
        let result = value(128, &[0, 1, 2], true);
        let candidates = [Candidate { buffer: Buffer { ends_in_hbm: true, ..result.buffer.clone() }, ..result }];
        let chosen = Chosen::whole(&candidates, &CAPACITY);
        assert_eq!((lives(&chosen, 0), chosen.hbm_bytes), (vec![(0, 3)], 128));
        assert!(!chosen.leaves_some_in_hbm(&candidates, &CAPACITY));
    }

    fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
        let times = proptest::collection::btree_set(0_usize..12, 2..6);
        let one = (1_i64..4, times, any::<bool>(), any::<bool>(), any::<bool>());
        let candidate = |(units, times, is_input, may_split, ends_in_hbm): (i64, std::collections::BTreeSet<usize>, bool, bool, bool)| {
            let times: Vec<usize> = times.into_iter().collect();
            let made = value(units * 128, &times, may_split);
            let buffer = Buffer { ends_in_hbm: ends_in_hbm && may_split, ..made.buffer.clone() };
            if is_input { input(units * 128, &times) } else { Candidate { buffer, ..made } }
        };
        proptest::collection::vec(one.prop_map(candidate), 1..8)
    }

    proptest! {
        #[test]
        fn split_stays_are_never_worse_and_never_overlap(candidates in candidates()) {
            let capacity = Capacity { bytes: 4 * 128, alignment: 128 };
            let whole = Chosen::whole(&candidates, &capacity);
            let chosen = whole.clone().or_split(&candidates, &capacity);
            prop_assert!(chosen.hbm_bytes <= whole.hbm_bytes);
            for (candidate, stays) in candidates.iter().zip(&chosen.stays) {
                prop_assert_eq!(&candidate.worth(stays), stays);
            }
            let stays: Vec<(StayInLx, i64)> =
                chosen.stays.iter().flatten().map(|stay| (*stay, stay.address + candidates[stay.buffer].buffer.bytes)).collect();
            for (index, (one, end)) in stays.iter().enumerate() {
                prop_assert!(*end <= capacity.bytes);
                for (other, other_end) in &stays[index + 1..] {
                    let meet = one.start < other.end && other.start < one.end;
                    prop_assert!(!meet || *end <= other.address || *other_end <= one.address, "{one:?} {other:?}");
                }
            }
        }
    }
}
