//! Constant tensors, and compile-time arithmetic on them.

use program::affine::AffineExpression;
use std::rc::Rc;

/// Maximum number of elements of a tensor that is computed at compile time; a causal mask over 4,096 positions has as
/// many.
pub(in crate::import) const MAX_CONSTANT_ELEMENTS: i64 = 1 << 24;

/// Returns the error message for a tensor with too many elements to compute at compile time.
pub(in crate::import) fn constant_limit_error(num_elements: i64) -> String {
    format!(
        "expected at most {MAX_CONSTANT_ELEMENTS} elements that are computed at compile time, found {num_elements}; give them as an argument, or \
         compute over a smaller shape"
    )
}

/// Lowest finite number of any format: constants below the range of a format are clamped to its lowest finite number.
pub(in crate::import) const LOWEST_FINITE: f64 = f64::MIN;

/// Elements of a constant tensor, in row-major order. A scalar has one element.
///
/// Integers are exact at any width: each is stored as the signed value of its bits. Truth values and floating-point
/// numbers are `f64`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConstantTensor {
    /// Bits of `i64` or of `f64`.
    pub(super) bits: Rc<[u64]>,
    is_integer: bool,
    /// Floating-point numbers as the program rounds them, if they differ from `bits`
    /// ([`ConstantTensor::apply_program_rounding`]).
    pub(super) as_written: Option<Rc<[u64]>>,
}

impl ConstantTensor {
    pub(super) const fn from_float_bits(bits: Rc<[u64]>) -> Self {
        Self { bits, is_integer: false, as_written: None }
    }

    const fn from_integer_bits(bits: Rc<[u64]>) -> Self {
        Self { bits, is_integer: true, as_written: None }
    }

    /// Builds a scalar.
    #[must_use]
    pub fn from_scalar(number: f64) -> Self {
        Self::from_float_bits(Rc::from([number.to_bits()]))
    }

    /// Builds an integer scalar.
    #[must_use]
    pub fn from_integer(integer: i64) -> Self {
        Self::from_integer_bits(Rc::from([integer.cast_unsigned()]))
    }

    /// Builds a tensor from its elements.
    #[must_use]
    pub fn from_numbers(numbers: &[f64]) -> Self {
        Self::from_float_bits(numbers.iter().map(|number| number.to_bits()).collect())
    }

    /// Builds a tensor of integers from its elements.
    #[must_use]
    pub fn from_integers(integers: impl IntoIterator<Item = i64>) -> Self {
        Self::from_integer_bits(integers.into_iter().map(i64::cast_unsigned).collect())
    }

    /// Returns the elements in order. Rounds integers above 2^53; integer arithmetic uses [`Self::map_integers`].
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = f64> {
        self.bits.iter().map(|&bits| self.decode_number(bits))
    }

    /// Returns the elements in order as integers; floating-point numbers are truncated.
    pub fn integers(&self) -> impl ExactSizeIterator<Item = i64> {
        self.bits.iter().map(|&bits| self.decode_integer(bits))
    }

    #[allow(clippy::cast_precision_loss, reason = "said where it is asked for")]
    fn decode_number(&self, bits: u64) -> f64 {
        if self.is_integer { bits.cast_signed() as f64 } else { f64::from_bits(bits) }
    }

    #[allow(clippy::cast_possible_truncation, reason = "numbers that stand for integers are small whole ones")]
    fn decode_integer(&self, bits: u64) -> i64 {
        if self.is_integer { bits.cast_signed() } else { f64::from_bits(bits) as i64 }
    }

    /// Converts integers to the elements of a node; truth values keep the lowest bit.
    #[must_use]
    pub fn to_elements(self, are_truths: bool) -> Self {
        if are_truths { Self::from_integers(self.integers().map(|integer| integer & 1)) } else { self }
    }

    /// Returns the elements as they are stored in a node with or without integer elements.
    #[must_use]
    pub fn to_storage(self, is_integer: bool) -> Self {
        match (self.is_integer, is_integer) {
            (false, true) => Self::from_integers(self.integers()),
            (true, false) => Self::from_float_bits(self.numbers().map(f64::to_bits).collect()),
            _ => self,
        }
    }

    /// Returns the number that all elements equal, if any.
    #[must_use]
    pub fn splat_value(&self) -> Option<f64> {
        self.bits.first().filter(|_| self.is_splat()).map(|&bits| self.decode_number(bits))
    }

