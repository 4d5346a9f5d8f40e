//! Names that follow elements through views: which factor of which dimension has a name.
//!
//! A name belongs to the elements of a buffer in storage order, not to a dimension of a tensor: a buffer of 64 * 256
//! elements is `M` of 64 times `K` of 256 whatever its shape is. A view shows the element at position `flat` of the
//! buffer, an index over the dimensions of the view; the position along `K` is `flat mod 256`, along `M` it is
//! `flat floordiv 256 mod 64`. If one of these is a run of digits of a single dimension, that dimension has the name
//! (torch-spyre facts, I).
//!
//! ```text
//! 64x256 shown as 16384: flat = d0              M = d0 floordiv 256, K = d0 mod 256     d0 is M*K
//! 16384 shown as 64x256: flat = d0 * 256 + d1   M = d0,              K = d1             d0 is M, d1 is K
//! 16384 shown as 32x512: flat = d0 * 512 + d1   M = d0 * 2 + d1 floordiv 256            lost; K = d1 mod 256 is not all of d1
//! ```

use crate::layout::{IndexDigit, TensorIndex};
use std::collections::BTreeMap;

/// Factor of a buffer's element count, in storage order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferFactor {
    /// Name, if there is one.
    pub name: Option<String>,
    /// Number of positions.
    pub size: i64,
    /// Names of windows of the positions: first position, number of positions, name.
    pub windows: BTreeMap<(i64, i64), String>,
}

/// Part of a dimension that has a name: `(d floordiv divisor) mod size` runs through all positions of the name, in
/// order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFactor {
    /// Number of consecutive indices that share a position.
    pub divisor: i64,
    /// Number of positions.
    pub size: i64,
    /// Name.
    pub name: String,
}

/// Name that a view shows only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostName {
    /// Name.
    pub name: String,
    /// Number of its positions.
    pub size: i64,
    /// Reason for the loss.
    pub why: NameLossReason,
}

/// Reason why a name is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameLossReason {
    /// Dimension `dim` covers only `positions` of its positions.
    Slice {
        /// The dimension of the view.
        dim: usize,
        /// Number of covered positions.
        positions: i64,
    },
    /// Several dimensions index it.
    Split,
    /// The index is no sum of digits: the view splits the buffer elsewhere.
    Misaligned,
    /// Dimension `dim` covers the name together with unnamed positions.
    MixedWithUnnamed {
        /// The dimension of the view.
        dim: usize,
    },
}

/// Names along the dimensions of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DimNameMap {
    /// For each dimension, its named factors, outermost first.
    pub dims: Vec<Vec<NamedFactor>>,
    /// Names that the view shows only in part.
    pub losses: Vec<LostName>,
}

impl BufferFactor {
    /// Creates a factor with a name.
    #[must_use]
    pub fn with_name(name: &str, size: i64) -> Self {
        Self { name: (!name.is_empty()).then(|| name.to_owned()), size, windows: BTreeMap::new() }
    }

    /// Creates a factor without a name.
    #[must_use]
    pub fn from_size(size: i64) -> Self {
        Self { size, ..Self::default() }
    }

    /// Returns whether the factor has a name, at least for some positions.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.name.is_some() || !self.windows.is_empty()
    }

    /// Returns the name of these positions.
    fn find_name(&self, first: i64, positions: i64) -> Option<&String> {
        let whole = self.name.as_ref().filter(|_| (first, positions) == (0, self.size));
        whole.or_else(|| self.windows.get(&(first, positions)))
    }
}

/// Map from the indices of a tensor to the elements of its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferIndexMap {
    shape: Vec<i64>,
    /// Sizes of auxiliary dimensions that replace terms that are no sum of digits: their values are unknown. They
    /// follow the dimensions of `shape`.
    hidden: Vec<i64>,
    /// Position in the buffer.
    flat: TensorIndex,
}

