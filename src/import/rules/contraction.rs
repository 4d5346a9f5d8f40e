//! Sums of products: classifies iteration dimensions as batch, M, N or K of a matmul.

use program::affine::AffineExpression;

/// Maximum number of dimensions of each kind in the device's matmul ("torch-spyre facts, C": batch and preserved
/// dimensions, generated and reduced ones).
const MAX_BATCH_DIMS: usize = 2;
const MAX_M_DIMS: usize = 2;

/// Number of elements in a stick of the formats of matmuls.
pub(super) const STICK_ELEMENTS: i64 = 64;

/// Iteration dimensions that form one dimension of the matmul, outermost first, without dimensions of size 1.
pub(in crate::import) type DimGroup = Vec<usize>;

/// Product of two tensors, summed over the dimensions that only the factors have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contraction {
    /// Whether the factors are swapped: the left operand of a matmul is the factor with rows.
    pub is_swapped: bool,
    /// Batch dimensions. The right operand may lack some of them, as shared weights do.
    pub batch: Vec<DimGroup>,
    /// In the left operand and the result.
    pub m: DimGroup,
    /// In the right operand and the result.
    pub n: DimGroup,
    /// In both operands only: summed up.
    pub k: DimGroup,
}

impl Contraction {
    /// Classifies the iteration dimensions (larger than 1) that index the factors and the result, each in the tensor's
    /// order. Returns None if nothing is summed, or if the result has dimensions of neither factor or of both only. On
    /// the device, a product of two vectors is an elementwise product and a sum. If `sizes` are specified, they may
    /// turn columns into rows.
    #[must_use]
    pub fn from_dims(lhs: &[usize], rhs: &[usize], result: &[usize], sizes: Option<&[i64]>) -> Option<Self> {
        let all = || result.iter().chain(lhs).chain(rhs);
        let is_once = |dims: &[usize]| (0..dims.len()).all(|position| !dims[..position].contains(&dims[position]));
        if !is_once(lhs)
            || !is_once(rhs)
            || !is_once(result)
            || all().any(|dim| !lhs.contains(dim) && !rhs.contains(dim))
        {
            return None;
        }
        let select = |left: bool, right: bool, out: bool, order: &[usize]| -> DimGroup {
            let is_alike =
                |dim: &usize| (lhs.contains(dim), rhs.contains(dim), result.contains(dim)) == (left, right, out);
            order.iter().copied().filter(is_alike).collect()
        };
        let batch = select(true, true, true, result);
        let (rows, columns) = (select(true, false, true, result), select(false, true, true, result));
        let k = select(true, true, false, lhs);
        let is_one_sided = !select(true, false, false, lhs).is_empty() || !select(false, true, false, rhs).is_empty();
        if k.is_empty() || (rows.is_empty() && columns.is_empty()) || is_one_sided {
            return None;
        }
        // Columns are in the sticks of the result, so its last dimension should be one.
        let is_last = |dims: &DimGroup| {
            result.iter().rev().find(|dim| !batch.contains(dim)).is_some_and(|last| dims.contains(last))
        };
        let is_swapped_by_order = columns.is_empty() || (is_last(&rows) && !rows.is_empty() && !is_last(&columns));
        // Columns that fill no stick become rows instead, if rows then lie along rows in both factors: values times few
        // queries. Several dimensions, such as positions of an image, do not fill whole sticks.
        let (left, right, m, n) =
            if is_swapped_by_order { (rhs, lhs, &columns, &rows) } else { (lhs, rhs, &rows, &columns) };
        let is_narrow = m.len() == 1
            && sizes.is_some_and(|sizes| {
                compute_group_size(n, sizes) < STICK_ELEMENTS && compute_group_size(m, sizes) >= STICK_ELEMENTS
            });
        let ends_in = |factor: &[usize], dims: &DimGroup| factor.last().is_some_and(|last| dims.contains(last));
        let is_swapped = is_swapped_by_order != (is_narrow && ends_in(left, m) && ends_in(right, &k));
        let (rows, n) = if is_swapped { (columns, rows) } else { (rows, columns) };
        let (mut batch, m) = (group_dims(batch, MAX_BATCH_DIMS), group_dims(rows, MAX_M_DIMS));
        let (m, outer) = m.split_last().map_or((Vec::new(), &[][..]), |(last, outer)| (last.clone(), outer));
        batch.extend_from_slice(outer);
        Some(Self { is_swapped, batch, m, n, k })
    }

