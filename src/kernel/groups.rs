//! Default grouping: ops that form a kernel without any hint in the program.
//!
//! Each matmul is a kernel. Reductions form one together with the elementwise ops between and after them that read the
//! same rows: maximum, difference, exponential, sum and quotient of a softmax, or square, sum and product of a
//! normalization.

use std::collections::BTreeSet;

/// Op of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupOp {
    /// Whether it is a matmul.
    pub is_product: bool,
    /// Whether it is a reduction.
    pub is_reduction: bool,
    /// Whether it applies one function to each element.
    pub is_elementwise: bool,
    /// Numbers of the ops that it reads, directly or through views.
    pub reads: Vec<usize>,
}

/// Returns the groups, each with its ops in order; an op is in at most one group. All operands of a group are defined
/// before the first op outside the group that depends on it, so the group can be placed there as a single op.
#[must_use]
pub fn find_groups(ops: &[GroupOp]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> =
        (0..ops.len()).filter(|&op| ops[op].is_product).map(|product| vec![product]).collect();
    let mut taken: BTreeSet<usize> = found.iter().flatten().copied().collect();
    for first in 0..ops.len() {
        if ops[first].is_reduction && !taken.contains(&first) {
            let group = grow_group(ops, first, &taken);
            taken.extend(&group);
            found.push(group.into_iter().collect());
        }
    }
    found.sort_by_key(|group| group[0]);
    found
}

/// Returns the group of the reduction `first`: later elementwise ops and reductions that read a member of the group.
/// All other operands of such an op must precede the first op outside the group that depends on it.
fn grow_group(ops: &[GroupOp], first: usize, taken: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut group = BTreeSet::from([first]);
    let mut first_after = ops.len();
    for (op, described) in ops.iter().enumerate().skip(first + 1) {
        let is_member = |read: &usize| group.contains(read);
        if !described.reads.iter().any(is_member) {
            continue;
        }
        let may_join = (described.is_elementwise || described.is_reduction) && !taken.contains(&op);
        if may_join && described.reads.iter().all(|read| is_member(read) || *read < first_after) {
            group.insert(op);
        } else {
            first_after = first_after.min(op);
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
    fn groups_matmuls_but_no_single_elementwise_op() {
        assert_eq!(
            find_groups(&[elementwise(&[]), product(&[0]), elementwise(&[1]), product(&[2])]),
            [vec![1], vec![3]]
        );
        assert!(find_groups(&[elementwise(&[])]).is_empty());
    }

    #[test]
    fn groups_softmax_as_one() {
        // scores; max, sub, exp, sum, div; values.
        let ops = [
            product(&[]),
            reduction(&[0]),
            elementwise(&[0, 1]),
            elementwise(&[2]),
            reduction(&[3]),
            elementwise(&[3, 4]),
            product(&[5]),
        ];
        assert_eq!(find_groups(&ops), [vec![0], vec![1, 2, 3, 4, 5], vec![6]]);
    }

    #[test]
    fn excludes_op_that_depends_on_the_group_through_another_op() {
        // A matmul reads the sum, and the last op needs both.
        let ops = [reduction(&[]), product(&[0]), elementwise(&[0, 1])];
        assert_eq!(find_groups(&ops), [vec![0], vec![1]]);
        // The group can be placed before the matmul, which reads it, but not after it.
        let ops = [reduction(&[]), product(&[0]), elementwise(&[]), elementwise(&[0, 2]), elementwise(&[0])];
        assert_eq!(find_groups(&ops), [vec![0, 4], vec![1]]);
        // An operand that another op defines in between is an input.
        let ops = [reduction(&[]), product(&[]), elementwise(&[0, 1])];
        assert_eq!(find_groups(&ops), [vec![0, 2], vec![1]]);
    }

    #[test]
    fn separates_independent_reductions() {
        let ops = [reduction(&[]), reduction(&[]), elementwise(&[0]), elementwise(&[1])];
        assert_eq!(find_groups(&ops), [vec![0, 2], vec![1, 3]]);
    }
}