impl BufferIndexMap {
    /// Returns the complete buffer, in storage order; `None` if it has no elements, or if the count exceeds 64 bits.
    #[must_use]
    pub fn from_buffer_shape(shape: &[i64]) -> Option<Self> {
        let (mut digits, mut stride) = (Vec::new(), 1_i64);
        for (dim, &size) in shape.iter().enumerate().rev() {
            digits.push(IndexDigit { dim, divisor: 1, size, factor: stride });
            stride = stride.checked_mul(size)?;
        }
        Some(Self { shape: shape.to_vec(), hidden: Vec::new(), flat: TensorIndex::new(&digits, 0, shape).ok()? })
    }

    /// Returns a view of this one. Each index gives a dimension here in terms of the view's dimensions; `None` where it
    /// is no sum of digits.
    #[must_use]
    pub fn compose(&self, indices: &[Option<TensorIndex>], shape: &[i64]) -> Option<Self> {
        let mut sizes = shape.to_vec();
        let hide = |sizes: &mut Vec<i64>, size: i64| {
            sizes.push(size);
            TensorIndex::from_dim(sizes.len() - 1, sizes).ok()
        };
        let mut after = Vec::new();
        for &size in &self.hidden {
            after.push(hide(&mut sizes, size)?);
        }
        for (dim, index) in indices.iter().enumerate().take(self.shape.len()) {
            let index = index.clone().or_else(|| hide(&mut sizes, self.shape[dim]))?;
            after.insert(dim, index);
        }
        let mut digits = Vec::new();
        let mut offset = self.flat.offset;
        for digit in &self.flat.digits {
            let alone = TensorIndex { digits: vec![IndexDigit { factor: 1, ..*digit }], offset: 0 }
                .compose(&after, &sizes)
                .ok();
            let alone = alone.or_else(|| hide(&mut sizes, digit.size))?;
            offset = offset.checked_add(alone.offset.checked_mul(digit.factor)?)?;
            for moved in alone.digits {
                digits.push(IndexDigit { factor: moved.factor.checked_mul(digit.factor)?, ..moved });
            }
        }
        let flat = TensorIndex::new(&digits, offset, &sizes).ok()?;
        Some(Self { shape: shape.to_vec(), hidden: sizes.split_off(shape.len()), flat })
    }

    /// Returns the names along the view's dimensions, for a buffer whose factors are `parts`.
    #[must_use]
    pub fn map_names(&self, parts: &[BufferFactor]) -> DimNameMap {
        let mut walk = DimNameMap { dims: vec![Vec::new(); self.shape.len()], losses: Vec::new() };
        let sizes = [&self.shape[..], &self.hidden].concat();
        let mut stride = 1_i64;
        for part in parts.iter().rev() {
            if part.size > 1 && part.is_named() {
                let along = TensorIndex {
                    digits: vec![IndexDigit { dim: 0, divisor: stride, size: part.size, factor: 1 }],
                    offset: 0,
                };
                walk.record_factor(
                    part,
                    along.compose(std::slice::from_ref(&self.flat), &sizes).ok().as_ref(),
                    &self.shape,
                );
            }
            stride = stride.saturating_mul(part.size);
        }
        walk.losses.reverse();
        walk.dims.iter_mut().for_each(|claims| claims.sort_by_key(|claim| -claim.divisor));
        walk.lose_partly_named_dims(&self.shape);
        walk
    }
}

impl DimNameMap {
    /// Records which dimension indexes a factor, given the position along the factor; a constant position is attributed
    /// to no dimension.
    fn record_factor(&mut self, part: &BufferFactor, index: Option<&TensorIndex>, shape: &[i64]) {
        let why = match index.map(|index| (index.digits.as_slice(), index.offset)) {
            None => NameLossReason::Misaligned,
            Some(([], _)) => return,
            Some((digits, _)) if digits.iter().any(|digit| digit.dim >= shape.len()) => NameLossReason::Misaligned,
            Some(([digit], offset)) => {
                let is_whole_runs = digit.factor == 1 && shape[digit.dim] % (digit.divisor * digit.size) == 0;
                if let Some(name) = part.find_name(offset, digit.size).filter(|_| is_whole_runs) {
                    self.dims[digit.dim].push(NamedFactor {
                        divisor: digit.divisor,
                        size: digit.size,
                        name: name.clone(),
                    });
                    return;
                }
                NameLossReason::Slice { dim: digit.dim, positions: digit.size }
            }
            Some(_) => NameLossReason::Split,
        };
        // Positions between windows are unnamed in the source, so they are not lost.
        if let Some(name) = &part.name {
            self.losses.push(LostName { name: name.clone(), size: part.size, why });
        }
    }

