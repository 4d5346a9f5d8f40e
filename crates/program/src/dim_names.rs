//! Propagation of dimension names through views: finds the factor of a view dimension that each name denotes.
//!
//! A name belongs to the elements of a buffer in storage order, not to a dimension of a tensor: a buffer of 64 * 256
//! elements is `M` of 64 times `K` of 256 whatever its shape is. A view shows the element at position `flat` of the
//! buffer, an index over the dimensions of the view; the position along `K` is `flat mod 256`, along `M` it is
//! `flat floordiv 256 mod 64`. If such a position is `(d floordiv divisor) mod size` of a single dimension `d`, then
//! this dimension has the name (torch-spyre facts, I).
//!
//! ```text
//! 64x256 viewed as 16384: flat = d0              M = d0 floordiv 256, K = d0 mod 256  d0 is M*K
//! 16384 viewed as 64x256: flat = d0 * 256 + d1   M = d0,              K = d1          d0 is M, d1 is K
//! 16384 viewed as 32x512: flat = d0 * 512 + d1   M = d0 * 2 + d1 floordiv 256         M is lost: indexed by d0 and d1
//!                                                K = d1 mod 256                       K is only a factor of d1
//! ```

use crate::layout::{IndexDigit, TensorIndex};
use std::collections::BTreeMap;

/// Factor of a buffer's element count, that is, a dimension of the buffer in storage order whatever the shape is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferFactor {
    /// Name of all positions; `None` if there is none.
    pub name: Option<String>,
    /// Number of positions.
    pub size: i64,
    /// Names of ranges of positions, by first position and number of positions.
    pub windows: BTreeMap<(i64, i64), String>,
}

/// Factor of a dimension that has a name: `(d floordiv divisor) mod size` runs through all positions of the name, in
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

/// Name that a view loses: no dimension of the view runs through all of its positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostName {
    /// Name.
    pub name: String,
    /// Number of positions of the name.
    pub size: i64,
    /// Reason for the loss.
    pub reason: NameLossReason,
}

/// Reason why a view loses a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameLossReason {
    /// Dimension `dim` covers only `positions` positions of the name.
    Slice {
        /// The dimension of the view.
        dim: usize,
        /// Number of covered positions.
        positions: i64,
    },
    /// Several dimensions of the view index the name.
    Split,
    /// The position along the name is no sum of digits: the view splits the buffer at other boundaries.
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
    /// Names that the view loses.
    pub losses: Vec<LostName>,
}

impl BufferFactor {
    /// Creates a factor with a name; an empty name means no name.
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

    /// Returns the name of a range of positions.
    fn find_name(&self, first: i64, positions: i64) -> Option<&String> {
        let full_name = self.name.as_ref().filter(|_| (first, positions) == (0, self.size));
        full_name.or_else(|| self.windows.get(&(first, positions)))
    }
}

/// Map from the indices of a tensor, which is a view of a buffer, to positions in the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferIndexMap {
    shape: Vec<i64>,
    /// Sizes of auxiliary dimensions with unknown values. They replace indices that are no sum of digits, and follow
    /// the dimensions of `shape`.
    hidden: Vec<i64>,
    /// Position in the buffer, in storage order.
    flat: TensorIndex,
}

impl BufferIndexMap {
    /// Returns the map of a tensor that is the complete buffer, in storage order; `None` if it has no elements, or if
    /// the count exceeds 64 bits.
    #[must_use]
    pub fn from_buffer_shape(shape: &[i64]) -> Option<Self> {
        let (mut digits, mut stride) = (Vec::new(), 1_i64);
        for (dim, &size) in shape.iter().enumerate().rev() {
            digits.push(IndexDigit { dim, divisor: 1, size, factor: stride });
            stride = stride.checked_mul(size)?;
        }
        Some(Self { shape: shape.to_vec(), hidden: Vec::new(), flat: TensorIndex::new(&digits, 0, shape).ok()? })
    }

