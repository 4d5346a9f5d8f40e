//! Ends of the live ranges that `program.json` lists for a launch, in LX and in the pool.
//!
//! A live range belongs to the innermost loop that contains its first and its last op. So it ends, in every iteration
//! of that loop, after its last op or after the inner loop that contains this op.

use crate::load::address_program::{BundleProgram, Statement};
use sdsc_format::program::{LaunchEntry, Life};
use std::collections::BTreeMap;

/// Memory of a launch that successive values reuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScratchMemory {
    /// The LX of every core.
    Lx,
    /// The first pool.
    Pool,
}

/// Byte range whose live range has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExpiredRange {
    pub(crate) memory: ScratchMemory,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// Expiry schedule of a launch: the byte ranges whose live ranges end after each execute and each loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExpirySchedule {
    /// Ranges that end after an execute, by its number in the order of the text.
    after_ops: BTreeMap<usize, Vec<ExpiredRange>>,
    /// Ranges that end after a loop, by its number in the order of the text.
    after_loops: BTreeMap<usize, Vec<ExpiredRange>>,
    /// Live ranges in LX.
    lx: Vec<Life>,
}

/// Identifier of a live range in LX: its first byte and its first op.
pub(crate) type LiveRangeId = (i64, usize);

impl ExpirySchedule {
    /// Computes the expiry schedule of a launch.
    ///
    /// # Errors
    /// A live range has no bytes, or its first or last op does not exist.
    pub(crate) fn from_launch(entry: &LaunchEntry, bundle: &BundleProgram) -> Result<Self, String> {
        let mut loops = Vec::new();
        collect_enclosing_loops(&bundle.body, &mut Vec::new(), &mut 0, &mut loops);
        let mut deaths = Self { lx: entry.lx.clone(), ..Self::default() };
        for (memory, live_ranges) in [(ScratchMemory::Lx, &entry.lx), (ScratchMemory::Pool, &entry.pool)] {
            let mut born: BTreeMap<usize, Vec<&Life>> = BTreeMap::new();
            for live_range in live_ranges {
                let (has_ops, has_bytes) = (
                    live_range.first_op <= live_range.last_op && live_range.last_op < loops.len(),
                    live_range.offset >= 0 && live_range.bytes > 0,
                );
                if !has_ops || !has_bytes || live_range.offset.checked_add(live_range.bytes).is_none() {
                    let (first, last, n_ops) = (live_range.first_op, live_range.last_op, loops.len());
                    return Err(format!(
                        "a live range of {} bytes from op {first} to op {last}, of {n_ops} ops",
                        live_range.bytes
                    ));
                }
                born.entry(live_range.first_op).or_default().push(live_range);
            }
            for live_range in live_ranges {
                let (first, last) = (&loops[live_range.first_op], &loops[live_range.last_op]);
                let num_shared = first.iter().zip(last).take_while(|(first, last)| first == last).count();
                match last.get(num_shared) {
                    Some(inner) => {
                        deaths.after_loops.entry(*inner).or_default().push(make_expired_range(memory, live_range))
                    }
                    None => {
                        // An in-place result extends the live range.
                        let heirs = born
                            .get(&live_range.last_op)
                            .into_iter()
                            .flatten()
                            .filter(|heir| heir.last_op > live_range.last_op);
                        let left = heirs.fold(vec![make_expired_range(memory, live_range)], |left, heir| {
                            subtract_range(&left, &make_expired_range(memory, heir))
                        });
                        deaths.after_ops.entry(live_range.last_op).or_default().extend(left);
                    }
                }
            }
        }
        Ok(deaths)
    }

    /// Returns the live range in LX that execute `number` writes at this byte: one that begins with the execute, or
    /// else one that has begun before.
    pub(crate) fn find_written_range(&self, number: usize, byte: i64) -> Option<LiveRangeId> {
        let has = |live_range: &&Life| {
            (live_range.first_op..=live_range.last_op).contains(&number)
                && (live_range.offset..live_range.offset + live_range.bytes).contains(&byte)
        };
        let written = self.lx.iter().filter(has).max_by_key(|live_range| live_range.first_op);
        written.map(|live_range| (live_range.offset, live_range.first_op))
    }

    /// Returns the byte ranges whose live ranges end after an execute.
    pub(crate) fn ranges_ending_after_op(&self, number: usize) -> &[ExpiredRange] {
        self.after_ops.get(&number).map_or(&[], Vec::as_slice)
    }