    /// Records the names along a dimension as lost if the dimension as a whole has no label.
    fn lose_partly_named_dims(&mut self, shape: &[i64]) {
        for (dim, (claims, &size)) in
            self.dims.iter().zip(shape).enumerate().filter(|(_, (claims, _))| !claims.is_empty())
        {
            if format_dim_label(claims, size).is_empty() {
                let beside = claims.iter().map(|claim| LostName {
                    name: claim.name.clone(),
                    size: claim.size,
                    why: NameLossReason::MixedWithUnnamed { dim },
                });
                self.losses.extend(beside);
            }
        }
    }
}

/// Returns the factors of a dimension of `size` positions with the named factors `claims`, outermost first, including
/// the unnamed factors between them.
#[must_use]
pub fn collect_dim_factors(claims: &[NamedFactor], size: i64) -> Vec<BufferFactor> {
    let (mut parts, mut end) = (Vec::new(), size);
    for claim in claims {
        let top = claim.divisor * claim.size;
        if top == 0 || end % top != 0 {
            return vec![BufferFactor::from_size(size)];
        }
        if end > top {
            parts.push(BufferFactor::from_size(end / top));
        }
        parts.push(BufferFactor::with_name(&claim.name, claim.size));
        end = claim.divisor;
    }
    if end > 1 || parts.is_empty() {
        parts.push(BufferFactor::from_size(end));
    }
    parts
}