    /// Returns the map of a view of this tensor. `indices` has an index for each dimension of this tensor, in terms of
    /// the dimensions of the view; `None` where the index is no sum of digits.
    #[must_use]
    pub fn compose(&self, indices: &[Option<TensorIndex>], shape: &[i64]) -> Option<Self> {
        let mut sizes = shape.to_vec();
        let add_auxiliary_dim = |sizes: &mut Vec<i64>, size: i64| {
            sizes.push(size);
            TensorIndex::from_dim(sizes.len() - 1, sizes).ok()
        };
        let mut source_indices = Vec::new();
        for &size in &self.hidden {
            source_indices.push(add_auxiliary_dim(&mut sizes, size)?);
        }
        for (dim, index) in indices.iter().enumerate().take(self.shape.len()) {
            let index = index.clone().or_else(|| add_auxiliary_dim(&mut sizes, self.shape[dim]))?;
            source_indices.insert(dim, index);
        }
        let mut digits = Vec::new();
        let mut offset = self.flat.offset;
        for digit in &self.flat.digits {
            let digit_index = TensorIndex { digits: vec![IndexDigit { factor: 1, ..*digit }], offset: 0 }
                .compose(&source_indices, &sizes)
                .ok();
            let digit_index = digit_index.or_else(|| add_auxiliary_dim(&mut sizes, digit.size))?;
            offset = offset.checked_add(digit_index.offset.checked_mul(digit.factor)?)?;
            for moved in digit_index.digits {
                digits.push(IndexDigit { factor: moved.factor.checked_mul(digit.factor)?, ..moved });
            }
        }
        let flat = TensorIndex::new(&digits, offset, &sizes).ok()?;
        Some(Self { shape: shape.to_vec(), hidden: sizes.split_off(shape.len()), flat })
    }

    /// Returns the names along the dimensions of the tensor, given the factors of the buffer in storage order.
    #[must_use]
    pub fn map_names(&self, factors: &[BufferFactor]) -> DimNameMap {
        let mut names = DimNameMap { dims: vec![Vec::new(); self.shape.len()], losses: Vec::new() };
        let sizes = [&self.shape[..], &self.hidden].concat();
        let mut stride = 1_i64;
        for factor in factors.iter().rev() {
            if factor.size > 1 && factor.is_named() {
                let position_in_factor = TensorIndex {
                    digits: vec![IndexDigit { dim: 0, divisor: stride, size: factor.size, factor: 1 }],
                    offset: 0,
                };
                names.record_factor(
                    factor,
                    position_in_factor.compose(std::slice::from_ref(&self.flat), &sizes).ok().as_ref(),
                    &self.shape,
                );
            }
            stride = stride.saturating_mul(factor.size);
        }
        names.losses.reverse();
        names.dims.iter_mut().for_each(|claims| claims.sort_by_key(|claim| -claim.divisor));
        names.lose_partly_named_dims(&self.shape);
        names
    }
}

