//! Numbers that are known at compile time, and arithmetic on them.

use crate::affine::Expr;
use std::rc::Rc;

/// Most elements of a tensor that is computed at compile time; a causal mask over 4,096 positions has as many.
pub(in crate::import) const MOST_KNOWN_ELEMENTS: i64 = 1 << 24;

/// The lowest finite number, whatever the format: numbers that a format does not reach are written as its last finite ones.
pub(in crate::import) const LOWEST_FINITE: f64 = f64::MIN;

/// The elements of a compile-time tensor in row-major order, as bits of `f64`; integers are exact up to 2^53. A number is one element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Known(Rc<[u64]>);

impl Known {
    /// A single number.
    #[must_use]
    pub fn number(number: f64) -> Self {
        Self(Rc::from([number.to_bits()]))
    }

    /// The elements of a tensor.
    #[must_use]
    pub fn table(numbers: &[f64]) -> Self {
        Self(numbers.iter().map(|number| number.to_bits()).collect())
    }

    /// The elements in order.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = f64> {
        self.0.iter().map(|&bits| f64::from_bits(bits))
    }

    /// The number that all elements are.
    #[must_use]
    pub fn uniform(&self) -> Option<f64> {
        let (&first, rest) = self.0.split_first()?;
        rest.iter().all(|&bits| bits == first).then(|| f64::from_bits(first))
    }

    /// The numbers with those beyond `largest` brought back to it; infinities stay.
    #[must_use]
    pub fn within(&self, largest: f64) -> Self {
        let is_within = |number: f64| !number.is_finite() || number.abs() <= largest;
        if self.numbers().all(is_within) {
            return self.clone();
        }
        let bounded = |number: f64| if is_within(number) { number } else { largest.copysign(number) };
        Self(self.numbers().map(|number| bounded(number).to_bits()).collect())
    }

    /// A number as the elements of a tensor; a tensor as it is.
    #[must_use]
    pub fn repeated(&self, shape: &[i64]) -> Self {
        let n_elements = usize::try_from(shape.iter().product::<i64>()).expect("a shape has no negative sizes");
        if self.0.len() == n_elements { self.clone() } else { Self(vec![self.0[0]; n_elements].into()) }
    }

    /// The elements under other indices: `map` gives, for each dimension of `from`, the index in terms of the dimensions of `to`.
    #[must_use]
    pub fn viewed(&self, from: &[i64], map: &[Expr], to: &[i64]) -> Self {
        let strides = strides_of(from);
        let at = |point: &[i64]| map.iter().zip(&strides).map(|(expr, stride)| expr.evaluate(point) * stride).sum::<i64>();
        Self(points(to).map(|point| self.0[usize::try_from(at(&point)).expect("a place in the tensor")]).collect())
    }

    /// Numbers of a tensor of this shape with one position along a dimension, if all positions have the same; as they are otherwise. And the shape
    /// of them.
    #[must_use]
    pub fn without_repeats(self, shape: Vec<i64>, dim: usize) -> (Self, Vec<i64>) {
        let map: Vec<Expr> = (0..shape.len()).map(|other| if other == dim { Expr::Constant(0) } else { Expr::Dim(other) }).collect();
        let mut narrow = shape.clone();
        narrow[dim] = 1;
        let one = self.viewed(&shape, &map, &narrow);
        if one.viewed(&narrow, &map, &shape) == self { (one, narrow) } else { (self, shape) }
    }

    /// `function` of the elements of several tensors, element by element; dimensions of size 1 and numbers are broadcast.
    #[must_use]
    pub fn combined(inputs: &[(&Self, &[i64])], shape: &[i64], function: impl Fn(&[f64]) -> f64) -> Self {
        // One number may stand for a tensor of any shape.
        let steps_of = |(known, from): &(&Self, &[i64])| broadcast_strides(if known.0.len() == 1 { &[] } else { from }, shape);
        let steps: Vec<Vec<i64>> = inputs.iter().map(steps_of).collect();
        let mut operands = vec![0.0; inputs.len()];
        let compute = |point: Vec<i64>| {
            for ((operand, (known, _)), steps) in operands.iter_mut().zip(inputs).zip(&steps) {
                let at: i64 = point.iter().zip(steps).map(|(index, step)| index * step).sum();
                *operand = f64::from_bits(known.0[usize::try_from(at).expect("a place in the tensor")]);
            }
            function(&operands).to_bits()
        };
        Self(points(shape).map(compute).collect())
    }

    /// The elements combined along one dimension, which stays with size 1.
    #[must_use]
    pub fn reduced(&self, shape: &[i64], dim: usize, combine: impl Fn(f64, f64) -> f64) -> Self {
        let mut kept = shape.to_vec();
        kept[dim] = 1;
        let (strides, step) = (strides_of(shape), strides_of(shape)[dim]);
        let fold = |point: Vec<i64>| {
            let first: i64 = point.iter().zip(&strides).map(|(index, stride)| index * stride).sum();
            let element = |position: i64| f64::from_bits(self.0[usize::try_from(first + position * step).expect("a place in the tensor")]);
            (1..shape[dim]).fold(element(0), |sum, position| combine(sum, element(position))).to_bits()
        };
        Self(points(&kept).map(fold).collect())
    }

    /// The elements along one dimension, each combined with all before it.
    #[must_use]
    pub fn scanned(&self, shape: &[i64], dim: usize, combine: impl Fn(f64, f64) -> f64) -> Self {
        let step = usize::try_from(strides_of(shape)[dim]).expect("a shape has no negative sizes");
        let size = usize::try_from(shape[dim]).expect("a shape has no negative sizes");
        let mut scanned = self.0.to_vec();
        for at in 0..scanned.len() {
            if at / step % size > 0 {
                scanned[at] = combine(f64::from_bits(scanned[at - step]), f64::from_bits(scanned[at])).to_bits();
            }
        }
        Self(scanned.into())
    }

    /// Boxes of numbers, each with its shape and where it begins, as one tensor; later ones lie over earlier ones. None if they leave
    /// something open.
    #[must_use]
    pub fn assembled(boxes: &[(Self, Vec<i64>, Vec<i64>)], shape: &[i64]) -> Option<Self> {
        let mut elements: Vec<Option<u64>> = vec![None; usize::try_from(shape.iter().product::<i64>()).ok()?];
        let strides = strides_of(shape);
        for (known, sizes, offsets) in boxes {
            let known = known.repeated(sizes);
            for (point, bits) in points(sizes).zip(known.0.iter()) {
                let at: i64 = point.iter().zip(offsets).zip(&strides).map(|((index, offset), stride)| (index + offset) * stride).sum();
                elements[usize::try_from(at).ok()?] = Some(*bits);
            }
        }
        elements.into_iter().collect::<Option<Vec<u64>>>().map(|bits| Self(bits.into()))
    }

    /// The index along a dimension of an iteration space, over that dimension, from `first` on.
    #[must_use]
    pub fn counting(first: i64, size: i64) -> Self {
        #[allow(clippy::cast_precision_loss, reason = "an iteration space is far smaller than 2^53")]
        Self((first..first + size).map(|index| (index as f64).to_bits()).collect())
    }

    /// Whether the elements are 0, 1, 2 and so on.
    #[must_use]
    pub fn counts_from_zero(&self) -> bool {
        let size = i64::try_from(self.0.len()).expect("fewer elements than 2^63");
        *self == Self::counting(0, size)
    }
}

