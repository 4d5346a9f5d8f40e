//! Which ops are a kernel of their own where the program says nothing.
//!
//! A product is one. Reductions are, with the elementwise ops between them and behind them that read what they read as well: the maximum, the
//! difference, the exponential, the sum and the quotient of a softmax need the same rows, and so do the square, the sum and the product
//! of a normalisation.

use std::collections::BTreeSet;

/// An op of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupOp {
    /// Whether it is a product.
    pub is_product: bool,
    /// Whether it is a reduction.
    pub is_reduction: bool,
    /// Whether it does the same to each element.
    pub is_elementwise: bool,
    /// The ops that it reads, at once or through views, by number.
    pub reads: Vec<usize>,
}

/// The groups, each with its ops in order; an op is in one group at the most. What a group reads from outside stands in front of the first op
/// outside that depends on it, so that the group can stand there as one op.
#[must_use]
pub fn groups(ops: &[GroupOp]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = (0..ops.len()).filter(|&op| ops[op].is_product).map(|product| vec![product]).collect();
    let mut taken: BTreeSet<usize> = found.iter().flatten().copied().collect();
    for first in 0..ops.len() {
        if ops[first].is_reduction && !taken.contains(&first) {
            let group = grown(ops, first, &taken);
            taken.extend(&group);
            found.push(group.into_iter().collect());
        }
    }
    found.sort_by_key(|group| group[0]);
    found
}

/// Returns the group of the reduction `first`: later elementwise ops and reductions that read a member of the group.
/// All other operands of such an op must precede the first op outside the group that depends on it.
fn grown(ops: &[GroupOp], first: usize, taken: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut group = BTreeSet::from([first]);
    let mut first_behind = ops.len();
    for (op, described) in ops.iter().enumerate().skip(first + 1) {
        let is_member = |read: &usize| group.contains(read);
        if !described.reads.iter().any(is_member) {
            continue;
        }
        let may_join = (described.is_elementwise || described.is_reduction) && !taken.contains(&op);
        if may_join && described.reads.iter().all(|read| is_member(read) || *read < first_behind) {
            group.insert(op);
        } else {
            first_behind = first_behind.min(op);
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(reads: &[usize]) -> GroupOp {
        GroupOp { is_product: true, reads: reads.to_vec(), ..GroupOp::default() }
    }

    fn reduction(reads: &[usize]) -> GroupOp {
        GroupOp { is_reduction: true, reads: reads.to_vec(), ..GroupOp::default() }
    }

    fn elementwise(reads: &[usize]) -> GroupOp {
        GroupOp { is_elementwise: true, reads: reads.to_vec(), ..GroupOp::default() }
    }

    #[test]
    fn a_product_is_a_group_and_an_elementwise_op_is_none() {
        assert_eq!(groups(&[elementwise(&[]), product(&[0]), elementwise(&[1]), product(&[2])]), [vec![1], vec![3]]);
        assert!(groups(&[elementwise(&[])]).is_empty());
    }

    #[test]
    fn a_softmax_is_one_group() {
        // scores; max, sub, exp, sum, div; values.
        let ops =
            [product(&[]), reduction(&[0]), elementwise(&[0, 1]), elementwise(&[2]), reduction(&[3]), elementwise(&[3, 4]), product(&[5])];
        assert_eq!(groups(&ops), [vec![0], vec![1, 2, 3, 4, 5], vec![6]]);
    }

    #[test]
    fn what_needs_the_group_through_another_op_is_no_part_of_it() {
        // A product reads the sum, and the last op needs both.
        let ops = [reduction(&[]), product(&[0]), elementwise(&[0, 1])];
        assert_eq!(groups(&ops), [vec![0], vec![1]]);
        // The group can stand in front of the product, which reads it, but not behind it.
        let ops = [reduction(&[]), product(&[0]), elementwise(&[]), elementwise(&[0, 2]), elementwise(&[0])];
        assert_eq!(groups(&ops), [vec![0, 4], vec![1]]);
        // What another op makes in between is an input.
        let ops = [reduction(&[]), product(&[]), elementwise(&[0, 1])];
        assert_eq!(groups(&ops), [vec![0, 2], vec![1]]);
    }

    #[test]
    fn two_reductions_that_need_nothing_of_each_other_are_two_groups() {
        let ops = [reduction(&[]), reduction(&[]), elementwise(&[0]), elementwise(&[1])];
        assert_eq!(groups(&ops), [vec![0, 2], vec![1, 3]]);
    }
}