    /// Returns the integer that all elements equal, if any.
    #[must_use]
    pub fn splat_integer(&self) -> Option<i64> {
        self.bits.first().filter(|_| self.is_splat()).map(|&bits| self.decode_integer(bits))
    }

    fn is_splat(&self) -> bool {
        let is_uniform =
            |bits: &[u64]| bits.split_first().is_some_and(|(first, rest)| rest.iter().all(|bits| bits == first));
        is_uniform(&self.bits) && self.as_written.as_deref().is_none_or(is_uniform)
    }

    /// Collapses the tensor to a scalar if all elements are equal.
    #[must_use]
    pub fn to_scalar(&self) -> Option<Self> {
        self.is_splat().then(|| self.rearrange(|known| Rc::from([known.bits[0]])))
    }

    /// Clamps finite numbers to magnitudes of at most `largest`; infinities stay.
    #[must_use]
    pub fn clamp_to_magnitude(&self, largest: f64) -> Self {
        let is_within = |number: f64| !number.is_finite() || number.abs() <= largest;
        if self.numbers().all(is_within) {
            return self.clone();
        }
        let bounded = |number: f64| if is_within(number) { number } else { largest.copysign(number) };
        Self::from_float_bits(self.numbers().map(|number| bounded(number).to_bits()).collect())
    }

    /// Broadcasts a scalar to the elements of a tensor; returns a tensor unchanged.
    #[must_use]
    pub fn broadcast_scalar(&self, shape: &[i64]) -> Self {
        let num_elements = usize::try_from(shape.iter().product::<i64>()).expect("a shape has no negative sizes");
        if self.bits.len() == num_elements {
            self.clone()
        } else {
            self.rearrange(|known| vec![known.bits[0]; num_elements].into())
        }
    }

    const fn with_bits(&self, bits: Rc<[u64]>) -> Self {
        Self { bits, is_integer: self.is_integer, as_written: None }
    }

    /// Rearranges the elements by `places`, and likewise the numbers that the program rounds.
    fn rearrange(&self, places: impl Fn(&Self) -> Rc<[u64]>) -> Self {
        let as_written = self.as_written.clone().map(|written| places(&Self::from_float_bits(written)));
        Self { bits: places(self), is_integer: self.is_integer, as_written }
    }

    /// Returns the elements under other indices: `map` holds, for each dimension of `from`, the index in terms of the
    /// dimensions of `to`.
    #[must_use]
    pub fn apply_view(&self, from: &[i64], map: &[AffineExpression], to: &[i64]) -> Self {
        let strides = compute_strides(from);
        let at =
            |point: &[i64]| map.iter().zip(&strides).map(|(expr, stride)| expr.evaluate(point) * stride).sum::<i64>();
        let element =
            |known: &Self, point: Vec<i64>| known.bits[usize::try_from(at(&point)).expect("a place in the tensor")];
        self.rearrange(|known| iter_points(to).map(|point| element(known, point)).collect())
    }

    /// Reduces a dimension to size 1 if the elements are the same at all positions along it; returns the elements
    /// unchanged otherwise. Also returns the resulting shape.
    #[must_use]
    pub fn collapse_repeated_dim(self, shape: Vec<i64>, dim: usize) -> (Self, Vec<i64>) {
        let map: Vec<AffineExpression> = (0..shape.len())
            .map(|other| if other == dim { AffineExpression::Constant(0) } else { AffineExpression::Dim(other) })
            .collect();
        let mut narrow = shape.clone();
        narrow[dim] = 1;
        let one = self.apply_view(&shape, &map, &narrow);
        if one.apply_view(&narrow, &map, &shape) == self { (one, narrow) } else { (self, shape) }
    }

    /// Applies `function` to several tensors, element by element; dimensions of size 1 and scalars are broadcast.
    #[must_use]
    pub fn map_elementwise(inputs: &[(&Self, &[i64])], shape: &[i64], function: impl Fn(&[f64]) -> f64) -> Self {
        let function = |operands: &[f64]| function(operands).to_bits();
        Self::from_float_bits(map_points(inputs, shape, Self::decode_number, function))
    }

    /// Applies an integer `function` to several tensors, element by element; dimensions of size 1 and numbers are
    /// broadcast.
    #[must_use]
    pub fn map_integers(inputs: &[(&Self, &[i64])], shape: &[i64], mut function: impl FnMut(&[i64]) -> i64) -> Self {
        let function = |operands: &[i64]| function(operands).cast_unsigned();
        Self::from_integer_bits(map_points(inputs, shape, Self::decode_integer, function))
    }