/// Returns the names of a dimension, outermost first and joined with `*`; empty unless all of its positions are named.
#[must_use]
pub fn format_dim_label(claims: &[NamedFactor], size: i64) -> String {
    let names: Option<Vec<String>> = collect_dim_factors(claims, size).into_iter().map(|part| part.name).collect();
    names.map_or_else(String::new, |names| names.join("*"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// View operation on the dimensions of its source.
    #[derive(Clone, Debug)]
    enum TestViewOp {
        /// Permutation of the dimensions.
        Transpose(Vec<usize>),
        /// Reshape: elements in unchanged row-major order, with new sizes.
        Reshape(Vec<i64>),
        /// Slice: dimension, first position, number of positions.
        Slice(usize, i64, i64),
    }

    fn unflatten(mut position: i64, shape: &[i64]) -> Vec<i64> {
        let mut point = vec![0; shape.len()];
        for dim in (0..shape.len()).rev() {
            (point[dim], position) = (position % shape[dim], position / shape[dim]);
        }
        point
    }

    fn flatten(point: &[i64], shape: &[i64]) -> i64 {
        point.iter().zip(shape).fold(0, |position, (index, size)| position * size + index)
    }

    impl TestViewOp {
        fn result_shape(&self, after: &[i64]) -> Vec<i64> {
            match self {
                Self::Transpose(order) => order.iter().map(|&dim| after[dim]).collect(),
                Self::Reshape(shape) => shape.clone(),
                Self::Slice(dim, _, positions) => {
                    let mut shape = after.to_vec();
                    shape[*dim] = *positions;
                    shape
                }
            }
        }

        fn source_point(&self, point: &[i64], shape: &[i64], after: &[i64]) -> Vec<i64> {
            match self {
                Self::Transpose(order) => {
                    let mut found = point.to_vec();
                    order.iter().zip(point).for_each(|(&dim, &index)| found[dim] = index);
                    found
                }
                Self::Reshape(_) => unflatten(flatten(point, shape), after),
                Self::Slice(dim, first, _) => {
                    let mut found = point.to_vec();
                    found[*dim] += first;
                    found
                }
            }
        }

        /// Returns the index of each source dimension of the view; `None` where it is no sum of digits.
        fn source_indices(&self, shape: &[i64], after: &[i64]) -> Vec<Option<TensorIndex>> {
            let own: Vec<Option<TensorIndex>> =
                (0..shape.len()).map(|dim| TensorIndex::from_dim(dim, shape).ok()).collect();
            match self {
                Self::Transpose(order) => {
                    let place = |dim: usize| order.iter().position(|&moved| moved == dim).unwrap();
                    (0..order.len()).map(|dim| own[place(dim)].clone()).collect()
                }
                Self::Reshape(_) => {
                    let flat = BufferIndexMap::from_buffer_shape(shape).unwrap().flat;
                    let mut stride: i64 = after.iter().product();
                    let index = |&size: &i64| {
                        stride /= size;
                        let digit = IndexDigit { dim: 0, divisor: stride, size, factor: 1 };
                        TensorIndex { digits: vec![digit], offset: 0 }.compose(std::slice::from_ref(&flat), shape).ok()
                    };
                    after.iter().map(index).collect()
                }
                Self::Slice(dim, first, _) => {
                    let mut indices = own;
                    indices[*dim].as_mut().unwrap().offset = *first;
                    indices
                }
            }
        }
    }

    fn build_named_factors(names: &[(&str, i64)]) -> Vec<BufferFactor> {
        names.iter().map(|&(name, size)| BufferFactor::with_name(name, size)).collect()
    }

    /// Returns the labels of the dimensions after `steps` from a buffer of shape `shape`, and the losses.
    fn apply_view_ops(parts: &[BufferFactor], shape: &[i64], steps: &[TestViewOp]) -> (Vec<i64>, DimNameMap) {
        let mut viewed = BufferIndexMap::from_buffer_shape(shape).unwrap();
        for step in steps {
            let next = step.result_shape(&viewed.shape);
            viewed = viewed.compose(&step.source_indices(&next, &viewed.shape), &next).unwrap();
        }
        let walk = viewed.map_names(parts);
        (viewed.shape, walk)
    }

    fn collect_labels(names: &[(&str, i64)], shape: &[i64], steps: &[TestViewOp]) -> (Vec<String>, Vec<LostName>) {
        let (shape, walk) = apply_view_ops(&build_named_factors(names), shape, steps);
        (walk.dims.iter().zip(&shape).map(|(claims, &size)| format_dim_label(claims, size)).collect(), walk.losses)
    }

    fn new_loss(name: &str, size: i64, why: NameLossReason) -> LostName {
        LostName { name: name.to_owned(), size, why }
    }

    #[test]
    fn follows_storage_order_not_shape() {
        let names = [("A", 2), ("B", 3), ("C", 4)];
        let of = |shape: &[i64]| collect_labels(&names, &[24], &[TestViewOp::Reshape(shape.to_vec())]);
        assert_eq!(of(&[24]).0, ["A*B*C"]);
        assert_eq!(of(&[6, 4]).0, ["A*B", "C"]);
        assert_eq!(of(&[1, 2, 12]).0, ["", "A", "B*C"]);
        assert_eq!(of(&[2, 1, 3, 4]).0, ["A", "", "B", "C"]);
        assert_eq!(
            collect_labels(
                &names,
                &[2, 3, 4],
                &[TestViewOp::Transpose(vec![2, 0, 1]), TestViewOp::Reshape(vec![4, 6])]
            )
            .0,
            ["C", "A*B"]
        );
        let swapped =
            collect_labels(&names, &[2, 3, 4], &[TestViewOp::Transpose(vec![1, 0, 2]), TestViewOp::Reshape(vec![24])]);
        assert_eq!(swapped, (vec!["B*A*C".to_owned()], vec![]));
    }

    #[test]
    fn loses_only_names_next_to_misaligned_boundary() {
        let (found, losses) =
            collect_labels(&[("A", 6), ("B", 4), ("C", 5)], &[6, 4, 5], &[TestViewOp::Reshape(vec![8, 3, 5])]);
        assert_eq!(
            (found, losses),
            (
                vec![String::new(), String::new(), "C".to_owned()],
                vec![new_loss("A", 6, NameLossReason::Misaligned), new_loss("B", 4, NameLossReason::Misaligned)]
            )
        );
        let (found, losses) = collect_labels(&[("A", 8), ("B", 4)], &[8, 4], &[TestViewOp::Reshape(vec![2, 4, 4])]);
        assert_eq!(
            (found, losses),
            (vec![String::new(), String::new(), "B".to_owned()], vec![new_loss("A", 8, NameLossReason::Split)])
        );
        // Both halves together cover the complete name again.
        let again = [TestViewOp::Reshape(vec![2, 4, 4]), TestViewOp::Reshape(vec![8, 4])];
        assert_eq!(
            collect_labels(&[("A", 8), ("B", 4)], &[8, 4], &again),
            (vec!["A".to_owned(), "B".to_owned()], vec![])
        );
    }

    #[test]
    fn loses_name_of_slice_but_not_of_single_position() {
        let names = [("A", 8), ("B", 4)];
        let slice =
            |dim, first, positions| collect_labels(&names, &[8, 4], &[TestViewOp::Slice(dim, first, positions)]);
        assert_eq!(
            slice(0, 2, 4),
            (
                vec![String::new(), "B".to_owned()],
                vec![new_loss("A", 8, NameLossReason::Slice { dim: 0, positions: 4 })]
            )
        );
        assert_eq!(
            slice(0, 0, 7),
            (
                vec![String::new(), "B".to_owned()],
                vec![new_loss("A", 8, NameLossReason::Slice { dim: 0, positions: 7 })]
            )
        );
        assert_eq!(slice(0, 5, 1), (vec![String::new(), "B".to_owned()], vec![]));
        // 30 of 32 elements take all positions of A, but the last of them not fully.
        let ragged = collect_labels(&names, &[32], &[TestViewOp::Slice(0, 0, 30)]);
        assert_eq!(ragged.0, [""]);
        assert_eq!(ragged.1.len(), 2);
    }

    #[test]
    fn reports_name_mixed_with_unnamed_positions() {
        let found = collect_labels(&[("A", 3), ("", 4)], &[3, 4], &[TestViewOp::Reshape(vec![12])]);
        assert_eq!(found, (vec![String::new()], vec![new_loss("A", 3, NameLossReason::MixedWithUnnamed { dim: 0 })]));
        let again = [TestViewOp::Reshape(vec![12]), TestViewOp::Reshape(vec![3, 2, 2])];
        assert_eq!(
            collect_labels(&[("A", 3), ("", 4)], &[3, 4], &again),
            (vec!["A".to_owned(), String::new(), String::new()], vec![])
        );
    }

    #[test]
    fn places_factors_by_their_divisors() {
        let claim = |divisor, size| NamedFactor { divisor, size, name: "A".to_owned() };
        assert_eq!(
            collect_dim_factors(&[claim(2, 3)], 24),
            [BufferFactor::from_size(4), BufferFactor::with_name("A", 3), BufferFactor::from_size(2)]
        );
        assert_eq!(
            collect_dim_factors(&[claim(4, 3), claim(1, 3)], 12),
            [BufferFactor::from_size(12)],
            "3 does not divide 4"
        );
        assert_eq!(collect_dim_factors(&[], 1), [BufferFactor::from_size(1)]);
        assert_eq!(BufferIndexMap::from_buffer_shape(&[2, 0]), None);
    }

    /// Computes the named factors of a view by brute force over its elements.
    fn enumerate_named_factors(
        parts: &[BufferFactor],
        shapes: &[Vec<i64>],
        steps: &[TestViewOp],
    ) -> Vec<Vec<NamedFactor>> {
        let shape = shapes.last().unwrap();
        let sizes: Vec<i64> = parts.iter().map(|part| part.size).collect();
        let points: Vec<Vec<i64>> = (0..shape.iter().product()).map(|position| unflatten(position, shape)).collect();
        let position = |point: &Vec<i64>| {
            let mut point = point.clone();
            for (step, pair) in steps.iter().zip(shapes.windows(2)).rev() {
                point = step.source_point(&point, &pair[1], &pair[0]);
            }
            unflatten(flatten(&point, &shapes[0]), &sizes)
        };
        let positions: Vec<Vec<i64>> = points.iter().map(position).collect();
        let mut found = vec![Vec::new(); shape.len()];
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| part.size > 1 && part.name.is_some()) {
            for (dim, &size) in shape.iter().enumerate() {
                let is_walk = |divisor: &i64| {
                    let mut pairs = points.iter().zip(&positions);
                    size % (divisor * part.size) == 0
                        && pairs.all(|(point, at)| point[dim] / divisor % part.size == at[number])
                };
                let name = part.name.clone().unwrap();
                found[dim].extend((1..=size).find(is_walk).map(|divisor| NamedFactor {
                    divisor,
                    size: part.size,
                    name,
                }));
            }
        }
        found.iter_mut().for_each(|claims: &mut Vec<NamedFactor>| claims.sort_by_key(|claim| -claim.divisor));
        found
    }

    /// Returns a random factorization of `elements`.
    fn draw_factorization(mut elements: i64, numbers: &[usize]) -> Vec<i64> {
        let mut sizes = Vec::new();
        for number in numbers {
            let divisors: Vec<i64> = (1..=elements).filter(|divisor| elements % divisor == 0).collect();
            sizes.push(divisors[number % divisors.len()]);
            elements /= sizes[sizes.len() - 1];
        }
        sizes.push(elements);
        sizes
    }

    fn draw_view_op((kind, first, numbers): &(u8, usize, Vec<usize>), shape: &[i64]) -> TestViewOp {
        let dim = first % shape.len();
        match kind % 5 {
            0 | 1 => TestViewOp::Reshape(draw_factorization(shape.iter().product(), numbers)),
            2 | 3 => {
                let mut order: Vec<usize> = (0..shape.len()).collect();
                order.rotate_left(dim);
                order.swap(0, numbers.len() % shape.len());
                TestViewOp::Transpose(order)
            }
            _ => {
                let positions = 1 + i64::try_from(numbers.iter().sum::<usize>()).unwrap() % shape[dim];
                TestViewOp::Slice(dim, i64::try_from(*first).unwrap() % (shape[dim] - positions + 1), positions)
            }
        }
    }

    proptest! {
        #[test]
        fn names_are_those_of_an_enumeration(
            elements in prop::sample::select(vec![12_i64, 24, 36, 48, 64, 72, 96]),
            names in prop::collection::vec(0_usize..12, 0..4),
            dims in prop::collection::vec(0_usize..12, 0..3),
            steps in prop::collection::vec((0_u8..5, 0_usize..24, prop::collection::vec(0_usize..12, 0..3)), 0..4),
            has_gap in any::<bool>(),
        ) {
            let name = |(number, size): (usize, &i64)| if has_gap && number == 1 { BufferFactor::from_size(*size) } else { BufferFactor::with_name(&format!("N{number}"), *size) };
            let parts: Vec<BufferFactor> = draw_factorization(elements, &names).iter().enumerate().map(name).collect();
            let mut shapes = vec![draw_factorization(elements, &dims)];
            let mut taken: Vec<TestViewOp> = Vec::new();
            let mut viewed = BufferIndexMap::from_buffer_shape(&shapes[0]).unwrap();
            for numbers in &steps {
                let next = draw_view_op(numbers, &viewed.shape);
                let shape = next.result_shape(&viewed.shape);
                viewed = viewed.compose(&next.source_indices(&shape, &viewed.shape), &shape).unwrap();
                taken.push(next);
                shapes.push(shape);
            }
            let found = viewed.map_names(&parts).dims;
            let expected = enumerate_named_factors(&parts, &shapes, &taken);
            let is_cut = taken.iter().any(|step| matches!(step, TestViewOp::Slice(..)));
            if viewed.hidden.is_empty() && !is_cut {
                prop_assert_eq!(&found, &expected);
            } else {
                // The analysis may find less than brute force, but never something different: of 4 positions, the
                // middle two index the outer name, of size 2.
                for (found, expected) in found.iter().zip(&expected) {
                    prop_assert!(found.iter().all(|claim| expected.contains(claim)));
                }
            }
        }
    }
}
