//! Places buffers shared by launches in one HBM region, whose bytes are reused once a buffer is dead.

use machine::STICK_BYTES;
use scratchpad::{Buffer, Capacity, FirstFitPlanner, Planner, Use, UseKind};

/// Buffer that one launch writes and a later one reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedBuffer {
    /// Size in bytes.
    pub bytes: i64,
    /// First and last launch that use the buffer.
    pub live_range: [usize; 2],
}

/// Returns the byte offset of each buffer in the region; `None` for one that does not fit in `region_bytes`.
///
/// Uses the LX planner, with launch numbers as time. Buffers of one launch never share bytes, as it may write one
/// before it has read the other.
#[must_use]
pub fn place_shared_buffers(buffers: &[SharedBuffer], region_bytes: i64) -> Vec<Option<i64>> {
    let planned: Vec<Buffer> = buffers.iter().map(to_planned_buffer).collect();
    FirstFitPlanner.plan(&planned, &Capacity { bytes: region_bytes, alignment: STICK_BYTES }).addresses
}

fn to_planned_buffer(buffer: &SharedBuffer) -> Buffer {
    let [first, last] = buffer.live_range;
    let uses = vec![Use { time: first, kind: UseKind::Write }, Use { time: last, kind: UseKind::Read }];
    Buffer {
        name: String::new(),
        bytes: buffer.bytes,
        uses,
        in_place_parents: Vec::new(),
        starts_in_hbm: false,
        ends_in_hbm: false,
        barred: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn buffer(bytes: i64, live_range: [usize; 2]) -> SharedBuffer {
        SharedBuffer { bytes, live_range }
    }

    #[test]
    fn reuses_bytes_of_dead_buffer() {
        let buffers = [buffer(8192, [0, 1]), buffer(4096, [1, 2]), buffer(8192, [2, 3]), buffer(4096, [3, 4])];
        assert_eq!(place_shared_buffers(&buffers, 12288), [Some(0), Some(8192), Some(0), Some(8192)]);
    }

    #[test]
    fn separates_buffers_of_one_launch() {
        assert_eq!(place_shared_buffers(&[buffer(256, [0, 1]), buffer(256, [1, 2])], 1024), [Some(0), Some(256)]);
    }

    #[test]
    fn rejects_buffer_in_full_region() {
        assert_eq!(place_shared_buffers(&[buffer(256, [0, 1]), buffer(256, [1, 2])], 384), [Some(0), None]);
    }

    proptest! {
        #[test]
        fn keeps_live_buffers_disjoint(live_ranges in prop::collection::vec((1i64..2000, 0usize..8, 0usize..8), 1..20)) {
            let buffers: Vec<_> = live_ranges.iter().map(|&(bytes, a, b)| buffer(bytes, [a.min(b), a.max(b)])).collect();
            let offsets: Vec<i64> = place_shared_buffers(&buffers, i64::MAX / 2).into_iter().map(Option::unwrap).collect();
            for second in 0..buffers.len() {
                for first in 0..second {
                    let (one, other) = (&buffers[first], &buffers[second]);
                    let live_together = one.live_range[0] <= other.live_range[1] && other.live_range[0] <= one.live_range[1];
                    let share_bytes = offsets[first] < offsets[second] + other.bytes && offsets[second] < offsets[first] + one.bytes;
                    prop_assert!(!(live_together && share_bytes), "{one:?} at {} and {other:?} at {}", offsets[first], offsets[second]);
                    prop_assert_eq!(offsets[second] % STICK_BYTES, 0);
                }
            }
        }
    }
}
