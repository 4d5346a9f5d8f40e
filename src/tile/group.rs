//! Runs of ops that share their hints.

use std::ops::Range;

/// A maximal run of consecutive ops with the same hints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group<Hint> {
    /// The positions of the ops.
    pub ops: Range<usize>,
    /// Their hints, outermost first.
    pub hints: Vec<Hint>,
}

/// The groups among ops with the given hints; an op without hints is in none and ends one (torch-spyre, `hints_to_coarse_tile_groups`).
#[must_use]
pub fn groups<Hint: Clone + PartialEq>(hints: &[Vec<Hint>]) -> Vec<Group<Hint>> {
    let mut found: Vec<Group<Hint>> = Vec::new();
    for (position, of_op) in hints.iter().enumerate().filter(|(_, of_op)| !of_op.is_empty()) {
        match found.last_mut() {
            Some(group) if group.ops.end == position && group.hints == *of_op => group.ops.end += 1,
            _ => found.push(Group { ops: position..position + 1, hints: of_op.clone() }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_hints_in_a_row_are_one_group() {
        let hints = [vec![0, 1], vec![0, 1], vec![], vec![0, 1], vec![2]];
        let expected =
            [Group { ops: 0..2, hints: vec![0, 1] }, Group { ops: 3..4, hints: vec![0, 1] }, Group { ops: 4..5, hints: vec![2] }];
        assert_eq!(groups(&hints), expected);
    }

    #[test]
    fn without_hints_there_is_no_group() {
        assert_eq!(groups::<u8>(&[vec![], vec![]]), []);
    }
}