    /// Applies a function from integers to numbers.
    #[must_use]
    pub fn map_integers_to_numbers(
        inputs: &[(&Self, &[i64])],
        shape: &[i64],
        function: impl Fn(&[i64]) -> f64,
    ) -> Self {
        Self::from_float_bits(map_points(inputs, shape, Self::decode_integer, |operands: &[i64]| {
            function(operands).to_bits()
        }))
    }

    /// Applies a function from numbers to integers.
    #[must_use]
    pub fn map_numbers_to_integers(
        inputs: &[(&Self, &[i64])],
        shape: &[i64],
        mut function: impl FnMut(&[f64]) -> i64,
    ) -> Self {
        let function = |operands: &[f64]| function(operands).cast_unsigned();
        Self::from_integer_bits(map_points(inputs, shape, Self::decode_number, function))
    }

    /// Broadcasts a tensor of shape `from` along its dimensions of size 1.
    #[must_use]
    pub fn broadcast(&self, from: &[i64], shape: &[i64]) -> Self {
        let num_kept = from.iter().zip(shape).take_while(|(from, to)| from == to).count();
        if from.len() == shape.len() && from[num_kept..].iter().all(|&size| size == 1) {
            return self.repeat_elements(&shape[num_kept..]);
        }
        self.rearrange(|known| map_points(&[(known, from)], shape, |_, bits| bits, |bits| bits[0]))
    }

    /// Repeats each element over inner dimensions of these sizes.
    fn repeat_elements(&self, inner: &[i64]) -> Self {
        let times = usize::try_from(inner.iter().product::<i64>()).expect("a number of elements");
        self.rearrange(|known| {
            let mut bits = Vec::with_capacity(known.bits.len() * times);
            for &element in known.bits.iter() {
                bits.resize(bits.len() + times, element);
            }
            bits.into()
        })
    }

    /// Reduces the elements along one dimension, which remains with size 1.
    #[must_use]
    pub fn reduce(&self, shape: &[i64], dim: usize, combine: impl Fn(f64, f64) -> f64) -> Self {
        let combine = |one: u64, other: u64| combine(f64::from_bits(one), f64::from_bits(other)).to_bits();
        self.clone().to_storage(false).reduce_bits(shape, dim, combine)
    }

    /// Combines integers along one dimension, which remains with size 1.
    #[must_use]
    pub fn reduce_integers(&self, shape: &[i64], dim: usize, combine: impl Fn(i64, i64) -> i64) -> Self {
        let combine = |one: u64, other: u64| combine(one.cast_signed(), other.cast_signed()).cast_unsigned();
        self.clone().to_storage(true).reduce_bits(shape, dim, combine)
    }

    /// Reduces the bits of the elements along one dimension. A single element stands for equal elements along `dim`.
    fn reduce_bits(&self, shape: &[i64], dim: usize, combine: impl Fn(u64, u64) -> u64) -> Self {
        if let [one] = *self.bits {
            return self.with_bits(Rc::from([reduce_splat(one, shape[dim], combine)]));
        }
        let mut kept = shape.to_vec();
        kept[dim] = 1;
        let (strides, step) = (compute_strides(shape), compute_strides(shape)[dim]);
        let fold = |point: Vec<i64>| {
            let first: i64 = point.iter().zip(&strides).map(|(index, stride)| index * stride).sum();
            let element =
                |position: i64| self.bits[usize::try_from(first + position * step).expect("a place in the tensor")];
            (1..shape[dim]).fold(element(0), |sum, position| combine(sum, element(position)))
        };
        self.with_bits(iter_points(&kept).map(fold).collect())
    }

    /// Computes the running combination along one dimension: each element is combined with all before it.
    #[must_use]
    pub fn scan(&self, shape: &[i64], dim: usize, combine: impl Fn(f64, f64) -> f64) -> Self {
        let combine = |one: u64, other: u64| combine(f64::from_bits(one), f64::from_bits(other)).to_bits();
        self.clone().to_storage(false).scan_bits(shape, dim, combine)
    }

    /// Computes the running combination of integers along one dimension: each element is combined with all before it.
    #[must_use]
    pub fn scan_integers(&self, shape: &[i64], dim: usize, combine: impl Fn(i64, i64) -> i64) -> Self {
        let combine = |one: u64, other: u64| combine(one.cast_signed(), other.cast_signed()).cast_unsigned();
        self.clone().to_storage(true).scan_bits(shape, dim, combine)
    }