    /// Returns the dimensions of an operand or the result: batch, then these two.
    #[must_use]
    pub fn operand_dims(&self, last: [&DimGroup; 2]) -> Vec<DimGroup> {
        self.batch.iter().chain(last).cloned().collect()
    }
}

/// Returns the dimensions one by one; merges the outer ones if there are more than `most`.
fn group_dims(dims: Vec<usize>, most: usize) -> Vec<DimGroup> {
    let num_together = if dims.len() > most { dims.len() - most + 1 } else { 0 };
    let (together, alone) = dims.split_at(num_together);
    let first = (!together.is_empty()).then(|| together.to_vec());
    first.into_iter().chain(alone.iter().map(|&dim| vec![dim])).collect()
}

/// Returns the size of a group.
#[must_use]
pub(in crate::import) fn compute_group_size(group: &DimGroup, sizes: &[i64]) -> i64 {
    group.iter().map(|&dim| sizes[dim]).product()
}

/// Returns the index along iteration dimension `dim` in terms of the dimensions `groups`; 0 if none of them has it.
#[must_use]
pub(in crate::import) fn compute_group_index(dim: usize, groups: &[DimGroup], sizes: &[i64]) -> AffineExpression {
    let found = groups
        .iter()
        .enumerate()
        .find_map(|(position, group)| Some((position, group.iter().position(|&other| other == dim)?)));
    let Some((position, place)) = found else { return AffineExpression::Constant(0) };
    let group = &groups[position];
    let inner: i64 = group[place + 1..].iter().map(|&dim| sizes[dim]).product();
    let mut index = AffineExpression::Dim(position);
    if inner > 1 {
        index = AffineExpression::FloorDiv(Box::new(index), Box::new(AffineExpression::Constant(inner)));
    }
    if place > 0 {
        index = AffineExpression::Mod(Box::new(index), Box::new(AffineExpression::Constant(sizes[dim])));
    }
    index
}

