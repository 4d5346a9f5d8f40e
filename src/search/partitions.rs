//! Partitioning of a long program; partitions are searched separately.

use super::SearchedOp;
use std::ops::Range;

/// Maximum number of ops of a partition.
const MAX_PARTITION_OPS: usize = 64;

/// Partitions a program. Each partition ends where the fewest bytes cross, in the second half of its admissible range,
/// so that equal layers are partitioned equally after the first few.
#[must_use]
pub fn partition_program(ops: &[SearchedOp]) -> Vec<Range<usize>> {
    let crossing = compute_crossing_bytes(ops);
    let mut found = Vec::new();
    let mut first = 0;
    while ops.len() - first > MAX_PARTITION_OPS {
        let ends = (first + MAX_PARTITION_OPS / 2..=first + MAX_PARTITION_OPS).rev();
        let Some(end) = ends.min_by_key(|&end| crossing[end]) else { break };
        found.push(first..end);
        first = end;
    }
    found.push(first..ops.len());
    found
}

/// Returns the bytes of results that are defined before each op, and read by it or later.
fn compute_crossing_bytes(ops: &[SearchedOp]) -> Vec<i64> {
    let mut change = vec![0; ops.len() + 2];
    for (position, op) in ops.iter().enumerate() {
        if let Some(&last) = op.readers.iter().max() {
            change[position + 1] += op.result_bytes();
            change[last + 1] -= op.result_bytes();
        }
    }
    let mut bytes = 0;
    change
        .into_iter()
        .map(|change| {
            bytes += change;
            bytes
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::pointwise;

    /// Returns a chain of layers of `n` ops, each of which passes on a small value at its end.
    fn layer_chain(n_layers: usize, n: usize) -> Vec<SearchedOp> {
        let n_ops = n_layers * n;
        let op = |position: usize| {
            let rows = if position % n == n - 1 { 64 } else { 1024 };
            let readers = if position + 1 < n_ops { vec![position + 1] } else { vec![] };
            SearchedOp { readers, ..pointwise(&[rows, 64], position.checked_sub(1)) }
        };
        (0..n_ops).map(op).collect()
    }

    #[test]
    fn keeps_short_program_unpartitioned() {
        assert_eq!(partition_program(&layer_chain(4, 16)).iter().map(Range::len).collect::<Vec<_>>(), [64]);
        assert_eq!(partition_program(&[]).iter().map(Range::len).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn partitions_equal_layers_equally() {
        let found = partition_program(&layer_chain(40, 57));
        assert_eq!(found.iter().map(Range::len).max(), Some(57));
        assert!(found.iter().all(|part| part.start % 57 == 0), "{found:?}");
        assert_eq!(found.last().map(|part| part.end), Some(40 * 57));
    }

    #[test]
    fn bounds_number_of_ops_in_a_partition() {
        for n_ops in 60..300 {
            let found = partition_program(&layer_chain(1, n_ops));
            assert!(
                found
                    .iter()
                    .all(|part| (MAX_PARTITION_OPS / 2..=MAX_PARTITION_OPS).contains(&part.len()) || part.end == n_ops),
                "{found:?}"
            );
        }
    }
}