fn strides_of(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    strides
}

fn broadcast_strides(from: &[i64], to: &[i64]) -> Vec<i64> {
    if from.is_empty() {
        return vec![0; to.len()];
    }
    strides_of(from).into_iter().zip(from).map(|(stride, &size)| if size == 1 { 0 } else { stride }).collect()
}

/// Every index of a tensor, row by row.
pub(in crate::import) fn points(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> {
    let total: i64 = shape.iter().product();
    let shape = shape.to_vec();
    (0..total).map(move |mut flat| {
        let mut point = vec![0; shape.len()];
        for dim in (0..shape.len()).rev() {
            (point[dim], flat) = (flat % shape[dim], flat / shape[dim]);
        }
        point
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(known: &Known) -> Vec<f64> {
        known.numbers().collect()
    }

    #[test]
    fn one_number_is_combined_as_a_tensor_of_any_shape() {
        let (one, table) = (Known::number(2.0), Known::table(&[0.0, 1.0, 2.0]));
        let sum = Known::combined(&[(&one, &[1, 3]), (&table, &[1, 3]), (&one, &[])], &[1, 3], |of| of.iter().sum());
        assert_eq!(numbers(&sum), [4.0, 5.0, 6.0]);
    }

    #[test]
    fn a_transposed_table_changes_places() {
        let table = Known::table(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let transposed = table.viewed(&[2, 3], &[Expr::Dim(1), Expr::Dim(0)], &[3, 2]);
        assert_eq!(numbers(&transposed), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    }

    #[test]
    fn a_causal_mask_is_rows_against_columns() {
        let count = Known::counting(0, 3);
        let mask = Known::combined(&[(&count, &[3, 1]), (&count, &[1, 3])], &[3, 3], |at| f64::from(u8::from(at[1] <= at[0])));
        assert_eq!(numbers(&mask), [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_reduction_keeps_the_other_dims() {
        let table = Known::table(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(numbers(&table.reduced(&[2, 3], 1, |a, b| a + b)), [6.0, 15.0]);
        assert_eq!(numbers(&table.reduced(&[2, 3], 0, f64::max)), [4.0, 5.0, 6.0]);
    }

    #[test]
    fn a_scan_combines_with_what_is_before() {
        let table = Known::table(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(numbers(&table.scanned(&[2, 3], 1, |a, b| a + b)), [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
        assert_eq!(numbers(&table.scanned(&[2, 3], 0, f64::max)), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(numbers(&table.scanned(&[3, 2], 0, |a, b| a * b)), [1.0, 2.0, 3.0, 8.0, 15.0, 48.0]);
    }

    #[test]
    fn finite_numbers_stay_finite() {
        let table = Known::table(&[LOWEST_FINITE, f64::NEG_INFINITY, 1.0, 1e300]);
        assert_eq!(numbers(&table.within(65504.0)), [-65504.0, f64::NEG_INFINITY, 1.0, 65504.0]);
    }

    #[test]
    fn only_equal_numbers_are_uniform() {
        assert_eq!(Known::table(&[2.0, 2.0]).uniform(), Some(2.0));
        assert_eq!(Known::table(&[2.0, 3.0]).uniform(), None);
        assert!(Known::number(f64::NAN).uniform().is_some_and(f64::is_nan));
    }
}