/// Returns the index along a group in terms of the indices of its dimensions.
#[must_use]
pub(in crate::import) fn linearize_group_index(
    group: &DimGroup,
    sizes: &[i64],
    index: impl Fn(usize) -> AffineExpression,
) -> AffineExpression {
    let mut flat = AffineExpression::Constant(0);
    for (position, &dim) in group.iter().enumerate() {
        let term = index(dim);
        flat = if position == 0 {
            term
        } else {
            let scaled = AffineExpression::Mul(Box::new(flat), Box::new(AffineExpression::Constant(sizes[dim])));
            AffineExpression::Add(Box::new(scaled), Box::new(term))
        };
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classify_dims(lhs: &[usize], rhs: &[usize], result: &[usize]) -> Contraction {
        Contraction::from_dims(lhs, rhs, result, None).unwrap()
    }

    #[test]
    fn classifies_m_n_and_k() {
        let expected = Contraction { is_swapped: false, batch: vec![], m: vec![0], n: vec![1], k: vec![2] };
        assert_eq!(classify_dims(&[0, 2], &[2, 1], &[0, 1]), expected);
        assert_eq!(
            classify_dims(&[0, 2], &[1, 2], &[0, 1]),
            expected,
            "a transposed right operand is the same product"
        );
        assert_eq!(classify_dims(&[2, 1], &[0, 2], &[0, 1]), Contraction { is_swapped: true, ..expected });
    }

    #[test]
    fn swaps_factors_if_columns_fill_no_stick() {
        // Values, of 128 columns, times the weights of a few queries, and the result as one column a query.
        let is_swapped = |values: &[usize], weights: &[usize], sizes: [i64; 3]| {
            let of = |lhs, rhs| Contraction::from_dims(lhs, rhs, &[0, 1], Some(&sizes)).unwrap();
            let (found, other) = (of(values, weights), of(weights, values));
            assert_eq!((found.is_swapped, &found.m, &found.n), (!other.is_swapped, &other.m, &other.n));
            found.is_swapped
        };
        assert!(is_swapped(&[2, 0], &[1, 2], [128, 2, 960]));
        assert!(!is_swapped(&[2, 0], &[1, 2], [128, 64, 960]), "the columns are a stick");
        assert!(!is_swapped(&[2, 0], &[1, 2], [32, 2, 960]), "the rows are none either");
        assert!(!is_swapped(&[0, 2], &[1, 2], [128, 2, 960]), "the rows do not lie as columns");
        assert!(!is_swapped(&[2, 0], &[2, 1], [128, 2, 960]), "the columns do not lie as rows");
    }

    #[test]
    fn classifies_batch_dims() {
        let expected = Contraction { is_swapped: false, batch: vec![vec![0]], m: vec![1], n: vec![2], k: vec![3] };
        assert_eq!(classify_dims(&[0, 1, 3], &[0, 3, 2], &[0, 1, 2]), expected);
        assert_eq!(classify_dims(&[0, 1, 3], &[3, 2], &[0, 1, 2]), expected, "weights may be shared");
        let swapped = classify_dims(&[1, 3], &[0, 3, 2], &[0, 1, 2]);
        assert_eq!((swapped.is_swapped, swapped.batch, swapped.m, swapped.n), (false, vec![], vec![1], vec![0, 2]));
    }

    #[test]
    fn classifies_matrix_vector_product() {
        let expected = Contraction { is_swapped: true, batch: vec![], m: vec![], n: vec![0], k: vec![1] };
        assert_eq!(classify_dims(&[0, 1], &[1], &[0]), expected);
        assert_eq!(Contraction::from_dims(&[0], &[0], &[], None), None, "two vectors make a sum");
        assert_eq!(Contraction::from_dims(&[0], &[1], &[0, 1], None), None, "nothing is summed");
    }

    #[test]
    fn merges_excess_outer_dims() {
        let found = classify_dims(&[0, 1, 2, 3, 4, 6], &[0, 1, 2, 6, 5], &[0, 1, 2, 3, 4, 5]);
        assert_eq!((found.batch, found.m), (vec![vec![0, 1], vec![2], vec![3]], vec![4]));
        let found = classify_dims(&[0, 2, 3], &[2, 3, 1], &[0, 1]);
        assert_eq!(found.k, [2, 3]);
        assert_eq!(compute_group_size(&found.k, &[4, 5, 6, 7]), 42);
    }

    #[test]
    fn rejects_repeated_and_one_sided_dims() {
        assert_eq!(Contraction::from_dims(&[0, 2, 2], &[2, 1], &[0, 1], None), None);
        assert_eq!(Contraction::from_dims(&[0, 3, 2], &[2, 1], &[0, 1], None), None);
    }

    #[test]
    fn splits_and_linearizes_group_index() {
        let groups = [vec![0], vec![2, 3]];
        let sizes = [4, 5, 6, 7];
        let seven = || Box::new(AffineExpression::Constant(7));
        assert_eq!(
            compute_group_index(2, &groups, &sizes),
            AffineExpression::FloorDiv(Box::new(AffineExpression::Dim(1)), seven())
        );
        assert_eq!(
            compute_group_index(3, &groups, &sizes),
            AffineExpression::Mod(Box::new(AffineExpression::Dim(1)), seven())
        );
        assert_eq!(compute_group_index(1, &groups, &sizes), AffineExpression::Constant(0));
        let flat = linearize_group_index(&groups[1], &sizes, |dim| AffineExpression::Dim(dim - 2));
        assert_eq!(
            flat,
            AffineExpression::Add(
                Box::new(AffineExpression::Mul(Box::new(AffineExpression::Dim(0)), seven())),
                Box::new(AffineExpression::Dim(1))
            )
        );
    }
}