    /// Returns the byte ranges whose live ranges end after a loop.
    pub(crate) fn ranges_ending_after_loop(&self, number: usize) -> &[ExpiredRange] {
        self.after_loops.get(&number).map_or(&[], Vec::as_slice)
    }
}

/// Collects for each execute the numbers of the enclosing loops, outermost first.
fn collect_enclosing_loops(body: &[Statement], around: &mut Vec<usize>, next: &mut usize, loops: &mut Vec<Vec<usize>>) {
    for statement in body {
        match statement {
            Statement::Execute { .. } => loops.push(around.clone()),
            Statement::For { body, .. } => {
                around.push(*next);
                *next += 1;
                collect_enclosing_loops(body, around, next, loops);
                around.pop();
            }
            Statement::Define { .. } => {}
        }
    }
}

const fn make_expired_range(memory: ScratchMemory, live_range: &Life) -> ExpiredRange {
    ExpiredRange { memory, start: live_range.offset, end: live_range.offset + live_range.bytes }
}

/// Subtracts the range `taken` from `bytes`.
fn subtract_range(bytes: &[ExpiredRange], taken: &ExpiredRange) -> Vec<ExpiredRange> {
    let of = |one: &ExpiredRange| {
        let (front, back) = (
            ExpiredRange { end: one.end.min(taken.start), ..*one },
            ExpiredRange { start: one.start.max(taken.end), ..*one },
        );
        [front, back].into_iter().filter(|part| part.start < part.end)
    };
    bytes.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::address_program::parse;

    /// Parses a bundle of an op, a loop of two ops, and an op.
    fn parse_sample_bundle() -> BundleProgram {
        let execute = |number: usize| {
            format!("sdscbundle.sdsc_execute () {{sdsc_filename=\"sdsc_{number}.json\", \"symbol_ids\"=[]}}\n")
        };
        let text = format!(
            "module {{\nfunc.func @sdsc_bundle() {{\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n{}scf.for %i_0 = %c0 to %c1 step \
             %c1 {{\n{}{}}}\n{}return\n}}\n}}\n",
            execute(0),
            execute(1),
            execute(2),
            execute(3)
        );
        parse(&text).unwrap()
    }

    fn build_schedule(live_ranges: &[(i64, i64, usize, usize)]) -> Result<ExpirySchedule, String> {
        let live_range =
            |&(offset, bytes, first_op, last_op): &(i64, i64, usize, usize)| Life { offset, bytes, first_op, last_op };
        ExpirySchedule::from_launch(
            &LaunchEntry { lx: live_ranges.iter().map(live_range).collect(), ..LaunchEntry::default() },
            &parse_sample_bundle(),
        )
    }

    fn lx_range(start: i64, end: i64) -> ExpiredRange {
        ExpiredRange { memory: ScratchMemory::Lx, start, end }
    }

    #[test]
    fn ends_live_range_after_last_op_or_outermost_foreign_loop() {
        let found = build_schedule(&[(0, 128, 0, 2), (128, 128, 1, 2), (256, 128, 2, 3)]).unwrap();
        assert_eq!(
            (found.ranges_ending_after_loop(0), found.ranges_ending_after_op(2), found.ranges_ending_after_op(3)),
            (&[lx_range(0, 128)][..], &[lx_range(128, 256)][..], &[lx_range(256, 384)][..])
        );
        assert_eq!(found.ranges_ending_after_op(0), []);
    }

    #[test]
    fn extends_live_range_of_in_place_result() {
        let found = build_schedule(&[(0, 384, 1, 2), (128, 128, 2, 3)]).unwrap();
        assert_eq!(found.ranges_ending_after_op(2), [lx_range(0, 128), lx_range(256, 384)]);
    }

    #[test]
    fn finds_live_range_that_op_writes() {
        let found = build_schedule(&[(0, 384, 0, 2), (0, 256, 2, 3), (512, 128, 0, 0)]).unwrap();
        let written = [(0, 0), (1, 128), (2, 128), (2, 256), (3, 0), (3, 256), (1, 512), (0, 384)]
            .map(|(op, byte)| found.find_written_range(op, byte));
        assert_eq!(written, [Some((0, 0)), Some((0, 0)), Some((0, 2)), Some((0, 0)), Some((0, 2)), None, None, None]);
    }

    #[test]
    fn rejects_live_range_without_ops_or_bytes() {
        for live_range in [(0, 128, 2, 1), (0, 128, 0, 4), (0, 0, 0, 1), (-128, 128, 0, 1), (i64::MAX, 128, 0, 1)] {
            assert!(build_schedule(&[live_range]).is_err(), "{live_range:?}");
        }
    }
}
