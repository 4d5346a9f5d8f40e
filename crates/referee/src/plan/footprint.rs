//! Byte footprint of one core's slice of a tensor.

use super::HOLE;
use super::StickLanes;
use machine::DeviceFormat;

/// Byte interval relative to a start address: first byte and the byte after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ByteInterval {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// Maximum number of intervals of one tensor. Actual tensors have thousands.
const MAX_INTERVALS: usize = 1 << 24;

/// Returns the byte intervals of a tensor that a core reads and writes; `None` if there are too many. A sparse tensor
/// has one element in each stick: reads cover only these elements, writes cover complete sticks.
pub(super) fn compute_footprints(
    offsets: &[Vec<i64>],
    format: DeviceFormat,
    lanes: &[StickLanes],
    is_sparse: bool,
) -> Option<(Vec<ByteInterval>, Vec<ByteInterval>)> {
    let width = format.bits();
    let lanes = if is_sparse { &[][..] } else { lanes };
    let written = if is_sparse { width * format.elements_per_stick() } else { width };
    let read = to_bytes(compute_footprint(offsets, width, width, lanes)?);
    Some((read, to_bytes(compute_footprint(offsets, width, written, lanes)?)))
}

/// Converts intervals of bits to the bytes that they touch.
fn to_bytes(bits: Vec<ByteInterval>) -> Vec<ByteInterval> {
    let bytes = |bits: ByteInterval| ByteInterval { start: bits.start / 8, end: (bits.end + 7) / 8 };
    merge_adjacent(bits.into_iter().map(bytes).collect())
}

/// Returns the union of `unit` bits at every sum of one offset per table, as sorted disjoint intervals. An offset counts
/// elements of `width` bits.
///
/// `lanes` has the elements of a stick along the dimensions that the tensor has. Returns `None` if there are too many
/// intervals.
fn compute_footprint(offsets: &[Vec<i64>], width: i64, unit: i64, lanes: &[StickLanes]) -> Option<Vec<ByteInterval>> {
    let mut factors: Vec<Vec<i64>> = Vec::new();
    for (dim, table) in offsets.iter().enumerate() {
        match lanes.iter().find(|lanes| lanes.dim == dim && has_whole_sticks(table, **lanes)) {
            // Lanes and sticks are separate factors, so that lanes are first merged to complete sticks.
            Some(lanes) => {
                factors.push(table[..lanes.elements].to_vec());
                factors.push(table.iter().step_by(lanes.elements).copied().collect());
            }
            None => factors.push(table.iter().copied().filter(|offset| *offset != HOLE).collect()),
        }
    }
    factors.iter_mut().for_each(|factor| {
        factor.sort_unstable();
        factor.dedup();
    });
    if factors.iter().any(Vec::is_empty) {
        return Some(Vec::new());
    }
    // Small strides first: adjacent bytes are merged before they are repeated.
    factors.sort_by_key(|factor| factor.get(1).map_or(0, |second| second - factor[0]));
    let mut intervals = vec![ByteInterval { start: 0, end: unit }];
    for factor in factors.iter().filter(|factor| **factor != [0]) {
        if intervals.len().checked_mul(factor.len()).is_none_or(|count| count > MAX_INTERVALS) {
            return None;
        }
        intervals = repeat_intervals(&intervals, factor, width);
    }
    Some(intervals)
}

/// Returns whether a table along a dimension of the stick consists of complete sticks.
fn has_whole_sticks(table: &[i64], lanes: StickLanes) -> bool {
    table.len().is_multiple_of(lanes.elements)
        && table.last() != Some(&HOLE)
        && table[lanes.elements - 1] - table[0] == lanes.last
}

fn repeat_intervals(intervals: &[ByteInterval], offsets: &[i64], width: i64) -> Vec<ByteInterval> {
    let shifted = offsets.iter().flat_map(|offset| {
        let bytes = offset * width;
        intervals.iter().map(move |interval| ByteInterval { start: interval.start + bytes, end: interval.end + bytes })
    });
    let mut all: Vec<ByteInterval> = Vec::new();
    let mut in_order = true;
    for next in shifted {
        match all.last_mut() {
            Some(last) if in_order && next.start <= last.end && next.start >= last.start => {
                last.end = last.end.max(next.end)
            }
            last => {
                in_order &= last.is_none_or(|last| next.start > last.end);
                all.push(next);
            }
        }
    }
    if in_order { all } else { merge_adjacent(all) }
}

/// Sorts intervals, and merges adjacent ones.
fn merge_adjacent(mut intervals: Vec<ByteInterval>) -> Vec<ByteInterval> {
    intervals.sort_unstable();
    let mut all: Vec<ByteInterval> = Vec::new();
    for next in intervals {
        match all.last_mut() {
            Some(last) if next.start <= last.end => last.end = last.end.max(next.end),
            _ => all.push(next),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn merges_adjacent_intervals() {
        // Two columns of sticks, 4 of 8 rows, 64 lanes.
        let out: Vec<i64> = (0..128).map(|c| c / 64 * 512 + c % 64).collect();
        let rows: Vec<i64> = (0..4).map(|row| row * 64).collect();
        let found = compute_footprint(&[rows, out], 2, 2, &[StickLanes { dim: 1, elements: 64, last: 63 }]).unwrap();
        assert_eq!(found, [ByteInterval { start: 0, end: 512 }, ByteInterval { start: 1024, end: 1536 }]);
    }

    #[test]
    fn rounds_half_bytes_outwards() {
        // Three columns of two rows, 8 elements apart, of 4 bits.
        let lanes = [StickLanes { dim: 1, elements: 64, last: 63 }];
        let (read, _) = compute_footprints(&[vec![0, 8], vec![0, 1, 2]], DeviceFormat::SenInt4, &lanes, false).unwrap();
        assert_eq!(read, [ByteInterval { start: 0, end: 2 }, ByteInterval { start: 4, end: 6 }]);
    }

    proptest! {
        #[test]
        fn covers_each_byte_exactly_once(
            tables in prop::collection::vec(prop::collection::vec(0i64..40, 1..5), 1..4), width in 1i64..4, unit in 1i64..6
        ) {
            let mut bytes = vec![0];
            for table in &tables {
                bytes = table.iter().flat_map(|offset| bytes.iter().map(move |byte| byte + offset * width)).collect();
            }
            let mut expected: Vec<i64> = bytes.iter().flat_map(|byte| *byte..byte + unit).collect();
            expected.sort_unstable();
            expected.dedup();
            let found: Vec<i64> = compute_footprint(&tables, width, unit, &[]).unwrap().iter().flat_map(|i| i.start..i.end).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