    fn scan_bits(&self, shape: &[i64], dim: usize, combine: impl Fn(u64, u64) -> u64) -> Self {
        let step = usize::try_from(compute_strides(shape)[dim]).expect("a shape has no negative sizes");
        let size = usize::try_from(shape[dim]).expect("a shape has no negative sizes");
        let mut scanned = self.bits.to_vec();
        for at in 0..scanned.len() {
            if at / step % size > 0 {
                scanned[at] = combine(scanned[at - step], scanned[at]);
            }
        }
        self.with_bits(scanned.into())
    }

    /// Merges boxes of numbers, each with its shape and offset, into one tensor; later boxes overwrite earlier ones.
    /// Returns None if an element remains uninitialized.
    #[must_use]
    pub fn assemble(boxes: &[(Self, Vec<i64>, Vec<i64>)], shape: &[i64]) -> Option<Self> {
        let is_integer = boxes.iter().all(|(known, ..)| known.is_integer);
        let mut elements: Vec<Option<u64>> = vec![None; usize::try_from(shape.iter().product::<i64>()).ok()?];
        let strides = compute_strides(shape);
        for (known, sizes, offsets) in boxes {
            let known = known.broadcast_scalar(sizes).to_storage(is_integer);
            for (point, bits) in iter_points(sizes).zip(known.bits.iter()) {
                let at: i64 = point
                    .iter()
                    .zip(offsets)
                    .zip(&strides)
                    .map(|((index, offset), stride)| (index + offset) * stride)
                    .sum();
                elements[usize::try_from(at).ok()?] = Some(*bits);
            }
        }
        elements.into_iter().collect::<Option<Vec<u64>>>().map(|bits| Self {
            bits: bits.into(),
            is_integer,
            as_written: None,
        })
    }

    /// Returns the indices along a dimension of an iteration space, starting at `first`, as a tensor over that
    /// dimension.
    #[must_use]
    pub fn iota(first: i64, size: i64) -> Self {
        Self::from_integers(first..first + size)
    }

    /// Returns whether the elements are 0, 1, 2 and so on.
    #[must_use]
    pub fn is_iota(&self) -> bool {
        self.integers().zip(0..).all(|(integer, place)| integer == place)
    }
}

/// Combines `count` equal elements, in O(log `count`) steps. The order of combination must not matter.
fn reduce_splat(element: u64, mut count: i64, combine: impl Fn(u64, u64) -> u64) -> u64 {
    let (mut combined, mut power) = (None, element);
    while count > 0 {
        if count % 2 == 1 {
            combined = Some(combined.map_or(power, |combined| combine(combined, power)));
        }
        power = combine(power, power);
        count /= 2;
    }
    combined.expect("a dimension has elements")
}

/// Applies `function` to the elements of several tensors, point by point. A tensor of one number is broadcast to any
/// shape.
fn map_points<T: Copy + Default>(
    inputs: &[(&ConstantTensor, &[i64])],
    shape: &[i64],
    decode: impl Fn(&ConstantTensor, u64) -> T,
    mut function: impl FnMut(&[T]) -> u64,
) -> Rc<[u64]> {
    let place = |number: i64| usize::try_from(number).expect("a place in the tensor");
    let steps_of = |(known, from): &(&ConstantTensor, &[i64])| {
        compute_broadcast_strides(if known.bits.len() == 1 { &[] } else { from }, shape)
    };
    let steps: Vec<Vec<i64>> = inputs.iter().map(steps_of).collect();
    let (outer, length) = shape.split_last().map_or((shape, 1), |(last, outer)| (outer, *last));
    let along: Vec<usize> = steps.iter().map(|steps| steps.last().map_or(0, |&step| place(step))).collect();
    let mut operands = vec![T::default(); inputs.len()];
    let mut found = Vec::with_capacity(place(shape.iter().product()));
    for point in iter_points(outer) {
        let first = |steps: &Vec<i64>| place(point.iter().zip(steps).map(|(index, step)| index * step).sum());
        let mut at: Vec<usize> = steps.iter().map(first).collect();
        for _ in 0..length {
            for (operand, ((known, _), (at, along))) in
                operands.iter_mut().zip(inputs.iter().zip(at.iter_mut().zip(&along)))
            {
                *operand = decode(known, known.bits[*at]);
                *at += along;
            }
            found.push(function(&operands));
        }
    }
    found.into()
}