impl DimNameMap {
    /// Records which dimension indexes a factor, given the position along the factor as an index. A constant position
    /// is attributed to no dimension, and is no loss.
    fn record_factor(&mut self, factor: &BufferFactor, index: Option<&TensorIndex>, shape: &[i64]) {
        let why = match index.map(|index| (index.digits.as_slice(), index.offset)) {
            None => NameLossReason::Misaligned,
            Some(([], _)) => return,
            Some((digits, _)) if digits.iter().any(|digit| digit.dim >= shape.len()) => NameLossReason::Misaligned,
            Some(([digit], offset)) => {
                let repeats_evenly = digit.factor == 1 && shape[digit.dim] % (digit.divisor * digit.size) == 0;
                if let Some(name) = factor.find_name(offset, digit.size).filter(|_| repeats_evenly) {
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
        // If only ranges of the positions are named, the factor itself has no name to lose.
        if let Some(name) = &factor.name {
            self.losses.push(LostName { name: name.clone(), size: factor.size, reason: why });
        }
    }

    /// Records the names along a dimension as lost if some of its positions are unnamed, because it then has no label.
    fn lose_partly_named_dims(&mut self, shape: &[i64]) {
        for (dim, (claims, &size)) in
            self.dims.iter().zip(shape).enumerate().filter(|(_, (claims, _))| !claims.is_empty())
        {
            if format_dim_label(claims, size).is_empty() {
                let lost_names = claims.iter().map(|claim| LostName {
                    name: claim.name.clone(),
                    size: claim.size,
                    reason: NameLossReason::MixedWithUnnamed { dim },
                });
                self.losses.extend(lost_names);
            }
        }
    }
}

/// Returns all factors of a dimension of `size` positions, outermost first: its named factors, and the unnamed factors
/// between them. If the named factors do not divide `size` in this way, returns a single unnamed factor.
#[must_use]
pub fn collect_dim_factors(named_factors: &[NamedFactor], size: i64) -> Vec<BufferFactor> {
    let (mut factors, mut end) = (Vec::new(), size);
    for named in named_factors {
        let top = named.divisor * named.size;
        if top == 0 || end % top != 0 {
            return vec![BufferFactor::from_size(size)];
        }
        if end > top {
            factors.push(BufferFactor::from_size(end / top));
        }
        factors.push(BufferFactor::with_name(&named.name, named.size));
        end = named.divisor;
    }
    if end > 1 || factors.is_empty() {
        factors.push(BufferFactor::from_size(end));
    }
    factors
}

/// Returns the names of a dimension, outermost first and joined with `*`; empty unless all of its positions are named.
#[must_use]
pub fn format_dim_label(named_factors: &[NamedFactor], size: i64) -> String {
    let names: Option<Vec<String>> =
        collect_dim_factors(named_factors, size).into_iter().map(|part| part.name).collect();
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
        fn result_shape(&self, source_shape: &[i64]) -> Vec<i64> {
            match self {
                Self::Transpose(order) => order.iter().map(|&dim| source_shape[dim]).collect(),
                Self::Reshape(shape) => shape.clone(),
                Self::Slice(dim, _, positions) => {
                    let mut shape = source_shape.to_vec();
                    shape[*dim] = *positions;
                    shape
                }
            }
        }

        fn source_point(&self, point: &[i64], shape: &[i64], source_shape: &[i64]) -> Vec<i64> {
            match self {
                Self::Transpose(order) => {
                    let mut found = point.to_vec();
                    order.iter().zip(point).for_each(|(&dim, &index)| found[dim] = index);
                    found
                }
                Self::Reshape(_) => unflatten(flatten(point, shape), source_shape),
                Self::Slice(dim, first, _) => {
                    let mut found = point.to_vec();
                    found[*dim] += first;
                    found
                }
            }
        }

        /// Returns the index of each source dimension of the view; `None` where it is no sum of digits.
        fn source_indices(&self, shape: &[i64], source_shape: &[i64]) -> Vec<Option<TensorIndex>> {
            let own: Vec<Option<TensorIndex>> =
                (0..shape.len()).map(|dim| TensorIndex::from_dim(dim, shape).ok()).collect();
            match self {
                Self::Transpose(order) => {
                    let place = |dim: usize| order.iter().position(|&moved| moved == dim).unwrap();
                    (0..order.len()).map(|dim| own[place(dim)].clone()).collect()
                }
                Self::Reshape(_) => {
                    let flat = BufferIndexMap::from_buffer_shape(shape).unwrap().flat;
                    let mut stride: i64 = source_shape.iter().product();
                    let index = |&size: &i64| {
                        stride /= size;
                        let digit = IndexDigit { dim: 0, divisor: stride, size, factor: 1 };
                        TensorIndex { digits: vec![digit], offset: 0 }.compose(std::slice::from_ref(&flat), shape).ok()
                    };
                    source_shape.iter().map(index).collect()
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

    /// Applies view operations to a buffer of shape `shape`. Returns the shape of the last view, and the names along
    /// its dimensions.
    fn apply_view_ops(factors: &[BufferFactor], shape: &[i64], view_ops: &[TestViewOp]) -> (Vec<i64>, DimNameMap) {
        let mut viewed = BufferIndexMap::from_buffer_shape(shape).unwrap();
        for step in view_ops {
            let next = step.result_shape(&viewed.shape);
            viewed = viewed.compose(&step.source_indices(&next, &viewed.shape), &next).unwrap();
        }
        let walk = viewed.map_names(factors);
        (viewed.shape, walk)
    }

    fn collect_labels(names: &[(&str, i64)], shape: &[i64], view_ops: &[TestViewOp]) -> (Vec<String>, Vec<LostName>) {
        let (shape, walk) = apply_view_ops(&build_named_factors(names), shape, view_ops);
        (walk.dims.iter().zip(&shape).map(|(claims, &size)| format_dim_label(claims, size)).collect(), walk.losses)
    }

    fn new_loss(name: &str, size: i64, why: NameLossReason) -> LostName {
        LostName { name: name.to_owned(), size, reason: why }
    }

    #[test]
    fn follows_storage_order_not_shape() {
        let names = [("A", 2), ("B", 3), ("C", 4)];
        let find_labels_after_reshape =
            |shape: &[i64]| collect_labels(&names, &[24], &[TestViewOp::Reshape(shape.to_vec())]);
        assert_eq!(find_labels_after_reshape(&[24]).0, ["A*B*C"]);
        assert_eq!(find_labels_after_reshape(&[6, 4]).0, ["A*B", "C"]);
        assert_eq!(find_labels_after_reshape(&[1, 2, 12]).0, ["", "A", "B*C"]);
        assert_eq!(find_labels_after_reshape(&[2, 1, 3, 4]).0, ["A", "", "B", "C"]);
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
        // The 30 of 32 elements contain all positions of A, but the last of these without all positions of B.
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
        let new_named_factor = |divisor, size| NamedFactor { divisor, size, name: "A".to_owned() };
        assert_eq!(
            collect_dim_factors(&[new_named_factor(2, 3)], 24),
            [BufferFactor::from_size(4), BufferFactor::with_name("A", 3), BufferFactor::from_size(2)]
        );
        assert_eq!(
            collect_dim_factors(&[new_named_factor(4, 3), new_named_factor(1, 3)], 12),
            [BufferFactor::from_size(12)],
            "3 does not divide 4"
        );
        assert_eq!(collect_dim_factors(&[], 1), [BufferFactor::from_size(1)]);
        assert_eq!(BufferIndexMap::from_buffer_shape(&[2, 0]), None);
    }

    /// Computes the named factors of a view by brute force over its elements.
    fn enumerate_named_factors(
        factors: &[BufferFactor],
        shapes: &[Vec<i64>],
        view_ops: &[TestViewOp],
    ) -> Vec<Vec<NamedFactor>> {
        let shape = shapes.last().unwrap();
        let sizes: Vec<i64> = factors.iter().map(|part| part.size).collect();
        let points: Vec<Vec<i64>> = (0..shape.iter().product()).map(|position| unflatten(position, shape)).collect();
        let position = |point: &Vec<i64>| {
            let mut point = point.clone();
            for (step, pair) in view_ops.iter().zip(shapes.windows(2)).rev() {
                point = step.source_point(&point, &pair[1], &pair[0]);
            }
            unflatten(flatten(&point, &shapes[0]), &sizes)
        };
        let positions: Vec<Vec<i64>> = points.iter().map(position).collect();
        let mut found = vec![Vec::new(); shape.len()];
        for (number, part) in factors.iter().enumerate().filter(|(_, part)| part.size > 1 && part.name.is_some()) {
            for (dim, &size) in shape.iter().enumerate() {
                let indexes_factor = |divisor: &i64| {
                    let mut pairs = points.iter().zip(&positions);
                    size % (divisor * part.size) == 0
                        && pairs.all(|(point, at)| point[dim] / divisor % part.size == at[number])
                };
                let name = part.name.clone().unwrap();
                found[dim].extend((1..=size).find(indexes_factor).map(|divisor| NamedFactor {
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
                // The analysis may find fewer names than brute force, but never different ones. For example, the middle
                // two of 4 positions index an outer name of size 2.
                for (found, expected) in found.iter().zip(&expected) {
                    prop_assert!(found.iter().all(|claim| expected.contains(claim)));
                }
            }
        }
    }
}