fn compute_strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    strides
}

fn compute_broadcast_strides(from: &[i64], to: &[i64]) -> Vec<i64> {
    if from.is_empty() {
        return vec![0; to.len()];
    }
    compute_strides(from).into_iter().zip(from).map(|(stride, &size)| if size == 1 { 0 } else { stride }).collect()
}

/// Iterates over all indices of a tensor in row-major order.
pub(in crate::import) fn iter_points(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> {
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

    fn numbers(known: &ConstantTensor) -> Vec<f64> {
        known.numbers().collect()
    }

    #[test]
    fn broadcasts_scalar_operand_to_any_shape() {
        let (one, table) = (ConstantTensor::from_scalar(2.0), ConstantTensor::from_numbers(&[0.0, 1.0, 2.0]));
        let sum = ConstantTensor::map_elementwise(&[(&one, &[1, 3]), (&table, &[1, 3]), (&one, &[])], &[1, 3], |of| {
            of.iter().sum()
        });
        assert_eq!(numbers(&sum), [4.0, 5.0, 6.0]);
    }

    #[test]
    fn transposes_table() {
        let table = ConstantTensor::from_numbers(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let transposed = table.apply_view(&[2, 3], &[AffineExpression::Dim(1), AffineExpression::Dim(0)], &[3, 2]);
        assert_eq!(numbers(&transposed), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    }

    #[test]
    fn computes_causal_mask_from_rows_and_columns() {
        let count = ConstantTensor::iota(0, 3);
        let mask = ConstantTensor::map_elementwise(&[(&count, &[3, 1]), (&count, &[1, 3])], &[3, 3], |at| {
            f64::from(u8::from(at[1] <= at[0]))
        });
        assert_eq!(numbers(&mask), [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn keeps_other_dims_of_reduction() {
        let table = ConstantTensor::from_numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(numbers(&table.reduce(&[2, 3], 1, |a, b| a + b)), [6.0, 15.0]);
        assert_eq!(numbers(&table.reduce(&[2, 3], 0, f64::max)), [4.0, 5.0, 6.0]);
    }

    #[test]
    fn reduces_splat_without_repeating_it() {
        for size in 1..40_i32 {
            let repeated = ConstantTensor::from_numbers(&vec![3.0; usize::try_from(size).unwrap()]);
            let shape = [i64::from(size), 1];
            assert_eq!(
                ConstantTensor::from_scalar(3.0).reduce(&shape, 0, |a, b| a + b),
                repeated.reduce(&shape, 0, |a, b| a + b)
            );
            assert_eq!(
                ConstantTensor::from_scalar(3.0).reduce(&shape, 0, f64::max),
                repeated.reduce(&shape, 0, f64::max)
            );
        }
        assert_eq!(
            numbers(&ConstantTensor::from_scalar(1.0).reduce(&[1 << 50, 7], 0, |a, b| a + b)),
            [1_125_899_906_842_624.0]
        );
        let wrapped = ConstantTensor::from_integer(3)
            .reduce_integers(&[1 << 40], 0, |a, b| i64::from((a + b).to_le_bytes()[0].cast_signed()));
        assert_eq!(wrapped.splat_integer(), Some(0), "3 * 2^40 in 8 bits");
    }

    #[test]
    fn scans_along_one_dim() {
        let table = ConstantTensor::from_numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(numbers(&table.scan(&[2, 3], 1, |a, b| a + b)), [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
        assert_eq!(numbers(&table.scan(&[2, 3], 0, f64::max)), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(numbers(&table.scan(&[3, 2], 0, |a, b| a * b)), [1.0, 2.0, 3.0, 8.0, 15.0, 48.0]);
    }

    #[test]
    fn keeps_finite_numbers_finite() {
        let table = ConstantTensor::from_numbers(&[LOWEST_FINITE, f64::NEG_INFINITY, 1.0, 1e300]);
        assert_eq!(numbers(&table.clamp_to_magnitude(65504.0)), [-65504.0, f64::NEG_INFINITY, 1.0, 65504.0]);
    }

    #[test]
    fn detects_splat_of_equal_numbers() {
        assert_eq!(ConstantTensor::from_numbers(&[2.0, 2.0]).splat_value(), Some(2.0));
        assert_eq!(ConstantTensor::from_numbers(&[2.0, 3.0]).splat_value(), None);
        assert!(ConstantTensor::from_scalar(f64::NAN).splat_value().is_some_and(f64::is_nan));
    }
}
